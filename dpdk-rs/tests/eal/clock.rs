// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The time stamp counter, compared with itself and with the system's clock.

use crate::process::isolated;
use dpdk_rs::lcore;
use std::time::{Duration, Instant};

#[test]
fn counter_never_goes_back() {
    isolated(&[], |eal| {
        let clock = eal.clock();
        let mut last = clock.now();
        for _ in 0..1_000_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
        assert!(last.cycles() > 0);
    });
}

#[test]
fn counter_goes_on_from_lcore_to_lcore() {
    isolated(&[], |eal| {
        let clock = eal.clock();
        lcore::scope(&eal, |scope| {
            let mut last = clock.now();
            for _ in 0..100 {
                for worker in eal.worker_lcores() {
                    let there = scope.launch(worker.id(), move || clock.now()).unwrap().join().unwrap();
                    assert!(there >= last);
                    last = clock.now();
                    assert!(last >= there);
                }
            }
        })
        .unwrap();
    });
}

#[test]
fn frequency_is_that_of_the_systems_clock() {
    isolated(&[], |eal| {
        let clock = eal.clock();
        assert!(clock.hz() > 1_000_000);
        // One interval by the system's clock encloses that of the counter, the other is enclosed: however long this
        // thread is kept waiting, the counter's must lie between them, but for the error of its calibration.
        let outer = Instant::now();
        let from = clock.now();
        let inner = Instant::now();
        while inner.elapsed() < Duration::from_millis(200) {
            std::thread::yield_now();
        }
        let enclosed = inner.elapsed();
        let counted = clock.duration(clock.now().since(from));
        let enclosing = outer.elapsed();
        assert!(counted >= enclosed.mul_f64(0.95) && counted <= enclosing.mul_f64(1.05), "{enclosed:?} {counted:?}");
    });
}
