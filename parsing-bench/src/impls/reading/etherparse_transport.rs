// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What all uses of etherparse lack for the rules: the ports in a first fragment, before which it stops, and the end of a
//! chain of extension headers.

use super::{NO_PORTS, Ports, by_hand, tuple};
use crate::contract::{FiveTuple, Rejected};
use etherparse::{
    IpNumber, Ipv4HeaderSlice, Ipv6ExtensionSlice, Ipv6ExtensionsSlice, Ipv6HeaderSlice, TcpHeaderSlice,
    UdpHeaderSlice, ip_number,
};

/// The ports in the payload of a datagram, or of its first fragment.
#[inline(always)]
pub(super) fn ports(protocol: IpNumber, payload: &[u8], more_fragments: bool) -> Result<Ports, Rejected> {
    match protocol {
        ip_number::TCP => {
            let tcp = TcpHeaderSlice::from_slice(payload).map_err(|_| Rejected)?;
            Ok([tcp.source_port(), tcp.destination_port()])
        }
        ip_number::UDP if more_fragments => by_hand::udp_of_first_fragment(payload),
        ip_number::UDP => {
            let udp = UdpHeaderSlice::from_slice(payload).map_err(|_| Rejected)?;
            if !(8..=payload.len()).contains(&usize::from(udp.length())) {
                return Err(Rejected);
            }
            Ok([udp.source_port(), udp.destination_port()])
        }
        _ => Ok(NO_PORTS),
    }
}

/// The tuple of a sliced packet; `ports` are those after the header.
#[inline(always)]
pub(super) fn ipv4(
    header: &Ipv4HeaderSlice<'_>,
    ports: impl FnOnce() -> Result<Ports, Rejected>,
) -> Result<FiveTuple, Rejected> {
    // Behind AH, etherparse looks at what AH protects.
    let has_ports = header.fragments_offset().value() == 0 && header.protocol() != ip_number::AUTH;
    let ports = if has_ports { ports()? } else { NO_PORTS };
    Ok(tuple(header.source(), header.destination(), header.protocol(), ports))
}

/// As [`ipv4`]; `protocol` is where etherparse stopped.
#[inline(always)]
pub(super) fn ipv6(
    header: &Ipv6HeaderSlice<'_>,
    extensions: &Ipv6ExtensionsSlice<'_>,
    protocol: IpNumber,
    ports: impl FnOnce() -> Result<Ports, Rejected>,
) -> Result<FiveTuple, Rejected> {
    if lacks_payload(header.payload_length(), header.next_header()) {
        return Err(Rejected);
    }
    let (protocol, ports) = match early_end(extensions) {
        Some(protocol) => (protocol, NO_PORTS),
        None => (protocol, ports()?),
    };
    Ok(tuple(header.source(), header.destination(), protocol, ports))
}

/// Whether a header is missing after that of IPv6 because the payload length is 0: etherparse then takes all following bytes
/// as the payload.
#[inline(always)]
pub(super) fn lacks_payload(payload_length: u16, next: IpNumber) -> bool {
    payload_length == 0 && (next == ip_number::TCP || next == ip_number::UDP || is_extension(next))
}

/// The protocol, if the chain of extension headers ends before etherparse's: at AH, or at the header of a later fragment.
#[inline(always)]
fn early_end(extensions: &Ipv6ExtensionsSlice<'_>) -> Option<IpNumber> {
    extensions.clone().into_iter().find_map(|extension| match extension {
        Ipv6ExtensionSlice::Authentication(_) => Some(ip_number::AUTH),
        Ipv6ExtensionSlice::Fragment(header) if header.fragment_offset().value() != 0 => Some(header.next_header()),
        _ => None,
    })
}

/// Whether a number is that of a skipped header.
#[inline(always)]
pub(super) fn is_extension(number: IpNumber) -> bool {
    matches!(
        number,
        ip_number::IPV6_HOP_BY_HOP | ip_number::IPV6_ROUTE | ip_number::IPV6_FRAG | ip_number::IPV6_DEST_OPTIONS
    )
}
