// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! One mbuf of a chain. Only this file reads and writes the fields of `struct rte_mbuf`.

use crate::sync::{
    atomic::{Ordering, fence},
    atomic_u16,
};
use core::{
    iter::successors,
    marker::PhantomData,
    ops::Deref,
    ptr::{self, NonNull},
    slice,
};
use dpdk_sys::{self as sys, rte_mbuf};

/// The maximum number of segments of a frame. An mbuf can count 65,535. But the virtio driver adds the segments, a
/// header and its free descriptors, up to 32,768 of them, in 16 bits: it takes a chain that is too long for a short
/// one, and overruns its ring.
pub(crate) const MOST_SEGMENTS: u16 = 32_766;

/// The flags of an mbuf whose data is not in its own buffer.
const ELSEWHERE: u64 = sys::DPDK_SYS_MBUF_F_INDIRECT | sys::DPDK_SYS_MBUF_F_EXTERNAL;

/// A live mbuf of a packet that is borrowed for `'p`, to be read. [`Segment::new`] requires the promise that it is live,
/// once.
#[derive(Clone, Copy)]
pub(crate) struct Segment<'p> {
    mbuf: NonNull<rte_mbuf>,
    packet: PhantomData<&'p rte_mbuf>,
}

/// A live mbuf of a packet that is borrowed exclusively for `'p`, to be changed. Copies of it stay on the thread that
/// has borrowed the packet, so that nothing else reads or writes the fields at the same time.
///
/// Setters whose misuse makes DPDK or a driver access memory that is not the packet's are `unsafe`.
#[derive(Clone, Copy)]
pub(crate) struct SegmentMut<'p>(Segment<'p>);

/// Declares getters of fields.
macro_rules! get {
    ($($get:ident: $type:ty = $pointer:path;)+) => {$(
        #[inline(always)]
        pub(crate) fn $get(self) -> $type {
            // SAFETY: `Segment::new` was promised an mbuf that is live as long as this value.
            let field = unsafe { $pointer(self.mbuf.as_ptr()) };
            // SAFETY: the field is part of a live mbuf: aligned, initialised, and written only under an exclusive
            // borrow of its packet.
            unsafe { field.read() }
        }
    )+};
}

/// Declares setters of fields that only this file uses.
macro_rules! set {
    ($($set:ident: $type:ty = $pointer:path;)+) => {$(
        #[inline(always)]
        fn $set(self, value: $type) {
            // SAFETY: `SegmentMut::new` was promised an mbuf that is live as long as this value.
            let field = unsafe { $pointer(self.mbuf.as_ptr()) };
            // SAFETY: the field is part of a live mbuf, and nobody else uses it, as promised to `SegmentMut::new`.
            unsafe { field.write(value) };
        }
    )+};
}

impl<'p> Segment<'p> {
    get! {
        buf_addr: *mut core::ffi::c_void = sys::mbuf_buf_addr;
        data_off: u16 = sys::mbuf_data_off;
        segment_count: u16 = sys::mbuf_nb_segs;
        port: u16 = sys::mbuf_port;
        ol_flags: u64 = sys::mbuf_ol_flags;
        packet_type: u32 = sys::mbuf_packet_type;
        vlan_tci: u16 = sys::mbuf_vlan_tci;
        hash_rss: u32 = sys::mbuf_hash_rss;
        tx_offload: u64 = sys::mbuf_tx_offload;
        pkt_len: u32 = sys::mbuf_pkt_len;
        data_len: u16 = sys::mbuf_data_len;
        buf_len: u16 = sys::mbuf_buf_len;
        priv_size: u16 = sys::mbuf_priv_size;
        pool: *mut sys::rte_mempool = sys::mbuf_pool;
        next_mbuf: *mut rte_mbuf = sys::mbuf_next;
        shinfo: *mut sys::rte_mbuf_ext_shared_info = sys::mbuf_shinfo;
    }

    /// # Safety
    /// For `'p` the mbuf and the mbufs after it are live, and their fields are changed at most by this thread.
    #[inline(always)]
    pub(crate) const unsafe fn new(mbuf: NonNull<rte_mbuf>) -> Self {
        Self { mbuf, packet: PhantomData }
    }

    /// The content of a dynamic field.
    ///
    /// # Safety
    /// DPDK has placed a field of the size and alignment of a `T` at `offset` in every mbuf.
    #[inline]
    pub(crate) unsafe fn dynamic<T: bytemuck::Pod>(self, offset: usize) -> T {
        // SAFETY: the caller promises an offset inside the mbuf, which is live, as promised to `Segment::new`.
        let field = unsafe { self.mbuf.as_ptr().byte_add(offset).cast::<T>() };
        // SAFETY: the caller promises an aligned field, and every pattern of bytes is a valid `T`. Mbufs are never
        // uninitialised, and whoever writes borrows the packet exclusively.
        unsafe { field.read() }
    }

    /// The next segment.
    #[inline]
    pub(crate) fn next(self) -> Option<Self> {
        // SAFETY: the rest of a chain is live as long as its head, as promised to `Segment::new`.
        NonNull::new(self.next_mbuf()).map(|next| unsafe { Self::new(next) })
    }

    /// The mbuf itself, for calls of DPDK.
    pub(crate) const fn mbuf(self) -> NonNull<rte_mbuf> {
        self.mbuf
    }

    /// The last segment of the chain, which may be this one.
    pub(crate) fn last(self) -> Self {
        let mut last = self;
        while let Some(next) = last.next() {
            last = next;
        }
        last
    }

    /// Whether another mbuf refers to this one, or this mbuf refers to data of another owner.
    pub(crate) fn is_shared(self) -> bool {
        self.refcnt() != 1 || self.is_elsewhere() && !self.is_only_user_of_external_buffer()
    }

    /// The reference count: this mbuf and the mbufs attached to it, which may be on other threads.
    fn refcnt(self) -> u16 {
        // SAFETY: `Segment::new` was promised an mbuf that is live as long as this value.
        let field = unsafe { sys::mbuf_refcnt(self.mbuf.as_ptr()) };
        // SAFETY: the field is part of a live mbuf and aligned, and DPDK changes it atomically while others refer to
        // the mbuf.
        let refcnt = unsafe { atomic_u16(field) };
        // Pairs with the release by the last other owner: its reads of the data happen before our writes.
        refcnt.load(Ordering::Acquire)
    }

    /// Whether the data is not in the mbuf's own buffer.
    pub(crate) fn is_elsewhere(self) -> bool {
        self.ol_flags() & ELSEWHERE != 0
    }

    /// Whether the data is in a buffer that the program or a driver attached, to which no other mbuf refers.
    fn is_only_user_of_external_buffer(self) -> bool {
        if self.ol_flags() & sys::DPDK_SYS_MBUF_F_INDIRECT != 0 || self.shinfo().is_null() {
            return false;
        }
        // SAFETY: whoever attached the external buffer keeps its counter live as long as the mbuf. The call reads it
        // atomically.
        let users = unsafe { sys::rte_mbuf_ext_refcnt_read(self.shinfo()) };
        // The counter is read without ordering; see `refcnt`.
        fence(Ordering::Acquire);
        users == 1
    }

    /// The number of mbufs that refer to the data, including the mbuf that contains it.
    pub(crate) fn references(self) -> u16 {
        if self.ol_flags() & sys::DPDK_SYS_MBUF_F_INDIRECT != 0 {
            self.attached_to().map_or(u16::MAX, Self::refcnt)
        } else if self.ol_flags() & sys::DPDK_SYS_MBUF_F_EXTERNAL == 0 {
            self.refcnt()
        } else if self.shinfo().is_null() {
            u16::MAX
        } else {
            // SAFETY: whoever attached the external buffer keeps its counter live as long as the mbuf. The call reads
            // it atomically.
            unsafe { sys::rte_mbuf_ext_refcnt_read(self.shinfo()) }
        }
    }

    /// The mbuf that contains the data of this indirect one (`rte_mbuf_from_indirect`).
    fn attached_to(self) -> Option<Self> {
        // `priv_size` and `buf_addr` describe the other mbuf, whose buffer follows its private area.
        let before = size_of::<rte_mbuf>() + usize::from(self.priv_size());
        // SAFETY: the buffer of a pool's mbuf is in the same object as the mbuf, `before` bytes after its start.
        let mbuf = unsafe { self.buf_addr().byte_sub(before) };
        // SAFETY: the other mbuf is live as long as this one refers to it. Its owner changes neither its buffer nor its
        // pool meanwhile, and the reference count is read atomically.
        NonNull::new(mbuf.cast()).map(|mbuf| unsafe { Self::new(mbuf) })
    }

    /// The length of the private area in bytes.
    pub(crate) fn private_len(self) -> u16 {
        if self.ol_flags() & sys::DPDK_SYS_MBUF_F_INDIRECT == 0 {
            return self.priv_size();
        }
        // The field of an indirect mbuf is that of the mbuf with the data.
        // SAFETY: a pool is freed only after all its mbufs have returned, and this one is live, as promised to
        // `Segment::new`.
        unsafe { sys::rte_pktmbuf_priv_size(self.pool()) }
    }

    /// The segments from this one to the last.
    pub(crate) fn chain(self) -> impl Iterator<Item = Self> {
        successors(Some(self), |segment| segment.next())
    }

    /// Whether this first segment counts as many segments and bytes as its chain has, no more segments than a frame may
    /// have, and no more bytes than its buffers hold.
    pub(crate) fn heads_whole_frame(self) -> bool {
        let (mut segments, mut bytes) = (0, 0);
        for segment in self.chain() {
            let end = u32::from(segment.data_off()) + u32::from(segment.data_len());
            if end > u32::from(segment.buf_len()) || segments == MOST_SEGMENTS {
                return false;
            }
            segments += 1;
            bytes += u32::from(segment.data_len());
        }
        (segments, bytes) == (self.segment_count(), self.pkt_len())
    }

    /// The bytes from the start of the data to the end of the buffer.
    pub(crate) fn room_from_start(self) -> u16 {
        self.buf_len().saturating_sub(self.data_off())
    }

    /// The data room after the headroom in the mbufs of this mbuf's pool, in bytes. If they are shorter than the
    /// headroom, the result wraps to a large number, as in C.
    pub(crate) fn room_in_pool(self) -> u16 {
        // SAFETY: a pool is freed only after all its mbufs have returned, and this one is live, as promised to
        // `Segment::new`.
        let room = unsafe { sys::rte_pktmbuf_data_room_size(self.pool()) };
        room.wrapping_sub(sys::RTE_PKTMBUF_HEADROOM as u16)
    }

    /// The free bytes after the data.
    pub(crate) fn tailroom(self) -> usize {
        usize::from(self.buf_len()).saturating_sub(usize::from(self.data_off()) + usize::from(self.data_len()))
    }

    /// The first `N` bytes after the data, if the tailroom is that long.
    pub(crate) fn behind_data<const N: usize>(self) -> Option<[u8; N]> {
        if self.is_shared() || self.tailroom() < N {
            return None;
        }
        // SAFETY: the data of a live mbuf lies within its buffer, so this is at most one byte past the end of the
        // buffer.
        let end = unsafe { self.start().add(usize::from(self.data_len())) };
        // SAFETY: `N` more bytes lie in the buffer, which is never uninitialised. The mbuf is not shared, so nobody
        // else writes to its buffer, and the packet's methods that write borrow it exclusively.
        Some(unsafe { end.cast::<[u8; N]>().read() })
    }

    /// The address of the first byte of data.
    #[inline(always)]
    pub(crate) fn start(self) -> *mut u8 {
        // SAFETY: the data of a live mbuf starts within its buffer. DPDK ensures this, and so does
        // whoever calls `set_data`.
        unsafe { self.buf_addr().cast::<u8>().add(usize::from(self.data_off())) }
    }

    /// The data.
    ///
    /// # Safety
    /// For `'a` the mbuf stays live and nobody writes to its data.
    #[inline(always)]
    pub(crate) unsafe fn data<'a>(self) -> &'a [u8] {
        // SAFETY: `data_len` bytes from `start` lie in the buffer: `keep_own` checks this where a driver may claim
        // more, and whoever calls `set_data` ensures it. Pool memory is always initialised. The
        // caller guarantees the lifetime.
        unsafe { slice::from_raw_parts(self.start(), usize::from(self.data_len())) }
    }

    /// The data, mutably.
    ///
    /// # Safety
    /// For `'a` the mbuf stays live and nobody else reads or writes its data.
    #[inline(always)]
    pub(crate) unsafe fn data_mut<'a>(self) -> &'a mut [u8] {
        // SAFETY: `data_len` bytes from `start` lie in the buffer: `keep_own` checks this where a driver may claim
        // more, and whoever calls `set_data` ensures it. Pool memory is always initialised. The
        // caller guarantees the lifetime, and that nobody else reads or writes the data.
        unsafe { slice::from_raw_parts_mut(self.start(), usize::from(self.data_len())) }
    }
}

impl<'p> SegmentMut<'p> {
    set! {
        set_data_off: u16 = sys::mbuf_data_off;
        set_data_len: u16 = sys::mbuf_data_len;
        write_segment_count: u16 = sys::mbuf_nb_segs;
        write_port: u16 = sys::mbuf_port;
        write_ol_flags: u64 = sys::mbuf_ol_flags;
        write_packet_type: u32 = sys::mbuf_packet_type;
        write_vlan_tci: u16 = sys::mbuf_vlan_tci;
        write_tx_offload: u64 = sys::mbuf_tx_offload;
        write_pkt_len: u32 = sys::mbuf_pkt_len;
        write_next_mbuf: *mut rte_mbuf = sys::mbuf_next;
    }

    /// # Safety
    /// For `'p` the mbuf and the mbufs after it are live, and nobody else reads or changes their fields.
    #[inline(always)]
    pub(crate) const unsafe fn new(mbuf: NonNull<rte_mbuf>) -> Self {
        // SAFETY: the caller promises live mbufs that nobody else changes.
        Self(unsafe { Segment::new(mbuf) })
    }

    /// The next segment.
    pub(crate) fn next_mut(self) -> Option<Self> {
        self.next().map(Self)
    }

    /// The last segment of the chain, which may be this one.
    pub(crate) fn last_mut(self) -> Self {
        Self(self.last())
    }

    /// The segments from this one to the last.
    pub(crate) fn chain_mut(self) -> impl Iterator<Item = Self> {
        successors(Some(self), |segment| segment.next_mut())
    }

    pub(crate) fn set_port(self, port: u16) {
        self.write_port(port);
    }

    pub(crate) fn set_packet_type(self, packet_type: u32) {
        self.write_packet_type(packet_type);
    }

    pub(crate) fn set_vlan_tci(self, tci: u16) {
        self.write_vlan_tci(tci);
    }

    /// Makes this the first segment of a frame with none of a device's findings except the port, and without a request
    /// to a device.
    pub(crate) fn forget_findings(self, port: u16) {
        self.write_ol_flags(self.ol_flags() & ELSEWHERE);
        self.write_tx_offload(0);
        self.write_packet_type(0);
        self.write_port(port);
    }

    /// Forgets the device's verdicts on checksums.
    pub(crate) fn forget_checksums(self) {
        const CHECKS: u64 = sys::DPDK_SYS_MBUF_F_RX_IP_CKSUM_MASK | sys::DPDK_SYS_MBUF_F_RX_L4_CKSUM_MASK;
        self.write_ol_flags(self.ol_flags() & !CHECKS);
    }

    /// Makes this an empty frame of its own, and returns the segment that came after it.
    pub(crate) fn split_off_empty(self) -> Option<Self> {
        let next = self.next_mut();
        self.set_data_off(0);
        self.set_data_len(0);
        self.head_frame_alone();
        next
    }

    /// Makes this the head of a frame of its own that ends with it.
    pub(crate) fn head_frame_alone(self) {
        self.write_next_mbuf(ptr::null_mut());
        self.write_segment_count(1);
        self.write_pkt_len(u32::from(self.data_len()));
    }

    /// Writes to a dynamic field.
    ///
    /// # Safety
    /// DPDK has placed a field of the size and alignment of a `T` at `offset` in every mbuf, in which every value of a `T` is
    /// allowed.
    #[inline]
    pub(crate) unsafe fn set_dynamic<T: bytemuck::Pod>(self, offset: usize, value: T) {
        // SAFETY: the caller promises an offset inside the mbuf, which is live, as promised to `SegmentMut::new`.
        let field = unsafe { self.mbuf.as_ptr().byte_add(offset).cast::<T>() };
        // SAFETY: the caller promises an aligned field for this use, and nobody else uses the mbuf.
        unsafe { field.write(value) };
    }

    /// Sets the flags.
    ///
    /// # Safety
    /// The flags that say where the data is (indirect, external) stay as they are, and what the flags request of a device
    /// fits the frame, together with the lengths of [`Self::set_tx_offload`].
    #[inline]
    pub(crate) unsafe fn set_ol_flags(self, flags: u64) {
        debug_assert_eq!((flags ^ self.ol_flags()) & ELSEWHERE, 0);
        self.write_ol_flags(flags);
    }

    /// Sets the lengths of the headers and of a segment's payload, as drivers trust them.
    ///
    /// # Safety
    /// The lengths fit the frame, or no flag asks a device to use them.
    #[inline]
    pub(crate) unsafe fn set_tx_offload(self, lengths: u64) {
        self.write_tx_offload(lengths);
    }

    /// Sets the position and the length of the data in the buffer.
    ///
    /// # Safety
    /// Both together are not above the length of the buffer.
    #[inline]
    pub(crate) unsafe fn set_data(self, offset: u16, len: u16) {
        debug_assert!(u32::from(offset) + u32::from(len) <= u32::from(self.buf_len()));
        self.set_data_off(offset);
        self.set_data_len(len);
    }

    /// Sets the number of segments of the whole frame, which the first segment stores.
    ///
    /// # Safety
    /// When the packet is used next, its chain has this number of segments.
    #[inline]
    pub(crate) unsafe fn set_segment_count(self, segments: u16) {
        self.write_segment_count(segments);
    }

    /// Sets the length of the whole frame, which the first segment stores.
    ///
    /// # Safety
    /// When the packet is used next, its segments have this number of bytes together.
    #[inline]
    pub(crate) unsafe fn set_pkt_len(self, len: u32) {
        self.write_pkt_len(len);
    }

    /// Changes the length of the whole frame, which the first segment stores.
    ///
    /// # Safety
    /// When the packet is used next, its segments have this number of bytes together.
    #[inline]
    pub(crate) unsafe fn change_pkt_len(self, difference: i32) {
        self.write_pkt_len(self.pkt_len().wrapping_add_signed(difference));
    }

    /// Appends a chain after this segment.
    ///
    /// # Safety
    /// This segment is the last of its chain, and nobody else owns the chain that begins with `next`.
    #[inline]
    pub(crate) unsafe fn set_next(self, next: NonNull<rte_mbuf>) {
        debug_assert!(self.next_mbuf().is_null());
        self.write_next_mbuf(next.as_ptr());
    }

    /// Makes this the last segment of its chain.
    ///
    /// # Safety
    /// The caller owns the segments after it from now on, and corrects the counts of the first segment.
    #[inline]
    pub(crate) unsafe fn end_chain(self) {
        self.write_next_mbuf(ptr::null_mut());
    }
}

impl<'p> Deref for SegmentMut<'p> {
    type Target = Segment<'p>;

    #[inline(always)]
    fn deref(&self) -> &Segment<'p> {
        &self.0
    }
}
