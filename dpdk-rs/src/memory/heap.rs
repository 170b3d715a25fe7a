// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Values in DPDK's heap.

use crate::{Eal, SocketId, eal::Environment};
use core::{
    alloc::Layout,
    fmt,
    marker::PhantomData,
    mem,
    ops::{Deref, DerefMut},
    ptr::{self, NonNull},
};
use dpdk_sys as sys;
use std::sync::Arc;

/// Why there is no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AllocError {
    /// A child made by `fork` cannot allocate: DPDK's memory is its parent's.
    #[error("cannot allocate: this process is a fork of the one that initialized the EAL")]
    Forked,
    /// A slice is longer than an address can say.
    #[error("cannot allocate {len} elements of {size} bytes: that is more than there are addresses for")]
    TooLong {
        /// Elements asked for.
        len: usize,
        /// The bytes of each.
        size: usize,
    },
    /// `rte_malloc_socket` failed: there is no such memory, or the alignment is no power of two.
    #[error(
        "cannot allocate {size} bytes, aligned to {align}, on socket {socket}: give the EAL more memory (-m, --socket-mem)"
    )]
    Malloc {
        /// Bytes asked for.
        size: usize,
        /// Their alignment.
        align: usize,
        /// Where.
        socket: SocketId,
    },
}

impl AllocError {
    /// The name of the call of DPDK that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Malloc { .. } = self { Some("rte_malloc_socket") } else { None }
    }
}

/// DPDK's heap, with a NUMA node and an alignment to allocate with. A copy may be used on any thread.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(std::env::args())?;
/// let heap = eal.heap();
/// let mut table = heap.boxed_slice(1 << 16, |number| number as u32)?;
/// table[7] = 0;
/// let counters = heap.align(128).boxed([0_u64; 16])?;
/// # drop((table, counters));
/// # Ok(())
/// # }
/// ```
#[doc(alias = "rte_malloc")]
#[derive(Clone)]
pub struct Heap {
    eal: Arc<Environment>,
    socket: SocketId,
    align: usize,
}

impl Heap {
    pub(crate) fn new(eal: &Eal) -> Self {
        Self { eal: Arc::clone(eal.environment()), socket: SocketId::ANY, align: 1 }
    }

    /// The same heap, on a NUMA node: its memory, or none.
    #[must_use]
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// The same heap, with values aligned to at least so many bytes: a power of two.
    #[must_use]
    pub const fn align(mut self, bytes: usize) -> Self {
        self.align = bytes;
        self
    }

    /// A value in this heap.
    ///
    /// # Errors
    /// See [`AllocError`]; the value is dropped then.
    #[doc(alias = "rte_malloc_socket")]
    #[doc(alias = "rte_zmalloc_socket")]
    pub fn boxed<T>(&self, value: T) -> Result<DpdkBox<T>, AllocError> {
        let memory = self.allocate(Layout::new::<T>())?.keep().cast::<T>();
        // SAFETY: the memory is new, and has the size and the alignment of a `T`.
        unsafe { memory.write(value) };
        Ok(DpdkBox { value: memory, eal: Arc::clone(&self.eal), owned: PhantomData })
    }

    /// `len` values in a row in this heap: `value` is called with the number of each, from 0.
    ///
    /// # Errors
    /// See [`AllocError`].
    ///
    /// # Panics
    /// If `value` does: the values before are dropped, and the memory is given back.
    #[doc(alias = "rte_calloc_socket")]
    pub fn boxed_slice<T>(&self, len: usize, mut value: impl FnMut(usize) -> T) -> Result<DpdkBox<[T]>, AllocError> {
        let layout = Layout::array::<T>(len).map_err(|_| AllocError::TooLong { len, size: size_of::<T>() })?;
        let memory = self.allocate(layout)?;
        let mut filled = Filled { start: memory.0.cast::<T>(), len: 0 };
        while filled.len < len {
            let value = value(filled.len);
            // SAFETY: `len` is how many there is room for, and `filled.len` is below it.
            let place = unsafe { filled.start.add(filled.len) };
            // SAFETY: the place is inside the memory, which is aligned for a `T`, and nothing was written there.
            unsafe { place.write(value) };
            filled.len += 1;
        }
        mem::forget(filled);
        let values = NonNull::slice_from_raw_parts(memory.keep().cast::<T>(), len);
        Ok(DpdkBox { value: values, eal: Arc::clone(&self.eal), owned: PhantomData })
    }

    /// How much of this heap is in use, on its NUMA node, or on all of them if it has none of its own.
    #[doc(alias = "rte_malloc_get_socket_stats")]
    #[must_use]
    pub fn stats(&self) -> HeapStats {
        let mut stats = sys::rte_malloc_socket_stats::default();
        // SAFETY: the EAL is initialised, since its `Environment` is made only after that; the call fills a struct of ours, and
        // locks what it counts.
        unsafe { sys::dpdk_sys_malloc_stats(self.socket.get(), &raw mut stats) };
        HeapStats {
            total: stats.heap_totalsz_bytes,
            free: stats.heap_freesz_bytes,
            allocated: stats.heap_allocsz_bytes,
            largest_free: stats.greatest_free_size,
            allocations: stats.alloc_count as usize,
            free_pieces: stats.free_count as usize,
        }
    }

    fn allocate(&self, layout: Layout) -> Result<Memory, AllocError> {
        if self.eal.is_forked() {
            return Err(AllocError::Forked);
        }
        // Nothing is not allocated by DPDK.
        let (size, align) = (layout.size().max(1), layout.align().max(self.align));
        let failed = AllocError::Malloc { size, align, socket: self.socket };
        let bytes = u32::try_from(align).map_err(|_| failed)?;
        // SAFETY: the EAL is initialised, since its `Environment` is made only after that; the heap has a lock. Without a
        // name nothing is kept.
        let memory = unsafe { sys::rte_malloc_socket(ptr::null(), size, bytes, self.socket.get()) };
        NonNull::new(memory.cast()).map(Memory).ok_or(failed)
    }
}

impl fmt::Debug for Heap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Heap").field("socket", &self.socket).field("align", &self.align).finish()
    }
}

/// How much of DPDK's heap is in use, in bytes. It grows as it is needed, as far as there are pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapStats {
    /// All of it, as it is now.
    pub total: usize,
    /// Nobody has it.
    pub free: usize,
    /// Somebody has it: with what each piece needs for itself.
    pub allocated: usize,
    /// The largest piece that nobody has.
    pub largest_free: usize,
    /// How many pieces somebody has.
    pub allocations: usize,
    /// How many pieces nobody has.
    pub free_pieces: usize,
}

/// Memory from the heap, given back when it is dropped.
struct Memory(NonNull<u8>);

impl Memory {
    /// The memory, which is not given back here.
    const fn keep(self) -> NonNull<u8> {
        let start = self.0;
        mem::forget(self);
        start
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the memory is from `rte_malloc_socket`, and nobody else gives it back.
        unsafe { sys::rte_free(self.0.as_ptr().cast()) };
    }
}

/// The first values of a slice, dropped if the next one cannot be made.
struct Filled<T> {
    start: NonNull<T>,
    len: usize,
}

impl<T> Drop for Filled<T> {
    fn drop(&mut self) {
        let values = NonNull::slice_from_raw_parts(self.start, self.len);
        // SAFETY: so many values were written from the start on, and nobody else drops them.
        unsafe { values.drop_in_place() };
    }
}

/// A value in DPDK's heap, as [`Box`] is one in that of the process; made by [`Heap::boxed`] or [`Heap::boxed_slice`].
#[doc(alias = "rte_free")]
pub struct DpdkBox<T: ?Sized> {
    value: NonNull<T>,
    eal: Arc<Environment>,
    owned: PhantomData<T>,
}

// SAFETY: a box is the only owner of its value, and DPDK's heap may be used from any thread.
unsafe impl<T: ?Sized + Send> Send for DpdkBox<T> {}
// SAFETY: a shared box gives no more than a shared value.
unsafe impl<T: ?Sized + Sync> Sync for DpdkBox<T> {}

impl<T: ?Sized> Deref for DpdkBox<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the value lives as long as its box, and whoever changes it borrows the box exclusively.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for DpdkBox<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the value lives as long as its box, which is borrowed exclusively.
        unsafe { self.value.as_mut() }
    }
}

impl<T: ?Sized> AsRef<T> for DpdkBox<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> AsMut<T> for DpdkBox<T> {
    fn as_mut(&mut self) -> &mut T {
        self
    }
}

impl<T: ?Sized> Drop for DpdkBox<T> {
    fn drop(&mut self) {
        if self.eal.is_forked() {
            return;
        }
        // Given back also if the value's own drop panics.
        let _memory = Memory(self.value.cast());
        // SAFETY: the box is the only owner of the value, and at its end.
        unsafe { self.value.drop_in_place() };
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for DpdkBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for DpdkBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
