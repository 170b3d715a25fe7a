// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The drivers that store the free mbufs of pools.

use core::{ffi::CStr, fmt};

/// How a pool stores its free mbufs: the DPDK mempool drivers that any thread may use.
///
/// Three kinds of driver are left out:
///
/// - those for a single producer or consumer (`ring_sp_sc` and similar), since packets may be dropped on any thread;
/// - `bucket`, which does not check whether the calling thread is an lcore;
/// - `ring_mt_rts`, which loses mbufs: its ring has no room for an mbuf while another thread is still taking one out,
///   and DPDK does not check whether returning the mbuf failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PoolDriver {
    /// `ring_mp_mc`: a ring, which returns the mbuf that was unused for the longest time. DPDK's default.
    RingMpMc,
    /// `ring_mt_hts`: a ring for more threads than processors, which serves one thread at a time.
    RingHts,
    /// `stack`: a stack with a lock, which returns the mbuf that was used last and may still be in a processor cache.
    Stack,
    /// `lf_stack`: a lock-free stack, on processors that can compare and exchange 16 bytes.
    LockFreeStack,
}

impl PoolDriver {
    pub(super) const fn c_name(self) -> &'static CStr {
        match self {
            Self::RingMpMc => c"ring_mp_mc",
            Self::RingHts => c"ring_mt_hts",
            Self::Stack => c"stack",
            Self::LockFreeStack => c"lf_stack",
        }
    }
}

impl fmt::Display for PoolDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.c_name().to_string_lossy())
    }
}
