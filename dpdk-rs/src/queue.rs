// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The queues of a started port.
//!
//! The receive and transmit calls are those of `rte_eth_rx_burst` and `rte_eth_tx_burst`, written again in Rust so that the
//! compiler can inline them: through the exported table of fast-path functions, with the callbacks that packet capture
//! and latency statistics register.

use crate::{Burst, Packet, PortId, PrivateData, port::Device, segment::Segment};
use core::{
    ffi::c_void,
    fmt,
    marker::PhantomData,
    mem::MaybeUninit,
    ptr::NonNull,
    sync::atomic::{AtomicPtr, Ordering},
};
use dpdk_sys::{self as sys, rte_mbuf};
use std::sync::Arc;

/// An RX queue, for one thread at a time: it can be sent to another, but neither shared nor cloned.
#[doc(alias = "rte_eth_rx_burst")]
pub struct RxQueue<P: PrivateData = ()> {
    device: Arc<Device>,
    port: u16,
    queue: u16,
    foreign: u64,
    /// The driver's frames may be shorter than it says: look at each.
    miscounts: bool,
    private: PhantomData<P>,
    threads: PhantomData<*mut OneThreadAtATime>,
}

/// A TX queue, for one thread at a time: it can be sent to another, but neither shared nor cloned.
#[doc(alias = "rte_eth_tx_burst")]
pub struct TxQueue {
    device: Arc<Device>,
    port: u16,
    queue: u16,
    /// There are frames that the driver does not send right: look at each.
    selects: bool,
    /// The most segments of a frame that the driver sends right.
    most_segments: u16,
    /// The driver sends only segments right that have room in the mbufs of the first one's pool.
    trusts_lengths: bool,
    rejected: u64,
    threads: PhantomData<*mut OneThreadAtATime>,
}

/// A pointer to this is neither `Send` nor `Sync`, and the compiler's message says why. `Send` is said below.
struct OneThreadAtATime;

// SAFETY: the queue is one handle, used through `&mut self`, and DPDK binds a queue to no thread.
unsafe impl<P: PrivateData> Send for RxQueue<P> {}
// SAFETY: the queue is one handle, used through `&mut self`, and DPDK binds a queue to no thread.
unsafe impl Send for TxQueue {}

impl<P: PrivateData> RxQueue<P> {
    pub(crate) fn new(device: &Arc<Device>, queue: u16) -> Self {
        Self {
            device: Arc::clone(device),
            port: device.id().get(),
            queue,
            foreign: 0,
            miscounts: device.miscounts(),
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
        let spare = burst.spare();
        let room = u16::try_from(spare.len().min(most)).unwrap_or(u16::MAX);
        let mut count = rx_burst(self.port, self.queue, spare, room);
        if size_of::<P>() != 0 || self.miscounts {
            count = self.keep_own(burst.spare(), count);
        }
        // SAFETY: the driver wrote `count` mbufs, which are ours now, with a private area of the size that `P` needs
        // and as much data as they claim: `keep_own` looked where this is not certain.
        unsafe { burst.grow(count) };
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
        Self {
            device: Arc::clone(device),
            port: device.id().get(),
            queue,
            selects: most_segments != u16::MAX || trusts_lengths,
            most_segments,
            trusts_lengths,
            rejected: 0,
            threads: PhantomData,
        }
    }

    /// Sends packets from the front of `burst`. What the device does not take stays there, for the caller to send again or
    /// to drop. Frames that the driver would send wrong are dropped and counted ([`Self::rejected`]).
    ///
    /// Returns how many were taken.
    #[inline]
    pub fn tx<P: PrivateData, const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        if self.selects {
            self.reject(burst);
        }
        let count = u16::try_from(burst.len()).unwrap_or(u16::MAX);
        if count == 0 {
            return 0;
        }
        let sent = tx_burst(self.port, self.queue, burst.as_mbufs(), count);
        // SAFETY: the driver took the first `sent` packets of the burst and owns them now.
        unsafe { burst.forget_front(sent) };
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
    /// or newer also those with a segment longer than the room behind the headroom in the mbufs of the first segment's pool.
    #[must_use]
    pub const fn rejected(&self) -> u64 {
        self.rejected
    }

    pub(crate) fn is_of(&self, device: &Arc<Device>) -> bool {
        Arc::ptr_eq(&self.device, device)
    }

    /// Drops the frames that the driver would send wrong: one without multi-segment support sends the first segment of a
    /// chain and forgets the rest, or returns them to their pools twice; one that trusts lengths writes beyond a buffer.
    #[inline]
    fn reject<P: PrivateData, const N: usize>(&mut self, burst: &mut Burst<P, N>) {
        let most = usize::from(self.most_segments);
        let chains = burst.iter().fold(0, |longest, packet| longest.max(packet.segment_count())) > most;
        if chains || self.trusts_lengths && !burst.iter().all(Packet::has_room_in_own_pool) {
            let before = burst.len();
            let trusts = self.trusts_lengths;
            burst.retain(|packet| packet.segment_count() <= most && (!trusts || packet.has_room_in_own_pool()));
            self.rejected += (before - burst.len()) as u64;
        }
    }
}

/// `rte_eth_rx_burst`: at most `room` mbufs into the front of `mbufs`.
#[inline(always)]
fn rx_burst(port: u16, queue: u16, mbufs: &mut [MaybeUninit<*mut rte_mbuf>], room: u16) -> usize {
    debug_assert!(mbufs.len() >= usize::from(room));
    let mbufs = mbufs.as_mut_ptr().cast::<*mut rte_mbuf>();
    // SAFETY: `port` comes from a queue of a started port, so it is a number that DPDK gave, below the length of the
    // table.
    let ops = unsafe { &raw const sys::rte_eth_fp_ops[usize::from(port)] };
    // SAFETY: the entry of a started port is set, and changes only when the port is stopped, which needs its queues
    // back.
    let queues = unsafe { (*ops).rxq };
    // SAFETY: the table has an entry for each queue of the port, and `queue` comes from one of them.
    let data = unsafe { entry(queues.data, queue) };
    // SAFETY: the entry of a started port is set, and changes only when the port is stopped, which needs its queues
    // back.
    let Some(receive) = (unsafe { (*ops).rx_pkt_burst }) else {
        return 0;
    };
    // SAFETY: `data` is this queue's own, `RxQueue::rx_up_to` borrows the queue exclusively, and `mbufs` has room for
    // `room` pointers.
    let mut count = unsafe { receive(data, mbufs, room) };
    // SAFETY: the table has an entry for each queue of the port, and `queue` comes from one of them.
    let callbacks = unsafe { entry(queues.clbk, queue) };
    if !callbacks.is_null() {
        // SAFETY: `callbacks` is DPDK's own list for this queue, and the first `count` of `mbufs` are ours.
        count = unsafe { sys::rte_eth_call_rx_callbacks(port, queue, mbufs, count, room, callbacks) };
    }
    usize::from(count)
}

/// `rte_eth_tx_burst`: how many of `count` mbufs were taken.
#[inline(always)]
fn tx_burst(port: u16, queue: u16, mbufs: *mut *mut rte_mbuf, count: u16) -> usize {
    // SAFETY: `port` comes from a queue of a started port, so it is a number that DPDK gave, below the length of the
    // table.
    let ops = unsafe { &raw const sys::rte_eth_fp_ops[usize::from(port)] };
    // SAFETY: the entry of a started port is set, and changes only when the port is stopped, which needs its queues
    // back.
    let queues = unsafe { (*ops).txq };
    // SAFETY: the table has an entry for each queue of the port, and `queue` comes from one of them.
    let data = unsafe { entry(queues.data, queue) };
    // SAFETY: the entry of a started port is set, and changes only when the port is stopped, which needs its queues
    // back.
    let Some(send) = (unsafe { (*ops).tx_pkt_burst }) else {
        return 0;
    };
    // SAFETY: the table has an entry for each queue of the port, and `queue` comes from one of them.
    let callbacks = unsafe { entry(queues.clbk, queue) };
    let mut count = count;
    if !callbacks.is_null() {
        // SAFETY: `callbacks` is DPDK's own list for this queue, and the caller owns the `count` mbufs.
        count = unsafe { sys::rte_eth_call_tx_callbacks(port, queue, mbufs, count, callbacks) };
    }
    // SAFETY: `data` is this queue's own, `TxQueue::tx` borrows the queue exclusively, and the burst owns the mbufs.
    usize::from(unsafe { send(data, mbufs, count) })
}

/// An entry of a table by queue number. Another thread may be changing it: callbacks come and go.
///
/// # Safety
/// `table` has an entry for `queue`.
#[inline(always)]
unsafe fn entry(table: *mut *mut c_void, queue: u16) -> *mut c_void {
    // SAFETY: the caller promises that `table` has an entry for `queue`.
    let entry = unsafe { table.add(usize::from(queue)) };
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
