// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Errors of the segmenter.

use crate::{Errno, RequestError, fragment::HeaderError};

/// Why a packet was not cut. It is returned unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentationError {
    /// The request does not consist of [`TxRequest::ipv4`](crate::TxRequest::ipv4) and
    /// [`TxRequest::tcp_segments`](crate::TxRequest::tcp_segments) alone.
    #[error("the request is not only for TCP segments in IPv4: create it with TxRequest::ipv4 and tcp_segments alone")]
    Request,
    /// The lengths in the request do not match the frame, or the mbufs for headers are too small.
    #[error(transparent)]
    Lengths(#[from] RequestError),
    /// The frame contradicts its IPv4 header.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The packet is an IP fragment, which has only a part of a TCP segment.
    #[error("the packet is a fragment: reassemble the datagram first")]
    Fragment,
    /// The packet has another protocol than TCP.
    #[error("the packet has protocol {0}, not TCP, which is 6")]
    Protocol(u8),
    /// The length in the TCP header is too small, or exceeds the bytes after the IPv4 header.
    #[error("the TCP header claims {header} bytes, {room} follow the IPv4 header")]
    TcpHeader {
        /// The claimed length in bytes.
        header: usize,
        /// The bytes after the IPv4 header.
        room: usize,
    },
    /// SYN, RST and URG refer to a segment as a whole.
    #[error("a TCP segment with the flags {0:#04x} cannot be cut: SYN, RST and URG refer to one segment")]
    Flags(u8),
    /// The headers are in the buffer of another packet or of the program. DPDK would then mark the segments' own
    /// headers as such.
    #[error("the headers are not in the packet's own buffer: copy the packet, or chain it to its own headers")]
    Elsewhere,
    /// The packet is short enough, but its checksums cannot be written since its headers have another owner.
    #[error("the packet's data is shared with another packet: copy it to have checksums written")]
    Shared,
    /// The last mbuf of the chain has no bytes. [`Packet::linearize`](crate::Packet::linearize) or
    /// [`Packet::copy`](crate::Packet::copy) joins the mbufs.
    #[error("the last of {0} mbufs has no bytes: linearize or copy the packet")]
    Empty(usize),
    /// The burst has too little room for the segments.
    #[error("{needed} segments do not fit: the burst has room for {room}")]
    NoRoom {
        /// The number of segments.
        needed: usize,
        /// The number of segments that fit.
        room: usize,
    },
    /// More mbufs would refer to the data than can be counted.
    #[error("{mbufs} mbufs would refer to the packet's data: request longer segments: the maximum is 8,192 mbufs")]
    TooMany {
        /// The number of mbufs.
        mbufs: usize,
    },
    /// No mbufs are available for the segments.
    #[error("no mbufs for the segments: a pool is exhausted, or 16,384 mbufs refer to the data")]
    NoMbuf,
    /// In a child process created by `fork`, the data also belongs to its parent.
    #[error("cannot share the data: this process is a fork of the one that initialized the EAL")]
    Forked,
    /// DPDK rejects the packet for another reason.
    #[error("cannot cut the packet: {0}")]
    Call(Errno),
}
