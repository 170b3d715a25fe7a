// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Safe Rust without a library: arrays split off the frame, so that each length is checked once and nothing can panic.

use super::{
    NO_PORTS, Ports,
    by_hand::{self, word},
    tuple,
};
use crate::contract::{FiveTuple, Rejected};

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

const TCP: u8 = 6;
const UDP: u8 = 17;

#[inline(always)]
pub(crate) fn five_tuple(frame: &[u8]) -> Result<FiveTuple, Rejected> {
    let (ethernet, payload) = frame.split_first_chunk::<14>().ok_or(Rejected)?;
    match by_hand::behind_tags(word(ethernet, 12), payload)? {
        (IPV4, packet) => ipv4(packet),
        (IPV6, packet) => ipv6(packet),
        _ => Err(Rejected),
    }
}

#[inline(always)]
fn ipv4(packet: &[u8]) -> Result<FiveTuple, Rejected> {
    let (header, rest) = packet.split_first_chunk::<20>().ok_or(Rejected)?;
    // Version 4 and five double words or more are one range of values.
    if !(0x45..=0x4f).contains(&header[0]) {
        return Err(Rejected);
    }
    let options = usize::from(header[0] & 0x0f) * 4 - 20;
    let total = usize::from(word(header, 2));
    // A total length below 20 wraps round, and is longer than any frame.
    let payload = rest.get(options..total.wrapping_sub(20)).ok_or(Rejected)?;
    let protocol = header[9];
    let fragment = word(header, 6);
    let ports = if fragment & 0x1fff == 0 { ports(protocol, payload, fragment & 0x2000 != 0)? } else { NO_PORTS };
    let source = [header[12], header[13], header[14], header[15]];
    let destination = [header[16], header[17], header[18], header[19]];
    Ok(tuple(source, destination, protocol, ports))
}

#[inline(always)]
fn ipv6(packet: &[u8]) -> Result<FiveTuple, Rejected> {
    let (header, rest) = packet.split_first_chunk::<8>().ok_or(Rejected)?;
    let (source, rest) = rest.split_first_chunk::<16>().ok_or(Rejected)?;
    let (destination, rest) = rest.split_first_chunk::<16>().ok_or(Rejected)?;
    if header[0] >> 4 != 6 {
        return Err(Rejected);
    }
    let payload = rest.get(..usize::from(word(header, 4))).ok_or(Rejected)?;
    let upper = by_hand::behind_extensions(header[6], payload)?;
    let ports =
        if upper.is_later_fragment { NO_PORTS } else { ports(upper.protocol, upper.payload, upper.more_fragments)? };
    Ok(tuple(*source, *destination, upper.protocol, ports))
}

#[inline(always)]
fn ports(protocol: u8, payload: &[u8], more_fragments: bool) -> Result<Ports, Rejected> {
    match protocol {
        TCP => {
            let header = payload.first_chunk::<20>().ok_or(Rejected)?;
            let length = usize::from(header[12] >> 4) * 4;
            if length < 20 || length > payload.len() {
                return Err(Rejected);
            }
            Ok([word(header, 0), word(header, 2)])
        }
        UDP => {
            let header = payload.first_chunk::<8>().ok_or(Rejected)?;
            let length = usize::from(word(header, 4));
            if length < 8 || (length > payload.len() && !more_fragments) {
                return Err(Rejected);
            }
            Ok([word(header, 0), word(header, 2)])
        }
        _ => Ok(NO_PORTS),
    }
}
