// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A child process created by `fork` has copies of all objects and owns nothing: it gets errors, and its parent continues
//! unaffected.

use crate::{
    forked::{Forked, forked},
    frames::{bytes, frame, packet, pool, receive, send, start},
    process::{eal_args, init, isolated, isolated_bare},
};
use dpdk_rs::{
    BufferError, Burst, CreateError, Eal, EalError, Mempool, MempoolError, Packet, PortConfig, PortError, Ring,
    RxQueue, TxQueue,
    lcore::{self, LaunchError},
    lookup::HashTable,
    memory::{AllocError, ExternalMemory, Memzone, ObjectPool, RegisterError},
    port::{Configured, Port, Started, StopError, Unconfigured},
    service::{Activity, ServiceCore, ServiceError},
    timer::{ManageError, TimerError, Timers},
};
use std::{
    mem,
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

const DEVICES: [&str; 3] = ["net_ring0", "net_null0", "net_ring1"];

/// An EAL with a port in every state.
struct World {
    rx: RxQueue,
    tx: TxQueue,
    started: Port<Started>,
    configured: Port<Configured>,
    unconfigured: Port<Unconfigured>,
    pool: Mempool,
    eal: Eal,
}

impl World {
    fn new(eal: Eal) -> Self {
        let pool: Mempool = pool(&eal, "pool");
        let mut ports = eal.ports();
        let (started, rx, tx) = start(ports.remove(0), &pool);
        let configured = ports.remove(0).configure(&PortConfig::default(), &pool).unwrap();
        Self { rx, tx, started, configured, unconfigured: ports.remove(0), pool, eal }
    }

    /// Everything works, and nothing is missing.
    fn works(&mut self) {
        assert_eq!(self.pool.available(), self.pool.size());
        let before = self.started.stats().unwrap().ipackets;
        for number in 0..5 {
            send(&mut self.tx, packet(&self.pool, &frame(number, 64)));
            assert_eq!(bytes(&receive(&mut self.rx)), frame(number, 64));
        }
        assert_eq!(self.started.stats().unwrap().ipackets, before + 5);
        let other: Mempool = crate::frames::pool(&self.eal, "other");
        assert_eq!(other.available(), other.size());
        let sum = lcore::scope(&self.eal, |scope| {
            let launch = |lcore: lcore::Lcore| scope.launch(lcore.id(), move || lcore.id().get()).unwrap();
            let handles: Vec<_> = self.eal.worker_lcores().into_iter().map(launch).collect();
            handles.into_iter().map(|handle| handle.join().unwrap()).sum::<u32>()
        });
        assert_eq!(sum.unwrap(), 3);
    }

    /// Takes everything to its end, which is a clean one.
    fn ends(self) {
        let Self { rx, tx, started, configured, unconfigured, pool, eal } = self;
        let stopped = started.stop(vec![rx], vec![tx]).unwrap();
        let (again, mut rx, mut tx) = stopped.start().unwrap();
        send(&mut tx[0], packet(&pool, &frame(1, 64)));
        assert_eq!(bytes(&receive(&mut rx[0])), frame(1, 64));
        let (null, mut rx, _tx) = configured.start().unwrap();
        assert_eq!(receive(&mut rx[0]).len(), 64);
        drop(unconfigured);
        assert_eq!(eal.ports().len(), 1);
        drop((again, null));
    }
}

/// Runs the test's closure with a world, which works before, after and at the end.
fn world(eal: Eal, body: impl FnOnce(&mut World)) {
    let mut world = World::new(eal);
    world.works();
    body(&mut world);
    world.works();
    world.ends();
}

/// A copy of the parent's object, in the child, to be used up there.
fn taken<T>(object: &mut T) -> T {
    // SAFETY: in the child nobody uses the parent's variable again: the process ends before the variable's scope does,
    // or what was taken is written back.
    unsafe { std::ptr::read(object) }
}

fn is_forked(error: &PortError) -> bool {
    matches!(error, PortError::Forked { .. })
}

const NOT_CLEANED_UP: &str = "the EAL is not cleaned up";

#[test]
fn child_may_drop_everything() {
    let output = isolated(&DEVICES, |eal| {
        world(eal, |world| {
            for _ in 0..3 {
                forked(|| {
                    drop(taken(world));
                    0
                })
                .expect_success();
                world.works();
            }
        });
    });
    assert!(!output.contains(NOT_CLEANED_UP), "{output}");
}

/// A page in bytes that begin anywhere, which only the process that made it drops.
struct Pages(Vec<u8>, u32);

impl AsMut<[u8]> for Pages {
    fn as_mut(&mut self) -> &mut [u8] {
        let start = self.0.as_ptr().align_offset(4096);
        &mut self.0[start..][..4096]
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        assert_eq!(std::process::id(), self.1, "devices of the parent reach the memory");
    }
}

#[test]
fn child_leaves_registered_memory_alone() {
    isolated_bare(|| {
        let mut args = eal_args(&[]);
        args.push("--iova-mode=va".to_owned());
        let (eal, _) = init(args).unwrap();
        let pages = || Pages(vec![0; 8192], std::process::id());
        let mut memory = ExternalMemory::register(&eal, pages(), 4096).map_err(|(error, _)| error).unwrap();
        let ended = forked(|| {
            drop(taken(&mut memory));
            let (error, _) = ExternalMemory::register(&eal, pages(), 4096).unwrap_err();
            i32::from(error != RegisterError::Forked)
        });
        ended.expect_success();
        drop(memory);
        drop(ExternalMemory::register(&eal, pages(), 4096).map_err(|(error, _)| error).unwrap());
    });
}

#[test]
fn child_may_unwind() {
    let output = isolated(&DEVICES, |eal| {
        world(eal, |world| {
            let ended = forked(|| {
                let result = panic::catch_unwind(AssertUnwindSafe(|| {
                    let _world = taken(world);
                    panic!("on purpose");
                }));
                i32::from(result.is_ok())
            });
            ended.expect_success();
        });
    });
    assert!(!output.contains(NOT_CLEANED_UP), "{output}");
}

/// As a program does whose `main` returns: handlers registered with `atexit` run, also those of DPDK's libraries.
#[test]
fn child_may_exit_or_be_killed() {
    isolated(&DEVICES, |eal| {
        world(eal, |world| {
            forked(|| 0).expect_success();
            world.works();
            assert_eq!(forked(|| std::process::exit(7)).code(), Some(7));
            world.works();
            assert_eq!(forked(|| std::process::abort()).code(), None);
        });
    });
}

#[test]
fn child_cannot_make_or_take_anything() {
    isolated(&DEVICES, |eal| {
        world(eal, |world| {
            let ended = forked(|| {
                let eal = &world.eal;
                let error = Mempool::<()>::builder("child").build(eal).unwrap_err();
                assert_eq!(error, MempoolError::Forked("child".to_owned()));
                assert!(error.to_string().contains("fork"), "{error}");
                assert!(eal.ports().is_empty());
                assert_eq!(eal.register_service("child", || Activity::Idle).unwrap_err(), ServiceError::Forked);
                let core = ServiceCore::start(eal, eal.worker_lcores()[0].id());
                assert_eq!(core.unwrap_err(), ServiceError::Forked);
                assert_eq!(Packet::attach(&world.pool, vec![0; 60]).unwrap_err(), (BufferError::Forked, vec![0; 60]));
                assert_eq!(init(eal_args(&[])).unwrap_err(), EalError::AlreadyInitialized);
                // What only reads is harmless.
                assert_eq!((eal.lcores().len(), eal.main_lcore().get(), eal.has_hugepages()), (3, 0, false));
                assert_eq!((world.pool.size(), world.pool.clone().available()), (511, 511));
                0
            });
            ended.expect_success();
        });
    });
}

#[test]
fn child_cannot_configure_start_or_stop() {
    isolated(&DEVICES, |eal| {
        world(eal, |world| {
            let ended = forked(|| {
                let config = PortConfig::default();
                let error = taken(&mut world.unconfigured).configure(&config, &world.pool).unwrap_err();
                assert!(is_forked(&error) && error.port().get() == 2, "{error:?}");
                assert!(error.to_string().starts_with("port 2 (net_ring1): "), "{error}");
                assert!(is_forked(&taken(&mut world.configured).start().unwrap_err()));
                let (rx, tx) = (vec![taken(&mut world.rx)], vec![taken(&mut world.tx)]);
                let error = taken(&mut world.started).stop(rx, tx).unwrap_err();
                assert!(matches!(&error, StopError::Refused(error) if is_forked(error)), "{error:?}");
                0
            });
            ended.expect_success();
        });
    });
}

#[test]
fn child_cannot_ask_or_set_anything() {
    isolated(&DEVICES, |eal| {
        world(eal, |world| {
            let ended = forked(|| {
                let (started, configured) = (&world.started, &world.configured);
                assert!(is_forked(&started.stats().unwrap_err()));
                assert!(is_forked(&started.reset_stats().unwrap_err()));
                assert!(is_forked(&started.link().unwrap_err()));
                assert!(is_forked(&started.wait_link().unwrap_err()));
                assert!(is_forked(&started.set_promiscuous(true).unwrap_err()));
                assert!(is_forked(&started.info().unwrap_err()));
                assert!(is_forked(&configured.set_mtu(1400).unwrap_err()));
                assert!(is_forked(&started.mac_addr().unwrap_err()));
                assert!(is_forked(&configured.mtu().unwrap_err()));
                assert!(!started.is_promiscuous() && !started.is_allmulticast() && !started.strips_vlan());
                // What does not change is there.
                assert_eq!((started.name(), started.id().get()), ("net_ring0", 0));
                let _ = started.socket();
                0
            });
            ended.expect_success();
        });
    });
}

#[test]
fn child_cannot_launch() {
    isolated(&DEVICES, |eal| {
        world(eal, |world| {
            let ended = forked(|| {
                let workers = world.eal.worker_lcores();
                let launched = lcore::scope(&world.eal, |scope| {
                    for worker in &workers {
                        let error = scope.launch(worker.id(), || ()).unwrap_err();
                        assert_eq!(error, LaunchError::Forked(worker.id()));
                    }
                    let main = world.eal.main_lcore();
                    assert_eq!(scope.launch(main, || ()).unwrap_err(), LaunchError::Main(main));
                    5
                });
                assert_eq!(launched.unwrap(), 5);
                0
            });
            ended.expect_success();
        });
    });
}

/// Forked while closures run: in the child they never end, and nobody waits for them.
#[test]
fn child_leaves_an_open_scope() {
    isolated(&DEVICES, |eal| {
        world(eal, |world| {
            let (stop, eal) = (AtomicBool::new(false), &world.eal);
            let mut child = None;
            let result = lcore::scope(eal, |scope| {
                let [first, second] = [1, 2].map(|number: usize| eal.lcores()[number].id());
                let until_stopped = || {
                    while !stop.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                    7
                };
                let running = scope.launch(first, until_stopped).unwrap();
                let ended = scope.launch(second, || 8).unwrap();
                while !ended.is_finished() {
                    thread::yield_now();
                }
                child = Some(Forked::start(|| {
                    let mut running = running;
                    let mut ended = ended;
                    assert!(!running.is_finished() && ended.is_finished());
                    let error = taken(&mut running).join().unwrap_err();
                    assert_eq!(error.lcore(), first);
                    assert!(error.to_string().contains("parent of this process"), "{error}");
                    assert_eq!(taken(&mut ended).join().unwrap(), 8);
                    mem::forget((running, ended));
                    0
                }));
                stop.store(true, Ordering::Relaxed);
            });
            result.unwrap();
            child.take().unwrap().wait().expect_success();
        });
    });
}

/// As before, but the child leaves the scope by returning and by unwinding.
#[test]
fn child_returns_from_a_scope() {
    isolated(&DEVICES, |eal| {
        world(eal, |world| {
            for unwinds in [false, true] {
                let (stop, eal) = (AtomicBool::new(false), &world.eal);
                let outer = std::process::id();
                let mut child = None;
                let result = panic::catch_unwind(AssertUnwindSafe(|| {
                    lcore::scope(eal, |scope| {
                        let until_stopped = || {
                            while !stop.load(Ordering::Relaxed) {
                                std::hint::spin_loop();
                            }
                        };
                        scope.launch(eal.worker_lcores()[0].id(), until_stopped).unwrap();
                        child = Forked::start_here();
                        assert!(child.is_some() || !unwinds, "unwinding");
                        stop.store(true, Ordering::Relaxed);
                    })
                }));
                if std::process::id() != outer {
                    // Out of the scope, in the child.
                    std::process::exit(i32::from(result.is_err() != unwinds));
                }
                result.unwrap().unwrap();
                child.take().unwrap().wait().expect_success();
            }
        });
    });
}

/// Whatever lock another thread holds at the time of the fork is never released in the child.
#[test]
fn child_does_not_wait_for_locks() {
    isolated(&DEVICES, |eal| {
        world(eal, |world| {
            let stop = AtomicBool::new(false);
            let World { started, configured, pool, eal, .. } = world;
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        while !stop.load(Ordering::Relaxed) {
                            started.stats().unwrap();
                            configured.info().unwrap();
                        }
                    });
                }
                for _ in 0..50 {
                    let ended = forked(|| {
                        assert!(is_forked(&started.stats().unwrap_err()));
                        assert!(is_forked(&configured.info().unwrap_err()));
                        assert!(Mempool::<()>::builder("child").build(eal).is_err());
                        assert!(eal.ports().is_empty());
                        drop(pool.clone());
                        0
                    });
                    ended.expect_success();
                }
                stop.store(true, Ordering::Relaxed);
            });
        });
    });
}

#[test]
fn child_of_a_child_owns_nothing_either() {
    isolated(&DEVICES, |eal| {
        world(eal, |world| {
            let ended = forked(|| {
                let ended = forked(|| {
                    assert!(is_forked(&world.started.stats().unwrap_err()));
                    drop(taken(world));
                    0
                });
                ended.expect_success();
                drop(taken(world));
                0
            });
            ended.expect_success();
        });
    });
}

/// Forked before the EAL is initialised, a child may have one of its own.
#[test]
fn child_may_have_its_own_eal() {
    crate::process::isolated_bare(|| {
        let child = Forked::start(|| {
            world(init(eal_args(&DEVICES)).unwrap().0, |_| ());
            0
        });
        world(init(eal_args(&DEVICES)).unwrap().0, |_| ());
        child.wait().expect_success();
    });
}

/// A burst that is empty, a buffer and a clock hold nothing of the parent's.
#[test]
fn child_may_drop_what_holds_no_packets() {
    isolated(&DEVICES, |eal| {
        world(eal, |world| {
            let mut burst = Burst::<(), 8>::new();
            burst.push(packet(&world.pool, &frame(1, 60))).unwrap();
            forked(|| {
                drop((Burst::<(), 8>::new(), world.eal.clock()));
                mem::forget(taken(&mut burst));
                0
            })
            .expect_success();
            assert_eq!(bytes(&burst[0]), frame(1, 60));
        });
    });
}

/// Rings, tables, objects and timers are the parent's too: nothing is made, called, dropped or freed in the child.
#[test]
fn child_leaves_rings_tables_objects_and_timers_alone() {
    isolated(&[], |eal| {
        let dropped = Arc::new(());
        let mut ring = Ring::builder("ring").build(&eal).unwrap();
        ring.enqueue(Arc::clone(&dropped)).unwrap();
        let mut table = HashTable::builder("table").build(&eal).unwrap();
        table.insert(1_u32, Arc::clone(&dropped)).unwrap();
        let mut boxed = eal.heap().boxed(Arc::clone(&dropped)).unwrap();
        let mut pool = ObjectPool::builder("objects").size(3).build(&eal, |_| Arc::clone(&dropped)).unwrap();
        let mut zone = Memzone::builder("zone", 64).build(&eal).unwrap();
        let timers = Timers::new(&eal).unwrap();
        let captured = Arc::clone(&dropped);
        let mut timer = timers.timer(move || drop(Arc::clone(&captured)));
        timer.arm(eal.main_lcore(), Duration::ZERO).unwrap();
        let count = Arc::strong_count(&dropped);
        forked(|| {
            assert!(matches!(Ring::<u32>::builder("other").build(&eal), Err(CreateError::Forked { .. })));
            assert!(matches!(HashTable::<u32, u32>::builder("other").build(&eal), Err(CreateError::Forked { .. })));
            assert!(matches!(Memzone::builder("other", 1).build(&eal), Err(CreateError::Forked { .. })));
            assert!(matches!(eal.heap().boxed(1), Err(AllocError::Forked)));
            assert!(matches!(Timers::new(&eal), Err(TimerError::Forked)));
            assert!(matches!(timers.manage(), Err(ManageError::Forked)));
            assert!(matches!(timer.stop(), Err(TimerError::Forked)));
            drop((taken(&mut ring), taken(&mut table), taken(&mut boxed), taken(&mut pool), taken(&mut zone)));
            drop(taken(&mut timer));
            assert_eq!(Arc::strong_count(&dropped), count, "nothing was dropped");
            0
        })
        .expect_success();
        assert!(Memzone::lookup(&eal, "zone").is_some() && zone.bytes()[63] == 0);
        assert!(Arc::ptr_eq(&ring.dequeue().unwrap(), &dropped));
        assert!(Arc::ptr_eq(&table.remove(&1).unwrap(), &dropped) && Arc::ptr_eq(&boxed, &dropped));
        assert!(Arc::ptr_eq(&pool.get().unwrap(), &dropped) && pool.available() == 3);
        crate::frames::until("the timer has expired", || {
            timers.manage().unwrap();
            !timer.is_pending()
        });
        drop((ring, table, boxed, pool, timer));
        assert_eq!(Arc::strong_count(&dropped), 1);
    });
}
