// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Hash tables whose readers hold what they have found while the writer removes it.

use crate::process::isolated;
use dpdk_rs::lookup::{HashTable, RcuWriter};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread,
};

/// Counts how many of them there are.
struct Counted(u64, Arc<AtomicU64>);

impl Counted {
    fn new(value: u64, alive: &Arc<AtomicU64>) -> Self {
        alive.fetch_add(1, SeqCst);
        Self(value, Arc::clone(alive))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_sub(1, SeqCst);
    }
}

#[test]
fn what_a_reader_holds_is_dropped_when_it_is_quiescent() {
    isolated(&[], |eal| {
        let alive = Arc::default();
        let counted = |value| Counted::new(value, &alive);
        let mut writer: RcuWriter<u32, Counted> = HashTable::builder("rcu").entries(8).build_rcu(&eal, 2).unwrap();
        writer.insert(1, counted(10)).unwrap();
        writer.insert(2, counted(20)).unwrap();
        let mut first = writer.reader().unwrap();
        let mut second = writer.reader().unwrap();
        assert!(writer.reader().is_none(), "it was made for two");
        let held = first.get(&1).unwrap();
        let listed = first.iter();
        assert!(writer.remove(&1) && !writer.remove(&1));
        writer.insert(2, counted(21)).unwrap();
        assert_eq!((writer.len(), writer.reclaim(), alive.load(SeqCst)), (1, 0, 3));
        // Invisible to new look-ups, and still valid for the reader that holds it.
        assert!(second.get(&1).is_none() && first.get(&1).is_none());
        assert_eq!((held.0, first.get(&2).unwrap().0), (10, 21));
        assert_eq!(listed.map(|(_, value)| value.0).sum::<u64>(), 30, "what was listed is held too");
        first.quiescent();
        assert_eq!(writer.reclaim(), 0, "the other may hold it");
        second.quiescent();
        assert_eq!((writer.reclaim(), alive.load(SeqCst)), (2, 1));

        // One that rests, or is dropped, keeps nothing.
        let found = second.rest(|| {
            writer.insert(3, counted(30)).unwrap();
            assert!(writer.remove(&3));
            first.quiescent();
            writer.reclaim()
        });
        assert_eq!((found, second.get(&2).unwrap().0), (1, 21));
        drop(second);
        assert!(writer.remove(&2));
        first.quiescent();
        assert_eq!((writer.reclaim(), writer.is_empty(), alive.load(SeqCst)), (1, true, 0));

        // What is left when the ends go: in the table, replaced, and removed.
        let second = writer.reader().expect("the place of the one before is free");
        for (key, value) in [(1, 1), (1, 2), (2, 3), (3, 4)] {
            writer.insert(key, counted(value)).unwrap();
        }
        assert!(writer.remove(&3));
        drop(writer);
        assert_eq!((first.get(&1).unwrap().0, alive.load(SeqCst)), (2, 4));
        drop((first, second));
        assert_eq!(alive.load(SeqCst), 0);
    });
}

#[test]
fn places_of_removed_keys_are_free_once_readers_are_quiescent() {
    isolated(&[], |eal| {
        let mut writer: RcuWriter<u32, u32> = HashTable::builder("rcu").entries(64).build_rcu(&eal, 1).unwrap();
        let mut reader = writer.reader().unwrap();
        let mut model = BTreeMap::new();
        // More keys than there are places, round after round: those of the round before must have become free.
        for round in 0..20 {
            for key in 0..64 {
                writer.insert(round * 64 + key, key).unwrap_or_else(|full| panic!("round {round}, key {key}: {full}"));
                model.insert(round * 64 + key, key);
            }
            assert!(writer.insert(u32::MAX, 0).is_err(), "the table is full");
            let keys: Vec<u32> = model.keys().copied().collect();
            let mut found = vec![None; keys.len()];
            assert_eq!(reader.get_bulk(&keys, &mut found), 64);
            assert!(found.iter().zip(model.values()).all(|(found, value)| *found == Some(value)));
            let mut listed: Vec<(u32, u32)> = (&reader).into_iter().map(|(key, value)| (key, *value)).collect();
            listed.sort_unstable();
            assert!(listed.into_iter().eq(model.clone()));
            for (key, _) in std::mem::take(&mut model) {
                assert!(writer.remove(&key));
            }
            assert!(writer.insert(u32::MAX, 0).is_err(), "the reader may look at all of them");
            reader.quiescent();
        }
        // Zeros are a key like any other.
        for value in 1..=3 {
            writer.insert(0, value).unwrap();
            reader.quiescent();
            assert_eq!((reader.get(&0), writer.len()), (Some(&value), 1));
        }
    });
}

#[test]
fn readers_on_other_threads_see_whole_values() {
    isolated(&[], |eal| {
        let alive: Arc<AtomicU64> = Arc::default();
        let mut writer: RcuWriter<u64, [Counted; 2]> =
            HashTable::builder("rcu").entries(64).build_rcu(&eal, 3).unwrap();
        let ended = Arc::new(AtomicBool::new(false));
        let readers: Vec<_> = (0..3)
            .map(|_| {
                let (mut reader, ended) = (writer.reader().unwrap(), Arc::clone(&ended));
                thread::spawn(move || {
                    let mut seen = 0_u64;
                    while !ended.load(SeqCst) {
                        for key in 0..16 {
                            if let Some([first, second]) = reader.get(&key) {
                                // A value that was dropped would have lost its counter, and one half-made would differ.
                                assert_eq!((first.0, first.0 % 16), (second.0, key));
                                seen += 1;
                            }
                        }
                        reader.quiescent();
                    }
                    seen
                })
            })
            .collect();
        for step in 0..4_000_u64 {
            let key = step * 7 % 16;
            if step % 3 == 2 {
                writer.remove(&key);
            } else {
                let value = || Counted::new(step * 16 + key, &alive);
                while let Err(full) = writer.insert(key, [value(), value()]) {
                    drop(full);
                    thread::yield_now();
                }
            }
        }
        ended.store(true, SeqCst);
        let seen: u64 = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
        println!("{seen} values were seen");
        // Nobody reads any more: all values except the last ones are dropped.
        writer.reclaim();
        assert_eq!(alive.load(SeqCst), 2 * writer.len() as u64);
        drop(writer);
        assert_eq!(alive.load(SeqCst), 0);
    });
}
