// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! mutnet: each header parsed alone, with what lies before it as headroom.
//!
//! `parse_network_data` does all steps at once, but knows no frame with two C-tags or one S-tag, and says of a fragment
//! neither which piece it is nor its ports. The types of layers upon layers would also be another one for each stack.
//! The UDP header of a first fragment is read by hand: `parse_udp_alone` wants the whole datagram.

use super::{NO_PORTS, Ports, SERVICE_TAG, TAG, TAGS, by_hand, tuple};
use crate::contract::{FiveTuple, Rejected};
use mutnet::{
    data_buffer::{DataBuffer, Payload},
    ethernet::{Eth, EthernetMethods},
    ieee802_1q_vlan::{Ieee802_1QMethods, Ieee802_1QVlan, Vlan},
    ipv4::{Ipv4, Ipv4Methods},
    ipv6::{Ipv6, Ipv6Methods},
    ipv6_extensions::{Ipv6ExtMethods, Ipv6Extensions},
    no_previous_header::NoPreviousHeader,
    tcp::{Tcp, TcpMethods},
    typed_protocol_headers::Ipv6ExtensionType,
    udp::{Udp, UdpMethods},
};

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// One of each, and destination options also behind the routing header.
const EXTENSIONS: usize = 5;

#[inline(always)]
pub(crate) fn five_tuple(frame: &[u8]) -> Result<FiveTuple, Rejected> {
    let ethernet = DataBuffer::<_, Eth>::parse_ethernet_layer(frame, 0).map_err(|_| Rejected)?;
    let (mut ethertype, mut headroom) = (ethernet.ethernet_ether_type(), 14);
    for _ in 0..TAGS {
        if ethertype != TAG && ethertype != SERVICE_TAG {
            break;
        }
        type Tag = Ieee802_1QVlan<NoPreviousHeader>;
        let tag = DataBuffer::<_, Tag>::parse_ieee802_1q_alone(frame, headroom, Vlan::SingleTagged);
        ethertype = tag.map_err(|_| Rejected)?.ieee802_1q_ether_type();
        headroom += 4;
    }
    match ethertype {
        IPV4 => ipv4(frame, headroom),
        IPV6 => ipv6(frame, headroom),
        _ => Err(Rejected),
    }
}

#[inline(always)]
fn ipv4(frame: &[u8], headroom: usize) -> Result<FiveTuple, Rejected> {
    let ip = DataBuffer::<_, Ipv4<NoPreviousHeader>>::parse_ipv4_alone(frame, headroom, false).map_err(|_| Rejected)?;
    let protocol = ip.ipv4_protocol();
    let is_first = ip.ipv4_fragment_offset() == 0;
    let ports = if is_first { ports(protocol, ip.payload(), ip.ipv4_more_fragments_flag())? } else { NO_PORTS };
    Ok(tuple(ip.ipv4_source(), ip.ipv4_destination(), protocol, ports))
}

#[inline(always)]
fn ipv6(frame: &[u8], headroom: usize) -> Result<FiveTuple, Rejected> {
    let ip = DataBuffer::<_, Ipv6<NoPreviousHeader>>::parse_ipv6_alone(frame, headroom).map_err(|_| Rejected)?;
    let (protocol, ports) = match Ipv6ExtensionType::try_from(ip.ipv6_next_header()) {
        Ok(first) => behind_extensions(ip.payload(), first)?,
        Err(_) => (ip.ipv6_next_header(), ports(ip.ipv6_next_header(), ip.payload(), false)?),
    };
    Ok(tuple(ip.ipv6_source(), ip.ipv6_destination(), protocol, ports))
}

#[inline(always)]
fn behind_extensions(payload: &[u8], first: Ipv6ExtensionType) -> Result<(u8, Ports), Rejected> {
    type Extensions = Ipv6Extensions<NoPreviousHeader, EXTENSIONS>;
    let parsed = DataBuffer::<_, Extensions>::parse_ipv6_extensions_alone(payload, 0, first);
    let (extensions, is_fragment) = parsed.map_err(|_| Rejected)?;
    if is_fragment {
        // The first one that is no fragment's first piece ends the chain; what was parsed behind it is data.
        for index in 0..extensions.ipv6_ext_amount() {
            if extensions.ipv6_ext_fragment_offset(index).is_ok_and(|offset| offset != 0) {
                let protocol = extensions.ipv6_ext_per_extension_next_header(index).map_err(|_| Rejected)?;
                return Ok((protocol, NO_PORTS));
            }
        }
    }
    let protocol = extensions.ipv6_ext_next_header().map_err(|_| Rejected)?;
    Ok((protocol, ports(protocol, extensions.payload(), is_fragment)?))
}

#[inline(always)]
fn ports(protocol: u8, payload: &[u8], more_fragments: bool) -> Result<Ports, Rejected> {
    match protocol {
        TCP => {
            let tcp = DataBuffer::<_, Tcp<NoPreviousHeader>>::parse_tcp_alone(payload, 0).map_err(|_| Rejected)?;
            Ok([tcp.tcp_source_port(), tcp.tcp_destination_port()])
        }
        UDP if more_fragments => by_hand::udp_of_first_fragment(payload),
        UDP => {
            let udp = DataBuffer::<_, Udp<NoPreviousHeader>>::parse_udp_alone(payload, 0).map_err(|_| Rejected)?;
            Ok([udp.udp_source_port(), udp.udp_destination_port()])
        }
        _ => Ok(NO_PORTS),
    }
}
