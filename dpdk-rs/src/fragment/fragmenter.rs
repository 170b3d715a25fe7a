// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Splitting datagrams into fragments.

use super::header::{self, HeaderError, IPV6, IPV6_FRAGMENT};
use crate::{
    Burst, Errno, Mempool, Packet, PrivateData,
    packet::{Unsharable, begin_taking_apart},
    segment::MOST_SEGMENTS,
};
use core::fmt;
use dpdk_sys as sys;

/// The longest header of a fragment: an IPv4 header with the maximum of options.
const LONGEST_HEADER: usize = 60;

/// `RTE_ETHER_MIN_MTU`: the minimum MTU of an IPv4 link (RFC 791).
const LEAST_MTU_IPV4: u16 = 68;

/// `RTE_IPV6_MIN_MTU`: the minimum MTU of an IPv6 link (RFC 8200).
const LEAST_MTU_IPV6: u16 = 1280;

/// Why a datagram was not fragmented. It is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FragmentError {
    /// The frame contradicts its headers.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The sender forbids fragmentation and expects an ICMP message (fragmentation needed).
    #[error("the packet must not be fragmented: its header says so")]
    DontFragment,
    /// DPDK inserts the fragment header directly after the IPv6 header, but this packet has an extension header that
    /// must come before it (RFC 8200, section 4.5). Or the packet is already a fragment, and only the sender may
    /// fragment IPv6 packets.
    #[error("the IPv6 header is followed by header {0}, which must be in every fragment: this is not supported")]
    NextHeader(u8),
    /// The MTU is below the minimum of the protocol.
    #[error("an MTU of {mtu}: give at least {least}")]
    Mtu {
        /// The requested MTU in bytes.
        mtu: u16,
        /// The minimum in bytes.
        least: u16,
    },
    /// The burst has too little room for the fragments.
    #[error("{needed} fragments do not fit: the burst has room for {room}")]
    NoRoom {
        /// The number of fragments.
        needed: usize,
        /// The number of fragments that fit.
        room: usize,
    },
    /// The last segment has no bytes, or there are more than 32,765 segments. [`Packet::linearize`] or [`Packet::copy`]
    /// joins the segments.
    #[error(
        "the frame has {segments} segments, of which the last has {last} bytes: give at most 32,765, and none without bytes"
    )]
    Segments {
        /// The number of segments.
        segments: usize,
        /// The length of the last segment in bytes.
        last: usize,
    },
    /// No mbufs are available for the fragments.
    #[error("no mbufs for the fragments: a pool is exhausted, or 16,384 mbufs refer to the data")]
    NoMbuf,
    /// In a child process created by `fork`, the data also belongs to its parent.
    #[error("cannot share the data: this process is a fork of the one that initialized the EAL")]
    Forked,
    /// DPDK rejects the packet for another reason.
    #[error("cannot fragment the packet: {0}")]
    Call(Errno),
}

/// Splits datagrams that are longer than a link's MTU.
///
/// `Q` is the private data of the first mbuf of each fragment, which comes from the pool of headers.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// # let mut packet: dpdk_rs::Packet = unimplemented!();
/// use dpdk_rs::{Burst, Mempool, fragment::Fragmenter};
///
/// let headers: Mempool = Mempool::builder("headers").data_room(256).build(&eal)?;
/// let references: Mempool = Mempool::builder("references").data_room(0).build(&eal)?;
/// let fragmenter = Fragmenter::new(&headers, &references)?;
/// let mut fragments = Burst::<_, 64>::new();
/// fragmenter.ipv4(&mut packet, 14, 576, &mut fragments)?;
/// drop(packet); // the fragments keep its data
/// # Ok(())
/// # }
/// ```
#[doc(alias = "rte_ip_frag")]
pub struct Fragmenter<Q: PrivateData = (), R: PrivateData = ()> {
    headers: Mempool<Q>,
    references: Mempool<R>,
}

impl<Q: PrivateData, R: PrivateData> Fragmenter<Q, R> {
    /// Takes the pool for the fragments' headers, `headers`, and the pool for mbufs that refer to the data,
    /// `references`: the latter provides one mbuf for each segment of the datagram and each fragment, without data room
    /// of its own.
    ///
    /// # Errors
    /// [`PacketError::NoRoom`](crate::PacketError::NoRoom) if mbufs of `headers` have too little room for the headroom
    /// and 60 bytes: DPDK does not check the room before it writes the headers.
    /// [`PacketError::Pinned`](crate::PacketError::Pinned) if one of the pools is from
    /// [`MempoolBuilder::build_in`](crate::MempoolBuilder::build_in).
    pub fn new(headers: &Mempool<Q>, references: &Mempool<R>) -> Result<Self, crate::PacketError> {
        let room = headers.data_room().saturating_sub(sys::RTE_PKTMBUF_HEADROOM as usize);
        if room < LONGEST_HEADER {
            return Err(crate::PacketError::NoRoom { asked: LONGEST_HEADER, room });
        }
        if headers.is_pinned() || references.is_pinned() {
            return Err(crate::PacketError::Pinned);
        }
        Ok(Self { headers: headers.clone(), references: references.clone() })
    }

    /// Adds the fragments of an IPv4 packet to `fragments`, in order. A packet that is short enough yields one
    /// fragment. Each begins with the packet's link header of `l2_len` bytes, and has a checksum. An IPv4 fragment can
    /// be fragmented again (RFC 791).
    ///
    /// `mtu` is in bytes and does not include the link header. The packet is unchanged and shares its data with the
    /// fragments: as long as one of them exists, the data cannot be changed
    /// ([`PacketError::Shared`](crate::PacketError::Shared)).
    ///
    /// Returns how many fragments were added.
    ///
    /// # Errors
    /// See [`FragmentError`]. No fragment was added then. Padding after the packet must be removed first
    /// ([`Packet::trim`]).
    #[doc(alias = "rte_ipv4_fragment_packet")]
    pub fn ipv4<P: PrivateData, const N: usize>(
        &self,
        packet: &mut Packet<P>,
        l2_len: usize,
        mtu: u16,
        fragments: &mut Burst<Q, N>,
    ) -> Result<usize, FragmentError> {
        let ip = header::ipv4(packet.data(), l2_len)?;
        let bytes = packet.data().get(l2_len..).unwrap_or_default();
        header::ipv4_options(bytes.get(..ip.header_len).unwrap_or_default())?;
        if header::ipv4_is_whole(bytes) {
            return Err(FragmentError::DontFragment);
        }
        if ip.is_fragment() {
            ip.check_place(ip.header_len)?;
        }
        let sizes = Sizes::new(packet, l2_len, (ip.len, ip.header_len), (mtu, LEAST_MTU_IPV4, ip.header_len))?;
        let (direct, indirect) = (self.headers.as_ptr(), self.references.as_ptr());
        let before = fragments.len();
        let added = self.cut(packet, sizes, fragments, |packet, out, count| {
            // SAFETY: as `cut` promises, the mbuf heads a live chain that is borrowed exclusively, and there is room for `count`
            // mbufs, which are enough: all lengths have been compared with those of the chain. Its first segment holds the whole
            // header, whose options end within it. Both pools are live, and the mbufs of the first have room for a header.
            unsafe { sys::rte_ipv4_fragment_packet(packet, out, count, mtu, direct, indirect) }
        })?;
        for fragment in fragments.iter_mut().skip(before) {
            let Ok(data) = fragment.data_mut() else { continue };
            header::write_checksum(data.get_mut(l2_len..).unwrap_or_default());
        }
        Ok(added)
    }

    /// Adds the fragments of an IPv6 packet to `fragments`, in order. Each begins with the packet's link header of
    /// `l2_len` bytes. Only the sender of a packet may fragment it; a router answers with an ICMPv6 message (packet too
    /// big).
    ///
    /// `id` distinguishes the fragments of one packet from those of others between the same two hosts. It must not be
    /// reused as long as a receiver keeps fragments, and should be hard to guess (RFC 7739). DPDK itself gives all
    /// packets the id 0.
    ///
    /// `mtu` is in bytes and does not include the link header. The packet is unchanged and shares its data with the
    /// fragments, as for [`Self::ipv4`]. Do not pass packets that are short enough: they become one fragment, with a
    /// fragment header.
    ///
    /// Returns how many fragments were added.
    ///
    /// # Errors
    /// See [`FragmentError`]. No fragment was added then.
    #[doc(alias = "rte_ipv6_fragment_packet")]
    pub fn ipv6<P: PrivateData, const N: usize>(
        &self,
        packet: &mut Packet<P>,
        l2_len: usize,
        mtu: u16,
        id: u32,
        fragments: &mut Burst<Q, N>,
    ) -> Result<usize, FragmentError> {
        const HOP_BY_HOP: u8 = 0;
        const ROUTING: u8 = 43;
        const DESTINATION_OPTIONS: u8 = 60;
        let (ip, next) = header::ipv6(packet.data(), l2_len)?;
        if matches!(next, HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS | header::FRAGMENT_HEADER) {
            return Err(FragmentError::NextHeader(next));
        }
        let limits = (mtu, LEAST_MTU_IPV6, IPV6 + IPV6_FRAGMENT);
        let sizes = Sizes::new(packet, l2_len, (ip.len, IPV6), limits)?;
        let (direct, indirect) = (self.headers.as_ptr(), self.references.as_ptr());
        let before = fragments.len();
        let added = self.cut(packet, sizes, fragments, |packet, out, count| {
            // SAFETY: as `cut` promises, the mbuf heads a live chain that is borrowed exclusively, and there is room for `count`
            // mbufs, which are enough: all lengths have been compared with those of the chain. Its first segment holds the whole
            // header. Both pools are live, and the mbufs of the first have room for both headers.
            unsafe { sys::rte_ipv6_fragment_packet(packet, out, count, mtu, direct, indirect) }
        })?;
        let place = l2_len + IPV6 + 4;
        for fragment in fragments.iter_mut().skip(before) {
            let Ok(data) = fragment.data_mut() else { continue };
            if let Some(bytes) = data.get_mut(place..place + 4) {
                bytes.copy_from_slice(&id.to_be_bytes());
            }
        }
        Ok(added)
    }

    /// Fragments the packet by `call`, which takes the mbuf whose data begins with the IP header, and room for `N`
    /// mbufs.
    fn cut<P: PrivateData, const N: usize>(
        &self,
        packet: &mut Packet<P>,
        sizes: Sizes,
        fragments: &mut Burst<Q, N>,
        call: impl FnOnce(*mut sys::rte_mbuf, *mut *mut sys::rte_mbuf, u16) -> i32,
    ) -> Result<usize, FragmentError> {
        let Sizes { l2_len, fragments: needed } = sizes;
        let room = fragments.remaining_capacity();
        let Some(count) = u16::try_from(needed).ok().filter(|_| needed <= room) else {
            return Err(FragmentError::NoRoom { needed, room });
        };
        let port = packet.head().port();
        let head = packet.head_mut();
        let forked = || self.headers.environment().is_forked();
        let _counting = begin_taking_apart(*head, forked).map_err(|reason| match reason {
            Unsharable::Forked => FragmentError::Forked,
            Unsharable::Crowded => FragmentError::NoMbuf,
        })?;
        let (offset, len) = (head.data_off(), head.data_len());
        // SAFETY: `Sizes::new` has checked that the first segment has this many bytes.
        unsafe { head.set_data(offset + l2_len, len - l2_len) };
        // SAFETY: the first segment has shrunk by as much.
        unsafe { head.change_pkt_len(-i32::from(l2_len)) };
        let held = fragments.len();
        let result = call(head.mbuf().as_ptr(), fragments.spare().as_mut_ptr().cast(), count);
        // SAFETY: this is where the data was before.
        unsafe { head.set_data(offset, len) };
        // SAFETY: the first segment has grown by as much.
        unsafe { head.change_pkt_len(i32::from(l2_len)) };
        let added = Errno::check(result).map_err(|errno| match errno {
            Errno::NO_MEMORY => FragmentError::NoMbuf,
            errno => FragmentError::Call(errno),
        })?;
        let added = added as usize;
        debug_assert_eq!(added, needed);
        // SAFETY: the call has written so many pointers to the room behind the packets, to chains that nobody else owns, each
        // headed by a fresh mbuf of the pool of headers, which has a private area for a `Q`.
        unsafe { fragments.set_len(held + added) };
        for fragment in fragments.iter_mut().skip(held) {
            let own = fragment.head_mut();
            own.set_port(port);
            // SAFETY: the mbuf is new, so none of its flags asks a device to use the lengths.
            unsafe { own.set_tx_offload(0) };
            let link = packet.data().get(..usize::from(l2_len)).unwrap_or_default();
            // The headroom is longer than any link header.
            if let Ok(front) = fragment.prepend(link.len()) {
                front.copy_from_slice(link);
            }
        }
        Ok(added)
    }
}

impl<Q: PrivateData, R: PrivateData> fmt::Debug for Fragmenter<Q, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fragmenter").field("headers", &self.headers).field("references", &self.references).finish()
    }
}

/// The work for a packet, in lengths that were compared with the frame.
#[derive(Clone, Copy)]
struct Sizes {
    l2_len: u16,
    fragments: usize,
}

impl Sizes {
    /// For a packet of `packet_len` bytes with a header of `header_len`, and fragments of at most `mtu` bytes with
    /// headers of `own_len`.
    fn new<P: PrivateData>(
        packet: &Packet<P>,
        l2_len: usize,
        (packet_len, header_len): (usize, usize),
        (mtu, least, own_len): (u16, u16, usize),
    ) -> Result<Self, FragmentError> {
        let found = packet.len().saturating_sub(l2_len);
        if packet_len != found {
            return Err(HeaderError::Length { said: packet_len, found }.into());
        }
        if mtu < least {
            return Err(FragmentError::Mtu { mtu, least });
        }
        // DPDK makes an additional fragment of a last segment without bytes, for which there is no room.
        let (segments, last) = (packet.segment_count(), usize::from(packet.head().last().data_len()));
        if segments >= usize::from(MOST_SEGMENTS) || last == 0 {
            return Err(FragmentError::Segments { segments, last });
        }
        // The offset of a fragment is a multiple of 8 bytes.
        let step = (usize::from(mtu) - own_len) & !7;
        let fragments = (packet_len - header_len).div_ceil(step).max(1);
        // `header` has compared it with 127.
        Ok(Self { l2_len: l2_len as u16, fragments })
    }
}
