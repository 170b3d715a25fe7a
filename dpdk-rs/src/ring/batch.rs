// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Several elements at once: what a ring takes them from, and puts them into.

use crate::{Burst, Packet, PrivateData};
use core::mem::MaybeUninit;

/// Several elements, as a [`Ring`](crate::Ring) takes and gives them: a [`Vec`], which grows as far as it has to, or a
/// [`Burst`] of packets, which has room for so many.
pub trait Batch<T>: sealed::Contents<T> {}

impl<T> Batch<T> for Vec<T> {}

impl<P: PrivateData, const N: usize> Batch<Packet<P>> for Burst<P, N> {}

mod sealed {
    use super::{Burst, MaybeUninit, Packet, PrivateData};

    /// Elements in a row, with room behind them.
    pub trait Contents<T> {
        /// How many there are.
        fn count(&self) -> usize;

        /// The first of them, if there is one.
        fn front(&self) -> *const T;

        /// Gives up the first `count` elements without dropping them; the rest moves to the front.
        ///
        /// # Safety
        /// There are as many, and somebody else owns them now.
        unsafe fn forget_front(&mut self, count: usize);

        /// Room behind the elements, for `most` of them if that can be made.
        fn room(&mut self, most: usize) -> &mut [MaybeUninit<T>];

        /// Takes over `count` elements more, which are in the room behind those that are there.
        ///
        /// # Safety
        /// There is such room, as many elements were written to it, and nobody else owns them.
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
        /// There are as many elements, and somebody else owns them now.
        #[inline]
        unsafe fn forget_front(&mut self, count: usize) {
            let left = self.len() - count;
            let to = self.as_mut_ptr();
            // SAFETY: the caller promises at least `count` elements.
            let from = unsafe { to.add(count) };
            // SAFETY: both ranges lie within the vector's elements; `copy` allows them to overlap.
            unsafe { core::ptr::copy(from, to, left) };
            // SAFETY: the first `left` are elements, which have just been moved there.
            unsafe { self.set_len(left) };
        }

        #[inline]
        fn room(&mut self, most: usize) -> &mut [MaybeUninit<T>] {
            self.reserve(most);
            self.spare_capacity_mut()
        }

        /// # Safety
        /// There is room, as many elements were written to it, and nobody else owns them.
        #[inline]
        unsafe fn grow(&mut self, count: usize) {
            let len = self.len() + count;
            // SAFETY: the caller promises room with as many elements in it.
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
        /// There are as many elements, and somebody else owns them now.
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
        /// There is room, as many elements were written to it, and nobody else owns them.
        #[inline]
        unsafe fn grow(&mut self, count: usize) {
            let len = self.len() + count;
            // SAFETY: the caller promises room with as many packets in it, which nobody else owns.
            unsafe { self.set_len(len) };
        }
    }
}
