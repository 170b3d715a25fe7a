// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Hash tables, a ring, an object pool and values in DPDK's heap, between whatever else a sequence does. They are made, used
//! beside a model, and dropped within one step.

use crate::raw::Usage;
use dpdk_rs::{
    Eal, Ring,
    lookup::{HashReader, HashTable, HashWriter, RcuReader, RcuWriter},
    memory::{DpdkBox, Object, ObjectPool},
};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

/// Rounds of work on tables; a reader holds what it finds until its round ends.
#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct TablePlan {
    #[proptest(strategy = "vec(vec(any::<TableDeed>(), 0..40), 1..4)")]
    pub(crate) rounds: Vec<Vec<TableDeed>>,
    pub(crate) reader_first: bool,
}

#[derive(Arbitrary, Clone, Debug)]
pub(crate) enum TableDeed {
    #[proptest(weight = 8)]
    Insert {
        #[proptest(strategy = "key()")]
        key: u32,
        value: u16,
    },
    #[proptest(weight = 3)]
    Remove {
        #[proptest(strategy = "key()")]
        key: u32,
    },
    Retain {
        #[proptest(strategy = "key()")]
        key: u32,
    },
    #[proptest(weight = 4)]
    Find {
        #[proptest(strategy = "key()")]
        key: u32,
    },
    #[proptest(weight = 4)]
    Enqueue {
        value: u16,
    },
    #[proptest(weight = 2)]
    Dequeue,
    #[proptest(weight = 2)]
    Box {
        value: u16,
    },
    Unbox {
        place: u8,
    },
    #[proptest(weight = 2)]
    Borrow,
    GiveBack {
        place: u8,
    },
}

/// More of them than a table has room for. One of zeros has a test of its own.
fn key() -> impl Strategy<Value = u32> {
    1_u32..28
}

/// How much fits in.
const ENTRIES: usize = 16;
const RING: usize = 8;
const OBJECTS: usize = 3;

/// Counts how many of them there are.
struct Counted(u16, Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_sub(1, SeqCst);
    }
}

struct Tables<'pool> {
    alive: Arc<AtomicUsize>,
    eal: &'pool Eal,
    hash: HashTable<u32, Counted>,
    writer: RcuWriter<u32, Counted>,
    shared: (HashWriter<u32, u16>, HashReader<u32, u16>),
    /// What all three of them hold.
    model: BTreeMap<u32, u16>,
    /// Places in the table with RCU whose keys were removed since its reader was last quiescent.
    waiting: usize,
    /// Values that its reader may still hold.
    retired: usize,
    ring: Ring<Box<Counted>>,
    queue: VecDeque<u16>,
    boxes: Vec<(DpdkBox<Counted>, u16)>,
    pool: &'pool ObjectPool<u64>,
    lent: Vec<Object<'pool, u64>>,
}

/// Carries out the rounds of a plan. What they make is named after the sequence, or like what drivers of DPDK would adopt.
pub(crate) fn run(eal: &Eal, number: u64, plan: &TablePlan) {
    let before = Usage::now();
    let alive: Arc<AtomicUsize> = Arc::default();
    let name = |kind: &str| format!("t{number}-{kind}");
    let entries = ENTRIES as u32;
    let pool = ObjectPool::builder(name("o")).size(OBJECTS as u32).cache(0).build(eal, |place| place as u64).unwrap();
    let writer = HashTable::builder(name("r")).entries(entries).build_rcu(eal, 1).unwrap();
    let mut reader = writer.reader().unwrap();
    let mut tables = Tables {
        alive: Arc::clone(&alive),
        eal,
        hash: HashTable::builder("memif-sh").entries(entries).build(eal).unwrap(),
        writer,
        shared: HashTable::builder(name("s")).entries(entries).build_shared(eal).unwrap(),
        model: BTreeMap::new(),
        waiting: 0,
        retired: 0,
        ring: Ring::builder("ETH_RXTX0_net_ring0").capacity(RING as u32).build(eal).unwrap(),
        queue: VecDeque::new(),
        boxes: Vec::new(),
        pool: &pool,
        lent: Vec::new(),
    };
    for round in &plan.rounds {
        tables.round(&reader, round);
        reader.quiescent();
        assert_eq!(tables.writer.reclaim(), tables.retired);
        (tables.waiting, tables.retired) = (0, 0);
        tables.verify();
    }
    // Either end goes first.
    if plan.reader_first {
        drop(reader);
        drop(tables);
    } else {
        drop(tables);
        drop(reader);
    }
    drop(pool);
    assert_eq!(alive.load(SeqCst), 0, "values that were not dropped");
    assert_eq!(Usage::now(), before, "tables that are gone hold memory");
}

impl Tables<'_> {
    fn counted(&self, value: u16) -> Counted {
        self.alive.fetch_add(1, SeqCst);
        Counted(value, Arc::clone(&self.alive))
    }

    /// Does what is to be done, while what the reader finds is held.
    fn round(&mut self, reader: &RcuReader<u32, Counted>, deeds: &[TableDeed]) {
        let mut held: Vec<(&Counted, u16)> = Vec::new();
        for deed in deeds {
            match *deed {
                TableDeed::Insert { key, value } => self.insert(key, value),
                TableDeed::Remove { key } => self.remove(key),
                TableDeed::Retain { key } => self.retain(key),
                TableDeed::Find { key } => {
                    let expected = self.model.get(&key);
                    assert_eq!(self.hash.get(&key).map(|found| &found.0), expected);
                    assert_eq!(self.shared.1.get(&key).as_ref(), expected);
                    let found = reader.get(&key);
                    assert_eq!(found.map(|found| &found.0), expected);
                    held.extend(found.map(|found| (found, found.0)));
                }
                TableDeed::Enqueue { value } => match self.ring.enqueue(Box::new(self.counted(value))) {
                    Ok(()) => self.queue.push_back(value),
                    Err(full) => assert_eq!((full.0.0, self.queue.len()), (value, RING)),
                },
                TableDeed::Dequeue => {
                    assert_eq!(self.ring.dequeue().map(|element| element.0), self.queue.pop_front());
                }
                TableDeed::Box { value } => {
                    let boxed = self.eal.heap().boxed(self.counted(value)).unwrap();
                    self.boxes.push((boxed, value));
                }
                TableDeed::Unbox { place } => {
                    if !self.boxes.is_empty() {
                        let (boxed, value) = self.boxes.swap_remove(usize::from(place) % self.boxes.len());
                        assert_eq!(boxed.0, value);
                    }
                }
                TableDeed::Borrow => match self.pool.get() {
                    Ok(object) => self.lent.push(object),
                    Err(_) => assert_eq!(self.lent.len(), OBJECTS),
                },
                TableDeed::GiveBack { place } => {
                    if !self.lent.is_empty() {
                        drop(self.lent.swap_remove(usize::from(place) % self.lent.len()));
                    }
                }
            }
        }
        assert!(held.iter().all(|(found, value)| found.0 == *value), "a value changed while it was held");
    }

    fn insert(&mut self, key: u32, value: u16) {
        let former = self.model.get(&key).copied();
        let room = self.model.len() < ENTRIES;
        match self.hash.insert(key, self.counted(value)) {
            Ok(replaced) => {
                assert_eq!(replaced.map(|replaced| replaced.0), former);
                assert!(former.is_some() || room);
            }
            Err(full) => {
                assert!(full.0.0 == value && former.is_none() && !room);
                return;
            }
        }
        let room = self.model.len() + self.waiting < ENTRIES;
        match self.writer.insert(key, self.counted(value)) {
            Ok(()) => {
                assert!(former.is_some() || room);
                self.retired += usize::from(former.is_some());
            }
            Err(full) => {
                assert!(full.0.0 == value && former.is_none() && !room);
                // The tables stay the same.
                assert!(self.hash.remove(&key).is_some());
                return;
            }
        }
        self.shared.0.insert(key, value).expect("the others had room");
        self.model.insert(key, value);
    }

    fn remove(&mut self, key: u32) {
        let former = self.model.remove(&key);
        assert_eq!(self.hash.remove(&key).map(|removed| removed.0), former);
        self.remove_elsewhere(key, former.is_some());
    }

    /// Removes the keys above this one.
    fn retain(&mut self, last: u32) {
        self.hash.retain(|key, value| {
            assert_eq!(self.model.get(key), Some(&value.0));
            *key <= last
        });
        for key in self.model.split_off(&(last + 1)).into_keys() {
            self.remove_elsewhere(key, true);
        }
    }

    /// From the tables with other readers.
    fn remove_elsewhere(&mut self, key: u32, was_there: bool) {
        assert_eq!(self.writer.remove(&key), was_there);
        assert_eq!(self.shared.0.remove(&key), was_there);
        self.waiting += usize::from(was_there);
        self.retired += usize::from(was_there);
    }

    fn verify(&self) {
        assert_eq!([self.hash.len(), self.writer.len(), self.shared.1.len()], [self.model.len(); 3]);
        let listed: BTreeMap<u32, u16> = self.hash.iter().map(|(key, value)| (key, value.0)).collect();
        assert_eq!(listed, self.model);
        assert_eq!(self.ring.len(), self.queue.len());
        assert_eq!(self.pool.available() + self.lent.len(), OBJECTS);
        let mut numbers: Vec<u64> = self.lent.iter().map(|object| **object).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), self.lent.len(), "an object was lent twice");
        let alive = 2 * self.model.len() + self.queue.len() + self.boxes.len();
        assert_eq!(self.alive.load(SeqCst), alive, "values");
    }
}
