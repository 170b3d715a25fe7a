// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! TCP segments that are joined.

use super::candidate::{finish, prepare};
use crate::{
    Burst, Clock, CreateError, Eal, Packet, PrivateData, SocketId,
    object::{Handle, Kind},
};
use core::{
    ffi::c_void,
    fmt,
    marker::PhantomData,
    mem,
    ptr::{self, NonNull},
    time::Duration,
};
use dpdk_sys as sys;
use std::sync::Arc;

/// They have no names.
const TABLE: Kind = Kind { name: "GRO table", call: "rte_gro_ctx_create", longest_name: usize::MAX };

/// DPDK counts the places in 32 bits with a sign, and makes no more of them.
const MOST_PLACES: u32 = 1 << 20;

/// No packet waits longer, and the sum of both is one of 64 bits.
const LONGEST_TIMEOUT: u64 = 1 << 62;

/// DPDK looks at the time since the machine started less this one, in 64 bits: beyond half of them nothing is younger.
const ALL: u64 = 1 << 63;

/// Received TCP segments, for a short while: those of one stream that follow one another become one packet.
///
/// Joined are segments in IPv4 without a VLAN tag and without IPv4 options, that have data and of the flags ACK alone, between the
/// same addresses and ports, with the same acknowledgement number and options. Their ids must be consecutive, unless the
/// packets must not be fragmented (DF). Time to live, window and type of service are those of the first; a segment that a router
/// has marked as one of too many (CE) is left alone. DPDK from 24.11 on joins 20 mbufs at most.
///
/// The checksums of each segment must be right, as the device says or else as they are found to be: what is joined gets new
/// ones, which would make a wrong one look right.
///
/// The table owns the packets in it; they go back to their pools when it is dropped. `P` is the private data of their mbufs; that
/// of a joined packet is what its first segment has.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(std::env::args())?;
/// # let mut rx: dpdk_rs::RxQueue = unimplemented!();
/// use core::time::Duration;
/// use dpdk_rs::{Burst, offload::GroTable};
///
/// let mut table = GroTable::builder().flows(64).timeout(Duration::from_micros(50)).build(&eal)?;
/// let mut burst = Burst::<(), 32>::new();
/// loop {
///     rx.rx(&mut burst);
///     table.join(&mut burst);
///     table.flush(&mut burst); // behind what was left alone
///     burst.clear(); // or whatever there is to do with packets
/// }
/// # }
/// ```
#[doc(alias = "rte_gro_param")]
pub struct GroTable<P: PrivateData = ()> {
    table: Handle<c_void>,
    clock: Clock,
    timeout: u64,
    private: PhantomData<P>,
}

impl<P: PrivateData> GroTable<P> {
    /// Starts to describe a table.
    pub const fn builder() -> GroTableBuilder<P> {
        GroTableBuilder { flows: 64, packets: 16, timeout: Duration::ZERO, socket: SocketId::ANY, private: PhantomData }
    }

    /// Takes the segments of the burst that can be joined, as long as there is room for them in the table. The others stay, in
    /// their order: they are as they were, except that one for which there is no room has no bytes behind its IPv4 packet any more.
    ///
    /// What stays overtakes what was taken before: [`Self::flush`] often, or everything before a packet that ends a stream.
    ///
    /// Returns how many were taken.
    #[doc(alias = "rte_gro_reassemble")]
    pub fn join<const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        let before = burst.len();
        let mut rest = Burst::<P, N>::new();
        for mut packet in burst.drain() {
            let left = if prepare(&mut packet) { self.take(packet) } else { Some(packet) };
            // As many fit as there were.
            let _ = left.map(|packet| rest.push(packet));
        }
        before - burst.append(&mut rest)
    }

    /// Adds the packets to `burst` that have waited for the timeout, joined as far as possible, and as many as fit.
    ///
    /// Returns how many were added.
    #[doc(alias = "rte_gro_timeout_flush")]
    pub fn flush<const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        // DPDK computes without a sign: before there was a timeout nothing can have waited for it.
        if self.clock.now().cycles() < self.timeout { 0 } else { self.give(self.timeout, burst) }
    }

    /// [`Self::flush`] of packets that have just come too.
    #[doc(alias = "rte_gro_timeout_flush")]
    pub fn flush_all<const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        self.give(ALL, burst)
    }

    /// How many packets are in the table, of which each may be several segments.
    #[doc(alias = "rte_gro_get_pkt_count")]
    #[must_use]
    pub fn len(&self) -> usize {
        // SAFETY: the table is live as long as its handle, and nobody changes it while it is borrowed; the call reads.
        let count = unsafe { sys::rte_gro_get_pkt_count(self.table.as_ptr()) };
        count as usize
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Gives a packet to DPDK that [`prepare`] has found to be one to be joined. It comes back if there is no room for it.
    fn take(&mut self, packet: Packet<P>) -> Option<Packet<P>> {
        let mut mbuf = packet.head().mbuf().as_ptr();
        // From here on the mbufs belong to the table.
        mem::forget(packet);
        // SAFETY: the table is live as long as its handle, and borrowed exclusively. The mbuf heads a chain of nobody else, whose
        // first mbuf has all headers, of the lengths that it says, in memory that nobody else refers to. The chain is as long as
        // the IPv4 header says, and has at least twice as many bytes of data as mbufs.
        let left = unsafe { sys::rte_gro_reassemble(&raw mut mbuf, 1, self.table.as_ptr()) };
        if left == 0 {
            return None;
        }
        // SAFETY: the table has not taken it, and it is the one that it was given, which has a private area for a `P`.
        let packet = unsafe { Packet::from_mbuf(NonNull::new(mbuf)?) };
        packet.head().set_tx_offload(0);
        Some(packet)
    }

    fn give<const N: usize>(&mut self, timeout: u64, burst: &mut Burst<P, N>) -> usize {
        let (table, held) = (self.table.as_ptr(), burst.len());
        let room = Burst::<P, N>::count(burst.remaining_capacity());
        if room == 0 {
            return 0;
        }
        let types = sys::DPDK_SYS_GRO_TCP_IPV4;
        // SAFETY: the table is live as long as its handle, and borrowed exclusively; there is room for so many mbufs, and for one
        // at least, for which the call does not look.
        let given =
            unsafe { sys::rte_gro_timeout_flush(table, timeout, types, burst.spare().as_mut_ptr().cast(), room) };
        // SAFETY: the call has written so many pointers to the room behind the packets, to chains that the table has given up,
        // and all that was put in has a private area for a `P`.
        unsafe { burst.set_len(held + usize::from(given)) };
        burst.iter_mut().skip(held).for_each(finish);
        usize::from(given)
    }
}

impl<P: PrivateData> fmt::Debug for GroTable<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroTable").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// Joins TCP segments of one burst that follow one another, as a [`GroTable`] does, and keeps nothing. What was joined, and other
/// segments that could have been, come first, the rest behind them in its order.
///
/// Of a stream the packets that have more flags than ACK, such as the last of a message, are behind the others then, where they
/// belong; and where they were in front, behind them too.
///
/// Returns how many packets fewer there are.
#[doc(alias = "rte_gro_reassemble_burst")]
pub fn join_burst<P: PrivateData, const N: usize>(burst: &mut Burst<P, N>) -> usize {
    const MOST: usize = sys::DPDK_SYS_GRO_MAX_BURST as usize;
    let before = burst.len();
    let (mut rest, mut segments) = (Burst::<P, N>::new(), Burst::<P, N>::new());
    for mut packet in burst.drain() {
        // As many fit as there were.
        let _ = if prepare(&mut packet) { segments.push(packet) } else { rest.push(packet) };
    }
    // DPDK counts on its stack, for which it asks how many there can be.
    let param = sys::rte_gro_param {
        gro_types: sys::DPDK_SYS_GRO_TCP_IPV4,
        max_flow_num: MOST as u16,
        max_item_per_flow: 1,
        socket_id: 0,
    };
    while !segments.is_empty() {
        let mut some = Burst::<P, MOST>::new();
        some.append(&mut segments);
        let (mbufs, count) = some.give_up_all();
        // SAFETY: so many pointers lead to chains of nobody else, as the burst has given them up. The first mbuf of each has all
        // headers, of the lengths that it says, in memory that nobody else refers to. Each chain is as long as its IPv4 header
        // says, and has at least twice as many bytes of data as mbufs. There are not more than DPDK has places for.
        let left = unsafe { sys::rte_gro_reassemble_burst(mbufs, count as u16, &raw const param) };
        // SAFETY: so many pointers are written at the front, to chains that nobody else owns, each headed by an mbuf that was
        // among those above and has a private area for a `P`.
        unsafe { some.set_len(usize::from(left)) };
        some.iter_mut().for_each(finish);
        burst.append(&mut some);
    }
    burst.append(&mut rest);
    before - burst.len()
}

/// Describes a [`GroTable`]; made by [`GroTable::builder`].
#[derive(Clone, Debug)]
#[must_use = "a table is made by `build`"]
pub struct GroTableBuilder<P: PrivateData = ()> {
    flows: u16,
    packets: u16,
    timeout: Duration,
    socket: SocketId,
    private: PhantomData<P>,
}

impl<P: PrivateData> GroTableBuilder<P> {
    /// How many streams there can be at once; 64 unless set. DPDK looks at them one by one, for each segment.
    pub const fn flows(mut self, flows: u16) -> Self {
        self.flows = flows;
        self
    }

    /// How many packets of each stream there can be that do not follow one another; 16 unless set. They share their places: there
    /// are as many as both numbers multiplied, at most 2^20, of about 100 bytes each.
    pub const fn packets_per_flow(mut self, packets: u16) -> Self {
        self.packets = packets;
        self
    }

    /// How long a packet waits for others from its first segment on, until [`GroTable::flush`] gives it; not at all unless set.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The NUMA node whose memory to use; that of the main lcore unless set.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// Makes the table.
    ///
    /// # Errors
    /// [`CreateError::TooLarge`] for more than 2^20 places; [`CreateError::Create`] with `EINVAL` for none and `ENOMEM` without
    /// enough memory; [`CreateError::Forked`].
    #[doc(alias = "rte_gro_ctx_create")]
    pub fn build(self, eal: &Eal) -> Result<GroTable<P>, CreateError> {
        let name = format!("of {} flows", self.flows);
        let places = u32::from(self.flows) * u32::from(self.packets);
        if places > MOST_PLACES {
            return Err(TABLE.too_large(&name, places as usize, 100));
        }
        let environment = eal.environment();
        let clock = Clock::new(eal);
        let table = TABLE.create(environment, &name, |_| {
            let Some(socket) = u16::try_from(node(self.socket)).ok().filter(|_| places != 0) else {
                return crate::object::refuse(sys::EINVAL);
            };
            let param = sys::rte_gro_param {
                gro_types: sys::DPDK_SYS_GRO_TCP_IPV4,
                max_flow_num: self.flows,
                max_item_per_flow: self.packets,
                socket_id: socket,
            };
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked. The call copies
            // what it needs, and the product of both numbers is one that it can count.
            unsafe { sys::rte_gro_ctx_create(&raw const param) }
        })?;
        // SAFETY: the table is new, so nobody else frees it; `free` may be called on any thread, since the table is in no list.
        let table = unsafe { Handle::new(table, free, Arc::clone(environment)) };
        Ok(GroTable { table, clock, timeout: clock.cycles(self.timeout).min(LONGEST_TIMEOUT), private: PhantomData })
    }
}

/// A node, for a call that knows no other answer than a number.
fn node(socket: SocketId) -> i32 {
    if socket != SocketId::ANY {
        return socket.get();
    }
    // SAFETY: the EAL is initialised; the call reads what it was told.
    let main = unsafe { sys::rte_get_main_lcore() };
    // SAFETY: the EAL is initialised, and the number is one of its lcores.
    unsafe { sys::rte_lcore_to_socket_id(main) }.cast_signed()
}

/// # Safety
/// The table is live, nobody uses it any more, and nobody else frees it.
unsafe fn free(table: NonNull<c_void>) {
    const SOME: u16 = 32;
    let mut mbufs = [ptr::null_mut(); SOME as usize];
    loop {
        let (types, out) = (sys::DPDK_SYS_GRO_TCP_IPV4, mbufs.as_mut_ptr());
        // SAFETY: the caller promises a live table that nobody uses, and there is room for so many mbufs.
        let given = unsafe { sys::rte_gro_timeout_flush(table.as_ptr(), ALL, types, out, SOME) };
        // SAFETY: so many pointers are written, to chains that the table has given up.
        unsafe { sys::rte_pktmbuf_free_bulk(out, u32::from(given)) };
        if given < SOME {
            break;
        }
    }
    // SAFETY: the caller promises a live table that nobody uses; there are no packets in it any more, which the call would lose.
    unsafe { sys::rte_gro_ctx_destroy(table.as_ptr()) };
}
