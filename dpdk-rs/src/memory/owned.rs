// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Memory of the program that DPDK refers to.

use core::{mem, ptr::NonNull};

/// Memory that stays in place until this object is dropped, even if its bytes are inside the value itself: only a
/// pointer moves.
pub(crate) struct Owned<M>(*mut M);

// SAFETY: the value belongs to this object alone, and may itself be sent to another thread.
unsafe impl<M: Send> Send for Owned<M> {}
// SAFETY: a shared `Owned` gives no access to the value at all.
unsafe impl<M> Sync for Owned<M> {}

impl<M: AsMut<[u8]>> Owned<M> {
    pub(crate) fn new(memory: M) -> Self {
        Self(Box::into_raw(Box::new(memory)))
    }

    /// Its bytes. They stay in place as long as nobody uses the value itself.
    pub(crate) fn bytes(&mut self) -> NonNull<[u8]> {
        // SAFETY: the value is live and belongs to this object alone.
        let memory = unsafe { &mut *self.0 };
        NonNull::from(memory.as_mut())
    }

    pub(crate) fn into_inner(self) -> M {
        let memory = self.0;
        mem::forget(self);
        // SAFETY: the value was made by `new` from a box, and this object, which is gone, was its only owner.
        *unsafe { Box::from_raw(memory) }
    }
}

impl<M> Drop for Owned<M> {
    fn drop(&mut self) {
        // SAFETY: the value was created by `new` from a box, and this object, which is being dropped, is its only
        // owner.
        drop(unsafe { Box::from_raw(self.0) });
    }
}
