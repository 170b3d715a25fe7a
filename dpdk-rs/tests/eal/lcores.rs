// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Closures on lcores: what they borrow, what they return, and how they end.

use crate::{
    log::Events,
    process::{eal_args, init, isolated, isolated_bare},
};
use dpdk_rs::{
    Eal,
    lcore::{self, LaunchError, LcoreId, StopToken, UnpinError},
};
use std::{
    collections::BTreeSet,
    fs,
    sync::{
        Barrier, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

const EBUSY: i32 = 16;

/// The two worker lcores of every test.
fn workers(eal: &Eal) -> [LcoreId; 2] {
    let ids: Vec<LcoreId> = eal.worker_lcores().iter().map(|lcore| lcore.id()).collect();
    ids.try_into().unwrap()
}

/// The payload of a panic that was raised with a literal.
fn literal(panicked: lcore::Panicked) -> &'static str {
    *panicked.into_payload().unwrap().downcast::<&'static str>().unwrap()
}

/// The CPUs that the calling thread may use.
fn cpus() -> BTreeSet<u32> {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        first.parse().unwrap()..=last.parse().unwrap()
    };
    list.trim().split(',').flat_map(range).collect()
}

/// An EAL with these lcores.
fn eal_on(lcores: &str) -> Eal {
    let rest = eal_args(&[]).into_iter().filter(|arg| !arg.starts_with("--lcores="));
    init(rest.chain([format!("--lcores={lcores}")])).unwrap().0
}

#[test]
fn unpinned_thread_runs_beside_the_lcores() {
    isolated_bare(|| {
        let all = cpus();
        let first = *all.first().unwrap();
        lcore::unpin().unwrap();
        assert_eq!(cpus(), all, "there is no EAL yet");
        let _eal = eal_on(&format!("0@{first}"));
        let (inherited, unpinned) = std::thread::spawn(|| (cpus(), lcore::unpin().map(|()| cpus()))).join().unwrap();
        assert_eq!(inherited, [first].into());
        let others: BTreeSet<u32> = all.iter().copied().skip(1).collect();
        assert_eq!(unpinned, Ok(if others.is_empty() { all } else { others }));
        let main = lcore::current().unwrap();
        assert_eq!(lcore::unpin(), Err(UnpinError::IsLcore(main)));
        assert_eq!(cpus(), [first].into());
    });
}

#[test]
fn unpinned_thread_has_all_cpus_if_lcores_have_them_all() {
    isolated_bare(|| {
        let all = cpus();
        let lcores: Vec<String> = all.iter().enumerate().map(|(lcore, cpu)| format!("{lcore}@{cpu}")).collect();
        let _eal = eal_on(&lcores.join(","));
        let unpinned = std::thread::spawn(|| lcore::unpin().map(|()| cpus())).join().unwrap();
        assert_eq!(unpinned, Ok(all));
    });
}

#[test]
fn closures_borrow_from_the_callers_stack_and_return_values() {
    isolated(&[], |eal| {
        let text = "on the stack".to_owned();
        let mut counts = [0; 2];
        let results = lcore::scope(&eal, |scope| {
            let handles: Vec<_> = workers(&eal)
                .into_iter()
                .zip(&mut counts)
                .map(|(worker, count)| {
                    let text = &text;
                    let handle = scope.launch(worker, move || {
                        *count += text.len();
                        (lcore::current(), text.as_str())
                    });
                    handle.unwrap()
                })
                .collect();
            handles.into_iter().map(|handle| (Some(handle.lcore()), handle.join().unwrap())).collect::<Vec<_>>()
        })
        .unwrap();
        assert_eq!(counts, [text.len(); 2]);
        for (launched, (ran, borrowed)) in results {
            assert_eq!((launched, borrowed), (ran, text.as_str()));
        }
    });
}

#[test]
fn scope_waits_for_what_was_not_joined() {
    isolated(&[], |eal| {
        let start = Barrier::new(3);
        let ended = AtomicUsize::new(0);
        let value = lcore::scope(&eal, |scope| {
            for worker in workers(&eal) {
                scope
                    .launch(worker, || {
                        start.wait();
                        ended.fetch_add(1, Ordering::SeqCst);
                    })
                    .unwrap();
            }
            start.wait();
            7
        });
        assert_eq!((value.unwrap(), ended.into_inner()), (7, 2));
    });
}

#[test]
fn current_lcore_is_that_of_the_thread() {
    isolated(&[], |eal| {
        assert_eq!(lcore::current(), Some(eal.main_lcore()));
        assert_eq!(std::thread::spawn(lcore::current).join().unwrap(), None);
        lcore::scope(&eal, |scope| {
            for worker in workers(&eal) {
                assert_eq!(scope.launch(worker, lcore::current).unwrap().join().unwrap(), Some(worker));
            }
        })
        .unwrap();
    });
}

#[test]
fn panic_is_an_error_at_the_join() {
    isolated(&[], |eal| {
        let [worker, _] = workers(&eal);
        lcore::scope(&eal, |scope| {
            let panicked =
                scope.launch(worker, || panic!("value {}", std::hint::black_box(3))).unwrap().join().unwrap_err();
            assert_eq!(panicked.lcore(), worker);
            assert_eq!(panicked.to_string(), "the closure on lcore 1 panicked: value 3");
            assert_eq!(*panicked.into_payload().unwrap().downcast::<String>().unwrap(), "value 3");
            let panicked = scope.launch(worker, || std::panic::panic_any(5_u8)).unwrap().join().unwrap_err();
            assert_eq!(panicked.to_string(), "the closure on lcore 1 panicked: no message");
            assert_eq!(scope.launch(worker, || 9).unwrap().join().unwrap(), 9, "the lcore goes on");
        })
        .expect("both panics were joined");
    });
}

/// A loop that nobody stops would run for ever, and the scope with it.
#[test]
fn a_guard_ends_the_loops_when_the_scope_fails_or_one_of_them_panics() {
    isolated(&[], |eal| {
        let [first, second] = workers(&eal);
        let until = |stop: &StopToken| while !stop.is_stopped() {};
        let stop = StopToken::new();
        let refused = lcore::scope(&eal, |scope| {
            let _guard = stop.stop_on_drop();
            scope.launch(first, || until(&stop))?;
            scope.launch(eal.main_lcore(), || ())?;
            Ok::<(), LaunchError>(())
        });
        assert_eq!(refused.unwrap(), Err(LaunchError::Main(eal.main_lcore())));

        let stop = StopToken::new();
        let other = stop.clone();
        assert!(!other.is_stopped());
        let panicked = lcore::scope(&eal, |scope| {
            scope.launch(first, || until(&stop)).unwrap();
            let panics = || {
                let _guard = stop.stop_on_drop();
                panic!("on purpose");
            };
            scope.launch::<_, ()>(second, panics).unwrap();
        });
        assert_eq!(panicked.unwrap_err().lcore(), second);
        assert!(other.is_stopped(), "a clone is the same token");

        let stop = StopToken::new();
        stop.flag().store(true, Ordering::SeqCst); // as a signal handler does
        assert!(stop.is_stopped());
    });
}

#[test]
fn panic_that_nobody_joins_is_an_error_of_the_scope() {
    isolated(&[], |eal| {
        let [first, second] = workers(&eal);
        let ended = AtomicBool::new(false);
        let panicked = lcore::scope(&eal, |scope| {
            scope.launch(first, || panic!("on purpose")).unwrap();
            scope.launch(second, || ended.store(true, Ordering::SeqCst)).unwrap();
        })
        .unwrap_err();
        assert_eq!((panicked.lcore(), literal(panicked)), (first, "on purpose"));
        assert!(ended.into_inner());
        lcore::scope(&eal, |scope| scope.launch(first, || 1).unwrap().join().unwrap()).expect("it is over");
    });
}

#[test]
fn panic_of_the_scope_itself_waits_for_the_lcores() {
    isolated(&[], |eal| {
        let [worker, _] = workers(&eal);
        let start = Barrier::new(2);
        let ended = AtomicBool::new(false);
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            lcore::scope(&eal, |scope| {
                scope
                    .launch(worker, || {
                        start.wait();
                        ended.store(true, Ordering::SeqCst);
                    })
                    .unwrap();
                start.wait();
                panic!("in the scope");
            })
        }));
        assert_eq!(*unwound.unwrap_err().downcast::<&str>().unwrap(), "in the scope");
        assert!(ended.load(Ordering::SeqCst));
        lcore::scope(&eal, |scope| scope.launch(worker, || 1).unwrap().join().unwrap()).unwrap();
    });
}

/// While loops run that nobody stops, the error of the scope's own closure is not visible. A warning lists their
/// lcores.
#[test]
fn a_scope_that_waits_for_long_names_its_lcores() {
    isolated_bare(|| {
        let events = Events::default();
        tracing::subscriber::set_global_default(events.clone()).unwrap();
        dpdk_rs::log::to_tracing().unwrap();
        let args = eal_args(&[]).into_iter().chain(["--main-lcore=1".to_owned()]);
        let (eal, _) = init(args).unwrap();
        events.take();
        let stop = StopToken::new();
        let looping = || while !stop.is_stopped() {};
        let said = std::thread::scope(|threads| {
            let warned = threads.spawn(|| {
                // Without the warning the test ends by its deadline.
                let line = loop {
                    let mut lines = events.take().into_iter();
                    if let Some(line) = lines.find(|line| line.contains("lcore::scope")) {
                        break line;
                    }
                    std::thread::yield_now();
                };
                stop.stop();
                line
            });
            let failed = lcore::scope(&eal, |scope| {
                // The mistake: lcore 1 is the main one, so the second launch fails, and nobody stops the first loop.
                scope.launch(eal.lcores()[0].id(), looping)?;
                scope.launch(eal.lcores()[2].id(), || ())?;
                scope.launch(eal.lcores()[1].id(), looping)?;
                Ok(())
            });
            assert_eq!(failed.unwrap(), Err(LaunchError::Main(eal.main_lcore())));
            warned.join().unwrap()
        });
        assert!(said.starts_with("WARN dpdk ") && said.contains("waits for the closures on lcores 0: "), "{said}");
    });
}

#[test]
fn main_lcore_is_not_launched_on() {
    isolated(&[], |eal| {
        let main = eal.main_lcore();
        let [worker, _] = workers(&eal);
        lcore::scope(&eal, |scope| {
            let error = scope.launch(main, || ()).unwrap_err();
            assert_eq!(error, LaunchError::Main(main));
            assert_eq!(error.to_string(), "lcore 0 is the main lcore: call the function instead of launching it");
            let nested = scope.launch(worker, || scope.launch(main, || ()).map(drop)).unwrap();
            assert_eq!(nested.join().unwrap(), Err(LaunchError::Main(main)));
        })
        .unwrap();
    });
}

#[test]
fn busy_lcore_refuses_and_drops_the_closure() {
    isolated(&[], |eal| {
        let [worker, _] = workers(&eal);
        let witness = std::sync::Arc::new(());
        let release = AtomicBool::new(false);
        lcore::scope(&eal, |scope| {
            let busy = scope
                .launch(worker, || {
                    while !release.load(Ordering::SeqCst) {
                        std::thread::yield_now();
                    }
                })
                .unwrap();
            let held = witness.clone();
            let LaunchError::Launch { lcore, errno } = scope.launch(worker, move || drop(held)).unwrap_err() else {
                panic!()
            };
            assert_eq!((lcore, errno.get()), (worker, EBUSY));
            assert_eq!(std::sync::Arc::strong_count(&witness), 1);
            assert!(!busy.is_finished());
            release.store(true, Ordering::SeqCst);
            busy.join().unwrap();
        })
        .unwrap();
    });
}

#[test]
fn joined_lcore_is_free_at_once() {
    isolated(&[], |eal| {
        let [worker, other] = workers(&eal);
        lcore::scope(&eal, |scope| {
            for round in 0..5000 {
                assert_eq!(scope.launch(worker, move || round).expect("it was joined").join().unwrap(), round);
            }
            // The same from another lcore, and for a closure that is only seen to have ended.
            let relay = scope.launch(other, || {
                for round in 0..1000 {
                    let handle = scope.launch(worker, move || round).expect("it has ended");
                    while !handle.is_finished() {
                        std::hint::spin_loop();
                    }
                }
            });
            relay.unwrap().join().unwrap();
        })
        .unwrap();
    });
}

#[test]
fn workers_launch_on_other_workers() {
    isolated(&[], |eal| {
        let [first, second] = workers(&eal);
        let order = Mutex::new(Vec::new());
        lcore::scope(&eal, |scope| {
            scope
                .launch(first, || {
                    order.lock().unwrap().push("first");
                    let busy = scope.launch(first, || ()).map(drop).unwrap_err();
                    assert!(matches!(busy, LaunchError::Launch { .. }), "{busy}");
                    // Not joined, but the scope finds the panic all the same.
                    scope.launch(second, || order.lock().unwrap().push("second")).unwrap();
                })
                .unwrap();
        })
        .unwrap();
        assert_eq!(order.into_inner().unwrap(), ["first", "second"]);
    });
}

/// The scope does not take the panic away from the closure that joins, though it waits at the same time.
#[test]
fn panic_that_another_worker_joins_is_not_the_scopes() {
    isolated(&[], |eal| {
        let [first, second] = workers(&eal);
        for _ in 0..100 {
            let joined = Mutex::new(None);
            let turn = Barrier::new(2);
            let result = lcore::scope(&eal, |scope| {
                let join = || {
                    turn.wait();
                    let handle = scope.launch(second, || panic!("on purpose")).unwrap();
                    turn.wait();
                    while !handle.is_finished() {
                        std::hint::spin_loop();
                    }
                    // The scope waits for the last closure first: its turn.
                    (0..100).for_each(|_| std::thread::yield_now());
                    *joined.lock().unwrap() = Some(handle.join().unwrap_err());
                };
                scope.launch(first, join).unwrap();
                // One closure is launched after the other.
                turn.wait();
                turn.wait();
            });
            assert!(result.is_ok(), "the panic was joined: {result:?}");
            assert_eq!(literal(joined.into_inner().unwrap().unwrap()), "on purpose");
        }
    });
}

#[test]
fn scopes_nest() {
    isolated(&[], |eal| {
        let [first, second] = workers(&eal);
        let sum = lcore::scope(&eal, |outer| {
            let one = outer.launch(first, || 1).unwrap();
            let two = lcore::scope(&eal, |inner| inner.launch(second, || 2).unwrap().join().unwrap()).unwrap();
            one.join().unwrap() + two
        });
        assert_eq!(sum.unwrap(), 3);
    });
}

/// Panics when it is dropped.
struct Mine<'a>(&'a AtomicUsize);

impl Drop for Mine<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        if !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

#[test]
fn value_that_panics_when_dropped_unjoined_is_caught() {
    isolated(&[], |eal| {
        let [worker, _] = workers(&eal);
        let drops = AtomicUsize::new(0);
        let start = Barrier::new(2);
        let panicked = lcore::scope(&eal, |scope| {
            drop(scope.launch(worker, || {
                start.wait();
                Mine(&drops)
            }));
            start.wait();
        })
        .unwrap_err();
        assert_eq!((literal(panicked), drops.into_inner()), ("dropped", 1));
    });
}

/// What closures panic with, whose drop panics in turn, must not let the scope end before its other closures.
#[test]
fn payloads_that_panic_when_dropped_do_not_end_the_scope_early() {
    isolated(&[], |eal| {
        static DROPS: AtomicUsize = AtomicUsize::new(0);
        let [first, second] = workers(&eal);
        let borrowed = AtomicBool::new(false);
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            lcore::scope(&eal, |scope| {
                let release: &AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
                let borrowed = &borrowed;
                let slow = move || {
                    while !release.load(Ordering::SeqCst) {
                        std::thread::yield_now();
                    }
                    borrowed.store(true, Ordering::SeqCst);
                };
                scope.launch(first, slow).unwrap();
                for _ in 0..3 {
                    let ended = scope.launch(second, || std::panic::panic_any(Mine(&DROPS))).unwrap();
                    crate::frames::until("the closure has panicked", || ended.is_finished());
                }
                // Gives the scope, which waits now, the time to give up, which it must not do.
                std::thread::spawn(move || {
                    let deadline = std::time::Instant::now() + std::time::Duration::from_millis(300);
                    while std::time::Instant::now() < deadline {
                        std::thread::yield_now();
                    }
                    release.store(true, Ordering::SeqCst);
                });
            })
        }));
        assert!(borrowed.load(Ordering::SeqCst), "the scope has ended before its closure");
        std::mem::forget(unwound);
        lcore::scope(&eal, |scope| scope.launch(first, || ()).unwrap().join().unwrap()).unwrap();
    });
}
