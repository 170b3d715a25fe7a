// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Hole 14: closures on lcores that outlive what they borrow, and lcores that stay reserved for ever.

use crate::{frames::until, process::isolated};
use dpdk_rs::{
    Eal,
    lcore::{self, LaunchError, LcoreId},
};
use std::{
    panic::{self, AssertUnwindSafe},
    sync::atomic::{AtomicBool, Ordering},
};

fn worker(eal: &Eal) -> LcoreId {
    eal.worker_lcores()[0].id()
}

fn still_works(eal: &Eal) {
    let lcore = worker(eal);
    let ran = lcore::scope(eal, |scope| scope.launch(lcore, lcore::current).unwrap().join().unwrap());
    assert_eq!(ran.unwrap(), Some(lcore));
}

/// A closure that still runs when the stack that it borrows is gone. Here the scope ends after its closures, also when the
/// code that launched them panics: the stack that they borrow is still there when they write to it.
#[test]
fn hole_14_scope_ends_after_its_closures() {
    isolated(&[], |eal| {
        let (may_end, unwinding) = (AtomicBool::new(false), AtomicBool::new(false));
        let mut written = [0_u64; 64];
        let borrowed = &mut written;
        let result = panic::catch_unwind(AssertUnwindSafe(|| {
            lcore::scope(&eal, |scope| {
                let closure = || {
                    until("the scope is being left", || unwinding.load(Ordering::SeqCst));
                    may_end.store(true, Ordering::SeqCst);
                    borrowed.fill(7);
                };
                scope.launch(worker(&eal), closure).unwrap();
                // Dropped by the panic, while the closure runs.
                let _guard = Signal(&unwinding);
                panic!("on purpose");
            })
        }));
        assert!(result.is_err());
        assert!(may_end.load(Ordering::SeqCst), "the scope has waited");
        assert_eq!(written, [7; 64]);
        still_works(&eal);
    });
}

/// Records that it was dropped.
struct Signal<'a>(&'a AtomicBool);

impl Drop for Signal<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A panic that skips the code behind the closure leaves its lcore taken. Here it is an error, and the lcore is free.
#[test]
fn hole_14_panic_leaves_the_lcore_free() {
    isolated(&[], |eal| {
        for round in 0..20 {
            let result = lcore::scope(&eal, |scope| {
                let handle = scope.launch(worker(&eal), || panic!("on purpose")).unwrap();
                // Joined or left to the scope.
                if round % 2 == 0 { handle.join().map(|()| false).is_err() } else { false }
            });
            assert_eq!(result.is_err(), round % 2 == 1);
            assert!(result.unwrap_or(true));
            still_works(&eal);
        }
    });
}

/// An lcore that is marked busy before the launch succeeds, and then does not, is never free again. Here a launch that is
/// refused changes nothing, and the closure is dropped.
#[test]
fn hole_14_refused_launch_leaves_the_lcore_free() {
    isolated(&[], |eal| {
        let main = eal.main_lcore();
        for _ in 0..20 {
            let (go, dropped) = (AtomicBool::new(false), AtomicBool::new(false));
            lcore::scope(&eal, |scope| {
                let busy = scope.launch(worker(&eal), || until("it may go", || go.load(Ordering::SeqCst))).unwrap();
                let signal = Signal(&dropped);
                let refused = scope.launch(worker(&eal), move || drop(signal)).unwrap_err();
                assert!(matches!(refused, LaunchError::Launch { lcore, .. } if lcore == worker(&eal)), "{refused}");
                assert!(dropped.load(Ordering::SeqCst), "what the closure held is not leaked");
                assert_eq!(scope.launch(main, || ()).unwrap_err(), LaunchError::Main(main));
                go.store(true, Ordering::SeqCst);
                busy.join().unwrap();
            })
            .unwrap();
            still_works(&eal);
        }
    });
}
