// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames with which the device does something before it sends them.

use crate::{Burst, Packet, PrivateData, TxQueue, port::TxOffloads};
use core::fmt;
use dpdk_sys as sys;

/// What the device is to do with one frame: made from the lengths of its headers, in bytes.
///
/// ```
/// use dpdk_rs::TxRequest;
///
/// let datagram = TxRequest::ipv4(14, 20).ip_checksum().udp_checksum();
/// let tagged = TxRequest::new().insert_vlan(7);
/// let segments = TxRequest::ipv4(14, 20).tcp_segments(20, 1448);
/// # let _ = (datagram, tagged, segments);
/// ```
#[doc(alias = "rte_mbuf_tx_offload")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct TxRequest {
    flags: u64,
    needs: TxOffloads,
    l2_len: u8,
    l3_len: u16,
    l4_len: u8,
    segment_len: u16,
    vlan_tci: Option<u16>,
}

/// `ETHER_HDR`, and the shortest IPv4, IPv6, UDP and TCP headers, in bytes.
const ETHERNET: u8 = 14;
const IPV4: u16 = 20;
const IPV6: u16 = 40;
const UDP: u8 = 8;
const TCP: u8 = 20;
/// A VLAN tag, in bytes.
const VLAN: usize = 4;
/// Bits of the lengths in an mbuf.
const LONGEST_L2: u8 = (1 << 7) - 1;
const LONGEST_L3: u16 = (1 << 9) - 1;

impl TxRequest {
    /// Nothing yet, for a frame of any kind.
    pub const fn new() -> Self {
        Self { flags: 0, needs: TxOffloads::NONE, l2_len: 0, l3_len: 0, l4_len: 0, segment_len: 0, vlan_tci: None }
    }

    /// Nothing yet, for a frame with an Ethernet header (14 bytes, 4 more for each VLAN tag) and an IPv4 header of these lengths.
    pub const fn ipv4(l2_len: u8, l3_len: u16) -> Self {
        Self { flags: sys::DPDK_SYS_MBUF_F_TX_IPV4, l2_len, l3_len, ..Self::new() }
    }

    /// Nothing yet, for a frame with an Ethernet header and an IPv6 header, extension headers included, of these lengths.
    pub const fn ipv6(l2_len: u8, l3_len: u16) -> Self {
        Self { flags: sys::DPDK_SYS_MBUF_F_TX_IPV6, l2_len, l3_len, ..Self::new() }
    }

    /// Write the checksum of the IPv4 header.
    #[doc(alias = "RTE_MBUF_F_TX_IP_CKSUM")]
    pub fn ip_checksum(mut self) -> Self {
        self.flags |= sys::DPDK_SYS_MBUF_F_TX_IP_CKSUM;
        self.needs = self.needs | TxOffloads::IPV4_CHECKSUM;
        self
    }

    /// Write the checksum of the UDP datagram in the IP packet.
    #[doc(alias = "RTE_MBUF_F_TX_UDP_CKSUM")]
    pub fn udp_checksum(self) -> Self {
        self.l4(sys::DPDK_SYS_MBUF_F_TX_UDP_CKSUM, UDP, TxOffloads::UDP_CHECKSUM)
    }

    /// Write the checksum of the TCP segment in the IP packet, with a header of this length.
    #[doc(alias = "RTE_MBUF_F_TX_TCP_CKSUM")]
    pub fn tcp_checksum(self, l4_len: u8) -> Self {
        self.l4(sys::DPDK_SYS_MBUF_F_TX_TCP_CKSUM, l4_len, TxOffloads::TCP_CHECKSUM)
    }

    /// Cut the TCP segment in the IP packet, with a header of `l4_len` bytes, into several with at most `segment_len` bytes of
    /// data each, and write their checksums (TSO).
    ///
    /// `net_tap` does it with DPDK 22.11; with 24.11 and 25.11 it offers to, and then takes no such frame.
    #[doc(alias = "RTE_MBUF_F_TX_TCP_SEG")]
    pub fn tcp_segments(self, l4_len: u8, segment_len: u16) -> Self {
        let mut cut = self.l4(
            sys::DPDK_SYS_MBUF_F_TX_TCP_CKSUM | sys::DPDK_SYS_MBUF_F_TX_TCP_SEG,
            l4_len,
            TxOffloads::TCP_SEGMENTS,
        );
        cut.segment_len = segment_len;
        // The parts are IPv4 packets of other lengths.
        if cut.flags & sys::DPDK_SYS_MBUF_F_TX_IPV4 != 0 { cut.ip_checksum() } else { cut }
    }

    /// Put a VLAN tag in: priority, drop eligibility and number of the VLAN (TCI).
    #[doc(alias = "RTE_MBUF_F_TX_VLAN")]
    pub fn insert_vlan(mut self, tci: u16) -> Self {
        self.flags |= sys::DPDK_SYS_MBUF_F_TX_VLAN;
        self.needs = self.needs | TxOffloads::VLAN_INSERT;
        self.vlan_tci = Some(tci);
        self
    }

    /// Asks for something about the header behind the IP header: the last such wish holds.
    fn l4(mut self, flags: u64, l4_len: u8, needs: TxOffloads) -> Self {
        const ALL: u64 =
            sys::DPDK_SYS_MBUF_F_TX_UDP_CKSUM | sys::DPDK_SYS_MBUF_F_TX_TCP_CKSUM | sys::DPDK_SYS_MBUF_F_TX_TCP_SEG;
        let others = TxOffloads::UDP_CHECKSUM | TxOffloads::TCP_CHECKSUM | TxOffloads::TCP_SEGMENTS;
        self.flags = self.flags & !ALL | flags;
        self.needs = self.needs.without(others) | needs;
        self.l4_len = l4_len;
        self.segment_len = 0;
        self
    }

    /// The length of all headers.
    fn headers(&self) -> usize {
        usize::from(self.l2_len) + usize::from(self.l3_len) + usize::from(self.l4_len)
    }

    /// The lengths of the three headers and of a segment's data, if this asks for TCP segments of an IPv4 packet and for nothing else.
    pub(crate) fn ipv4_segments(&self) -> Option<(u8, u16, u8, u16)> {
        let asked = Self::ipv4(self.l2_len, self.l3_len).tcp_segments(self.l4_len, self.segment_len);
        (*self == asked).then_some((self.l2_len, self.l3_len, self.l4_len, self.segment_len))
    }

    /// Whether the lengths can be those of a frame whose first segment is `data`: drivers trust them.
    pub(crate) fn fits(&self, data: &[u8], most_headers: usize) -> Result<(), RequestError> {
        let is_v4 = self.flags & sys::DPDK_SYS_MBUF_F_TX_IPV4 != 0;
        let is_v6 = self.flags & sys::DPDK_SYS_MBUF_F_TX_IPV6 != 0;
        let l4 = self.flags & (sys::DPDK_SYS_MBUF_F_TX_UDP_CKSUM | sys::DPDK_SYS_MBUF_F_TX_TCP_CKSUM);
        let segments = self.flags & sys::DPDK_SYS_MBUF_F_TX_TCP_SEG != 0;
        if self.vlan_tci.is_some() && data.len() < usize::from(ETHERNET) {
            return Err(RequestError::Header { what: "Ethernet", len: usize::from(ETHERNET), held: data.len() });
        }
        if self.needs.without(TxOffloads::VLAN_INSERT) == TxOffloads::NONE {
            return Ok(());
        }
        let wrong = |what, len| Err(RequestError::Length { what, len });
        if !(ETHERNET..=LONGEST_L2).contains(&self.l2_len) {
            return wrong("Ethernet", usize::from(self.l2_len));
        }
        if !is_v4 && (!is_v6 || self.needs.contains(TxOffloads::IPV4_CHECKSUM)) {
            return Err(RequestError::NotIp);
        }
        if !(if is_v4 { IPV4..=60 } else { IPV6..=LONGEST_L3 }).contains(&self.l3_len) {
            return wrong("IP", usize::from(self.l3_len));
        }
        let shortest = match l4 {
            0 => 0,
            sys::DPDK_SYS_MBUF_F_TX_TCP_CKSUM => TCP,
            _ => UDP,
        };
        if self.l4_len < shortest || l4 == sys::DPDK_SYS_MBUF_F_TX_TCP_CKSUM && self.l4_len > 60 {
            return wrong("TCP", usize::from(self.l4_len));
        }
        if segments {
            if self.headers() > most_headers {
                return wrong("Ethernet, IP and TCP", self.headers());
            }
            if self.segment_len == 0 || self.headers() + usize::from(self.segment_len) > usize::from(u16::MAX) {
                return Err(RequestError::Segment(self.segment_len));
            }
        }
        if self.headers() > data.len() {
            return Err(RequestError::Header { what: "IP or TCP", len: self.headers(), held: data.len() });
        }
        // What drivers read themselves must say the same.
        let said = data.get(usize::from(self.l2_len)).copied().unwrap_or(0);
        let right = if is_v4 { said >> 4 == 4 && u16::from(said & 15) * 4 == self.l3_len } else { said >> 4 == 6 };
        if right { Ok(()) } else { Err(RequestError::NotIp) }
    }
}

/// Why a device cannot be asked for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The port was not configured for it.
    #[error("the port does not do {0}: ask for it with PortConfig::tx_offloads, where the device offers it")]
    Lacks(TxOffloads),
    /// The data is shared with another packet, and the device may have to change it.
    #[error("the packet's data is shared with another packet: copy it")]
    Shared,
    /// A header cannot be so long.
    #[error("the header of {what} cannot be {len} bytes long here")]
    Length {
        /// Which header.
        what: &'static str,
        /// The length in the request.
        len: usize,
    },
    /// The headers are not within the first segment of the frame.
    #[error("the headers up to that of {what} are {len} bytes long, the first segment of the frame holds {held}")]
    Header {
        /// The last of the headers.
        what: &'static str,
        /// The length of all headers.
        len: usize,
        /// Bytes in the first segment.
        held: usize,
    },
    /// There is no IP header of that version and length.
    #[error("there is no IP header of that version and length in the frame")]
    NotIp,
    /// So many bytes of data in a segment are not possible.
    #[error("{0} bytes of data in each TCP segment are not possible: give 1 to 65,535 less the headers")]
    Segment(u16),
    /// Drivers put a VLAN tag only into data that lies in an mbuf.
    #[error("the packet's data is a buffer of the program, into which no VLAN tag can be put: copy it")]
    External,
    /// There is no room for a VLAN tag in front of the data.
    #[error("there is no headroom for a VLAN tag: keep {VLAN} bytes in front of the frame")]
    NoHeadroom,
    /// The burst is full.
    #[error("the burst is full: send it first")]
    Full,
}

/// Up to `N` packets for one queue, each with what its device is to do with it; made by [`TxQueue::prepare`].
///
/// The packets cannot be looked at or changed any more: the device relies on what was found when they were pushed.
/// Dropping the burst frees those that were not sent.
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
    packets: Burst<P, N>,
    most_headers: usize,
    rejected: u64,
}

impl TxQueue {
    /// An empty burst, for frames with which the device is to do something
    /// ([`PortConfig::tx_offloads`](crate::PortConfig::tx_offloads)).
    #[doc(alias = "rte_eth_tx_prepare")]
    pub fn prepare<P: PrivateData, const N: usize>(&mut self) -> PreparedBurst<'_, P, N> {
        PreparedBurst { most_headers: self.most_headers(), queue: self, packets: Burst::new(), rejected: 0 }
    }
}

impl<P: PrivateData, const N: usize> PreparedBurst<'_, P, N> {
    /// Adds a packet, and what the device is to do with it.
    ///
    /// # Errors
    /// The packet, unchanged, and why that cannot be done with it. See [`RequestError`].
    pub fn push(&mut self, packet: Packet<P>, request: &TxRequest) -> Result<(), (RequestError, Packet<P>)> {
        if let Err(error) = self.allows(&packet, request) {
            return Err((error, packet));
        }
        let head = packet.head();
        let (flags, offload) = (head.ol_flags(), head.tx_offload());
        // SAFETY: the call computes a number of others.
        let lengths = unsafe {
            sys::dpdk_sys_mbuf_tx_offload(request.l2_len, request.l3_len, request.l4_len, request.segment_len)
        };
        head.set_ol_flags(flags & !sys::DPDK_SYS_MBUF_F_TX_OFFLOAD_MASK | request.flags);
        head.set_tx_offload(lengths);
        if let Some(tci) = request.vlan_tci {
            head.set_vlan_tci(tci);
        }
        self.packets.push(packet).map_err(|packet| {
            packet.head().set_ol_flags(flags);
            packet.head().set_tx_offload(offload);
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
        if request.vlan_tci.is_some() && packet.head().is_elsewhere() {
            return Err(RequestError::External);
        }
        // Where putting it in fails, net_vhost frees the frame, and counts it among those that it did not take.
        if request.vlan_tci.is_some() && packet.headroom() < VLAN {
            return Err(RequestError::NoHeadroom);
        }
        request.fits(packet.data(), self.most_headers)
    }

    /// How many packets are waiting to be sent.
    #[must_use]
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Sends what the device takes, and returns how many packets that were. The rest stays: send it again, or drop it.
    /// What the device cannot do with a frame after all, it says now: the frame is dropped and counted ([`Self::rejected`]).
    pub fn send(&mut self) -> usize {
        loop {
            let held = self.packets.len();
            let count = Burst::<P, N>::count(held);
            let mbufs = self.packets.as_mbufs();
            // SAFETY: the queue is one of a started port, and borrowed exclusively; the first `count` of `mbufs` are packets
            // of this burst, which nobody else has, and whose flags and lengths `push` has compared with their data.
            let right = unsafe { sys::rte_eth_tx_prepare(self.queue.port().get(), self.queue.id(), mbufs, count) };
            if right >= count {
                return self.queue.tx(&mut self.packets);
            }
            // The one behind those that are right is wrong; it is the only one that is known to be.
            let mut place = 0;
            self.packets.retain(|_| {
                place += 1;
                place != usize::from(right) + 1
            });
            self.rejected += 1;
        }
    }

    /// How many frames of this burst were dropped because the device could not do with them what was asked.
    #[must_use]
    pub const fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Frees what has not been sent.
    pub fn clear(&mut self) {
        self.packets.clear();
    }
}

impl<P: PrivateData, const N: usize> fmt::Debug for PreparedBurst<'_, P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedBurst").field("len", &self.len()).field("queue", &self.queue).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{RequestError, TxRequest};

    /// An Ethernet header, and zeros behind the first byte of what follows.
    fn frame(first: u8, len: usize) -> Vec<u8> {
        let mut frame = vec![0; len];
        if let Some(byte) = frame.get_mut(14) {
            *byte = first;
        }
        frame
    }

    #[test]
    fn lengths_are_compared_with_the_frame() {
        let v4 = |l2, l3| TxRequest::ipv4(l2, l3).ip_checksum();
        for (request, frame) in [
            (v4(14, 20), frame(0x45, 34)),
            (v4(14, 60), frame(0x4f, 74)),
            (v4(14, 20).udp_checksum(), frame(0x45, 42)),
            (v4(14, 20).tcp_checksum(60), frame(0x45, 94)),
            (TxRequest::ipv6(14, 40).udp_checksum(), frame(0x60, 62)),
            (TxRequest::ipv6(14, 511).tcp_checksum(20), frame(0x60, 545)),
            (TxRequest::ipv4(14, 20).tcp_segments(20, 1448), frame(0x45, 1514)),
            (TxRequest::new().insert_vlan(0xffff), frame(0, 14)),
            (TxRequest::new(), frame(0, 0)),
        ] {
            assert_eq!(request.fits(&frame, 128), Ok(()), "{request:?}");
        }
        let length = |what, len| RequestError::Length { what, len };
        let header = |what, len, held| RequestError::Header { what, len, held };
        for (request, frame, error) in [
            (v4(13, 20), frame(0x45, 100), length("Ethernet", 13)),
            (v4(128, 20), frame(0x45, 300), length("Ethernet", 128)),
            (v4(14, 19), frame(0x45, 100), length("IP", 19)),
            (v4(14, 64), frame(0x45, 100), length("IP", 64)),
            (TxRequest::ipv6(14, 20).udp_checksum(), frame(0x60, 100), length("IP", 20)),
            (TxRequest::ipv6(14, 512).udp_checksum(), frame(0x60, 900), length("IP", 512)),
            (v4(14, 20).tcp_checksum(19), frame(0x45, 100), length("TCP", 19)),
            (v4(14, 20).tcp_checksum(61), frame(0x45, 100), length("TCP", 61)),
            (v4(14, 60).tcp_segments(60, 100), frame(0x4f, 300), length("Ethernet, IP and TCP", 134)),
            (v4(14, 20), frame(0x45, 33), header("IP or TCP", 34, 33)),
            (v4(14, 20).udp_checksum(), frame(0x45, 41), header("IP or TCP", 42, 41)),
            (TxRequest::new().insert_vlan(1), frame(0, 13), header("Ethernet", 14, 13)),
            (v4(14, 20), frame(0x46, 100), RequestError::NotIp),
            (v4(14, 20), frame(0x60, 100), RequestError::NotIp),
            (TxRequest::ipv6(14, 40).udp_checksum(), frame(0x45, 100), RequestError::NotIp),
            (TxRequest::ipv6(14, 40).ip_checksum(), frame(0x60, 100), RequestError::NotIp),
            (TxRequest::new().udp_checksum(), frame(0x45, 100), length("Ethernet", 0)),
            (v4(14, 20).tcp_segments(20, 0), frame(0x45, 100), RequestError::Segment(0)),
            (v4(14, 20).tcp_segments(20, 65_500), frame(0x45, 100), RequestError::Segment(65_500)),
        ] {
            assert_eq!(request.fits(&frame, 128), Err(error), "{request:?}");
        }
    }

    #[test]
    fn the_last_wish_about_a_header_holds() {
        let request = TxRequest::ipv4(14, 20).tcp_segments(20, 100).udp_checksum();
        assert_eq!(request, TxRequest::ipv4(14, 20).ip_checksum().udp_checksum());
    }
}
