// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Cutting long TCP segments.

use super::{
    error::SegmentationError,
    tcp::{FLAGS, Tcp},
};
use crate::{
    Burst, Errno, Mempool, Packet, PacketError, PrivateData, RequestError, TxRequest,
    fragment::HeaderError,
    packet::{Unsharable, begin_taking_apart, unshared},
};
use core::fmt;
use dpdk_sys as sys;

/// The maximum number of mbufs that refer to one packet's data, so that 16 bits are enough to count the references.
const MOST_REFERRING: usize = 8192;

/// Flags of a TCP header.
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const URG: u8 = 0x20;
const CWR: u8 = 0x80;

/// Cuts long TCP segments in software, as a device does for [`TxRequest::tcp_segments`] (generic segmentation offload).
///
/// `P` is the private data of the packets and of the first mbuf of each segment, which comes from the pool of headers.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// # let (packet, mut tx): (dpdk_rs::Packet, dpdk_rs::TxQueue) = unimplemented!();
/// use dpdk_rs::{Burst, Mempool, TxRequest, offload::Segmenter};
///
/// let headers: Mempool = Mempool::builder("headers").data_room(256).build(&eal)?;
/// let references: Mempool = Mempool::builder("references").data_room(0).build(&eal)?;
/// let segmenter = Segmenter::new(&headers, &references)?;
/// let mut segments = Burst::<_, 64>::new();
/// let request = TxRequest::ipv4(14, 20).tcp_segments(20, 1448);
/// segmenter.segment(packet, &request, &mut segments).map_err(|(error, _packet)| error)?;
/// tx.tx(&mut segments);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "rte_gso_ctx")]
pub struct Segmenter<P: PrivateData = (), R: PrivateData = ()> {
    headers: Mempool<P>,
    references: Mempool<R>,
    ids: u64,
}

impl<P: PrivateData, R: PrivateData> Segmenter<P, R> {
    /// Takes the pool for the segments' headers, `headers`, and the pool for mbufs that refer to the data,
    /// `references`: the latter provides one mbuf for each mbuf of the packet and each segment, without data room of
    /// its own.
    ///
    /// # Errors
    /// [`PacketError::NoRoom`] if mbufs of `headers` have too little room for the headroom and 54 bytes, the shortest
    /// headers. [`PacketError::Pinned`] if one of the pools is from
    /// [`MempoolBuilder::build_in`](crate::MempoolBuilder::build_in).
    pub fn new(headers: &Mempool<P>, references: &Mempool<R>) -> Result<Self, PacketError> {
        const SHORTEST_HEADERS: usize = 14 + 20 + 20;
        let room = room_for_headers(headers);
        if room < SHORTEST_HEADERS {
            return Err(PacketError::NoRoom { asked: SHORTEST_HEADERS, room });
        }
        if headers.is_pinned() || references.is_pinned() {
            return Err(PacketError::Pinned);
        }
        Ok(Self { headers: headers.clone(), references: references.clone(), ids: 0 })
    }

    /// Gives all segments of a packet the same IPv4 id instead of consecutive ids. Only for packets with DF (don't
    /// fragment), whose id has no meaning (RFC 6864).
    #[doc(alias = "RTE_GSO_FLAG_IPID_FIXED")]
    #[must_use]
    pub const fn fixed_ids(mut self) -> Self {
        self.ids = sys::DPDK_SYS_GSO_FLAG_IPID_FIXED;
        self
    }

    /// Cuts a packet into segments according to `request`, and adds them to `segments`, in order. Each segment is a
    /// frame with correct lengths, sequence numbers and checksums of both headers, ready for
    /// [`TxQueue::tx`](crate::TxQueue::tx). PSH and FIN are set in the last segment only, CWR in the first only.
    ///
    /// The segments share the packet's data, which can be read but not changed ([`PacketError::Shared`]), and keep its
    /// mbufs until the last segment is dropped. A packet that is short enough, or has no data, is added itself, with
    /// its checksums written.
    ///
    /// Returns how many segments were added.
    ///
    /// # Errors
    /// The packet, unchanged, and why; see [`SegmentationError`]. No segment was added then. Padding after the IPv4
    /// packet must be removed first ([`Packet::trim`]).
    #[doc(alias = "rte_gso_segment")]
    pub fn segment<const N: usize>(
        &self,
        mut packet: Packet<P>,
        request: &TxRequest,
        segments: &mut Burst<P, N>,
    ) -> Result<usize, (SegmentationError, Packet<P>)> {
        let plan = match Plan::new(&packet, request, room_for_headers(&self.headers), segments.remaining_capacity()) {
            Ok(plan) => plan,
            Err(error) => return Err((error, packet)),
        };
        if plan.segments > 1 {
            return self.cut(packet, plan, segments);
        }
        plan.tcp.write_checksums(&mut packet);
        // `Plan::new` has checked that there is room.
        segments.push(packet).map(|()| 1).map_err(|packet| (SegmentationError::NoRoom { needed: 1, room: 0 }, packet))
    }

    fn cut<const N: usize>(
        &self,
        mut packet: Packet<P>,
        plan: Plan,
        segments: &mut Burst<P, N>,
    ) -> Result<usize, (SegmentationError, Packet<P>)> {
        let context = sys::rte_gso_ctx {
            direct_pool: self.headers.as_ptr(),
            indirect_pool: self.references.as_ptr(),
            flag: self.ids,
            gso_types: sys::DPDK_SYS_TX_OFFLOAD_TCP_TSO as u32,
            gso_size: plan.segment_len,
        };
        let port = packet.head().port();
        let counting = match begin_taking_apart(packet.head(), || self.headers.environment().is_forked()) {
            Ok(counting) => counting,
            Err(Unsharable::Forked) => return Err((SegmentationError::Forked, packet)),
            Err(Unsharable::Crowded) => return Err((SegmentationError::NoMbuf, packet)),
        };
        let head = packet.head_mut();
        let (flags, offload) = (head.ol_flags(), head.tx_offload());
        let asked = sys::DPDK_SYS_MBUF_F_TX_IPV4 | sys::DPDK_SYS_MBUF_F_TX_TCP_SEG;
        // SAFETY: the plan has compared the headers with the frame. The flags are all for sending.
        unsafe { head.set_ol_flags(flags & !sys::DPDK_SYS_MBUF_F_TX_OFFLOAD_MASK | asked) };
        // SAFETY: the plan has compared the lengths with the frame.
        unsafe { head.set_tx_offload(plan.lengths) };
        let held = segments.len();
        // SAFETY: the mbuf heads a live chain that this call owns, whose last mbuf has bytes. The first mbuf has all
        // headers, of the lengths in the mbuf, and the mbufs of the live pool of headers have room for them. The mbuf
        // is not attached to another, so none of its flags is wrong for the new mbufs. The pool of references is live
        // too. There is room for the mbufs.
        let result = unsafe {
            sys::rte_gso_segment(
                head.mbuf().as_ptr(),
                &raw const context,
                segments.spare().as_mut_ptr().cast(),
                plan.segments,
            )
        };
        drop(counting);
        // SAFETY: these are the flags that the packet had.
        unsafe { head.set_ol_flags(flags) };
        // SAFETY: these are the lengths that the packet had.
        unsafe { head.set_tx_offload(offload) };
        let added = match Errno::check(result) {
            Ok(0) => return Err((SegmentationError::Call(Errno::new(sys::EINVAL.cast_signed())), packet)),
            Ok(added) => added as usize,
            Err(Errno::NO_MEMORY) => return Err((SegmentationError::NoMbuf, packet)),
            Err(errno) => return Err((SegmentationError::Call(errno), packet)),
        };
        debug_assert_eq!(added, usize::from(plan.segments));
        // SAFETY: the call has written `added` pointers to the room after the packets, to chains that nobody else owns.
        // The first mbuf of each is a new one from the pool of headers, which has a private area for a `P`.
        unsafe { segments.set_len(held + added) };
        for (number, segment) in segments.iter_mut().skip(held).enumerate() {
            finish(segment, plan.tcp, port, number == 0);
        }
        Ok(added)
    }
}

impl<P: PrivateData, R: PrivateData> fmt::Debug for Segmenter<P, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segmenter").field("headers", &self.headers).field("references", &self.references).finish()
    }
}

/// The room for headers in the mbufs of a pool, in bytes.
fn room_for_headers<P: PrivateData>(pool: &Mempool<P>) -> usize {
    pool.data_room().saturating_sub(sys::RTE_PKTMBUF_HEADROOM as usize)
}

/// Completes a segment that DPDK has cut.
fn finish<P: PrivateData>(segment: &mut Packet<P>, whole: Tcp, port: u16, is_first: bool) {
    // DPDK has copied the frame's fields of the packet's mbufs: the flags to the header, all fields to the others.
    for mbuf in segment.head_mut().chain_mut() {
        mbuf.forget_findings(port);
    }
    for mbuf in segment.head_mut().chain_mut().skip(1) {
        // SAFETY: the mbuf does not head a frame, so only its own bytes count.
        unsafe { mbuf.set_pkt_len(u32::from(mbuf.data_len())) };
    }
    let flags = whole.l2_len + whole.l3_len + FLAGS;
    let byte = segment.data_mut().ok().and_then(|data| data.get_mut(flags)).filter(|_| !is_first);
    if let Some(flags) = byte {
        // RFC 3168: CWR reports one reduction of the window.
        *flags &= !CWR;
    }
    // Not longer than the packet.
    let packet_len = segment.len().saturating_sub(whole.l2_len);
    Tcp { packet_len, ..whole }.write_checksums(segment);
}

/// The work for a packet, in lengths that were compared with the frame.
#[derive(Clone, Copy)]
struct Plan {
    tcp: Tcp,
    /// The lengths of the three headers in the form of an mbuf's `tx_offload`.
    lengths: u64,
    /// The maximum length of a segment, with all headers.
    segment_len: u16,
    /// The number of segments.
    segments: u16,
}

impl Plan {
    fn new<P: PrivateData>(
        packet: &Packet<P>,
        request: &TxRequest,
        most_headers: usize,
        room: usize,
    ) -> Result<Self, SegmentationError> {
        let (l2_len, l3_len, l4_len, data_len) = request.ipv4_segments().ok_or(SegmentationError::Request)?;
        request.fits(packet.data(), most_headers)?;
        let tcp = Tcp::new(packet.data(), packet.len(), usize::from(l2_len))?;
        let found = packet.len().saturating_sub(tcp.l2_len);
        if tcp.packet_len != found {
            return Err(HeaderError::Length { said: tcp.packet_len, found }.into());
        }
        if tcp.l4_len != usize::from(l4_len) {
            return Err(RequestError::Length { what: "TCP", len: usize::from(l4_len) }.into());
        }
        let needed = tcp.payload().div_ceil(usize::from(data_len)).max(1);
        if needed > room {
            return Err(SegmentationError::NoRoom { needed, room });
        }
        if needed == 1 {
            unshared(packet.head()).map_err(|_| SegmentationError::Shared)?;
        } else {
            Self::check_cuts(packet, tcp, needed)?;
        }
        // SAFETY: the call packs numbers into one.
        let lengths = unsafe { sys::dpdk_sys_mbuf_tx_offload(l2_len, l3_len, l4_len, 0) };
        // `fits` has checked that the sum fits in 16 bits, and there are at most 8,192 segments.
        Ok(Self { tcp, lengths, segment_len: tcp.headers() as u16 + data_len, segments: needed as u16 })
    }

    /// Checks that the packet can be cut into several segments.
    fn check_cuts<P: PrivateData>(packet: &Packet<P>, tcp: Tcp, needed: usize) -> Result<(), SegmentationError> {
        if tcp.flags & (SYN | RST | URG) != 0 {
            return Err(SegmentationError::Flags(tcp.flags));
        }
        if packet.head().is_elsewhere() {
            return Err(SegmentationError::Elsewhere);
        }
        // DPDK makes an additional segment without data of such an mbuf, for which there is no room.
        if packet.head().last().data_len() == 0 {
            return Err(SegmentationError::Empty(packet.segment_count()));
        }
        let mbufs = needed + packet.segment_count();
        if mbufs > MOST_REFERRING {
            return Err(SegmentationError::TooMany { mbufs });
        }
        Ok(())
    }
}
