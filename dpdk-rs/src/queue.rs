// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The queues of a started port.
//!
//! The receive and transmit calls are those of `rte_eth_rx_burst` and `rte_eth_tx_burst`, written again in Rust so that the
//! compiler can inline them: through the exported table of fast-path functions, with the callbacks that packet capture
//! and latency statistics register.

use crate::{
    Burst, Packet, PortId, PrivateData,
    port::{Device, Direction, TxOffloads},
    rx_interrupt::List,
    segment::Segment,
};
use core::{
    ffi::c_void,
    fmt,
    marker::PhantomData,
    mem::MaybeUninit,
    ptr::NonNull,
    sync::atomic::{AtomicPtr, Ordering},
};
use dpdk_sys::{self as sys, rte_eth_fp_ops, rte_mbuf};
use std::sync::Arc;

/// An RX queue, for one thread at a time: it can be sent to another, but neither shared nor cloned.
#[doc(alias = "rte_eth_rx_burst")]
pub struct RxQueue<P: PrivateData = ()> {
    device: Arc<Device>,
    calls: Calls,
    /// The queue's number, as an index.
    place: usize,
    port: u16,
    queue: u16,
    foreign: u64,
    /// The driver's frames may be shorter than it says.
    miscounts: bool,
    /// The driver may have written over the mark of an mbuf whose buffer lies in memory of the program.
    loses_marks: bool,
    /// Not 0 if each frame must be looked at, for these reasons or since not every mbuf has room for a `P`.
    suspect: usize,
    /// The list of the thread that waits for the queue's interrupt, at times.
    pub(crate) watcher: Option<Arc<List>>,
    private: PhantomData<P>,
    threads: PhantomData<*mut OneThreadAtATime>,
}

/// A TX queue, for one thread at a time: it can be sent to another, but neither shared nor cloned.
#[doc(alias = "rte_eth_tx_burst")]
pub struct TxQueue {
    device: Arc<Device>,
    calls: Calls,
    /// The queue's number, as an index.
    place: usize,
    port: u16,
    queue: u16,
    /// There are frames that the driver does not send right: look at each.
    selects: bool,
    /// The most segments of a frame that the driver sends right.
    most_segments: u16,
    /// The driver sends only segments right that have room in the mbufs of the first one's pool.
    trusts_lengths: bool,
    /// Another process may receive the mbufs, and does not know that this one shares their data.
    passes_mbufs: bool,
    rejected: u64,
    offloads: TxOffloads,
    threads: PhantomData<*mut OneThreadAtATime>,
}

/// The port's entry in DPDK's table of fast-path functions.
struct Calls(*const rte_eth_fp_ops);

// SAFETY: the table lives as long as the process, and threads share the address only: a queue reads the entry through
// `&mut self`.
unsafe impl Sync for Calls {}

/// A pointer to this is neither `Send` nor `Sync`, and the compiler's message says why. `Send` is said below.
struct OneThreadAtATime;

// SAFETY: the queue is one handle, used through `&mut self`, and DPDK binds a queue to no thread.
unsafe impl<P: PrivateData> Send for RxQueue<P> {}
// SAFETY: the queue is one handle, used through `&mut self`, and DPDK binds a queue to no thread.
unsafe impl Send for TxQueue {}

impl<P: PrivateData> RxQueue<P> {
    pub(crate) fn new(device: &Arc<Device>, queue: u16) -> Self {
        let (miscounts, loses_marks) = (device.miscounts(), device.loses_marks());
        Self {
            device: Arc::clone(device),
            calls: calls(device.id()),
            place: usize::from(queue),
            port: device.id().get(),
            queue,
            foreign: 0,
            miscounts,
            loses_marks,
            suspect: usize::from(size_of::<P>() != 0 || miscounts || loses_marks),
            watcher: None,
            private: PhantomData,
            threads: PhantomData,
        }
    }

    /// Receives as many frames as there are, and as fit, behind what `burst` holds already.
    ///
    /// Returns how many were added. Some drivers receive nothing when there is room for less than 4 or 32 frames.
    #[inline]
    pub fn rx<const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        self.rx_up_to(burst, N)
    }

    /// Receives at most `most` frames, as [`Self::rx`].
    #[inline]
    pub fn rx_up_to<const N: usize>(&mut self, burst: &mut Burst<P, N>, most: usize) -> usize {
        let held = burst.len();
        let room = burst.spare();
        let most = Burst::<P, N>::count(room.len().min(most));
        let count = self.rx_burst(room, most);
        // SAFETY: the driver wrote `count` mbufs behind the `held` packets. They are ours now, with a private area of the size
        // that `P` needs and as much data as they claim: `keep_own` has looked where this is not certain (`suspect`).
        unsafe { burst.set_len(held + count) };
        count
    }

    /// How many frames were dropped because the private area of their mbufs is smaller than `P`, since a device such as a
    /// ring passes on mbufs of any pool; or because the driver lost a part of them, as `net_pcap` does with frames longer
    /// than 65,535 bytes, and `net_memif` of some releases with chains.
    #[must_use]
    pub const fn foreign(&self) -> u64 {
        self.foreign
    }

    /// The port of the queue.
    #[must_use]
    pub const fn port(&self) -> PortId {
        PortId(self.port)
    }

    /// The number of the queue.
    #[must_use]
    pub const fn id(&self) -> u16 {
        self.queue
    }

    pub(crate) fn is_of(&self, device: &Arc<Device>) -> bool {
        Arc::ptr_eq(&self.device, device)
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn shared_device(&self) -> Arc<Device> {
        Arc::clone(&self.device)
    }

    /// `rte_eth_rx_burst`: at most `most` mbufs into the front of `room`.
    #[inline(always)]
    fn rx_burst(&mut self, room: &mut [MaybeUninit<*mut rte_mbuf>], most: u16) -> usize {
        debug_assert!(room.len() >= usize::from(most));
        let mbufs = room.as_mut_ptr().cast::<*mut rte_mbuf>();
        // SAFETY: the entry of a started port is set, and changes only when the port is stopped, which needs its queues
        // back.
        let queues = unsafe { (*self.calls.0).rxq };
        // SAFETY: the table has an entry for each queue of the port, and the number comes from one of them.
        let data = unsafe { entry(queues.data, self.place) };
        // SAFETY: the entry of a started port is set, and changes only when the port is stopped, which needs its queues
        // back.
        let receive = unsafe { (*self.calls.0).rx_pkt_burst };
        // SAFETY: `Device::start` has seen that the function is there (`has_calls`), and while the port is started DPDK
        // replaces it at most by a dummy, when the device is unplugged.
        let receive = unsafe { receive.unwrap_unchecked() };
        // SAFETY: `data` is this queue's own, which is borrowed exclusively, and `mbufs` has room for `most` pointers.
        let count = unsafe { receive(data, mbufs, most) };
        // SAFETY: the table has an entry for each queue of the port, and the number comes from one of them.
        let callbacks = unsafe { entry(queues.clbk, self.place) };
        // One look at both, since most often there is neither.
        if callbacks.addr() | self.suspect == 0 { usize::from(count) } else { self.see_to(room, count, most) }
    }

    /// What is not done on every port: runs the callbacks, if there are any, on the first `count` mbufs, and looks at what may
    /// not be as this queue needs it. Returns how many are left.
    #[inline(never)]
    fn see_to(&mut self, room: &mut [MaybeUninit<*mut rte_mbuf>], mut count: u16, most: u16) -> usize {
        // SAFETY: the entry of a started port is set, and changes only when the port is stopped, which needs its queues
        // back.
        let list = unsafe { (*self.calls.0).rxq }.clbk;
        if let Some(run) = CallbackRun::begin(list, self.place) {
            let mbufs = room.as_mut_ptr().cast::<*mut rte_mbuf>();
            // SAFETY: the callbacks are DPDK's own list for this queue, the first `count` of `mbufs` are ours, and there is room
            // for `most`.
            count = unsafe { sys::rte_eth_call_rx_callbacks(self.port, self.queue, mbufs, count, most, run.callbacks) };
        }
        if self.suspect == 0 { usize::from(count) } else { self.keep_own(room, usize::from(count)) }
    }

    /// Keeps those of the first `count` mbufs that hold a `P` and all of their data, in order; frees the others.
    #[inline(never)]
    fn keep_own(&mut self, mbufs: &mut [MaybeUninit<*mut rte_mbuf>], count: usize) -> usize {
        let mut kept = 0;
        for index in 0..count {
            let Some(mbuf) = mbufs.get(index).copied() else {
                break;
            };
            // SAFETY: `rx_burst` returned `count`, so the driver wrote the first `count` entries.
            let mbuf = unsafe { mbuf.assume_init() };
            let Some(live) = NonNull::new(mbuf) else {
                continue;
            };
            if self.loses_marks {
                // SAFETY: the driver gave us the mbuf, and its chain is ours until it is kept or freed below.
                unsafe { sys::dpdk_sys_pktmbuf_mark_pinned(mbuf) };
            }
            // SAFETY: the driver gave us the mbuf, and it is ours until it is kept or freed below.
            let segment = unsafe { Segment::new(live) };
            let own = usize::from(segment.private_len()) >= size_of::<P>();
            if own && (!self.miscounts || segment.heads_whole_frame()) {
                if let Some(place) = mbufs.get_mut(kept) {
                    place.write(mbuf);
                    kept += 1;
                }
            } else {
                if self.miscounts {
                    // A DPDK with checks of mbufs ends the process when it is given back one that miscounts.
                    segment.head_empty_frame();
                }
                // SAFETY: the driver gave us the mbuf, and nobody else gets it: it is not among those that are kept.
                unsafe { sys::rte_pktmbuf_free(mbuf) };
                self.foreign += 1;
            }
        }
        kept
    }
}

impl TxQueue {
    pub(crate) fn new(device: &Arc<Device>, queue: u16) -> Self {
        let (most_segments, trusts_lengths) = (device.most_segments(), device.trusts_lengths());
        let passes_mbufs = device.passes_mbufs();
        Self {
            device: Arc::clone(device),
            calls: calls(device.id()),
            place: usize::from(queue),
            port: device.id().get(),
            queue,
            selects: most_segments != u16::MAX || trusts_lengths || passes_mbufs,
            most_segments,
            trusts_lengths,
            passes_mbufs,
            rejected: 0,
            offloads: device.tx_offloads(),
            threads: PhantomData,
        }
    }

    /// Sends packets from the front of `burst`. What the device does not take stays there, for the caller to send again or
    /// to drop. Frames that the driver would send wrong are dropped and counted ([`Self::rejected`]).
    ///
    /// Returns how many were taken.
    #[inline]
    pub fn tx<P: PrivateData, const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        if burst.is_empty() { 0 } else { self.tx_some(burst) }
    }

    /// [`Self::tx`] of a burst that is not empty.
    #[inline(always)]
    pub(crate) fn tx_some<P: PrivateData, const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        if self.selects { self.tx_checked(burst) } else { self.tx_all(burst) }
    }

    /// Not inlined: the way of the other devices stays short.
    #[inline(never)]
    fn tx_checked<P: PrivateData, const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        if self.reject(burst) { self.tx_all(burst) } else { 0 }
    }

    #[inline(always)]
    fn tx_all<P: PrivateData, const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        let held = burst.len();
        let sent = self.tx_burst(burst.as_mbufs(), Burst::<P, N>::count(held));
        // SAFETY: the burst still holds the `held` packets, of which the driver took the first `sent` and owns them now.
        unsafe { burst.forget_front(held, sent) };
        sent
    }

    /// The port of the queue.
    #[must_use]
    pub const fn port(&self) -> PortId {
        PortId(self.port)
    }

    /// The number of the queue.
    #[must_use]
    pub const fn id(&self) -> u16 {
        self.queue
    }

    /// How many frames were dropped because they have more segments than the device was configured for: one, unless
    /// [`PortConfig::scatter`](crate::PortConfig::scatter) was asked for and the device offers it. With `net_memif` of DPDK 23.03
    /// or newer also those with a segment longer than the room behind the headroom in the mbufs of the first segment's pool; in a
    /// secondary process with `net_ring`, and with drivers that combine devices, also those whose data is shared
    /// ([`Packet::share`]), since whoever receives them could not know.
    #[must_use]
    pub const fn rejected(&self) -> u64 {
        self.rejected
    }

    pub(crate) fn is_of(&self, device: &Arc<Device>) -> bool {
        Arc::ptr_eq(&self.device, device)
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn shared_device(&self) -> Arc<Device> {
        Arc::clone(&self.device)
    }

    /// What the device can be asked to do with frames.
    pub(crate) const fn offloads(&self) -> TxOffloads {
        self.offloads
    }

    /// The longest headers of a frame that it can be asked to cut into segments, in bytes.
    pub(crate) fn most_headers(&self) -> usize {
        self.device.most_headers()
    }

    /// `rte_eth_tx_burst`: how many of `count` mbufs were taken.
    #[inline(always)]
    fn tx_burst(&mut self, mbufs: *mut *mut rte_mbuf, mut count: u16) -> usize {
        // SAFETY: the entry of a started port is set, and changes only when the port is stopped, which needs its queues
        // back.
        let queues = unsafe { (*self.calls.0).txq };
        // SAFETY: the table has an entry for each queue of the port, and the number comes from one of them.
        let data = unsafe { entry(queues.data, self.place) };
        // SAFETY: the entry of a started port is set, and changes only when the port is stopped, which needs its queues
        // back.
        let send = unsafe { (*self.calls.0).tx_pkt_burst };
        // SAFETY: `Device::start` has seen that the function is there (`has_calls`), and while the port is started DPDK
        // replaces it at most by a dummy, when the device is unplugged.
        let send = unsafe { send.unwrap_unchecked() };
        // SAFETY: the table has an entry for each queue of the port, and the number comes from one of them.
        let callbacks = unsafe { entry(queues.clbk, self.place) };
        if !callbacks.is_null() {
            count = self.call_callbacks(mbufs, count);
        }
        // SAFETY: `data` is this queue's own, which is borrowed exclusively, and the caller owns the `count` mbufs.
        usize::from(unsafe { send(data, mbufs, count) })
    }

    /// Runs the callbacks, if they are still there, on `count` mbufs. Returns how many are left.
    #[inline(never)]
    fn call_callbacks(&mut self, mbufs: *mut *mut rte_mbuf, count: u16) -> u16 {
        // SAFETY: the entry of a started port is set, and changes only when the port is stopped, which needs its queues
        // back.
        let list = unsafe { (*self.calls.0).txq }.clbk;
        let Some(run) = CallbackRun::begin(list, self.place) else { return count };
        // SAFETY: the callbacks are DPDK's own list for this queue, and the caller owns the `count` mbufs.
        unsafe { sys::rte_eth_call_tx_callbacks(self.port, self.queue, mbufs, count, run.callbacks) }
    }

    /// Drops the frames that the driver would send wrong: one without multi-segment support sends the first segment of a
    /// chain and forgets the rest, or returns them to their pools twice; one that trusts lengths writes beyond a buffer. Drops
    /// those of shared data too that another process would take for its own. Returns whether frames are left.
    #[inline]
    fn reject<P: PrivateData, const N: usize>(&mut self, burst: &mut Burst<P, N>) -> bool {
        // Not below the largest of them, and cheaper: of single segments exactly 1.
        let at_most = burst.iter().fold(0, |all, packet| all | packet.head().segment_count());
        let right = at_most <= self.most_segments
            && (!self.trusts_lengths || burst.iter().all(Packet::has_room_in_own_pool))
            && !(self.passes_mbufs && burst.iter().any(Packet::is_shared));
        right || self.reject_some(burst)
    }

    #[cold]
    #[inline(never)]
    fn reject_some<P: PrivateData, const N: usize>(&mut self, burst: &mut Burst<P, N>) -> bool {
        let (most, trusts, passes) = (usize::from(self.most_segments), self.trusts_lengths, self.passes_mbufs);
        let before = burst.len();
        burst.retain(|packet| {
            packet.segment_count() <= most
                && !(trusts && !packet.has_room_in_own_pool() || passes && packet.is_shared())
        });
        self.rejected += (before - burst.len()) as u64;
        !burst.is_empty()
    }
}

/// While it lives no process can free a ring or a mempool, such as those of a capture. A process that captures has its
/// callbacks removed, and frees what they use at once, without a look whether a thread is inside one: so does `dpdk-dumpcap` of
/// DPDK 22.11.
struct CallbackRun {
    callbacks: *mut c_void,
}

impl CallbackRun {
    /// The callbacks of a queue, if there are any; `list` has an entry for it.
    fn begin(list: *mut *mut c_void, queue: usize) -> Option<Self> {
        // SAFETY: the table has an entry for each queue of the port, and the number comes from one of them.
        if unsafe { entry(list, queue) }.is_null() {
            return None;
        }
        // SAFETY: the EAL is initialised, since there is a queue; the lock lies in memory that lives as long as the EAL.
        unsafe { sys::rte_mcfg_tailq_read_lock() };
        // Once more: what was removed before it was locked is not there any more.
        // SAFETY: the table has an entry for each queue of the port, and the number comes from one of them.
        let run = Self { callbacks: unsafe { entry(list, queue) } };
        (!run.callbacks.is_null()).then_some(run)
    }
}

impl Drop for CallbackRun {
    fn drop(&mut self) {
        // SAFETY: `begin` has taken the lock, on this thread.
        unsafe { sys::rte_mcfg_tailq_read_unlock() };
    }
}

fn calls(port: PortId) -> Calls {
    let table = &raw const sys::rte_eth_fp_ops;
    // SAFETY: the table has an entry for every number that DPDK gives a port.
    Calls(unsafe { table.cast::<rte_eth_fp_ops>().add(usize::from(port.get())) })
}

/// Whether a started port can be polled and sent on: DPDK does not look whether a driver has set both functions.
///
/// # Safety
/// The port exists, and is neither started nor stopped meanwhile.
pub(crate) unsafe fn has_calls(port: PortId) -> bool {
    // SAFETY: the entry is initialised as long as the process lives, and the caller promises that nobody changes it.
    let calls = unsafe { calls(port).0.read() };
    calls.rx_pkt_burst.is_some() && calls.tx_pkt_burst.is_some()
}

/// Whether a port that another process has set up has a queue of this number that this process can use.
///
/// # Safety
/// The port exists, has a queue of this number, and is neither started nor stopped meanwhile.
pub(crate) unsafe fn has_queue(port: PortId, direction: Direction, queue: u16) -> bool {
    // SAFETY: the entry is initialised as long as the process lives, and the caller promises that nobody changes it.
    let calls = unsafe { calls(port).0.read() };
    let (known, table) = match direction {
        Direction::Rx => (calls.rx_pkt_burst.is_some(), calls.rxq),
        Direction::Tx => (calls.tx_pkt_burst.is_some(), calls.txq),
    };
    if !known || table.data.is_null() || table.clbk.is_null() {
        return false;
    }
    // SAFETY: the caller promises that there is such a queue, and the table, which is there, has an entry for each.
    !unsafe { entry(table.data, usize::from(queue)) }.is_null()
}

/// An entry of a table by queue number. Another thread may be changing it: callbacks come and go.
///
/// # Safety
/// `table` has an entry for `queue`.
#[inline(always)]
unsafe fn entry(table: *mut *mut c_void, queue: usize) -> *mut c_void {
    // SAFETY: the caller promises that `table` has an entry for `queue`.
    let entry = unsafe { table.add(queue) };
    // SAFETY: the entry is an aligned pointer that lives as long as the process, and DPDK changes it by single stores.
    unsafe { AtomicPtr::from_ptr(entry) }.load(Ordering::Relaxed)
}

impl<P: PrivateData> fmt::Debug for RxQueue<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RxQueue").field("port", &self.port).field("queue", &self.queue).finish_non_exhaustive()
    }
}

impl fmt::Debug for TxQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TxQueue").field("port", &self.port).field("queue", &self.queue).finish_non_exhaustive()
    }
}
