// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Registered memory of more pages than DPDK can describe.

use crate::process::isolated;
use dpdk_rs::memory::{ExternalMemory, RegisterError};
use nix::libc;
use std::{ptr, slice};

const PAGE: usize = 4096;

/// Addresses without memory: the kernel provides a page when it is first accessed.
#[derive(Debug)]
struct Reserved(&'static mut [u8]);

impl Reserved {
    fn pages(pages: usize) -> Self {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: the kernel chooses the addresses, so the mapping replaces no other.
        let start = unsafe { libc::mmap(ptr::null_mut(), pages * PAGE, access, flags | libc::MAP_NORESERVE, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED);
        // SAFETY: the bytes are zeros that nobody else uses, and they stay until the process ends.
        Self(unsafe { slice::from_raw_parts_mut(start.cast(), pages * PAGE) })
    }
}

impl AsMut<[u8]> for Reserved {
    fn as_mut(&mut self) -> &mut [u8] {
        self.0
    }
}

/// DPDK computes the bytes of its descriptions, 48 for each page, in 32 bits: from 89,478,486 pages on, which are 341 GiB, it
/// maps too few and writes past their end.
#[test]
fn memory_of_more_pages_than_dpdk_describes_is_refused() {
    isolated(&[], |eal| {
        let register = |pages| ExternalMemory::register(&eal, Reserved::pages(pages), PAGE);
        for pages in [89_478_486, 89_478_485, (1 << 26) + 1] {
            let (error, _) = register(pages).unwrap_err();
            assert_eq!(error, RegisterError::Pages { pages });
        }
        assert!(!register(1 << 16).unwrap().is_mapped());
    });
}
