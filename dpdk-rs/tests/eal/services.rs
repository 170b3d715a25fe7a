// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Closures that service cores call repeatedly.

use crate::{
    frames::{bytes, frame, packet, pool, until},
    process::isolated,
};
use dpdk_rs::{
    Mempool, Packet,
    lcore::{self, LaunchError, LcoreId},
    ring::Ring,
    service::{Activity, ServiceCore, ServiceError, cores},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

fn enabled(eal: &dpdk_rs::Eal) -> Vec<u32> {
    eal.lcores().iter().map(|lcore| lcore.id().get()).collect()
}

#[test]
fn a_closure_is_called_on_service_cores_until_it_is_dropped() {
    isolated(&[], |eal| {
        let [first, second] = [0, 1].map(|place: usize| eal.worker_lcores()[place].id());
        let (calls, lcores) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (count, seen) = (Arc::clone(&calls), Arc::clone(&lcores));
        let service = eal.register_service("counter", move || {
            seen.fetch_or(1 << lcore::current().unwrap().get(), SeqCst);
            count.fetch_add(1, SeqCst);
            Activity::Busy
        });
        let service = service.unwrap();
        assert_eq!(service.run_on(first), Err(ServiceError::NotServiceCore(first)));
        let core = ServiceCore::start(&eal, first).unwrap();
        assert_eq!((core.id(), cores(&eal), enabled(&eal)), (first, vec![first], vec![0, second.get()]));
        assert_eq!(calls.load(SeqCst), 0, "it is on no core yet");
        service.run_on(first).unwrap();
        until("the closure is called", || calls.load(SeqCst) > 10);
        assert_eq!(lcores.load(SeqCst), 1 << first.get());
        let stats = service.stats();
        assert!(stats.calls > 0 && stats.cycles > 0, "{stats:?}");
        let other = ServiceCore::start(&eal, second).unwrap();
        service.run_on(second).unwrap();
        until("the other core calls it too", || lcores.load(SeqCst) == 1 << first.get() | 1 << second.get());
        service.leave(first).unwrap();
        drop(core);
        lcores.store(0, SeqCst);
        until("it goes on", || lcores.load(SeqCst) == 1 << second.get());
        drop(service);
        let after = calls.load(SeqCst);
        assert_eq!(Arc::strong_count(&calls), 1, "the closure is gone");
        drop(other);
        assert_eq!((calls.load(SeqCst), enabled(&eal), cores(&eal)), (after, vec![0, 1, 2], vec![]));
        // They are workers again.
        let sum = lcore::scope(&eal, |scope| {
            let launch = |lcore: LcoreId| scope.launch(lcore, move || lcore.get()).unwrap();
            [first, second].map(launch).map(|handle| handle.join().unwrap())
        });
        assert_eq!(sum.unwrap(), [first.get(), second.get()]);
    });
}

/// One call at a time, however many cores the service is on; several services take turns on one core.
#[test]
fn a_closure_is_called_by_one_core_at_a_time() {
    isolated(&[], |eal| {
        let cores = eal.worker_lcores().into_iter().map(|lcore| ServiceCore::start(&eal, lcore.id()).unwrap());
        let cores: Vec<ServiceCore> = cores.collect();
        let (inside, calls, others) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)), AtomicU32::new(0));
        let (within, count) = (Arc::clone(&inside), Arc::clone(&calls));
        // Nothing is atomic about it but what is looked at.
        let mut own = 0;
        let service = eal.register_service("one", move || {
            assert_eq!(within.fetch_add(1, SeqCst), 0);
            own += 1;
            count.store(own, SeqCst);
            within.fetch_sub(1, SeqCst);
            Activity::Busy
        });
        let service = service.unwrap();
        let others = Arc::new(others);
        let count = Arc::clone(&others);
        let other = eal.register_service("other", move || {
            count.fetch_add(1, SeqCst);
            Activity::Idle
        });
        let other = other.unwrap();
        for core in &cores {
            service.run_on(core.id()).unwrap();
            other.run_on(core.id()).unwrap();
        }
        until("both are called", || calls.load(SeqCst) > 1000 && others.load(SeqCst) > 1000);
        assert!(service.take_panic().is_none());
        // The cores first.
        drop(cores);
        let after = calls.load(SeqCst);
        assert_eq!((inside.load(SeqCst), other.stats().cycles), (0, 0));
        drop(service);
        assert_eq!(calls.load(SeqCst), after);
    });
}

#[test]
fn a_panic_ends_a_service_and_no_other() {
    isolated(&[], |eal| {
        std::panic::set_hook(Box::new(|_| {}));
        let core = ServiceCore::start(&eal, eal.worker_lcores()[0].id()).unwrap();
        let calls = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&calls);
        let mut left = 3;
        let failing = eal.register_service("failing", move || {
            left -= 1;
            count.fetch_add(1, SeqCst);
            assert!(left > 0, "nothing is left");
            Activity::Busy
        });
        let failing = failing.unwrap();
        let others = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&others);
        let other = eal.register_service("other", move || {
            count.fetch_add(1, SeqCst);
            Activity::Idle
        });
        let other = other.unwrap();
        failing.run_on(core.id()).unwrap();
        other.run_on(core.id()).unwrap();
        let mut panicked = None;
        until("it has panicked", || {
            panicked = failing.take_panic();
            panicked.is_some()
        });
        let panicked = panicked.unwrap();
        assert_eq!(panicked.lcore(), core.id());
        assert!(panicked.to_string().ends_with("panicked: nothing is left"), "{panicked}");
        assert_eq!((calls.load(SeqCst), Arc::strong_count(&calls)), (3, 1), "dropped");
        let before = others.load(SeqCst);
        until("the other goes on", || others.load(SeqCst) > before + 10);
        assert_eq!(calls.load(SeqCst), 3, "called no more");
        assert!(failing.take_panic().is_none());
        drop(other);
    });
}

/// Whoever drops the service waits for the drop of a closure that has panicked, too.
#[test]
fn a_drop_waits_for_the_closure_of_a_panic() {
    isolated(&[], |eal| {
        struct Slow(mpsc::Sender<()>, Option<mpsc::Receiver<()>>, Arc<AtomicU32>);
        impl Drop for Slow {
            fn drop(&mut self) {
                self.0.send(()).unwrap();
                // Until the sender is gone.
                while self.1.as_ref().unwrap().recv().is_ok() {}
                (0..1000).for_each(|_| thread::yield_now());
                self.2.fetch_add(1, SeqCst);
            }
        }
        let core = ServiceCore::start(&eal, eal.worker_lcores()[0].id()).unwrap();
        let ((begins, begun), (leave, left)) = (mpsc::channel(), mpsc::channel::<()>());
        let ended = Arc::new(AtomicU32::new(0));
        let slow = Slow(begins, Some(left), Arc::clone(&ended));
        let service = eal.register_service("failing", move || {
            let _ = &slow;
            std::panic::resume_unwind(Box::new(1))
        });
        let service = service.unwrap();
        service.run_on(core.id()).unwrap();
        begun.recv().unwrap();
        assert!(service.take_panic().is_none(), "the closure is not dropped yet");
        let helper = thread::spawn(move || drop(leave));
        drop(service);
        assert_eq!(ended.load(SeqCst), 1);
        helper.join().unwrap();
    });
}

/// What a closure has panicked with may hold a pool, and with it the EAL.
#[test]
fn a_panic_that_nobody_takes_goes_with_the_service() {
    let output = isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let core = ServiceCore::start(&eal, eal.worker_lcores()[0].id()).unwrap();
        let captured = Arc::new(());
        let alive = Arc::downgrade(&captured);
        let mut left = vec![packet(&pool, &frame(1, 60))];
        let service = eal.register_service("failing", move || {
            let _ = &captured;
            std::panic::resume_unwind(Box::new(left.pop()))
        });
        let service = service.unwrap();
        service.run_on(core.id()).unwrap();
        until("it has panicked", || alive.strong_count() == 0);
        assert_eq!(pool.available(), 510);
        drop(service);
        assert_eq!(pool.available(), 511);
    });
    assert!(!output.contains("not cleaned up"), "{output}");
}

/// Dropping either waits for a call that is under way, also if that needs what a lock protects meanwhile.
#[test]
fn drops_wait_for_a_call() {
    isolated(&[], |eal| {
        for core_first in [false, true] {
            let core = ServiceCore::start(&eal, eal.worker_lcores()[0].id()).unwrap();
            let (inside, entered) = mpsc::channel();
            let (leave, left) = mpsc::channel::<()>();
            let ended = Arc::new(AtomicU32::new(0));
            let end = Arc::clone(&ended);
            let mut rings = vec![Ring::<u32>::builder(format!("ring {core_first}")).build(&eal).unwrap()];
            let service = eal.register_service("slow", move || {
                let _ = inside.send(());
                // Until the sender is gone.
                while left.recv().is_ok() {}
                // Under the lock of the control plane.
                drop(rings.pop());
                end.fetch_add(1, SeqCst);
                Activity::Busy
            });
            let service = service.unwrap();
            service.run_on(core.id()).unwrap();
            entered.recv().unwrap();
            let helper = thread::spawn(move || drop(leave));
            if core_first {
                drop(core)
            } else {
                drop(service)
            }
            assert!(ended.load(SeqCst) > 0);
            helper.join().unwrap();
        }
    });
}

/// Names stay with DPDK, so each is used again; and lcores and names that are in use are refused.
#[test]
fn what_cannot_be_is_an_error() {
    isolated(&[], |eal| {
        let worker = eal.worker_lcores()[0].id();
        for _ in 0..200 {
            drop(eal.register_service("again", || Activity::Idle).unwrap());
        }
        let first = eal.register_service("again", || Activity::Idle).unwrap();
        let error = eal.register_service("again", || Activity::Idle).unwrap_err();
        assert_eq!(error, ServiceError::Taken("again".to_owned()));
        drop(first);
        for name in [String::new(), "with\0nul".to_owned(), "x".repeat(29)] {
            assert_eq!(eal.register_service(&name, || Activity::Idle).unwrap_err(), ServiceError::Name(name));
        }
        assert!(eal.register_service(&"x".repeat(28), || Activity::Idle).is_ok());
        assert_eq!(ServiceCore::start(&eal, eal.main_lcore()).unwrap_err(), ServiceError::Main(eal.main_lcore()));
        let core = ServiceCore::start(&eal, worker).unwrap();
        assert_eq!(ServiceCore::start(&eal, worker).unwrap_err(), ServiceError::Busy(worker));
        let launched = lcore::scope(&eal, |scope| scope.launch(worker, || ()).map(|_| ())).unwrap();
        assert!(matches!(launched, Err(LaunchError::Launch { .. })), "{launched:?}");
        let error = core.run_driver_service("missing").unwrap_err();
        assert_eq!(error, ServiceError::Unknown("missing".to_owned()));
        drop(core);
        lcore::scope(&eal, |scope| {
            let (stop, stopped) = mpsc::channel::<()>();
            let running = scope.launch(worker, move || while stopped.recv().is_ok() {}).unwrap();
            assert_eq!(ServiceCore::start(&eal, worker).unwrap_err(), ServiceError::Busy(worker));
            drop(stop);
            running.join().unwrap();
            // As soon as the closure has ended.
            drop(ServiceCore::start(&eal, worker).unwrap());
        })
        .unwrap();
        // There is room for 64.
        let services: Vec<_> =
            (0..64).map_while(|number| eal.register_service(&format!("n{number}"), || Activity::Idle).ok()).collect();
        assert!((50..=62).contains(&services.len()), "{}", services.len());
        let error = eal.register_service("one more", || Activity::Idle).unwrap_err();
        assert_eq!(error.call(), Some("rte_service_component_register"));
        assert!(eal.register_service("again", || Activity::Idle).is_ok(), "it is known");
    });
}

/// A driver's service is found by its name in DPDK, as any is that DPDK knows.
#[test]
fn services_are_found_by_name() {
    isolated(&[], |eal| {
        let calls = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&calls);
        let service = eal.register_service("known", move || {
            count.fetch_add(1, SeqCst);
            Activity::Busy
        });
        let service = service.unwrap();
        let core = ServiceCore::start(&eal, eal.worker_lcores()[1].id()).unwrap();
        core.run_driver_service("rs.known").unwrap();
        until("it is called", || calls.load(SeqCst) > 0);
        drop(service);
        let after = calls.load(SeqCst);
        drop(core);
        assert_eq!(calls.load(SeqCst), after);
    });
}

/// A service hands packets on, and pools are given back when it is gone.
#[test]
fn packets_pass_through_a_service() {
    let output = isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let ring = |name| Ring::<Packet>::builder(name).capacity(64).build(&eal).unwrap();
        let (input, output) = (ring("input"), ring("output"));
        let (from, to) = (input.clone(), output.clone());
        let service = eal.register_service("middle", move || {
            let Some(mut packet) = from.dequeue() else { return Activity::Idle };
            packet.append(1).unwrap()[0] = 0xee;
            to.enqueue(packet).map_or(Activity::Idle, |()| Activity::Busy)
        });
        let service = service.unwrap();
        let core = ServiceCore::start(&eal, eal.worker_lcores()[0].id()).unwrap();
        service.run_on(core.id()).unwrap();
        for number in 0..40 {
            input.enqueue(packet(&pool, &frame(number, 60))).unwrap();
        }
        for number in 0..40 {
            let mut arrived = None;
            until("a packet arrives", || {
                arrived = output.dequeue();
                arrived.is_some()
            });
            assert_eq!(bytes(&arrived.unwrap()), [frame(number, 60), vec![0xee]].concat());
        }
        // In the wrong order, and the EAL before all.
        drop((eal, pool, input, output));
        drop((core, service));
    });
    assert!(!output.contains("not cleaned up"), "{output}");
}
