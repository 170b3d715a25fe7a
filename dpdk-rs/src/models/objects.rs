// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Pools of values, and memory of the program: every value is dropped once, and stays in place until then.

use super::eal;
use crate::{
    Mempool,
    memory::{ObjectPool, Owned},
};
use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    rc::Rc,
};

/// Counts its drops; the one with the number 1 panics.
struct Value {
    text: String,
    drops: Rc<Cell<u32>>,
    panics: bool,
}

impl Drop for Value {
    fn drop(&mut self) {
        self.drops.set(self.drops.get() + 1);
        if self.panics {
            panic::resume_unwind(Box::new("a value's drop"));
        }
    }
}

fn value(number: usize, drops: &Rc<Cell<u32>>, panics: bool) -> Value {
    Value { text: number.to_string(), drops: Rc::clone(drops), panics }
}

#[test]
fn values_are_lent_and_dropped() {
    let eal = eal();
    let drops = Rc::default();
    let pool = ObjectPool::builder("pool").size(3).build(&eal, |number| value(number, &drops, false));
    let pool = pool.expect("the stand-in refuses no pool");
    {
        let mut one = pool.get().expect("the pool has a value");
        one.text.push('!');
        let two = pool.get().expect("the pool has a value");
        // It is dropped with the pool.
        core::mem::forget(pool.get().expect("the pool has a value"));
        assert!(pool.get().is_err(), "no value is left");
        assert_eq!((one.text.as_str(), two.text.as_str()), ("0!", "1"));
    }
    assert_eq!((pool.available(), drops.get()), (2, 0));
    drop(pool);
    assert_eq!(drops.get(), 3);
}

#[test]
fn a_panic_drops_the_values_before() {
    let eal = eal();
    let drops = Rc::default();
    let built = panic::catch_unwind(AssertUnwindSafe(|| {
        ObjectPool::builder("pool").size(3).build(&eal, |number| {
            if number == 2 {
                panic::resume_unwind(Box::new("a value"));
            }
            value(number, &drops, false)
        })
    }));
    assert!(built.is_err());
    assert_eq!(drops.get(), 2);
}

#[test]
fn a_panic_of_a_drop_leaves_no_value() {
    let eal = eal();
    let drops = Rc::default();
    let pool = ObjectPool::builder("pool").size(3).build(&eal, |number| value(number, &drops, number == 1));
    let pool = pool.expect("the stand-in refuses no pool");
    assert!(panic::catch_unwind(AssertUnwindSafe(|| drop(pool))).is_err());
    assert_eq!(drops.get(), 3);
}

#[test]
fn values_without_bytes_are_dropped() {
    thread_local! {
        static DROPS: Cell<u32> = const { Cell::new(0) };
    }
    struct Nothing;
    impl Drop for Nothing {
        fn drop(&mut self) {
            DROPS.set(DROPS.get() + 1);
        }
    }
    let eal = eal();
    let pool = ObjectPool::builder("pool").size(3).build(&eal, |_| Nothing).expect("the stand-in refuses no pool");
    drop(pool.get().expect("the pool has a value"));
    drop(pool);
    assert_eq!(DROPS.get(), 3);
}

#[test]
fn owned_bytes_stay_in_place() {
    let mut owned = Owned::new([1_u8; 8]);
    let bytes = owned.bytes();
    let moved = Box::new(owned);
    // SAFETY: the bytes stay in place as long as the object lives and nobody uses the value itself.
    unsafe { bytes.cast::<u8>().write(7) };
    assert_eq!(moved.into_inner(), [7, 1, 1, 1, 1, 1, 1, 1]);
    drop(Owned::new(vec![1_u8; 8]));
}

#[test]
fn a_pool_lies_in_owned_memory() {
    let eal = eal();
    let builder = Mempool::<u32>::builder("pool").size(2).cache(0).data_room(256);
    let pool = builder.build_in(&eal, vec![0_u8; 3 * 256]).map_err(|(error, _)| error).expect("it has room for two");
    let mut packets = [pool.alloc().expect("an mbuf"), pool.alloc().expect("an mbuf")];
    for (packet, number) in packets.iter_mut().zip(0..) {
        *packet.private_mut() = u32::from(number);
        packet.append(128).expect("the mbuf has room").fill(number);
        assert!(packet.append(1).is_err(), "the buffer ends");
    }
    assert!(packets[0].data().iter().all(|byte| *byte == 0));
    drop(pool);
    drop(packets);
    let builder = Mempool::<()>::builder("pool").size(4).cache(0).data_room(256);
    let refused = builder.build_in(&eal, vec![1_u8; 256]).map_err(|(_, memory)| memory.len());
    assert_eq!(refused.err(), Some(256));
}
