// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! l2fwd-c, called from Rust. The only place with `unsafe` outside the bindings: the twin is C.

use crate::queue_pair::QueuePair;
use core::ffi::{c_char, c_void};
use dpdk_rs::{MacAddr, PortId};
use std::{ptr::NonNull, slice};

/// The counters of a queue pair, in the order in which l2fwd-c has them.
pub(crate) type Counters = [u64; 6];

unsafe extern "C" {
    fn forward_frames(
        rx_port: u16,
        tx_port: u16,
        tx_mac: *const u8,
        burst: u16,
        update_macs: bool,
        nb_bursts: u32,
        counters: *mut u64,
    );
    fn describe_command_line(data: *const u8, data_len: usize, text_len: *mut usize) -> *mut c_char;
    fn free(memory: *mut c_void);
}

/// What l2fwd-c makes of a command line.
pub(crate) fn describe(data: &[u8]) -> Vec<u8> {
    let mut len = 0;
    // SAFETY: the bytes and the place for the length live during the call.
    let text = unsafe { describe_command_line(data.as_ptr(), data.len(), &raw mut len) };
    let Some(text) = NonNull::new(text) else { panic!("l2fwd-c ran out of memory") };
    // SAFETY: the function allocated `len` bytes, which nobody else has.
    let copy = unsafe { slice::from_raw_parts(text.as_ptr().cast::<u8>(), len) }.to_vec();
    // SAFETY: the memory came from malloc, and the copy above does not refer to it.
    unsafe { free(text.as_ptr().cast()) };
    copy
}

/// What a queue pair of l2fwd-c is to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) rx_port: PortId,
    pub(crate) tx_port: PortId,
    pub(crate) tx_mac: MacAddr,
    pub(crate) burst: u16,
    pub(crate) update_macs: bool,
}

/// Has l2fwd-c receive and send so many bursts in place of a queue pair of l2fwd-rs, on whose queues. These are borrowed
/// exclusively, so that nobody else uses them meanwhile.
pub(crate) fn forward(work: Work, bursts: u32, _owner: &mut QueuePair<'_>) -> Counters {
    let mut counters = Counters::default();
    let mac = work.tx_mac.octets();
    // SAFETY: the ports are started, since the pair has their queues, and nobody else uses these; the address and the counters live
    // during the call, and the counters are as many as it writes.
    unsafe {
        forward_frames(
            work.rx_port.get(),
            work.tx_port.get(),
            mac.as_ptr(),
            work.burst,
            work.update_macs,
            bursts,
            counters.as_mut_ptr(),
        );
    }
    counters
}
