// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The Ethernet header, with a VLAN tag (IEEE 802.1Q) or without.

use smoltcp::wire::{EthernetAddress, EthernetProtocol};

/// The type of a frame with a tag, and the length of the tag.
const TAGGED: [u8; 2] = [0x81, 0x00];
const TAG_LEN: usize = 4;

/// Where the tag is, or the type of a frame without one.
const TYPE_AT: usize = 12;

/// The bits of a tag that are the number of the VLAN.
const NUMBER: u16 = 0x0fff;

/// The header of a received frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ethernet {
    pub(crate) to: EthernetAddress,
    pub(crate) from: EthernetAddress,
    pub(crate) ethertype: EthernetProtocol,
}

impl Ethernet {
    /// The length of the header in bytes.
    pub(crate) const fn len(vlan: Option<u16>) -> usize {
        smoltcp::wire::ETHERNET_HEADER_LEN + if vlan.is_some() { TAG_LEN } else { 0 }
    }

    /// The header of a frame in this VLAN, or without a tag. `None` if the frame is in another one, or is too short. The
    /// priority in the tag can be any.
    #[inline]
    pub(crate) fn parse(bytes: &[u8], vlan: Option<u16>) -> Option<Self> {
        let (to, rest) = bytes.split_first_chunk()?;
        let (from, mut rest) = rest.split_first_chunk()?;
        if let Some(vlan) = vlan {
            let ([first, second, high, low], after) = rest.split_first_chunk()?;
            if [*first, *second] != TAGGED || u16::from_be_bytes([*high, *low]) & NUMBER != vlan {
                return None;
            }
            rest = after;
        }
        let ethertype = EthernetProtocol::from(u16::from_be_bytes(*rest.first_chunk()?));
        Some(Self { to: EthernetAddress(*to), from: EthernetAddress(*from), ethertype })
    }

    /// The length of the header of a frame that this host sends, and the frame's type.
    pub(crate) fn sent(bytes: &[u8]) -> Option<(usize, EthernetProtocol)> {
        let is_tagged = bytes.get(TYPE_AT..TYPE_AT + 2)? == TAGGED;
        let len = Self::len(is_tagged.then_some(0));
        let ethertype = bytes.get(len - 2..)?.first_chunk()?;
        Some((len, EthernetProtocol::from(u16::from_be_bytes(*ethertype))))
    }

    /// Writes the header at the start of a frame that is long enough.
    #[inline]
    pub(crate) fn emit(self, bytes: &mut [u8], vlan: Option<u16>) {
        bytes[..6].copy_from_slice(&self.to.0);
        bytes[6..TYPE_AT].copy_from_slice(&self.from.0);
        let mut at = TYPE_AT;
        if let Some(vlan) = vlan {
            bytes[at..at + 2].copy_from_slice(&TAGGED);
            bytes[at + 2..at + TAG_LEN].copy_from_slice(&vlan.to_be_bytes());
            at += TAG_LEN;
        }
        bytes[at..at + 2].copy_from_slice(&u16::from(self.ethertype).to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Ethernet = Ethernet {
        to: EthernetAddress([2, 0, 0, 0, 0, 1]),
        from: EthernetAddress([2, 0, 0, 0, 0, 2]),
        ethertype: EthernetProtocol::Ipv4,
    };

    #[test]
    fn what_is_written_is_read() {
        for vlan in [None, Some(1), Some(4_094)] {
            let mut bytes = [0xff; 18];
            HEADER.emit(&mut bytes, vlan);
            let len = Ethernet::len(vlan);
            assert_eq!(Ethernet::parse(&bytes[..len], vlan), Some(HEADER));
            assert_eq!(Ethernet::sent(&bytes[..len]), Some((len, HEADER.ethertype)));
            assert_eq!(Ethernet::sent(&bytes[..len - 1]), None);
            assert_eq!(Ethernet::parse(&bytes[..len - 1], vlan), None, "too short");
        }
    }

    #[test]
    fn frames_of_other_vlans_are_not_ours() {
        let mut bytes = [0; 18];
        HEADER.emit(&mut bytes, Some(7));
        // Priority 5.
        bytes[14] |= 5 << 5;
        assert_eq!(Ethernet::parse(&bytes, Some(7)), Some(HEADER));
        assert_eq!(Ethernet::parse(&bytes, Some(8)), None);
        assert_ne!(Ethernet::parse(&bytes, None), Some(HEADER));
        HEADER.emit(&mut bytes, None);
        assert_eq!(Ethernet::parse(&bytes, Some(7)), None, "no tag");
    }
}
