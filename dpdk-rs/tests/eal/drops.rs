// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Objects can be dropped in any order, or never: nothing leaks, and nothing dangles.

use crate::{
    frames::{bytes, frame, packet, pool, receive, send, start},
    process::{isolated, isolated_cases},
};
use dpdk_rs::{Burst, Eal, Mempool, Packet, Port, RxQueue, TxQueue, port::Started};
use std::{fs, mem};

/// One of everything, alive until its turn comes.
struct World {
    eal: Option<Eal>,
    pool: Option<Mempool>,
    port: Option<Port<Started>>,
    rx: Option<RxQueue>,
    tx: Option<TxQueue>,
    packets: Option<(Packet, Burst<(), 4>)>,
    /// The number of mbufs that are missing from the pool.
    out: usize,
}

impl World {
    const THINGS: usize = 6;
    const PACKETS: usize = 5;

    fn new(eal: Option<Eal>, pool: Mempool, port: Port<dpdk_rs::port::Unconfigured>) -> Self {
        let (port, mut rx, mut tx) = start(port, &pool);
        let mut burst = Burst::new();
        for number in 0..4 {
            send(&mut tx, packet(&pool, &frame(number, 64)));
        }
        assert_eq!(rx.rx(&mut burst), 4);
        let packets = Some((packet(&pool, &frame(9, 64)), burst));
        Self { eal, pool: Some(pool), port: Some(port), rx: Some(rx), tx: Some(tx), packets, out: 5 }
    }

    fn drop_one(&mut self, thing: usize) {
        match thing {
            0 => self.eal = None,
            1 => self.pool = None,
            2 => self.port = None,
            3 => self.rx = None,
            4 => self.tx = None,
            _ if self.packets.take().is_some() => self.out = 0,
            _ => (),
        }
        self.use_the_rest();
    }

    /// The remaining objects still work.
    fn use_the_rest(&mut self) {
        if let Some(pool) = &self.pool {
            assert_eq!(pool.available(), pool.size() - self.out);
            let one = packet(pool, &frame(20, 99));
            assert_eq!(bytes(&one), frame(20, 99));
        }
        if let Some(port) = &self.port {
            assert!(port.link().unwrap().up && port.stats().unwrap().ipackets >= 4);
        }
        if let (Some((held, burst)), Some(rx), Some(tx)) = (&mut self.packets, &mut self.rx, &mut self.tx) {
            let sent = mem::replace(held, burst.pop().unwrap());
            send(tx, sent);
            burst.push(receive(rx)).unwrap();
        }
        if let Some((held, burst)) = &self.packets {
            let mut numbers: Vec<u8> = burst.iter().chain([held]).map(|packet| packet.data()[0]).collect();
            numbers.sort_unstable();
            let mut expected: Vec<u8> = [0, 1, 2, 3, 9].map(|number| frame(number, 64)[0]).to_vec();
            expected.sort_unstable();
            assert_eq!(numbers, expected);
        }
    }
}

/// The permutation of `items` with this number.
fn permutation(mut number: usize, mut items: Vec<usize>) -> Vec<usize> {
    let mut order = Vec::new();
    while !items.is_empty() {
        order.push(items.remove(number % items.len()));
        number /= items.len() + 1;
    }
    order
}

#[test]
fn permutations_are_all_different() {
    let all: std::collections::BTreeSet<_> = (0..720).map(|number| permutation(number, (0..6).collect())).collect();
    assert_eq!(all.len(), 720);
}

fn mapped_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

/// The EAL is dropped at position `place` (0 is first), the others in a sample of their orders. The last drop frees the
/// EAL's memory, unless packets are still in use: they do not keep the EAL alive, but must not dangle either.
fn eal_dropped_as(place: usize, eal: Eal, case: usize) {
    // 37 has no divisor in common with the 120 orders of the others: the cases are far apart.
    let mut order = permutation(case * 37, (1..World::THINGS).collect());
    order.insert(place, 0);
    let pool = pool(&eal, "pool");
    let port = eal.ports().remove(0);
    let mut world = World::new(Some(eal), pool, port);
    let before = mapped_kib();
    for thing in &order {
        world.drop_one(*thing);
    }
    let cleaned_up = before - mapped_kib() >= 128 * 1024;
    assert_eq!(cleaned_up, order.last() != Some(&World::PACKETS), "{order:?}");
}

const SAMPLE: usize = 20;

#[test]
fn eal_first() {
    isolated_cases(SAMPLE, &["net_ring0"], |eal, case| eal_dropped_as(0, eal, case));
}

#[test]
fn eal_second() {
    isolated_cases(SAMPLE, &["net_ring0"], |eal, case| eal_dropped_as(1, eal, case));
}

#[test]
fn eal_in_the_middle() {
    isolated_cases(SAMPLE, &["net_ring0"], |eal, case| eal_dropped_as(3, eal, case));
}

#[test]
fn eal_last() {
    isolated_cases(SAMPLE, &["net_ring0"], |eal, case| eal_dropped_as(5, eal, case));
}

/// All 120 orders of the others, while the EAL lives: 24 in each of 5 processes. Each time a pool of the same name can
/// be created, so the one before was freed.
#[test]
fn every_order_of_pool_port_queues_and_packets() {
    let devices: Vec<String> = (0..24).map(|device| format!("net_ring{device}")).collect();
    let devices: Vec<&str> = devices.iter().map(String::as_str).collect();
    let outputs = isolated_cases(5, &devices, |eal, case| {
        for (round, port) in eal.ports().into_iter().enumerate() {
            let mut world = World::new(None, pool(&eal, "pool"), port);
            for thing in permutation(case * 24 + round, (1..World::THINGS).collect()) {
                world.drop_one(thing);
            }
        }
        assert!(eal.ports().is_empty(), "all ports are closed");
    });
    assert!(outputs.iter().all(|output| !output.contains("not cleaned up")), "{outputs:?}");
}

/// An object that is never dropped is never freed, and neither are those it needs. The others keep working, and the
/// process exits normally.
#[test]
fn anything_may_be_forgotten() {
    isolated_cases(World::THINGS, &["net_ring0"], |eal, case| {
        let pool = pool(&eal, "pool");
        let port = eal.ports().remove(0);
        let mut world = World::new(Some(eal), pool, port);
        match case {
            0 => mem::forget(world.eal.take()),
            1 => mem::forget(world.pool.take()),
            2 => mem::forget(world.port.take()),
            3 => mem::forget(world.rx.take()),
            4 => mem::forget(world.tx.take()),
            _ => mem::forget(world.packets.take()),
        }
        for thing in 0..World::THINGS {
            world.drop_one(thing);
        }
    });
}

#[test]
fn frames_left_in_a_device_keep_their_pool() {
    let output = isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (_port, rx, mut tx) = start(eal.ports().remove(0), &pool);
        send(&mut tx, packet(&pool, &frame(0, 64)));
        drop((rx, tx));
    });
    assert!(output.contains("the EAL is not cleaned up: 1 pools have mbufs that were never returned"), "{output}");
}

#[test]
fn panic_drops_everything_in_order() {
    let output = isolated(&["net_ring0"], |eal| {
        let before = mapped_kib();
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let pool: Mempool = pool(&eal, "pool");
            let (_port, mut rx, mut tx) = start(eal.ports().remove(0), &pool);
            send(&mut tx, packet(&pool, &frame(0, 64)));
            let _held = receive(&mut rx);
            panic!("on purpose");
        }));
        assert!(unwound.is_err());
        assert!(before - mapped_kib() >= 128 * 1024);
    });
    assert!(!output.contains("not cleaned up"), "{output}");
}

#[test]
fn queues_and_packets_may_end_on_another_thread() {
    let output = isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (port, rx, tx) = start(eal.ports().remove(0), &pool);
        let held = packet(&pool, &frame(0, 64));
        drop((port, pool));
        std::thread::spawn(move || drop((rx, tx, held))).join().unwrap();
        assert!(eal.ports().is_empty(), "the port was closed over there");
    });
    assert!(!output.contains("not cleaned up"), "{output}");
}
