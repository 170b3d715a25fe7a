// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A stand-in for the few functions of DPDK that the models reach, under the names by which the bindings call them.
//!
//! It does in Rust what DPDK 22.11 does in C, with the same order of atomic accesses where the crate relies on it, and
//! no more: a pool has one object at a time in motion, and nothing is in shared memory. A call of
//! a function that is not here ends the process.

mod lcore;
mod mbuf;
mod memory;
mod pool;
mod ring;

#[cfg(loom)]
pub(crate) use lcore::ServiceCore;
#[cfg(loom)]
pub(super) use lcore::as_lcore;
#[cfg(loom)]
pub(super) use mbuf::set_references;
#[cfg(loom)]
pub(super) use memory::{Memory, Shadow};
#[cfg(loom)]
pub(super) use pool::all_are_freed;

use core::{
    cell::Cell,
    ffi::{c_char, c_int, c_void},
};
use dpdk_sys as sys;
use std::process;

/// All functions that are not here.
#[unsafe(export_name = "dpdk_stub_lacks")]
extern "C" fn lacks() -> ! {
    eprintln!("the stand-in for DPDK lacks the function that was called");
    process::abort();
}

std::thread_local! {
    static ERRNO: Cell<c_int> = const { Cell::new(0) };
}

#[unsafe(export_name = "dpdk_sys_errno__extern")]
extern "C" fn errno() -> c_int {
    ERRNO.get()
}

#[unsafe(export_name = "dpdk_sys_set_errno__extern")]
extern "C" fn set_errno(number: c_int) {
    ERRNO.set(number);
}

#[unsafe(export_name = "rte_strerror")]
extern "C" fn strerror(_: c_int) -> *const c_char {
    c"an error".as_ptr()
}

#[unsafe(export_name = "dpdk_sys_log_warning__extern")]
extern "C" fn log_warning(_: *const c_char) {}

#[unsafe(export_name = "dpdk_sys_mem_iova__extern")]
extern "C" fn mem_iova(_: *const c_void, _: usize) -> u64 {
    sys::DPDK_SYS_BAD_IOVA
}

/// There are no ports.
#[unsafe(export_name = "rte_eth_find_next")]
extern "C" fn eth_find_next(_: u16) -> u16 {
    sys::RTE_MAX_ETHPORTS as u16
}

#[unsafe(export_name = "dpdk_sys_eth_find_next__extern")]
extern "C" fn eth_find_next_free(_: u16) -> u64 {
    u64::from(sys::RTE_MAX_ETHPORTS)
}

#[unsafe(export_name = "rte_eal_cleanup")]
extern "C" fn eal_cleanup() -> c_int {
    0
}
