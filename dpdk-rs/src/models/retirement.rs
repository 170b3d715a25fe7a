// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A pool is freed once, after every access of every thread to it, whoever returns its last mbuf.

use super::{
    dpdk::{ServiceCore, all_are_freed},
    eal, explore, join,
};
use crate::{
    Eal, Mempool, Packet, PoolDriver,
    environment::Environment,
    sync::{Arc as Counted, thread},
};
use std::sync::Arc;

/// A pool of one mbuf, which is out.
fn pool(eal: &Eal, builder: crate::MempoolBuilder) -> (Mempool, Packet) {
    let pool: Mempool = builder.size(1).data_room(64).build(eal).expect("the stand-in refuses no pool");
    let packet = pool.alloc().expect("the pool has an mbuf");
    (pool, packet)
}

/// The pool is dropped, and another object is created, while `body` returns the pool's mbuf on another thread.
fn returned_by(eal: Eal, (pool, packet): (Mempool, Packet), body: impl FnOnce(Packet) + Send + 'static) {
    let other = thread::spawn(move || body(packet));
    drop(pool);
    drop(eal.environment().control_with_room());
    join(other);
    drop(eal);
    assert!(all_are_freed(), "a pool is left");
}

#[test]
fn a_thread_without_an_lcore_returns_to_a_ring() {
    explore(None, || {
        let eal = eal();
        let made = pool(&eal, Mempool::builder("pool").cache(0));
        returned_by(eal, made, drop);
    });
}

#[test]
fn a_thread_without_an_lcore_returns_to_a_stack() {
    explore(None, || {
        let eal = eal();
        let made = pool(&eal, Mempool::builder("pool").cache(0).driver(PoolDriver::Stack));
        returned_by(eal, made, drop);
    });
}

#[test]
fn a_registered_thread_returns_to_its_cache() {
    explore(None, || {
        let eal = eal();
        let registrar = eal.registrar();
        let made = pool(&eal, Mempool::builder("pool").cache(1));
        returned_by(eal, made, move |packet| {
            let lcore = registrar.register().expect("the thread is no lcore");
            drop(packet);
            drop(lcore);
        });
    });
}

/// Two mbufs come back, one to a cache and one to the ring.
#[test]
fn two_threads_return_mbufs() {
    explore(Some(4), || {
        let eal = eal();
        let registrar = eal.registrar();
        let pool: Mempool = Mempool::builder("pool").cache(1).size(2).data_room(64).build(&eal).expect("no pool");
        let (one, two) = (pool.alloc().expect("an mbuf"), pool.alloc().expect("an mbuf"));
        let plain = thread::spawn(move || drop(one));
        let lcore = thread::spawn(move || {
            let lcore = registrar.register().expect("the thread is no lcore");
            drop(two);
            drop(lcore);
        });
        drop(pool);
        drop(eal.environment().control_with_room());
        join(plain);
        join(lcore);
        drop(eal);
        assert!(all_are_freed(), "a pool is left");
    });
}

/// The EAL's own service core calls a driver's service that returns the mbuf. It goes on until the EAL ends.
#[test]
fn a_service_core_returns_to_its_cache() {
    explore(Some(4), || {
        let eal = eal();
        ServiceCore::create();
        let (pool, packet) = pool(&eal, Mempool::builder("pool").cache(1));
        let core = thread::spawn(move || {
            ServiceCore::round(|| drop(packet));
            for _ in 0..2 {
                ServiceCore::round(|| ());
            }
        });
        drop(pool);
        eal.environment().free_retired(&mut eal.environment().control());
        join(core);
        // Whenever the pool was found full, its last rounds end now.
        eal.environment().free_retired(&mut eal.environment().control());
        for _ in 0..2 {
            ServiceCore::round(|| ());
        }
        drop(eal);
        assert!(all_are_freed(), "a pool is left");
    });
}

/// Memory of the program, whose drop needs the control plane.
struct Buffers {
    bytes: [u8; 256],
    environment: Arc<Environment>,
    drops: Counted<()>,
}

impl AsMut<[u8]> for Buffers {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        drop(self.environment.control());
        assert_eq!(Counted::strong_count(&self.drops), 2, "the memory is dropped once");
    }
}

#[test]
fn the_memory_of_a_pool_is_dropped_without_the_lock() {
    explore(None, || {
        let eal = eal();
        let drops = Counted::new(());
        let memory =
            Buffers { bytes: [0; 256], environment: Arc::clone(eal.environment()), drops: Counted::clone(&drops) };
        let builder = Mempool::<()>::builder("pool").size(1).cache(0).data_room(64);
        let pool = builder.build_in(&eal, memory).map_err(|(error, _)| error).expect("the memory is large enough");
        let packet = pool.alloc().expect("the pool has an mbuf");
        let environment = Arc::clone(eal.environment());
        returned_by(eal, (pool, packet), move |packet| {
            drop(environment.control());
            drop(packet);
        });
        assert_eq!(Counted::strong_count(&drops), 1, "the memory is left");
    });
}
