// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A hostile guest: where its memory is, and what it puts into its rings.

use crate::{
    front_end::{FrontEnd, feature},
    memory::Memory,
    random::{Random, pick},
    ring::{self, Chain, Part, Ring},
};
use std::path::Path;

/// The queues by number, as the guest calls them.
pub(crate) const RECEIVE: u32 = 0;
pub(crate) const TRANSMIT: u32 = 1;

/// The first region: rings, then data. The second follows at once, so that pieces may lie in both. The third is
/// elsewhere.
const RINGS: u64 = 2 * ring::LEN;
const FIRST: u64 = 200_000;
const SECOND: u64 = 100_001;
const THIRD: (u64, u64) = (1 << 32, 5001);
/// The device's frames go to the end of the second region, where nothing is read from.
const LANDING: u64 = FIRST + 60_000;

/// What distinguishes one connection from another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) features: u64,
    pub(crate) size: u16,
    /// Frames of more segments than an mbuf counts.
    pub(crate) endless: bool,
    /// The device's frames may go anywhere, even to the rings.
    pub(crate) reckless: bool,
}

impl Plan {
    pub(crate) fn new(random: &mut Random, endless: bool) -> Self {
        let mut features = feature::PROTOCOL;
        for one in [
            feature::MRG_RXBUF,
            feature::INDIRECT,
            feature::EVENT_IDX,
            feature::VERSION_1,
            feature::PACKED,
            feature::CSUM,
            feature::HOST_TSO4 | feature::HOST_TSO6,
        ] {
            features |= if random.one_in(2) { one } else { 0 };
        }
        let reckless = random.one_in(8);
        Self { features, size: pick(&[256, 256, 256, 128, 64], random), endless, reckless }
    }
}

/// A guest and its front-end.
pub(crate) struct Guest {
    pub(crate) plan: Plan,
    pub(crate) memory: Memory,
    moves: u64,
    pub(crate) front_end: FrontEnd,
    pub(crate) receive: Ring,
    pub(crate) transmit: Ring,
}

/// Memory with room for rings and frames. The device takes a table with the same numbers for the same memory: `moves`
/// says how many others there were.
fn memory(random: &mut Random, moves: u64) -> Memory {
    Memory::new(random, &[(0, FIRST), (FIRST, SECOND), (THIRD.0, THIRD.1 + moves)])
}

impl Guest {
    pub(crate) fn connect(random: &mut Random, socket: &Path, mut plan: Plan) -> Self {
        let (front_end, features) = FrontEnd::connect(socket, plan.features);
        plan.features = features;
        let packed = features & feature::PACKED != 0;
        let receive = Ring::new(0, plan.size, packed, true);
        let transmit = Ring::new(ring::LEN, plan.size, packed, false);
        let mut guest = Self { plan, memory: memory(random, 0), moves: 0, front_end, receive, transmit };
        guest.memory.write(0, &[0; RINGS as usize]);
        guest.front_end.set_memory(&guest.memory);
        guest.front_end.start(RECEIVE, &guest.receive);
        guest.front_end.start(TRANSMIT, &guest.transmit);
        guest.front_end.settle();
        guest
    }

    /// Other memory, while the device has the rings in the old one and goes on.
    pub(crate) fn move_memory(&mut self, random: &mut Random) {
        self.moves += 1;
        let mut memory = memory(random, self.moves);
        // The rings are as they were.
        for at in (0..RINGS).step_by(8) {
            memory.write(at, &self.memory.read::<8>(at));
        }
        self.front_end.set_memory(&memory);
        self.memory = memory;
    }

    /// Goes on after what the device has used.
    pub(crate) fn go_on(&mut self) {
        if self.transmit.is_packed() {
            self.restart(TRANSMIT);
            self.restart(RECEIVE);
        } else {
            self.transmit.advance(&self.memory);
            self.receive.advance(&self.memory);
        }
    }

    /// Starts a ring anew where the device was.
    fn restart(&mut self, queue: u32) {
        let ring = if queue == RECEIVE { &mut self.receive } else { &mut self.transmit };
        ring.set_base(self.front_end.stop(queue));
        self.front_end.start(queue, ring);
        self.front_end.settle();
    }

    /// Changes something of what is in the ring for the device.
    pub(crate) fn poke(&mut self, random: &mut Random) {
        let ring = self.transmit.clone();
        for _ in 0..random.below(6) {
            let number = random.below(u64::from(ring.size)) as u16;
            if random.one_in(2) || ring.is_packed() {
                let byte = random.next() as u8;
                self.memory.write(ring.field(number, random.below(16)), &[byte]);
            } else {
                let head = pick(&[number, random.next() as u16], random);
                self.memory.write(ring.entry(number), &head.to_le_bytes());
            }
        }
        if random.one_in(4) && !ring.is_packed() {
            // Known: the driver does not withstand more than the ring has.
            ring.announce(&mut self.memory, random.below(u64::from(ring.size) + 1) as u16);
        }
    }

    /// The length of the header before each frame.
    pub(crate) const fn header(&self) -> u32 {
        if self.plan.features & (feature::MRG_RXBUF | feature::VERSION_1 | feature::PACKED) != 0 { 12 } else { 10 }
    }

    /// Whether the device may write checksums to frames that it received.
    pub(crate) const fn has_checksums(&self) -> bool {
        self.plan.features & (feature::CSUM | feature::HOST_TSO4 | feature::HOST_TSO6) != 0
    }

    /// Whether something may change at any time. Known: the driver does not withstand changes of indirect tables, nor all
    /// requests for checksums.
    pub(crate) const fn can_race(&self) -> bool {
        !(self.has_checksums()
            || self.plan.endless
            || self.plan.reckless
            || self.plan.features & feature::INDIRECT != 0)
    }

    /// Chains for frames that the device receives; with `odd` ones among them.
    pub(crate) fn frames(&mut self, random: &mut Random, odd: bool) -> Vec<Chain> {
        if self.plan.endless {
            return vec![self.endless(random)];
        }
        let size = u64::from(self.plan.size);
        let count = if random.one_in(2) { size } else { 1 + random.below(size) };
        let frame = |_| {
            let odd = odd && random.one_in(16);
            self.frame(random, odd)
        };
        (0..count).map(frame).collect()
    }

    fn frame(&mut self, random: &mut Random, odd: bool) -> Chain {
        let count = match random.below(32) {
            0 => 1 + random.below(32),
            1 | 2 if odd => 1 + random.below(300),
            3..8 => 2 + random.below(3),
            _ => 1,
        };
        let mut parts: Vec<Part> = (0..count).map(|_| self.piece(random, odd)).collect();
        let header = random.one_in(8);
        if header {
            // The header alone, or cut.
            let len = pick(&[self.header(), self.header(), 1, 10], random);
            parts.insert(0, Part { len, ..self.piece(random, false) });
        }
        if self.has_checksums() {
            self.write_header(random, &parts);
        }
        Chain { parts, table: self.table(random, count + u64::from(header), odd) }
    }

    /// A place for an indirect table, if the chain has one: sometimes across regions.
    ///
    /// Known: the driver loses the memory of its copy of a table across regions, if one of the descriptors is wrong.
    fn table(&self, random: &mut Random, count: u64, odd: bool) -> Option<u64> {
        let len = 16 * count;
        let indirect = self.plan.features & feature::INDIRECT != 0 && random.one_in(3);
        let across = FIRST - 16 * random.below(count + 1) - random.below(16);
        let within = RINGS + random.below(4000);
        indirect.then(|| if odd || random.one_in(2) { within } else { across.min(LANDING - len) })
    }

    fn piece(&self, random: &mut Random, odd: bool) -> Part {
        if odd {
            let edges = [0, FIRST, FIRST + SECOND, THIRD.0, THIRD.0 + THIRD.1, RINGS, u64::MAX, random.next()];
            let address = pick(&edges, random).wrapping_add(random.below(5000)).wrapping_sub(2500);
            let lens = [0, 1, 9, 11, 12, 13, 2047, 2048, 2049, 4096, 65_535, 65_536, 1 << 31, u32::MAX];
            return Part { address, len: pick(&lens, random) };
        }
        let len = match random.below(8) {
            0 => random.below(20),
            1 => 2030 + random.below(40),
            2 if random.one_in(4) => random.below(9000),
            _ => 40 + random.below(200),
        };
        // Before the landing place, or in the third region.
        let (start, end) =
            if random.one_in(8) && len < THIRD.1 { (THIRD.0, THIRD.0 + THIRD.1) } else { (RINGS + 20_000, LANDING) };
        Part { address: start + random.below(end - start - len), len: len as u32 }
    }

    /// A frame of as many bytes as an mbuf counts segments, or a few more or less: from the same memory again and again.
    fn endless(&self, random: &mut Random) -> Chain {
        let header = self.header();
        let counts = [1, 2, 100, 32_766, 32_767, 40_000, 65_535, 65_536, 65_537, 65_546, 65_990, 70_000];
        let mut rest = pick(&counts, random) + header;
        let mut parts = Vec::new();
        while rest > 0 {
            let len = rest.min(1 + random.below(40_000) as u32);
            parts.push(Part { address: RINGS + 20_000 + random.below(100_000), len });
            rest -= len;
        }
        Chain { parts, table: None }
    }

    /// Requests to compute checksums and to cut, which lie.
    fn write_header(&mut self, random: &mut Random, parts: &[Part]) {
        let len = parts.iter().map(|part| u64::from(part.len)).sum::<u64>();
        let start = pick(&[14, 34, 54, random.below(len.min(65_535) + 2) as u16, random.next() as u16], random);
        let mut offset = pick(&[6, 16, 0, random.next() as u16], random);
        if start.wrapping_add(offset) == 2047 {
            // Known: the driver writes the second byte beyond an mbuf of 2,048.
            offset = 0;
        }
        let mut header = vec![pick(&[0, 1, 1, 2, 255], random), pick(&[0, 0, 1, 3, 4, 0x81, 255], random)];
        for word in [random.next() as u16, pick(&[0, 1, 100, 1460, u16::MAX], random), start, offset, 0] {
            header.extend(word.to_le_bytes());
        }
        let mut header = &header[..];
        for part in parts {
            let (now, later) = header.split_at(header.len().min(part.len as usize));
            if self.memory.written(part.address, now.len() as u64).is_some_and(|bytes| bytes.len() == now.len())
                && part.address >= RINGS
            {
                self.memory.write(part.address, now);
            }
            header = later;
        }
    }

    /// Places for frames of the device.
    pub(crate) fn places(&self, random: &mut Random) -> Vec<Chain> {
        let count = 1 + random.below(u64::from(self.plan.size));
        let place = |random: &mut Random| {
            let parts = (0..1 + random.below(3)).map(|number| self.place(random, number == 0)).collect();
            Chain { parts, table: None }
        };
        (0..count).map(|_| place(random)).collect()
    }

    /// Known: with a descriptor that is shorter than the header, the driver writes beyond what follows it, and beyond the
    /// descriptor itself in a packed ring.
    fn place(&self, random: &mut Random, first: bool) -> Part {
        let least = if first || self.receive.is_packed() { 12 } else { 0 };
        let len = least + pick(&[0, 1, 40, 60, 200, 1500, 2036, 4000], random);
        let (from, to) = if self.plan.reckless { (0, FIRST + SECOND - len) } else { (LANDING, FIRST + SECOND - len) };
        let anywhere = Part { address: from + random.below(to - from), len: len as u32 };
        match random.below(256) {
            // Up to the last byte of a region.
            0 => Part { address: to, ..anywhere },
            1 => Part { address: to + 1, ..anywhere },
            2 => Part { address: random.next(), ..anywhere },
            _ => anywhere,
        }
    }
}

/// Whether a place has none of what the device writes to.
pub(crate) const fn is_source(part: Part) -> bool {
    part.address >= RINGS && part.address.saturating_add(part.len as u64) <= LANDING || part.address >= THIRD.0
}
