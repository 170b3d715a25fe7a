// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! W4, one file per library: the 5-tuple of a frame, by the rules in [`crate::reference::reading`].
//!
//! Users write the parts that a library lacks. These parts are in [`by_hand`], so that the imports of each file show what
//! its library lacks.

#![cfg_attr(not(feature = "libraries"), allow(dead_code, reason = "each library takes another part"))]

use crate::contract::FiveTuple;
use core::net::IpAddr;

pub(super) mod by_hand;
#[cfg(feature = "etherparse")]
pub(super) mod etherparse_cursor;
#[cfg(feature = "etherparse")]
pub(super) mod etherparse_header_slices;
#[cfg(feature = "etherparse")]
pub(super) mod etherparse_lax;
#[cfg(feature = "etherparse")]
pub(super) mod etherparse_sliced_packet;
#[cfg(feature = "etherparse")]
pub(super) mod etherparse_slices;
#[cfg(feature = "etherparse")]
mod etherparse_transport;
#[cfg(feature = "mutnet")]
pub(super) mod mutnet;
#[cfg(feature = "network-types")]
pub(super) mod network_types;
#[cfg(feature = "pdu")]
pub(super) mod pdu;
#[cfg(feature = "pnet")]
pub(super) mod pnet;
#[cfg(feature = "rpkt")]
pub(super) mod rpkt;
#[cfg(feature = "safe-rust")]
pub(super) mod safe_rust;
#[cfg(feature = "smoltcp")]
pub(super) mod smoltcp;
#[cfg(feature = "zerocopy")]
pub(super) mod zerocopy;

/// Source and destination port.
type Ports = [u16; 2];

/// The ports of protocols that have none, and of later fragments.
const NO_PORTS: Ports = [0, 0];

/// The tags of IEEE 802.1Q and 802.1ad.
const TAG: u16 = 0x8100;
const SERVICE_TAG: u16 = 0x88a8;
/// The maximum number of tags.
const TAGS: usize = 2;

#[inline(always)]
fn tuple(
    source: impl Into<IpAddr>,
    destination: impl Into<IpAddr>,
    protocol: impl Into<u8>,
    ports: Ports,
) -> FiveTuple {
    FiveTuple {
        source: source.into(),
        destination: destination.into(),
        protocol: protocol.into(),
        source_port: ports[0],
        destination_port: ports[1],
    }
}
