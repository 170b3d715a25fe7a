// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Memory of the program that is registered for devices, and the pools and packets that it becomes. Who holds it is counted:
//! as long as somebody does, DPDK knows it and it is there.

use crate::{
    raw::{self, Usage},
    world::empty_scope,
};
use dpdk_rs::{
    BufferError, Eal, Mempool, MempoolError, Packet,
    memory::{DpdkBox, ExternalMemory, RegisterError},
};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;
use std::{
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

/// The kernel's pages.
const PAGE: usize = 4096;

/// Lengths of pages that most memory does not have, and that there cannot be.
const OTHERS: [usize; 10] = [0, 1, 64, PAGE - 1, PAGE + 1, 2 * PAGE, 1 << 31, 1 << 32, 1 << 63, usize::MAX];

/// The longest data of an mbuf.
const LONGEST: usize = 65_535;

/// A pool in pages has an mbuf for each of so many bytes.
const ROOM: u16 = 1_024;

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct PagePlan {
    #[proptest(strategy = "vec(any::<PageDeed>(), 0..40)")]
    deeds: Vec<PageDeed>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum PageDeed {
    #[proptest(weight = 6)]
    Register {
        #[proptest(strategy = "prop_oneof![9 => 0_usize..6, 1 => 15_usize..18]")]
        pages: usize,
        /// Bytes more than the pages have.
        #[proptest(strategy = "prop_oneof![8 => Just(0_usize), 1 => Just(1), 1 => Just(PAGE - 1)]")]
        more: usize,
        /// Bytes after the beginning of a page.
        #[proptest(strategy = "prop_oneof![8 => Just(0_usize), 1 => Just(64), 1 => Just(PAGE - 1)]")]
        at: usize,
        #[proptest(strategy = "prop_oneof![8 => Just(PAGE), 1 => prop::sample::select(&OTHERS)]")]
        page_len: usize,
        /// It is DPDK's.
        #[proptest(strategy = "prop::bool::weighted(0.1)")]
        inside: bool,
    },
    #[proptest(weight = 3)]
    Write { memory: u8, byte: u8 },
    #[proptest(weight = 3)]
    Pool {
        memory: u8,
        #[proptest(strategy = "1_u32..24")]
        size: u32,
    },
    #[proptest(weight = 4)]
    Attach { memory: u8 },
    #[proptest(weight = 4)]
    Alloc { pool: u8, byte: u8 },
    #[proptest(weight = 3)]
    Split { packet: u8, at: u16 },
    #[proptest(weight = 2)]
    DropMemory { memory: u8 },
    #[proptest(weight = 2)]
    DropPool { pool: u8 },
    #[proptest(weight = 4)]
    DropPacket { packet: u8, elsewhere: bool },
}

/// Bytes of the program or of DPDK, from a place on.
struct Memory {
    all: Bytes,
    start: usize,
    len: usize,
    alive: Arc<AtomicBool>,
}

enum Bytes {
    Own(Vec<u8>),
    Dpdk(DpdkBox<[u8]>),
}

impl AsMut<[u8]> for Memory {
    fn as_mut(&mut self) -> &mut [u8] {
        let all = match &mut self.all {
            Bytes::Own(bytes) => &mut bytes[..],
            Bytes::Dpdk(bytes) => bytes,
        };
        &mut all[self.start..][..self.len]
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        assert!(self.alive.swap(false, SeqCst), "memory is dropped twice");
    }
}

/// Registered memory, for as long as the sequence runs; whoever holds some of it holds the `Rc`.
struct Area {
    addr: usize,
    len: usize,
    alive: Arc<AtomicBool>,
}

/// In the order of the drops: memory is given back once its pools are freed.
struct Laboratory<'e> {
    eal: &'e Eal,
    number: u64,
    made: usize,
    packets: Vec<(Packet, Rc<Area>, Vec<u8>)>,
    memories: Vec<(ExternalMemory<Memory>, Rc<Area>, Vec<u8>)>,
    pools: Vec<(Mempool, Rc<Area>)>,
    plain: Mempool,
    areas: Vec<Rc<Area>>,
}

/// Does what is planned, and gives everything back.
pub(crate) fn run(eal: &Eal, number: u64, plan: &PagePlan) {
    let before = Usage::now();
    let plain = Mempool::builder(format!("pages{number}")).size(15).cache(0).data_room(0).build(eal).unwrap();
    let (packets, memories, pools, areas) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut laboratory = Laboratory { eal, number, made: 0, packets, memories, pools, plain, areas };
    for deed in &plan.deeds {
        laboratory.act(*deed);
        laboratory.compare();
    }
    let Laboratory { areas, packets, memories, pools, plain, .. } = laboratory;
    drop((packets, pools, memories, plain));
    empty_scope(eal);
    for area in areas {
        let known = raw::is_known(area.addr, area.len);
        assert_eq!((area.alive.load(SeqCst), known), (false, false), "registered memory is left, and nobody holds it");
    }
    assert_eq!(Usage::now(), before, "memory that is not registered any more is described");
}

fn place<T>(things: &[T], which: u8) -> Option<usize> {
    usize::from(which).checked_rem(things.len())
}

impl Laboratory<'_> {
    fn act(&mut self, deed: PageDeed) {
        match deed {
            PageDeed::Register { pages, more, at, page_len, inside } => {
                self.register(pages * PAGE + more, at, page_len, inside);
            }
            PageDeed::Write { memory, byte } => {
                if let Some(at) = place(&self.memories, memory) {
                    let (memory, _, bytes) = &mut self.memories[at];
                    memory.as_mut().fill(byte);
                    bytes.fill(byte);
                }
            }
            PageDeed::Pool { memory, size } => self.pool(memory, size),
            PageDeed::Attach { memory } => self.attach(memory),
            PageDeed::Alloc { pool, byte } => {
                let Some(at) = place(&self.pools, pool) else { return };
                let (pool, area) = &self.pools[at];
                let Some(mut packet) = pool.alloc() else { return assert_eq!(pool.available(), 0) };
                let len = packet.tailroom();
                packet.append(len).unwrap().fill(byte);
                self.packets.push((packet, Rc::clone(area), vec![byte; len]));
            }
            PageDeed::Split { packet, at } => {
                let Some(place) = place(&self.packets, packet) else { return };
                let (packet, area, bytes) = &mut self.packets[place];
                // A part without bytes would not lie there.
                let Some(at) = usize::from(at).checked_rem(bytes.len().saturating_sub(1)).map(|at| at + 1) else {
                    return;
                };
                match packet.split_off(at, &self.plain) {
                    Ok(rest) => {
                        let held = (rest, Rc::clone(area), bytes.split_off(at));
                        self.packets.push(held);
                    }
                    Err(error) => assert_eq!(self.plain.available(), 0, "{error}"),
                }
            }
            PageDeed::DropMemory { memory } => {
                if let Some(at) = place(&self.memories, memory) {
                    self.memories.swap_remove(at);
                }
            }
            PageDeed::DropPool { pool } => {
                if let Some(at) = place(&self.pools, pool) {
                    self.pools.swap_remove(at);
                }
            }
            PageDeed::DropPacket { packet, elsewhere } => {
                let Some(at) = place(&self.packets, packet) else { return };
                let (packet, _area, _) = self.packets.swap_remove(at);
                if elsewhere {
                    thread::spawn(move || drop(packet)).join().unwrap();
                }
            }
        }
    }

    fn register(&mut self, len: usize, at: usize, page_len: usize, inside: bool) {
        let alive = Arc::new(AtomicBool::new(true));
        let room = len + 3 * PAGE;
        let all = if inside {
            Bytes::Dpdk(self.eal.heap().boxed_slice(room, |_| 0).unwrap())
        } else {
            Bytes::Own(vec![0; room])
        };
        let mut memory = Memory { all, start: 0, len: room, alive: Arc::clone(&alive) };
        memory.start = memory.as_mut().as_ptr().align_offset(2 * PAGE) + at;
        memory.len = len;
        let addr = memory.as_mut().as_ptr().addr();
        let expected = match page_len {
            _ if !page_len.is_power_of_two() || page_len < PAGE => {
                Some(RegisterError::PageLength { page_len, least: PAGE })
            }
            _ if len == 0 || !len.is_multiple_of(page_len) => Some(RegisterError::Length { len, page_len }),
            _ if !addr.is_multiple_of(page_len) => Some(RegisterError::Address { addr, page_len }),
            _ if inside => Some(RegisterError::Known { addr, len }),
            _ => None,
        };
        match ExternalMemory::register(self.eal, memory, page_len) {
            Ok(memory) => {
                assert_eq!(expected, None);
                assert!(!memory.is_mapped(), "no device is a NIC");
                let area = Rc::new(Area { addr, len, alive });
                self.areas.push(Rc::clone(&area));
                self.memories.push((memory, area, vec![0; len]));
            }
            Err((error, memory)) => {
                assert_eq!((Some(error), memory.alive.load(SeqCst)), (expected, true));
                assert!(inside || !raw::is_known(addr, len), "memory that was refused is registered");
            }
        }
    }

    fn pool(&mut self, memory: u8, size: u32) {
        let Some(at) = place(&self.memories, memory) else { return };
        let (memory, area, bytes) = self.memories.swap_remove(at);
        self.made += 1;
        let name = format!("pages{}x{}", self.number, self.made);
        let fits = area.len / usize::from(ROOM);
        match Mempool::builder(name).size(size).cache(0).data_room(ROOM).build_in(self.eal, memory) {
            Ok(pool) => {
                assert!(size as usize <= fits, "{size} mbufs in {} bytes", area.len);
                self.pools.push((pool, area));
            }
            Err((MempoolError::NoRoom { .. }, memory)) => {
                assert!(size as usize > fits, "{size} mbufs in {} bytes", area.len);
                self.memories.push((memory, area, bytes));
            }
            Err((error, _)) => panic!("{error}"),
        }
    }

    fn attach(&mut self, memory: u8) {
        let Some(at) = place(&self.memories, memory) else { return };
        let (memory, area, bytes) = self.memories.swap_remove(at);
        match Packet::attach(&self.plain, memory) {
            Ok(packet) => {
                assert!(area.len <= LONGEST);
                self.packets.push((packet, area, bytes));
            }
            Err((error, memory)) => {
                match error {
                    BufferError::Length { len } => assert!(len == area.len && len > LONGEST),
                    BufferError::NoMbuf => assert_eq!(self.plain.available(), 0),
                    error => panic!("{error}"),
                }
                self.memories.push((memory, area, bytes));
            }
        }
    }

    fn compare(&mut self) {
        for (memory, area, bytes) in &mut self.memories {
            let there = memory.as_mut();
            assert_eq!((there.as_ptr().addr(), there.len()), (area.addr, area.len));
            assert!(there == bytes, "bytes of registered memory have changed");
        }
        for (packet, area, bytes) in &self.packets {
            assert!(packet.data() == bytes, "bytes in registered memory have changed");
            let range = packet.data().as_ptr_range();
            let within = area.addr..=area.addr + area.len;
            assert!(within.contains(&range.start.addr()) && within.contains(&range.end.addr()), "{range:?}");
        }
        for area in &self.areas {
            let (alive, known) = (area.alive.load(SeqCst), raw::is_known(area.addr, area.len));
            // Memory that is given back may be allocated again, and be registered anew.
            let again = self
                .areas
                .iter()
                .filter(|other| other.addr < area.addr + area.len && area.addr < other.addr + other.len);
            let again = again.filter(|other| other.alive.load(SeqCst)).count();
            assert!(alive || Rc::strong_count(area) == 1, "memory is gone that somebody holds");
            assert_eq!(known, again > 0, "{:#x}, {} bytes, {alive}", area.addr, area.len);
        }
    }
}
