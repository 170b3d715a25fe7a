// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a model knows of memory that C accesses: who has used it, and whether it was freed.

/// Memory that several threads use before one frees it. A model fails if a use does not happen before the free.
#[cfg(loom)]
#[derive(Debug, Default)]
pub(crate) struct Memory(loom::cell::UnsafeCell<bool>);

// SAFETY: loom fails if a write is concurrent with another access.
#[cfg(loom)]
unsafe impl Sync for Memory {}

#[cfg(loom)]
impl Memory {
    pub(crate) fn touch(&self) {
        // SAFETY: loom fails if another thread writes at the same time.
        self.0.with(|freed| assert!(!unsafe { *freed }, "memory was used after it was freed"));
    }

    pub(crate) fn free(&self) {
        // SAFETY: loom fails if another thread reads or writes at the same time.
        let before = self.0.with_mut(|freed| unsafe { core::mem::replace(&mut *freed, true) });
        assert!(!before, "memory was freed twice");
    }

    /// For the end of a model, when all other threads have ended.
    pub(crate) fn is_freed(&self) -> bool {
        // SAFETY: loom fails if another thread writes at the same time.
        self.0.with(|freed| unsafe { *freed })
    }
}

/// Without loom, the memory itself is freed, and Miri or AddressSanitizer finds its users.
#[cfg(not(loom))]
#[derive(Debug, Default)]
pub(crate) struct Memory;

#[cfg(not(loom))]
impl Memory {
    pub(crate) const fn touch(&self) {}
    pub(crate) const fn free(&self) {}
}

/// The data of a buffer, as a model sees it: whether reads and writes exclude each other.
#[cfg(loom)]
#[derive(Debug, Default)]
pub(crate) struct Shadow(loom::cell::UnsafeCell<()>);

// SAFETY: loom fails if a write is concurrent with another access.
#[cfg(loom)]
unsafe impl Sync for Shadow {}

#[cfg(loom)]
impl Shadow {
    pub(crate) fn read(&self) {
        self.0.with(|_| ());
    }

    pub(crate) fn write(&self) {
        self.0.with_mut(|_| ());
    }
}
