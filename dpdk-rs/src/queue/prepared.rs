// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames that the device modifies before it sends them.

use super::tx_request::{RequestError, TxRequest, VLAN};
use crate::{Burst, Packet, PacketError, PrivateData, TxQueue, environment::Quirks, port::TxOffloads};
use core::fmt;
use dpdk_sys as sys;

/// Up to `N` packets for one queue, each with a request to its device; from [`TxQueue::prepare`].
///
/// The packets can no longer be read or changed, since the device relies on what was checked when they were pushed.
/// Dropping the burst frees the packets that were not sent.
///
/// ```no_run
/// # use dpdk_rs::{Packet, RequestError, TxQueue, TxRequest};
/// # fn example(tx: &mut TxQueue, datagram: Packet) -> Result<(), RequestError> {
/// let mut burst = tx.prepare::<_, 32>();
/// burst.push(datagram, &TxRequest::ipv4(14, 20).ip_checksum().udp_checksum()).map_err(|(error, _datagram)| error)?;
/// burst.send();
/// # Ok(()) }
/// ```
#[doc(alias = "rte_eth_tx_prepare")]
pub struct PreparedBurst<'q, P: PrivateData = (), const N: usize = 32> {
    queue: &'q mut TxQueue,
    quirks: Quirks,
    packets: Burst<P, N>,
    rejected: u64,
}

impl TxQueue {
    /// An empty burst for frames with requests to the device
    /// ([`PortConfig::tx_offloads`](crate::PortConfig::tx_offloads)).
    #[doc(alias = "rte_eth_tx_prepare")]
    pub fn prepare<P: PrivateData, const N: usize>(&mut self) -> PreparedBurst<'_, P, N> {
        PreparedBurst { quirks: self.quirks(), queue: self, packets: Burst::new(), rejected: 0 }
    }
}

impl<P: PrivateData, const N: usize> PreparedBurst<'_, P, N> {
    /// Adds a packet with a request to the device.
    ///
    /// # Errors
    /// The packet, unchanged, and why the request is impossible; see [`RequestError`].
    pub fn push(&mut self, mut packet: Packet<P>, request: &TxRequest) -> Result<(), (RequestError, Packet<P>)> {
        if let Err(error) = self.allows(&packet, request) {
            return Err((error, packet));
        }
        let mut asked = request.flags;
        if let Some(tci) = request.vlan_tci {
            if self.quirks.tags_late {
                if insert_tag(&mut packet, tci).is_err() {
                    return Err((RequestError::NoHeadroom, packet));
                }
                asked &= !sys::DPDK_SYS_MBUF_F_TX_VLAN;
            } else {
                packet.head_mut().set_vlan_tci(tci);
            }
        }
        let head = packet.head_mut();
        let (flags, offload) = (head.ol_flags(), head.tx_offload());
        let (_, lengths) = request.mbuf_fields();
        // SAFETY: `allows` has compared the request with the frame. Its flags are all for sending.
        unsafe { head.set_ol_flags(flags & !sys::DPDK_SYS_MBUF_F_TX_OFFLOAD_MASK | asked) };
        // SAFETY: `allows` has compared the lengths with the frame.
        unsafe { head.set_tx_offload(lengths) };
        self.packets.push(packet).map_err(|mut packet| {
            let head = packet.head_mut();
            // SAFETY: these are the flags that the packet had.
            unsafe { head.set_ol_flags(flags) };
            // SAFETY: these are the lengths that the packet had.
            unsafe { head.set_tx_offload(offload) };
            (RequestError::Full, packet)
        })
    }

    fn allows(&self, packet: &Packet<P>, request: &TxRequest) -> Result<(), RequestError> {
        let lacking = request.needs.without(self.queue.offloads());
        if lacking != TxOffloads::NONE {
            return Err(RequestError::Lacks(lacking));
        }
        if self.packets.remaining_capacity() == 0 {
            return Err(RequestError::Full);
        }
        if request.needs != TxOffloads::NONE && packet.is_shared() {
            return Err(RequestError::Shared);
        }
        let cut = request.needs.contains(TxOffloads::TCP_SEGMENTS) && self.quirks.cuts_segments();
        if (cut || request.vlan_tci.is_some()) && packet.head().is_elsewhere() {
            return Err(RequestError::External);
        }
        // If inserting the tag fails, net_vhost frees the frame, and counts it as not accepted.
        if request.vlan_tci.is_some() && packet.headroom() < VLAN {
            return Err(RequestError::NoHeadroom);
        }
        request.fits(packet.data(), usize::from(self.quirks.most_headers))
    }

    /// The number of packets that wait to be sent.
    #[must_use]
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether no packets wait.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Sends packets from the front. Returns how many the device accepted. The rest stays: send it again, or drop it.
    /// If the device rejects a request only now, the frame is dropped and counted ([`Self::rejected`]).
    pub fn send(&mut self) -> usize {
        loop {
            let held = self.packets.len();
            let count = Burst::<P, N>::count(held);
            let mbufs = self.packets.as_mbufs();
            // SAFETY: the queue belongs to a started port and is borrowed exclusively. The first `count` of `mbufs` are
            // packets of this burst, which nobody else has, and whose flags and lengths `push` has compared with their
            // data.
            let right = unsafe { sys::rte_eth_tx_prepare(self.queue.port().get(), self.queue.id(), mbufs, count) };
            if right >= count {
                return self.queue.tx(&mut self.packets);
            }
            // The packet after the accepted ones is wrong. Nothing is known about those after it.
            let mut place = 0;
            self.packets.retain(|_| {
                place += 1;
                place != usize::from(right) + 1
            });
            self.rejected += 1;
        }
    }

    /// The number of frames of this burst that were dropped because the device rejected their requests.
    #[must_use]
    pub const fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Returns the packets that were not sent, without their requests. Drivers may have written checksums to them, in places
    /// that their requests name.
    #[must_use]
    pub fn into_packets(mut self) -> Burst<P, N> {
        let mut packets = core::mem::take(&mut self.packets);
        for packet in packets.iter_mut() {
            let head = packet.head_mut();
            let flags = head.ol_flags() & !sys::DPDK_SYS_MBUF_F_TX_OFFLOAD_MASK;
            // SAFETY: a packet without requests needs no lengths, and no flag is added.
            unsafe { head.set_ol_flags(flags) };
        }
        packets
    }

    /// Frees the packets that were not sent.
    pub fn clear(&mut self) {
        self.packets.clear();
    }
}

/// Inserts a VLAN tag (IEEE 802.1Q) after the addresses of a frame: what a driver would do that cannot.
fn insert_tag<P: PrivateData>(packet: &mut Packet<P>, tci: u16) -> Result<(), PacketError> {
    packet.prepend(VLAN)?;
    if let Some(start) = packet.data_mut()?.first_chunk_mut::<16>() {
        start.copy_within(VLAN.., 0);
        let [a, b] = tci.to_be_bytes();
        start[12..].copy_from_slice(&[0x81, 0, a, b]);
    }
    Ok(())
}

impl<P: PrivateData, const N: usize> fmt::Debug for PreparedBurst<'_, P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedBurst").field("len", &self.len()).field("queue", &self.queue).finish()
    }
}
