// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Pools in memory of the program, their packets and others that refer to the same data, and caches of threads. They are made, used
//! beside a model, and dropped within one step, in any order.

use crate::{raw::Usage, world::empty_scope};
use dpdk_rs::{Eal, Mempool, MempoolError, Packet, PacketError, PoolCache};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;
use std::{
    cell::Cell,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct PinnedPlan {
    #[proptest(strategy = "vec(any::<PinnedDeed>(), 0..60)")]
    deeds: Vec<PinnedDeed>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum PinnedDeed {
    #[proptest(weight = 3)]
    Make {
        #[proptest(strategy = "1_u32..10")]
        size: u32,
        #[proptest(strategy = "prop::sample::select(&[0_u16, 1, 128, 192, 200, 2176])")]
        room: u16,
        /// In DPDK's memory.
        inside: bool,
        #[proptest(strategy = "prop::bool::weighted(0.1)")]
        short: bool,
    },
    #[proptest(weight = 8)]
    Alloc { pool: u8, len: u8, cached: bool },
    #[proptest(weight = 3)]
    Write { packet: u8, byte: u8 },
    #[proptest(weight = 5)]
    Share { packet: u8, into_memory: bool },
    #[proptest(weight = 4)]
    Split { packet: u8, at: u8 },
    #[proptest(weight = 4)]
    Copy { packet: u8, pool: u8 },
    #[proptest(weight = 6)]
    Drop { packet: u8, how: u8 },
    #[proptest(weight = 1)]
    Forsake { pool: u8 },
    #[proptest(weight = 2)]
    Cache { pool: u8, keep: bool },
}

/// Memory that counts how much of it there is.
struct Memory<M>(M, Arc<AtomicUsize>);

impl<M: AsMut<[u8]>> AsMut<[u8]> for Memory<M> {
    fn as_mut(&mut self) -> &mut [u8] {
        self.0.as_mut()
    }
}

impl<M> Drop for Memory<M> {
    fn drop(&mut self) {
        self.1.fetch_sub(1, SeqCst);
    }
}

/// Counts an mbuf that is out of its pool.
struct Out(Rc<Cell<usize>>);

impl Out {
    fn of(count: &Rc<Cell<usize>>) -> Self {
        count.set(count.get() + 1);
        Self(Rc::clone(count))
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// A segment: the mbuf with the buffer, which whoever refers to it keeps out of its pool; the mbuf that refers to it, if it is another.
struct Piece {
    owner: Rc<Out>,
    _referrer: Option<Out>,
    bytes: Vec<u8>,
}

struct Held {
    packet: Packet<u64>,
    pieces: Vec<Piece>,
}

impl Held {
    fn bytes(&self) -> Vec<u8> {
        self.pieces.iter().flat_map(|piece| piece.bytes.clone()).collect()
    }
}

struct Pool {
    pool: Mempool<u64>,
    cache: Option<PoolCache<u64>>,
    out: Rc<Cell<usize>>,
}

impl Pool {
    fn cached(&self) -> usize {
        self.cache.as_ref().map_or(0, PoolCache::len)
    }

    fn free(&self) -> usize {
        self.pool.size() - self.out.get() - self.cached()
    }

    fn room(&self) -> usize {
        self.pool.data_room().saturating_sub(128)
    }
}

struct Pinned<'e> {
    eal: &'e Eal,
    number: u64,
    made: usize,
    alive: Arc<AtomicUsize>,
    plain: Pool,
    pools: Vec<Pool>,
    packets: Vec<Held>,
}

/// Carries out a plan. What it makes is named after the sequence.
pub(crate) fn run(eal: &Eal, number: u64, plan: &PinnedPlan) {
    let before = Usage::now();
    let alive: Arc<AtomicUsize> = Arc::default();
    let plain = Mempool::builder(format!("pinned{number}")).size(31).cache(0).data_room(0).build(eal).unwrap();
    let plain = Pool { pool: plain, cache: None, out: Rc::default() };
    let (pools, packets) = (Vec::new(), Vec::new());
    let mut pinned = Pinned { eal, number, made: 0, alive: Arc::clone(&alive), plain, pools, packets };
    for deed in &plan.deeds {
        pinned.carry_out(*deed);
        pinned.compare();
    }
    drop(pinned);
    empty_scope(eal);
    assert_eq!(alive.load(SeqCst), 0, "memory of pools that are gone is left");
    assert_eq!(Usage::now(), before, "pools that are gone hold memory");
}

fn place<T>(things: &[T], which: u8) -> Option<usize> {
    usize::from(which).checked_rem(things.len())
}

impl Pinned<'_> {
    fn carry_out(&mut self, deed: PinnedDeed) {
        match deed {
            PinnedDeed::Make { size, room, inside, short } => self.make((size, room), inside, short),
            PinnedDeed::Alloc { pool, len, cached } => self.alloc(pool, len, cached),
            PinnedDeed::Write { packet, byte } => {
                let Some(at) = place(&self.packets, packet) else { return };
                let Held { packet, pieces } = &mut self.packets[at];
                match packet.data_mut() {
                    Ok(data) => {
                        assert_eq!(Rc::strong_count(&pieces[0].owner), 1, "data of another packet can be changed");
                        data.fill(byte);
                        pieces[0].bytes.fill(byte);
                    }
                    Err(error) => {
                        assert_eq!((error, Rc::strong_count(&pieces[0].owner) > 1), (PacketError::Shared, true));
                    }
                }
            }
            PinnedDeed::Share { packet, into_memory } => self.share(packet, into_memory),
            PinnedDeed::Split { packet, at } => self.split(packet, usize::from(at)),
            PinnedDeed::Copy { packet, pool } => self.copy(packet, pool),
            PinnedDeed::Drop { packet, how } => {
                let Some(at) = place(&self.packets, packet) else { return };
                let Held { packet, pieces } = self.packets.swap_remove(at);
                let caches = self.pools.iter_mut().filter_map(|pool| pool.cache.as_mut()).next();
                match (how % 3, caches) {
                    (0, _) => thread::spawn(move || drop(packet)).join().unwrap(),
                    (1, Some(cache)) => cache.free(packet),
                    _ => drop(packet),
                }
                drop(pieces);
            }
            PinnedDeed::Forsake { pool } => {
                if let Some(at) = place(&self.pools, pool) {
                    self.pools.swap_remove(at);
                }
            }
            PinnedDeed::Cache { pool, keep } => {
                let Some(at) = place(&self.pools, pool) else { return };
                let Pool { pool, cache, .. } = &mut self.pools[at];
                match cache {
                    Some(cache) if keep => cache.flush(),
                    _ if keep => *cache = Some(pool.thread_cache(4).unwrap()),
                    _ => *cache = None,
                }
            }
        }
    }

    fn make(&mut self, (size, room): (u32, u16), inside: bool, short: bool) {
        self.made += 1;
        let stride = usize::from(room).max(1).next_multiple_of(64);
        let len = if short { stride * size as usize - 1 } else { stride * size as usize + 63 };
        let builder =
            Mempool::builder(format!("pinned{}x{}", self.number, self.made)).size(size).cache(0).data_room(room);
        self.alive.fetch_add(1, SeqCst);
        let alive = Arc::clone(&self.alive);
        let pool = if inside {
            let memory = self.eal.heap().boxed_slice(len, |_| 0).unwrap();
            builder.build_in(self.eal, Memory(memory, alive)).map_err(|(error, _)| error)
        } else {
            builder.build_in(self.eal, Memory(vec![0; len], alive)).map_err(|(error, _)| error)
        };
        match pool {
            Ok(pool) => {
                assert!(!short, "{size} buffers of {room} bytes in {len}");
                self.pools.push(Pool { pool, cache: None, out: Rc::default() });
            }
            Err(MempoolError::NoRoom { fits, .. }) => assert!(short && fits < size, "{fits} of {size}"),
            Err(MempoolError::Unreachable { .. }) => assert!(!inside, "DPDK's memory is in reach"),
            Err(error) => panic!("{error}"),
        }
    }

    fn alloc(&mut self, which: u8, len: u8, cached: bool) {
        let Some(at) = place(&self.pools, which) else { return };
        let pool = &mut self.pools[at];
        let (left, kept) = (pool.free(), pool.cached());
        let (packet, expected) = match &mut pool.cache {
            Some(cache) if cached => (cache.alloc(), left + kept > 0),
            _ => (pool.pool.alloc(), left > 0),
        };
        assert_eq!(packet.is_some(), expected, "{left} are free, and {kept} in the cache");
        let Some(mut packet) = packet else { return };
        assert_eq!((packet.tailroom(), packet.len()), (pool.room(), 0));
        let bytes = vec![len ^ 0x5a; usize::from(len).min(pool.room())];
        packet.append(bytes.len()).unwrap().copy_from_slice(&bytes);
        let pieces = vec![Piece { owner: Rc::new(Out::of(&pool.out)), _referrer: None, bytes }];
        self.packets.push(Held { packet, pieces });
    }

    fn share(&mut self, which: u8, into_memory: bool) {
        let Some(at) = place(&self.packets, which) else { return };
        let Held { packet, pieces } = &mut self.packets[at];
        if let Some(pool) = self.pools.first().filter(|_| into_memory) {
            assert!(packet.share(&pool.pool).is_none(), "its mbufs cannot refer to other data");
            return;
        }
        let share = packet.share(&self.plain.pool);
        assert_eq!(share.is_some(), self.plain.free() >= pieces.len());
        let Some(packet) = share else { return };
        let refer = |piece: &Piece| Piece {
            owner: Rc::clone(&piece.owner),
            _referrer: Some(Out::of(&self.plain.out)),
            bytes: piece.bytes.clone(),
        };
        let pieces = pieces.iter().map(refer).collect();
        self.packets.push(Held { packet, pieces });
    }

    /// Within the first segment.
    fn split(&mut self, which: u8, at: usize) {
        let Some(place) = place(&self.packets, which) else { return };
        let Held { packet, pieces } = &mut self.packets[place];
        let first = &mut pieces[0];
        if at >= first.bytes.len() {
            return;
        }
        match packet.split_off(at, &self.plain.pool) {
            Ok(packet) => {
                let bytes = first.bytes.split_off(at);
                let rest = Piece { owner: Rc::clone(&first.owner), _referrer: Some(Out::of(&self.plain.out)), bytes };
                let pieces = std::iter::once(rest).chain(pieces.drain(1..)).collect();
                self.packets.push(Held { packet, pieces });
            }
            Err(error) => assert_eq!((error, self.plain.free()), (PacketError::NoMbuf, 0)),
        }
    }

    fn copy(&mut self, which: u8, into: u8) {
        let (Some(at), Some(into)) = (place(&self.packets, which), place(&self.pools, into)) else { return };
        let (bytes, pool) = (self.packets[at].bytes(), &self.pools[into]);
        let copy = self.packets[at].packet.copy(&pool.pool);
        let needed = match pool.room() {
            _ if bytes.is_empty() => 1,
            0 => usize::MAX,
            room => bytes.len().div_ceil(room),
        };
        assert_eq!(copy.is_some(), needed <= pool.free(), "{needed} are needed, {} free", pool.free());
        let Some(packet) = copy else { return };
        let piece = |bytes: &[u8]| Piece { owner: Rc::new(Out::of(&pool.out)), _referrer: None, bytes: bytes.to_vec() };
        let pieces = if bytes.is_empty() { vec![piece(&[])] } else { bytes.chunks(pool.room()).map(piece).collect() };
        self.packets.push(Held { packet, pieces });
    }

    fn compare(&self) {
        for pool in self.pools.iter().chain([&self.plain]) {
            assert_eq!(pool.pool.available(), pool.free(), "free mbufs of {:?}", pool.pool);
        }
        for Held { packet, pieces } in &self.packets {
            assert!(packet.segments().eq(pieces.iter().map(|piece| &piece.bytes[..])), "the bytes have changed");
            let shared = pieces.iter().any(|piece| Rc::strong_count(&piece.owner) > 1);
            assert_eq!(packet.is_shared(), shared);
        }
    }
}
