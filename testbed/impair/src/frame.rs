// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is impaired.

use core::ops::Range;
use dpdk_rs::{Mempool, Packet};

/// A frame that can be measured, changed and copied.
pub trait Frame: Sized {
    /// Where copies come from.
    type Pool;

    /// Its length.
    fn len_bytes(&self) -> usize;

    /// How many of its bytes, from the first, [`Self::flip`] reaches.
    fn changeable(&self) -> usize;

    /// Flips a bit, counted from the lowest of the first byte. False if that is impossible.
    fn flip(&mut self, bit: usize) -> bool;

    /// A copy; `None` if the pool is exhausted.
    fn copy(&self, pool: &Self::Pool) -> Option<Self>;
}

/// The EtherType of ARP, and where it is (IEEE 802.3).
const ARP: &[u8] = &[0x08, 0x06];
const ETHER_TYPE: Range<usize> = 12..14;

/// As with `netem`, only bits of the first segment are flipped; but none of ARP, which has no checksum: a wrong address would be
/// believed, and a connection would stand still until it is asked for again.
impl Frame for Packet {
    type Pool = Mempool;

    fn len_bytes(&self) -> usize {
        self.len()
    }

    fn changeable(&self) -> usize {
        if self.data().get(ETHER_TYPE) == Some(ARP) { 0 } else { self.data().len() }
    }

    fn flip(&mut self, bit: usize) -> bool {
        let byte = self.data_mut().ok().and_then(|data| data.get_mut(bit / 8));
        byte.map(|byte| *byte ^= 1 << (bit % 8)).is_some()
    }

    fn copy(&self, pool: &Mempool) -> Option<Self> {
        Packet::copy(self, pool)
    }
}
