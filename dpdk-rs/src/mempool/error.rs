// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What can go wrong with pools.

use super::{PoolDriver, SocketId};
use crate::Errno;

/// Why a pool, or a cache of one, was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MempoolError {
    /// The name has a NUL byte, or a character that is not ASCII, which DPDK's telemetry reads wrong.
    #[error("pool name {0:?} cannot be used: give ASCII characters, and no NUL byte")]
    Name(String),
    /// A child made by `fork` cannot make pools: DPDK's memory is its parent's.
    #[error("cannot create pool '{0}': this process is a fork of the one that initialized the EAL")]
    Forked(String),
    /// This build of DPDK does not have the driver.
    #[error(
        "cannot create pool '{name}': DPDK has no mempool driver '{driver}' here: install it, or leave out MempoolBuilder::driver"
    )]
    NoDriver {
        /// The pool's name.
        name: String,
        /// The driver that was asked for.
        driver: PoolDriver,
    },
    /// A pool in memory of the program has the driver that DPDK likes best, and no other.
    #[error(
        "cannot create pool '{0}' with a driver of choice in memory of the program: leave out MempoolBuilder::driver"
    )]
    DriverInMemory(String),
    /// The memory is too small for so many buffers.
    #[error(
        "cannot create pool '{name}' of {size} mbufs: the memory has room for {fits} buffers of {data_room} bytes: give more of it, or make the pool smaller"
    )]
    NoRoom {
        /// The pool's name.
        name: String,
        /// Mbufs asked for.
        size: u32,
        /// Bytes in each of their buffers.
        data_room: u16,
        /// How many buffers the memory has room for, as devices see it.
        fits: u32,
    },
    /// The memory is not DPDK's, and a device does not reach others.
    #[error(
        "cannot create pool '{name}': its memory is not DPDK's, which is all that port {port} reaches: take it from \
         Heap::boxed_slice or Memzone, or for NICs register it with ExternalMemory"
    )]
    Unreachable {
        /// The pool's name.
        name: String,
        /// A port of this process that reaches DPDK's memory only, with its driver.
        port: String,
    },
    /// `rte_mempool_cache_create` failed.
    #[error("cannot create a cache of {mbufs} mbufs: {errno}{}", cache_remedy(*errno))]
    Cache {
        /// Mbufs asked for.
        mbufs: u32,
        /// `EINVAL` for a number that is not allowed, `ENOMEM` without enough memory.
        errno: Errno,
    },
    /// `rte_pktmbuf_pool_create`, or one of its kind, failed.
    #[error("cannot create pool '{name}' of {size} mbufs{}: {errno}{}", place(*socket), remedy(*errno))]
    Create {
        /// The pool's name.
        name: String,
        /// Mbufs asked for.
        size: u32,
        /// Where.
        socket: SocketId,
        /// `EEXIST` for a name in use, `ENOMEM` without enough hugepages, `EINVAL` for a size of 2^30 or more or a cache larger
        /// than allowed, …
        errno: Errno,
    },
}

/// Where, in words; nothing for any NUMA node.
fn place(socket: SocketId) -> String {
    if socket == SocketId::ANY { String::new() } else { format!(" on socket {socket}") }
}

/// What to do about an error, in words.
fn remedy(errno: Errno) -> &'static str {
    match errno.get() {
        22 => ": give at least 1 mbuf, and a cache of at most 512 and of two thirds of them",
        36 => ": give a shorter name",
        _ => errno.remedy(),
    }
}

fn cache_remedy(errno: Errno) -> &'static str {
    if errno.get() == 22 { ": give 1 to 512" } else { errno.remedy() }
}

impl MempoolError {
    /// DPDK's error, if a call of DPDK failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        match self {
            Self::Create { errno, .. } | Self::Cache { errno, .. } => Some(*errno),
            _ => None,
        }
    }

    /// The name of the call of DPDK that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        match self {
            Self::Create { .. } => Some("rte_pktmbuf_pool_create"),
            Self::Cache { .. } => Some("rte_mempool_cache_create"),
            _ => None,
        }
    }
}
