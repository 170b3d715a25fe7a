// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The loop. Branches on switches are taken once per burst, never per packet.

use crate::switches::Switches;
use dpdk_rs::{Burst, MacAddr, Packet, RxQueue, TxQueue};
use smoltcp::wire::{EthernetAddress, EthernetFrame};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const BURST: usize = 32;
/// How many frames of a full burst the transmit side takes when it refuses 30 %.
const TAKEN: usize = 22;
const ETHERNET_HEADER_LEN: usize = 14;
const DESTINATION: MacAddr = MacAddr([0x02, 0, 0, 0, 0, 0]);

type Frames = Burst<(), BURST>;

/// The destination and source addresses as in a frame: its first 8 bytes, and the 4 after them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Macs {
    source: MacAddr,
    first: u64,
    last: u32,
}

impl Macs {
    pub(crate) fn new(source: MacAddr) -> Self {
        let [d0, d1, d2, d3, d4, d5] = DESTINATION.octets();
        let [s0, s1, s2, s3, s4, s5] = source.octets();
        Self {
            source,
            first: u64::from_ne_bytes([d0, d1, d2, d3, d4, d5, s0, s1]),
            last: u32::from_ne_bytes([s2, s3, s4, s5]),
        }
    }
}

/// The counts of the loop.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) polls: u64,
    pub(crate) received: u64,
    pub(crate) sent: u64,
}

/// Forwards until the stop flag is set.
///
/// Not inlined: the testbed finds this function by name when it counts instructions. Besides, a compiler that sees how
/// `macs` is made would store the addresses byte by byte.
#[inline(never)]
pub(crate) fn forward_loop(
    rx: &mut RxQueue,
    tx: &mut TxQueue,
    macs: Macs,
    switches: Switches,
    stop: &AtomicBool,
) -> Counters {
    let mut counters = Counters::default();
    let mut frames = Frames::new();
    let mut taken = Burst::<(), TAKEN>::new();
    while !stop.load(Relaxed) {
        counters.polls += 1;
        let received = rx.rx(&mut frames);
        if received == 0 {
            continue;
        }
        counters.received += received as u64;
        if !switches.no_prefetch {
            frames.iter().for_each(Packet::prefetch);
        }
        if switches.new_checked {
            rewrite_checked(&mut frames, macs.source);
        } else {
            rewrite(&mut frames, macs);
        }
        if switches.refused {
            taken.append(&mut frames);
            counters.sent += tx.tx(&mut taken) as u64;
            drop_frames(&mut taken, switches.single_frees);
        } else {
            counters.sent += tx.tx(&mut frames) as u64;
        }
        drop_frames(&mut frames, switches.single_frees);
    }
    counters
}

/// Two stores into each frame that is long enough, from registers.
#[inline]
fn rewrite(frames: &mut Frames, macs: Macs) {
    for header in frames.iter_mut().filter_map(header) {
        header[..8].copy_from_slice(&macs.first.to_ne_bytes());
        header[8..12].copy_from_slice(&macs.last.to_ne_bytes());
    }
}

/// The Ethernet header of a frame, if it is long enough for one.
#[inline]
fn header(frame: &mut Packet) -> Option<&mut [u8; ETHERNET_HEADER_LEN]> {
    frame.data_mut().ok()?.first_chunk_mut()
}

/// The same with smoltcp.
#[inline]
fn rewrite_checked(frames: &mut Frames, source: MacAddr) {
    for frame in frames.iter_mut() {
        if let Ok(Ok(mut header)) = frame.data_mut().map(EthernetFrame::new_checked) {
            header.set_src_addr(EthernetAddress(source.octets()));
            header.set_dst_addr(EthernetAddress(DESTINATION.octets()));
        }
    }
}

/// Frees the frames that were not sent.
#[inline]
fn drop_frames<const N: usize>(frames: &mut Burst<(), N>, one_by_one: bool) {
    if one_by_one {
        frames.drain().for_each(drop);
    } else {
        frames.clear();
    }
}
