// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Values in DPDK's memory: boxes, zones and pools of objects.

use crate::{frames::until, process::isolated};
use dpdk_rs::{
    CreateError, Eal, SocketId, lcore,
    memory::{AllocError, Exhausted, Memzone, ObjectPool},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Counts its drops; the one with the number panics in its drop.
struct Counted {
    drops: Arc<AtomicUsize>,
    number: usize,
    panics: usize,
}

impl Counted {
    fn new(drops: &Arc<AtomicUsize>, number: usize) -> Self {
        Self { drops: Arc::clone(drops), number, panics: usize::MAX }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::SeqCst);
        assert!(self.number != self.panics, "on purpose");
    }
}

#[test]
fn boxes_own_their_values() {
    isolated(&[], |eal| {
        #[repr(align(256))]
        struct Aligned(u8);
        let heap = eal.heap();
        let drops = Arc::new(AtomicUsize::new(0));
        let mut text = heap.boxed("text".to_owned()).unwrap();
        text.push('!');
        assert_eq!((text.as_str(), format!("{text} {text:?}")), ("text!", "text! \"text!\"".to_owned()));
        let aligned = heap.boxed(Aligned(5)).unwrap();
        assert_eq!((&raw const *aligned as usize % 256, aligned.0), (0, 5));
        let more = heap.clone().align(4096).socket(SocketId::ANY).boxed(7_u8).unwrap();
        assert_eq!((&raw const *more as usize % 4096, *more), (0, 7));
        heap.boxed(()).unwrap();
        let counted = heap.boxed(Counted::new(&drops, 0)).unwrap();
        std::thread::spawn(move || drop(counted)).join().unwrap();
        assert_eq!(drops.swap(0, Ordering::SeqCst), 1);
        let mut slice = heap.boxed_slice(1000, |number| Counted::new(&drops, number)).unwrap();
        assert!(slice.iter().enumerate().all(|(place, counted)| counted.number == place));
        slice[3].number = 9;
        drop(slice);
        assert_eq!(drops.swap(0, Ordering::SeqCst), 1000);
        assert!(heap.boxed_slice(0, |_| 1_u64).unwrap().is_empty());
    });
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    isolated(&[], |eal| {
        let heap = eal.heap();
        let error = heap.boxed_slice(1 << 30, |_| 0_u64).unwrap_err();
        assert!(matches!(error, AllocError::Malloc { size, .. } if size == 8 << 30), "{error}");
        assert_eq!(error.call(), Some("rte_malloc_socket"));
        let error = heap.boxed_slice(usize::MAX, |_| 0_u64).unwrap_err();
        assert_eq!(error, AllocError::TooLong { len: usize::MAX, size: 8 });
        let error = heap.clone().align(24).boxed(0_u8).unwrap_err();
        assert!(matches!(error, AllocError::Malloc { align: 24, .. }), "{error}");
        // All memory returns: it can be allocated repeatedly.
        for _ in 0..20 {
            let large: Vec<_> = std::iter::from_fn(|| heap.boxed_slice(1 << 20, |_| 0_u64).ok()).collect();
            assert!(large.len() >= 8, "{}", large.len());
        }
    });
}

#[test]
fn slice_that_cannot_be_made_drops_what_it_has() {
    isolated(&[], |eal| {
        let drops = Arc::new(AtomicUsize::new(0));
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            eal.heap().boxed_slice(100, |number| {
                assert!(number < 7, "on purpose");
                Counted::new(&drops, number)
            })
        }));
        assert!(unwound.is_err());
        assert_eq!(drops.load(Ordering::SeqCst), 7);
    });
}

#[test]
fn zones_are_found_by_name_until_they_are_freed() {
    isolated(&[], |eal| {
        let mut zone = Memzone::builder("zone", 10_000).align(4096).contiguous().build(&eal).unwrap();
        assert!(zone.bytes().len() >= 10_000 && zone.bytes().iter().all(|byte| *byte == 0));
        zone.bytes_mut().fill(0xa5);
        let found = Memzone::lookup(&eal, "zone").unwrap();
        assert_eq!((found, found.addr, found.len), (zone.info(), zone.bytes().as_ptr(), zone.bytes().len()));
        assert_eq!(found.addr as usize % 4096, 0);
        let error = Memzone::builder("zone", 1).build(&eal).unwrap_err();
        assert_eq!((error.call(), error.errno().unwrap().get()), (Some("rte_memzone_reserve_aligned"), 17));
        for (name, len, errno) in [("none", 0, 22), ("large", 1 << 40, 12)] {
            let error = Memzone::builder(name, len).build(&eal).unwrap_err();
            assert_eq!(error.errno().unwrap().get(), errno, "{error}");
        }
        drop(zone);
        assert!(["zone", "none", "nul\0"].iter().all(|name| Memzone::lookup(&eal, name).is_none()));
        // The same memory, whose previous content must not be visible.
        let again = Memzone::builder("zone", 10_000).align(4096).build(&eal).unwrap();
        assert!(again.bytes().iter().all(|byte| *byte == 0));
        drop(eal);
        assert_eq!(again.bytes()[9_999], 0);
    });
}

/// A zone of DPDK itself is found too, and one of the program may have the same name.
#[test]
fn zones_of_dpdk_are_found_under_their_names() {
    isolated(&["net_null0"], |eal| {
        const NAME: &str = "rte_eth_dev_data";
        let theirs = Memzone::lookup(&eal, NAME).unwrap();
        let zone = Memzone::builder(NAME, 64).build(&eal).unwrap();
        assert_eq!(Memzone::lookup(&eal, NAME), Some(zone.info()));
        assert_eq!(Memzone::lookup(&eal, "rs.rte_eth_dev_data"), Some(zone.info()));
        drop(zone);
        assert_eq!(Memzone::lookup(&eal, NAME), Some(theirs));
    });
}

#[test]
fn objects_are_made_once_and_lent_again_and_again() {
    isolated(&[], |eal| {
        let drops = Arc::new(AtomicUsize::new(0));
        let build = |cache| {
            ObjectPool::builder("objects").size(63).cache(cache).build(&eal, |number| Counted::new(&drops, number))
        };
        for cache in [0, 16] {
            let pool = build(cache).unwrap();
            assert_eq!((pool.size(), pool.available()), (63, 63));
            for _ in 0..3 {
                let mut objects = Vec::new();
                while let Ok(object) = pool.get() {
                    objects.push(object);
                }
                assert_eq!((pool.get().err(), pool.available()), (Some(Exhausted), 0));
                let mut numbers: Vec<usize> = objects.iter().map(|object| object.number).collect();
                numbers.sort_unstable();
                assert!(numbers.into_iter().eq(0..63), "each is lent once");
            }
            assert_eq!((pool.available(), drops.load(Ordering::SeqCst)), (63, 0));
            let mut object = pool.get().unwrap();
            object.number = 1000;
            std::mem::forget(object);
            assert_eq!(pool.available(), 62);
            drop(pool);
            assert_eq!(drops.swap(0, Ordering::SeqCst), 63, "also the one that never came back");
        }
    });
}

/// Objects of many sizes do not overlap, and are aligned.
#[test]
fn objects_of_any_layout_fit() {
    #[derive(Clone, Debug, PartialEq)]
    #[repr(align(64))]
    struct Aligned([u8; 100]);
    isolated(&[], |eal| {
        fn through<T: PartialEq + std::fmt::Debug>(eal: &Eal, value: fn(usize) -> T) {
            let pool = ObjectPool::builder("objects").size(31).build(eal, value).unwrap();
            let objects: Vec<_> = (0..31).map(|_| pool.get().unwrap()).collect();
            let places: Vec<usize> = objects.iter().map(|object| &raw const **object as usize).collect();
            assert!(places.iter().all(|place| place % align_of::<T>() == 0));
            for (object, number) in objects.iter().zip(0..) {
                assert_eq!(**object, value(number));
            }
        }
        through(&eal, |_| ());
        through(&eal, |number| number as u8);
        through(&eal, |number| [number as u8; 65]);
        through(&eal, |number| Aligned([number as u8; 100]));
        through(&eal, |number| vec![number; 3]);
    });
}

#[test]
fn objects_are_shared_by_lcores() {
    isolated(&[], |eal| {
        let pool = ObjectPool::builder("objects").size(8).build(&eal, |_| 0_u64).unwrap();
        lcore::scope(&eal, |scope| {
            for worker in eal.worker_lcores() {
                scope
                    .launch(worker.id(), || {
                        let mut added = 0;
                        until("the lcore has added 300 times", || {
                            if let Ok(mut object) = pool.get() {
                                *object += 1;
                                added += 1;
                            }
                            added == 300
                        });
                    })
                    .unwrap();
            }
        })
        .unwrap();
        assert_eq!(pool.available(), 8);
        let objects: Vec<_> = (0..8).map(|_| pool.get().unwrap()).collect();
        assert_eq!(objects.iter().map(|object| **object).sum::<u64>(), 600);
    });
}

#[test]
fn panics_of_makers_and_drops_leave_nothing_behind() {
    isolated(&[], |eal| {
        let drops = Arc::new(AtomicUsize::new(0));
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            ObjectPool::builder("objects").size(50).build(&eal, |number| {
                assert!(number < 20, "on purpose");
                Counted::new(&drops, number)
            })
        }));
        assert!(unwound.is_err());
        assert_eq!(drops.swap(0, Ordering::SeqCst), 20);
        let pool = ObjectPool::builder("objects")
            .size(50)
            .build(&eal, |number| Counted { drops: Arc::clone(&drops), number, panics: 10 })
            .expect("the name is free again");
        let unwound = catch_unwind(AssertUnwindSafe(|| drop(pool))).unwrap_err();
        assert!(unwound.downcast_ref::<&str>().is_some_and(|words| words.contains("on purpose")));
        assert_eq!(drops.load(Ordering::SeqCst), 50, "all of them");
        ObjectPool::builder("objects").build(&eal, |_| ()).unwrap();
    });
}

#[test]
fn pools_that_cannot_be_made_say_why() {
    isolated(&[], |eal| {
        let _pool = ObjectPool::builder("objects").build(&eal, |_| ()).unwrap();
        let error = ObjectPool::builder("objects").build(&eal, |_| ()).unwrap_err();
        assert_eq!((error.call(), error.errno().unwrap().get()), (Some("rte_mempool_create"), 17));
        let error = ObjectPool::builder("cache").cache(1000).build(&eal, |_| ()).unwrap_err();
        assert_eq!(error.errno().unwrap().get(), 22);
        let error = ObjectPool::builder("more bytes than in DPDK").build(&eal, |_| ()).unwrap_err();
        assert!(matches!(error, CreateError::Name { longest: 22, .. }), "{error}");
        let error = ObjectPool::builder("large").size(1 << 24).build(&eal, |_| [0_u64; 100]).unwrap_err();
        assert_eq!(error.errno().unwrap().get(), 12, "{error}");
    });
}

#[test]
fn memory_outlives_the_eal() {
    let output = isolated(&[], |eal| {
        let number = eal.heap().boxed(5).unwrap();
        let pool = ObjectPool::builder("objects").build(&eal, |number| number).unwrap();
        let zone = Memzone::builder("zone", 100).build(&eal).unwrap();
        drop(eal);
        assert!(*number == 5 && *pool.get().unwrap() < 1023 && zone.bytes()[99] == 0);
    });
    assert!(!output.contains("not cleaned up"), "{output}");
}
