// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! DPDK's memory for a program's own data: in hugepages if the EAL has them, on a NUMA node of choice. And the program's memory for
//! DPDK's devices.
//!
//! | | is | ends by |
//! |---|---|---|
//! | [`DpdkBox`] | a value, or a slice of them, from a [`Heap`] | dropped, and its memory given back |
//! | [`ObjectPool`] | values made once and lent again and again, with a cache for each lcore | dropped, with all its values |
//! | [`Memzone`] | bytes under a name, which other processes and devices can be told of | freed |
//! | [`ExternalMemory`] | the program's own bytes, which NICs are let reach | dropped, once no NIC reaches them any more |
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
