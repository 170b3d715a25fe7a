// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Memory that will be used soon.

/// Begins to bring `len` bytes at an address into the caches of this core, and does not wait for them (as `rte_prefetch0` does
/// for one cache line).
///
/// A program that will use many values, each for the first time in a while, calls this for all of them first: the processor
/// waits for all of them at once then, and not for one after the other.
///
/// Nothing but the caches changes, whatever the address, and nothing at all on processors other than x86-64.
///
/// ```
/// let values = vec![[0_u8; 1_000]; 8];
/// for value in &values {
///     dpdk_rs::prefetch(value.as_ptr().addr(), value.len());
/// }
/// dpdk_rs::prefetch(0, 100);
/// ```
#[doc(alias = "rte_prefetch0")]
#[inline]
pub fn prefetch(address: usize, len: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const LINE: usize = 64;
        let before = address % LINE;
        for offset in (0..before + len).step_by(LINE) {
            let line = core::ptr::without_provenance((address - before).wrapping_add(offset));
            // SAFETY: a prefetch of whatever address has no effect but on the caches.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (address, len);
}
