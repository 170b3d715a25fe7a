// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A virtqueue, split or packed, as the guest writes it, and as a device has to read it.

use crate::memory::{Memory, front_end};

const NEXT: u16 = 1;
const WRITE: u16 = 2;
const INDIRECT: u16 = 4;
const AVAILABLE: u16 = 1 << 7;
const USED: u16 = 1 << 15;

/// The length of a descriptor.
const DESCRIPTOR: u64 = 16;

/// Where the fields of a descriptor are: the last two are flags and next one, or in a packed ring buffer and flags.
pub(crate) mod field {
    pub(crate) const ADDRESS: u64 = 0;
    pub(crate) const LEN: u64 = 8;
    pub(crate) const FIRST_WORD: u64 = 12;
    pub(crate) const SECOND_WORD: u64 = 14;
}

/// Where the parts of a ring are, from its beginning. A ring has up to 256 descriptors.
const DRIVER: u64 = 0x1000;
const DEVICE: u64 = 0x1400;
/// The length of a ring with all its parts.
pub(crate) const LEN: u64 = 0x2000;

/// A piece of guest memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) address: u64,
    pub(crate) len: u32,
}

/// What the guest puts into a ring for one frame.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) parts: Vec<Part>,
    /// The address of a table for the descriptors, instead of the ring.
    pub(crate) table: Option<u64>,
}

/// One descriptor; `tag` is the next one's number in a split ring, and the buffer's in a packed one.
#[derive(Clone, Copy, Debug)]
struct Descriptor {
    part: Part,
    flags: u16,
    tag: u16,
}

impl Descriptor {
    fn to_bytes(self, packed: bool) -> [u8; DESCRIPTOR as usize] {
        let mut bytes = [0; DESCRIPTOR as usize];
        bytes[..8].copy_from_slice(&self.part.address.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.part.len.to_le_bytes());
        let (first, second) = if packed { (self.tag, self.flags) } else { (self.flags, self.tag) };
        bytes[12..14].copy_from_slice(&first.to_le_bytes());
        bytes[14..].copy_from_slice(&second.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8], packed: bool) -> Self {
        let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let address = (0..4).fold(0, |sum, at| sum | u64::from(word(2 * at)) << (16 * at));
        let len = u32::from(word(8)) | u32::from(word(10)) << 16;
        let (flags, tag) = if packed { (word(14), word(12)) } else { (word(12), word(14)) };
        Self { part: Part { address, len }, flags, tag }
    }
}

/// A ring in the guest's memory.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    start: u64,
    pub(crate) size: u16,
    packed: bool,
    /// What the device writes to, instead of reading from it.
    written: bool,
    /// The place that the device comes to next: counted in 16 bits in a split ring, below `size` in a packed one.
    position: u16,
    wrap: bool,
}

impl Ring {
    pub(crate) const fn new(start: u64, size: u16, packed: bool, written: bool) -> Self {
        Self { start, size, packed, written, position: 0, wrap: true }
    }

    pub(crate) const fn is_packed(&self) -> bool {
        self.packed
    }

    /// The position as messages have it.
    pub(crate) fn base(&self) -> u32 {
        if self.packed { u32::from(self.position) | u32::from(self.wrap) << 15 } else { u32::from(self.position) }
    }

    /// Goes on where the device was when it was stopped.
    pub(crate) const fn set_base(&mut self, base: u32) {
        self.wrap = base >> 15 & 1 == 1;
        self.position = if self.packed { (base & 0x7fff) as u16 } else { base as u16 };
    }

    /// The addresses of descriptors, device area and driver area at the front-end.
    pub(crate) fn addresses(&self) -> [u64; 3] {
        [0, DEVICE, DRIVER].map(|part| front_end(self.start + part))
    }

    /// The address of a field of a descriptor.
    pub(crate) fn field(&self, number: u16, field: u64) -> u64 {
        self.start + DESCRIPTOR * u64::from(number) + field
    }

    /// The address of the entry for a chain of a split ring.
    pub(crate) fn entry(&self, number: u16) -> u64 {
        let slot = u64::from(self.position.wrapping_add(number) % self.size);
        self.start + DRIVER + 4 + 2 * slot
    }

    /// Puts chains into the ring, as many as fit from the first on. Returns how many.
    pub(crate) fn post(&mut self, memory: &mut Memory, chains: &[Chain]) -> usize {
        let mut table = Vec::new();
        let mut heads = Vec::new();
        for chain in chains {
            let direct = chain.table.is_none();
            let count = if direct { chain.parts.len() } else { 1 };
            if table.len() + count > usize::from(self.size) {
                break;
            }
            let head = table.len() as u16;
            heads.push(head);
            let first = if direct { head } else { 0 };
            let descriptors: Vec<_> = self.link(&chain.parts, first).collect();
            if let Some(address) = chain.table {
                let bytes: Vec<u8> = descriptors.iter().flat_map(|one| one.to_bytes(self.packed)).collect();
                memory.write_across(address, &bytes);
                let part = Part { address, len: bytes.len() as u32 };
                table.push(Descriptor { part, flags: INDIRECT, tag: head });
            } else {
                table.extend(descriptors);
            }
        }
        if self.packed {
            self.post_packed(memory, table)
        } else {
            self.post_split(memory, &table, &heads)
        }
        heads.len()
    }

    /// The descriptors of one chain; `first` is the number of the first.
    fn link(&self, parts: &[Part], first: u16) -> impl Iterator<Item = Descriptor> {
        let (last, packed) = (parts.len() - 1, self.packed);
        let write = if self.written { WRITE } else { 0 };
        parts.iter().enumerate().map(move |(number, part)| {
            let next = if number < last { NEXT } else { 0 };
            let tag = if packed { first } else { (first + number as u16 + 1) % 256 };
            Descriptor { part: *part, flags: next | write, tag }
        })
    }

    fn post_split(&self, memory: &mut Memory, table: &[Descriptor], heads: &[u16]) {
        let bytes: Vec<u8> = table.iter().flat_map(|one| one.to_bytes(false)).collect();
        memory.write(self.start, &bytes);
        for (number, head) in heads.iter().enumerate() {
            memory.write(self.entry(number as u16), &head.to_le_bytes());
        }
        self.announce(memory, heads.len() as u16);
    }

    /// Says how many chains a split ring has for the device.
    pub(crate) fn announce(&self, memory: &mut Memory, count: u16) {
        let index = self.position.wrapping_add(count);
        memory.write(self.start + DRIVER, &[0_u16.to_le_bytes(), index.to_le_bytes()].concat());
    }

    fn post_packed(&self, memory: &mut Memory, table: Vec<Descriptor>) {
        let posted = table.len();
        let empty = Descriptor { part: Part { address: 0, len: 0 }, flags: 0, tag: 0 };
        let all = table.into_iter().chain(std::iter::repeat(empty)).take(usize::from(self.size));
        let mut bytes = vec![0; usize::from(self.size) * DESCRIPTOR as usize];
        for (number, mut descriptor) in all.enumerate() {
            let (slot, wrap) = self.slot(number as u16);
            // What is not available has both flags alike, and not as the next round will have them.
            let (available, used) = if number < posted { (wrap, !wrap) } else { (!wrap, !wrap) };
            descriptor.flags |= if available { AVAILABLE } else { 0 } | if used { USED } else { 0 };
            let at = usize::from(slot) * DESCRIPTOR as usize;
            bytes[at..at + DESCRIPTOR as usize].copy_from_slice(&descriptor.to_bytes(true));
        }
        memory.write(self.start, &bytes);
    }

    /// The place of a packed ring so many descriptors on, and the wrap counter there.
    const fn slot(&self, on: u16) -> (u16, bool) {
        let slot = self.position + on;
        if slot < self.size { (slot, self.wrap) } else { (slot - self.size, !self.wrap) }
    }

    /// Goes on after what the device has used of a split ring. Of a packed one only the device knows.
    pub(crate) fn advance(&mut self, memory: &Memory) {
        self.position = u16::from_le_bytes(memory.read(self.start + DEVICE + 2));
    }

    /// The pieces of memory of each chain that the device may find, or `None` for one that it cannot read.
    pub(crate) fn chains(&self, memory: &Memory) -> Vec<Option<Vec<Part>>> {
        if self.packed { self.packed_chains(memory) } else { self.split_chains(memory) }
    }

    fn split_chains(&self, memory: &Memory) -> Vec<Option<Vec<Part>>> {
        let index = u16::from_le_bytes(memory.noted(self.start + DRIVER + 2));
        let count = index.wrapping_sub(self.position).min(self.size);
        let chain = |number| {
            let head = u16::from_le_bytes(memory.noted(self.entry(number)));
            let first = (head < self.size).then(|| self.descriptor(memory, head))?;
            if first.flags & INDIRECT == 0 {
                return walk(self.size, head, |number| Some(self.descriptor(memory, number)));
            }
            let table = self.table(memory, first.part)?;
            walk((table.len() as u64 / DESCRIPTOR) as u16, 0, |number| entry(&table, number, false))
        };
        (0..count).map(chain).collect()
    }

    fn descriptor(&self, memory: &Memory, number: u16) -> Descriptor {
        let bytes: [u8; DESCRIPTOR as usize] = memory.noted(self.start + DESCRIPTOR * u64::from(number));
        Descriptor::from_bytes(&bytes, self.packed)
    }

    /// The bytes of an indirect table.
    fn table(&self, memory: &Memory, part: Part) -> Option<Vec<u8>> {
        (u64::from(part.len) / DESCRIPTOR <= u64::from(self.size)).then(|| bytes(memory, part)).flatten()
    }

    /// From every place on, since the device goes on after the descriptor that it could not use.
    fn packed_chains(&self, memory: &Memory) -> Vec<Option<Vec<Part>>> {
        (0..self.size).map(|on| self.packed_chain(memory, on)).collect()
    }

    fn packed_chain(&self, memory: &Memory, on: u16) -> Option<Vec<Part>> {
        let (slot, wrap) = self.slot(on);
        let flags = self.descriptor(memory, slot).flags;
        if (flags & AVAILABLE != 0) != wrap || (flags & USED != 0) == wrap {
            return None;
        }
        let mut parts = Vec::new();
        for on in on..on + self.size {
            let descriptor = self.descriptor(memory, self.slot(on % self.size).0);
            if descriptor.flags & INDIRECT == 0 {
                parts.push(descriptor.part);
            } else {
                let table = self.table(memory, descriptor.part)?;
                parts.extend((0..).map_while(|number| entry(&table, number, true)).map(|entry| entry.part));
            }
            if descriptor.flags & NEXT == 0 {
                return Some(parts);
            }
        }
        None
    }
}

fn entry(table: &[u8], number: u16, packed: bool) -> Option<Descriptor> {
    let at = usize::from(number) * DESCRIPTOR as usize;
    Some(Descriptor::from_bytes(table.get(at..at + DESCRIPTOR as usize)?, packed))
}

/// The pieces of a chain whose descriptors name the next ones, of which there are `count`.
fn walk(count: u16, head: u16, descriptor: impl Fn(u16) -> Option<Descriptor>) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut number = head;
    for _ in 0..count {
        let one = if number < count { descriptor(number)? } else { return None };
        parts.push(one.part);
        if one.flags & NEXT == 0 {
            return Some(parts);
        }
        number = one.tag;
    }
    None
}

/// All bytes of a piece, if all of it is in the memory table.
fn bytes(memory: &Memory, part: Part) -> Option<Vec<u8>> {
    let pieces = pieces(memory, part)?;
    Some(pieces.concat())
}

/// The bytes of a piece, region by region, if all of it is in the memory table.
pub(crate) fn pieces(memory: &Memory, part: Part) -> Option<Vec<&[u8]>> {
    let (mut address, mut rest) = (part.address, u64::from(part.len));
    let mut pieces = Vec::new();
    while rest > 0 {
        let piece = memory.written(address, rest)?;
        address += piece.len() as u64;
        rest -= piece.len() as u64;
        pieces.push(piece);
    }
    Some(pieces)
}
