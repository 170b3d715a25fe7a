// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A primary process and a secondary one, beside a model of where each mbuf is.

use crate::{
    frames::frame,
    other::{Other, describe},
    processes::Deed,
    raw,
};
use dpdk_rs::{Eal, Mempool, Packet, Ring, lcore, memory::Memzone, secondary::LookupError};
use std::{collections::VecDeque, mem, os::unix::net::UnixListener};

/// A sequence starts no more secondary processes.
const ATTACHED: usize = 3;

pub(crate) const POOLS: u8 = 2;
pub(crate) const RINGS: u8 = 3;
pub(crate) const ZONES: u8 = 2;

/// How many mbufs a pool has, packets a ring, bytes a zone.
const SIZE: usize = 15;
const CAPACITY: usize = 7;
const ZONE: usize = 64;

/// A packet, as it should be.
#[derive(Clone, Debug)]
struct Item {
    id: u64,
    pool: u8,
    bytes: Vec<u8>,
}

impl Item {
    fn text(&self) -> String {
        format!("{} {:?}", self.id, self.bytes)
    }
}

#[derive(Default)]
struct Pool {
    /// Its handle in this process.
    here: Option<Mempool<u64>>,
    /// Mbufs that are out, those that handles keep included, and those among them that nobody will bring back.
    out: usize,
    /// Handles of the secondary process, each of which keeps an mbuf.
    there: usize,
}

impl Pool {
    fn exists(&self) -> bool {
        self.here.is_some() || self.out > 0
    }
}

#[derive(Default)]
struct Shared {
    here: Option<Ring<Packet<u64>>>,
    /// The secondary process has found it.
    there: bool,
    /// It was made: it stays for ever, since other processes may have it.
    made: bool,
    queue: VecDeque<Item>,
}

pub(crate) struct Laboratory<'a> {
    eal: &'a Eal,
    listener: &'a UnixListener,
    number: u64,
    other: Option<Other>,
    attached: usize,
    pools: [Pool; POOLS as usize],
    rings: [Shared; RINGS as usize],
    zones: [Option<Memzone>; ZONES as usize],
    /// The secondary process has the port.
    has_port: bool,
    here: Vec<(Packet<u64>, Item)>,
    there: Vec<Item>,
    next_id: u64,
}

impl<'a> Laboratory<'a> {
    pub(crate) fn new(eal: &'a Eal, listener: &'a UnixListener, number: u64) -> Self {
        Self {
            eal,
            listener,
            number,
            other: None,
            attached: 0,
            pools: Default::default(),
            rings: Default::default(),
            zones: Default::default(),
            has_port: false,
            here: Vec::new(),
            there: Vec::new(),
            next_id: 1,
        }
    }

    fn pool_name(&self, pool: u8) -> String {
        format!("p{}x{pool}", self.number)
    }

    fn ring_name(&self, ring: u8) -> String {
        format!("r{}x{ring}", self.number)
    }

    fn zone_name(&self, zone: u8) -> String {
        format!("z{}x{zone}", self.number)
    }

    fn pool(&mut self, pool: u8) -> &mut Pool {
        &mut self.pools[usize::from(pool)]
    }

    fn ring(&mut self, ring: u8) -> &mut Shared {
        &mut self.rings[usize::from(ring)]
    }

    /// Has the secondary process do something; `None` if there is none.
    fn ask(&mut self, order: &str) -> Option<String> {
        self.other.as_mut().map(|other| other.ask(order))
    }

    /// Whether there was something to do it with.
    pub(crate) fn apply(&mut self, deed: Deed) -> bool {
        let done = match deed {
            Deed::Attach => self.attach(),
            Deed::End | Deed::Exit | Deed::Kill => self.part(deed),
            Deed::MakePool(pool) => self.make_pool(pool),
            Deed::DropPool(pool) => self.pool(pool).here.take().map(drop),
            Deed::FindPool(pool) => self.find_pool(pool),
            Deed::DropFoundPool(pool) => self.drop_found_pool(pool),
            Deed::MakeRing(ring) => self.make_ring(ring),
            Deed::DropRing(ring) => self.ring(ring).here.take().map(drop),
            Deed::FindRing(ring) => self.find_ring(ring),
            Deed::MakeZone(zone, byte) => self.make_zone(zone, byte),
            Deed::DropZone(zone) => self.zones[usize::from(zone)].take().map(drop),
            Deed::FindZone(zone) => self.find_zone(zone),
            Deed::FindPorts => self.ask("ports").map(|ports| {
                assert_eq!(ports, "[(\"net_ring0\", (1, 1))]");
                self.has_port = true;
            }),
            Deed::DropPorts if self.has_port => self.ask("unports").map(|_| self.has_port = false),
            Deed::DropPorts => None,
            Deed::Alloc { here, pool, len } => {
                let has = |pool: &Pool| if here { pool.here.is_some() } else { pool.there > 0 };
                match (one_of(&self.pools, pool, has), here) {
                    (None, _) => None,
                    (Some(pool), true) => self.alloc_here(pool, len),
                    (Some(pool), false) => self.alloc_there(pool, len),
                }
            }
            Deed::Flip { here: true, packet } => chosen(packet, self.here.len()).map(|place| {
                let (packet, item) = &mut self.here[place];
                packet.data_mut().expect("it is not shared").iter_mut().for_each(|byte| *byte ^= 0xff);
                item.bytes.iter_mut().for_each(|byte| *byte ^= 0xff);
            }),
            Deed::Flip { here: false, packet } => chosen(packet, self.there.len()).map(|place| {
                let item = &mut self.there[place];
                item.bytes.iter_mut().for_each(|byte| *byte ^= 0xff);
                let order = format!("flip {}", item.id);
                assert_eq!(self.ask(&order).as_deref(), Some("done"));
            }),
            Deed::Drop { here: true, packet } => chosen(packet, self.here.len()).map(|place| {
                let (packet, item) = self.here.swap_remove(place);
                drop(packet);
                self.pool(item.pool).out -= 1;
            }),
            Deed::Drop { here: false, packet } => chosen(packet, self.there.len()).map(|place| {
                let item = self.there.swap_remove(place);
                assert_eq!(self.ask(&format!("drop {}", item.id)).as_deref(), Some("done"));
                self.pool(item.pool).out -= 1;
            }),
            Deed::Put { here, ring, packet } => match (self.one_ring(here, ring), here) {
                (None, _) => None,
                (Some(ring), true) => self.put_here(ring, packet),
                (Some(ring), false) => self.put_there(ring, packet),
            },
            Deed::Take { here, ring } => match (self.one_ring(here, ring), here) {
                (None, _) => None,
                (Some(ring), true) => self.take_here(ring),
                (Some(ring), false) => self.take_there(ring),
            },
        };
        done.is_some()
    }

    /// One of the rings that a process has.
    fn one_ring(&self, here: bool, number: u8) -> Option<u8> {
        one_of(&self.rings, number, |ring| if here { ring.here.is_some() } else { ring.there })
    }

    fn attach(&mut self) -> Option<()> {
        if self.other.is_some() || self.attached == ATTACHED {
            return None;
        }
        self.attached += 1;
        self.other = Some(Other::start(self.listener));
        Some(())
    }

    /// The secondary process ends in one of three ways.
    fn part(&mut self, how: Deed) -> Option<()> {
        let other = self.other.take()?;
        match how {
            Deed::End => other.end(true),
            Deed::Exit => other.end(false),
            _ => other.kill(),
        }
        let items = mem::take(&mut self.there);
        for pool in &mut self.pools {
            let handles = mem::take(&mut pool.there);
            if matches!(how, Deed::End) {
                pool.out -= handles;
            }
        }
        if matches!(how, Deed::End) {
            items.iter().for_each(|item| self.pool(item.pool).out -= 1);
        }
        self.rings.iter_mut().for_each(|ring| ring.there = false);
        self.has_port = false;
        Some(())
    }

    fn make_pool(&mut self, pool: u8) -> Option<()> {
        let builder = Mempool::<u64>::builder(self.pool_name(pool)).size(SIZE as u32).cache(0).data_room(256);
        let (made, known) = (builder.build(self.eal), self.pool(pool));
        assert_eq!(made.is_err(), known.exists(), "{made:?} with {} mbufs out", known.out);
        known.here = known.here.take().or(made.ok());
        Some(())
    }

    fn find_pool(&mut self, pool: u8) -> Option<()> {
        let name = self.pool_name(pool);
        let answer = self.ask(&format!("pool {name}"))?;
        let known = self.pool(pool);
        if !known.exists() {
            assert_eq!(answer, format!("{:?}", LookupError::Missing { kind: "pool", name }));
        } else if known.out == SIZE {
            assert_eq!(answer, format!("{:?}", LookupError::Exhausted(name)));
        } else {
            assert_eq!(answer, "done");
            known.there += 1;
            known.out += 1;
        }
        Some(())
    }

    fn drop_found_pool(&mut self, pool: u8) -> Option<()> {
        if self.pool(pool).there == 0 {
            return None;
        }
        let order = format!("unpool {}", self.pool_name(pool));
        assert_eq!(self.ask(&order)?, "done");
        self.pool(pool).there -= 1;
        self.pool(pool).out -= 1;
        Some(())
    }

    fn make_ring(&mut self, ring: u8) -> Option<()> {
        let made = Ring::builder(self.ring_name(ring)).capacity(CAPACITY as u32).shared().build(self.eal);
        let known = self.ring(ring);
        assert_eq!(made.is_err(), known.made, "{made:?}");
        known.made = true;
        known.here = known.here.take().or(made.ok());
        Some(())
    }

    fn find_ring(&mut self, ring: u8) -> Option<()> {
        let name = self.ring_name(ring);
        let answer = self.ask(&format!("ring {name}"))?;
        let known = self.ring(ring);
        if known.made {
            assert_eq!(answer, "done");
            known.there = true;
        } else {
            assert_eq!(answer, format!("{:?}", LookupError::Missing { kind: "ring", name }));
        }
        Some(())
    }

    fn make_zone(&mut self, zone: u8, byte: u8) -> Option<()> {
        let made = Memzone::builder(self.zone_name(zone), ZONE).build(self.eal);
        let known = &mut self.zones[usize::from(zone)];
        assert_eq!(made.is_err(), known.is_some(), "{made:?}");
        if let Ok(mut made) = made {
            made.bytes_mut().fill(byte);
            *known = Some(made);
        }
        Some(())
    }

    fn find_zone(&mut self, zone: u8) -> Option<()> {
        let answer = self.ask(&format!("zone {}", self.zone_name(zone)))?;
        let known = self.zones[usize::from(zone)].as_ref();
        assert_eq!(answer, known.map_or("none".to_owned(), |zone| format!("{:?}", zone.bytes())));
        Some(())
    }

    fn next_item(&mut self, pool: u8, len: u8) -> Item {
        let id = self.next_id;
        self.next_id += 1;
        Item { id, pool, bytes: frame(id as usize, usize::from(len)) }
    }

    fn alloc_here(&mut self, pool: u8, len: u8) -> Option<()> {
        let item = self.next_item(pool, len);
        let known = self.pool(pool);
        let packet = known.here.as_ref()?.alloc();
        assert_eq!(packet.is_some(), known.out < SIZE, "{} are out", known.out);
        if let Some(mut packet) = packet {
            known.out += 1;
            *packet.private_mut() = item.id;
            packet.append(item.bytes.len()).expect("it fits").copy_from_slice(&item.bytes);
            self.here.push((packet, item));
        }
        Some(())
    }

    fn alloc_there(&mut self, pool: u8, len: u8) -> Option<()> {
        let item = self.next_item(pool, len);
        let answer = self.ask(&format!("alloc {} {} {len}", self.pool_name(pool), item.id))?;
        let known = self.pool(pool);
        assert_eq!(answer, if known.out < SIZE { "done" } else { "none" });
        if known.out < SIZE {
            known.out += 1;
            self.there.push(item);
        }
        Some(())
    }

    fn put_here(&mut self, ring: u8, packet: u8) -> Option<()> {
        let place = chosen(packet, self.here.len())?;
        let ring = &mut self.rings[usize::from(ring)];
        let handle = ring.here.as_ref()?;
        let (packet, item) = self.here.swap_remove(place);
        match handle.enqueue(packet) {
            Ok(()) => ring.queue.push_back(item),
            Err(full) => {
                assert_eq!(ring.queue.len(), CAPACITY);
                self.here.push((full.0, item));
            }
        }
        assert!(ring.queue.len() <= CAPACITY);
        Some(())
    }

    fn put_there(&mut self, ring: u8, packet: u8) -> Option<()> {
        let place = chosen(packet, self.there.len())?;
        let order = format!("put {} {}", self.ring_name(ring), self.there[place].id);
        let answer = self.ask(&order)?;
        let ring = &mut self.rings[usize::from(ring)];
        if ring.queue.len() < CAPACITY {
            assert_eq!(answer, "done");
            ring.queue.push_back(self.there.swap_remove(place));
        } else {
            assert_eq!(answer, "full");
        }
        Some(())
    }

    fn take_here(&mut self, ring: u8) -> Option<()> {
        let ring = &mut self.rings[usize::from(ring)];
        let packet = ring.here.as_ref()?.dequeue();
        let item = ring.queue.pop_front();
        assert_eq!(packet.as_ref().map(describe), item.as_ref().map(Item::text));
        self.here.extend(packet.zip(item));
        Some(())
    }

    fn take_there(&mut self, ring: u8) -> Option<()> {
        let answer = self.ask(&format!("take {}", self.ring_name(ring)))?;
        let item = self.ring(ring).queue.pop_front();
        assert_eq!(answer, item.as_ref().map_or("none".to_owned(), Item::text));
        self.there.extend(item);
        Some(())
    }

    /// Compares the two processes with the model, once what can be freed is freed.
    pub(crate) fn verify(&mut self) {
        lcore::scope(self.eal, |_| ()).expect("nothing was launched");
        for (packet, item) in &self.here {
            assert_eq!(describe(packet), item.text());
        }
        for number in 0..POOLS {
            let name = self.pool_name(number);
            let pool = self.pool(number);
            let (exists, there, expected) = (pool.exists(), pool.there, SIZE - pool.out);
            assert_eq!(raw::pool_exists(&name), exists, "{name} with {} mbufs out", SIZE - expected);
            if let Some(here) = &pool.here {
                assert_eq!(here.available(), expected, "mbufs of {name}");
            }
            if there > 0 {
                assert_eq!(self.ask(&format!("available {name}")), Some(expected.to_string()), "as it is seen there");
            }
        }
        for ring in &self.rings {
            assert!(ring.here.as_ref().is_none_or(|here| here.len() == ring.queue.len()));
        }
    }

    /// Empties what this process can reach: what is out then is out for ever.
    pub(crate) fn end(mut self) {
        self.part(Deed::End);
        for ring in 0..RINGS {
            while !self.ring(ring).queue.is_empty() && self.take_here(ring).is_some() {}
        }
        for (packet, item) in mem::take(&mut self.here) {
            drop(packet);
            self.pool(item.pool).out -= 1;
        }
        self.verify();
        self.pools.iter_mut().for_each(|pool| drop(pool.here.take()));
        self.verify();
    }
}

/// The place of one of those that are fit.
fn one_of<T>(all: &[T], number: u8, fit: impl Fn(&T) -> bool) -> Option<u8> {
    let places: Vec<u8> = (0..).zip(all).filter(|(_, one)| fit(one)).map(|(place, _)| place).collect();
    chosen(number, places.len()).map(|place| places[place])
}

/// Which of so many a number chooses.
fn chosen(number: u8, count: usize) -> Option<usize> {
    usize::from(number).checked_rem(count)
}
