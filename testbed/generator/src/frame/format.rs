// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The headers that all frames of a run have before their identity.

use dpdk_rs::MacAddr;

/// The shortest frame without tags, without FCS: exactly the headers and the payload that identifies it.
pub(crate) const HEAD_LEN: usize = 60;
/// Tag protocol identifiers: of a customer's tag, and of a service's tag before it (IEEE 802.1Q, table 9-1).
const CUSTOMER_TAG: u16 = 0x8100;
const SERVICE_TAG: u16 = 0x88a8;
const TAG_LEN: usize = 4;

/// Addresses of the Ethernet header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Macs {
    pub(crate) dst: MacAddr,
    pub(crate) src: MacAddr,
}

/// What the frames have beside Ethernet, IPv4 and UDP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Format {
    /// VLAN identifiers; of two, that of the service tag first (QinQ). Priority and drop eligibility are 0.
    pub(crate) vlans: Vec<u16>,
}

impl Format {
    /// Bytes of the shortest frame, without FCS.
    pub(crate) const fn least_len(&self) -> usize {
        HEAD_LEN + TAG_LEN * self.vlans.len()
    }

    /// The bytes from the addresses to the last tag.
    pub(super) fn before_ethertype(&self, macs: Macs) -> Vec<u8> {
        let mut bytes = [macs.dst.octets(), macs.src.octets()].concat();
        let services = self.vlans.len().saturating_sub(1);
        for (number, vlan) in self.vlans.iter().enumerate() {
            let protocol = if number < services { SERVICE_TAG } else { CUSTOMER_TAG };
            bytes.extend([protocol, *vlan].map(u16::to_be_bytes).concat());
        }
        bytes
    }
}
