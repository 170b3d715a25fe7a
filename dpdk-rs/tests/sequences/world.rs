// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! One sequence from its first step to the check that nothing of it is left.

use crate::{
    commands,
    context::{Context, Tally, catch, panic_on_purpose},
    devices::Devices,
    fragments,
    frames::until,
    hops, jobs, lists, meters,
    model::{EnvironmentToken, PoolRecord, PoolToken, Stage, lock},
    names,
    operation::{PoolPlan, Sequence, Step},
    owners, pages, pinned,
    plugs::Plugged,
    raw::{self, Usage},
    routes, services,
    shelf::{Hands, Kind, PoolHeld, PortHeld, Thing, with_kind},
    shifts::Work,
    streams, tables, timers, windows, zones,
};
use dpdk_rs::{Eal, EalError, EalOptions, Mempool, MempoolError, Port, lcore, port::Unconfigured};
use std::{
    fs, mem,
    sync::{Arc, OnceLock, atomic::Ordering},
};

/// What a sequence leaves behind.
pub(crate) struct Remains {
    /// The EAL, for the next sequence, unless it was dropped.
    pub(crate) eal: Option<Eal>,
    /// Pools have lost mbufs for good.
    pub(crate) lost: bool,
}

/// What only the main lcore has.
struct World<'a> {
    number: u64,
    /// The EAL and its token, in the order in which they are dropped.
    eal: Option<(Eal, EnvironmentToken)>,
    forgotten_eal: Option<(Eal, EnvironmentToken)>,
    /// Where DPDK's memory was when the EAL was dropped or forgotten.
    memory: Option<Mapping>,
    hands: Hands,
    devices: Devices,
    context: &'a Context,
    /// Set once everything made from the EAL is gone: to whether DPDK is cleaned up.
    cleaned_up: Arc<OnceLock<bool>>,
}

/// DPDK's errors for a pool.
const EINVAL: i32 = 22;
const EEXIST: i32 = 17;
const ENOMEM: i32 = 12;
const ENOBUFS: i32 = 105;

/// More mbufs than there is memory for, even if they have no room for data. A pool that just fits would leave nothing for others.
const TOO_MANY: u32 = 1_000_000;

/// Carries out a sequence, and checks everything that can be checked. Panics if something is not as it should be.
/// `lost`: so did an earlier one.
pub(crate) fn run(eal: Eal, lost: bool, number: u64, sequence: &Sequence, tally: &Arc<Tally>) -> Remains {
    let heap = raw::live_allocations();
    let before = Usage::now();
    let context = Context::new(&eal, tally);
    let cleaned_up = Arc::default();
    let token = EnvironmentToken::new(&context.pools, &cleaned_up, lost);
    let mut world = World {
        number,
        eal: Some((eal, token)),
        forgotten_eal: None,
        memory: None,
        hands: Hands::default(),
        devices: Devices::new(number),
        context: &context,
        cleaned_up,
    };
    for step in &sequence.steps {
        if world.step(step) {
            context.done(step);
        }
        world.verify();
    }
    let remains = world.end(&sequence.order, before);
    let heap_leaks = context.heap_leaks.load(Ordering::SeqCst);
    // The bytes of each, and what holds them.
    let lost_allocations = 2 * context.lost_buffers.load(Ordering::SeqCst);
    drop(context);
    if number > 0 && remains.eal.is_some() && !heap_leaks {
        // What the alarm after a failed start of a bonding device was given is freed on the thread of alarms.
        until("as many allocations of Rust code are live after a sequence as before", || {
            raw::live_allocations() == heap + lost_allocations
        });
    }
    Remains { lost: lost || remains.lost, ..remains }
}

impl World<'_> {
    /// Carries out a step; whether there was something to do it with.
    fn step(&mut self, step: &Step) -> bool {
        match step {
            Step::Act(act) => self.hands.act(self.context, act),
            Step::Work(work) => self.work(work),
            Step::Panic { mask } => {
                let held = self.hands.take(*mask);
                let result = catch(move || {
                    let _held = held;
                    panic_on_purpose();
                });
                assert!(result.is_err());
            }
            Step::Pool(plan) => return with_kind!(plan.on, P => self.pool::<P>(plan)),
            Step::Attach(plan) => return self.eal.is_some() && self.devices.attach(plan),
            Step::TakePorts => return self.take_ports(),
            Step::Tables(_)
            | Step::Routes(_)
            | Step::Hops(_)
            | Step::Meters(_)
            | Step::List(_)
            | Step::Timers(_)
            | Step::Zones(_)
            | Step::Names(_)
            | Step::Pages(_)
            | Step::Pinned(_)
            | Step::Fragments(_)
            | Step::Streams(_)
            | Step::Windows(_)
            | Step::Commands(_)
            | Step::Services(_) => {
                return self.by_itself(step);
            }
            Step::Plug(plan) => {
                let Some((eal, _)) = &self.eal else { return false };
                match self.devices.plug(eal, *plan) {
                    Plugged::NoRoom => return false,
                    Plugged::Refused => (),
                    Plugged::Ports(ports) => self.hold(ports, plan.take),
                }
            }
            Step::Unplug { device } => {
                let Some((eal, _)) = &self.eal else { return false };
                return self.devices.unplug(eal, *device);
            }
            Step::Combine(plan) => {
                let Some((eal, _)) = &self.eal else { return false };
                return self.devices.combine(eal, *plan);
            }
            Step::Owners(plan) => {
                let Some((eal, _)) = &self.eal else { return false };
                empty_scope(eal);
                self.devices.forgotten += owners::run(eal, self.number, plan);
            }
            Step::InitAgain => {
                let error = Eal::init(EalOptions::new()).expect_err("the EAL was initialized");
                assert_eq!(error, EalError::AlreadyInitialized);
            }
            Step::DropEal | Step::ForgetEal => {
                let Some(eal) = self.eal.take() else {
                    return false;
                };
                self.memory = Mapping::find(raw::heap_address());
                assert!(self.memory.is_some());
                match step {
                    Step::ForgetEal => self.forgotten_eal = Some(eal),
                    _ => drop(eal),
                }
            }
        }
        true
    }

    /// Carries out a step whose objects are made in it and gone behind it.
    fn by_itself(&self, step: &Step) -> bool {
        let Some((eal, _)) = &self.eal else { return false };
        // What can be freed is freed first, so that it does not count.
        empty_scope(eal);
        match step {
            Step::Tables(plan) => tables::run(eal, self.number, plan),
            Step::Routes(plan) => return routes::run(eal, self.number, plan),
            Step::Hops(plan) => return hops::run(eal, self.number, plan),
            Step::Meters(plan) => meters::run(eal, plan),
            Step::List(plan) => lists::run(eal, self.number, plan),
            Step::Timers(plan) => timers::run(eal, self.context, plan),
            Step::Zones(plan) => zones::run(eal, self.number, plan),
            Step::Names(plan) => names::run(eal, self.number, plan),
            Step::Pages(plan) => pages::run(eal, self.number, plan),
            Step::Pinned(plan) => pinned::run(eal, self.number, plan),
            Step::Fragments(plan) => fragments::run(eal, self.number, plan),
            Step::Streams(plan) => streams::run(eal, self.number, plan),
            Step::Windows(plan) => windows::run(eal, self.number, plan),
            Step::Commands(plan) => commands::run(eal, plan),
            Step::Services(plan) => services::run(eal, self.context, self.number, plan),
            _ => return false,
        }
        true
    }

    fn work(&mut self, work: &Work) {
        let eal = self.eal.as_ref().map(|(eal, _)| eal);
        jobs::work(eal, &mut self.hands, self.context, &work.outer, work.inner.as_ref());
        self.flush();
    }

    fn pool<P: Kind>(&mut self, plan: &PoolPlan) -> bool {
        let Some((eal, environment)) = &self.eal else {
            return false;
        };
        let name = format!("{}-{}", self.number, plan.name);
        let in_use = lock(&self.context.pools).iter().any(|pool| pool.name == name && pool.is_needed());
        let limits = plan.size > 0 && plan.cache <= 512 && plan.cache + plan.cache / 2 <= plan.size;
        let build = || {
            let builder = Mempool::<P>::builder(name.as_str()).size(plan.size);
            builder.cache(plan.cache).data_room(plan.data_room).build(eal)
        };
        // What can be freed is freed first, so that it does not count.
        empty_scope(eal);
        let before = Usage::now();
        match build() {
            Ok(pool) => {
                assert!(limits && !in_use && plan.size < TOO_MANY, "{plan:?} was made");
                let private_len = size_of::<P>().next_multiple_of(8);
                let cost = Usage::now().since(before);
                let (size, cache, room) = (plan.size as usize, plan.cache as usize, usize::from(plan.data_room));
                let record = Arc::new(PoolRecord::new(name, size, cache, room, private_len, cost));
                lock(&self.context.pools).push(Arc::clone(&record));
                let token = PoolToken::new(&record, environment);
                P::shelf(&mut self.hands).pools.push(PoolHeld { pool, token });
            }
            Err(MempoolError::Create { errno, .. }) => {
                let expected = match errno.get() {
                    EINVAL => !limits,
                    EEXIST => in_use,
                    ENOMEM | ENOBUFS => plan.size >= TOO_MANY,
                    _ => false,
                };
                assert!(expected, "{plan:?}: {errno}");
                assert_eq!(Usage::now(), before, "a pool that was not made takes memory");
            }
            Err(error) => panic!("{error}"),
        }
        self.retired_pools_are_gone();
        true
    }

    fn take_ports(&mut self) -> bool {
        let Some((eal, _)) = &self.eal else { return false };
        let ports = eal.ports();
        self.hold(ports, true);
        true
    }

    /// Compares the ports that nobody had taken with the model, and takes them or gives them back.
    fn hold(&mut self, ports: Vec<Port<Unconfigured>>, take: bool) {
        let (_, environment) = self.eal.as_ref().expect("it has given the ports");
        let names: Vec<&str> = ports.iter().map(dpdk_rs::Port::name).collect();
        let mut free: Vec<_> = self.devices.with_stage(Stage::Free).collect();
        // In the order of the ports.
        free.sort_unstable_by_key(|device| names.iter().position(|name| *name == device.name));
        assert_eq!(names, free.iter().map(|device| device.name.as_str()).collect::<Vec<_>>(), "free ports");
        if !take {
            return;
        }
        let held = |(port, record)| PortHeld { port, token: crate::model::DeviceToken::new(record, environment) };
        let held: Vec<_> = ports.into_iter().zip(free).map(held).collect();
        self.hands.ports.extend(held);
    }

    fn verify(&self) {
        self.hands.verify(self.context);
        lock(&self.context.attic).iter().for_each(|thing| thing.verify(self.context));
        if self.cleaned_up.get().is_none() {
            for pool in lock(&self.context.pools).iter().filter(|pool| pool.is_needed()) {
                assert!(raw::pool_exists(&pool.name), "pool {} with {} mbufs out is gone", pool.name, pool.out());
            }
            self.devices.verify();
        }
    }

    /// Holds after every call that frees pools, on the main lcore.
    fn retired_pools_are_gone(&self) {
        let pools = lock(&self.context.pools);
        for (number, pool) in pools.iter().enumerate() {
            let again = pools[number + 1..].iter().any(|later| later.name == pool.name);
            if !again {
                assert_eq!(raw::pool_exists(&pool.name), pool.is_needed(), "pool {}, {} out", pool.name, pool.out());
            }
        }
    }

    /// Drops everything, in any order, and compares what is left with what was there before.
    fn end(mut self, order: &[u8], before: Usage) -> Remains {
        let things = mem::take(&mut self.hands).into_things();
        if self.eal.is_some() {
            self.drop_in_order(things, order);
            self.flush();
            self.devices.drain();
            let attic = mem::take(&mut *lock(&self.context.attic));
            self.drop_in_order(attic, order);
            self.flush();
            self.devices.detach();
            assert_eq!(raw::port_names(), [""; 0], "ports that are left");
            // What a forgotten iterator held, and frames in the rings that a driver freed, never come back.
            let costs = |pools: &Vec<Arc<PoolRecord>>| -> Option<Usage> {
                pools.iter().filter(|pool| pool.is_needed()).map(|pool| pool.cost).reduce(Usage::plus)
            };
            let lost = costs(&lock(&self.context.pools));
            let (used, rest, leaks) = (Usage::now().since(before), lost.unwrap_or_default(), self.devices.leaks());
            assert!(used.is(rest, leaks), "DPDK's memory after the sequence: {used:?} more, not {rest:?} and {leaks}");
            return Remains { eal: self.eal.take().map(|(eal, _)| eal), lost: lost.is_some() };
        }
        // Without the EAL nobody gives a pool back before all else is gone, and then the EAL ends.
        if self.cleaned_up.get().is_none() {
            self.devices.drain();
        }
        self.drop_in_order(things, order);
        let attic = mem::take(&mut *lock(&self.context.attic));
        self.drop_in_order(attic, order);
        self.forgotten_eal = None;
        let expected = self.cleaned_up.get().copied().expect("nothing is left that keeps the environment");
        let memory = self.memory.as_ref().expect("found when the EAL was dropped");
        assert_eq!(!memory.is_there(), expected, "the EAL was cleaned up");
        Remains { eal: None, lost: true }
    }

    fn drop_in_order(&self, mut things: Vec<Box<dyn Thing>>, order: &[u8]) {
        let mut order = order.iter().copied().chain([0]).cycle();
        while !things.is_empty() {
            let place = usize::from(order.next().unwrap_or_default()) % things.len();
            drop(things.swap_remove(place));
            things.iter().for_each(|thing| thing.verify(self.context));
        }
    }

    fn flush(&self) {
        if let Some((eal, _)) = &self.eal {
            empty_scope(eal);
            self.retired_pools_are_gone();
        }
    }
}

/// Pools without a handle are freed when a scope ends.
pub(crate) fn empty_scope(eal: &Eal) {
    lcore::scope(eal, |_| ()).expect("nothing was launched");
}

/// A part of the process's address space.
struct Mapping {
    address: usize,
    /// The two ends, as the kernel writes them.
    range: String,
}

impl Mapping {
    /// The part with an address, if it is mapped.
    fn find(address: usize) -> Option<Self> {
        let maps = fs::read_to_string("/proc/self/maps").expect("Linux has this file");
        let holds = |range: &&str| {
            let (start, end) = range.split_once('-').expect("a range has two ends");
            let number = |text| usize::from_str_radix(text, 16).expect("ends are hexadecimal");
            (number(start)..number(end)).contains(&address)
        };
        let range = maps.lines().filter_map(|line| line.split(' ').next()).find(holds)?.to_owned();
        Some(Self { address, range })
    }

    /// Whether it is mapped as before. Something else may lie there by now.
    fn is_there(&self) -> bool {
        Self::find(self.address).is_some_and(|now| now.range == self.range)
    }
}
