// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What packets should be: plain vectors, and reference counts that Rust keeps.

use dpdk_rs::{Packet, PacketError};
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

/// RTE_PKTMBUF_HEADROOM
const HEADROOM: usize = 128;

/// A pool: how many mbufs it has, and how many of them are out.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) size: usize,
    pub(crate) data_room: usize,
    out: Rc<Cell<usize>>,
}

/// One mbuf that is out of its pool until this is dropped.
#[derive(Debug)]
struct Mbuf(Rc<Cell<usize>>);

impl Drop for Mbuf {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl Pool {
    pub(crate) fn new(size: usize, data_room: usize) -> Self {
        Self { size, data_room, out: Rc::default() }
    }

    pub(crate) fn available(&self) -> usize {
        self.size - self.out.get()
    }

    fn take(&self) -> Mbuf {
        self.out.set(self.out.get() + 1);
        Mbuf(Rc::clone(&self.out))
    }

    /// A packet as fresh from the pool.
    pub(crate) fn alloc(&self, private: u64) -> Frame {
        let data = Data { bytes: RefCell::new(vec![None; self.data_room]), _mbuf: self.take() };
        let start = HEADROOM.min(self.data_room);
        Frame { segments: vec![Segment { data: Rc::new(data), start, len: 0, mbuf: None }], private }
    }
}

/// The buffer of an mbuf. What nobody has written is not known.
#[derive(Debug)]
struct Data {
    bytes: RefCell<Vec<Option<u8>>>,
    _mbuf: Mbuf,
}

#[derive(Debug)]
struct Segment {
    data: Rc<Data>,
    start: usize,
    len: usize,
    /// Set if the data is that of another mbuf.
    mbuf: Option<Mbuf>,
}

impl Segment {
    fn is_shared(&self) -> bool {
        self.mbuf.is_some() || Rc::strong_count(&self.data) > 1
    }

    fn tailroom(&self) -> usize {
        self.data.bytes.borrow().len() - self.start - self.len
    }

    fn write(&self, at: usize, bytes: &[u8]) {
        let mut data = self.data.bytes.borrow_mut();
        for (place, byte) in data.iter_mut().skip(self.start + at).zip(bytes) {
            *place = Some(*byte);
        }
    }

    fn bytes(&self) -> Vec<Option<u8>> {
        self.data.bytes.borrow().iter().skip(self.start).take(self.len).copied().collect()
    }
}

/// A packet as it should be. There is at least one segment.
#[derive(Debug)]
pub(crate) struct Frame {
    segments: Vec<Segment>,
    pub(crate) private: u64,
}

impl Frame {
    fn first(&mut self) -> &mut Segment {
        self.segments.first_mut().expect("a frame has a segment")
    }

    fn last(&mut self) -> &mut Segment {
        self.segments.last_mut().expect("a frame has a segment")
    }

    pub(crate) fn len(&self) -> usize {
        self.segments.iter().map(|segment| segment.len).sum()
    }

    pub(crate) const fn segment_count(&self) -> usize {
        self.segments.len()
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.segments.iter().any(Segment::is_shared)
    }

    /// Adds `count` bytes at the end, all the same.
    pub(crate) fn append(&mut self, count: usize, fill: u8) -> Result<(), PacketError> {
        let last = self.last();
        let room = last.tailroom();
        if last.is_shared() {
            return Err(PacketError::Shared);
        }
        if count > room {
            return Err(PacketError::NoRoom { asked: count, room });
        }
        last.write(last.len, &vec![fill; count]);
        last.len += count;
        Ok(())
    }

    /// Adds `count` bytes in front, all the same.
    pub(crate) fn prepend(&mut self, count: usize, fill: u8) -> Result<(), PacketError> {
        let first = self.first();
        let room = first.start;
        if first.is_shared() {
            return Err(PacketError::Shared);
        }
        if count > room {
            return Err(PacketError::NoRoom { asked: count, room });
        }
        first.start -= count;
        first.len += count;
        first.write(0, &vec![fill; count]);
        Ok(())
    }

    pub(crate) fn adj(&mut self, count: usize) -> Result<(), PacketError> {
        let first = self.first();
        if count > first.len {
            return Err(PacketError::TooShort { asked: count, len: first.len });
        }
        first.start += count;
        first.len -= count;
        Ok(())
    }

    pub(crate) fn trim(&mut self, count: usize) -> Result<(), PacketError> {
        let last = self.last();
        if count > last.len {
            return Err(PacketError::TooShort { asked: count, len: last.len });
        }
        last.len -= count;
        Ok(())
    }

    /// Writes the first segment.
    pub(crate) fn fill_first(&mut self, fill: u8) -> Result<(), PacketError> {
        let first = self.first();
        if first.is_shared() {
            return Err(PacketError::Shared);
        }
        first.write(0, &vec![fill; first.len]);
        Ok(())
    }

    /// Writes all segments, or none.
    pub(crate) fn fill_all(&mut self, fill: u8) -> Result<(), PacketError> {
        if self.is_shared() {
            return Err(PacketError::Shared);
        }
        for segment in &self.segments {
            segment.write(0, &vec![fill; segment.len]);
        }
        Ok(())
    }

    pub(crate) fn chain(&mut self, tail: Self) {
        self.segments.extend(tail.segments);
    }

    /// Another frame of the same data; `None` if the pool has too few mbufs.
    pub(crate) fn share(&self, pool: &Pool, private: u64) -> Option<Self> {
        let share = |segment: &Segment| Segment {
            data: Rc::clone(&segment.data),
            start: segment.start,
            len: segment.len,
            mbuf: Some(pool.take()),
        };
        let enough = self.segments.len() <= pool.available();
        enough.then(|| Self { segments: self.segments.iter().map(share).collect(), private })
    }

    /// A copy in as many mbufs as it takes; `None` if the pool has too few.
    pub(crate) fn copy(&self, pool: &Pool, private: u64) -> Option<Self> {
        let bytes: Vec<Option<u8>> = self.segments.iter().flat_map(Segment::bytes).collect();
        let room = pool.data_room.saturating_sub(HEADROOM);
        if room == 0 && !bytes.is_empty() || pool.available() == 0 {
            return None;
        }
        let mut copy = pool.alloc(private);
        for (number, part) in bytes.chunks(room.max(1)).enumerate() {
            if number > 0 {
                if pool.available() == 0 {
                    return None;
                }
                copy.chain(pool.alloc(0));
            }
            let last = copy.last();
            last.len = part.len();
            let mut data = last.data.bytes.borrow_mut();
            data.iter_mut().skip(last.start).zip(part).for_each(|(place, byte)| *place = *byte);
        }
        Some(copy)
    }

    /// Panics unless the packet is as this frame.
    pub(crate) fn compare(&self, packet: &Packet<u64>) {
        assert_eq!(packet.len(), self.len());
        assert_eq!(packet.is_empty(), self.len() == 0);
        assert_eq!((packet.segment_count(), packet.segments().count()), (self.segments.len(), self.segments.len()));
        assert_eq!(packet.is_contiguous(), self.segments.len() == 1);
        assert_eq!(packet.is_shared(), self.is_shared());
        assert_eq!(*packet.private(), self.private);
        // From DPDK 24.11 on a ring says which port a frame came through.
        assert!(packet.port().is_none_or(|port| port.get() == 0));
        for (found, expected) in packet.segments().zip(&self.segments) {
            same(found, &expected.bytes());
        }
        if let [first, ..] = self.segments.as_slice() {
            same(packet.data(), &first.bytes());
            assert_eq!(packet.headroom(), first.start);
        }
        assert_eq!(Some(packet.tailroom()), self.segments.last().map(Segment::tailroom));
    }

    /// Panics unless the first bytes of the frame are these.
    pub(crate) fn begins_with(&self, bytes: &[u8]) {
        let all: Vec<Option<u8>> = self.segments.iter().flat_map(Segment::bytes).take(bytes.len()).collect();
        same(bytes, &all);
    }
}

/// Bytes that nobody has written may be any.
fn same(found: &[u8], expected: &[Option<u8>]) {
    let matches = |(found, expected): (&u8, &Option<u8>)| expected.is_none_or(|expected| *found == expected);
    let whole = found.len() == expected.len() && found.iter().zip(expected).all(matches);
    assert!(whole, "{found:?} is not {expected:?}");
}
