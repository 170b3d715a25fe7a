// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Memory that will be used soon.

/// Begins to bring a value into the caches of this core, and does not wait for it (as `rte_prefetch0` does for one line).
///
/// A program that will use many values, each for the first time in a while, calls this for all of them first: the processor
/// waits for all of them at once then, and not for one after the other.
///
/// All cache lines of the value are asked for. There need not be one: nothing but the caches changes, whatever the address.
/// Nothing happens on processors other than x86-64.
///
/// ```
/// let values = vec![[0_u8; 1_000]; 8];
/// values.iter().for_each(|value| dpdk_rs::prefetch(value));
/// dpdk_rs::prefetch(core::ptr::null::<[u8; 100]>());
/// ```
#[doc(alias = "rte_prefetch0")]
#[inline]
pub fn prefetch<T>(value: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const LINE: usize = 64;
        let before = value.addr() % LINE;
        let first = value.cast::<i8>().wrapping_sub(before);
        for offset in (0..before + size_of::<T>()).step_by(LINE) {
            // SAFETY: a prefetch of whatever address has no effect but on the caches.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
