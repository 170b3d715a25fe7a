// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Initial sequence numbers (RFC 6528) and local ports (RFC 6056).

use crate::demux::Flow;
use crate::time::Time;
use core::hash::BuildHasher;
use core::net::SocketAddr;
use smoltcp::wire::TcpSeqNumber;
use std::collections::hash_map::RandomState;

/// The first of the ports that RFC 6335 leaves to programs for a short time; they end with the last port.
pub(crate) const FIRST_DYNAMIC_PORT: u16 = 49_152;

/// Makes numbers that others cannot guess: `SipHash` with a random key.
#[derive(Debug, Default)]
pub(crate) struct InitialSequence {
    key: RandomState,
}

impl InitialSequence {
    /// RFC 6528, section 3: a clock of 4 µs, and a number that depends on the addresses and ports.
    pub(crate) fn number(&self, flow: Flow, now: Time) -> TcpSeqNumber {
        let clock = (now.as_micros() / 4) as u32;
        let offset = self.key.hash_one(flow) as u32;
        TcpSeqNumber(clock.wrapping_add(offset).cast_signed())
    }

    /// RFC 6056, section 3.3.3: the port with which the search for a free one begins. `tried` counts the ports that were tried.
    pub(crate) fn first_port(&self, remote: SocketAddr, tried: u64) -> u16 {
        let ports = u64::from(u16::MAX - FIRST_DYNAMIC_PORT) + 1;
        FIRST_DYNAMIC_PORT + (self.key.hash_one(remote).wrapping_add(tried) % ports) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(port: u16) -> Flow {
        Flow::new(([192, 0, 2, 1], 80).into(), ([192, 0, 2, 2], port).into())
    }

    #[test]
    fn the_numbers_of_a_flow_grow_with_time() {
        let initial = InitialSequence::default();
        let first = initial.number(flow(1), Time::from_secs(1));
        assert_eq!(initial.number(flow(1), Time::from_secs(2)), first + 250_000);
    }

    #[test]
    fn flows_and_stacks_have_other_numbers() {
        let (one, other) = (InitialSequence::default(), InitialSequence::default());
        let now = Time::ZERO;
        assert_ne!(one.number(flow(1), now), one.number(flow(2), now));
        assert_ne!(one.number(flow(1), now), other.number(flow(1), now));
    }
}
