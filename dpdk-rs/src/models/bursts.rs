// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Bursts: every packet has one owner, however it goes in and out.

use super::eal;
use crate::{Burst, Mempool, Packet};

const MBUFS: u32 = 8;

fn pool(eal: &crate::Eal) -> Mempool<u64> {
    Mempool::builder("pool").size(MBUFS).cache(0).data_room(256).build(eal).expect("the stand-in refuses no pool")
}

/// A burst of `count` packets, with their numbers as private data.
fn filled<const N: usize>(pool: &Mempool<u64>, count: u64) -> Burst<u64, N> {
    let mut burst = Burst::new();
    for number in 0..count {
        let mut packet = pool.alloc().expect("the pool has an mbuf");
        *packet.private_mut() = number;
        burst.push(packet).expect("the burst has room");
    }
    burst
}

fn numbers<const N: usize>(burst: &Burst<u64, N>) -> Vec<u64> {
    burst.iter().map(|packet| *packet.private()).collect()
}

#[test]
fn packets_go_in_and_out() {
    let eal = eal();
    let pool = pool(&eal);
    let mut burst = filled::<4>(&pool, 4);
    let full = burst.push(pool.alloc().expect("the pool has an mbuf"));
    drop(full.expect_err("the burst is full"));
    assert_eq!(burst.swap_remove(1).map(|packet| *packet.private()), Some(1));
    assert_eq!(numbers(&burst), [0, 3, 2]);
    assert_eq!(burst.pop().map(|packet| *packet.private()), Some(2));
    burst.retain(|packet| *packet.private() != 0);
    assert_eq!((numbers(&burst), pool.available()), (vec![3], 7));
    for packet in &mut burst {
        packet.append(2).expect("the mbuf has room").copy_from_slice(&[1, 2]);
    }
    assert_eq!(burst[0].data(), [1, 2]);
    drop(burst);
    assert_eq!(pool.available(), 8);
}

#[test]
fn a_drain_ends_at_any_packet() {
    let eal = eal();
    let pool = pool(&eal);
    for taken in 0..=3 {
        let mut burst = filled::<4>(&pool, 3);
        let kept: Vec<Packet<u64>> = burst.drain().take(taken).collect();
        assert_eq!((burst.len(), pool.available()), (0, 8 - taken));
        drop(kept);
        assert_eq!(pool.available(), 8);
    }
}

#[test]
fn one_burst_is_appended_to_another() {
    let eal = eal();
    let pool = pool(&eal);
    for (here, there) in [(0, 0), (0, 4), (1, 4), (3, 3), (4, 2), (2, 2)] {
        let (mut burst, mut other) = (filled::<4>(&pool, here), filled::<5>(&pool, there));
        let moved = burst.append(&mut other);
        assert_eq!(moved as u64, there.min(4 - here));
        assert_eq!(numbers(&burst), (0..here).chain(0..moved as u64).collect::<Vec<_>>());
        assert_eq!(numbers(&other), (moved as u64..there).collect::<Vec<_>>());
        drop((burst, other));
        assert_eq!(pool.available(), 8);
    }
}

#[test]
fn packets_are_allocated_in_bulk() {
    let eal = eal();
    let pool = pool(&eal);
    let mut burst = filled::<6>(&pool, 2);
    assert_eq!((pool.alloc_bulk_up_to(&mut burst, 1), pool.alloc_bulk(&mut burst)), (1, 3));
    assert_eq!((burst.len(), pool.available()), (6, 2));
    let mut more = Burst::<u64, 3>::new();
    assert_eq!(pool.alloc_bulk(&mut more), 0, "the pool has fewer");
    burst.clear();
    assert_eq!(pool.available(), 8);
}

/// Whoever has a packet may drop it on another thread.
#[test]
fn a_burst_ends_on_another_thread() {
    let eal = eal();
    let pool = pool(&eal);
    let mut burst = filled::<4>(&pool, 4);
    let moved = burst.pop();
    std::thread::scope(|scope| {
        scope.spawn(move || drop(burst));
        drop(moved);
    });
    assert_eq!(pool.available(), 8);
}
