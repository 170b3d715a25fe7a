// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The queues, the port and the pool that C hands over, which dpdk-rs does not know.

use crate::error::Error;
use arrayvec::ArrayVec;
use core::ffi::c_void;
use core::mem;
use core::ptr::{self, NonNull};
use core::slice;
use core::time::Duration;
use dpdk_rs::MacAddr;
use dpdk_rs::port::{RssFields, RssHash};
use dpdk_sockets::group::Steering;
use dpdk_sockets::wire::{Checksums, Wire, tx_request};
use dpdk_sys::{self as sys, rte_mbuf, rte_mempool};

/// The longest Ethernet header: with a VLAN tag.
const ETHERNET: usize = 18;

/// The maximum number of frames received at once, and of frames that wait for the device.
const BURST: usize = 32;

/// An mbuf that nobody else has.
#[repr(transparent)]
pub(crate) struct Mbuf(NonNull<rte_mbuf>);

/// Declares getters of fields.
macro_rules! get {
    ($($get:ident: $type:ty = $pointer:path;)+) => {$(
        fn $get(&self) -> $type {
            // SAFETY: the mbuf is live as long as this value.
            let field = unsafe { $pointer(self.0.as_ptr()) };
            // SAFETY: the field is part of a live mbuf, and initialised. Nobody writes it, since this value alone has the mbuf.
            unsafe { field.read() }
        }
    )+};
}

impl Mbuf {
    get! {
        buf_addr: *mut c_void = sys::mbuf_buf_addr;
        buf_len: u16 = sys::mbuf_buf_len;
        data_off: u16 = sys::mbuf_data_off;
        data_len: u16 = sys::mbuf_data_len;
        nb_segs: u16 = sys::mbuf_nb_segs;
        ol_flags: u64 = sys::mbuf_ol_flags;
    }

    /// Says what the device has to do with a frame that the stack has written.
    fn ask(&mut self, written: Checksums, mtu: usize) {
        let (flags, lengths) = tx_request(Queues::bytes(self).unwrap_or_default(), written, mtu).mbuf_fields();
        // SAFETY: the mbuf is live as long as this value.
        let ol_flags = unsafe { sys::mbuf_ol_flags(self.0.as_ptr()) };
        // SAFETY: the field is part of a live mbuf that nobody else uses. The frame is what the flags say.
        unsafe { ol_flags.write(flags) };
        // SAFETY: the mbuf is live as long as this value.
        let tx_offload = unsafe { sys::mbuf_tx_offload(self.0.as_ptr()) };
        // SAFETY: the field is part of a live mbuf that nobody else uses. The headers of the frame have these lengths.
        unsafe { tx_offload.write(lengths) };
    }

    /// Where the data of the first segment begins.
    fn data(&self) -> *mut u8 {
        // SAFETY: the data of an mbuf begins inside its buffer.
        unsafe { self.buf_addr().cast::<u8>().add(self.data_off().into()) }
    }

    /// Makes the data of a new mbuf this long. Returns whether there is room for it.
    fn append(&mut self, len: usize) -> bool {
        let room = self.buf_len().saturating_sub(self.data_off());
        let Some(len) = u16::try_from(len).ok().filter(|len| *len <= room) else { return false };
        // SAFETY: the mbuf is live as long as this value.
        let data_len = unsafe { sys::mbuf_data_len(self.0.as_ptr()) };
        // SAFETY: the field is part of a live mbuf that nobody else uses, and the data stays inside the buffer.
        unsafe { data_len.write(len) };
        // SAFETY: the mbuf is live as long as this value.
        let pkt_len = unsafe { sys::mbuf_pkt_len(self.0.as_ptr()) };
        // SAFETY: the field is part of a live mbuf that nobody else uses, and that has no other segment.
        unsafe { pkt_len.write(len.into()) };
        true
    }
}

impl Drop for Mbuf {
    fn drop(&mut self) {
        // SAFETY: the mbuf is live and this value alone has it. Its pool exists, as was promised to `Queues::new`.
        unsafe { sys::rte_pktmbuf_free(self.0.as_ptr()) };
    }
}

// SAFETY: whoever has an mbuf may free it and change it, on any thread: pools hand out mbufs to several threads at a time.
unsafe impl Send for Mbuf {}

/// An RX queue and a TX queue of one port, with a pool for the frames to send.
pub(crate) struct Queues {
    port: u16,
    queue: u16,
    pool: NonNull<rte_mempool>,
    /// In the order of arrival, the first one at the end.
    received: ArrayVec<Mbuf, BURST>,
    waiting: ArrayVec<Mbuf, BURST>,
    /// So that there is an mbuf when there is room.
    spare: Option<Mbuf>,
    /// What the device writes.
    written: Checksums,
    /// The maximum length of a packet that the device takes, if it cuts those beyond the MTU.
    uncut: Option<usize>,
    /// The device cuts longer IPv4 packets with TCP into packets of so many bytes.
    mtu: usize,
    start: u64,
    hz: u64,
}

// SAFETY: a queue may be used by one thread after the other, and pools by several threads at a time.
unsafe impl Send for Queues {}

impl Queues {
    /// Takes over the queues with one number, for frames of up to `frame_len` bytes.
    ///
    /// # Safety
    /// The pool is one of packet mbufs. As long as the result and its mbufs live, it is not freed, the port is neither closed nor
    /// configured anew, and nobody else uses the two queues.
    pub(crate) unsafe fn new(
        port: u16,
        queue: u16,
        pool: NonNull<rte_mempool>,
        frame_len: usize,
    ) -> Result<Self, Error> {
        let mut info = sys::rte_eth_dev_info::default();
        // SAFETY: the call checks the port's number, and writes to a struct of this function.
        if unsafe { sys::rte_eth_dev_info_get(port, &raw mut info) } != 0 {
            return Err(Error::NoSuchDevice);
        }
        if queue >= info.nb_rx_queues || queue >= info.nb_tx_queues {
            return Err(Error::NoSuchQueue);
        }
        // SAFETY: the caller promises a pool of packet mbufs.
        let room = usize::from(unsafe { sys::rte_pktmbuf_data_room_size(pool.as_ptr()) });
        if room < sys::RTE_PKTMBUF_HEADROOM as usize + frame_len {
            return Err(Error::SmallPool);
        }
        // SAFETY: the EAL is initialised, since it has a port. The call reads a number.
        let hz = unsafe { sys::rte_get_tsc_hz() };
        // SAFETY: the call reads the configuration of a port that exists.
        let offloads = unsafe { sys::dpdk_sys_eth_tx_offloads(port) };
        let has = |wanted| offloads & wanted == wanted;
        let written = Checksums {
            ip: has(sys::DPDK_SYS_TX_OFFLOAD_IPV4_CKSUM),
            l4: has(sys::DPDK_SYS_TX_OFFLOAD_TCP_CKSUM | sys::DPDK_SYS_TX_OFFLOAD_UDP_CKSUM),
        };
        let longest = (room - sys::RTE_PKTMBUF_HEADROOM as usize - ETHERNET).min(usize::from(u16::MAX));
        let uncut = (written.l4 && has(sys::DPDK_SYS_TX_OFFLOAD_TCP_TSO)).then_some(longest);
        Ok(Self {
            port,
            queue,
            pool,
            received: ArrayVec::new(),
            waiting: ArrayVec::new(),
            spare: None,
            written,
            uncut,
            mtu: usize::MAX,
            start: cycles(),
            hz: hz.max(1),
        })
    }

    fn new_mbuf(&self) -> Option<Mbuf> {
        // SAFETY: the pool is one of packet mbufs and is not freed as long as this value lives, as was promised to
        // `Queues::new`.
        NonNull::new(unsafe { sys::rte_pktmbuf_alloc(self.pool.as_ptr()) }).map(Mbuf)
    }

    fn transmit(&mut self) {
        if self.written != Checksums::default() {
            self.prepare();
        }
        let (first, count) = (self.waiting.as_mut_ptr().cast(), self.waiting.len() as u16);
        // SAFETY: the queue exists and nobody else uses it, as was promised to `Queues::new`. `first` points to `count` mbufs,
        // since an `Mbuf` is a pointer to one.
        let sent = unsafe { sys::rte_eth_tx_burst(self.port, self.queue, first, count) };
        // They are the driver's now.
        self.waiting.drain(..usize::from(sent)).for_each(mem::forget);
    }

    /// Hands the driver what waits, so that it can check what it is asked for. What it does not do is dropped, and TCP repeats it.
    fn prepare(&mut self) {
        loop {
            let (first, count) = (self.waiting.as_mut_ptr().cast(), self.waiting.len() as u16);
            // SAFETY: the queue exists and nobody else uses it, as was promised to `Queues::new`. `first` points to `count` mbufs,
            // since an `Mbuf` is a pointer to one, whose flags and lengths are those of their frames.
            let right = unsafe { sys::rte_eth_tx_prepare(self.port, self.queue, first, count) };
            if right >= count {
                return;
            }
            self.waiting.remove(right.into());
        }
    }
}

/// The MAC address of a port.
pub(crate) fn mac_of(port: u16) -> Result<MacAddr, Error> {
    let mut address = sys::rte_ether_addr::default();
    // SAFETY: the call checks the port's number, and writes to a struct of this function.
    let result = unsafe { sys::rte_eth_macaddr_get(port, &raw mut address) };
    if result == 0 { Ok(MacAddr(address.addr_bytes)) } else { Err(Error::NoSuchDevice) }
}

/// How the device of a port distributes frames over its RX queues, if it tells.
pub(crate) fn steering(port: u16) -> Option<Steering> {
    let mut info = sys::rte_eth_dev_info::default();
    // SAFETY: the call checks the port's number, and writes to a struct of this function.
    if unsafe { sys::rte_eth_dev_info_get(port, &raw mut info) } != 0 || info.reta_size == 0 {
        return None;
    }
    // More than any length that a device can report.
    let mut key = vec![0; 256];
    let rss_key_len = info.hash_key_size;
    let mut conf = sys::rte_eth_rss_conf { rss_key: key.as_mut_ptr(), rss_key_len, ..Default::default() };
    // SAFETY: the port exists, and the key has room for as many bytes as an 8-bit length can express.
    if unsafe { sys::rte_eth_dev_rss_hash_conf_get(port, &raw mut conf) } != 0 {
        return None;
    }
    key.truncate(rss_key_len.into());
    let group = sys::rte_eth_rss_reta_entry64 { mask: u64::MAX, ..Default::default() };
    let len = usize::from(info.reta_size);
    let mut groups = vec![group; len.div_ceil(sys::RTE_ETH_RETA_GROUP_SIZE as usize)];
    // SAFETY: the port exists. There are as many groups as the table has, and the call is passed its length.
    if unsafe { sys::rte_eth_dev_rss_reta_query(port, groups.as_mut_ptr(), info.reta_size) } != 0 {
        return None;
    }
    let table = groups.iter().flat_map(|group| group.reta).take(len).collect();
    Steering::new(RssHash::new(RssFields::from_bits(conf.rss_hf), key), table)
}

fn cycles() -> u64 {
    // SAFETY: the call reads the processor's counter.
    unsafe { sys::rte_rdtsc() }
}

impl Wire for Queues {
    type Frame = Mbuf;

    fn now(&mut self) -> Duration {
        let micros = u128::from(cycles().saturating_sub(self.start)) * 1_000_000 / u128::from(self.hz);
        Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }

    fn receive(&mut self) -> Option<Mbuf> {
        if self.received.is_empty() {
            let mut room = [ptr::null_mut(); BURST];
            // SAFETY: the queue exists and nobody else uses it, as was promised to `Queues::new`. `room` has room for so many.
            let count = unsafe { sys::rte_eth_rx_burst(self.port, self.queue, room.as_mut_ptr(), BURST as u16) };
            let received = room.iter().take(count.into()).rev();
            self.received.extend(received.filter_map(|mbuf| NonNull::new(*mbuf)).map(Mbuf));
        }
        self.received.pop()
    }

    fn has_room(&mut self) -> bool {
        if self.waiting.is_full() {
            self.transmit();
        }
        if self.spare.is_none() {
            self.spare = self.new_mbuf();
        }
        !self.waiting.is_full() && self.spare.is_some()
    }

    fn allocate(&mut self, len: usize) -> Option<Mbuf> {
        let mut mbuf = self.spare.take().or_else(|| self.new_mbuf())?;
        if mbuf.append(len) {
            return Some(mbuf);
        }
        self.spare = Some(mbuf);
        None
    }

    fn verified(&self, frame: &Mbuf) -> Checksums {
        let flags = frame.ol_flags();
        let ip = flags & sys::DPDK_SYS_MBUF_F_RX_IP_CKSUM_MASK;
        let l4 = flags & sys::DPDK_SYS_MBUF_F_RX_L4_CKSUM_MASK;
        // A host that shares the memory leaves checksums out: the data is as it was sent.
        Checksums {
            ip: [sys::DPDK_SYS_MBUF_F_RX_IP_CKSUM_GOOD, sys::DPDK_SYS_MBUF_F_RX_IP_CKSUM_NONE].contains(&ip),
            l4: [sys::DPDK_SYS_MBUF_F_RX_L4_CKSUM_GOOD, sys::DPDK_SYS_MBUF_F_RX_L4_CKSUM_NONE].contains(&l4),
        }
    }

    fn written(&self) -> Checksums {
        self.written
    }

    fn cut(&mut self, mtu: usize) -> usize {
        self.mtu = mtu;
        self.uncut.map_or(mtu, |uncut| uncut.max(mtu))
    }

    fn bytes(frame: &Mbuf) -> Option<&[u8]> {
        // SAFETY: the first segment of a live mbuf has so many bytes, which are never uninitialised, and this value alone has it.
        (frame.nb_segs() == 1).then(|| unsafe { slice::from_raw_parts(frame.data(), frame.data_len().into()) })
    }

    fn bytes_mut(frame: &mut Mbuf) -> &mut [u8] {
        // SAFETY: the first segment of a live mbuf has so many bytes, which are never uninitialised, and this value alone has it.
        unsafe { slice::from_raw_parts_mut(frame.data(), frame.data_len().into()) }
    }

    fn send(&mut self, frame: Mbuf) -> bool {
        let mut frame = frame;
        if self.written != Checksums::default() {
            frame.ask(self.written, self.mtu);
        }
        self.waiting.try_push(frame).is_ok()
    }

    fn flush(&mut self) {
        if !self.waiting.is_empty() {
            self.transmit();
        }
    }
}
