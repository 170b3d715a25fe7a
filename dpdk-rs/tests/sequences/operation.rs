// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a sequence is made of: plain data, so that it can be drawn at random, made smaller and printed.
//!
//! Numbers that choose an object count from the newest back, and round: 4 is the one before the newest of three. An
//! operation for which there is no object does nothing.

use crate::{
    asks::Ask, combinations::CombinationPlan, commands::CommandPlan, devices::DevicePlan, flows::RulePlan,
    fragments::FragmentPlan, hops::HopPlan, lists::ListPlan, marks::Mark, meters::MeterPlan, names::NamePlan,
    owners::OwnerPlan, pages::PagePlan, pinned::PinnedPlan, plugs::PlugPlan, requests::Preparation, routes::RoutePlan,
    services::ServicePlan, shifts::Work, singles::StoppedEnd, streams::StreamPlan, tables::TablePlan,
    timers::TimerPlan, windows::WindowPlan, zones::ZonePlan,
};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;

/// A whole sequence: something to work with, then anything.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    pub(crate) steps: Vec<Step>,
    /// In which order what is left is dropped.
    pub(crate) order: Vec<u8>,
}

/// The longest sequence has this many steps behind its beginning.
const STEPS: usize = 48;

pub(crate) fn sequences() -> impl Strategy<Value = Sequence> {
    (beginning(), vec(any::<Step>(), 0..STEPS), vec(any::<u8>(), 0..16)).prop_map(|(mut steps, rest, order)| {
        steps.extend(rest);
        Sequence { steps, order }
    })
}

/// Pools, started ports, packets and bursts, for most of the steps need some of them.
fn beginning() -> impl Strategy<Value = Vec<Step>> {
    let pool = (shelf(), any::<PoolPlan>(), any::<bool>()).prop_map(|(on, plan, sound)| {
        Step::Pool(if sound { PoolPlan { on, size: 255, cache: 32, data_room: 2176, ..plan } } else { plan })
    });
    let devices = vec(any::<DevicePlan>().prop_map(Step::Attach), 0..4);
    let ports = vec((shelf(), shelf(), any::<u8>()), 0..6).prop_map(|ports| {
        let start = |(on, to, _): &(u8, u8, u8)| act(*on, Deed::Start { port: 0, to: *to });
        // One stays as it is for now.
        let starts: Vec<Step> = ports.iter().skip(1).map(start).collect();
        let configure = |(on, _, pool)| act(on, Deed::Configure(PortPlan { pool, ..PortPlan::PLAIN }));
        // A few of the queues are stopped, where that is possible, and some of these given back before their port is stopped.
        let stop = |(on, to, pool): &(u8, u8, u8)| {
            let stops = [act(*on, Deed::StopRx { queue: 0 }), act(*to, Deed::StopTx { queue: 0 })];
            let starts = [act(*on, Deed::StartRx { queue: 0 }), act(*to, Deed::StartTx { queue: 0 })];
            let ends = [
                act(*on, Deed::EndStoppedRx { queue: 0, end: StoppedEnd::GiveBack }),
                act(*to, Deed::EndStoppedTx { queue: 0, end: StoppedEnd::GiveBack }),
                act(*on, Deed::Stop { port: pool >> 4, queues: Returned::All }),
            ];
            match pool % 8 {
                0 => stops.to_vec(),
                1 => [&stops[..], &ends[..]].concat(),
                4 => [&stops[..], &starts[..]].concat(),
                // Of others counters are chosen and events watched, to be read and ended later.
                2 => {
                    vec![act(*on, Deed::Ask { port: *to, ask: Ask::Select { mask: u64::from(*pool), unknown: false } })]
                }
                3 => vec![act(*on, Deed::Ask { port: *to, ask: Ask::Watch { event: *pool >> 6 } })],
                _ => Vec::new(),
            }
        };
        let stops: Vec<Step> = ports.iter().flat_map(stop).collect();
        [vec![Step::TakePorts], ports.into_iter().map(configure).collect(), starts, stops].concat()
    });
    let packets = vec((shelf(), any::<u8>(), any::<Length>()), 0..8).prop_map(|packets| {
        let one = |(on, pool, len)| [act(on, Deed::Alloc { pool }), act(on, Deed::Append { packet: 0, len })];
        packets.into_iter().flat_map(one).collect()
    });
    let bursts = vec((shelf(), any::<u8>(), any::<u8>()), 0..6).prop_map(|bursts| {
        let fill = |(on, capacity, pool): (u8, u8, u8)| {
            [act(on, Deed::Burst { capacity }), act(on, Deed::AllocBulk { pool, burst: 0, most: Some(5) })]
        };
        bursts.into_iter().flat_map(fill).collect()
    });
    (vec(pool, 1..5), devices, ports, packets, bursts)
        .prop_map(|(pools, devices, ports, packets, bursts)| [pools, devices, ports, packets, bursts].concat())
}

/// A type of private data, by the number of its shelf. Few are drawn often, so that objects meet.
fn shelf() -> impl Strategy<Value = u8> {
    prop_oneof![5 => Just(0), 4 => Just(1), 2 => Just(2), 1 => Just(3)]
}

/// Which of many objects are taken: a quarter of them.
pub(crate) fn mask() -> impl Strategy<Value = u32> {
    (any::<u32>(), any::<u32>()).prop_map(|(one, other)| one & other)
}

fn act(on: u8, deed: Deed) -> Step {
    Step::Act(Act { on, deed })
}

/// What is done where the EAL is, on the main lcore.
#[derive(Arbitrary, Clone, Debug)]
pub(crate) enum Step {
    #[proptest(weight = 20_000)]
    Act(Act),
    #[proptest(weight = 800)]
    Pool(PoolPlan),
    #[proptest(weight = 400)]
    Attach(#[proptest(strategy = "any::<DevicePlan>().boxed()")] DevicePlan),
    #[proptest(weight = 400)]
    TakePorts,
    /// Closures on lcores and threads, while the main lcore does something else.
    #[proptest(weight = 1_500)]
    Work(Work),
    /// Some of the objects are dropped by a panic.
    #[proptest(weight = 300)]
    Panic {
        #[proptest(strategy = "mask()")]
        mask: u32,
    },
    /// Hash tables, a ring and a pool of objects, made for this step.
    #[proptest(weight = 400)]
    Tables(#[proptest(strategy = "any::<TablePlan>().boxed()")] TablePlan),
    /// A table of routes, which takes 64 MiB: few of them.
    #[proptest(weight = 15)]
    Routes(#[proptest(strategy = "any::<RoutePlan>().boxed()")] RoutePlan),
    /// A forwarding table of 16 to 64 MiB, or a tree: few of them.
    #[proptest(weight = 40)]
    Hops(#[proptest(strategy = "any::<HopPlan>().boxed()")] HopPlan),
    #[proptest(weight = 100)]
    Meters(#[proptest(strategy = "any::<MeterPlan>().boxed()")] MeterPlan),
    /// An access control list.
    #[proptest(weight = 100)]
    List(#[proptest(strategy = "any::<ListPlan>().boxed()")] ListPlan),
    #[proptest(weight = 200)]
    Timers(#[proptest(strategy = "any::<TimerPlan>().boxed()")] TimerPlan),
    #[proptest(weight = 200)]
    Zones(#[proptest(strategy = "any::<ZonePlan>().boxed()")] ZonePlan),
    /// Objects of all kinds, with names of DPDK's own and sizes at the borders.
    #[proptest(weight = 200)]
    Names(#[proptest(strategy = "any::<NamePlan>().boxed()")] NamePlan),
    /// Pools in memory of the program, and caches of threads.
    #[proptest(weight = 300)]
    Pinned(#[proptest(strategy = "any::<PinnedPlan>().boxed()")] PinnedPlan),
    /// Memory of the program that is registered for devices.
    #[proptest(weight = 150)]
    Pages(#[proptest(strategy = "any::<PagePlan>().boxed()")] PagePlan),
    /// Datagrams, their fragments, and a table of these.
    #[proptest(weight = 200)]
    Fragments(#[proptest(strategy = "any::<FragmentPlan>().boxed()")] FragmentPlan),
    /// TCP packets, their segments, and a table of these.
    #[proptest(weight = 200)]
    Streams(#[proptest(strategy = "any::<StreamPlan>().boxed()")] StreamPlan),
    /// Reorder buffers.
    #[proptest(weight = 200)]
    Windows(#[proptest(strategy = "any::<WindowPlan>().boxed()")] WindowPlan),
    /// Telemetry commands, asked over DPDK's socket.
    #[proptest(weight = 200)]
    Commands(#[proptest(strategy = "any::<CommandPlan>().boxed()")] CommandPlan),
    /// Closures on service cores.
    #[proptest(weight = 120)]
    Services(#[proptest(strategy = "any::<ServicePlan>().boxed()")] ServicePlan),
    /// A device is attached by the safe call.
    #[proptest(weight = 300)]
    Plug(PlugPlan),
    /// A device is detached by the safe call.
    #[proptest(weight = 400)]
    Unplug { device: u8 },
    /// A device that combines others is attached and detached by the safe calls.
    #[proptest(weight = 200)]
    Combine(CombinationPlan),
    /// Devices of six kinds, of which some own others.
    #[proptest(weight = 200)]
    Owners(#[proptest(strategy = "any::<OwnerPlan>().boxed()")] OwnerPlan),
    #[proptest(weight = 40)]
    InitAgain,
    /// Ends the EAL for this process, once everything else is dropped.
    #[proptest(weight = 8)]
    DropEal,
    #[proptest(weight = 4)]
    ForgetEal,
}

/// Something that any thread may do, with the objects of one type of private data.
#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct Act {
    #[proptest(strategy = "shelf()")]
    pub(crate) on: u8,
    // Boxed, as below: the strategy of an enum has room for all its variants at once.
    #[proptest(strategy = "any::<Deed>().boxed()")]
    pub(crate) deed: Deed,
}

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct PoolPlan {
    #[proptest(strategy = "shelf()")]
    pub(crate) on: u8,
    #[proptest(strategy = "0_u8..8")]
    pub(crate) name: u8,
    #[proptest(strategy = "prop_oneof![
        8 => prop::sample::select(&[1_u32, 2, 3, 7, 15]), 12 => prop::sample::select(&[31_u32, 63, 255, 300]), 1 => Just(0_u32),
        1 => Just(1_000_000)]")]
    pub(crate) size: u32,
    #[proptest(
        strategy = "prop_oneof![4 => Just(0_u32), 8 => prop::sample::select(&[1_u32, 8, 32, 200]), 1 => 512_u32..514]"
    )]
    pub(crate) cache: u32,
    #[proptest(strategy = "prop_oneof![
        3 => prop::sample::select(&[0_u16, 1, 127, 128, 129]), 3 => 128_u16..1000,
        6 => prop::sample::select(&[2176_u16, 2048, 9216])]")]
    pub(crate) data_room: u16,
}

/// A configuration, and the pool it receives into: one of the acting shelf.
#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct PortPlan {
    pub(crate) port: u8,
    pub(crate) pool: u8,
    pub(crate) rx: Queues,
    pub(crate) tx: Queues,
    #[proptest(strategy = "prop_oneof![6 => Just(1024_u16), 1 => any::<u16>()]")]
    pub(crate) descriptors: u16,
    #[proptest(strategy = "prop_oneof![6 => Just(None), 1 => any::<u16>().prop_map(Some), 1 => Just(Some(1500))]")]
    pub(crate) mtu: Option<u16>,
    pub(crate) scatter: bool,
    /// Of descriptors, for receiving and for sending.
    #[proptest(strategy = "prop_oneof![6 => Just(None), 1 => (0_u16..2048, 0_u16..2048).prop_map(Some)]")]
    pub(crate) thresholds: Option<(u16, u16)>,
}

impl PortPlan {
    /// What every device can do.
    const PLAIN: Self = Self {
        port: 0,
        pool: 0,
        rx: Queues::Most,
        tx: Queues::Most,
        descriptors: 1024,
        mtu: None,
        scatter: false,
        thresholds: None,
    };
}

/// How many queues.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Queues {
    /// As many as the device has.
    #[proptest(weight = 6)]
    Most,
    #[proptest(weight = 3)]
    Exactly(#[proptest(strategy = "0_u16..3")] u16),
    #[proptest(weight = 1)]
    OneTooMany,
}

/// A number of bytes.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Length {
    #[proptest(weight = 6)]
    Bytes(#[proptest(strategy = "0_u16..300")] u16),
    /// So many more or less than there are.
    #[proptest(weight = 6)]
    Limit(#[proptest(strategy = "-2_i8..3")] i8),
    #[proptest(weight = 1)]
    Huge(#[proptest(strategy = "prop::sample::select(&[65_535_usize, 65_536, 65_546, usize::MAX])")] usize),
}

/// What is done with a whole object.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum End {
    #[proptest(weight = 4)]
    Drop,
    #[proptest(weight = 1)]
    Forget,
}

#[derive(Arbitrary, Clone, Debug)]
pub(crate) enum Deed {
    // Pools.
    #[proptest(weight = 1)]
    CloneHandle { pool: u8 },
    #[proptest(weight = 2)]
    EndHandle { pool: u8, end: End },

    // Packets.
    #[proptest(weight = 8)]
    Alloc { pool: u8 },
    #[proptest(weight = 8)]
    Append { packet: u8, len: Length },
    #[proptest(weight = 5)]
    Prepend { packet: u8, len: Length },
    #[proptest(weight = 4)]
    Adj { packet: u8, len: Length },
    #[proptest(weight = 4)]
    Trim { packet: u8, len: Length },
    #[proptest(weight = 4)]
    Write { packet: u8 },
    #[proptest(weight = 2)]
    WriteSegments { packet: u8 },
    #[proptest(weight = 3)]
    WritePrivate { packet: u8 },
    /// A dynamic field or flag is written.
    #[proptest(weight = 3)]
    Mark { packet: u8, mark: Mark },
    #[proptest(weight = 6)]
    Share {
        packet: u8,
        #[proptest(strategy = "shelf()")]
        to: u8,
        pool: u8,
    },
    #[proptest(weight = 3)]
    Copy {
        packet: u8,
        #[proptest(strategy = "shelf()")]
        to: u8,
        pool: u8,
    },
    #[proptest(weight = 5)]
    Chain {
        packet: u8,
        #[proptest(strategy = "shelf()")]
        from: u8,
        tail: u8,
    },
    #[proptest(weight = 5)]
    Split {
        packet: u8,
        #[proptest(strategy = "shelf()")]
        to: u8,
        pool: u8,
        at: Length,
    },
    #[proptest(weight = 3)]
    Linearize { packet: u8 },
    #[proptest(weight = 3)]
    Attach {
        pool: u8,
        #[proptest(strategy = "0_u16..300")]
        len: u16,
    },
    #[proptest(weight = 3)]
    EndPacket { packet: u8, end: End },

    // Bursts.
    #[proptest(weight = 4)]
    Burst { capacity: u8 },
    #[proptest(weight = 6)]
    AllocBulk { pool: u8, burst: u8, most: Option<u8> },
    #[proptest(weight = 10)]
    Push { packet: u8, burst: u8 },
    #[proptest(weight = 5)]
    Pop { burst: u8 },
    #[proptest(weight = 4)]
    SwapRemove {
        burst: u8,
        #[proptest(strategy = "0_u8..70")]
        index: u8,
    },
    #[proptest(weight = 3)]
    Replace { packet: u8, burst: u8, index: u8 },
    #[proptest(weight = 3)]
    Reverse { burst: u8 },
    /// Takes so many, drops or forgets the iterator.
    #[proptest(weight = 3)]
    Drain {
        burst: u8,
        #[proptest(strategy = "0_u8..70")]
        take: u8,
        end: End,
    },
    /// Keeps those with a bit in `keep`; panics at one of them.
    #[proptest(weight = 4)]
    Retain { burst: u8, keep: u32, grow: bool, panic_at: Option<u8> },
    #[proptest(weight = 5)]
    Move { from: u8, to: u8 },
    #[proptest(weight = 3)]
    Clear { burst: u8 },
    #[proptest(weight = 2)]
    EndBurst { burst: u8, end: End },

    // Queues.
    #[proptest(weight = 16)]
    Rx { queue: u8, burst: u8, most: Option<u8> },
    #[proptest(weight = 16)]
    Tx { queue: u8, burst: u8 },
    #[proptest(weight = 1)]
    EndRx { queue: u8, end: End },
    #[proptest(weight = 1)]
    EndTx { queue: u8, end: End },
    /// A TX queue takes packets of any type.
    #[proptest(weight = 2)]
    HandTx {
        queue: u8,
        #[proptest(strategy = "shelf()")]
        to: u8,
    },

    // Queues that are stopped one by one.
    #[proptest(weight = 3)]
    StopRx { queue: u8 },
    #[proptest(weight = 3)]
    StopTx { queue: u8 },
    #[proptest(weight = 3)]
    StartRx { queue: u8 },
    #[proptest(weight = 3)]
    StartTx { queue: u8 },
    #[proptest(weight = 1)]
    EndStoppedRx { queue: u8, end: StoppedEnd },
    #[proptest(weight = 1)]
    EndStoppedTx { queue: u8, end: StoppedEnd },

    /// Frames with which the device is to do something.
    #[proptest(weight = 5)]
    Prepare(#[proptest(strategy = "any::<Preparation>().boxed()")] Preparation),

    // TX buffers.
    #[proptest(weight = 8)]
    Buffer {
        queue: u8,
        capacity: u8,
        #[proptest(strategy = "0_u8..70")]
        burst: u8,
        hours: bool,
    },
    #[proptest(weight = 8)]
    BufferPush { buffer: u8, packet: u8 },
    #[proptest(weight = 6)]
    BufferAppend { buffer: u8, burst: u8 },
    #[proptest(weight = 3)]
    BufferFlush { buffer: u8 },
    #[proptest(weight = 3)]
    BufferDrain { buffer: u8 },
    #[proptest(weight = 2)]
    BufferIntoQueue { buffer: u8 },
    #[proptest(weight = 1)]
    EndBuffer { buffer: u8, end: End },

    // Ports.
    #[proptest(weight = 2)]
    Configure(#[proptest(strategy = "any::<PortPlan>().boxed()")] PortPlan),
    /// The queues for sending go to shelf `to`.
    #[proptest(weight = 3)]
    Start {
        port: u8,
        #[proptest(strategy = "shelf()")]
        to: u8,
    },
    #[proptest(weight = 1)]
    StartStopped {
        port: u8,
        #[proptest(strategy = "shelf()")]
        to: u8,
    },
    #[proptest(weight = 3)]
    Stop { port: u8, queues: Returned },
    /// A rule for received frames, which none of these devices takes.
    #[proptest(weight = 2)]
    Rule {
        port: u8,
        #[proptest(strategy = "any::<RulePlan>().boxed()")]
        rule: RulePlan,
    },
    #[proptest(weight = 1)]
    SetMtu { port: u8, mtu: u16 },
    #[proptest(weight = 2)]
    Look { port: u8 },
    #[proptest(weight = 4)]
    Ask {
        port: u8,
        #[proptest(strategy = "any::<Ask>().boxed()")]
        ask: Ask,
    },
    #[proptest(weight = 1)]
    AskRx { queue: u8, offset: u16 },
    #[proptest(weight = 1)]
    AskTx { queue: u8, offset: u16 },
    #[proptest(weight = 1)]
    Reset { port: u8 },
    #[proptest(weight = 1)]
    EndSelection { selection: u8, end: End },
    #[proptest(weight = 1)]
    EndWatch { watch: u8, end: End },
    #[proptest(weight = 1)]
    EndUnconfigured { port: u8, end: End },
    #[proptest(weight = 1)]
    EndConfigured { port: u8, end: End, close: bool },
    #[proptest(weight = 1)]
    EndStarted { port: u8, end: End },
}

/// Which queues are handed back to stop a port.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Returned {
    #[proptest(weight = 5)]
    All,
    #[proptest(weight = 1)]
    OneMissing,
    /// One is replaced by a queue of another port.
    #[proptest(weight = 1)]
    OneForeign,
    #[proptest(weight = 1)]
    None,
}
