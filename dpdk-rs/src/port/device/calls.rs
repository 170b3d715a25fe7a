// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port's entry in DPDK's table of fast-path functions.

use crate::ids::{Direction, PortId};
use core::{
    ffi::c_void,
    sync::atomic::{AtomicPtr, Ordering},
};
use dpdk_sys::{self as sys, rte_eth_fp_ops};

/// The port's entry in DPDK's table of fast-path functions.
pub(crate) struct Calls(pub(crate) *const rte_eth_fp_ops);

// SAFETY: the table lives as long as the process, and threads share the address only: a queue reads the entry through
// `&mut self`.
unsafe impl Sync for Calls {}

/// The entry of a port.
///
/// # Safety
/// DPDK has given the number to a port.
pub(crate) unsafe fn calls(port: PortId) -> Calls {
    let table = &raw const sys::rte_eth_fp_ops;
    // SAFETY: the table has an entry for every number that DPDK gives a port, as the caller promises.
    Calls(unsafe { table.cast::<rte_eth_fp_ops>().add(usize::from(port.get())) })
}

/// Whether a started port can receive and send: DPDK does not check that a driver has set both functions.
///
/// # Safety
/// The port exists, and is neither started nor stopped during the call.
pub(crate) unsafe fn has_calls(port: PortId) -> bool {
    // SAFETY: the caller promises that the port exists.
    let calls = unsafe { calls(port) };
    // SAFETY: the entry is initialised as long as the process lives, and the caller promises that nobody changes it.
    let calls = unsafe { calls.0.read() };
    calls.rx_pkt_burst.is_some() && calls.tx_pkt_burst.is_some()
}

/// Whether a port that another process has set up has a queue with this number that this process can use.
///
/// # Safety
/// The port exists, has a queue with this number, and is neither started nor stopped during the call.
pub(crate) unsafe fn has_queue(port: PortId, direction: Direction, queue: u16) -> bool {
    // SAFETY: the caller promises that the port exists.
    let calls = unsafe { calls(port) };
    // SAFETY: the entry is initialised as long as the process lives, and the caller promises that nobody changes it.
    let calls = unsafe { calls.0.read() };
    let (known, table) = match direction {
        Direction::Rx => (calls.rx_pkt_burst.is_some(), calls.rxq),
        Direction::Tx => (calls.tx_pkt_burst.is_some(), calls.txq),
    };
    if !known || table.data.is_null() || table.clbk.is_null() {
        return false;
    }
    // SAFETY: the caller promises that there is such a queue, and the table, which is there, has an entry for each.
    !unsafe { entry(table.data, usize::from(queue)) }.is_null()
}

/// An entry of a table by queue number. Another thread may be changing it: callbacks come and go.
///
/// # Safety
/// `table` has an entry for `queue`.
#[inline(always)]
pub(crate) unsafe fn entry(table: *mut *mut c_void, queue: usize) -> *mut c_void {
    // SAFETY: the caller promises that `table` has an entry for `queue`.
    let entry = unsafe { table.add(queue) };
    // SAFETY: the entry is an aligned pointer that lives as long as the process, and DPDK changes it by single stores.
    unsafe { AtomicPtr::from_ptr(entry) }.load(Ordering::Relaxed)
}
