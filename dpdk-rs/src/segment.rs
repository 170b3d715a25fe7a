// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! One mbuf of a chain. Only this file reads and writes the fields of `struct rte_mbuf`.

use core::{
    iter::successors,
    ptr::{self, NonNull},
    slice,
    sync::atomic::{AtomicU16, Ordering, fence},
};
use dpdk_sys::{self as sys, rte_mbuf};

/// The maximum number of segments of a frame. An mbuf can count 65,535. But the virtio driver adds the segments, a
/// header and its free descriptors, up to 32,768 of them, in 16 bits: it takes a chain that is too long for a short
/// one, and overruns its ring.
pub(crate) const MOST_SEGMENTS: u16 = 32_766;

/// The flags of an mbuf whose data is not in its own buffer.
const ELSEWHERE: u64 = sys::DPDK_SYS_MBUF_F_INDIRECT | sys::DPDK_SYS_MBUF_F_EXTERNAL;

/// A live mbuf. [`Segment::new`] requires the promise that it is live, once. The promise holds as long as the packet
/// that it was taken from is neither dropped nor sent. Therefore a `Segment` never leaves a method of its packet.
#[derive(Clone, Copy)]
pub(crate) struct Segment(NonNull<rte_mbuf>);

/// Declares a getter of one field, and a setter where a second name is given.
macro_rules! field {
    ($get:ident $(, $set:ident)?: $type:ty = $pointer:path) => {
        #[inline(always)]
        pub(crate) fn $get(self) -> $type {
            // SAFETY: whoever created this segment promised `Segment::new` that the mbuf is live while it is used.
            let field = unsafe { $pointer(self.0.as_ptr()) };
            // SAFETY: the field is part of a live mbuf: aligned, initialised, and written only under an exclusive
            // borrow of its packet.
            unsafe { field.read() }
        }

        $(
            #[inline(always)]
            pub(crate) fn $set(self, value: $type) {
                // SAFETY: whoever created this segment promised `Segment::new` that the mbuf is live while it is used.
                let field = unsafe { $pointer(self.0.as_ptr()) };
                // SAFETY: the field is part of a live mbuf, and setters are called only by methods that borrow its
                // packet exclusively.
                unsafe { field.write(value) };
            }
        )?
    };
}

impl Segment {
    field!(buf_addr: *mut core::ffi::c_void = sys::mbuf_buf_addr);
    field!(data_off, set_data_off: u16 = sys::mbuf_data_off);
    field!(segment_count, set_segment_count: u16 = sys::mbuf_nb_segs);
    field!(port, set_port: u16 = sys::mbuf_port);
    field!(ol_flags, set_ol_flags: u64 = sys::mbuf_ol_flags);
    field!(packet_type, set_packet_type: u32 = sys::mbuf_packet_type);
    field!(vlan_tci, set_vlan_tci: u16 = sys::mbuf_vlan_tci);
    field!(hash_rss: u32 = sys::mbuf_hash_rss);
    field!(tx_offload, set_tx_offload: u64 = sys::mbuf_tx_offload);
    field!(pkt_len, set_pkt_len: u32 = sys::mbuf_pkt_len);
    field!(data_len, set_data_len: u16 = sys::mbuf_data_len);
    field!(buf_len: u16 = sys::mbuf_buf_len);
    field!(priv_size: u16 = sys::mbuf_priv_size);
    field!(pool: *mut sys::rte_mempool = sys::mbuf_pool);
    field!(next_mbuf, set_next_mbuf: *mut rte_mbuf = sys::mbuf_next);
    field!(shinfo: *mut sys::rte_mbuf_ext_shared_info = sys::mbuf_shinfo);

    /// # Safety
    /// `mbuf` is live as long as the result or a copy of it is used.
    #[inline(always)]
    pub(crate) const unsafe fn new(mbuf: NonNull<rte_mbuf>) -> Self {
        Self(mbuf)
    }

    /// The content of a dynamic field, which DPDK has placed at `offset`.
    #[inline]
    pub(crate) fn dynamic<T: bytemuck::Pod>(self, offset: usize) -> T {
        // SAFETY: whoever created this segment promised `Segment::new` that the mbuf is live while it is used. The
        // offset is from a `DynField`, for which DPDK has reserved the size of a `T` within the mbuf.
        let field = unsafe { self.0.as_ptr().byte_add(offset).cast::<T>() };
        // SAFETY: DPDK has aligned the field for a `T`, and every pattern of bytes is a valid `T`. Mbufs are never
        // uninitialised, and whoever writes borrows the packet exclusively.
        unsafe { field.read() }
    }

    /// Writes to a dynamic field, which DPDK has placed at `offset`.
    #[inline]
    pub(crate) fn set_dynamic<T: bytemuck::Pod>(self, offset: usize, value: T) {
        // SAFETY: whoever created this segment promised `Segment::new` that the mbuf is live while it is used. The
        // offset is from a `DynField`, for which DPDK has reserved the size of a `T` within the mbuf.
        let field = unsafe { self.0.as_ptr().byte_add(offset).cast::<T>() };
        // SAFETY: DPDK has aligned the field for a `T` and reserved it for this use, and setters are called only by
        // methods that borrow the packet exclusively.
        unsafe { field.write(value) };
    }

    /// The next segment.
    #[inline]
    pub(crate) fn next(self) -> Option<Self> {
        NonNull::new(self.next_mbuf()).map(Self)
    }

    /// Appends a chain after this segment, which is the last of its own chain.
    pub(crate) fn set_next(self, next: Self) {
        self.set_next_mbuf(next.0.as_ptr());
    }

    /// Makes this the last segment. The caller takes care of the segments after it.
    pub(crate) fn end_chain(self) {
        self.set_next_mbuf(ptr::null_mut());
    }

    /// The mbuf itself, for calls of DPDK.
    pub(crate) const fn mbuf(self) -> NonNull<rte_mbuf> {
        self.0
    }

    /// Makes this the first segment of a frame with none of a device's findings except the port.
    pub(crate) fn forget_findings(self, port: u16) {
        self.set_ol_flags(self.ol_flags() & ELSEWHERE);
        self.set_packet_type(0);
        self.set_port(port);
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
        // SAFETY: whoever created this segment promised `Segment::new` that the mbuf is live while it is used.
        let field = unsafe { sys::mbuf_refcnt(self.0.as_ptr()) };
        // SAFETY: the field is part of a live mbuf and aligned, and DPDK changes it atomically while others refer to
        // the mbuf.
        let refcnt = unsafe { AtomicU16::from_ptr(field) };
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
        // The other mbuf is live as long as this one refers to it.
        NonNull::new(mbuf.cast()).map(Self)
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

    /// Whether this first segment counts as many segments and bytes as its chain has, and no more bytes than its
    /// buffers hold.
    pub(crate) fn heads_whole_frame(self) -> bool {
        let (mut segments, mut bytes) = (0, 0);
        for segment in self.chain() {
            if u32::from(segment.data_off()) + u32::from(segment.data_len()) > u32::from(segment.buf_len()) {
                return false;
            }
            segments += 1;
            bytes += usize::from(segment.data_len());
        }
        (segments, bytes) == (usize::from(self.segment_count()), self.pkt_len() as usize)
    }

    /// Makes the chain that starts with this segment an empty frame with the same number of segments.
    pub(crate) fn head_empty_frame(self) {
        let mut segments = 0_u16;
        for segment in self.chain() {
            segment.set_data(0, 0);
            segments = segments.saturating_add(1);
        }
        self.set_segment_count(segments);
        self.set_pkt_len(0);
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

    /// Sets the position and the length of the data in the buffer.
    pub(crate) fn set_data(self, offset: u16, len: u16) {
        debug_assert!(u32::from(offset) + u32::from(len) <= u32::from(self.buf_len()));
        self.set_data_off(offset);
        self.set_data_len(len);
    }

    /// Changes the length of the whole frame, which the first segment stores.
    pub(crate) fn change_pkt_len(self, difference: i32) {
        self.set_pkt_len(self.pkt_len().wrapping_add_signed(difference));
    }

    /// The address of the first byte of data.
    #[inline(always)]
    pub(crate) fn start(self) -> *mut u8 {
        // SAFETY: the data of a live mbuf starts within its buffer. DPDK ensures this, and so do the methods of
        // `Packet`, which check the room before they call `set_data`.
        unsafe { self.buf_addr().cast::<u8>().add(usize::from(self.data_off())) }
    }

    /// The data.
    ///
    /// # Safety
    /// For `'a` the mbuf stays live and nobody writes to its data.
    #[inline(always)]
    pub(crate) unsafe fn data<'a>(self) -> &'a [u8] {
        // SAFETY: `data_len` bytes from `start` lie in the buffer: `keep_own` checks this where a driver may claim
        // more, and the methods of `Packet` check it before they change it. Pool memory is always initialised. The
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
        // more, and the methods of `Packet` check it before they change it. Pool memory is always initialised. The
        // caller guarantees the lifetime, and that nobody else reads or writes the data.
        unsafe { slice::from_raw_parts_mut(self.start(), usize::from(self.data_len())) }
    }
}
