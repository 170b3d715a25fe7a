// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames that wait for a burst.

use crate::{
    frames::{bytes, frame, only_port, packet, pool, start},
    process::isolated,
};
use dpdk_rs::{Burst, Eal, Mempool, Port, RxQueue, TxBuffer, port::Started};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

/// A ring with a buffer of bursts of 8 before it, and a drain time that no test lives to see.
fn buffered(eal: &Eal) -> (Mempool, Port<Started>, RxQueue, TxBuffer<(), 32>) {
    let pool: Mempool = Mempool::builder("pool").size(4095).cache(0).build(eal).unwrap();
    let (port, rx, tx) = start(only_port(eal), &pool);
    (pool, port, rx, TxBuffer::new(tx, 8, HOUR, eal.clock()))
}

fn burst_of<const N: usize>(pool: &Mempool, numbers: std::ops::Range<usize>) -> Burst<(), N> {
    let mut burst = Burst::new();
    for number in numbers {
        burst.push(packet(pool, &frame(number, 60))).unwrap();
    }
    burst
}

/// Everything that has come out of the ring, which must be the frames of these numbers in this order.
fn expect(rx: &mut RxQueue, numbers: std::ops::Range<usize>) {
    let mut burst = Burst::<_, 32>::new();
    let mut received = Vec::new();
    while rx.rx(&mut burst) > 0 {
        received.extend(burst.drain().map(|packet| bytes(&packet)));
    }
    assert_eq!(received.len(), numbers.len());
    assert!(received.into_iter().zip(numbers).all(|(bytes, number)| bytes == frame(number, 60)));
}

#[test]
fn sends_when_a_burst_is_complete() {
    isolated(&["net_ring0"], |eal| {
        let (pool, _port, mut rx, mut buffer) = buffered(&eal);
        for number in 0..7 {
            buffer.push(packet(&pool, &frame(number, 60)));
            assert_eq!(buffer.len(), number + 1);
        }
        expect(&mut rx, 0..0);
        assert_eq!((buffer.sent(), buffer.is_empty()), (0, false));
        buffer.push(packet(&pool, &frame(7, 60)));
        assert_eq!((buffer.sent(), buffer.dropped(), buffer.len()), (8, 0, 0));
        expect(&mut rx, 0..8);
    });
}

#[test]
fn drains_when_its_time_has_come_and_not_before() {
    isolated(&["net_ring0"], |eal| {
        let (pool, _port, mut rx, mut buffer) = buffered(&eal);
        let clock = eal.clock();
        buffer.push(packet(&pool, &frame(0, 60)));
        buffer.drain_due(clock.now());
        expect(&mut rx, 0..0);
        let later = clock.now().after(clock.cycles(HOUR));
        buffer.drain_due(later);
        expect(&mut rx, 0..1);
        assert_eq!((buffer.sent(), buffer.len()), (1, 0));

        // The time starts again when it is over.
        buffer.push(packet(&pool, &frame(1, 60)));
        buffer.drain_due(later.after(clock.cycles(HOUR) - 1));
        expect(&mut rx, 0..0);
        buffer.drain_due(later.after(clock.cycles(HOUR)));
        expect(&mut rx, 1..2);
    });
}

#[test]
fn flush_sends_what_is_there() {
    isolated(&["net_ring0"], |eal| {
        let (pool, _port, mut rx, mut buffer) = buffered(&eal);
        buffer.flush();
        assert_eq!((buffer.sent(), buffer.dropped()), (0, 0));
        buffer.push(packet(&pool, &frame(0, 60)));
        buffer.flush();
        expect(&mut rx, 0..1);
    });
}

#[test]
fn order_is_kept_however_frames_come() {
    isolated(&["net_ring0"], |eal| {
        let (pool, _port, mut rx, mut buffer) = buffered(&eal);
        let mut next = 0;
        for size in [1, 8, 3, 31, 32, 7, 9, 0, 8, 16, 2, 32, 32, 5] {
            let mut burst = burst_of::<32>(&pool, next..next + size);
            buffer.append(&mut burst);
            assert!(burst.is_empty() && buffer.len() < 8);
            next += size;
            buffer.push(packet(&pool, &frame(next, 60)));
            next += 1;
        }
        let mut large = burst_of::<500>(&pool, next..next + 500);
        buffer.append(&mut large);
        next += 500;
        buffer.flush();
        assert_eq!((buffer.sent(), buffer.dropped()), (next as u64, 0));
        expect(&mut rx, 0..next);
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn full_ring_drops_and_counts() {
    isolated(&["net_ring0"], |eal| {
        let (pool, _port, mut rx, mut buffer) = buffered(&eal);
        for number in 0..1100 {
            buffer.push(packet(&pool, &frame(number, 60)));
        }
        assert_eq!(buffer.len(), 1100 % 8);
        buffer.flush();
        assert_eq!((buffer.sent(), buffer.dropped()), (1023, 1100 - 1023));
        assert_eq!(pool.available(), pool.size() - 1023, "what was dropped is back in its pool");

        let mut burst = burst_of::<32>(&pool, 0..32);
        buffer.append(&mut burst);
        assert_eq!((burst.len(), buffer.dropped()), (0, 1100 - 1023 + 32));
        let mut burst = burst_of::<32>(&pool, 0..3);
        buffer.append(&mut burst);
        assert_eq!((buffer.len(), buffer.dropped()), (3, 1100 - 1023 + 32));
        buffer.flush();
        assert_eq!(buffer.dropped(), 1100 - 1023 + 35);
        expect(&mut rx, 0..1023);
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn burst_size_is_kept_within_the_capacity() {
    isolated(&["net_ring0", "net_ring1", "net_ring2"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut ports = eal.ports().into_iter();
        let (_port, mut rx, tx) = start(ports.next().unwrap(), &pool);
        let mut at_once = TxBuffer::<_, 32>::new(tx, 0, HOUR, eal.clock());
        at_once.push(packet(&pool, &frame(0, 60)));
        expect(&mut rx, 0..1);

        let (_port, mut rx, tx) = start(ports.next().unwrap(), &pool);
        let mut full = TxBuffer::<_, 4>::new(tx, 100, HOUR, eal.clock());
        for number in 0..4 {
            full.push(packet(&pool, &frame(number, 60)));
        }
        expect(&mut rx, 0..4);

        let (_port, mut rx, tx) = start(ports.next().unwrap(), &pool);
        let mut none = TxBuffer::<_, 0>::new(tx, 8, HOUR, eal.clock());
        none.push(packet(&pool, &frame(0, 60)));
        assert_eq!((none.sent(), none.dropped()), (0, 1));
        none.append(&mut burst_of::<2>(&pool, 0..2));
        expect(&mut rx, 0..2);
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn queue_comes_back_after_what_waited_was_sent() {
    isolated(&["net_ring0"], |eal| {
        let (pool, port, mut rx, mut buffer) = buffered(&eal);
        buffer.push(packet(&pool, &frame(0, 60)));
        let tx = buffer.into_queue();
        expect(&mut rx, 0..1);
        port.stop(vec![rx], vec![tx]).unwrap();
    });
}

#[test]
fn dropped_buffer_returns_what_waited() {
    isolated(&["net_ring0"], |eal| {
        let (pool, _port, mut rx, mut buffer) = buffered(&eal);
        buffer.push(packet(&pool, &frame(0, 60)));
        drop(buffer);
        assert_eq!(pool.available(), pool.size());
        expect(&mut rx, 0..0);
    });
}

/// The frames go back to their pool before the queue lets go of the EAL.
#[test]
fn buffer_with_frames_may_be_the_last_of_all() {
    let output = isolated(&["net_ring0"], |eal| {
        let (pool, port, rx, mut buffer) = buffered(&eal);
        buffer.push(packet(&pool, &frame(0, 60)));
        drop((port, rx, pool, eal));
        assert_eq!(buffer.len(), 1);
        drop(buffer);
    });
    assert!(!output.contains("not cleaned up"), "{output}");
}
