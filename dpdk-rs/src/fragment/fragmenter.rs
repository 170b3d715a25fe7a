// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Datagrams that are taken apart.

use super::header::{self, HeaderError, IPV6, IPV6_FRAGMENT};
use crate::{
    Burst, Errno, Mempool, Packet, PrivateData,
    packet::{MOST_SEGMENTS, Unsharable, begin_taking_apart},
};
use core::fmt;
use dpdk_sys as sys;

/// The longest header of a fragment: one of IPv4 with all the options that there can be.
const LONGEST_HEADER: usize = 60;

/// `RTE_ETHER_MIN_MTU`: every IPv4 link takes as much (RFC 791).
const LEAST_MTU_IPV4: u16 = 68;

/// `RTE_IPV6_MIN_MTU`: every IPv6 link takes as much (RFC 8200).
const LEAST_MTU_IPV6: u16 = 1280;

/// Why a datagram was not taken apart. It is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FragmentError {
    /// The frame is not what its headers say.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The sender asks for a message (ICMP, fragmentation needed) in place of fragments.
    #[error("the packet must not be fragmented: its header says so")]
    DontFragment,
    /// DPDK puts the fragment header right behind that of IPv6, where this one has to be (RFC 8200, section 4.5); or this is
    /// a fragment, and those of IPv6 are made by the sender only.
    #[error("the IPv6 header is followed by header {0}, which has to be in every fragment: this is not supported")]
    NextHeader(u8),
    /// The protocol asks for more of every link.
    #[error("an MTU of {mtu}: give at least {least}")]
    Mtu {
        /// Asked for.
        mtu: u16,
        /// The least that there can be.
        least: u16,
    },
    /// The burst has no room for so many fragments.
    #[error("{needed} fragments do not fit: the burst has room for {room}")]
    NoRoom {
        /// Fragments that are needed.
        needed: usize,
        /// Fragments that fit.
        room: usize,
    },
    /// The last segment has no bytes, or there are more than 32,765 segments. [`Packet::linearize`] or [`Packet::copy`] make
    /// one of them.
    #[error(
        "the frame has {segments} segments, of which the last has {last} bytes: give at most 32,765, and none without bytes"
    )]
    Segments {
        /// How many there are.
        segments: usize,
        /// The bytes of the last.
        last: usize,
    },
    /// There are no mbufs for the fragments.
    #[error("no mbufs for the fragments: a pool is exhausted, or 16,384 mbufs refer to the data")]
    NoMbuf,
    /// In a child made by `fork` the data is its parent's too.
    #[error("cannot share the data: this process is a fork of the one that initialized the EAL")]
    Forked,
    /// DPDK refuses the packet for another reason.
    #[error("cannot fragment the packet: {0}")]
    Call(Errno),
}

/// Takes datagrams apart that are longer than a link takes (the MTU).
///
/// `Q` is the private data of the fragments' first mbufs, which are from the pool of headers.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(std::env::args())?;
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
    /// Fragments whose headers are in mbufs of `headers`, and of which the data is referred to by mbufs of `references`: one for
    /// each segment of the datagram and each fragment. The latter need no room for data of their own.
    ///
    /// # Errors
    /// [`PacketError::NoRoom`](crate::PacketError::NoRoom) if mbufs of `headers` have no room for the headroom and 60 bytes: DPDK
    /// writes the headers without a look at it. [`PacketError::Pinned`](crate::PacketError::Pinned) if one of the pools was made by
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

    /// Adds the fragments of an IPv4 packet to `fragments`, in order; one if it is short enough. Each begins with the link header
    /// of the packet, `l2_len` bytes long, and has a checksum. IPv4 packets that are fragments can be taken apart again.
    ///
    /// `mtu` is without the link header. The packet stays as it is, and shares its data with the fragments: as long as there
    /// is one of them, the data cannot be changed ([`PacketError::Shared`](crate::PacketError::Shared)).
    ///
    /// Returns how many were added.
    ///
    /// # Errors
    /// See [`FragmentError`]; nothing was added then. Bytes behind the packet, which are added to short frames, have to be
    /// removed before ([`Packet::trim`]).
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

    /// Adds the fragments of an IPv6 packet to `fragments`, in order. Each begins with the link header of the packet, `l2_len`
    /// bytes long. Only the sender of a packet may do so; a router answers with a message (ICMPv6, packet too big).
    ///
    /// `id` tells the fragments of one packet from those of others between the same two hosts: it must not come again for as
    /// long as a receiver keeps fragments, and should not be easy to guess (RFC 7739). DPDK itself gives all packets the id 0.
    ///
    /// `mtu` is without the link header. The packet stays as it is, and shares its data with the fragments, as for
    /// [`Self::ipv4`]. One that is short enough should not come here: it becomes one fragment, with a fragment header.
    ///
    /// Returns how many were added.
    ///
    /// # Errors
    /// See [`FragmentError`]; nothing was added then.
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

    /// Takes the packet apart by `call`, which is given the mbuf at whose data the IP header begins, and room for so many mbufs.
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
        let head = packet.head();
        let forked = || self.headers.environment().is_forked();
        let _counting = begin_taking_apart(head, forked).map_err(|reason| match reason {
            Unsharable::Forked => FragmentError::Forked,
            Unsharable::Crowded => FragmentError::NoMbuf,
        })?;
        let (offset, len) = (head.data_off(), head.data_len());
        // `Sizes::new` has found so many bytes in the first segment.
        head.set_data(offset + l2_len, len - l2_len);
        head.change_pkt_len(-i32::from(l2_len));
        let held = fragments.len();
        let result = call(head.mbuf().as_ptr(), fragments.spare().as_mut_ptr().cast(), count);
        head.set_data(offset, len);
        head.change_pkt_len(i32::from(l2_len));
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
            fragment.head().set_port(head.port());
            fragment.head().set_tx_offload(0);
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

/// What there is to do for a packet, in lengths that the frame really has.
#[derive(Clone, Copy)]
struct Sizes {
    l2_len: u16,
    fragments: usize,
}

impl Sizes {
    /// `packet_len` bytes with a header of `header_len`, for links that take `mtu`, where each fragment has headers of `own_len`.
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
        // DPDK makes one fragment more, for which there is no room, of a last segment without bytes.
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
