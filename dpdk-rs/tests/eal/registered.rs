// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Threads of the program as lcores.

use crate::{frames::pool, process::isolated};
use dpdk_rs::{
    Mempool,
    lcore::{self, LaunchError, RegisterError, Registrar},
};
use std::{
    collections::BTreeSet,
    sync::{Barrier, mpsc},
    thread,
};

const EBUSY: i32 = 16;

#[test]
fn each_thread_has_a_number_of_its_own_until_it_gives_it_back() {
    isolated(&["net_null0"], |eal| {
        let registrar = eal.registrar();
        let enabled: BTreeSet<_> = eal.lcores().iter().map(|lcore| lcore.id()).collect();
        let together = Barrier::new(4);
        let ids: BTreeSet<_> = thread::scope(|scope| {
            let threads = [(); 4].map(|()| {
                scope.spawn(|| {
                    assert_eq!(lcore::current(), None);
                    let registered = registrar.register().unwrap();
                    assert_eq!(lcore::current(), Some(registered.id()));
                    assert_eq!(registrar.register().unwrap_err(), RegisterError::IsLcore(registered.id()));
                    together.wait();
                    let id = registered.id();
                    drop(registered);
                    assert_eq!(lcore::current(), None);
                    id
                })
            });
            threads.map(|thread| thread.join().unwrap()).into()
        });
        assert!(ids.len() == 4 && ids.is_disjoint(&enabled), "{ids:?}, {enabled:?}");
        // What was given back is there for the next.
        let again = thread::spawn(move || registrar.register().unwrap().id()).join().unwrap();
        assert!(ids.contains(&again));
        // They are no lcores to launch closures on: nobody would take the order.
        let error = lcore::scope(&eal, |scope| scope.launch(again, || ()).map(|_| ())).unwrap().unwrap_err();
        assert!(matches!(error, LaunchError::Launch { .. }), "{error}");
        // Not what DPDK says after it has written the order to the standard input.
        assert_eq!(error.errno().map(|errno| errno.get()), Some(EBUSY));
        assert_eq!(eal.lcores().iter().map(|lcore| lcore.id()).collect::<BTreeSet<_>>(), enabled);
    });
}

#[test]
fn a_thread_that_is_one_already_is_refused() {
    isolated(&["net_null0"], |eal| {
        let error = eal.registrar().register().unwrap_err();
        assert_eq!(error, RegisterError::IsLcore(eal.main_lcore()));
        assert_eq!(error.to_string(), format!("this thread is lcore {} already", eal.main_lcore()));
    });
}

/// Mbufs that a registered thread has in its cache come back, and a pool is not freed while such a thread may be about to
/// return one.
#[test]
fn pools_are_freed_after_the_threads_that_used_them() {
    isolated(&["net_null0"], |eal| {
        let registrar: Registrar = eal.registrar();
        let kept: Mempool = pool(&eal, "kept");
        let (sender, receiver) = mpsc::channel::<()>();
        let (ready, is_ready) = mpsc::channel::<()>();
        let pool_of_threads = &kept;
        thread::scope(|scope| {
            let thread = scope.spawn(move || {
                let registered = registrar.register().unwrap();
                let packets: Vec<_> = (0..100).map(|_| pool_of_threads.alloc().unwrap()).collect();
                drop(packets);
                ready.send(()).unwrap();
                receiver.recv().unwrap_err();
                drop(registered);
            });
            is_ready.recv().unwrap();
            let gone: Mempool = pool(&eal, "gone");
            drop(gone);
            // Its name is taken as long as the pool is there.
            assert!(Mempool::<()>::builder("gone").size(511).cache(32).build(&eal).is_err());
            drop(sender);
            thread.join().unwrap();
        });
        let _again: Mempool = pool(&eal, "gone");
        assert_eq!(kept.available(), kept.size());
    });
}
