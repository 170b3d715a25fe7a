// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Data that several packets refer to: nobody writes to it while another reads it, and it is freed after all have.

use super::{
    dpdk::{Memory, Shadow, all_are_freed, set_references},
    eal, explore, join,
};
use crate::{
    Eal, Mempool, Packet, PacketError,
    packet::{Unsharable, begin_taking_apart},
    sync::{Arc, Mutex, thread},
};
use std::sync::PoisonError;

fn pool(eal: &Eal, mbufs: u32) -> Mempool {
    Mempool::builder("pool").size(mbufs).cache(0).data_room(256).build(eal).expect("the stand-in refuses no pool")
}

/// A packet with data.
fn packet(pool: &Mempool) -> Packet {
    let mut packet = pool.alloc().expect("the pool has an mbuf");
    packet.append(4).expect("the mbuf has room");
    packet
}

/// Reads a packet's data, which another thread may not change meanwhile.
fn read(packet: &mut Packet, data: &Shadow) {
    assert_eq!(packet.data().len(), 4);
    data.read();
    assert_eq!(packet.data_mut().err(), Some(PacketError::Shared), "the data belongs to another packet");
}

/// Writes to a packet's data, if the packet allows it.
fn write(packet: &mut Packet, data: &Shadow) -> bool {
    let allowed = packet.data_mut().is_ok();
    if allowed {
        data.write();
    }
    allowed
}

#[test]
fn the_owner_writes_after_the_others_have_read() {
    explore(Some(2), || {
        let eal = eal();
        let (pool, data) = (pool(&eal, 3), Arc::new(Shadow::default()));
        let mut own = packet(&pool);
        assert!(write(&mut own, &data));
        let threads = [(); 2].map(|()| {
            let (mut other, data) = (own.share(&pool).expect("the pool has an mbuf"), Arc::clone(&data));
            thread::spawn(move || {
                read(&mut other, &data);
                drop(other);
            })
        });
        write(&mut own, &data);
        threads.into_iter().for_each(join);
        assert!(write(&mut own, &data), "nobody else has the data");
        drop((own, pool, eal));
        assert!(all_are_freed(), "a pool is left");
    });
}

/// One thread shares a packet, keeps the new one, and passes the old one on: its new owner knows that it is shared.
#[test]
fn whoever_receives_a_shared_packet_knows_it() {
    explore(Some(4), || {
        let eal = eal();
        let (pool, data) = (pool(&eal, 2), Arc::new(Shadow::default()));
        let passed = Arc::new(Mutex::new(None));
        let mut old = packet(&pool);
        let (way, copy, seen) = (Arc::clone(&passed), pool.clone(), Arc::clone(&data));
        let sharer = thread::spawn(move || {
            let mut new = old.share(&copy).expect("the pool has an mbuf");
            *way.lock().unwrap_or_else(PoisonError::into_inner) = Some(old);
            read(&mut new, &seen);
        });
        let received = passed.lock().unwrap_or_else(PoisonError::into_inner).take();
        received.into_iter().for_each(|mut packet| {
            write(&mut packet, &data);
        });
        join(sharer);
        drop((passed, pool, eal));
        assert!(all_are_freed(), "a pool is left");
    });
}

/// The owner of the mbuf goes first, or last, or at the same time: the mbuf returns once.
#[test]
fn an_mbuf_returns_with_its_last_user() {
    explore(Some(2), || {
        let eal = eal();
        let pool = pool(&eal, 3);
        let mut own = packet(&pool);
        let threads = [(); 2].map(|()| {
            let other = own.share(&pool).expect("the pool has an mbuf");
            thread::spawn(move || drop(other))
        });
        drop(own);
        threads.into_iter().for_each(join);
        assert_eq!(pool.available(), 3);
        drop((pool, eal));
        assert!(all_are_freed(), "a pool is left");
    });
}

/// A buffer of the program.
struct Buffer {
    bytes: [u8; 4],
    memory: Arc<Memory>,
}

impl AsMut<[u8]> for Buffer {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.memory.free();
    }
}

#[test]
fn a_buffer_is_dropped_after_all_have_read() {
    explore(Some(4), || {
        let eal = eal();
        let (pool, memory) = (pool(&eal, 2), Arc::new(Memory::default()));
        let buffer = Buffer { bytes: [0; 4], memory: Arc::clone(&memory) };
        let mut own = Packet::attach(&pool, buffer).map_err(|(error, _)| error).expect("there are no ports");
        let (other, seen) = (own.share(&pool).expect("the pool has an mbuf"), Arc::clone(&memory));
        let thread = thread::spawn(move || {
            seen.touch();
            drop(other);
        });
        memory.touch();
        drop(own);
        join(thread);
        assert!(memory.is_freed(), "the buffer is left");
        drop((pool, eal));
        assert!(all_are_freed(), "a pool is left");
    });
}

/// Two threads take packets of the same data apart, and add as many references as that can need. DPDK counts to 65,535.
#[test]
fn references_are_counted_to_the_end() {
    const MORE: u32 = 40_000;
    explore(None, || {
        let eal = eal();
        let pool = pool(&eal, 3);
        let mut own = packet(&pool);
        let mut take_apart = [(); 2].map(|()| own.share(&pool).expect("the pool has an mbuf")).into_iter();
        let count = |packet: &Packet| -> bool {
            let begun = begin_taking_apart(packet.head(), || false);
            let counted = u32::from(packet.head().references());
            match begun {
                Ok(counting) => {
                    let sum = counted + MORE;
                    set_references(packet.head(), u16::try_from(sum).expect("the count is within 16 bits"));
                    drop(counting);
                    true
                }
                Err(Unsharable::Crowded) => false,
                Err(Unsharable::Forked) => panic!("this is no fork"),
            }
        };
        let other = take_apart.next().expect("there are two");
        let thread = thread::spawn(move || {
            let counted = count(&other);
            core::mem::forget(other);
            counted
        });
        let one = take_apart.next().expect("there are two");
        let counted = count(&one);
        let both = counted && join(thread);
        assert!(!both, "the second thread finds too many references");
        core::mem::forget((one, own, pool, eal));
    });
}
