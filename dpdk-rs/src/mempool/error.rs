// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Errors of pools.

use super::{LONGEST_NAME, PoolDriver, SocketId};
use crate::{Errno, name};

/// Why a pool, or a cache of a pool, was not created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MempoolError {
    /// The name contains a NUL byte, is too long (DPDK would truncate it), or contains a character that is not ASCII, which
    /// DPDK's telemetry cannot show.
    #[error(
        "pool name {0:?} cannot be used: give at most {longest} ASCII characters, and no NUL byte",
        longest = name::longest(LONGEST_NAME)
    )]
    Name(String),
    /// A child process created by `fork` cannot create pools: DPDK's memory belongs to its parent.
    #[error("cannot create pool '{0}': this process is a fork of the one that initialized the EAL")]
    Forked(String),
    /// This build of DPDK does not have the driver.
    #[error(
        "cannot create pool '{name}': DPDK has no mempool driver '{driver}' here: install it, or leave out MempoolBuilder::driver"
    )]
    NoDriver {
        /// The pool's name.
        name: String,
        /// The requested driver.
        driver: PoolDriver,
    },
    /// A pool in memory of the program has DPDK's default driver. It cannot have another one.
    #[error("cannot create pool '{0}' with a chosen driver in memory of the program: leave out MempoolBuilder::driver")]
    DriverInMemory(String),
    /// The memory is too small for the buffers.
    #[error(
        "cannot create pool '{name}' of {size} mbufs: the memory has room for {fits} buffers of {data_room} bytes: give more memory, or make the pool smaller"
    )]
    NoRoom {
        /// The pool's name.
        name: String,
        /// The requested number of mbufs.
        size: u32,
        /// The size of each buffer in bytes.
        data_room: u16,
        /// The number of buffers that fit in the memory, as devices see it.
        fits: u32,
    },
    /// The memory is not DPDK's, and a device can only access DPDK's.
    #[error(
        "cannot create pool '{name}': its memory is not DPDK's, and port {port} can access no other: allocate it with \
         Heap::boxed_slice or Memzone, or for NICs register it with ExternalMemory"
    )]
    Unreachable {
        /// The pool's name.
        name: String,
        /// A port of this process that only reaches DPDK's memory, with its driver.
        port: String,
    },
    /// `rte_mempool_cache_create` failed.
    #[error("cannot create a cache of {mbufs} mbufs: {errno}{}", cache_remedy(*errno))]
    Cache {
        /// The requested number of mbufs.
        mbufs: u32,
        /// `EINVAL` for a number that is not allowed, `ENOMEM` if memory is short.
        errno: Errno,
    },
    /// `rte_pktmbuf_pool_create`, or a similar function, failed.
    #[error("cannot create pool '{name}' of {size} mbufs{}: {errno}{}", place(*socket), remedy(*errno))]
    Create {
        /// The pool's name.
        name: String,
        /// The requested number of mbufs.
        size: u32,
        /// The requested NUMA node.
        socket: SocketId,
        /// `EEXIST` for a name in use, `ENOMEM` if hugepages are short, `EINVAL` for a size above 2^27 or a cache
        /// that is too large, …
        errno: Errno,
    },
}

/// The NUMA node in words; empty for any node.
fn place(socket: SocketId) -> String {
    if socket == SocketId::ANY { String::new() } else { format!(" on socket {socket}") }
}

/// Advice for an error, in words.
fn remedy(errno: Errno) -> &'static str {
    match errno.get() {
        22 => ": give at least 1 mbuf, and a cache of at most 512 and of two thirds of them",
        _ => errno.remedy(),
    }
}

fn cache_remedy(errno: Errno) -> &'static str {
    if errno.get() == 22 { ": give 1 to 512" } else { errno.remedy() }
}

impl MempoolError {
    /// DPDK's error, if a DPDK call failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        match self {
            Self::Create { errno, .. } | Self::Cache { errno, .. } => Some(*errno),
            _ => None,
        }
    }

    /// The name of the DPDK function that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        match self {
            Self::Create { .. } => Some("rte_pktmbuf_pool_create"),
            Self::Cache { .. } => Some("rte_mempool_cache_create"),
            _ => None,
        }
    }
}
