// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Rings: what goes in comes out once and in order, between lcores too, and what stays in is dropped.

use crate::{
    frames::{bytes, frame, packet, pool, until},
    process::isolated,
};
use dpdk_rs::{
    Burst, CreateError, Eal, Mempool, Packet, Ring,
    lcore::{self, LcoreId},
    ring::{Consumer, Producer, RingMode},
};
use std::sync::atomic::{AtomicUsize, Ordering};

const MODES: [RingMode; 3] = [RingMode::Mpmc, RingMode::Rts, RingMode::Hts];

fn workers(eal: &Eal) -> [LcoreId; 2] {
    let ids: Vec<LcoreId> = eal.worker_lcores().iter().map(|lcore| lcore.id()).collect();
    ids.try_into().unwrap()
}

/// Counts its drops.
struct Counted<'a> {
    number: u32,
    drops: &'a AtomicUsize,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn full_ring_gives_the_element_back_and_an_empty_one_none() {
    isolated(&[], |eal| {
        for capacity in [0, 1, 3, 4, 1000] {
            let (mut producer, mut consumer) =
                Ring::<u64>::builder("ring").capacity(capacity).build_spsc(&eal).unwrap();
            assert_eq!(producer.capacity(), capacity as usize);
            for round in 0..3 {
                for number in 0..u64::from(capacity) {
                    producer.enqueue(round + number).unwrap();
                }
                assert_eq!(producer.enqueue(99).unwrap_err().0, 99);
                assert_eq!((producer.len(), consumer.len()), (capacity as usize, capacity as usize));
                for number in 0..u64::from(capacity) {
                    assert_eq!(consumer.dequeue(), Some(round + number));
                }
                assert!(consumer.dequeue().is_none() && consumer.is_empty());
            }
        }
    });
}

/// Types of other sizes and alignments than those that the C code likes best.
#[test]
fn elements_of_any_layout_come_out_as_they_went_in() {
    #[derive(Debug, PartialEq, Clone)]
    #[repr(align(64))]
    struct Aligned(u8, u64);
    isolated(&[], |eal| {
        fn through<T: Send + PartialEq + std::fmt::Debug + Clone>(eal: &Eal, elements: &[T]) {
            for mode in MODES {
                let ring = Ring::<T>::builder("ring").capacity(7).mode(mode).build(eal).unwrap();
                for _ in 0..5 {
                    let mut rest = elements.to_vec();
                    ring.enqueue_bulk(&mut rest).unwrap();
                    assert!(rest.is_empty());
                    let mut found = Vec::new();
                    assert_eq!(ring.dequeue_burst(&mut found, usize::MAX), elements.len());
                    assert_eq!(found, elements);
                }
            }
        }
        through(&eal, &[1_u32, 2, 3]);
        through(&eal, &[1_u64, u64::MAX, 3]);
        through(&eal, &[(1_u32, 2_u32, 3_u32), (4, 5, 6)]);
        through(&eal, &[(1_u8, 0x0102_0304_u32), (255, 7)]);
        through(&eal, &[Aligned(1, 2), Aligned(3, 4), Aligned(5, 6)]);
        through(&eal, &[[7_u32; 1024], [8; 1024]]);
        through(&eal, &["one".to_owned(), "two".to_owned(), String::new()]);
        through(&eal, &[Some(Box::new(5_u8)), None]);
    });
}

#[test]
fn bulks_are_all_or_nothing_and_bursts_are_what_fits() {
    isolated(&[], |eal| {
        let ring = Ring::<u32>::builder("ring").capacity(5).build(&eal).unwrap();
        let mut elements: Vec<u32> = (0..8).collect();
        ring.enqueue_bulk(&mut elements).unwrap_err();
        assert_eq!((elements.len(), ring.len()), (8, 0), "nothing went in");
        assert_eq!(ring.enqueue_burst(&mut elements), 5);
        assert_eq!(elements, [5, 6, 7], "the rest is still there");
        let mut found = vec![100];
        assert_eq!(ring.dequeue_bulk(&mut found, 6), 0, "there are only five");
        assert_eq!(ring.dequeue_bulk(&mut found, usize::MAX), 0);
        assert_eq!(ring.dequeue_bulk(&mut found, 2), 2);
        assert_eq!(ring.dequeue_burst(&mut found, 2), 2);
        assert_eq!(ring.dequeue_burst(&mut found, 2), 1);
        assert_eq!((found, ring.dequeue()), (vec![100, 0, 1, 2, 3, 4], None));
        ring.enqueue_bulk(&mut Vec::new()).unwrap();
        assert_eq!(ring.enqueue_burst(&mut Vec::new()), 0);
    });
}

#[test]
fn what_is_left_is_dropped_once_with_the_last_handle() {
    isolated(&[], |eal| {
        let drops = AtomicUsize::new(0);
        let counted = |number| Counted { number, drops: &drops };
        for _ in 0..2 {
            let ring = Ring::builder("ring").capacity(10).build(&eal).unwrap();
            for number in 0..10 {
                ring.enqueue(counted(number)).unwrap();
            }
            let refused = ring.enqueue(counted(10)).unwrap_err().0;
            assert_eq!((refused.number, drops.load(Ordering::SeqCst)), (10, 0));
            std::mem::forget(refused);
            let other = ring.clone();
            drop(ring);
            assert_eq!(other.dequeue().map(|first| first.number), Some(0));
            assert_eq!(drops.swap(0, Ordering::SeqCst), 1);
            drop(other);
            assert_eq!(drops.swap(0, Ordering::SeqCst), 9);
        }
        let (mut producer, consumer) = Ring::builder("ring").build_spsc(&eal).unwrap();
        drop(consumer);
        producer.enqueue(counted(0)).unwrap();
        drop(producer);
        assert_eq!(drops.swap(0, Ordering::SeqCst), 1);
    });
}

/// Also if the EAL, the pool and everything else is gone before.
#[test]
fn packets_left_in_a_ring_go_home() {
    let output = isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let ring = Ring::<Packet>::builder("ring").build(&eal).unwrap();
        for number in 0..20 {
            ring.enqueue(packet(&pool, &frame(number, 64))).unwrap();
        }
        assert_eq!(pool.available(), pool.size() - 20);
        let again = ring.clone();
        drop(ring);
        assert_eq!(pool.available(), pool.size() - 20);
        drop((pool, eal));
        drop(again);
    });
    assert!(!output.contains("not cleaned up"), "{output}");
}

/// A ring inside a ring, and a ring inside itself, which is a leak but nothing worse.
#[test]
fn rings_may_hold_rings() {
    #[derive(Clone)]
    struct Itself(#[allow(dead_code)] Ring<Itself>);
    isolated(&[], |eal| {
        let inner = Ring::<u64>::builder("inner").build(&eal).unwrap();
        inner.enqueue(5).unwrap();
        let outer = Ring::builder("outer").build(&eal).unwrap();
        outer.enqueue(inner).unwrap();
        drop(outer);
        Ring::<u64>::builder("inner").build(&eal).expect("the name is free again");
        let cycle = Ring::builder("cycle").build(&eal).unwrap();
        cycle.enqueue(Itself(cycle.clone())).unwrap();
    });
}

/// An lcore sends `count` numbers through one ring, another one returns them through a second.
fn there_and_back(eal: &Eal, count: u64) {
    let [first, second] = workers(eal);
    let (mut there, mut from_there): (Producer<u64>, Consumer<u64>) =
        Ring::builder("there").capacity(16).build_spsc(eal).unwrap();
    let (mut back, mut from_back) = Ring::<u64>::builder("back").capacity(16).build_spsc(eal).unwrap();
    let sum = lcore::scope(eal, |scope| {
        let sender = scope.launch(first, move || {
            let (mut sent, mut sum, mut returned) = (0, 0, 0);
            until("all numbers are back", || {
                if sent < count && there.enqueue(sent).is_ok() {
                    sent += 1;
                }
                while let Some(number) = from_back.dequeue() {
                    assert_eq!(number, returned, "in order");
                    (sum, returned) = (sum + number, returned + 1);
                }
                returned == count
            });
            sum
        });
        scope
            .launch(second, move || {
                let mut batch = Vec::new();
                let mut returned = 0;
                until("all numbers were returned", || {
                    let most = 8 - batch.len();
                    from_there.dequeue_burst(&mut batch, most);
                    returned += back.enqueue_burst(&mut batch) as u64;
                    returned == count
                });
            })
            .unwrap();
        sender.unwrap().join().unwrap()
    })
    .unwrap();
    assert_eq!(sum, count * (count - 1) / 2);
}

#[test]
fn one_lcore_to_another_keeps_the_order() {
    isolated(&[], |eal| there_and_back(&eal, 2000));
}

/// Two producers and two consumers, in every mode: each number comes out exactly once.
#[test]
fn several_producers_and_consumers_lose_nothing() {
    const EACH: usize = 1000;
    isolated(&[], |eal| {
        let workers = workers(&eal);
        for mode in MODES {
            let ring = Ring::<(u32, u32)>::builder("ring").capacity(13).mode(mode).build(&eal).unwrap();
            let taken = AtomicUsize::new(0);
            let work = |half: usize| {
                let (mut put, mut found, mut batch) = (0, Vec::new(), Vec::new());
                until("all numbers were taken out", || {
                    while put < EACH && batch.len() < 5 {
                        let number = (half * EACH + put) as u32;
                        batch.push((number, !number));
                        put += 1;
                    }
                    ring.enqueue_burst(&mut batch);
                    let count = ring.dequeue_burst(&mut found, 3);
                    taken.fetch_add(count, Ordering::SeqCst) + count == 2 * EACH
                });
                found
            };
            let mut found = lcore::scope(&eal, |scope| {
                let launch = |(half, lcore)| scope.launch(lcore, move || work(half)).unwrap();
                let handles: Vec<_> = workers.into_iter().enumerate().map(launch).collect();
                handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect::<Vec<_>>()
            })
            .unwrap();
            assert!(found.iter().all(|(number, inverse)| *inverse == !*number), "whole elements");
            found.sort_unstable();
            assert!(found.into_iter().map(|(number, _)| number as usize).eq(0..2 * EACH), "{mode:?}");
        }
    });
}

/// One lcore makes packets, the next one changes them, the main one looks at them: bursts through rings, in order.
#[test]
fn packets_cross_lcores_through_rings() {
    const PACKETS: usize = 1000;
    isolated(&[], |eal| {
        let pool: Mempool<u64> = pool(&eal, "pool");
        let [first, second] = workers(&eal);
        let (mut made, mut to_change) = Ring::<Packet<u64>>::builder("made").capacity(64).build_spsc(&eal).unwrap();
        let (mut changed, mut to_see) = Ring::<Packet<u64>>::builder("changed").capacity(64).build_spsc(&eal).unwrap();
        lcore::scope(&eal, |scope| {
            let pool = &pool;
            scope
                .launch(first, move || {
                    let (mut burst, mut number) = (Burst::<u64, 16>::new(), 0);
                    until("all packets were made", || {
                        while number < PACKETS && burst.remaining_capacity() > 0 {
                            let Some(mut packet) = pool.alloc() else { break };
                            let bytes = frame(number, 60 + number % 100);
                            packet.append(bytes.len()).unwrap().copy_from_slice(&bytes);
                            *packet.private_mut() = number as u64;
                            burst.push(packet).unwrap();
                            number += 1;
                        }
                        made.enqueue_burst(&mut burst);
                        number == PACKETS && burst.is_empty()
                    });
                })
                .unwrap();
            scope
                .launch(second, move || {
                    let (mut burst, mut count) = (Burst::<u64, 8>::new(), 0);
                    until("all packets were changed", || {
                        to_change.dequeue_burst(&mut burst, 8);
                        for packet in &mut burst {
                            *packet.private_mut() += 1;
                        }
                        let before = burst.len();
                        while !burst.is_empty() {
                            changed.enqueue_burst(&mut burst);
                        }
                        count += before;
                        count == PACKETS
                    });
                })
                .unwrap();
            let mut number = 0;
            until("all packets were seen", || {
                while let Some(packet) = to_see.dequeue() {
                    assert_eq!(*packet.private(), number as u64 + 1);
                    assert_eq!(bytes(&packet), frame(number, 60 + number % 100));
                    number += 1;
                }
                number == PACKETS
            });
        })
        .unwrap();
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn bursts_take_what_they_have_room_for() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let ring = Ring::<Packet>::builder("ring").capacity(6).build(&eal).unwrap();
        let mut burst = Burst::<(), 8>::new();
        assert_eq!(pool.alloc_bulk(&mut burst), 8);
        ring.enqueue_bulk(&mut burst).unwrap_err();
        assert_eq!((ring.enqueue_burst(&mut burst), burst.len()), (6, 2));
        let mut small = Burst::<(), 4>::new();
        assert_eq!(ring.dequeue_bulk(&mut small, 5), 0, "the burst is too small for a bulk of five");
        assert_eq!(ring.dequeue_burst(&mut small, 5), 4);
        assert_eq!((ring.dequeue_burst(&mut small, 5), ring.len()), (0, 2));
        drop((small, burst, ring));
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn what_cannot_be_made_says_why() {
    isolated(&[], |eal| {
        let ring = Ring::<u32>::builder("ring").build(&eal).unwrap();
        let taken = Ring::<u64>::builder("ring").build(&eal).unwrap_err();
        assert_eq!((taken.call(), taken.errno().unwrap().get()), (Some("rte_ring_create_elem"), 17));
        assert_eq!(
            taken.to_string(),
            "cannot create ring 'ring': rte_ring_create_elem: File exists: the name is in use, or its last object has not been freed yet"
        );
        for name in ["nul\0", "26-bytes-that-are-too-long"] {
            let error = Ring::<u32>::builder(name).build(&eal).unwrap_err();
            assert!(matches!(&error, CreateError::Name { longest: 25, .. }), "{error}");
        }
        Ring::<u32>::builder("25-bytes-that-fit-exactly").build(&eal).unwrap();
        for capacity in [u32::MAX, 1 << 31] {
            let error = Ring::<u32>::builder("large").capacity(capacity).build(&eal).unwrap_err();
            assert!(matches!(error, CreateError::TooLarge { .. }), "{error}");
        }
        // 2^23 slots of 4 KiB: as many words as 32 bits can just not count.
        let error = Ring::<[u32; 1024]>::builder("large").capacity(1 << 22).build(&eal).unwrap_err();
        assert!(matches!(error, CreateError::TooLarge { .. }), "{error}");
        let error = Ring::<u32>::builder("large").capacity(1 << 28).build(&eal).unwrap_err();
        assert_eq!(error.errno().unwrap().get(), 12);
        drop(ring);
        Ring::<u64>::builder("ring").build(&eal).unwrap();
    });
}
