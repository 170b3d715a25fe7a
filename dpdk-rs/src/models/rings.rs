// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Rings: every element has one owner, in the ring or outside.

use super::eal;
use crate::{Burst, Full, Mempool, Packet, Ring};

/// Bytes, padding and a pointer.
type Element = (u8, Box<String>);

fn element(number: u8) -> Element {
    (number, Box::new(number.to_string()))
}

#[test]
fn elements_go_in_and_out() {
    let eal = eal();
    let ring = Ring::<Element>::builder("ring").capacity(2).build(&eal).expect("the stand-in refuses no ring");
    ring.enqueue(element(1)).expect("there is room");
    ring.enqueue(element(2)).expect("there is room");
    let Err(Full(back)) = ring.enqueue(element(3)) else { panic!("the ring is full") };
    assert_eq!(*back.1, "3");
    assert_eq!(ring.dequeue().map(|element| *element.1), Some("1".to_owned()));
    assert_eq!(ring.len(), 1);
    // One is left in the ring when it is dropped.
}

#[test]
fn elements_go_in_bulk_and_in_bursts() {
    let eal = eal();
    let ring = Ring::<Box<u64>>::builder("ring").capacity(4).build(&eal).expect("the stand-in refuses no ring");
    let mut batch: Vec<Box<u64>> = (0..3).map(Box::new).collect();
    ring.enqueue_bulk(&mut batch).expect("there is room");
    batch.extend((3..6).map(Box::new));
    assert!(ring.enqueue_bulk(&mut batch).is_err(), "there is room for one");
    assert_eq!((ring.enqueue_burst(&mut batch), batch.len()), (1, 2));
    assert_eq!((ring.dequeue_bulk(&mut batch, 5), batch.len()), (0, 2));
    assert_eq!(ring.dequeue_bulk(&mut batch, 3), 3);
    assert_eq!(ring.dequeue_burst(&mut batch, 9), 1);
    assert_eq!(batch.iter().map(|number| **number).collect::<Vec<_>>(), [4, 5, 0, 1, 2, 3]);
}

#[test]
fn packets_go_through_a_ring() {
    let eal = eal();
    let pool = Mempool::<()>::builder("pool").size(4).cache(0).data_room(256).build(&eal).expect("no pool");
    let ring = Ring::<Packet>::builder("ring").capacity(2).build(&eal).expect("the stand-in refuses no ring");
    let mut burst = Burst::<(), 4>::new();
    assert_eq!(pool.alloc_bulk(&mut burst), 4);
    assert_eq!((ring.enqueue_burst(&mut burst), burst.len()), (2, 2));
    burst.clear();
    assert_eq!((ring.dequeue_burst(&mut burst, 1), pool.available()), (1, 2));
    drop(burst);
    drop(ring);
    assert_eq!(pool.available(), 4);
}

#[test]
fn a_producer_and_a_consumer_are_on_two_threads() {
    let eal = eal();
    let made = Ring::<Box<u64>>::builder("ring").capacity(2).build_spsc(&eal).expect("the stand-in refuses no ring");
    let (mut producer, mut consumer) = made;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..4 {
                let mut element = Box::new(number);
                while let Err(Full(back)) = producer.enqueue(element) {
                    element = back;
                    std::thread::yield_now();
                }
            }
        });
        let mut sum = 0;
        for _ in 0..3 {
            sum += loop {
                match consumer.dequeue() {
                    Some(number) => break *number,
                    None => std::thread::yield_now(),
                }
            };
        }
        assert_eq!(sum, 3);
    });
    // The last one is dropped with the ring.
}
