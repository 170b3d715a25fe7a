// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Requests to a device for one frame: checksums, TCP segmentation, a VLAN tag.

use crate::port::TxOffloads;
use dpdk_sys as sys;

/// A request to the device for one frame, built from the lengths of its headers in bytes.
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
    pub(super) flags: u64,
    pub(super) needs: TxOffloads,
    pub(super) l2_len: u8,
    pub(super) l3_len: u16,
    pub(super) l4_len: u8,
    pub(super) segment_len: u16,
    pub(super) vlan_tci: Option<u16>,
}

/// The length of an Ethernet header, and of the shortest IPv4, IPv6, UDP and TCP headers, in bytes.
const ETHERNET: u8 = 14;
const IPV4: u16 = 20;
const IPV6: u16 = 40;
const UDP: u8 = 8;
const TCP: u8 = 20;
/// The length of a VLAN tag in bytes.
pub(super) const VLAN: usize = 4;
/// The maximum of a length in its bits of an mbuf.
const LONGEST_L2: u8 = (1 << 7) - 1;
const LONGEST_L3: u16 = (1 << 9) - 1;

impl TxRequest {
    /// An empty request, for any frame.
    pub const fn new() -> Self {
        Self { flags: 0, needs: TxOffloads::NONE, l2_len: 0, l3_len: 0, l4_len: 0, segment_len: 0, vlan_tci: None }
    }

    /// An empty request for a frame with an Ethernet header (14 bytes, 4 more for each VLAN tag) and an IPv4 header of
    /// these lengths.
    pub const fn ipv4(l2_len: u8, l3_len: u16) -> Self {
        Self { flags: sys::DPDK_SYS_MBUF_F_TX_IPV4, l2_len, l3_len, ..Self::new() }
    }

    /// An empty request for a frame with an Ethernet header and an IPv6 header, including extension headers, of these
    /// lengths.
    pub const fn ipv6(l2_len: u8, l3_len: u16) -> Self {
        Self { flags: sys::DPDK_SYS_MBUF_F_TX_IPV6, l2_len, l3_len, ..Self::new() }
    }

    /// Requests the checksum of the IPv4 header.
    #[doc(alias = "RTE_MBUF_F_TX_IP_CKSUM")]
    pub fn ip_checksum(mut self) -> Self {
        self.flags |= sys::DPDK_SYS_MBUF_F_TX_IP_CKSUM;
        self.needs = self.needs | TxOffloads::IPV4_CHECKSUM;
        self
    }

    /// Requests the checksum of the UDP datagram in the IP packet.
    #[doc(alias = "RTE_MBUF_F_TX_UDP_CKSUM")]
    pub fn udp_checksum(self) -> Self {
        self.l4(sys::DPDK_SYS_MBUF_F_TX_UDP_CKSUM, UDP, TxOffloads::UDP_CHECKSUM)
    }

    /// Requests the checksum of the TCP segment in the IP packet, whose header has `l4_len` bytes.
    #[doc(alias = "RTE_MBUF_F_TX_TCP_CKSUM")]
    pub fn tcp_checksum(self, l4_len: u8) -> Self {
        self.l4(sys::DPDK_SYS_MBUF_F_TX_TCP_CKSUM, l4_len, TxOffloads::TCP_CHECKSUM)
    }

    /// Requests that the device cut the TCP segment in the IP packet, whose header has `l4_len` bytes, into segments
    /// with at most `segment_len` bytes of data each, and write their checksums (TSO).
    ///
    /// An IPv4 header gets its checksum too, whether or not the port is configured for [`TxOffloads::IPV4_CHECKSUM`]: virtio
    /// has only the offload for segments.
    ///
    /// `net_tap` does this with DPDK 22.11. With 24.11 and 25.11 it offers the offload, but then rejects such frames.
    #[doc(alias = "RTE_MBUF_F_TX_TCP_SEG")]
    pub fn tcp_segments(self, l4_len: u8, segment_len: u16) -> Self {
        let mut cut = self.l4(
            sys::DPDK_SYS_MBUF_F_TX_TCP_CKSUM | sys::DPDK_SYS_MBUF_F_TX_TCP_SEG,
            l4_len,
            TxOffloads::TCP_SEGMENTS,
        );
        cut.segment_len = segment_len;
        // The segments are IPv4 packets of other lengths.
        if cut.flags & sys::DPDK_SYS_MBUF_F_TX_IPV4 != 0 {
            cut.flags |= sys::DPDK_SYS_MBUF_F_TX_IP_CKSUM;
        }
        cut
    }

    /// Requests that the device insert a VLAN tag with this TCI: priority, drop eligibility and VLAN number. Frames for
    /// `net_af_packet` get it from this crate, when they are pushed.
    #[doc(alias = "RTE_MBUF_F_TX_VLAN")]
    pub fn insert_vlan(mut self, tci: u16) -> Self {
        self.flags |= sys::DPDK_SYS_MBUF_F_TX_VLAN;
        self.needs = self.needs | TxOffloads::VLAN_INSERT;
        self.vlan_tci = Some(tci);
        self
    }

    /// The flags (`ol_flags`) and lengths (`tx_offload`) of an mbuf with this request, for programs that send by DPDK's own
    /// functions. A VLAN tag is not among them.
    #[must_use]
    pub fn mbuf_fields(&self) -> (u64, u64) {
        // SAFETY: the call only computes a number.
        let lengths = unsafe { sys::dpdk_sys_mbuf_tx_offload(self.l2_len, self.l3_len, self.l4_len, self.segment_len) };
        (self.flags, lengths)
    }

    /// Adds a request about the header after the IP header, which replaces an earlier one.
    fn l4(mut self, flags: u64, l4_len: u8, needs: TxOffloads) -> Self {
        const ALL: u64 =
            sys::DPDK_SYS_MBUF_F_TX_UDP_CKSUM | sys::DPDK_SYS_MBUF_F_TX_TCP_CKSUM | sys::DPDK_SYS_MBUF_F_TX_TCP_SEG;
        let others = TxOffloads::UDP_CHECKSUM | TxOffloads::TCP_CHECKSUM | TxOffloads::TCP_SEGMENTS;
        if !self.needs.contains(TxOffloads::IPV4_CHECKSUM) {
            // Only segments wanted it.
            self.flags &= !sys::DPDK_SYS_MBUF_F_TX_IP_CKSUM;
        }
        self.flags = self.flags & !ALL | flags;
        self.needs = self.needs.without(others) | needs;
        self.l4_len = l4_len;
        self.segment_len = 0;
        self
    }

    /// The length of all headers in bytes.
    fn headers(&self) -> usize {
        usize::from(self.l2_len) + usize::from(self.l3_len) + usize::from(self.l4_len)
    }

    /// The lengths of the three headers and of a segment's data, if this requests only the segmentation of an IPv4
    /// packet.
    pub(crate) fn ipv4_segments(&self) -> Option<(u8, u16, u8, u16)> {
        let asked = Self::ipv4(self.l2_len, self.l3_len).tcp_segments(self.l4_len, self.segment_len);
        (*self == asked).then_some((self.l2_len, self.l3_len, self.l4_len, self.segment_len))
    }

    /// Checks that the lengths match a frame whose first segment is `data`: drivers trust them.
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
        // Fields of the frame that drivers read must match too.
        let said = data.get(usize::from(self.l2_len)).copied().unwrap_or(0);
        let right = if is_v4 { said >> 4 == 4 && u16::from(said & 15) * 4 == self.l3_len } else { said >> 4 == 6 };
        if right { Ok(()) } else { Err(RequestError::NotIp) }
    }
}

/// Why a device cannot fulfil a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The port was not configured for the offload.
    #[error("the port is not configured for {0}: request it with PortConfig::tx_offloads, if the device offers it")]
    Lacks(TxOffloads),
    /// The data is shared with another packet, and the device may have to change it.
    #[error("the packet's data is shared with another packet: copy it")]
    Shared,
    /// A header cannot have this length.
    #[error("the header of {what} cannot be {len} bytes long here")]
    Length {
        /// The name of the header.
        what: &'static str,
        /// The length in the request, in bytes.
        len: usize,
    },
    /// The headers extend past the first segment of the frame.
    #[error("the headers up to that of {what} are {len} bytes long, the first segment of the frame holds {held}")]
    Header {
        /// The last of the headers.
        what: &'static str,
        /// The length of all headers in bytes.
        len: usize,
        /// The length of the first segment in bytes.
        held: usize,
    },
    /// The frame has no IP header of this version and length.
    #[error("the frame has no IP header of that version and length")]
    NotIp,
    /// The requested length of the segments' data is impossible.
    #[error("{0} bytes of data in each TCP segment are not possible: give 1 to 65,535 less the headers")]
    Segment(u16),
    /// Drivers insert VLAN tags only into data that is in an mbuf. `net_tap` also cuts TCP segments only from such data.
    #[error(
        "the packet's data is a buffer of the program: the driver can neither insert a VLAN tag into it nor cut it into \
         TCP segments: copy the packet"
    )]
    External,
    /// The headroom is too small for a VLAN tag.
    #[error("no headroom for a VLAN tag: keep {VLAN} bytes before the frame")]
    NoHeadroom,
    /// The burst is full.
    #[error("the burst is full: send it first")]
    Full,
}

#[cfg(test)]
mod tests {
    use super::{RequestError, TxRequest};

    /// An Ethernet header, followed by `first` and zeros.
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
        assert_eq!(request, TxRequest::ipv4(14, 20).udp_checksum());
        let request = TxRequest::ipv4(14, 20).ip_checksum().tcp_segments(20, 100).udp_checksum();
        assert_eq!(request, TxRequest::ipv4(14, 20).ip_checksum().udp_checksum());
    }
}
