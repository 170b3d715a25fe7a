// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames through rings, with every byte checked.

use crate::{
    frames::{bytes, frame, only_port, packet, pool, start},
    process::isolated,
};
use dpdk_rs::{Burst, Mempool, PortConfig, RxQueue, TxQueue, lcore};

/// Moves everything that waits on `rx` to `tx`; how many frames.
fn forward<const N: usize>(rx: &mut RxQueue, tx: &mut TxQueue) -> usize {
    let mut burst = Burst::<_, N>::new();
    let mut moved = 0;
    while rx.rx(&mut burst) > 0 {
        moved += tx.tx(&mut burst);
        assert!(burst.is_empty(), "the ring has room");
    }
    moved
}

/// Frames of every length from an Ethernet header to a full mbuf go into one ring, are forwarded to the other, and come
/// out again: all of them, in order, unchanged.
fn every_length_through_two_rings<const N: usize>(eal: &dpdk_rs::Eal) {
    let pool: Mempool = pool(eal, "pool");
    let mut ports = eal.ports().into_iter();
    let (_port0, mut rx0, mut tx0) = start(ports.next().unwrap(), &pool);
    let (_port1, mut rx1, mut tx1) = start(ports.next().unwrap(), &pool);
    let longest = pool.data_room() - 128;
    assert_eq!(longest, 2048);

    let mut burst = Burst::<_, N>::new();
    let mut sent = 14;
    let mut expected = 14;
    while expected <= longest {
        while sent <= longest && burst.push(packet(&pool, &frame(sent, sent))).is_ok() {
            sent += 1;
        }
        let count = burst.len();
        assert_eq!(tx0.tx(&mut burst), count);
        assert_eq!(forward::<N>(&mut rx0, &mut tx1), count);
        while rx1.rx(&mut burst) > 0 {
            for packet in burst.drain() {
                assert_eq!((packet.len(), packet.segment_count()), (expected, 1));
                assert!(packet.data() == frame(expected, expected), "the frame of {expected} bytes has changed");
                expected += 1;
            }
        }
        assert_eq!(expected, sent);
    }
    assert_eq!(pool.available(), pool.size());
}

#[test]
fn every_length_one_by_one() {
    isolated(&["net_ring0", "net_ring1"], |eal| every_length_through_two_rings::<1>(&eal));
}

#[test]
fn every_length_in_bursts_of_32() {
    isolated(&["net_ring0", "net_ring1"], |eal| every_length_through_two_rings::<32>(&eal));
}

#[test]
fn every_length_in_bursts_of_an_odd_size() {
    isolated(&["net_ring0", "net_ring1"], |eal| every_length_through_two_rings::<37>(&eal));
}

#[test]
fn full_ring_leaves_the_rest_in_the_burst() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = Mempool::builder("pool").size(2047).cache(0).build(&eal).unwrap();
        let (_port, mut rx, mut tx) = start(eal.ports().remove(0), &pool);
        let mut burst = Burst::<_, 100>::new();
        let mut sent = 0;
        let mut made = 0;
        let left = loop {
            while burst.push(packet(&pool, &frame(made, 64))).is_ok() {
                made += 1;
            }
            made = sent + burst.len();
            sent += tx.tx(&mut burst);
            if !burst.is_empty() {
                break burst.len();
            }
        };
        // One place of DPDK's rings stays empty.
        assert_eq!((sent, left), (1023, 1100 - 1023));
        assert_eq!(tx.tx(&mut burst), 0, "it is still full");
        assert_eq!(bytes(&burst[0]), frame(1023, 64), "the front of the rest is what comes next");

        let mut received = Burst::<_, 10>::new();
        assert_eq!(rx.rx(&mut received), 10);
        assert_eq!(tx.tx(&mut burst), 10);
        assert_eq!(bytes(&burst[0]), frame(1033, 64));
        burst.clear();
        let mut expected = 0;
        loop {
            for packet in received.drain() {
                assert_eq!(bytes(&packet), frame(expected, 64));
                expected += 1;
            }
            if rx.rx(&mut received) == 0 {
                break;
            }
        }
        assert_eq!(expected, 1033);
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn receiving_adds_behind_what_the_burst_holds() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (_port, mut rx, mut tx) = start(eal.ports().remove(0), &pool);
        let mut burst = Burst::<_, 8>::new();
        for number in 0..8 {
            burst.push(packet(&pool, &frame(number, 60))).unwrap();
        }
        assert_eq!(tx.tx(&mut burst), 8);
        burst.push(packet(&pool, &frame(100, 60))).unwrap();
        assert_eq!(rx.rx_up_to(&mut burst, 3), 3);
        assert_eq!(rx.rx_up_to(&mut burst, 0), 0);
        assert_eq!(rx.rx(&mut burst), 4);
        assert_eq!(rx.rx(&mut burst), 0, "the burst is full");
        let numbers = [100, 0, 1, 2, 3, 4, 5, 6];
        assert!(burst.iter().zip(numbers).all(|(packet, number)| bytes(packet) == frame(number, 60)));
        burst.clear();
        assert_eq!(rx.rx(&mut burst), 1);
        assert_eq!(bytes(&burst[0]), frame(7, 60));
        // The ring of 22.11 does not mark what passes it, that of 24.11 does.
        assert!(burst[0].port().is_none_or(|port| port == rx.port()));
    });
}

#[test]
fn nothing_to_send_is_nothing_sent() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (_port, mut rx, mut tx) = start(eal.ports().remove(0), &pool);
        let mut burst = Burst::<(), 4>::new();
        assert_eq!((tx.tx(&mut burst), rx.rx(&mut burst)), (0, 0));
        let mut no_room = Burst::<(), 0>::new();
        assert_eq!((tx.tx(&mut no_room), rx.rx(&mut no_room)), (0, 0));
    });
}

#[test]
fn received_frames_know_their_port() {
    isolated(&["net_null0", "net_null1,size=333"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        for port in eal.ports() {
            let id = port.id();
            let (_port, mut rx, _tx) = start(port, &pool);
            let mut burst = Burst::<_, 32>::new();
            assert_eq!(rx.rx(&mut burst), 32);
            let len = if id.get() == 0 { 64 } else { 333 };
            assert!(burst.iter().all(|packet| packet.port() == Some(id) && packet.len() == len));
        }
    });
}

#[test]
fn exhausted_pool_ends_reception_until_packets_are_back() {
    isolated(&["net_null0"], |eal| {
        let pool: Mempool = Mempool::builder("pool").size(64).cache(0).build(&eal).unwrap();
        let (_port, mut rx, _tx) = start(eal.ports().remove(0), &pool);
        let mut bursts = [const { Burst::<_, 32>::new() }; 3];
        let counts: Vec<usize> = bursts.iter_mut().map(|burst| rx.rx(burst)).collect();
        assert_eq!(counts, [32, 32, 0]);
        assert!(pool.alloc().is_none());
        bursts[0].clear();
        assert_eq!(rx.rx(&mut bursts[2]), 32);
        drop(bursts);
        assert_eq!(pool.available(), 64);
    });
}

/// The driver gives frames the configured length, without checking the room.
#[test]
fn null_device_with_frames_longer_than_an_mbuf_is_refused() {
    let devices = ["net_null0,size=2048", "net_null1,size=2049", "net_null2,size=70000", "net_null3,size=64,copy=1"];
    isolated(&devices, |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut ports = eal.ports().into_iter();
        let (_port, mut rx, _tx) = start(ports.next().unwrap(), &pool);
        let mut burst = Burst::<_, 4>::new();
        assert_eq!(rx.rx(&mut burst), 4);
        assert!(burst.iter().all(|packet| packet.data().len() == 2048));
        let refusals: Vec<String> =
            ports.map(|port| port.configure(&PortConfig::default(), &pool).unwrap_err().to_string()).collect();
        assert_eq!(
            refusals,
            [
                "port 1 (net_null1): argument 'size' of net_null in bytes: 2049 requested, the device supports at most 2048, \
                 the room in the pool's mbufs",
                "port 2 (net_null2): argument 'size' of net_null in bytes: 70000 requested, the device supports at most \
                 2048, the room in the pool's mbufs",
                "port 3 (net_null3): argument 'copy' of net_null: 1 requested, the device supports 0 only",
            ]
        );
        assert_eq!(eal.ports().len(), 3, "they can be taken again");
        let long: Mempool = Mempool::builder("long").size(63).cache(0).data_room(128 + 2049).build(&eal).unwrap();
        assert!(eal.ports().remove(0).configure(&PortConfig::default(), &long).is_ok());
    });
}

/// A device that combines others is as dangerous as they are.
#[test]
fn null_device_under_another_is_looked_at_too() {
    isolated(&["net_failsafe0,dev(net_null1,size=2049)"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let error = only_port(&eal).configure(&PortConfig::default(), &pool).unwrap_err().to_string();
        assert!(error.contains("argument 'size' of net_null in bytes: 2049"), "{error}");
    });
}

#[test]
fn queues_work_on_lcores_and_come_back() {
    isolated(&["net_ring0", "net_ring1"], |eal| {
        const FRAMES: usize = 5000;
        let pool: Mempool = Mempool::builder("pool").size(2047).cache(128).build(&eal).unwrap();
        let mut ports = eal.ports().into_iter();
        let (port0, mut rx0, mut tx0) = start(ports.next().unwrap(), &pool);
        let (port1, mut rx1, mut tx1) = start(ports.next().unwrap(), &pool);
        let workers = eal.worker_lcores();
        // This lcore sends, one worker forwards, the other receives: three caches of the pool take part.
        let ((rx0, tx1), rx1) = lcore::scope(&eal, |scope| {
            let forwarder = scope.launch(workers[0].id(), move || {
                let mut burst = Burst::<_, 32>::new();
                let mut moved = 0;
                while moved < FRAMES {
                    rx0.rx(&mut burst);
                    moved += tx1.tx(&mut burst);
                }
                (rx0, tx1)
            });
            let receiver = scope.launch(workers[1].id(), move || {
                let mut burst = Burst::<_, 32>::new();
                let mut received = 0;
                while received < FRAMES {
                    rx1.rx(&mut burst);
                    for packet in burst.drain() {
                        assert_eq!(bytes(&packet), frame(received, 64));
                        received += 1;
                    }
                }
                rx1
            });
            let mut burst = Burst::<_, 32>::new();
            let mut made = 0;
            while made < FRAMES || !burst.is_empty() {
                while made < FRAMES && burst.remaining_capacity() > 0 {
                    let Some(mut packet) = pool.alloc() else { break };
                    packet.append(64).unwrap().copy_from_slice(&frame(made, 64));
                    burst.push(packet).unwrap();
                    made += 1;
                }
                tx0.tx(&mut burst);
            }
            (forwarder.unwrap().join().unwrap(), receiver.unwrap().join().unwrap())
        })
        .unwrap();
        assert_eq!(pool.available(), pool.size());
        port0.stop(vec![rx0], vec![tx0]).unwrap();
        port1.stop(vec![rx1], vec![tx1]).unwrap();
    });
}
