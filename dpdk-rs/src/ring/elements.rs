// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The elements in a ring, which owns them.

use super::Batch;
use crate::{
    CreateError, Eal, Full, SocketId,
    object::{Handle, Kind},
    packet::begin_sharing,
};
use core::{
    marker::PhantomData,
    mem::{ManuallyDrop, MaybeUninit},
    ptr::{self, NonNull},
};
use dpdk_sys as sys;
use std::sync::Arc;

/// `RTE_RING_NAMESIZE` less the NUL byte.
const RING: Kind = Kind { name: "ring", call: "rte_ring_create_elem", longest_name: 28 };

/// A ring of `T`s, shared by its handles.
///
/// The C functions copy elements in pieces of 4 bytes or more, to and from memory that is aligned for a `T`.
pub(super) struct Elements<T: Send> {
    ring: Handle<sys::rte_ring>,
    capacity: usize,
    /// Threads can share the ring without sharing an element, so `T` need not be `Sync`. One handle takes out what
    /// another puts in, so `T` must not shrink to a type with a shorter lifetime.
    elements: PhantomData<fn(T) -> T>,
}

impl<T: Send> Elements<T> {
    /// The size of an element in bytes.
    const LEN: u32 = size_of::<T>() as u32;

    /// Evaluated when a ring of this type is compiled.
    const SUITABLE: () = {
        assert!(
            size_of::<T>() > 0 && size_of::<T>().is_multiple_of(4),
            "a ring's elements are a multiple of 4 bytes long: give the type #[repr(align(4))], or put it into a Box"
        );
        assert!(size_of::<T>() <= 4096, "a ring's elements are at most 4,096 bytes long: put them into a Box");
        assert!(
            align_of::<T>() >= 4,
            "a ring's elements are aligned to 4 bytes or more: give the type #[repr(align(4))]"
        );
    };

    pub(super) fn create(
        eal: &Eal,
        name: &str,
        capacity: u32,
        socket: SocketId,
        flags: u32,
        shared: bool,
    ) -> Result<Self, CreateError> {
        let () = Self::SUITABLE;
        if !fits(capacity, Self::LEN / 4) {
            return Err(RING.too_large(name, capacity as usize, size_of::<T>()));
        }
        let environment = eal.environment();
        let ring = RING.create(environment, name, |name| {
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; the call
            // copies the name.
            unsafe { sys::rte_ring_create_elem(name, Self::LEN, capacity, socket.get(), flags | sys::RING_F_EXACT_SZ) }
        })?;
        let environment = Arc::clone(environment);
        let ring = if shared {
            // Another process may put in packets whose data it shares.
            begin_sharing();
            // SAFETY: the ring is new, and nobody frees it: it stays for other processes.
            unsafe { Handle::shared(ring, environment) }
        } else {
            // SAFETY: the ring is new, so nobody else frees it. Any thread may call `free`, since DPDK locks its list
            // of rings.
            unsafe { Handle::new(ring, free, environment) }
        };
        Ok(Self { ring, capacity: capacity as usize, elements: PhantomData })
    }

    /// A ring that another process created. It is not freed here.
    ///
    /// # Safety
    /// The ring lives as long as this object, has elements of type `T` in every process, and has room for `capacity` of
    /// them.
    pub(super) unsafe fn of_other(ring: Handle<sys::rte_ring>, capacity: u32) -> Self {
        let () = Self::SUITABLE;
        Self { ring, capacity: capacity as usize, elements: PhantomData }
    }

    /// # Safety
    /// Nobody else enqueues at the same time, unless the ring was created for several producers.
    #[inline]
    pub(super) unsafe fn enqueue(&self, element: T) -> Result<(), Full<T>> {
        let element = ManuallyDrop::new(element);
        // SAFETY: the pointer is to one element. The caller ensures that producers do not overlap.
        if unsafe { self.put::<true>(&raw const *element, 1) } == 1 {
            Ok(())
        } else {
            Err(Full(ManuallyDrop::into_inner(element)))
        }
    }

    /// # Safety
    /// Nobody else enqueues at the same time, unless the ring was created for several producers.
    #[inline]
    pub(super) unsafe fn enqueue_bulk(&self, elements: &mut impl Batch<T>) -> Result<(), Full> {
        // SAFETY: the caller ensures that producers do not overlap.
        let left = unsafe { self.move_in::<true>(elements) };
        if left == 0 { Ok(()) } else { Err(Full(())) }
    }

    /// # Safety
    /// Nobody else enqueues at the same time, unless the ring was created for several producers.
    #[inline]
    pub(super) unsafe fn enqueue_burst(&self, elements: &mut impl Batch<T>) -> usize {
        let before = elements.count();
        // SAFETY: the caller ensures that producers do not overlap.
        before - unsafe { self.move_in::<false>(elements) }
    }

    /// # Safety
    /// Nobody else dequeues at the same time, unless the ring was created for several consumers.
    #[inline]
    pub(super) unsafe fn dequeue(&self) -> Option<T> {
        let mut element = MaybeUninit::uninit();
        // SAFETY: the pointer is to room for one element. The caller ensures that consumers do not overlap.
        let count = unsafe { self.take::<true>(element.as_mut_ptr(), 1) };
        // SAFETY: if an element was dequeued, it was written there.
        (count == 1).then(|| unsafe { element.assume_init() })
    }

    /// # Safety
    /// Nobody else dequeues at the same time, unless the ring was created for several consumers.
    #[inline]
    pub(super) unsafe fn dequeue_bulk(&self, elements: &mut impl Batch<T>, count: usize) -> usize {
        if count > self.len() || elements.room(count).len() < count {
            return 0;
        }
        // SAFETY: the caller ensures that consumers do not overlap.
        unsafe { self.move_out::<true>(elements, count) }
    }

    /// # Safety
    /// Nobody else dequeues at the same time, unless the ring was created for several consumers.
    #[inline]
    pub(super) unsafe fn dequeue_burst(&self, elements: &mut impl Batch<T>, most: usize) -> usize {
        // SAFETY: the caller ensures that consumers do not overlap.
        unsafe { self.move_out::<false>(elements, most.min(self.len())) }
    }

    pub(super) const fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn len(&self) -> usize {
        // SAFETY: the ring is live as long as its handle; the call reads its two ends.
        unsafe { sys::rte_ring_count(self.ring.as_ptr()) as usize }
    }

    /// Enqueues the front of `elements`, all or none if `BULK`. Returns how many are left.
    ///
    /// # Safety
    /// Nobody else enqueues at the same time, unless the ring was created for several producers.
    #[inline]
    unsafe fn move_in<const BULK: bool>(&self, elements: &mut impl Batch<T>) -> usize {
        let count = elements.count();
        // SAFETY: the pointer is to the `count` elements of the batch. The caller ensures that producers do not
        // overlap.
        let moved = unsafe { self.put::<BULK>(elements.front(), count) };
        // SAFETY: the ring owns the first `moved` elements, which the line above enqueued.
        unsafe { elements.forget_front(moved) };
        count - moved
    }

    /// Dequeues up to `most` elements and appends them to `elements`, all or none if `BULK`. Returns how many.
    ///
    /// # Safety
    /// Nobody else dequeues at the same time, unless the ring was created for several consumers.
    #[inline]
    unsafe fn move_out<const BULK: bool>(&self, elements: &mut impl Batch<T>, most: usize) -> usize {
        let room = elements.room(most);
        let count = room.len().min(most);
        // SAFETY: the pointer is to room for `count` elements. The caller ensures that consumers do not overlap.
        let moved = unsafe { self.take::<BULK>(room.as_mut_ptr().cast(), count) };
        // SAFETY: the first `moved` elements of the room were just written, and the ring has given them up.
        unsafe { elements.grow(moved) };
        moved
    }

    /// Copies up to `count` elements into the ring, all or none if `BULK`. Returns how many.
    ///
    /// # Safety
    /// `from` points to `count` elements. The ring owns the enqueued ones afterwards. Nobody else enqueues at the same
    /// time, unless the ring was created for several producers.
    #[inline(always)]
    unsafe fn put<const BULK: bool>(&self, from: *const T, count: usize) -> usize {
        let Ok(count) = u32::try_from(count) else {
            return 0;
        };
        let ring = self.ring.as_ptr();
        let moved = if BULK {
            // SAFETY: the ring lives as long as its handle, and its elements have `LEN` bytes. The caller promises
            // `count` elements, and that producers do not overlap.
            unsafe { sys::rte_ring_enqueue_bulk_elem(ring, from.cast(), Self::LEN, count, ptr::null_mut()) }
        } else {
            // SAFETY: the ring lives as long as its handle, and its elements have `LEN` bytes. The caller promises
            // `count` elements, and that producers do not overlap.
            unsafe { sys::rte_ring_enqueue_burst_elem(ring, from.cast(), Self::LEN, count, ptr::null_mut()) }
        };
        moved as usize
    }

    /// Copies up to `count` elements out of the ring, all or none if `BULK`. Returns how many.
    ///
    /// # Safety
    /// `to` points to room for `count` elements. The caller owns the dequeued ones afterwards. Nobody else dequeues at
    /// the same time, unless the ring was created for several consumers.
    #[inline(always)]
    unsafe fn take<const BULK: bool>(&self, to: *mut T, count: usize) -> usize {
        let Ok(count) = u32::try_from(count) else {
            return 0;
        };
        let ring = self.ring.as_ptr();
        let moved = if BULK {
            // SAFETY: the ring lives as long as its handle, and its elements have `LEN` bytes. The caller promises room
            // for `count` elements, and that consumers do not overlap.
            unsafe { sys::rte_ring_dequeue_bulk_elem(ring, to.cast(), Self::LEN, count, ptr::null_mut()) }
        } else {
            // SAFETY: the ring lives as long as its handle, and its elements have `LEN` bytes. The caller promises room
            // for `count` elements, and that consumers do not overlap.
            unsafe { sys::rte_ring_dequeue_burst_elem(ring, to.cast(), Self::LEN, count, ptr::null_mut()) }
        };
        moved as usize
    }
}

impl<T: Send> Drop for Elements<T> {
    fn drop(&mut self) {
        if self.ring.is_forked() || self.ring.is_shared() {
            return;
        }
        // SAFETY: the last handle is being dropped, so nobody else dequeues.
        while let Some(element) = unsafe { self.dequeue() } {
            drop(element);
        }
    }
}

/// Whether DPDK can count the words of 4 bytes in a ring of elements of `words` each. It rounds the number of slots up to a
/// power of two, of which its largest is 2^30. To find out whether a bulk reaches past the last slot, it adds the position
/// of one word to a number of words in 32 bits: neither may exceed half of that range.
const fn fits(capacity: u32, words: u32) -> bool {
    let slots = (capacity as u64 + 1).next_power_of_two();
    slots <= 1 << 30 && slots * words as u64 <= 1 << 31
}

/// # Safety
/// The ring is live, nobody uses it any more, and nobody else frees it.
unsafe fn free(ring: NonNull<sys::rte_ring>) {
    // SAFETY: the caller promises a live ring that nobody uses.
    unsafe { sys::rte_ring_free(ring.as_ptr()) };
}

#[cfg(test)]
mod tests {
    use super::fits;

    /// The sum that DPDK computes for a bulk of all elements but one, whose first word is the last slot's.
    fn sum(capacity: u32, words: u32) -> Option<u32> {
        let slots = (capacity + 1).next_power_of_two();
        (slots - 1).checked_mul(words)?.checked_add(capacity.checked_mul(words)?)
    }

    #[test]
    fn positions_of_words_fit_32_bits() {
        for (most, words) in [((1 << 30) - 1, 1), ((1 << 30) - 1, 2), ((1 << 29) - 1, 3), ((1 << 21) - 1, 1024)] {
            assert!(fits(most, words) && !fits(most + 1, words) && sum(most, words).is_some(), "{words} words");
        }
        for capacity in [(1 << 31) - 1, 1 << 31, u32::MAX] {
            assert!(!fits(capacity, 1), "{capacity}");
        }
        // 16 GiB less 16 MiB, whose words can be counted in 32 bits, but not twice.
        assert!(!fits((1 << 22) - 1, 1023) && sum((1 << 22) - 1, 1023).is_none());
    }
}
