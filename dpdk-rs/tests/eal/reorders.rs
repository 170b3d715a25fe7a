// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Reorder buffers, compared with a map of numbers.

use crate::{frames::pool, numbers::Numbers, process::isolated};
use dpdk_rs::{
    Burst, CreateError, Mempool, Packet, PrivateData,
    reorder::{Reorder, ReorderError},
};
use std::{
    collections::{BTreeMap, VecDeque},
    thread,
};

/// Numbers without an end, of which packets have the last 32 bits, and which packet has each.
#[derive(Debug)]
struct Model {
    size: u64,
    min: Option<u64>,
    ready: VecDeque<u64>,
    waiting: BTreeMap<u64, u64>,
}

impl Model {
    fn insert(&mut self, seqn: u64, id: u64) -> Result<(), ReorderError> {
        let min = *self.min.get_or_insert(seqn);
        if seqn < min || seqn >= min + 2 * self.size {
            return Err(ReorderError::Range { seqn: seqn as u32, min: min as u32, size: 2 * self.size as usize });
        }
        if self.waiting.contains_key(&seqn) {
            return Err(ReorderError::Duplicate(seqn as u32));
        }
        if seqn >= min + self.size {
            // All before this number become ready, and those that follow each other from there on.
            let mut next = seqn + 1 - self.size;
            while self.waiting.contains_key(&next) {
                next += 1;
            }
            let moved: Vec<u64> = self.waiting.range(..next).map(|(seqn, _)| *seqn).collect();
            let full = self.size as usize - 1;
            // A gap is not given up while there is no room for what may be behind it.
            let stuck = moved.last().map_or(min, |last| last + 1) < seqn + 1 - self.size;
            let total = self.ready.len() + moved.len();
            if total > full || total == full && stuck {
                return Err(ReorderError::Full);
            }
            self.ready.extend(moved.iter().map(|seqn| self.waiting.remove(seqn).unwrap()));
            self.min = Some(next);
        }
        self.waiting.insert(seqn, id);
        Ok(())
    }

    fn drain(&mut self, most: usize) -> Vec<u64> {
        let mut ids = Vec::new();
        while ids.len() < most {
            let next = self.min.unwrap_or(0);
            if let Some(id) = self.ready.pop_front() {
                ids.push(id);
            } else if let Some(id) = self.waiting.remove(&next) {
                self.min = Some(next + 1);
                ids.push(id);
            } else {
                break;
            }
        }
        ids
    }

    fn len(&self) -> usize {
        self.ready.len() + self.waiting.len()
    }
}

fn packet<P: PrivateData>(pool: &Mempool<P>, id: u64) -> Packet<P> {
    crate::frames::packet(pool, &id.to_be_bytes())
}

fn id<P: PrivateData>(packet: &Packet<P>) -> u64 {
    u64::from_be_bytes(packet.data().try_into().unwrap())
}

fn ids<P: PrivateData, const N: usize>(burst: &Burst<P, N>) -> Vec<u64> {
    burst.iter().map(id).collect()
}

#[test]
fn packets_come_out_in_the_order_of_their_numbers() {
    isolated(&[], |eal| {
        let pools: [Mempool<u32>; 2] = [pool(&eal, "one"), pool(&eal, "other")];
        let mut numbers = Numbers(3);
        for size in [1, 2, 4, 8, 64] {
            let mut reorder = Reorder::builder(size).build(&eal).unwrap();
            assert_eq!((reorder.size(), reorder.min_seqn()), (size as usize, None));
            let size = u64::from(size);
            let mut model = Model { size, min: None, ready: VecDeque::new(), waiting: BTreeMap::new() };
            // The numbers pass the end of 32 bits.
            let mut about = (1 << 33) - 4 * size;
            let mut outcomes = [0; 4];
            for round in 0..4000_u64 {
                if numbers.below(5) == 0 {
                    let mut burst = Burst::<u32, 3>::new();
                    let most = numbers.below(4);
                    for _ in most..3 {
                        burst.push(packet(&pools[0], u64::MAX)).unwrap();
                    }
                    let kept = 3 - most;
                    let expected = model.drain(most);
                    assert_eq!(reorder.drain(&mut burst), expected.len());
                    assert_eq!(ids(&burst)[kept..], expected);
                } else if numbers.below(400) == 0 {
                    let start = about + numbers.below(9) as u64;
                    let result = reorder.start_at(start as u32);
                    if model.len() == 0 {
                        result.unwrap();
                        model.min = Some(start);
                    } else {
                        assert_eq!(result, Err(ReorderError::NotEmpty(model.len())));
                    }
                } else {
                    // Around the end of the window, and at times far off.
                    let place = numbers.below(3 * size as usize / 2 + 2) as u64;
                    let far = if numbers.below(30) == 0 { 2 * size } else { 0 };
                    let back = if numbers.below(10) == 0 { 2 } else { 0 };
                    let seqn = about + place + far - back;
                    let result = reorder.insert(packet(&pools[numbers.below(2)], round), seqn as u32);
                    let expected = model.insert(seqn, round);
                    outcomes[match expected {
                        Ok(()) => 0,
                        Err(ReorderError::Full) => 1,
                        Err(ReorderError::Duplicate(_)) => 2,
                        Err(_) => 3,
                    }] += 1;
                    match result {
                        Ok(()) => assert_eq!(expected, Ok(())),
                        Err((error, packet)) => assert_eq!((Err(error), id(&packet)), (expected, round)),
                    }
                }
                about = model.min.unwrap_or(about);
                assert_eq!((reorder.len(), reorder.is_empty()), (model.len(), model.len() == 0), "{model:?}");
                assert_eq!(reorder.min_seqn(), model.min.map(|min| min as u32));
                let out = pools.iter().map(|pool| pool.size() - pool.available()).sum::<usize>();
                assert_eq!(out, model.len(), "no packet is lost");
            }
            assert!(outcomes.iter().all(|count| *count > 20), "{size}: {outcomes:?}");
            assert!(model.min.unwrap() > 1 << 33);
            // What is left is dropped with the buffer, by any thread.
            thread::spawn(move || drop(reorder)).join().unwrap();
            assert!(pools.iter().all(|pool| pool.available() == pool.size()));
        }
    });
}

/// What DPDK itself would lose.
#[test]
fn packets_for_which_there_is_no_place_come_back() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut reorder = Reorder::builder(4).build(&eal).unwrap();
        let insert = |reorder: &mut Reorder, seqn: u32| {
            let result = reorder.insert(packet(&pool, u64::from(seqn)), seqn);
            result.map_err(|(error, packet)| (error, id(&packet)))
        };
        // The first packet's number is the least.
        insert(&mut reorder, 7).unwrap();
        assert_eq!(insert(&mut reorder, 6), Err((ReorderError::Range { seqn: 6, min: 7, size: 8 }, 6)));
        assert_eq!(reorder.drain(&mut Burst::<(), 8>::new()), 1);
        reorder.start_at(100).unwrap();
        assert_eq!(insert(&mut reorder, 99), Err((ReorderError::Range { seqn: 99, min: 100, size: 8 }, 99)));
        for seqn in [103, 100, 102, 101] {
            insert(&mut reorder, seqn).unwrap();
        }
        assert_eq!(insert(&mut reorder, 102), Err((ReorderError::Duplicate(102), 102)));
        // DPDK would make all four ready, for which it has three places.
        assert_eq!(insert(&mut reorder, 104), Err((ReorderError::Full, 104)));
        assert_eq!(reorder.start_at(0), Err(ReorderError::NotEmpty(4)));
        let mut burst = Burst::<(), 3>::new();
        assert_eq!(reorder.drain(&mut burst), 3);
        assert_eq!(ids(&burst), [100, 101, 102]);
        assert_eq!(burst.iter().map(|packet| reorder.seqn(packet)).collect::<Vec<_>>(), [100, 101, 102]);
        assert_eq!((reorder.drain(&mut burst), reorder.min_seqn()), (0, Some(103)));
        insert(&mut reorder, 104).unwrap();
        // 105 is given up: it was waited for long enough.
        insert(&mut reorder, 109).unwrap();
        assert_eq!(insert(&mut reorder, 105), Err((ReorderError::Range { seqn: 105, min: 106, size: 8 }, 105)));
        burst.clear();
        assert_eq!(reorder.drain(&mut burst), 2);
        assert_eq!(ids(&burst), [103, 104]);
        drop((burst, reorder));
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn a_buffer_of_another_size_is_refused() {
    isolated(&[], |eal| {
        for size in [0, 3, 1000] {
            let error = Reorder::<()>::builder(size).build(&eal).unwrap_err();
            assert_eq!(error.errno().map(|errno| errno.get()), Some(22), "{error}");
        }
        let error = Reorder::<()>::builder(1 << 25).build(&eal).unwrap_err();
        assert!(matches!(error, CreateError::TooLarge { elements: 0x200_0000, .. }), "{error}");
        // None has a name, so any number of them can be.
        let _two: [Reorder; 2] = [(); 2].map(|()| Reorder::builder(1024).build(&eal).unwrap());
    });
}
