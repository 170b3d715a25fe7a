// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Both twins forward the same frames, of any length and in any number of segments, and must send and count the same.

use crate::{
    args::Options,
    queue_pair::{QueueCounters, QueuePair},
    twin::{self, Counters, Work},
};
use dpdk_rs::{Burst, MacAddr, Mempool, Packet, Port, PortConfig, RxQueue, TxQueue, device::Ring, port::Started};
use dpdk_rs_fuzz::{Reader, eal, packet};
use std::{cell::RefCell, sync::atomic::Ordering::Relaxed};

const HEADER_LEN: usize = 14;
const FRAMES_MAX: usize = 40;
/// Frames a burst, and whether addresses are written: one lane each.
const LANES: [(u16, bool); 3] = [(3, true), (4, false), (32, true)];

/// Two rings with a forwarder between them.
struct Lane {
    into: TxQueue,
    pair: QueuePair<'static>,
    counters: &'static QueueCounters,
    /// What l2fwd-rs has counted before.
    before: Counters,
    out: RxQueue,
    work: Work,
    _ports: [Port<Started>; 2],
}

struct Laboratory {
    pool: Mempool,
    lanes: Vec<Lane>,
}

impl Laboratory {
    fn new() -> Self {
        let rings: Vec<_> = (0..2 * LANES.len() as u32).map(|ring| Ring::new(ring).into()).collect();
        let eal = eal(&rings);
        let pool = Mempool::builder("frames").size(127).cache(0).build(eal).expect("the pool can be made");
        let mut ports = eal.ports().into_iter().map(|port| start(port.configure(&PortConfig::default(), &pool)));
        let lanes = LANES.iter().map(|(burst, update_macs)| {
            let ends = ports.next().zip(ports.next()).expect("there are two rings for each lane");
            Lane::new(ends, *burst, *update_macs)
        });
        let lanes = lanes.collect();
        Self { pool, lanes }
    }
}

type End = (Port<Started>, RxQueue, TxQueue);

fn start(port: Result<Port<dpdk_rs::port::Configured>, dpdk_rs::PortError>) -> End {
    let started = port.and_then(Port::start);
    let (port, mut rx, mut tx) = started.expect("the port can be started");
    let (rx, tx) = rx.pop().zip(tx.pop()).expect("the port has a queue each way");
    (port, rx, tx)
}

impl Lane {
    fn new(((first, rx, into), (second, out, tx)): (End, End), burst: u16, update_macs: bool) -> Self {
        let tx_mac = MacAddr([0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f]);
        let counters: &'static QueueCounters = Box::leak(Box::default());
        let work = Work { rx_port: first.id(), tx_port: second.id(), tx_mac, burst, update_macs };
        let options = Options { burst, update_macs, ..Options::default() };
        let pair = QueuePair::new(rx, tx, tx_mac, &options, counters);
        Self { into, pair, counters, before: Counters::default(), out, work, _ports: [first, second] }
    }

    fn send(&mut self, packets: impl Iterator<Item = Packet>) {
        let mut burst = Burst::<(), FRAMES_MAX>::new();
        let count = packets.map(|packet| burst.push(packet).expect("the burst has room")).count();
        assert_eq!(self.into.tx(&mut burst), count);
    }

    fn forward_in_rust(&mut self, bursts: u32) -> Counters {
        (0..bursts).for_each(|_| self.pair.forward_burst());
        self.pair.drain_buffer();
        // Gaps depend on the machine.
        let QueueCounters {
            rx_packets,
            tx_packets,
            tx_dropped,
            rx_short,
            rx_polls,
            rx_empty_polls,
            gaps: _,
            longest_gap_ns: _,
        } = self.counters;
        let now =
            [rx_packets, tx_packets, tx_dropped, rx_short, rx_polls, rx_empty_polls].map(|count| count.load(Relaxed));
        let mut since = now;
        since.iter_mut().zip(self.before).for_each(|(count, before)| *count -= before);
        self.before = now;
        since
    }

    fn receive(&mut self) -> Vec<Vec<u8>> {
        let mut burst = Burst::<(), FRAMES_MAX>::new();
        self.out.rx(&mut burst);
        burst.iter().map(|packet| packet.segments().flatten().copied().collect()).collect()
    }

    /// What a forwarder sends of these frames.
    fn expected(&self, frames: &[Vec<Vec<u8>>]) -> Vec<Vec<u8>> {
        let [_, port] = self.work.tx_port.get().to_be_bytes();
        let macs = [&[2, 0, 0, 0, 0, port], &self.work.tx_mac.octets()[..]].concat();
        // The header has to lie in the first segment.
        let long_enough = frames.iter().filter(|frame| frame.first().is_some_and(|first| first.len() >= HEADER_LEN));
        long_enough
            .map(|frame| {
                let mut bytes = frame.concat();
                if self.work.update_macs {
                    bytes.splice(..macs.len(), macs.iter().copied());
                }
                bytes
            })
            .collect()
    }
}

/// Both twins send what is expected, in order, count alike, and give every mbuf back.
pub fn forwarder_frames(data: &[u8]) {
    thread_local! {
        static LABORATORY: RefCell<Option<Laboratory>> = const { RefCell::new(None) };
    }
    LABORATORY.with_borrow_mut(|laboratory| {
        let Laboratory { pool, lanes } = laboratory.get_or_insert_with(Laboratory::new);
        let mut reader = Reader::new(data);
        let Some(lane) = lanes.get_mut(reader.below(LANES.len())) else { return };
        let mut frames = Vec::new();
        while !reader.is_empty() && frames.len() < FRAMES_MAX {
            frames.push(next_frame(&mut reader));
        }
        // One more than there are bursts.
        let bursts = frames.len() as u32 / u32::from(lane.work.burst) + 2;
        let expected = lane.expected(&frames);

        lane.send(frames.iter().map(|frame| packet(pool, frame.iter().map(Vec::as_slice))));
        let rust = lane.forward_in_rust(bursts);
        assert_eq!(lane.receive(), expected, "l2fwd-rs");

        lane.send(frames.iter().map(|frame| packet(pool, frame.iter().map(Vec::as_slice))));
        let c = twin::forward(lane.work, bursts, &mut lane.pair);
        assert_eq!(lane.receive(), expected, "l2fwd-c");

        assert_eq!(rust, c, "received, sent, dropped, short, polls, empty polls");
        let [received, sent, dropped, short, ..] = rust;
        assert_eq!((received, sent), (frames.len() as u64, expected.len() as u64));
        assert_eq!((dropped, short), (0, received - sent));
        assert_eq!(pool.available(), pool.size(), "mbufs are missing");
    });
}

/// The segments of a frame: most often one, of a length around that of the header or of any.
fn next_frame(reader: &mut Reader<'_>) -> Vec<Vec<u8>> {
    let count = 1 + reader.below(8).saturating_sub(5);
    (0..count)
        .map(|_| {
            let len = match reader.byte() {
                len @ 0..=63 => usize::from(len % 18),
                len => usize::from(len) * 4,
            };
            let fill = reader.byte();
            (0..len).map(|place| fill.wrapping_add(place as u8)).collect()
        })
        .collect()
}
