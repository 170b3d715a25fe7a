// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Timers: where and how often closures are called, and how they end.

use crate::{frames::until, process::isolated};
use dpdk_rs::{
    Eal, Tsc, lcore,
    timer::{ManageError, Timer, TimerError, Timers},
};
use std::{
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

/// So long that it never comes.
const NEVER: Duration = Duration::from_secs(1 << 30);

/// A closure that counts its calls.
fn counting(count: &Arc<AtomicUsize>) -> impl FnMut() + Send + 'static {
    let count = Arc::clone(count);
    move || {
        count.fetch_add(1, Ordering::SeqCst);
    }
}

/// Timers that are managed on the main lcore, until a number of calls were made.
fn manage_until(timers: &Timers, count: &AtomicUsize, calls: usize) {
    until("the closure was called", || {
        timers.manage().unwrap();
        count.load(Ordering::SeqCst) >= calls
    });
}

fn ready(eal: &Eal) -> (Timers, Arc<AtomicUsize>) {
    (Timers::new(eal).unwrap(), Arc::default())
}

#[test]
fn closures_are_called_when_their_time_has_come_and_not_before() {
    isolated(&[], |eal| {
        let (timers, count) = ready(&eal);
        let main = eal.main_lcore();
        let timer = timers.timer(counting(&count));
        assert!(!timer.is_pending());
        timer.arm(main, NEVER).unwrap();
        timers.manage().unwrap();
        assert!(timer.is_pending() && count.load(Ordering::SeqCst) == 0);
        let (start, after) = (Instant::now(), Duration::from_millis(5));
        timer.arm(main, after).unwrap();
        manage_until(&timers, &count, 1);
        assert!(start.elapsed() >= after);
        timers.manage().unwrap();
        assert_eq!((timer.is_pending(), count.load(Ordering::SeqCst)), (false, 1), "once");
        timer.arm_periodic(main, Duration::from_micros(10)).unwrap();
        manage_until(&timers, &count, 10);
        timer.stop().unwrap();
        let calls = count.load(Ordering::SeqCst);
        timers.manage().unwrap();
        assert_eq!(count.load(Ordering::SeqCst), calls);
        timer.arm(main, Duration::ZERO).unwrap();
        drop(timer);
        timers.manage().unwrap();
        assert_eq!((count.load(Ordering::SeqCst), Arc::strong_count(&count)), (calls, 1), "the closure is gone");
    });
}

#[test]
fn a_poll_asks_at_once_and_then_when_its_resolution_is_over() {
    isolated(&[], |eal| {
        let (timers, count) = ready(&eal);
        let clock = eal.clock();
        let timer = timers.timer(counting(&count));
        let set = || {
            timer.arm(eal.main_lcore(), Duration::ZERO).unwrap();
            let armed = clock.now();
            until("the timer is due", || clock.now() > armed.after(100));
        };
        let mut poll = timers.poll_every(NEVER);
        let now = clock.now();
        let over = now.after(clock.cycles(NEVER));
        set();
        poll.manage(now).unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 1);
        set();
        poll.manage(now).unwrap();
        poll.manage(Tsc::from_cycles(over.cycles() - 1)).unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 1);
        poll.manage(over).unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn closures_are_called_on_the_lcore_that_they_are_set_for() {
    isolated(&[], |eal| {
        let timers = Timers::new(&eal).unwrap();
        let (send, receive) = mpsc::channel();
        let armed: Vec<Timer> = eal
            .lcores()
            .into_iter()
            .map(|lcore| {
                let send = send.clone();
                let timer = timers.timer(move || send.send((lcore.id(), lcore::current())).unwrap());
                timer.arm(lcore.id(), Duration::ZERO).unwrap();
                timer
            })
            .collect();
        let stop = AtomicBool::new(false);
        lcore::scope(&eal, |scope| {
            let manage = || {
                while !stop.load(Ordering::SeqCst) {
                    timers.manage().unwrap();
                    std::thread::yield_now();
                }
            };
            for worker in eal.worker_lcores() {
                scope.launch(worker.id(), manage).unwrap();
            }
            let mut called = 0;
            until("every lcore has called its closure", || {
                timers.manage().unwrap();
                while let Ok((set, current)) = receive.try_recv() {
                    assert_eq!(current, Some(set));
                    called += 1;
                }
                called == armed.len()
            });
            stop.store(true, Ordering::SeqCst);
        })
        .unwrap();
    });
}

#[test]
fn threads_that_are_no_lcores_have_no_timers() {
    isolated(&[], |eal| {
        let (timers, count) = ready(&eal);
        let timer = timers.timer(counting(&count));
        let main = eal.main_lcore();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert!(matches!(timers.manage(), Err(ManageError::NotAnLcore)));
                timer.arm(main, Duration::ZERO).unwrap();
            });
        });
        manage_until(&timers, &count, 1);
        std::thread::spawn(move || drop(timer)).join().unwrap();
        timers.manage().unwrap();
    });
}

#[test]
fn panics_are_errors_of_the_lcore_that_calls() {
    isolated(&[], |eal| {
        let (timers, count) = ready(&eal);
        let main = eal.main_lcore();
        let bad: Vec<Timer> = (0..3)
            .map(|number| {
                let timer = timers.timer(move || panic!("closure {number}"));
                timer.arm_periodic(main, Duration::from_nanos(1 + number)).unwrap();
                timer
            })
            .collect();
        let good = timers.timer(counting(&count));
        good.arm(main, Duration::ZERO).unwrap();
        let mut panics = Vec::new();
        until("all closures were called", || {
            if let Err(error) = timers.manage() {
                panics.push(error.to_string());
            }
            count.load(Ordering::SeqCst) == 1
                && bad.iter().all(|timer| timer.arm(main, NEVER) == Err(TimerError::Ended))
        });
        assert!(panics[0].starts_with("the closure on lcore 0 panicked: closure "), "{panics:?}");
        timers.manage().expect("none of them is called again");
        assert!(bad.iter().all(|timer| !timer.is_pending()));
    });
}

/// A closure may do anything with its own timer and with others, also with those that are to be called right after it.
#[test]
fn closures_may_set_stop_and_drop_timers() {
    isolated(&[], |eal| {
        let (timers, count) = ready(&eal);
        let main = eal.main_lcore();
        // Sets itself again.
        let own = Arc::new(OnceLock::<Timer>::new());
        let (again, counter) = (Arc::downgrade(&own), Arc::clone(&count));
        own.set(timers.timer(move || {
            if counter.fetch_add(1, Ordering::SeqCst) < 4 {
                again.upgrade().unwrap().get().unwrap().arm(main, Duration::ZERO).unwrap();
            }
        }))
        .unwrap();
        own.get().unwrap().arm(main, Duration::ZERO).unwrap();
        manage_until(&timers, &count, 5);
        assert!(!own.get().unwrap().is_pending());
        // Drops itself, and with itself what it has captured.
        let slot = Arc::new(Mutex::new(None::<Timer>));
        let (own, captured) = (Arc::clone(&slot), Arc::clone(&count));
        let itself = timers.timer(move || {
            drop(own.lock().unwrap().take());
            captured.fetch_add(1, Ordering::SeqCst);
        });
        itself.arm_periodic(main, Duration::from_nanos(1)).unwrap();
        *slot.lock().unwrap() = Some(itself);
        manage_until(&timers, &count, 6);
        assert_eq!(Arc::strong_count(&slot), 1, "the closure is gone");
        // Whichever is called first drops the others, which have expired too.
        let others = Arc::new(Mutex::new(Vec::new()));
        let called = Arc::new(AtomicUsize::new(0));
        for _ in 0..5 {
            let (others, called) = (Arc::clone(&others), Arc::clone(&called));
            let timer = timers.timer({
                let others = Arc::clone(&others);
                move || {
                    called.fetch_add(1, Ordering::SeqCst);
                    let all: Vec<Timer> = std::mem::take(&mut *others.lock().unwrap());
                    drop(all);
                }
            });
            timer.arm(main, Duration::ZERO).unwrap();
            others.lock().unwrap().push(timer);
        }
        manage_until(&timers, &called, 1);
        timers.manage().unwrap();
        assert_eq!((called.load(Ordering::SeqCst), Arc::strong_count(&others)), (1, 1), "all closures are gone");
        // A closure cannot have others be called.
        let nested = Arc::new(AtomicUsize::new(0));
        let (inner, seen) = (timers.clone(), Arc::clone(&nested));
        let timer = timers.timer(move || {
            // However often it tries.
            for _ in 0..2 {
                assert!(matches!(inner.manage(), Err(ManageError::Nested)));
            }
            seen.fetch_add(1, Ordering::SeqCst);
        });
        timer.arm(main, Duration::ZERO).unwrap();
        manage_until(&timers, &nested, 1);
    });
}

/// Timers are set, stopped and dropped here while they expire on another lcore.
#[test]
fn timers_may_be_dropped_while_they_are_called_elsewhere() {
    let output = isolated(&[], |eal| {
        let (timers, count) = ready(&eal);
        let worker = eal.worker_lcores()[0].id();
        let stop = AtomicBool::new(false);
        let alive = Arc::new(());
        lcore::scope(&eal, |scope| {
            scope
                .launch(worker, || {
                    while !stop.load(Ordering::SeqCst) {
                        timers.manage().unwrap();
                        std::thread::yield_now();
                    }
                })
                .unwrap();
            for _ in 0..20 {
                let made: Vec<Timer> = (0..20)
                    .map(|number| {
                        let (count, alive) = (Arc::clone(&count), Arc::clone(&alive));
                        let timer = timers.timer(move || {
                            assert!(Arc::strong_count(&alive) > 1);
                            count.fetch_add(1, Ordering::SeqCst);
                        });
                        timer.arm_periodic(worker, Duration::from_nanos(100 * number)).unwrap();
                        timer
                    })
                    .collect();
                let calls = count.load(Ordering::SeqCst);
                until("one of them was called", || count.load(Ordering::SeqCst) > calls);
                for timer in &made {
                    // Refused if it is being called.
                    let _ = timer.stop();
                    let _ = timer.arm(worker, Duration::ZERO);
                }
            }
            stop.store(true, Ordering::SeqCst);
        })
        .unwrap();
        timers.manage().unwrap();
        assert_eq!(Arc::strong_count(&alive), 1, "every closure is gone");
        drop((eal, timers));
    });
    assert!(!output.contains("not cleaned up"), "{output}");
}

#[test]
fn timers_keep_the_eal_and_may_be_leaked() {
    let output = isolated(&[], |eal| {
        let (timers, count) = ready(&eal);
        let main = eal.main_lcore();
        let timer = timers.timer(counting(&count));
        timer.arm(main, Duration::ZERO).unwrap();
        drop(eal);
        manage_until(&timers, &count, 1);
        drop(timers);
        drop(timer);
    });
    assert!(!output.contains("not cleaned up"), "{output}");
    isolated(&[], |eal| {
        let (timers, count) = ready(&eal);
        let timer = timers.timer(counting(&count));
        timer.arm(eal.main_lcore(), Duration::ZERO).unwrap();
        std::mem::forget(timer);
        manage_until(&Timers::new(&eal).unwrap(), &count, 1);
    });
}
