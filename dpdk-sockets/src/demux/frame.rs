// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Looks at received frames.

use super::{Flow, Inbound, ipv4, ipv6};
use crate::ethernet::Ethernet;
use crate::link::Link;
use crate::wire::{Checksums, Wire};
use smoltcp::wire::EthernetProtocol;

/// The flow of a frame, if it looks like a TCP segment. Nothing is checked.
pub(crate) fn flow(bytes: &[u8], vlan: Option<u16>) -> Option<Flow> {
    Flow::of(bytes.get(Ethernet::len(vlan)..)?)
}

/// Looks at a frame for the host at this end of a link.
pub(crate) fn inbound<'f, W: Wire>(bytes: &'f [u8], link: &Link<W>, verified: Checksums) -> Inbound<'f> {
    let (vlan, mac) = (link.vlan(), link.mac());
    let Some(Ethernet { to, from, ethertype }) = Ethernet::parse(bytes, vlan) else { return Inbound::Ignored };
    let header = Ethernet::len(vlan);
    match ethertype {
        EthernetProtocol::Ipv4 if to == mac => ipv4::inbound(bytes, header, from, link.routes(), verified),
        EthernetProtocol::Ipv6 if to == mac => ipv6::inbound(bytes, header, from, link.routes(), verified),
        EthernetProtocol::Ipv6 if to.is_multicast() => ipv6::to_a_group(&bytes[header..], from),
        EthernetProtocol::Arp if to == mac || to.is_broadcast() => Inbound::Arp(&bytes[header..]),
        _ => Inbound::Ignored,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::IpAddr;

    /// An Ethernet header, and an IP packet with ports 1000 and 80 after its header.
    fn frame(vlan: Option<u16>, header: &[u8]) -> Vec<u8> {
        [&vec![0; Ethernet::len(vlan)][..], header, &[3, 232, 0, 80, 0, 0, 0, 0]].concat()
    }

    #[test]
    fn the_flow_of_a_segment_is_found() {
        let ipv4 = [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 6, 0, 0, 192, 0, 2, 2, 192, 0, 2, 1];
        let ipv6 = [&[0x60, 0, 0, 0, 0, 8, 6, 64][..], &[1; 16], &[2; 16]].concat();
        for vlan in [None, Some(7)] {
            for (header, local, remote) in [
                (&ipv4[..], IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2])),
                (&ipv6, [2; 16].into(), [1; 16].into()),
            ] {
                let bytes = frame(vlan, header);
                let expected = Flow::new((local, 80).into(), (remote, 1_000).into());
                assert_eq!(flow(&bytes, vlan), Some(expected));
                for len in 0..bytes.len() - 4 {
                    assert_eq!(flow(&bytes[..len], vlan), None, "{len} bytes");
                }
            }
        }
        let mut udp = ipv4;
        udp[9] = 17;
        assert_eq!(flow(&frame(None, &udp), None), None);
    }
}
