// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Joining TCP segments.

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

/// GRO tables have no names.
const TABLE: Kind = Kind { name: "GRO table", call: "rte_gro_ctx_create", longest_name: usize::MAX };

/// DPDK counts the slots in a signed number of 32 bits, and limits them to this.
const MOST_PLACES: u32 = 1 << 20;

/// The maximum timeout in cycles. Its sum with the time fits in 64 bits.
const LONGEST_TIMEOUT: u64 = 1 << 62;

/// DPDK compares with the time since the machine started less this, in 64 bits: with half the range, no packet is too
/// young.
const ALL: u64 = 1 << 63;

/// Received TCP segments that wait for a short time: consecutive segments of one stream become one packet.
///
/// A segment can be joined if it is in IPv4 without a VLAN tag and without IPv4 options, has data, and has only the
/// flag ACK. Joined segments have the same addresses and ports, and the same acknowledgement number and options. Their
/// ids are consecutive, unless the packets have DF (don't fragment) set. Time to live, window and type of service are
/// those of the first segment. A segment with the congestion mark CE is not joined. DPDK 24.11 and newer joins at most
/// 20 mbufs.
///
/// The checksums of each segment must be correct, by the device's verdict or by a check in software: the joined packet
/// gets new ones, which would hide a wrong one.
///
/// The table owns the packets in it, and returns them to their pools when it is dropped. `P` is the private data of
/// their mbufs. A joined packet has the private data of its first segment.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// # let mut rx: dpdk_rs::RxQueue = unimplemented!();
/// use core::time::Duration;
/// use dpdk_rs::{Burst, offload::GroTable};
///
/// let mut table = GroTable::builder().flows(64).timeout(Duration::from_micros(50)).build(&eal)?;
/// let mut burst = Burst::<(), 32>::new();
/// loop {
///     rx.rx(&mut burst);
///     table.join(&mut burst);
///     table.flush(&mut burst); // after the packets that were not taken
///     burst.clear(); // process the packets
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
    /// Starts the description of a table.
    pub const fn builder() -> GroTableBuilder<P> {
        GroTableBuilder { flows: 64, packets: 16, timeout: Duration::ZERO, socket: SocketId::ANY, private: PhantomData }
    }

    /// Takes the segments of the burst that can be joined, as long as the table has room. The others stay in the burst,
    /// in order and unchanged, except that a segment for which there is no room loses the bytes after its IPv4 packet.
    ///
    /// The packets that stay overtake those taken before: call [`Self::flush`] often, or [`Self::flush_all`] before a
    /// packet that ends a stream.
    ///
    /// Returns how many packets were taken.
    #[doc(alias = "rte_gro_reassemble")]
    pub fn join<const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        let before = burst.len();
        let mut rest = Burst::<P, N>::new();
        for mut packet in burst.drain() {
            let left = if prepare(&mut packet) { self.take(packet) } else { Some(packet) };
            // `rest` has room for all packets of the burst.
            let _ = left.map(|packet| rest.push(packet));
        }
        before - burst.append(&mut rest)
    }

    /// Adds the packets that have waited for the timeout to `burst`, joined as far as possible, as many as fit.
    ///
    /// Returns how many packets were added.
    #[doc(alias = "rte_gro_timeout_flush")]
    pub fn flush<const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        // DPDK subtracts unsigned numbers. Before the clock reaches the timeout, no packet can have waited for it.
        if self.clock.now().cycles() < self.timeout { 0 } else { self.give(self.timeout, burst) }
    }

    /// Like [`Self::flush`], for all packets, no matter how long they have waited.
    #[doc(alias = "rte_gro_timeout_flush")]
    pub fn flush_all<const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        self.give(ALL, burst)
    }

    /// The number of packets in the table, each of which may be several segments.
    #[doc(alias = "rte_gro_get_pkt_count")]
    #[must_use]
    pub fn len(&self) -> usize {
        // SAFETY: the table is live as long as its handle, and nobody changes it while it is borrowed; the call reads.
        let count = unsafe { sys::rte_gro_get_pkt_count(self.table.as_ptr()) };
        count as usize
    }

    /// Whether the table has no packets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Passes a packet that [`prepare`] has accepted to DPDK. Returns the packet if there is no room for it.
    fn take(&mut self, packet: Packet<P>) -> Option<Packet<P>> {
        let mut mbuf = packet.head().mbuf().as_ptr();
        // From now on the mbufs belong to the table.
        mem::forget(packet);
        // SAFETY: the table lives as long as its handle and is borrowed exclusively. The mbuf heads a chain that nobody
        // else owns. Its first mbuf has all headers, of the lengths in the mbuf, in memory that nobody else refers to.
        // The chain is as long as the IPv4 header says, and has at least twice as many bytes of data as mbufs.
        let left = unsafe { sys::rte_gro_reassemble(&raw mut mbuf, 1, self.table.as_ptr()) };
        if left == 0 {
            return None;
        }
        // SAFETY: the table has not taken the mbuf, which is the one passed to it and has a private area for a `P`.
        let mut packet = unsafe { Packet::from_mbuf(NonNull::new(mbuf)?) };
        // SAFETY: the flags of a packet outside a `PreparedBurst` ask nothing of a device.
        unsafe { packet.head_mut().set_tx_offload(0) };
        Some(packet)
    }

    fn give<const N: usize>(&mut self, timeout: u64, burst: &mut Burst<P, N>) -> usize {
        let (table, held) = (self.table.as_ptr(), burst.len());
        let room = Burst::<P, N>::count(burst.remaining_capacity());
        if room == 0 {
            return 0;
        }
        let types = sys::DPDK_SYS_GRO_TCP_IPV4;
        // SAFETY: the table lives as long as its handle and is borrowed exclusively. There is room for at least `room`
        // mbufs, and for one in any case, which the call does not check.
        let given =
            unsafe { sys::rte_gro_timeout_flush(table, timeout, types, burst.spare().as_mut_ptr().cast(), room) };
        // SAFETY: the call has written `given` pointers to the room after the packets, to chains that the table has
        // given up. All packets in the table have a private area for a `P`.
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

/// Joins consecutive TCP segments of one burst, as a [`GroTable`] does, without keeping any. The joined packets, and
/// other segments that could have been joined, come first. The remaining packets follow, in order.
///
/// Packets of a stream with flags other than ACK, such as the last packet of a message, therefore end up after the
/// stream's other packets, even if they came before them.
///
/// Returns by how many packets the burst has shrunk.
#[doc(alias = "rte_gro_reassemble_burst")]
pub fn join_burst<P: PrivateData, const N: usize>(burst: &mut Burst<P, N>) -> usize {
    const MOST: usize = sys::DPDK_SYS_GRO_MAX_BURST as usize;
    let before = burst.len();
    let (mut rest, mut segments) = (Burst::<P, N>::new(), Burst::<P, N>::new());
    for mut packet in burst.drain() {
        // Both bursts have room for all packets.
        let _ = if prepare(&mut packet) { segments.push(packet) } else { rest.push(packet) };
    }
    // DPDK allocates its tables on the stack, for the number of packets given here.
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
        // SAFETY: `count` pointers lead to chains that nobody else owns, since the burst has given them up. The first
        // mbuf of each has all headers, of the lengths in the mbuf, in memory that nobody else refers to. Each chain is
        // as long as its IPv4 header says, and has at least twice as many bytes of data as mbufs. DPDK has room for
        // `count` packets.
        let left = unsafe { sys::rte_gro_reassemble_burst(mbufs, count as u16, &raw const param) };
        // SAFETY: `left` pointers at the front lead to chains that nobody else owns. The first mbuf of each was among
        // those above, and has a private area for a `P`.
        unsafe { some.set_len(usize::from(left)) };
        some.iter_mut().for_each(finish);
        burst.append(&mut some);
    }
    burst.append(&mut rest);
    before - burst.len()
}

/// The description of a [`GroTable`], from [`GroTable::builder`].
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
    /// The maximum number of streams. Default: 64. DPDK searches them one by one for each segment.
    pub const fn flows(mut self, flows: u16) -> Self {
        self.flows = flows;
        self
    }

    /// The maximum number of packets per stream that are not consecutive. Default: 16. All streams share the slots: the
    /// table has as many as both numbers multiplied, at most 2^20, of about 100 bytes each.
    pub const fn packets_per_flow(mut self, packets: u16) -> Self {
        self.packets = packets;
        self
    }

    /// How long a packet waits for more segments, counted from its first one, until [`GroTable::flush`] returns it.
    /// Default: zero.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The NUMA node for the table's memory. Default: that of the main lcore.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// Creates the table.
    ///
    /// # Errors
    /// [`CreateError::TooLarge`] for more than 2^20 slots; [`CreateError::Create`] with `EINVAL` for none and `ENOMEM`
    /// if memory is short; [`CreateError::Forked`] in a child process created by `fork`.
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
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked. The
            // call copies its arguments, and the product of both numbers is within its range.
            unsafe { sys::rte_gro_ctx_create(&raw const param) }
        })?;
        // SAFETY: the table is new, so nobody else frees it. Any thread may call `free`, since the table is in no list.
        let table = unsafe { Handle::new(table, free, Arc::clone(environment)) };
        Ok(GroTable { table, clock, timeout: clock.cycles(self.timeout).min(LONGEST_TIMEOUT), private: PhantomData })
    }
}

/// The node for a call that does not accept "any".
fn node(socket: SocketId) -> i32 {
    if socket != SocketId::ANY {
        return socket.get();
    }
    // SAFETY: the EAL is initialised. The call reads a number.
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
        // SAFETY: `given` pointers were written, to chains that the table has given up.
        unsafe { sys::rte_pktmbuf_free_bulk(out, u32::from(given)) };
        if given < SOME {
            break;
        }
    }
    // SAFETY: the caller promises a live table that nobody uses. It has no packets any more, which the call would leak.
    unsafe { sys::rte_gro_ctx_destroy(table.as_ptr()) };
}
