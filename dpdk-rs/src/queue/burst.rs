// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Several packets, handled at once.

use crate::{Packet, PrivateData};
use arrayvec::ArrayVec;
use core::{
    fmt,
    mem::MaybeUninit,
    ops::{Deref, DerefMut},
};
use dpdk_sys::rte_mbuf;

/// Up to `N` packets in place, as received by [`RxQueue::rx`](crate::RxQueue::rx) and sent by
/// [`TxQueue::tx`](crate::TxQueue::tx). A burst is a slice of packets. Dropping it returns the packets to their pools
/// with one call (`rte_pktmbuf_free_bulk`), even if they belong to several pools.
#[doc(alias = "rte_pktmbuf_free_bulk")]
pub struct Burst<P: PrivateData = (), const N: usize = 32> {
    packets: ArrayVec<Packet<P>, N>,
}

impl<P: PrivateData, const N: usize> Burst<P, N> {
    /// An empty burst.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { packets: ArrayVec::new_const() }
    }

    /// The maximum number of packets in the burst.
    #[inline]
    #[must_use]
    pub const fn capacity(&self) -> usize {
        N
    }

    /// How many more packets fit.
    #[inline]
    #[must_use]
    pub fn remaining_capacity(&self) -> usize {
        self.packets.remaining_capacity()
    }

    /// Adds a packet at the end.
    ///
    /// # Errors
    /// The packet, if the burst is full.
    #[inline]
    pub fn push(&mut self, packet: Packet<P>) -> Result<(), Packet<P>> {
        self.packets.try_push(packet).map_err(arrayvec::CapacityError::element)
    }

    /// Takes the last packet.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet<P>> {
        self.packets.pop()
    }

    /// Removes and returns the packet at `index`. The last packet takes its place.
    #[inline]
    pub fn swap_remove(&mut self, index: usize) -> Option<Packet<P>> {
        self.packets.swap_pop(index)
    }

    /// Removes every packet. The iterator returns them in order, and frees the remaining ones when it is dropped.
    #[inline]
    pub fn drain(&mut self) -> impl Iterator<Item = Packet<P>> + '_ {
        self.packets.drain(..)
    }

    /// Keeps the packets for which `keep` returns true, in order, and frees the others.
    #[inline]
    pub fn retain(&mut self, keep: impl FnMut(&mut Packet<P>) -> bool) {
        self.packets.retain(keep);
    }

    /// Frees all packets with one call.
    #[inline]
    pub fn clear(&mut self) {
        if self.packets.is_empty() {
            return;
        }
        let (first, count) = self.give_up_all();
        // SAFETY: the first `count` mbufs were owned by the burst, which has just given them up.
        unsafe { dpdk_sys::rte_pktmbuf_free_bulk(first, count) };
    }

    /// Gives up all packets without freeing them: the caller owns the chains of the returned number of pointers, which are
    /// valid until the burst is used again.
    #[inline]
    pub(crate) fn give_up_all(&mut self) -> (*mut *mut rte_mbuf, u32) {
        // Nobody needs a burst that is longer than the calls' count, but truncating it would have to be visible.
        let count = u32::try_from(self.packets.len()).unwrap_or(u32::MAX);
        // SAFETY: 0 is not above the capacity. From now on the burst does not own the packets any more.
        unsafe { self.packets.set_len(0) };
        // A `Packet` is a transparent pointer to an mbuf.
        (self.packets.as_mut_ptr().cast(), count)
    }

    /// Moves packets from the front of `other` until this burst is full or `other` is empty.
    ///
    /// Returns how many were moved.
    #[inline]
    pub fn append<const M: usize>(&mut self, other: &mut Burst<P, M>) -> usize {
        let others = other.len();
        let count = others.min(self.remaining_capacity());
        let end = self.len();
        let from = other.packets.as_ptr();
        // SAFETY: `end` is the burst's own length, which `ArrayVec` keeps within the array.
        let to = unsafe { self.packets.as_mut_ptr().add(end) };
        // SAFETY: `count` is at most the number of packets in `other` and the free room here, and two bursts borrowed
        // as `&mut` do not overlap.
        unsafe { core::ptr::copy_nonoverlapping(from, to, count) };
        // SAFETY: those `count` entries were just written. `other` gives up its copies in the next statement.
        unsafe { self.packets.set_len(end + count) };
        // SAFETY: `other` holds at least `count` packets, which the statement above has moved to this burst.
        unsafe { other.forget_front(others, count) };
        count
    }

    /// The uninitialised tail of the array as room for `rte_mbuf` pointers.
    #[inline]
    pub(crate) fn spare(&mut self) -> &mut [MaybeUninit<*mut rte_mbuf>] {
        let len = self.packets.len();
        // SAFETY: `len` is the burst's own length, which `ArrayVec` keeps within the array.
        let start = unsafe { self.packets.as_mut_ptr().add(len) };
        // SAFETY: a `Packet` is a transparent pointer to an mbuf. The `N - len` entries after the packets belong to the
        // array and are borrowed with it.
        unsafe { core::slice::from_raw_parts_mut(start.cast(), N - len) }
    }

    /// Sets the number of packets to `len`; the caller has written the additional ones to [`Self::spare`].
    ///
    /// # Safety
    /// `len` is between the burst's length and its capacity, and nobody else owns the mbufs in the entries between.
    #[inline(always)]
    pub(crate) unsafe fn set_len(&mut self, len: usize) {
        debug_assert!(self.len() <= len && len <= N);
        // SAFETY: the caller promises that `len` entries hold packets, and that they are within the array.
        unsafe { self.packets.set_len(len) };
    }

    /// A number of this burst's packets in the drivers' type. A larger number becomes the largest that fits.
    #[inline(always)]
    pub(crate) fn count(packets: usize) -> u16 {
        debug_assert!(packets <= N);
        if N <= u16::MAX as usize { packets as u16 } else { u16::try_from(packets).unwrap_or(u16::MAX) }
    }

    /// The packets as `rte_mbuf` pointers.
    #[inline]
    pub(crate) fn as_mbufs(&mut self) -> *mut *mut rte_mbuf {
        self.packets.as_mut_ptr().cast()
    }

    /// Gives up the first `count` of all `len` packets without freeing them, and moves the rest to the front. The
    /// caller passes the length so that the compiler need not load it again after a call that it knows nothing about.
    ///
    /// # Safety
    /// `len` is the length of the burst, `count` not above it, and somebody else owns the first `count` packets now.
    #[inline(always)]
    pub(crate) unsafe fn forget_front(&mut self, len: usize, count: usize) {
        debug_assert!(len == self.len() && count <= len);
        if count == len {
            // SAFETY: 0 is not above the capacity.
            unsafe { self.packets.set_len(0) };
        } else {
            // SAFETY: the caller promises the same.
            unsafe { self.keep_rest(len, count) };
        }
    }

    /// [`Self::forget_front`] of fewer than all packets.
    ///
    /// # Safety
    /// `len` is the length of the burst, `count` not above it, and somebody else owns the first `count` packets now.
    #[cold]
    #[inline(never)]
    unsafe fn keep_rest(&mut self, len: usize, count: usize) {
        let to = self.packets.as_mut_ptr();
        // SAFETY: the caller promises that there are at least `count` packets.
        let from = unsafe { to.add(count) };
        // SAFETY: both ranges lie within the burst's own packets; `copy` allows them to overlap.
        unsafe { core::ptr::copy(from, to, len - count) };
        // SAFETY: the first `len - count` entries are packets: those that were just moved.
        unsafe { self.packets.set_len(len - count) };
    }

    /// [`Self::clear`] for a burst that is dropped with packets in it, which most programs do only after an error.
    #[cold]
    #[inline(never)]
    fn free_rest(&mut self) {
        self.clear();
    }
}

impl<P: PrivateData, const N: usize> Drop for Burst<P, N> {
    #[inline]
    fn drop(&mut self) {
        if !self.is_empty() {
            self.free_rest();
        }
    }
}

impl<P: PrivateData, const N: usize> Default for Burst<P, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: PrivateData, const N: usize> Deref for Burst<P, N> {
    type Target = [Packet<P>];

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.packets
    }
}

impl<P: PrivateData, const N: usize> DerefMut for Burst<P, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.packets
    }
}

impl<'a, P: PrivateData, const N: usize> IntoIterator for &'a Burst<P, N> {
    type Item = &'a Packet<P>;
    type IntoIter = core::slice::Iter<'a, Packet<P>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, P: PrivateData, const N: usize> IntoIterator for &'a mut Burst<P, N> {
    type Item = &'a mut Packet<P>;
    type IntoIter = core::slice::IterMut<'a, Packet<P>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<P: PrivateData, const N: usize> fmt::Debug for Burst<P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
