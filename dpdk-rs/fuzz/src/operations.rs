// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Packets under any sequence of operations, compared with the model after each.

use crate::{
    environment::eal,
    model::{Frame, Pool},
    reader::Reader,
};
use dpdk_rs::{Burst, Mempool, Packet, PacketError, Port, PortConfig, RxQueue, TxQueue, device::Ring, port::Started};
use std::cell::RefCell;

/// What packets are made from: mbufs with little room, with more, and with none of their own.
const POOLS: [(&str, u32, u16); 3] = [("short", 31, 128 + 40), ("long", 15, 128 + 300), ("none", 15, 0)];
const SLOTS: usize = 6;
const BURST: usize = 5;
/// Lengths that would wrap as 16 bits, or as 32.
const EXTREMES: [usize; 6] = [0xffff, 0x1_0000, 0x1_000a, 0xffff_ffff, 1 << 32 | 10, usize::MAX];

/// The real things. Made once for all inputs.
struct Laboratory {
    pools: Vec<Mempool<u64>>,
    // In the order of their drops.
    rx: RxQueue<u64>,
    tx: TxQueue,
    _port: Port<Started<u64>>,
}

impl Laboratory {
    fn new() -> Self {
        let eal = eal(&[Ring::new(0).into()]);
        let pools: Vec<Mempool<u64>> = POOLS
            .iter()
            .map(|(name, size, room)| {
                // Without a cache, every mbuf that is not in use is available.
                let pool = Mempool::builder(*name).size(*size).cache(0).data_room(*room);
                pool.build(eal).expect("the pool can be made")
            })
            .collect();
        let pool: Mempool<u64> = Mempool::builder("port").size(15).cache(0).build(eal).expect("the pool can be made");
        let port = eal.ports().pop().expect("there is a port");
        let port = port.configure(&PortConfig::default(), &pool).expect("the port can be configured");
        let (port, mut rx, mut tx) = port.start().expect("the port can be started");
        let (rx, tx) = rx.pop().zip(tx.pop()).expect("the port has a queue each way");
        Self { pools, rx, tx, _port: port }
    }
}

/// A packet and what it should be.
type Pair = (Packet<u64>, Frame);

/// A burst and what should be in it.
#[derive(Default)]
struct Bundle {
    burst: Burst<u64, BURST>,
    frames: Vec<Frame>,
}

impl Bundle {
    fn compare(&self) {
        assert_eq!((self.burst.len(), self.burst.remaining_capacity()), (self.frames.len(), BURST - self.frames.len()));
        self.frames.iter().zip(&self.burst).for_each(|(frame, packet)| frame.compare(packet));
    }

    fn push(&mut self, (packet, frame): Pair) -> Option<Pair> {
        match self.burst.push(packet) {
            Ok(()) => {
                self.frames.push(frame);
                None
            }
            Err(packet) => {
                assert_eq!(self.frames.len(), BURST, "the burst had room");
                Some((packet, frame))
            }
        }
    }
}

struct Experiment<'a> {
    laboratory: &'a mut Laboratory,
    pools: Vec<Pool>,
    slots: [Option<Pair>; SLOTS],
    bundles: [Bundle; 2],
    /// Different for each operation: what it writes can be told from what others wrote.
    mark: u8,
}

/// Runs the operations that `data` stands for, on packets of three pools, in slots and bursts.
pub fn packet_operations(data: &[u8]) {
    thread_local! {
        static LABORATORY: RefCell<Option<Laboratory>> = const { RefCell::new(None) };
    }
    LABORATORY.with_borrow_mut(|laboratory| {
        let laboratory = laboratory.get_or_insert_with(Laboratory::new);
        let mut experiment = Experiment::new(laboratory);
        let mut reader = Reader::new(data);
        while !reader.is_empty() {
            experiment.operate(&mut reader);
            experiment.compare();
        }
        drop(experiment);
        for pool in &laboratory.pools {
            assert_eq!(pool.available(), pool.size(), "mbufs are missing");
        }
    });
}

impl<'a> Experiment<'a> {
    fn new(laboratory: &'a mut Laboratory) -> Self {
        let pools = POOLS.iter().map(|(_, size, room)| Pool::new(*size as usize, usize::from(*room))).collect();
        Self { laboratory, pools, slots: Default::default(), bundles: Default::default(), mark: 0 }
    }

    fn compare(&self) {
        self.slots.iter().flatten().for_each(|(packet, frame)| frame.compare(packet));
        self.bundles.iter().for_each(Bundle::compare);
        for (real, pool) in self.laboratory.pools.iter().zip(&self.pools) {
            assert_eq!(real.available(), pool.available(), "mbufs of a pool of {}", pool.size);
        }
    }

    fn operate(&mut self, reader: &mut Reader<'_>) {
        self.mark = self.mark.wrapping_add(1);
        let operation = reader.byte();
        let slot = reader.below(SLOTS);
        match operation % 16 {
            0 | 1 => self.alloc(slot, reader),
            2 => drop(self.take(slot)),
            3..=8 => self.change(operation % 16, slot, reader),
            9 => self.chain(slot, reader),
            10 => self.share(slot, reader),
            11 => self.copy(slot, reader),
            12 => self.read(slot, reader),
            13 => self.push(slot, reader),
            14 => self.pop(slot, reader),
            _ => self.whole_burst(reader),
        }
    }

    fn take(&mut self, slot: usize) -> Option<Pair> {
        self.slots.get_mut(slot).and_then(Option::take)
    }

    fn put(&mut self, slot: usize, pair: Option<Pair>) {
        if let Some(place) = self.slots.get_mut(slot) {
            *place = pair;
        }
    }

    /// A real pool and its model.
    fn pool(&self, reader: &mut Reader<'_>) -> (&Mempool<u64>, &Pool) {
        let pools: Vec<_> = self.laboratory.pools.iter().zip(&self.pools).collect();
        let chosen = pools.get(reader.below(pools.len()));
        chosen.copied().expect("the choice is below the number of pools")
    }

    fn alloc(&mut self, slot: usize, reader: &mut Reader<'_>) {
        let private = u64::from(self.mark);
        let (pool, model) = self.pool(reader);
        let packet = pool.alloc();
        assert_eq!(packet.is_some(), model.available() > 0);
        let pair = packet.map(|packet| marked(packet, model.alloc(private)));
        self.put(slot, pair);
    }

    /// Writes, lengthens or shortens.
    fn change(&mut self, operation: u8, slot: usize, reader: &mut Reader<'_>) {
        let fill = self.mark;
        let Some((packet, frame)) = self.slots.get_mut(slot).and_then(Option::as_mut) else { return };
        let (found, expected) = match operation {
            3 => {
                let count = length(reader);
                (filled(packet.append(count), count, fill), frame.append(count, fill))
            }
            4 => {
                let count = length(reader);
                (filled(packet.prepend(count), count, fill), frame.prepend(count, fill))
            }
            5 => {
                let count = length(reader);
                (packet.adj(count), frame.adj(count))
            }
            6 => {
                let count = length(reader);
                (packet.trim(count), frame.trim(count))
            }
            7 => {
                let count = packet.data().len();
                (filled(packet.data_mut(), count, fill), frame.fill_first(fill))
            }
            _ => {
                let segments = packet.segments_mut().map(|segments| segments.for_each(|bytes| bytes.fill(fill)));
                (segments, frame.fill_all(fill))
            }
        };
        assert_eq!(found, expected);
    }

    fn chain(&mut self, slot: usize, reader: &mut Reader<'_>) {
        let Some((tail, tail_frame)) = self.take(reader.below(SLOTS)) else { return };
        match self.slots.get_mut(slot) {
            Some(Some((packet, frame))) => {
                assert!(packet.chain(tail).is_ok(), "there is room for {} segments", frame.segment_count());
                frame.chain(tail_frame);
            }
            _ => self.put(slot, Some((tail, tail_frame))),
        }
    }

    fn share(&mut self, slot: usize, reader: &mut Reader<'_>) {
        let private = u64::from(self.mark);
        let to = reader.below(SLOTS);
        let Some((mut packet, frame)) = self.take(slot) else { return };
        let (pool, model) = self.pool(reader);
        let (share, expected) = (packet.share(pool), frame.share(model, private));
        assert_eq!(share.is_some(), expected.is_some());
        let pair = share.zip(expected).map(|(share, expected)| marked(share, expected));
        self.put(slot, Some((packet, frame)));
        self.put(to, pair);
    }

    fn copy(&mut self, slot: usize, reader: &mut Reader<'_>) {
        let private = u64::from(self.mark);
        let to = reader.below(SLOTS);
        let Some((packet, frame)) = self.slots.get(slot).and_then(Option::as_ref) else { return };
        let (pool, model) = self.pool(reader);
        let (copy, expected) = (packet.copy(pool), frame.copy(model, private));
        assert_eq!(copy.is_some(), expected.is_some(), "a copy of {} bytes", frame.len());
        let pair = copy.zip(expected).map(|(copy, expected)| marked(copy, expected));
        self.put(to, pair);
    }

    fn read(&self, slot: usize, reader: &mut Reader<'_>) {
        let Some((packet, frame)) = self.slots.get(slot).and_then(Option::as_ref) else { return };
        let mut buffer = vec![0; usize::from(reader.u16() % 1024)];
        let copied = packet.copy_to(&mut buffer);
        assert_eq!(copied, buffer.len().min(frame.len()));
        frame.begins_with(buffer.split_at(copied).0);
    }

    fn push(&mut self, slot: usize, reader: &mut Reader<'_>) {
        let Some(pair) = self.take(slot) else { return };
        let [first, second] = &mut self.bundles;
        let left = if reader.below(2) == 0 { first.push(pair) } else { second.push(pair) };
        self.put(slot, left);
    }

    fn pop(&mut self, slot: usize, reader: &mut Reader<'_>) {
        let [bundle, _] = &mut self.bundles;
        let pair = if reader.below(2) == 0 {
            bundle.burst.pop().zip(bundle.frames.pop())
        } else {
            let index = reader.below(BURST + 1);
            let frame = (index < bundle.frames.len()).then(|| bundle.frames.swap_remove(index));
            let packet = bundle.burst.swap_remove(index);
            assert_eq!(packet.is_some(), frame.is_some());
            packet.zip(frame)
        };
        self.put(slot, pair);
    }

    /// What concerns all packets of a burst.
    fn whole_burst(&mut self, reader: &mut Reader<'_>) {
        let private = u64::from(self.mark);
        let [first, second] = &mut self.bundles;
        match reader.below(6) {
            0 => {
                first.burst.clear();
                first.frames.clear();
            }
            1 => {
                let keep = reader.byte();
                let mut bits = (0..8).map(|bit| keep >> bit & 1 == 1);
                first.burst.retain(|_| bits.next().unwrap_or_default());
                let mut bits = (0..8).map(|bit| keep >> bit & 1 == 1);
                first.frames.retain(|_| bits.next().unwrap_or_default());
            }
            2 => {
                let count = second.frames.len().min(BURST - first.frames.len());
                assert_eq!(first.burst.append(&mut second.burst), count);
                first.frames.extend(second.frames.drain(..count));
            }
            3 => {
                drop(first.burst.drain());
                first.frames.clear();
            }
            4 => {
                let most = reader.below(BURST + 3);
                let wanted = most.min(BURST - first.frames.len());
                let chosen = reader.below(POOLS.len());
                let pools = self.laboratory.pools.get(chosen).zip(self.pools.get(chosen));
                let Some((pool, model)) = pools else { return };
                let expected = if wanted <= model.available() { wanted } else { 0 };
                assert_eq!(pool.alloc_bulk_up_to(&mut first.burst, most), expected);
                first.frames.extend((0..expected).map(|_| model.alloc(private)));
                let fresh = first.burst.iter_mut().rev().take(expected);
                fresh.for_each(|packet| *packet.private_mut() = private);
            }
            _ => {
                // The ring hands out the same mbufs that it was given, if there is room for them.
                let count = first.frames.len();
                assert_eq!(self.laboratory.tx.tx(&mut first.burst), count);
                let room = BURST - second.frames.len();
                assert_eq!(self.laboratory.rx.rx(&mut second.burst), count.min(room));
                second.frames.extend(first.frames.drain(..count.min(room)));
                assert_eq!(self.laboratory.rx.rx(&mut first.burst), count - count.min(room));
            }
        }
    }
}

/// A new packet, with the private data that its model has.
fn marked(mut packet: Packet<u64>, frame: Frame) -> Pair {
    *packet.private_mut() = frame.private;
    (packet, frame)
}

fn filled(bytes: Result<&mut [u8], PacketError>, count: usize, fill: u8) -> Result<(), PacketError> {
    bytes.map(|bytes| {
        assert_eq!(bytes.len(), count);
        bytes.fill(fill);
    })
}

/// Mostly short, so that something fits; at times one that no 16 bits hold.
fn length(reader: &mut Reader<'_>) -> usize {
    match reader.byte() {
        value @ 0..=199 => usize::from(value),
        value @ 200..=239 => usize::from(value) * 8,
        value => EXTREMES.get(usize::from(value) % EXTREMES.len()).copied().unwrap_or_default(),
    }
}
