// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Service cores, and closures that they call: these count, panic, hand packets on, and have drops that panic.
//!
//! When a core calls what is not known; that it does, or does not any more, is waited for and compared.

use crate::{
    context::{Context, OnPurpose, catch, panic_on_purpose},
    frames::until,
    raw::{self, Usage},
};
use dpdk_rs::{
    Eal, Mempool, Packet, Ring,
    lcore::{self, LaunchError},
    service::{Activity, Service, ServiceCore, ServiceError, cores},
};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;
use std::{
    any::Any,
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

/// How many services there are at most. DPDK forgets no name: they are always the same.
const NAMES: u8 = 4;

/// Lcores that can become service cores.
const WORKERS: usize = 2;

/// The call in which a closure panics that is to.
const LAST_CALL: u64 = 3;

/// How many packets a ring holds, and a pool.
const RING: usize = 7;

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct ServicePlan {
    #[proptest(strategy = "vec(any::<ServiceDeed>(), 0..24)")]
    deeds: Vec<ServiceDeed>,
    /// At the end the cores are dropped before the services.
    cores_first: bool,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum ServiceDeed {
    #[proptest(weight = 5)]
    Register {
        #[proptest(strategy = "0..NAMES")]
        name: u8,
        closure: Closure,
    },
    #[proptest(weight = 4)]
    Start {
        #[proptest(strategy = "0_u8..3")]
        lcore: u8,
    },
    #[proptest(weight = 2)]
    End {
        #[proptest(strategy = "1_u8..3")]
        lcore: u8,
    },
    #[proptest(weight = 8)]
    RunOn {
        #[proptest(strategy = "0..NAMES")]
        name: u8,
        #[proptest(strategy = "0_u8..3")]
        lcore: u8,
    },
    #[proptest(weight = 2)]
    Leave {
        #[proptest(strategy = "0..NAMES")]
        name: u8,
        #[proptest(strategy = "0_u8..3")]
        lcore: u8,
    },
    /// Waits for calls, or for the end of what panics.
    #[proptest(weight = 6)]
    Watch {
        #[proptest(strategy = "0..NAMES")]
        name: u8,
    },
    #[proptest(weight = 3)]
    TakePanic {
        #[proptest(strategy = "0..NAMES")]
        name: u8,
    },
    #[proptest(weight = 3)]
    Drop {
        #[proptest(strategy = "0..NAMES")]
        name: u8,
    },
    Forget {
        #[proptest(strategy = "0..NAMES")]
        name: u8,
    },
    /// A closure of a scope is to run on the lcore.
    Launch {
        #[proptest(strategy = "0_u8..3")]
        lcore: u8,
    },
    /// A pool is made, and its last handle dropped.
    Pool,
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closure {
    Count,
    /// It counts, and finds nothing to do.
    Idle,
    Panic,
    /// The drop of what it panics with panics too.
    PanicTwice,
    /// The drop of what it has captured panics.
    BadDrop,
    /// It takes packets out of one ring and puts them into another.
    Pass,
}

impl Closure {
    const fn panics(self) -> bool {
        matches!(self, Self::Panic | Self::PanicTwice)
    }
}

/// Panics when it is dropped.
struct BadDrop(#[allow(dead_code, reason = "held, not read")] Arc<()>);

impl Drop for BadDrop {
    fn drop(&mut self) {
        panic_on_purpose();
    }
}

/// What a closure passes on: the rings, their pool, and what is on its way.
struct Passage {
    input: Ring<Packet>,
    output: Ring<Packet>,
    pool: Mempool,
    expected: VecDeque<u8>,
}

struct Held {
    service: Service,
    closure: Closure,
    calls: Arc<AtomicU64>,
    /// A bit for each worker that has called it.
    callers: Arc<AtomicU64>,
    /// Live as long as what the closure has captured.
    captured: Weak<()>,
    on: [bool; WORKERS],
    /// How often it was called when it had just come to rest.
    rest: Option<u64>,
    /// Its panic was handed out.
    reported: bool,
    /// Its owner has no access to it any more.
    forgotten: bool,
    passage: Option<Passage>,
}

impl Held {
    fn has_ended(&self) -> bool {
        self.captured.strong_count() == 0
    }
}

struct Desk<'a> {
    eal: &'a Eal,
    context: &'a Context,
    number: u64,
    cores: [Option<ServiceCore>; WORKERS],
    /// Names that were taken off a core, which may be in the middle of its round still.
    lingering: [[bool; NAMES as usize]; WORKERS],
    held: BTreeMap<u8, Held>,
    /// Counts rings and pools.
    made: usize,
}

/// Has DPDK know all names.
pub(crate) fn warm_up(eal: &Eal) {
    for number in 0..NAMES {
        drop(eal.register_service(&name(number), || Activity::Idle).expect("nobody has the name"));
    }
}

fn name(number: u8) -> String {
    format!("sequences {number}")
}

/// Does with services what is planned, and drops those that are left.
pub(crate) fn run(eal: &Eal, context: &Context, number: u64, plan: &ServicePlan) {
    let before = Usage::now();
    let mut desk = Desk {
        eal,
        context,
        number,
        cores: Default::default(),
        lingering: Default::default(),
        held: BTreeMap::new(),
        made: 0,
    };
    for deed in &plan.deeds {
        desk.apply(*deed);
        desk.verify();
    }
    let Desk { cores, held, made, .. } = desk;
    let captured: Vec<Weak<()>> = held.values().map(|held| Weak::clone(&held.captured)).collect();
    if plan.cores_first {
        drop(cores);
        drop(held);
    } else {
        drop(held);
        drop(cores);
    }
    assert!(captured.iter().all(|captured| captured.strong_count() == 0), "closures that were not dropped");
    lcore::scope(eal, |_| ()).expect("nothing was launched");
    let left = (0..made).find(|made| raw::pool_exists(&made_name(number, *made)));
    assert_eq!(left, None, "a pool is left, and no lcore uses it");
    assert_eq!(Usage::now(), before, "services that are gone hold memory");
}

fn made_name(number: u64, made: usize) -> String {
    format!("service{number}x{made}")
}

impl Desk<'_> {
    fn apply(&mut self, deed: ServiceDeed) {
        match deed {
            ServiceDeed::Register { name, closure } => self.register(name, closure),
            ServiceDeed::Start { lcore } => self.start(lcore),
            ServiceDeed::End { lcore } => {
                let worker = usize::from(lcore) - 1;
                if self.cores[worker].take().is_some() {
                    self.held.values_mut().for_each(|held| held.on[worker] = false);
                    self.lingering[worker] = Default::default();
                }
            }
            ServiceDeed::RunOn { name, lcore } => self.map(name, lcore, true),
            ServiceDeed::Leave { name, lcore } => self.map(name, lcore, false),
            ServiceDeed::Watch { name } => self.watch(name),
            ServiceDeed::TakePanic { name } => self.take_panic(name),
            ServiceDeed::Drop { name } => self.drop_service(name),
            ServiceDeed::Forget { name } => {
                if let Some(held) = self.held.get_mut(&name) {
                    held.forgotten = true;
                }
            }
            ServiceDeed::Launch { lcore } => {
                let id = self.context.lcores[usize::from(lcore)];
                let result = lcore::scope(self.eal, |scope| {
                    scope.launch(id, move || id).map(|handle| handle.join().expect("it does not panic"))
                });
                match result.expect("nothing panics") {
                    Ok(ran) => assert!(lcore > 0 && ran == id && !self.is_core(lcore)),
                    Err(LaunchError::Main(_)) => assert_eq!(lcore, 0),
                    Err(_) => assert!(self.is_core(lcore), "{id} is free"),
                }
            }
            ServiceDeed::Pool => {
                let (pool, name) = self.pool();
                drop(pool);
                // As long as an lcore may be inside DPDK, no pool is given back.
                let open = self.cores.iter().any(Option::is_some) || self.held.values().any(|held| !held.has_ended());
                assert_eq!(raw::pool_exists(&name), open, "pool {name} is there");
            }
        }
    }

    /// Whether one of the EAL's lcores, by place, is a service core.
    fn is_core(&self, lcore: u8) -> bool {
        let worker = usize::from(lcore).checked_sub(1);
        worker.is_some_and(|worker| self.cores[worker].is_some())
    }

    fn next_name(&mut self) -> String {
        self.made += 1;
        made_name(self.number, self.made - 1)
    }

    fn pool(&mut self) -> (Mempool, String) {
        let name = self.next_name();
        let pool = Mempool::builder(name.as_str()).size(RING as u32).cache(0).data_room(256).build(self.eal);
        (pool.expect("there is memory for a small pool"), name)
    }

    fn register(&mut self, number: u8, closure: Closure) {
        let passage = (closure == Closure::Pass && !self.held.contains_key(&number)).then(|| {
            let ring = |name| Ring::builder(name).capacity(RING as u32).build(self.eal).expect("there is memory");
            let name = self.next_name();
            let (input, output) = (ring(format!("{name}i")), ring(format!("{name}o")));
            Passage { input, output, pool: self.pool().0, expected: VecDeque::new() }
        });
        let (calls, callers, captured) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default(), Arc::new(()));
        let weak = Arc::downgrade(&captured);
        let rings = passage.as_ref().map(|passage| (passage.input.clone(), passage.output.clone()));
        // One that is refused would panic here.
        let bad = closure == Closure::BadDrop && !self.held.contains_key(&number);
        let bad = bad.then(|| BadDrop(Arc::clone(&captured)));
        let (count, seen) = (Arc::clone(&calls), Arc::clone(&callers));
        let lcores = self.context.lcores;
        let registered = self.eal.register_service(&name(number), move || {
            let _ = (&captured, &bad);
            let here = lcore::current().expect("a service core is an lcore");
            let place = lcores.iter().position(|lcore| *lcore == here).expect("it is one of the EAL's");
            seen.fetch_or(1 << place, SeqCst);
            let calls = count.fetch_add(1, SeqCst) + 1;
            match closure {
                Closure::Panic if calls == LAST_CALL => panic_on_purpose(),
                Closure::PanicTwice if calls == LAST_CALL => {
                    std::panic::resume_unwind(Box::new(BadDrop(Arc::new(()))));
                }
                Closure::Idle => Activity::Idle,
                Closure::Pass => {
                    let (input, output) = rings.as_ref().expect("there are rings for it");
                    let Some(packet) = input.dequeue() else { return Activity::Idle };
                    output.enqueue(packet).expect("there are no more packets than a ring holds");
                    Activity::Busy
                }
                _ => Activity::Busy,
            }
        });
        match registered {
            Ok(service) => {
                assert!(!self.held.contains_key(&number), "registered twice");
                let held = Held {
                    service,
                    closure,
                    calls,
                    callers,
                    captured: weak,
                    on: [false; WORKERS],
                    rest: None,
                    reported: false,
                    forgotten: false,
                    passage,
                };
                self.held.insert(number, held);
            }
            Err(error) => {
                assert_eq!(error, ServiceError::Taken(name(number)));
                assert!(self.held.contains_key(&number));
            }
        }
    }

    fn start(&mut self, lcore: u8) {
        let id = self.context.lcores[usize::from(lcore)];
        match ServiceCore::start(self.eal, id) {
            Ok(core) => {
                assert!(lcore > 0 && !self.is_core(lcore), "{id} became a service core");
                assert_eq!(core.id(), id);
                self.cores[usize::from(lcore) - 1] = Some(core);
            }
            Err(ServiceError::Main(_)) => assert_eq!(lcore, 0),
            Err(error) => {
                assert_eq!(error, ServiceError::Busy(id));
                assert!(self.is_core(lcore), "{id} is free");
            }
        }
    }

    fn map(&mut self, number: u8, lcore: u8, on: bool) {
        let is_core = self.is_core(lcore);
        let id = self.context.lcores[usize::from(lcore)];
        let Some(held) = self.held.get_mut(&number).filter(|held| !held.forgotten) else { return };
        let result = if on { held.service.run_on(id) } else { held.service.leave(id) };
        if !is_core {
            assert_eq!(result, Err(ServiceError::NotServiceCore(id)));
            return;
        }
        assert_eq!(result, Ok(()));
        let worker = usize::from(lcore) - 1;
        self.lingering[worker][usize::from(number)] |= held.on[worker] && !on;
        held.on[worker] = on;
    }

    /// Whether a core may call it: since it was put there, or because its round has not ended.
    fn may_be_called(&self, number: u8, held: &Held) -> bool {
        let lingers = self.lingering.iter().any(|names| names[usize::from(number)]);
        held.on.contains(&true) || lingers
    }

    fn watch(&mut self, number: u8) {
        let lingers = self.lingering.iter().any(|names| names[usize::from(number)]);
        let Some(held) = self.held.get_mut(&number) else { return };
        if !held.on.contains(&true) {
            return;
        }
        if held.closure.panics() {
            until("a closure that panics is dropped", || held.has_ended());
            assert_eq!(held.calls.load(SeqCst), LAST_CALL, "calls");
            return;
        }
        held.callers.store(0, SeqCst);
        let (before, stats) = (held.calls.load(SeqCst), held.service.stats());
        until("a closure is called", || held.calls.load(SeqCst) > before + 2);
        until("its calls are counted", || held.service.stats().calls > stats.calls);
        if !lingers {
            let allowed = held.on.iter().enumerate().filter(|(_, on)| **on).map(|(worker, _)| 2 << worker);
            let callers = held.callers.load(SeqCst);
            assert_eq!(callers & !allowed.sum::<u64>(), 0, "called by lcores {callers:b}, on {:?}", held.on);
        }
        if let Some(passage) = &mut held.passage {
            passage.pass(before as u8);
        }
    }

    fn take_panic(&mut self, number: u8) {
        let Some(held) = self.held.get(&number).filter(|held| !held.forgotten) else { return };
        let (panics, is_on) = (held.closure.panics() && !held.reported, held.on.contains(&true));
        if panics && !is_on && self.may_be_called(number, held) {
            // Nobody knows.
            return;
        }
        let held = self.held.get_mut(&number).expect("as before");
        let mut panicked = held.service.take_panic();
        if panics && is_on {
            until("a closure panics", || {
                panicked = panicked.take().or_else(|| held.service.take_panic());
                panicked.is_some()
            });
            assert!(held.has_ended(), "the closure is not dropped");
        }
        assert_eq!(panicked.is_some(), panics && held.has_ended(), "{:?} has panicked", held.closure);
        let Some(panicked) = panicked else { return };
        held.reported = true;
        assert!(self.context.lcores[1..].contains(&panicked.lcore()));
        let payload: Box<dyn Any + Send> = panicked.into_payload().expect("nobody else has asked");
        if held.closure == Closure::Panic {
            assert!(payload.is::<OnPurpose>());
        } else {
            assert!(catch(|| drop(payload)).is_err());
        }
    }

    fn drop_service(&mut self, number: u8) {
        if self.held.get(&number).is_none_or(|held| held.forgotten) {
            return;
        }
        let held = self.held.remove(&number).expect("as before");
        let Held { service, captured, on, calls, .. } = held;
        drop(service);
        assert_eq!(captured.strong_count(), 0, "the closure is not dropped");
        // Nobody else counts any more.
        assert_eq!(Arc::strong_count(&calls), 1);
        for (worker, on) in on.into_iter().enumerate() {
            self.lingering[worker][usize::from(number)] |= on;
        }
    }

    fn verify(&mut self) {
        let expected = self.cores.iter().flatten().map(ServiceCore::id);
        assert_eq!(cores(self.eal), expected.collect::<Vec<_>>(), "service cores");
        let workers = (1..=WORKERS as u8).filter(|lcore| !self.is_core(*lcore));
        let workers: Vec<_> = workers.map(|lcore| self.context.lcores[usize::from(lcore)]).collect();
        assert_eq!(self.eal.worker_lcores().iter().map(|lcore| lcore.id()).collect::<Vec<_>>(), workers);
        let lingering = self.lingering;
        for (number, held) in &mut self.held {
            let lingers = lingering.iter().any(|names| names[usize::from(*number)]);
            let calls = held.calls.load(SeqCst);
            if held.on.contains(&true) || lingers {
                held.rest = None;
            } else {
                assert_eq!(*held.rest.get_or_insert(calls), calls, "service {number} is called, and on no core");
            }
            assert!(!held.has_ended() || held.closure.panics(), "the closure of service {number} is gone");
        }
    }
}

impl Passage {
    /// Sends a packet through, while a core calls the closure; those from before come first.
    fn pass(&mut self, mark: u8) {
        let mut packet = self.pool.alloc().expect("all packets are back");
        packet.append(60).expect("there is room").fill(mark);
        self.input.enqueue(packet).expect("the ring is empty, or soon");
        self.expected.push_back(mark);
        while let Some(mark) = self.expected.pop_front() {
            let mut arrived = None;
            until("a packet comes through a service", || {
                arrived = self.output.dequeue();
                arrived.is_some()
            });
            assert_eq!(arrived.expect("it has arrived").data(), [mark; 60]);
        }
        assert_eq!(self.pool.available(), RING);
    }
}
