// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Lcores: who is one, and how far a service core is.

use crate::sync::{
    atomic::{AtomicU64, Ordering},
    global, thread_local,
};
use core::{cell::Cell, ffi::c_int};
use dpdk_sys as sys;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The largest number of an lcore, plus 1.
pub(super) const LCORES: u32 = 4;

/// The number of the service core that the EAL's options create.
const SERVICE: u32 = LCORES - 1;

thread_local! {
    static LCORE: Cell<u32> = const { Cell::new(sys::LCORE_ID_ANY) };
}

global! {
    /// How many threads were registered. It is not part of what is modelled.
    static REGISTERED: AtomicU32 = AtomicU32::new(0);
}

global! {
    /// The rounds of the service core. `u64::MAX` if there is none.
    static ROUNDS: AtomicU64 = AtomicU64::new(u64::MAX);
}

/// Runs `body` on the calling thread as an lcore.
#[cfg(loom)]
pub(crate) fn as_lcore<T>(lcore: u32, body: impl FnOnce() -> T) -> T {
    let before = LCORE.with(|here| here.replace(lcore));
    let result = body();
    LCORE.with(|here| here.set(before));
    result
}

/// The service core that the EAL's options create, as the thread that is it sees it.
#[cfg(loom)]
pub(crate) struct ServiceCore;

#[cfg(loom)]
impl ServiceCore {
    /// For the main lcore, before there are other threads.
    pub(crate) fn create() {
        ROUNDS.store(0, Ordering::Relaxed);
    }

    /// A round of the core's loop, in which it calls a service. DPDK counts it without ordering. This crate relies on
    /// processors that keep the order of stores, as x86 does.
    pub(crate) fn round(service: impl FnOnce()) {
        as_lcore(SERVICE, service);
        let rounds = ROUNDS.load(Ordering::Relaxed);
        ROUNDS.store(rounds + 1, Ordering::Release);
    }
}

#[unsafe(export_name = "rte_lcore_id__extern")]
pub(super) extern "C" fn lcore_id() -> u32 {
    LCORE.with(Cell::get)
}

#[unsafe(export_name = "rte_thread_register")]
extern "C" fn thread_register() -> c_int {
    let lcore = 1 + REGISTERED.fetch_add(1, Relaxed);
    assert!(lcore < SERVICE, "no more threads can be registered");
    LCORE.with(|here| here.set(lcore));
    0
}

#[unsafe(export_name = "rte_thread_unregister")]
extern "C" fn thread_unregister() {
    LCORE.with(|here| here.set(sys::LCORE_ID_ANY));
}

#[unsafe(export_name = "rte_service_lcore_list")]
extern "C" fn service_lcore_list(list: *mut u32, _: u32) -> i32 {
    if ROUNDS.load(Ordering::Relaxed) == u64::MAX {
        return 0;
    }
    // SAFETY: the caller has room for all lcores.
    unsafe { list.write(SERVICE) };
    1
}

#[unsafe(export_name = "rte_service_lcore_count_services")]
extern "C" fn service_lcore_count_services(_: u32) -> i32 {
    1
}

#[unsafe(export_name = "rte_service_lcore_attr_get")]
extern "C" fn service_lcore_attr_get(_: u32, _: u32, value: *mut u64) -> i32 {
    let rounds = ROUNDS.load(Ordering::Acquire);
    // SAFETY: the caller has room for the number.
    unsafe { value.write(rounds) };
    0
}
