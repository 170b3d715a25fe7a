// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Sending: `rte_eth_tx_burst`, rewritten in Rust so that the compiler can inline it.

use super::{MOST_IN_A_CALL, OneThreadAtATime, callbacks::CallbackRun};
use crate::{
    Burst, Packet, PortId, PrivateData,
    environment::Quirks,
    port::{Calls, Device, TxOffloads, calls, entry},
};
use core::{fmt, marker::PhantomData};
use dpdk_sys::{self as sys, rte_mbuf};
use std::sync::Arc;

/// A TX queue, used by one thread at a time: it can be sent to another thread, but neither shared nor cloned.
#[doc(alias = "rte_eth_tx_burst")]
pub struct TxQueue {
    device: Arc<Device>,
    calls: Calls,
    /// The queue's number as an index.
    place: usize,
    port: u16,
    queue: u16,
    /// Not 0 if the driver sends some frames incorrectly: each must be checked.
    selects: usize,
    quirks: Quirks,
    rejected: u64,
    offloads: TxOffloads,
    threads: PhantomData<*mut OneThreadAtATime>,
}

// SAFETY: the queue is one handle, used through `&mut self`, and DPDK binds a queue to no thread.
unsafe impl Send for TxQueue {}

impl TxQueue {
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
            selects: usize::from(
                quirks.most_segments != u16::MAX || quirks.reads != 0 || quirks.trusts_lengths || quirks.passes_mbufs,
            ),
            quirks,
            rejected: 0,
            offloads: device.tx_offloads(),
            threads: PhantomData,
        }
    }

    /// Sends packets from the front of `burst`. Packets that the device does not accept stay in the burst, for the
    /// caller to send again or to drop. Frames that the driver would send incorrectly are dropped and counted
    /// ([`Self::rejected`]).
    ///
    /// Returns how many packets were accepted.
    #[inline]
    pub fn tx<P: PrivateData, const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        if burst.is_empty() { 0 } else { self.tx_some(burst) }
    }

    /// [`Self::tx`] of a burst that is not empty.
    #[inline(always)]
    pub(crate) fn tx_some<P: PrivateData, const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        if N <= MOST_IN_A_CALL { self.tx_front(burst) } else { self.tx_in_parts(burst) }
    }

    #[inline(never)]
    fn tx_in_parts<P: PrivateData, const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        let mut sent = 0;
        while !burst.is_empty() {
            let now = self.tx_front(burst);
            sent += now;
            if now < MOST_IN_A_CALL {
                break;
            }
        }
        sent
    }

    /// Sends as many packets from the front as one call may have.
    #[inline(always)]
    fn tx_front<P: PrivateData, const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        // SAFETY: the entry of a started port is set, and changes only when the port is stopped, which needs its queues
        // back.
        let list = unsafe { (*self.calls.0).txq }.clbk;
        // SAFETY: the table has an entry for each queue of the port, and the number comes from one of them.
        let callbacks = unsafe { entry(list, self.place) };
        // One look at both, since most often there is neither.
        if callbacks.addr() | self.selects == 0 { self.tx_first(burst, front(burst)) } else { self.tx_checked(burst) }
    }

    /// The work that only some ports need: drops what the driver would send incorrectly, and runs the callbacks, if there
    /// are any.
    #[inline(never)]
    fn tx_checked<P: PrivateData, const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        if self.selects != 0 && !self.reject(burst) {
            return 0;
        }
        let count = self.call_callbacks(burst.as_mbufs(), front(burst));
        self.tx_first(burst, count)
    }

    /// Sends the first `count` packets.
    #[inline(always)]
    fn tx_first<P: PrivateData, const N: usize>(&mut self, burst: &mut Burst<P, N>, count: u16) -> usize {
        let held = burst.len();
        let sent = self.tx_burst(burst.as_mbufs(), count);
        // SAFETY: the burst still contains the `held` packets. The driver has accepted the first `sent` of them and
        // owns these.
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

    /// The number of frames that were dropped because they have more segments than the device was configured for: one,
    /// unless [`PortConfig::scatter`](crate::PortConfig::scatter) was set and the device supports it. With `net_memif`
    /// of DPDK 23.03 or newer, the number includes frames with a segment longer than the room after the headroom in the
    /// mbufs of the first segment's pool. In a secondary process with `net_ring`, and with drivers that combine
    /// devices, it includes frames whose data is shared ([`Packet::share`]), since the receiver cannot know that the
    /// data is shared. With drivers that read headers without checking the length, it includes frames whose first
    /// buffer ends less than 6 bytes after their start, or 66 with `net_bonding`, or 1 with `net_tap`.
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

    /// The requests that the port was configured for ([`PortConfig::tx_offloads`](crate::PortConfig::tx_offloads)).
    #[must_use]
    pub const fn offloads(&self) -> TxOffloads {
        self.offloads
    }

    pub(crate) const fn quirks(&self) -> Quirks {
        self.quirks
    }

    /// `rte_eth_tx_burst`: returns how many of `count` mbufs were accepted.
    #[inline(always)]
    fn tx_burst(&mut self, mbufs: *mut *mut rte_mbuf, count: u16) -> usize {
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
        // SAFETY: `data` is this queue's own, which is borrowed exclusively, and this file passes the first `count` mbufs of
        // a burst.
        usize::from(unsafe { send(data, mbufs, count) })
    }

    /// Runs the callbacks, if there are any, on `count` mbufs. Returns how many are left.
    #[inline(never)]
    fn call_callbacks(&mut self, mbufs: *mut *mut rte_mbuf, count: u16) -> u16 {
        // SAFETY: the entry of a started port is set, and changes only when the port is stopped, which needs its queues
        // back.
        let list = unsafe { (*self.calls.0).txq }.clbk;
        // SAFETY: the table has an entry for each queue of the port, and the number comes from one of them.
        let Some(run) = (unsafe { CallbackRun::begin(list, self.place) }) else { return count };
        // SAFETY: the callbacks are DPDK's own list for this queue, and this file passes the first `count` mbufs of a burst.
        unsafe { sys::rte_eth_call_tx_callbacks(self.port, self.queue, mbufs, count, run.callbacks) }
    }

    /// Drops the frames that the driver would send incorrectly. A driver without multi-segment support sends the first
    /// segment of a chain and forgets the rest, or returns them to their pools twice; one that trusts lengths writes past a
    /// buffer. Also drops frames of shared data that another process would take for its own. Returns whether frames are
    /// left.
    #[inline]
    fn reject<P: PrivateData, const N: usize>(&mut self, burst: &mut Burst<P, N>) -> bool {
        // At least the largest count, and cheaper to compute: exactly 1 if every frame has a single segment.
        let at_most = burst.iter().fold(0, |all, packet| all | packet.head().segment_count());
        let right = at_most <= self.quirks.most_segments
            && (self.quirks.reads == 0
                || burst.iter().all(|packet| packet.head().room_from_start() >= self.quirks.reads))
            && (!self.quirks.trusts_lengths || burst.iter().all(Packet::has_room_in_own_pool))
            && !(self.quirks.passes_mbufs && burst.iter().any(Packet::is_shared));
        right || self.reject_some(burst)
    }

    #[cold]
    #[inline(never)]
    fn reject_some<P: PrivateData, const N: usize>(&mut self, burst: &mut Burst<P, N>) -> bool {
        let Quirks { most_segments, reads, trusts_lengths, passes_mbufs, .. } = self.quirks;
        let before = burst.len();
        burst.retain(|packet| {
            packet.segment_count() <= usize::from(most_segments)
                && packet.head().room_from_start() >= reads
                && !(trusts_lengths && !packet.has_room_in_own_pool() || passes_mbufs && packet.is_shared())
        });
        self.rejected += (before - burst.len()) as u64;
        !burst.is_empty()
    }
}

/// How many packets of a burst one call may have.
#[inline(always)]
fn front<P: PrivateData, const N: usize>(burst: &Burst<P, N>) -> u16 {
    let held = burst.len();
    Burst::<P, N>::count(if N <= MOST_IN_A_CALL { held } else { held.min(MOST_IN_A_CALL) })
}

impl fmt::Debug for TxQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TxQueue").field("port", &self.port).field("queue", &self.queue).finish_non_exhaustive()
    }
}
