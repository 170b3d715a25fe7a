// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Lcores that the EAL's option `-S` has made service cores, which call a driver's service from the start to the end.

use crate::{
    frames::until,
    process::{eal_args, init, isolated_bare},
};
use core::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
    sync::atomic::{AtomicBool, AtomicPtr, Ordering::SeqCst},
};
use dpdk_rs::{Mempool, MempoolError, lcore, service};
use dpdk_sys as sys;

/// An mbuf that the service frees in its next call.
static GIVEN: AtomicPtr<sys::rte_mbuf> = AtomicPtr::new(ptr::null_mut());

/// It has freed one, and is still in the call.
static FREED: AtomicBool = AtomicBool::new(false);

/// It may leave that call.
static LEAVE: AtomicBool = AtomicBool::new(false);

/// A driver's service, which returns mbufs to their pools as some do, in the name of its lcore. The call of DPDK is not over for an
/// lcore when its mbuf counts as returned: here that moment is as long as the test likes.
unsafe extern "C" fn free_mbuf(_: *mut c_void) -> c_int {
    let mbuf = GIVEN.swap(ptr::null_mut(), SeqCst);
    if !mbuf.is_null() {
        // SAFETY: the mbuf was allocated by the test, which has given it to this call alone.
        unsafe { sys::rte_pktmbuf_free(mbuf) };
        FREED.store(true, SeqCst);
        until("the test lets the service go on", || LEAVE.load(SeqCst));
    }
    0
}

/// Does what a driver and the EAL do with the driver's service.
fn start_service(lcore: lcore::LcoreId) {
    let mut spec = sys::rte_service_spec { callback: Some(free_mbuf), ..Default::default() };
    for (place, byte) in spec.name.iter_mut().zip(b"driver") {
        *place = *byte as c_char;
    }
    let mut id = 0;
    // SAFETY: the EAL is initialised; the call copies the struct, whose function needs no data, and writes to a number.
    assert_eq!(unsafe { sys::rte_service_component_register(&raw const spec, &raw mut id) }, 0);
    // SAFETY: the service was just registered, and the lcore is a service core.
    assert_eq!(unsafe { sys::rte_service_map_lcore_set(id, lcore.get(), 1) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { sys::rte_service_component_runstate_set(id, 1) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { sys::rte_service_runstate_set(id, 1) }, 0);
}

fn find(pool: &CStr) -> *mut sys::rte_mempool {
    // SAFETY: the EAL is initialised; the name is a string.
    unsafe { sys::rte_mempool_lookup(pool.as_ptr()) }
}

#[test]
fn pools_wait_for_the_round_of_a_service_core() {
    let output = isolated_bare(|| {
        let args = [eal_args(&[]), ["-S", "2"].map(str::to_owned).to_vec()].concat();
        let (eal, _) = init(args).unwrap();
        let lcores = service::cores(&eal);
        assert_eq!(lcores.iter().map(|lcore| lcore.get()).collect::<Vec<_>>(), [2]);
        start_service(lcores[0]);
        let build = || Mempool::<()>::builder("pool").size(63).cache(32).build(&eal);
        let first = build().unwrap();
        // SAFETY: the pool is live.
        let mbuf = unsafe { sys::rte_pktmbuf_alloc(find(c"rs.pool")) };
        assert!(!mbuf.is_null());
        GIVEN.store(mbuf, SeqCst);
        until("the service has freed the mbuf", || FREED.load(SeqCst));
        assert_eq!(first.available(), 63, "it counts as returned");
        drop(first);
        assert!(!find(c"rs.pool").is_null(), "freed below the hands of the service");
        lcore::scope(&eal, |_| ()).unwrap();
        assert!(!find(c"rs.pool").is_null(), "freed below the hands of the service");
        LEAVE.store(true, SeqCst);
        // Who wants the name waits for the end of the round.
        let again = build().unwrap();
        let taken = build().unwrap_err();
        assert!(matches!(taken, MempoolError::Create { .. }), "{taken}");
        drop((eal, again));
    });
    assert!(!output.contains("not cleaned up"), "{output}");
}
