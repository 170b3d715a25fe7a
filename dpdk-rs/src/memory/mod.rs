// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! DPDK's memory for a program's own data, in hugepages if the EAL has them, on a chosen NUMA node; and the program's
//! memory for DPDK's devices.
//!
//! | | is | on drop |
//! |---|---|---|
//! | [`DpdkBox`] | a value or a slice of values from a [`Heap`] | drops the value and frees its memory |
//! | [`ObjectPool`] | values that are created once and lent repeatedly, with a cache for each lcore | drops all values
//! |
//! | [`Memzone`] | bytes with a name, by which other processes find them | frees the bytes |
//! | [`ExternalMemory`] | the program's own bytes, which NICs can access | drops the bytes, after no NIC can access them |
//!
//! Each keeps the EAL alive.

mod external;
mod heap;
mod object_pool;
mod owned;
mod zone;

pub use external::{ExternalMemory, RegisterError};
pub use heap::{AllocError, DpdkBox, Heap, HeapStats};
pub use object_pool::{Exhausted, Object, ObjectPool, ObjectPoolBuilder};
pub(crate) use owned::Owned;
pub(crate) use zone::find as find_zone;
pub use zone::{Memzone, MemzoneBuilder, MemzoneInfo};

/// The most bytes in one piece, as many as a processor can address. DPDK counts pages in a signed number of 32 bits.
const MOST_BYTES: usize = 1 << 47;
