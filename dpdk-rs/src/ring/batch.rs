// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Containers for several elements, which a ring enqueues from and dequeues to.

use crate::{Burst, Packet, PrivateData};
use core::mem::MaybeUninit;

/// A container of elements for the bulk and burst operations of a [`Ring`](crate::Ring): a [`Vec`], which grows as
/// needed, or a [`Burst`] of packets, which has a fixed capacity.
pub trait Batch<T>: sealed::Contents<T> {}

impl<T> Batch<T> for Vec<T> {}

impl<P: PrivateData, const N: usize> Batch<Packet<P>> for Burst<P, N> {}

mod sealed {
    use super::{Burst, MaybeUninit, Packet, PrivateData};

    /// Consecutive elements, with room after them.
    pub trait Contents<T> {
        /// The number of elements.
        fn count(&self) -> usize;

        /// A pointer to the first element.
        fn front(&self) -> *const T;

        /// Gives up the first `count` elements without dropping them, and moves the rest to the front.
        ///
        /// # Safety
        /// There are at least `count` elements, and somebody else now owns the first `count`.
        unsafe fn forget_front(&mut self, count: usize);

        /// The room after the elements, for up to `most` of them.
        fn room(&mut self, most: usize) -> &mut [MaybeUninit<T>];

        /// Takes ownership of the next `count` elements, which were written to the room after the present ones.
        ///
        /// # Safety
        /// There is room for `count` elements, they were written to it, and nobody else owns them.
        unsafe fn grow(&mut self, count: usize);
    }

    impl<T> Contents<T> for Vec<T> {
        #[inline]
        fn count(&self) -> usize {
            self.len()
        }

        #[inline]
        fn front(&self) -> *const T {
            self.as_ptr()
        }

        /// # Safety
        /// There are at least `count` elements, and somebody else now owns the first `count`.
        #[inline]
        unsafe fn forget_front(&mut self, count: usize) {
            let left = self.len() - count;
            let to = self.as_mut_ptr();
            // SAFETY: the caller promises at least `count` elements.
            let from = unsafe { to.add(count) };
            // SAFETY: both ranges lie within the vector's elements; `copy` allows them to overlap.
            unsafe { core::ptr::copy(from, to, left) };
            // SAFETY: the first `left` are elements that were just moved there.
            unsafe { self.set_len(left) };
        }

        #[inline]
        fn room(&mut self, most: usize) -> &mut [MaybeUninit<T>] {
            self.reserve(most);
            self.spare_capacity_mut()
        }

        /// # Safety
        /// There is room for `count` elements, they were written to it, and nobody else owns them.
        #[inline]
        unsafe fn grow(&mut self, count: usize) {
            let len = self.len() + count;
            // SAFETY: the caller promises `count` elements in the room.
            unsafe { self.set_len(len) };
        }
    }

    impl<P: PrivateData, const N: usize> Contents<Packet<P>> for Burst<P, N> {
        #[inline]
        fn count(&self) -> usize {
            self.len()
        }

        #[inline]
        fn front(&self) -> *const Packet<P> {
            self.as_ptr()
        }

        /// # Safety
        /// There are at least `count` elements, and somebody else now owns the first `count`.
        #[inline]
        unsafe fn forget_front(&mut self, count: usize) {
            let len = self.len();
            // SAFETY: the caller promises at least `count` packets that somebody else owns; `len` is how many there are.
            unsafe { Burst::forget_front(self, len, count) };
        }

        #[inline]
        fn room(&mut self, _most: usize) -> &mut [MaybeUninit<Packet<P>>] {
            let room = self.spare();
            // SAFETY: a `Packet` is a transparent pointer to an mbuf, and the room is borrowed as long as the result.
            unsafe { core::slice::from_raw_parts_mut(room.as_mut_ptr().cast(), room.len()) }
        }

        /// # Safety
        /// There is room for `count` elements, they were written to it, and nobody else owns them.
        #[inline]
        unsafe fn grow(&mut self, count: usize) {
            let len = self.len() + count;
            // SAFETY: the caller promises `count` packets in the room, which nobody else owns.
            unsafe { self.set_len(len) };
        }
    }
}
