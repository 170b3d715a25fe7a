// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Reorder buffers, beside a map of the packets that wait and a list of those that are ready.

use crate::raw::{self, Usage};
use dpdk_rs::{
    Burst, CreateError, Eal, Mempool, Packet,
    reorder::{Reorder, ReorderError},
};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;
use std::{
    collections::{BTreeMap, VecDeque},
    thread,
};

/// How many packets there are.
const PACKETS: usize = 31;

/// The most slots of a buffer.
const MOST_SLOTS: u32 = 1 << 24;

const EINVAL: i32 = 22;
const ENOMEM: i32 = 12;

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct WindowPlan {
    #[proptest(strategy = "prop::sample::select(&[1_u32, 2, 4, 8, 16])")]
    size: u32,
    #[proptest(strategy = "vec(any::<WindowDeed>(), 0..80)")]
    deeds: Vec<WindowDeed>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum WindowDeed {
    /// A packet, so many numbers from the minimum on, or any number.
    #[proptest(weight = 20)]
    Insert {
        #[proptest(strategy = "prop_oneof![12 => 0_u32..20, 4 => 0_u32..40, 1 => Just(u32::MAX), 1 => any::<u32>()]")]
        ahead: u32,
        /// Mbufs after the first.
        #[proptest(strategy = "0_u8..3")]
        more: u8,
    },
    /// Into a burst that may be too short for all.
    #[proptest(weight = 5)]
    Drain { short: bool },
    /// Numbers wrap after the last.
    #[proptest(weight = 2)]
    StartAt {
        #[proptest(strategy = "prop_oneof![3 => u32::MAX - 12..=u32::MAX, 1 => any::<u32>()]")]
        seqn: u32,
    },
    /// The buffer is dropped with what is in it, here or by another thread, and another one made.
    #[proptest(weight = 1)]
    Replace {
        elsewhere: bool,
        #[proptest(strategy = "prop_oneof![4 => prop::sample::select(&[1_u32, 2, 4, 8, 16]),
            1 => prop::sample::select(&[0_u32, 3, 24, MOST_SLOTS, MOST_SLOTS + 1, 1 << 31, u32::MAX])]")]
        size: u32,
    },
}

/// Slots for as many numbers from the minimum on; one of the slots for packets that are ready is always free.
#[derive(Clone, Default)]
struct Model {
    size: usize,
    min: Option<u32>,
    waiting: BTreeMap<u32, Vec<u8>>,
    ready: VecDeque<(u32, Vec<u8>)>,
}

impl Model {
    fn new(size: u32) -> Self {
        Self { size: size as usize, ..Self::default() }
    }

    fn len(&self) -> usize {
        self.waiting.len() + self.ready.len()
    }

    /// What inserting a packet should give, and how things are after it.
    fn insert(&self, seqn: u32, bytes: &[u8]) -> (Self, Result<(), ReorderError>) {
        let mut next = self.clone();
        let min = *next.min.get_or_insert(seqn);
        let unchanged = next.clone();
        if seqn.wrapping_sub(min) as usize >= 2 * self.size {
            return (unchanged, Err(ReorderError::Range { seqn, min, size: 2 * self.size }));
        }
        if next.waiting.contains_key(&seqn) {
            return (unchanged, Err(ReorderError::Duplicate(seqn)));
        }
        while seqn.wrapping_sub(next.minimum()) as usize >= self.size {
            // A number is given up, and the packets after it become ready.
            let full = next.ready.len() + 1 == self.size;
            if full {
                return (unchanged, Err(ReorderError::Full));
            }
            if !next.waiting.contains_key(&next.minimum()) {
                next.min = Some(next.minimum().wrapping_add(1));
            }
            while let Some(packet) = next.take_first() {
                if next.ready.len() + 1 == self.size {
                    return (unchanged, Err(ReorderError::Full));
                }
                next.ready.push_back(packet);
            }
        }
        next.waiting.insert(seqn, bytes.to_vec());
        (next, Ok(()))
    }

    fn minimum(&self) -> u32 {
        self.min.expect("a packet was inserted")
    }

    /// The packet whose turn it is.
    fn take_first(&mut self) -> Option<(u32, Vec<u8>)> {
        let first = self.min?;
        let bytes = self.waiting.remove(&first)?;
        self.min = Some(first.wrapping_add(1));
        Some((first, bytes))
    }

    fn drain(&mut self, room: usize) -> Vec<(u32, Vec<u8>)> {
        (0..room).map_while(|_| self.ready.pop_front().or_else(|| self.take_first())).collect()
    }
}

/// Does with a buffer what is planned, and frees what is left.
pub(crate) fn run(eal: &Eal, number: u64, plan: &WindowPlan) {
    let before = Usage::now();
    let name = format!("window{number}");
    let pool: Mempool =
        Mempool::builder(name.as_str()).size(PACKETS as u32).cache(0).data_room(192).build(eal).unwrap();
    let (mut buffer, mut model) = (Reorder::builder(plan.size).build(eal).unwrap(), Model::new(plan.size));
    for (step, deed) in plan.deeds.iter().enumerate() {
        match *deed {
            WindowDeed::Insert { ahead, more } => {
                let Some(packet) = packet(&pool, step, more) else { continue };
                let (seqn, expected) = (model.min.unwrap_or_default().wrapping_add(ahead), bytes(&packet));
                let (after, result) = model.insert(seqn, &expected);
                match buffer.insert(packet, seqn) {
                    Ok(()) => assert_eq!(result, Ok(())),
                    Err((error, packet)) => assert_eq!((Err(error), bytes(&packet)), (result, expected)),
                }
                model = after;
            }
            WindowDeed::Drain { short: true } => drain::<3>(&mut buffer, &mut model),
            WindowDeed::Drain { short: false } => drain::<PACKETS>(&mut buffer, &mut model),
            WindowDeed::StartAt { seqn } => match buffer.start_at(seqn) {
                Ok(()) => {
                    assert_eq!(model.len(), 0);
                    model.min = Some(seqn);
                }
                Err(error) => assert!(model.len() > 0 && error == ReorderError::NotEmpty(model.len())),
            },
            WindowDeed::Replace { elsewhere, size } => {
                let Some(another) = another(eal, size) else { continue };
                let former = std::mem::replace(&mut buffer, another);
                if elsewhere {
                    thread::spawn(move || drop(former)).join().unwrap();
                } else {
                    drop(former);
                }
                model = Model::new(size);
            }
        }
        let out = pool.size() - pool.available();
        let segments = |bytes: &Vec<u8>| segments(bytes.len());
        let held = model.waiting.values().map(segments).chain(model.ready.iter().map(|(_, bytes)| segments(bytes)));
        assert_eq!(out, held.sum::<usize>(), "mbufs that are in the buffer");
        assert_eq!((buffer.len(), buffer.is_empty(), buffer.min_seqn()), (model.len(), model.len() == 0, model.min));
        assert_eq!(buffer.size(), model.size);
    }
    drop((buffer, pool));
    assert!(!raw::pool_exists(&name), "packets of a buffer that is gone are out of their pool");
    assert_eq!(Usage::now(), before, "a buffer that is gone holds memory");
}

/// The bytes of a packet's first mbuf. Each further one has a single byte.
const SHORTEST: usize = 20;

fn segments(len: usize) -> usize {
    len - SHORTEST + 1
}

/// A packet of one to three mbufs, if there are as many.
fn packet(pool: &Mempool, step: usize, more: u8) -> Option<Packet> {
    let mut packet = pool.alloc()?;
    packet.append(SHORTEST).unwrap().fill(step as u8);
    for _ in 0..more {
        let mut tail = pool.alloc()?;
        tail.append(1).unwrap().fill(step as u8);
        packet.chain(tail).unwrap();
    }
    Some(packet)
}

fn bytes(packet: &Packet) -> Vec<u8> {
    packet.segments().collect::<Vec<_>>().concat()
}

fn drain<const N: usize>(buffer: &mut Reorder, model: &mut Model) {
    let mut burst = Burst::<(), N>::new();
    let (count, expected) = (buffer.drain(&mut burst), model.drain(N));
    assert_eq!((count, burst.len()), (expected.len(), expected.len()));
    for (packet, (seqn, expected)) in burst.drain().zip(expected) {
        assert_eq!((buffer.seqn(&packet), bytes(&packet)), (seqn, expected));
    }
}

/// A buffer of any size, if there can be one.
fn another(eal: &Eal, size: u32) -> Option<Reorder> {
    match Reorder::builder(size).build(eal) {
        Ok(buffer) => {
            assert!(size.is_power_of_two() && size < MOST_SLOTS, "{size} slots");
            Some(buffer)
        }
        Err(CreateError::TooLarge { .. }) => {
            assert!(size > MOST_SLOTS, "{size} slots");
            None
        }
        Err(CreateError::Create { errno, .. }) => {
            let expected = if size == MOST_SLOTS { ENOMEM } else { EINVAL };
            assert_eq!(errno.get(), expected, "{size} slots");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
