// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The one thing that safe Rust has no word for.
#![allow(unsafe_code, reason = "the intrinsic takes a pointer")]

/// Brings the first cache line of a frame, where all that the kernels write to lies, towards the core.
#[inline(always)]
pub(crate) fn prefetch(frame: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch of whatever address has no effect but on the caches.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(frame.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = frame;
}
