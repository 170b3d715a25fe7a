// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Receiving: `rte_eth_rx_burst`, rewritten in Rust so that the compiler can inline it.

use super::{MOST_IN_A_CALL, OneThreadAtATime, callbacks::CallbackRun, epoll::List};
use crate::{
    Burst, PortId, PrivateData,
    environment::Quirks,
    port::{Calls, Device, calls, entry},
    segment::SegmentMut,
};
use core::{fmt, marker::PhantomData, mem::MaybeUninit, ptr::NonNull};
use dpdk_sys::{self as sys, rte_mbuf};
use std::sync::Arc;

/// An RX queue, used by one thread at a time: it can be sent to another thread, but neither shared nor cloned.
#[doc(alias = "rte_eth_rx_burst")]
pub struct RxQueue<P: PrivateData = ()> {
    device: Arc<Device>,
    calls: Calls,
    /// The queue's number as an index.
    place: usize,
    port: u16,
    queue: u16,
    foreign: u64,
    quirks: Quirks,
    /// Not 0 if each frame must be checked: because of the driver's quirks, or because not every mbuf has room for a `P`.
    suspect: usize,
    /// The list of the thread that last waited for the queue's interrupt.
    pub(crate) watcher: Option<Arc<List>>,
    private: PhantomData<P>,
    threads: PhantomData<*mut OneThreadAtATime>,
}

// SAFETY: the queue is one handle, used through `&mut self`, and DPDK binds a queue to no thread.
unsafe impl<P: PrivateData> Send for RxQueue<P> {}

impl<P: PrivateData> RxQueue<P> {
    /// # Safety
    /// The port is started and has a queue with this number, for which no other handle exists. It is neither stopped nor
    /// closed as long as the result lives.
    pub(crate) unsafe fn new(device: &Arc<Device>, queue: u16) -> Self {
        let quirks = device.quirks();
        Self {
            device: Arc::clone(device),
            // SAFETY: the caller promises that the port exists.
            calls: unsafe { calls(device.id()) },
            place: usize::from(queue),
            port: device.id().get(),
            queue,
            foreign: 0,
            quirks,
            suspect: usize::from(size_of::<P>() != 0 || quirks.miscounts || quirks.loses_marks),
            watcher: None,
            private: PhantomData,
            threads: PhantomData,
        }
    }

    /// Receives the waiting frames, as many as fit, and appends them to `burst`.
    ///
    /// Returns how many were received. Some drivers receive nothing if the burst has room for fewer than 4 or 32
    /// frames.
    #[inline]
    pub fn rx<const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        self.rx_up_to(burst, N)
    }

    /// Receives at most `most` frames, as [`Self::rx`].
    #[inline]
    pub fn rx_up_to<const N: usize>(&mut self, burst: &mut Burst<P, N>, most: usize) -> usize {
        if N <= MOST_IN_A_CALL { self.rx_once(burst, most) } else { self.rx_in_parts(burst, most) }
    }

    #[inline(never)]
    fn rx_in_parts<const N: usize>(&mut self, burst: &mut Burst<P, N>, most: usize) -> usize {
        let mut received = 0;
        loop {
            let part = (most - received).min(MOST_IN_A_CALL);
            let now = self.rx_once(burst, part);
            received += now;
            if now < MOST_IN_A_CALL {
                return received;
            }
        }
    }

    #[inline(always)]
    fn rx_once<const N: usize>(&mut self, burst: &mut Burst<P, N>, most: usize) -> usize {
        let held = burst.len();
        let room = burst.spare();
        let most = Burst::<P, N>::count(room.len().min(most));
        let count = self.rx_burst(room, most);
        // SAFETY: the driver wrote `count` mbufs behind the `held` packets. They are ours now, with a private area of the size
        // that `P` needs and as much data as they claim: `keep_own` has looked where this is not certain (`suspect`).
        unsafe { burst.set_len(held + count) };
        count
    }

    /// The number of frames that were dropped for one of two reasons. Either the private area of their mbufs is smaller
    /// than `P`: a device such as a ring passes on mbufs of any pool. Or the driver lost a part of the frame or counted
    /// it wrongly, as `net_pcap` does with frames longer than 65,535 bytes, some releases of `net_memif` with chains, and
    /// `net_vhost` with more than 65,535 segments; frames of these drivers also have at most 32,766 segments.
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

    pub(crate) const fn quirks(&self) -> Quirks {
        self.quirks
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn shared_device(&self) -> Arc<Device> {
        Arc::clone(&self.device)
    }

    /// `rte_eth_rx_burst`: writes at most `most` mbufs to the front of `room`.
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
        if callbacks.addr() | self.suspect == 0 { usize::from(count) } else { self.rx_checked(room, count, most) }
    }

    /// The work that only some ports need: checks whether the first `count` mbufs are as this queue needs them, and runs
    /// the callbacks, if there are any, which read the frames too. Returns how many are left.
    #[inline(never)]
    fn rx_checked(&mut self, room: &mut [MaybeUninit<*mut rte_mbuf>], mut count: u16, most: u16) -> usize {
        if self.suspect != 0 {
            count = self.keep_own(room, count);
        }
        // SAFETY: the entry of a started port is set, and changes only when the port is stopped, which needs its queues
        // back.
        let list = unsafe { (*self.calls.0).rxq }.clbk;
        // SAFETY: the table has an entry for each queue of the port, and the number comes from one of them.
        if let Some(run) = unsafe { CallbackRun::begin(list, self.place) } {
            let mbufs = room.as_mut_ptr().cast::<*mut rte_mbuf>();
            // SAFETY: the callbacks are DPDK's own list for this queue, the first `count` of `mbufs` are ours, and there is room
            // for `most`.
            count = unsafe { sys::rte_eth_call_rx_callbacks(self.port, self.queue, mbufs, count, most, run.callbacks) };
        }
        usize::from(count)
    }

    /// Keeps those of the first `count` mbufs that hold a `P` and all of their data, in order; frees the others.
    #[inline(never)]
    fn keep_own(&mut self, mbufs: &mut [MaybeUninit<*mut rte_mbuf>], count: u16) -> u16 {
        let mut kept = 0;
        for index in 0..count {
            let Some(mbuf) = mbufs.get(usize::from(index)).copied() else {
                break;
            };
            // SAFETY: `rx_burst` returned `count`, so the driver wrote the first `count` entries.
            let mbuf = unsafe { mbuf.assume_init() };
            let Some(live) = NonNull::new(mbuf) else {
                continue;
            };
            if self.quirks.loses_marks {
                // SAFETY: the driver gave us the mbuf, and its chain is ours until it is kept or freed below.
                unsafe { sys::dpdk_sys_pktmbuf_mark_pinned(mbuf) };
            }
            // SAFETY: the driver gave us the mbuf, and it is ours until it is kept or freed below.
            let segment = unsafe { SegmentMut::new(live) };
            let own = usize::from(segment.private_len()) >= size_of::<P>();
            if own && (!self.quirks.miscounts || segment.heads_whole_frame()) {
                if let Some(place) = mbufs.get_mut(usize::from(kept)) {
                    place.write(mbuf);
                    kept += 1;
                }
            } else {
                let mut rest = Some(segment);
                while let Some(segment) = rest {
                    // A DPDK with checks of mbufs ends the process when it gets back a chain that miscounts, or has more
                    // mbufs than can be counted.
                    rest = if self.quirks.miscounts { segment.split_off_empty() } else { None };
                    // SAFETY: the driver gave us the mbuf, and nobody else gets it: it is not among those that are kept. What
                    // came after it is still there.
                    unsafe { sys::rte_pktmbuf_free(segment.mbuf().as_ptr()) };
                }
                self.foreign += 1;
            }
        }
        kept
    }
}

impl<P: PrivateData> fmt::Debug for RxQueue<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RxQueue").field("port", &self.port).field("queue", &self.queue).finish_non_exhaustive()
    }
}
