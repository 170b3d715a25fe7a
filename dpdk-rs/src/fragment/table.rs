// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Reassembling datagrams from fragments.

use super::header::{self, FRAGMENT_HEADER, HeaderError, IPV6, IPV6_FRAGMENT, Ip};
use crate::{
    Clock, CreateError, Eal, Packet, PrivateData, SocketId, Tsc,
    object::{Handle, Kind},
    packet::unshared,
    segment::MOST_SEGMENTS,
};
use core::{fmt, marker::PhantomData, mem::ManuallyDrop, ptr::NonNull, time::Duration};
use dpdk_sys as sys;
use std::sync::Arc;

/// Fragment tables have no names.
const TABLE: Kind = Kind { name: "fragment table", call: "rte_ip_frag_table_create", longest_name: usize::MAX };

/// The slots of one bucket. A datagram can be in two buckets.
const WAYS: u32 = 16;

/// The datagrams for each bucket: a quarter of the slots is used.
const PER_BUCKET: u32 = 8;

const MOST_DATAGRAMS: u32 = 1 << 22;

/// DPDK joins fragments without checking the number of segments.
const MOST_FRAGMENT_SEGMENTS: usize = MOST_SEGMENTS as usize / sys::RTE_LIBRTE_IP_FRAG_MAX_FRAG as usize;

/// The maximum timeout in cycles: DPDK adds it to the time of the first fragment, in 64 bits.
const LONGEST_TIMEOUT: u64 = 1 << 62;

/// The length of the shortest IPv4 header. The maximum of 65,535 bytes includes an IPv4 header, but not an IPv6 header.
const IPV4: usize = 20;

/// Why a fragment was rejected. It is returned with the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReassemblyError {
    /// The frame contradicts its headers.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The header of the datagram would overwrite that of the first fragment, but its data has another owner.
    #[error("the first fragment shares its data with another packet: copy it")]
    Shared,
    /// The fragment has so many segments that those of a datagram might exceed the limit.
    #[error("a fragment of {segments} segments: give at most {most}, or a copy")]
    Segments {
        /// The number of segments.
        segments: usize,
        /// The maximum number of segments.
        most: usize,
    },
    /// The datagram is longer than its header can express, since the header of its first fragment has more options than
    /// the others. The whole datagram is returned, with a wrong length in its header.
    #[error("a datagram of {0} bytes: the maximum in a header is 65,535")]
    TooLong(usize),
}

/// Fragments of IPv4 and IPv6 datagrams, kept until each datagram is complete or its timeout is over.
///
/// A datagram can have up to 8 fragments (`RTE_LIBRTE_IP_FRAG_MAX_FRAG`). If it has more, or two first or two last
/// ones, or overlapping ones, all its fragments are dropped. A fragment for which the table has no room is dropped too.
///
/// The table owns the fragments in it. Their mbufs return to their pools when the fragments are dropped, or with the
/// table. `P` is the private data of their mbufs. A complete datagram has the private data of its first fragment.
///
/// The caller passes the time, from a clock that does not run backwards. One reading for each burst is enough.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// # let mut burst = dpdk_rs::Burst::<(), 32>::new();
/// use dpdk_rs::fragment::FragmentTable;
///
/// let mut table = FragmentTable::builder().datagrams(1024).build(&eal)?;
/// let now = eal.clock().now();
/// for packet in burst.drain() {
///     match table.ipv4(packet, 14, now) {
///         Ok(Some(whole)) => println!("{} bytes", whole.len()),
///         Ok(None) => {} // other fragments are missing
///         Err((error, _packet)) => println!("{error}"),
///     }
/// }
/// table.expire(now);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "rte_ip_frag_tbl")]
#[doc(alias = "rte_ip_frag_death_row")]
pub struct FragmentTable<P: PrivateData = ()> {
    table: Handle<sys::rte_ip_frag_tbl>,
    dropped: u64,
    private: PhantomData<P>,
}

/// The type of DPDK's function for one fragment, with the table, the fragment, the time, its IP header, and a place for
/// the number of dropped fragments.
type Call = unsafe extern "C" fn(
    *mut sys::rte_ip_frag_tbl,
    *mut sys::rte_mbuf,
    u64,
    *mut core::ffi::c_void,
    *mut u32,
) -> *mut sys::rte_mbuf;

impl<P: PrivateData> FragmentTable<P> {
    /// Starts the description of a table.
    pub const fn builder() -> FragmentTableBuilder<P> {
        FragmentTableBuilder {
            datagrams: 1024,
            timeout: Duration::from_secs(30),
            socket: SocketId::ANY,
            private: PhantomData,
        }
    }

    /// Takes an IPv4 packet. Returns a packet that is not a fragment as it is. If the fragment completes a datagram,
    /// returns the datagram, with the link and IP headers of its first fragment and a new checksum. Returns `None` if
    /// other fragments are missing, or if the fragment was dropped.
    ///
    /// `l2_len` is the length of the link header in bytes. Padding after a fragment is removed.
    ///
    /// # Errors
    /// See [`ReassemblyError`]. The packet is returned; a fragment without its padding.
    #[doc(alias = "rte_ipv4_frag_reassemble_packet")]
    pub fn ipv4(
        &mut self,
        mut packet: Packet<P>,
        l2_len: usize,
        now: Tsc,
    ) -> Result<Option<Packet<P>>, (ReassemblyError, Packet<P>)> {
        match header::ipv4(packet.data(), l2_len) {
            Ok(ip) if !ip.is_fragment() => Ok(Some(packet)),
            Ok(ip) => match check(&mut packet, l2_len, ip, IPV4) {
                Ok(()) => self.take(packet, l2_len, ip, now, sys::dpdk_sys_ipv4_reassemble).map_or(Ok(None), finish),
                Err(error) => Err((error, packet)),
            },
            Err(error) => Err((error.into(), packet)),
        }
    }

    /// Takes an IPv6 packet, as [`Self::ipv4`] does. A packet is a fragment if the fragment header directly follows the
    /// IPv6 header: DPDK does not look for it after other extension headers, and such a packet is returned as it is. A
    /// complete datagram no longer has a fragment header, even if it came in a single fragment (RFC 6946).
    ///
    /// # Errors
    /// See [`ReassemblyError`]. The packet is returned; a fragment without its padding.
    #[doc(alias = "rte_ipv6_frag_reassemble_packet")]
    #[doc(alias = "rte_ipv6_frag_get_ipv6_fragment_header")]
    pub fn ipv6(
        &mut self,
        mut packet: Packet<P>,
        l2_len: usize,
        now: Tsc,
    ) -> Result<Option<Packet<P>>, (ReassemblyError, Packet<P>)> {
        let found = match header::ipv6(packet.data(), l2_len) {
            Ok((_, FRAGMENT_HEADER)) => header::ipv6_fragment(packet.data(), l2_len),
            Ok(_) => return Ok(Some(packet)),
            Err(error) => Err(error),
        };
        let checked = found.map_err(Into::into).and_then(|ip| check(&mut packet, l2_len, ip, 0).map(|()| ip));
        match checked {
            Ok(ip) if !ip.is_fragment() => {
                remove_fragment_header(&mut packet, l2_len, ip);
                Ok(Some(packet))
            }
            Ok(ip) => {
                let mut whole = self.take(packet, l2_len, ip, now, sys::dpdk_sys_ipv6_reassemble);
                whole.iter_mut().for_each(forget_findings);
                Ok(whole)
            }
            Err(error) => Err((error, packet)),
        }
    }

    /// Drops the fragments that have waited longer than the timeout. New fragments make room for themselves in the same
    /// way, but only in their part of the table: so call this from time to time.
    ///
    /// Returns how many fragments were dropped, counted as in [`Self::dropped`].
    #[doc(alias = "rte_ip_frag_table_del_expired_entries")]
    #[doc(alias = "rte_ip_frag_free_death_row")]
    pub fn expire(&mut self, now: Tsc) -> u64 {
        let before = self.dropped;
        loop {
            let mut row = sys::rte_ip_frag_death_row { cnt: 0, ..Default::default() };
            // SAFETY: the table is live as long as its handle, and borrowed exclusively; the row is empty, and the call looks at
            // how much room is left in it.
            unsafe { sys::rte_ip_frag_table_del_expired_entries(self.table.as_ptr(), &raw mut row, now.cycles()) };
            if row.cnt == 0 {
                return self.dropped.wrapping_sub(before);
            }
            self.dropped = self.dropped.wrapping_add(u64::from(row.cnt));
            // SAFETY: what the table has put into the row is owned by nobody else any more.
            unsafe { sys::rte_ip_frag_free_death_row(&raw mut row, 0) };
        }
    }

    /// The number of fragments dropped since the table was created. Fragments of an invalid datagram that were already
    /// joined count as one.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Passes a fragment to DPDK. Returns the datagram if it is complete.
    fn take(&mut self, packet: Packet<P>, l2_len: usize, ip: Ip, now: Tsc, call: Call) -> Option<Packet<P>> {
        // From now on the mbufs belong to the table.
        let mut packet = ManuallyDrop::new(packet);
        let head = packet.head_mut();
        // SAFETY: the call packs numbers into one.
        let lengths = unsafe { sys::dpdk_sys_mbuf_tx_offload(l2_len as u8, ip.header_len as u16, 0, 0) };
        // SAFETY: `check` has compared both lengths with the frame, and with their bits.
        unsafe { head.set_tx_offload(lengths) };
        let (mbuf, header) = (head.mbuf(), head.start().wrapping_add(l2_len));
        let mut dropped = 0;
        // SAFETY: the table is live as long as its handle, and borrowed exclusively. The mbuf heads a chain of nobody else, whose
        // first segment has the link header and the IP header, with the lengths that it says itself; that of a first fragment
        // is not shared. The chain is as long as the header says, and the segments of all fragments can be counted.
        let whole = unsafe { call(self.table.as_ptr(), mbuf.as_ptr(), now.cycles(), header.cast(), &raw mut dropped) };
        self.dropped = self.dropped.wrapping_add(u64::from(dropped));
        // SAFETY: the table has given up what it returns, and all that was put in has a private area for a `P`.
        NonNull::new(whole).map(|mbuf| unsafe { Packet::from_mbuf(mbuf) })
    }
}

impl<P: PrivateData> fmt::Debug for FragmentTable<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FragmentTable").field("dropped", &self.dropped).finish_non_exhaustive()
    }
}

/// Compares a fragment's headers with the frame, and removes the bytes after the fragment.
fn check<P: PrivateData>(
    packet: &mut Packet<P>,
    l2_len: usize,
    ip: Ip,
    unfragmentable: usize,
) -> Result<(), ReassemblyError> {
    ip.check_place(unfragmentable)?;
    let found = packet.len().saturating_sub(l2_len);
    if ip.len > found {
        return Err(HeaderError::Length { said: ip.len, found }.into());
    }
    if ip.offset == 0 {
        unshared(packet.head()).map_err(|_| ReassemblyError::Shared)?;
    }
    packet.keep_front(l2_len + ip.len);
    let segments = packet.segment_count();
    if segments > MOST_FRAGMENT_SEGMENTS {
        return Err(ReassemblyError::Segments { segments, most: MOST_FRAGMENT_SEGMENTS });
    }
    Ok(())
}

/// Clears the device's findings, which are those of the first fragment.
fn forget_findings<P: PrivateData>(whole: &mut Packet<P>) {
    let head = whole.head_mut();
    head.forget_checksums();
    head.set_packet_type(0);
    // SAFETY: the flags of a packet outside a `PreparedBurst` ask nothing of a device.
    unsafe { head.set_tx_offload(0) };
}

/// Corrects the header of a complete IPv4 packet.
fn finish<P: PrivateData>(mut whole: Packet<P>) -> Result<Option<Packet<P>>, (ReassemblyError, Packet<P>)> {
    // The link headers of the first and the last fragment may differ in length.
    // SAFETY: the mbuf is live; the call reads a field of it.
    let l2_len = usize::from(unsafe { sys::dpdk_sys_mbuf_l2_len(whole.mbuf()) });
    forget_findings(&mut whole);
    let len = whole.len().saturating_sub(l2_len);
    if len > usize::from(u16::MAX) {
        return Err((ReassemblyError::TooLong(len), whole));
    }
    if let Ok(data) = whole.data_mut() {
        let ip = data.get_mut(l2_len..).unwrap_or_default();
        let header_len = usize::from(ip.first().map_or(0, |byte| byte & 15)) * 4;
        header::write_checksum(ip.get_mut(..header_len).unwrap_or_default());
    }
    Ok(Some(whole))
}

/// Removes the fragment header of a datagram in a single fragment, as DPDK does for several.
fn remove_fragment_header<P: PrivateData>(packet: &mut Packet<P>, l2_len: usize, ip: Ip) {
    let front = l2_len + IPV6;
    // `check` has found the headers in the first segment, and nobody else refers to it.
    let Ok(data) = packet.data_mut() else { return };
    let next = data.get(front).copied().unwrap_or_default();
    let len = (ip.len - IPV6 - IPV6_FRAGMENT) as u16;
    if let Some(place) = data.get_mut(l2_len + 4..l2_len + 6) {
        place.copy_from_slice(&len.to_be_bytes());
    }
    if let Some(place) = data.get_mut(l2_len + 6) {
        *place = next;
    }
    if data.len() >= front + IPV6_FRAGMENT {
        data.copy_within(..front, IPV6_FRAGMENT);
    }
    // The first segment has these bytes, which belong to the headers.
    let _ = packet.adj(IPV6_FRAGMENT);
    forget_findings(packet);
}

/// The description of a [`FragmentTable`], from [`FragmentTable::builder`].
#[derive(Clone, Debug)]
#[must_use = "a table is made by `build`"]
pub struct FragmentTableBuilder<P: PrivateData = ()> {
    datagrams: u32,
    timeout: Duration,
    socket: SocketId,
    private: PhantomData<P>,
}

impl<P: PrivateData> FragmentTableBuilder<P> {
    /// The maximum number of incomplete datagrams, from 1 to 2^22. Default: 1,024. A datagram takes 1 to 2 KiB, besides
    /// its mbufs.
    pub const fn datagrams(mut self, datagrams: u32) -> Self {
        self.datagrams = datagrams;
        self
    }

    /// How long a datagram can wait for fragments, counted from its first one. Default: 30 s, as in Linux.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The NUMA node for the table's memory. Default: any.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// Creates the table.
    ///
    /// # Errors
    /// [`CreateError::TooLarge`]; [`CreateError::Create`] with `EINVAL` for no datagrams and `ENOMEM` if memory is
    /// short; [`CreateError::Forked`] in a child process created by `fork`.
    #[doc(alias = "rte_ip_frag_table_create")]
    pub fn build(self, eal: &Eal) -> Result<FragmentTable<P>, CreateError> {
        let name = format!("of {} datagrams", self.datagrams);
        if self.datagrams > MOST_DATAGRAMS {
            return Err(TABLE.too_large(&name, self.datagrams as usize, 1024));
        }
        let environment = eal.environment();
        let timeout = Clock::new(eal).cycles(self.timeout).min(LONGEST_TIMEOUT);
        let buckets = self.datagrams.div_ceil(PER_BUCKET);
        let table = TABLE.create(environment, &name, |_| {
            if self.datagrams == 0 {
                return crate::object::refuse(sys::EINVAL);
            }
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked.
            unsafe { sys::rte_ip_frag_table_create(buckets, WAYS, self.datagrams, timeout, self.socket.get()) }
        })?;
        // SAFETY: the table is new, so nobody else frees it; `free` may be called on any thread, since the table is in no list.
        let table = unsafe { Handle::new(table, free, Arc::clone(environment)) };
        Ok(FragmentTable { table, dropped: 0, private: PhantomData })
    }
}

/// # Safety
/// The table is live, nobody uses it any more, and nobody else frees it.
unsafe fn free(table: NonNull<sys::rte_ip_frag_tbl>) {
    // SAFETY: the caller promises a live table that nobody uses; its fragments are its own.
    unsafe { sys::rte_ip_frag_table_destroy(table.as_ptr()) };
}
