// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A wire in memory that allocates nothing for the frames of its stack, for counts of instructions.

use core::time::Duration;
use dpdk_sockets::wire::{Checksums, Wire};
use std::collections::VecDeque;

/// The length of a buffer, unless the device cuts segments.
const ROOM: usize = 2_048;

/// Frames on their way to a stack and from there.
#[derive(Debug)]
pub struct Frames {
    /// Whether it does what a device with checksum offloads does.
    offloads: bool,
    /// The length of a packet that it would cut; 0: it cuts none.
    uncut: usize,
    /// For the stack.
    pub to_stack: VecDeque<Vec<u8>>,
    /// Those that the stack has sent.
    pub from_stack: VecDeque<Vec<u8>>,
    /// Where the next frames are written.
    pub spare: Vec<Vec<u8>>,
    /// The time.
    pub now: Duration,
}

impl Frames {
    /// With room for so many frames of the stack.
    #[must_use]
    pub fn new(count: usize, offloads: bool, uncut: usize) -> Self {
        let spare = (0..count).map(|_| Vec::with_capacity(ROOM.max(uncut + ROOM))).collect();
        let (to_stack, from_stack) = (VecDeque::with_capacity(count), VecDeque::with_capacity(count));
        Self { offloads, uncut, to_stack, from_stack, spare, now: Duration::ZERO }
    }
}

impl Wire for Frames {
    type Frame = Vec<u8>;

    fn now(&mut self) -> Duration {
        self.now
    }

    fn receive(&mut self) -> Option<Vec<u8>> {
        self.to_stack.pop_front()
    }

    fn has_room(&mut self) -> bool {
        !self.spare.is_empty()
    }

    fn allocate(&mut self, len: usize) -> Option<Vec<u8>> {
        let mut frame = self.spare.pop()?;
        // Within the capacity, and shorter than before in most cases.
        frame.resize(len, 0);
        Some(frame)
    }

    fn verified(&self, _: &Vec<u8>) -> Checksums {
        self.written()
    }

    fn written(&self) -> Checksums {
        Checksums { ip: self.offloads, l4: self.offloads }
    }

    fn cut(&mut self, mtu: usize) -> usize {
        self.uncut.max(mtu)
    }

    fn bytes(frame: &Vec<u8>) -> Option<&[u8]> {
        Some(frame)
    }

    fn bytes_mut(frame: &mut Vec<u8>) -> &mut [u8] {
        frame
    }

    fn send(&mut self, frame: Vec<u8>) -> bool {
        self.from_stack.push_back(frame);
        true
    }

    fn flush(&mut self) {}
}
