// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What should be true: which mbufs are out of which pool, what each packet holds, what waits in which ring.
//!
//! The model is made of values with the lifetimes of the real objects: each lies beside the object that it stands for, is
//! dropped right after it, and forgotten with it. So a panic that unwinds through a packet takes its model along.

use dpdk_rs::{Packet, PrivateData};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, ThreadId},
};

use crate::{
    marks::Marked,
    raw::{Ring, Usage},
};

/// Bytes in front of the data in a fresh mbuf, if its buffer is as long.
const HEADROOM: usize = 128;

/// How many lcores there have been in this process: those that the EAL made, and threads that have made themselves lcores.
static LCORES: AtomicUsize = AtomicUsize::new(crate::context::LCORES);

/// Takes down that there is, or was, an lcore of this number.
pub(crate) fn count_lcore(number: u32) {
    LCORES.fetch_max(number as usize + 1, Ordering::SeqCst);
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A pool, known until the end of the sequence.
#[derive(Debug)]
pub(crate) struct PoolRecord {
    pub(crate) name: String,
    pub(crate) size: usize,
    pub(crate) cache: usize,
    pub(crate) data_room: usize,
    /// Bytes of the private area.
    pub(crate) private_len: usize,
    /// What making it took of DPDK's memory.
    pub(crate) cost: Usage,
    /// Mbufs that are not in the pool.
    out: AtomicUsize,
    /// Handles, and ports that receive into it.
    holders: AtomicUsize,
}

impl PoolRecord {
    pub(crate) fn new(
        name: String,
        size: usize,
        cache: usize,
        data_room: usize,
        private_len: usize,
        cost: Usage,
    ) -> Self {
        let (out, holders) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { name, size, cache, data_room, private_len, cost, out, holders }
    }

    pub(crate) fn out(&self) -> usize {
        self.out.load(Ordering::SeqCst)
    }

    /// Whether it must exist: somebody holds it, or one of its mbufs.
    pub(crate) fn is_needed(&self) -> bool {
        self.holders.load(Ordering::SeqCst) > 0 || self.out() > 0
    }

    /// Whether the pool may fail to give `count` mbufs although it has as many: caches of other lcores keep some.
    pub(crate) fn may_refuse(&self, count: usize) -> bool {
        let caches = LCORES.load(Ordering::SeqCst);
        let cached = if self.cache == 0 { 0 } else { caches * (self.cache + self.cache / 2) };
        count + self.out() + cached > self.size
    }

    /// Bytes for data in a fresh mbuf.
    pub(crate) fn fresh_room(&self) -> usize {
        self.data_room - self.data_room.min(HEADROOM)
    }
}

/// Keeps a pool as a handle of it does.
#[derive(Debug)]
pub(crate) struct PoolToken {
    pub(crate) record: Arc<PoolRecord>,
    _environment: EnvironmentToken,
}

impl PoolToken {
    pub(crate) fn new(record: &Arc<PoolRecord>, environment: &EnvironmentToken) -> Self {
        record.holders.fetch_add(1, Ordering::SeqCst);
        Self { record: Arc::clone(record), _environment: environment.clone() }
    }
}

impl Clone for PoolToken {
    fn clone(&self) -> Self {
        Self::new(&self.record, &self._environment)
    }
}

impl Drop for PoolToken {
    fn drop(&mut self) {
        self.record.holders.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The initialised EAL, which everything made from it keeps.
#[derive(Clone, Debug)]
pub(crate) struct EnvironmentToken {
    _record: Arc<EnvironmentRecord>,
}

#[derive(Debug)]
struct EnvironmentRecord {
    main_thread: ThreadId,
    pools: Arc<Mutex<Vec<Arc<PoolRecord>>>>,
    cleaned_up: Arc<OnceLock<bool>>,
    lost: bool,
}

impl EnvironmentToken {
    /// `cleaned_up` is set when the last token is gone: to whether DPDK is cleaned up then. It is not if `lost`: pools of
    /// earlier sequences have lost mbufs.
    pub(crate) fn new(pools: &Arc<Mutex<Vec<Arc<PoolRecord>>>>, cleaned_up: &Arc<OnceLock<bool>>, lost: bool) -> Self {
        let (pools, cleaned_up) = (Arc::clone(pools), Arc::clone(cleaned_up));
        Self { _record: Arc::new(EnvironmentRecord { main_thread: thread::current().id(), pools, cleaned_up, lost }) }
    }
}

impl Drop for EnvironmentRecord {
    fn drop(&mut self) {
        let all_home = lock(&self.pools).iter().all(|pool| pool.out() == 0);
        let _ = self.cleaned_up.set(all_home && !self.lost && thread::current().id() == self.main_thread);
    }
}

/// An mbuf that is out of its pool.
#[derive(Debug)]
pub(crate) struct Mbuf(Arc<PoolRecord>);

impl Mbuf {
    fn new(pool: &Arc<PoolRecord>) -> Self {
        pool.out.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(pool))
    }
}

impl Drop for Mbuf {
    fn drop(&mut self) {
        self.0.out.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What has data.
#[derive(Debug)]
enum Source {
    Mbuf(Mbuf),
    /// A buffer of the program's.
    Buffer(Buffer),
}

/// A buffer is lost with any frame that refers to it.
#[derive(Debug)]
struct Buffer {
    lost: AtomicBool,
    all_lost: Arc<AtomicUsize>,
}

/// One segment.
#[derive(Debug)]
pub(crate) struct Piece {
    /// The mbuf of a segment whose data is elsewhere.
    own: Option<Mbuf>,
    /// Where the data is, and whoever else refers to it.
    data: Arc<Source>,
    /// Where the data begins in the buffer, and how long the buffer is.
    offset: usize,
    room: usize,
    pub(crate) bytes: Vec<u8>,
}

impl Piece {
    fn fresh(pool: &Arc<PoolRecord>, offset: usize, bytes: Vec<u8>) -> Self {
        Self { own: None, data: Arc::new(Source::Mbuf(Mbuf::new(pool))), offset, room: pool.data_room, bytes }
    }

    /// A segment without bytes.
    pub(crate) fn empty(pool: &Arc<PoolRecord>) -> Self {
        Self::fresh(pool, HEADROOM.min(pool.data_room), Vec::new())
    }

    /// Where the data begins in the buffer.
    pub(crate) const fn offset(&self) -> usize {
        self.offset
    }

    /// A segment, from an mbuf of `pool`, with some of this one's data.
    pub(crate) fn refer(&self, pool: &Arc<PoolRecord>, offset: usize, bytes: Vec<u8>) -> Self {
        Self { own: Some(Mbuf::new(pool)), data: Arc::clone(&self.data), offset, room: self.room, bytes }
    }

    pub(crate) fn is_shared(&self) -> bool {
        // The data of another mbuf is never writable, also if that is the last to refer to it.
        let elsewhere = self.own.is_some() && matches!(*self.data, Source::Mbuf(_));
        elsewhere || Arc::strong_count(&self.data) > 1
    }

    /// Bytes of the private area of its mbuf.
    pub(crate) fn private_len(&self) -> usize {
        match (&self.own, &*self.data) {
            (Some(mbuf), _) | (None, Source::Mbuf(mbuf)) => mbuf.0.private_len,
            (None, Source::Buffer(_)) => unreachable!("a buffer is attached to an mbuf"),
        }
    }

    pub(crate) fn tailroom(&self) -> usize {
        self.room - self.offset - self.bytes.len()
    }
}

/// What a packet is and holds.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) pieces: Vec<Piece>,
    /// As much of the private area as was looked at.
    private: Vec<u8>,
    port: Option<u16>,
    /// Its dynamic fields and flags.
    pub(crate) marked: Marked,
}

impl Frame {
    /// An empty packet from a pool.
    pub(crate) fn fresh<P: PrivateData>(pool: &Arc<PoolRecord>, packet: &Packet<P>) -> Self {
        Self::of(vec![Piece::fresh(pool, HEADROOM.min(pool.data_room), Vec::new())], packet, None)
    }

    /// A buffer of the program's, attached to an mbuf of the pool.
    /// `all_lost` counts the buffers that are lost.
    pub(crate) fn attached<P: PrivateData>(
        pool: &Arc<PoolRecord>,
        packet: &Packet<P>,
        bytes: Vec<u8>,
        all_lost: &Arc<AtomicUsize>,
    ) -> Self {
        let buffer = Buffer { lost: AtomicBool::new(false), all_lost: Arc::clone(all_lost) };
        let (own, data, room) = (Some(Mbuf::new(pool)), Arc::new(Source::Buffer(buffer)), bytes.len());
        Self::of(vec![Piece { own, data, offset: 0, room, bytes }], packet, None)
    }

    /// Nobody will ever free the frame.
    pub(crate) fn lose(self) -> Self {
        for piece in &self.pieces {
            if let Source::Buffer(buffer) = &*piece.data
                && !buffer.lost.swap(true, Ordering::SeqCst)
            {
                buffer.all_lost.fetch_add(1, Ordering::SeqCst);
            }
        }
        self
    }

    /// A frame that a driver wrote to mbufs of the pool, and the test has not seen before.
    pub(crate) fn received<P: PrivateData>(pool: &Arc<PoolRecord>, port: u16, packet: &Packet<P>) -> Self {
        // Drivers leave headroom in the first segment only.
        let offsets = [HEADROOM.min(pool.data_room)].into_iter().chain(std::iter::repeat(0));
        let pieces = packet.segments().zip(offsets);
        let pieces = pieces.map(|(bytes, offset)| Piece::fresh(pool, offset, bytes.to_vec())).collect();
        Self::of(pieces, packet, Some(port))
    }

    /// A packet that shares this one's data, with mbufs of `pool`.
    pub(crate) fn share<Q: PrivateData>(&self, pool: &Arc<PoolRecord>, packet: &Packet<Q>) -> Self {
        let share = |piece: &Piece| piece.refer(pool, piece.offset, piece.bytes.clone());
        let twin = Self::of(self.pieces.iter().map(share).collect(), packet, self.port);
        Self { marked: self.marked.of_twin(), ..twin }
    }

    /// What was split off this one, of these pieces.
    pub(crate) fn rest<Q: PrivateData>(&self, pieces: Vec<Piece>, packet: &Packet<Q>) -> Self {
        Self::of(pieces, packet, self.port)
    }

    /// A packet with a copy of the data in mbufs of `pool`.
    pub(crate) fn copy<Q: PrivateData>(&self, pool: &Arc<PoolRecord>, packet: &Packet<Q>) -> Self {
        let bytes = self.bytes();
        let offset = HEADROOM.min(pool.data_room);
        let mut pieces: Vec<Piece> =
            bytes.chunks(pool.fresh_room().max(1)).map(|bytes| Piece::fresh(pool, offset, bytes.to_vec())).collect();
        if pieces.is_empty() {
            pieces.push(Piece::fresh(pool, offset, Vec::new()));
        }
        Self { marked: self.marked.of_twin(), ..Self::of(pieces, packet, self.port) }
    }

    fn of<P: PrivateData>(pieces: Vec<Piece>, packet: &Packet<P>, port: Option<u16>) -> Self {
        let mut frame = Self { pieces, private: Vec::new(), port, marked: Marked::default() };
        frame.look_at_private(packet);
        frame
    }

    /// How many mbufs a copy of the frame takes; `None` if none are enough.
    pub(crate) fn mbufs_of_copy(&self, pool: &PoolRecord) -> Option<usize> {
        match (self.len(), pool.fresh_room()) {
            (0, _) => Some(1),
            (_, 0) => None,
            (len, room) => Some(len.div_ceil(room)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.pieces.iter().map(|piece| piece.bytes.len()).sum()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.pieces.iter().flat_map(|piece| &piece.bytes).copied().collect()
    }

    pub(crate) fn headroom(&self) -> usize {
        self.pieces[0].offset
    }

    pub(crate) fn last(&self) -> &Piece {
        self.pieces.last().expect("a frame has a segment")
    }

    pub(crate) fn last_mut(&mut self) -> &mut Piece {
        self.pieces.last_mut().expect("a frame has a segment")
    }

    /// Puts bytes in front.
    pub(crate) fn prepend(&mut self, bytes: &[u8]) {
        let first = &mut self.pieces[0];
        first.offset -= bytes.len();
        first.bytes.splice(..0, bytes.iter().copied());
    }

    /// Removes bytes from the front.
    pub(crate) fn adj(&mut self, len: usize) {
        let first = &mut self.pieces[0];
        first.offset += len;
        first.bytes.drain(..len);
    }

    /// The private area of the first mbuf, in bytes.
    pub(crate) fn private_len(&self) -> usize {
        self.pieces[0].private_len()
    }

    pub(crate) fn write_private(&mut self, bytes: &[u8]) {
        self.private.splice(..bytes.len().min(self.private.len()), bytes.iter().copied());
    }

    /// Compares what is known of the private area, and learns what is not.
    fn look_at_private<P: PrivateData>(&mut self, packet: &Packet<P>) {
        let bytes = bytemuck::bytes_of(packet.private());
        let known = self.private.len().min(bytes.len());
        assert_eq!(self.private[..known], bytes[..known], "the private data has changed");
        if bytes.len() > known {
            self.private = bytes.to_vec();
        }
    }

    /// The ring drivers of newer versions write the number of the receiving port.
    pub(crate) fn arrive<P: PrivateData>(&mut self, port: u16, packet: &Packet<P>) {
        let now = packet.port().map(dpdk_rs::PortId::get);
        assert!(now == self.port || now == Some(port), "port {now:?} instead of {:?} or {port}", self.port);
        self.port = now;
        self.look_at_private(packet);
    }

    /// Compares everything that can be seen of a packet. `quiet`: nobody else is at work.
    pub(crate) fn verify<P: PrivateData>(&self, packet: &Packet<P>, quiet: bool) {
        assert_eq!(packet.segment_count(), self.pieces.len());
        assert_eq!(packet.is_contiguous(), self.pieces.len() == 1);
        assert_eq!((packet.len(), packet.is_empty()), (self.len(), self.len() == 0));
        assert_eq!(packet.port().map(dpdk_rs::PortId::get), self.port);
        assert_eq!((packet.headroom(), packet.tailroom()), (self.headroom(), self.last().tailroom()));
        let mut segments = packet.segments();
        for (number, piece) in self.pieces.iter().enumerate() {
            let bytes = segments.next().expect("the packet has as many segments");
            assert!(bytes == piece.bytes, "segment {number} holds {bytes:02x?} instead of {:02x?}", piece.bytes);
        }
        assert!(segments.next().is_none());
        assert!(packet.data() == self.pieces[0].bytes);
        // Over the borders of segments, and not to the end.
        let mut front = [0; 300];
        let front = &mut front[..self.len().saturating_sub(1).min(300)];
        assert_eq!(packet.copy_to(front), front.len());
        let mut rest = &*front;
        for piece in &self.pieces {
            let (copied, behind) = rest.split_at(piece.bytes.len().min(rest.len()));
            assert!(copied == &piece.bytes[..copied.len()]);
            rest = behind;
        }
        let private = bytemuck::bytes_of(packet.private());
        let known = self.private.len().min(private.len());
        assert_eq!(self.private[..known], private[..known], "the private data has changed");
        self.marked.verify(packet);
        let shared = self.pieces.iter().any(Piece::is_shared);
        // Another thread may be dropping the other owner right now: what the model calls shared need not be any more.
        assert!(packet.is_shared() == shared || shared && !quiet, "shared: {} instead of {shared}", packet.is_shared());
    }
}

/// A ring between a TX queue and an RX queue, and the frames in it.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) capacity: usize,
    /// The ring itself, if it is the test's own.
    pub(crate) ring: Option<Ring>,
    frames: Mutex<VecDeque<Frame>>,
}

impl Wire {
    pub(crate) fn new(capacity: usize, ring: Option<Ring>) -> Arc<Self> {
        Arc::new(Self { capacity, ring, frames: Mutex::default() })
    }

    /// Locked while frames are really sent or received, so that the model's order is that of the ring.
    pub(crate) fn lock(&self) -> MutexGuard<'_, VecDeque<Frame>> {
        lock(&self.frames)
    }
}

/// What a device does with frames.
#[derive(Debug)]
pub(crate) enum Behaviour {
    /// By number of the queue: where the frames come from, and where they go.
    Rings { rx: Vec<Arc<Wire>>, tx: Vec<Arc<Wire>>, own: bool },
    /// Makes frames of this length, or none.
    Null { len: usize, copy: bool, deaf: bool },
    /// Reads these frames.
    Capture(Arc<[Vec<u8>]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The EAL hands it out.
    Free,
    Taken,
    Closed,
}

/// A device, known until the end of the sequence.
#[derive(Debug)]
pub(crate) struct DeviceRecord {
    pub(crate) name: String,
    pub(crate) behaviour: Behaviour,
    pub(crate) stage: Mutex<Stage>,
    /// It was detached before the end of the sequence.
    pub(crate) detached: AtomicBool,
    /// Its port was configured, and may be closed now.
    pub(crate) configured: AtomicBool,
    /// Allocations of DPDK's heap that the driver forgets.
    pub(crate) leaks: AtomicUsize,
    /// Frames that it forgets. They are out of their pools for ever.
    lost: Mutex<Vec<Frame>>,
}

impl DeviceRecord {
    pub(crate) const fn new(name: String, behaviour: Behaviour) -> Self {
        Self {
            name,
            behaviour,
            stage: Mutex::new(Stage::Free),
            detached: AtomicBool::new(false),
            configured: AtomicBool::new(false),
            leaks: AtomicUsize::new(0),
            lost: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn is_detached(&self) -> bool {
        self.detached.load(Ordering::SeqCst)
    }
}

/// Keeps a device as its port and each of its queues do.
#[derive(Debug)]
pub(crate) struct DeviceToken {
    pub(crate) record: Arc<DeviceRecord>,
    pub(crate) setup: Mutex<Option<Setup>>,
    _environment: EnvironmentToken,
}

/// How a device was configured.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) pool: PoolToken,
    pub(crate) rx: u16,
    pub(crate) tx: u16,
    /// By RX queue: how many frames of the capture were read.
    pub(crate) read: Vec<usize>,
    /// How many RX and TX queues have been given back since the port was started.
    pub(crate) given_back: (u16, u16),
}

impl DeviceToken {
    pub(crate) fn new(record: &Arc<DeviceRecord>, environment: &EnvironmentToken) -> Arc<Self> {
        let before = std::mem::replace(&mut *lock(&record.stage), Stage::Taken);
        assert_eq!(before, Stage::Free, "{} was handed out", record.name);
        Arc::new(Self { record: Arc::clone(record), setup: Mutex::default(), _environment: environment.clone() })
    }

    /// The port is configured.
    pub(crate) fn configured(&self, setup: Setup) {
        *lock(&self.setup) = Some(setup);
        self.record.configured.store(true, Ordering::SeqCst);
    }

    /// The port is started; how many RX and TX queues it has.
    pub(crate) fn start(&self) -> (usize, usize) {
        if let Some(setup) = lock(&self.setup).as_mut() {
            setup.given_back = (0, 0);
        }
        self.queues_out()
    }

    /// How many RX and TX queues have to come back before the port is stopped.
    pub(crate) fn queues_out(&self) -> (usize, usize) {
        let setup = lock(&self.setup);
        let setup = setup.as_ref().expect("the port is configured");
        (usize::from(setup.rx - setup.given_back.0), usize::from(setup.tx - setup.given_back.1))
    }

    /// The pool that the device receives into.
    pub(crate) fn pool(&self) -> Arc<PoolRecord> {
        Arc::clone(&lock(&self.setup).as_ref().expect("the port is configured").pool.record)
    }
}

impl Drop for DeviceToken {
    fn drop(&mut self) {
        let setup = lock(&self.setup).take();
        *lock(&self.record.stage) = if setup.is_some() { Stage::Closed } else { Stage::Free };
        if let (Some(setup), Behaviour::Rings { rx, own: true, .. }) = (setup, &self.record.behaviour) {
            // The driver frees the rings of its RX queues as they are.
            for wire in &rx[..usize::from(setup.rx)] {
                lock(&self.record.lost).extend(wire.lock().drain(..).map(Frame::lose));
            }
        }
    }
}
