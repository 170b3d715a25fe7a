// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The objects that a thread has in its hands, each with its model beside it.

use crate::{
    asks::{SelectionHeld, WatchHeld},
    context::Context,
    holders::{AnyBuffer, AnyBurst},
    model::{DeviceToken, Frame, PoolToken, lock},
};
use dpdk_rs::{
    Mempool, Packet, Port, PrivateData, RxQueue, StoppedRxQueue, StoppedTxQueue, TxQueue,
    port::{Configured, Started, Unconfigured},
};
use std::{fmt::Debug, sync::Arc};

/// A type of private data.
pub(crate) trait Kind: PrivateData + Debug {
    fn shelf(hands: &mut Hands) -> &mut Shelf<Self>;
}

/// How many there are.
pub(crate) const KINDS: u8 = 4;

/// Evaluates an expression in which `$name` is the kind with a number.
macro_rules! with_kind {
    ($number:expr, $name:ident => $body:expr) => {
        match $number % 4 {
            0 => {
                type $name = ();
                $body
            }
            1 => {
                type $name = u64;
                $body
            }
            2 => {
                type $name = [u8; 13];
                $body
            }
            _ => {
                type $name = [u64; 40];
                $body
            }
        }
    };
}
pub(crate) use with_kind;

/// Everything that one thread may use.
#[derive(Default)]
pub(crate) struct Hands {
    pub(crate) ports: Vec<PortHeld<Unconfigured>>,
    none: Shelf<()>,
    word: Shelf<u64>,
    odd: Shelf<[u8; 13]>,
    wide: Shelf<[u64; 40]>,
}

impl Kind for () {
    fn shelf(hands: &mut Hands) -> &mut Shelf<Self> {
        &mut hands.none
    }
}

impl Kind for u64 {
    fn shelf(hands: &mut Hands) -> &mut Shelf<Self> {
        &mut hands.word
    }
}

impl Kind for [u8; 13] {
    fn shelf(hands: &mut Hands) -> &mut Shelf<Self> {
        &mut hands.odd
    }
}

impl Kind for [u64; 40] {
    fn shelf(hands: &mut Hands) -> &mut Shelf<Self> {
        &mut hands.wide
    }
}

impl Hands {
    /// Takes some of the objects.
    pub(crate) fn take(&mut self, mask: u32) -> Self {
        Self {
            ports: take(&mut self.ports, mask),
            none: self.none.take(mask),
            word: self.word.take(mask.rotate_left(8)),
            odd: self.odd.take(mask.rotate_left(16)),
            wide: self.wide.take(mask.rotate_left(24)),
        }
    }

    /// Adds all objects of `other`.
    pub(crate) fn put(&mut self, mut other: Self) {
        self.ports.append(&mut other.ports);
        self.none.put(other.none);
        self.word.put(other.word);
        self.odd.put(other.odd);
        self.wide.put(other.wide);
    }

    pub(crate) fn verify(&self, context: &Context) {
        self.none.verify(context);
        self.word.verify(context);
        self.odd.verify(context);
        self.wide.verify(context);
    }

    /// All objects, one by one.
    pub(crate) fn into_things(self) -> Vec<Box<dyn Thing>> {
        let mut things = Vec::new();
        boxed(self.ports, &mut things);
        self.none.into_things(&mut things);
        self.word.into_things(&mut things);
        self.odd.into_things(&mut things);
        self.wide.into_things(&mut things);
        things
    }
}

/// The objects of one kind.
pub(crate) struct Shelf<P: Kind> {
    pub(crate) packets: Vec<PacketHeld<P>>,
    pub(crate) bursts: Vec<BurstHeld<P>>,
    pub(crate) buffers: Vec<BufferHeld<P>>,
    pub(crate) rx: Vec<RxHeld<P>>,
    pub(crate) tx: Vec<TxHeld>,
    pub(crate) stopped_rx: Vec<StoppedRxHeld<P>>,
    pub(crate) stopped_tx: Vec<StoppedTxHeld>,
    pub(crate) started: Vec<PortHeld<Started<P>>>,
    pub(crate) configured: Vec<PortHeld<Configured<P>>>,
    pub(crate) selections: Vec<SelectionHeld>,
    pub(crate) watches: Vec<WatchHeld>,
    pub(crate) pools: Vec<PoolHeld<P>>,
}

impl<P: Kind> Default for Shelf<P> {
    fn default() -> Self {
        Self {
            packets: Vec::new(),
            bursts: Vec::new(),
            buffers: Vec::new(),
            rx: Vec::new(),
            tx: Vec::new(),
            stopped_rx: Vec::new(),
            stopped_tx: Vec::new(),
            started: Vec::new(),
            configured: Vec::new(),
            selections: Vec::new(),
            watches: Vec::new(),
            pools: Vec::new(),
        }
    }
}

impl<P: Kind> Shelf<P> {
    fn take(&mut self, mask: u32) -> Self {
        Self {
            packets: take(&mut self.packets, mask),
            bursts: take(&mut self.bursts, mask.rotate_left(1)),
            buffers: take(&mut self.buffers, mask.rotate_left(2)),
            rx: take(&mut self.rx, mask.rotate_left(3)),
            tx: take(&mut self.tx, mask.rotate_left(4)),
            stopped_rx: take(&mut self.stopped_rx, mask.rotate_left(3)),
            stopped_tx: take(&mut self.stopped_tx, mask.rotate_left(4)),
            started: take(&mut self.started, mask.rotate_left(5)),
            configured: take(&mut self.configured, mask.rotate_left(6)),
            selections: take(&mut self.selections, mask.rotate_left(1)),
            watches: take(&mut self.watches, mask.rotate_left(2)),
            pools: take(&mut self.pools, mask.rotate_left(7)),
        }
    }

    fn put(&mut self, mut other: Self) {
        self.packets.append(&mut other.packets);
        self.bursts.append(&mut other.bursts);
        self.buffers.append(&mut other.buffers);
        self.rx.append(&mut other.rx);
        self.tx.append(&mut other.tx);
        self.stopped_rx.append(&mut other.stopped_rx);
        self.stopped_tx.append(&mut other.stopped_tx);
        self.started.append(&mut other.started);
        self.configured.append(&mut other.configured);
        self.selections.append(&mut other.selections);
        self.watches.append(&mut other.watches);
        self.pools.append(&mut other.pools);
    }

    fn verify(&self, context: &Context) {
        self.packets.iter().for_each(|packet| packet.verify(context));
        self.bursts.iter().for_each(|burst| burst.verify(context));
        self.buffers.iter().for_each(|buffer| buffer.verify(context));
        self.selections.iter().for_each(|selection| selection.verify(context));
        self.watches.iter().for_each(|watch| watch.verify(context));
        self.pools.iter().for_each(|pool| pool.verify(context));
    }

    fn into_things(self, things: &mut Vec<Box<dyn Thing>>) {
        boxed(self.packets, things);
        boxed(self.bursts, things);
        boxed(self.buffers, things);
        boxed(self.rx, things);
        boxed(self.tx, things);
        boxed(self.stopped_rx, things);
        boxed(self.stopped_tx, things);
        boxed(self.started, things);
        boxed(self.configured, things);
        boxed(self.selections, things);
        boxed(self.watches, things);
        boxed(self.pools, things);
    }
}

/// Takes the items whose number has its bit set in `mask`.
fn take<T>(from: &mut Vec<T>, mask: u32) -> Vec<T> {
    let mut place = 0;
    let chosen = |_: &mut T| {
        place += 1;
        mask >> ((place - 1) % 32) & 1 == 1
    };
    from.extract_if(.., chosen).collect()
}

fn boxed<T: Thing + 'static>(from: Vec<T>, to: &mut Vec<Box<dyn Thing>>) {
    to.extend(from.into_iter().map(|thing| Box::new(thing) as Box<dyn Thing>));
}

/// The place of the object that a number chooses, if there is any. 0 is the newest.
pub(crate) fn pick<T>(from: &[T], number: u8) -> Option<usize> {
    usize::from(number).checked_rem(from.len()).map(|back| from.len() - 1 - back)
}

/// The object that a number chooses.
pub(crate) fn choose<T>(from: &[T], number: u8) -> Option<&T> {
    from.get(pick(from, number)?)
}

/// As [`choose`], to be changed.
pub(crate) fn choose_mut<T>(from: &mut [T], number: u8) -> Option<&mut T> {
    from.get_mut(pick(from, number)?)
}

/// An object and its model: both are dropped, or forgotten, together.
pub(crate) trait Thing: Send {
    /// Compares the object with its model.
    fn verify(&self, _context: &Context) {}
}

pub(crate) struct PoolHeld<P: Kind> {
    pub(crate) pool: Mempool<P>,
    pub(crate) token: PoolToken,
}

impl<P: Kind> Thing for PoolHeld<P> {
    fn verify(&self, context: &Context) {
        let record = &self.token.record;
        assert_eq!((self.pool.size(), self.pool.data_room()), (record.size, record.data_room));
        if context.is_quiet() {
            let available = self.pool.available();
            assert_eq!(
                available,
                record.size - record.out(),
                "available in pool {}, {} out",
                record.name,
                record.out()
            );
        }
    }
}

pub(crate) struct PacketHeld<P: Kind> {
    pub(crate) packet: Packet<P>,
    pub(crate) frame: Frame,
}

impl<P: Kind> Thing for PacketHeld<P> {
    fn verify(&self, context: &Context) {
        self.frame.verify(&self.packet, context.is_quiet());
    }
}

pub(crate) struct BurstHeld<P: Kind> {
    pub(crate) burst: AnyBurst<P>,
    pub(crate) frames: Vec<Frame>,
}

impl<P: Kind> Thing for BurstHeld<P> {
    fn verify(&self, context: &Context) {
        assert_eq!(self.burst.packets().len(), self.frames.len());
        let room = self.burst.capacity() - self.frames.len();
        assert_eq!(self.burst.remaining_capacity(), room);
        for (packet, frame) in self.burst.packets().iter().zip(&self.frames) {
            frame.verify(packet, context.is_quiet());
        }
    }
}

pub(crate) struct RxHeld<P: Kind> {
    pub(crate) queue: RxQueue<P>,
    pub(crate) token: Arc<DeviceToken>,
}

impl<P: Kind> Thing for RxHeld<P> {}

pub(crate) struct TxHeld {
    pub(crate) queue: TxQueue,
    pub(crate) token: Arc<DeviceToken>,
}

impl Thing for TxHeld {}

pub(crate) struct StoppedRxHeld<P: Kind> {
    pub(crate) queue: StoppedRxQueue<P>,
    pub(crate) token: Arc<DeviceToken>,
}

impl<P: Kind> Thing for StoppedRxHeld<P> {}

pub(crate) struct StoppedTxHeld {
    pub(crate) queue: StoppedTxQueue,
    pub(crate) token: Arc<DeviceToken>,
}

impl Thing for StoppedTxHeld {}

pub(crate) struct BufferHeld<P: Kind> {
    pub(crate) buffer: AnyBuffer<P>,
    pub(crate) waiting: Vec<Frame>,
    pub(crate) token: Arc<DeviceToken>,
    /// The number of its queue.
    pub(crate) queue: u16,
    pub(crate) burst: usize,
    /// What waits is sent by `drain` after an hour, not at once.
    pub(crate) hours: bool,
}

impl<P: Kind> Thing for BufferHeld<P> {
    fn verify(&self, _context: &Context) {
        assert_eq!((self.buffer.len(), self.buffer.is_empty()), (self.waiting.len(), self.waiting.is_empty()));
    }
}

pub(crate) struct PortHeld<S> {
    pub(crate) port: Port<S>,
    pub(crate) token: Arc<DeviceToken>,
}

impl<S: Send> Thing for PortHeld<S> {
    fn verify(&self, _context: &Context) {
        assert_eq!(self.port.name(), self.token.record.name);
        assert!(lock(&self.token.record.stage).eq(&crate::model::Stage::Taken));
    }
}
