// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Pieces that libraries lack, in safe Rust without a library.

use super::{Ports, SERVICE_TAG, TAG, TAGS};
use crate::contract::Rejected;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

/// The ethertype and the packet after the tags of a frame.
#[inline(always)]
pub(super) fn behind_tags(mut ethertype: u16, mut payload: &[u8]) -> Result<(u16, &[u8]), Rejected> {
    for _ in 0..TAGS {
        if ethertype != TAG && ethertype != SERVICE_TAG {
            break;
        }
        (ethertype, payload) = behind_tag(payload)?;
    }
    Ok((ethertype, payload))
}

/// The ethertype in a tag, and what follows.
#[inline(always)]
pub(super) fn behind_tag(payload: &[u8]) -> Result<(u16, &[u8]), Rejected> {
    let (tag, rest) = payload.split_first_chunk::<4>().ok_or(Rejected)?;
    Ok((word(tag, 2), rest))
}

/// The payload after the extension headers of IPv6.
pub(super) struct Upper<'a> {
    pub(super) protocol: u8,
    pub(super) payload: &'a [u8],
    /// In a later fragment, the payload is a piece of something.
    pub(super) is_later_fragment: bool,
    pub(super) more_fragments: bool,
}

/// Skips extension headers. `protocol` is the first of them, or else that of the payload.
#[inline(always)]
pub(super) fn behind_extensions(mut protocol: u8, mut payload: &[u8]) -> Result<Upper<'_>, Rejected> {
    let (mut is_later_fragment, mut more_fragments) = (false, false);
    while !is_later_fragment {
        match protocol {
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => {
                let [next, length, ..] = *payload else { return Err(Rejected) };
                payload = payload.get((usize::from(length) + 1) * 8..).ok_or(Rejected)?;
                protocol = next;
            }
            FRAGMENT => {
                let (header, rest) = payload.split_first_chunk::<8>().ok_or(Rejected)?;
                let [next, _, offset_high, offset_low, ..] = *header;
                is_later_fragment = u16::from_be_bytes([offset_high, offset_low]) & 0xfff8 != 0;
                more_fragments |= offset_low & 1 != 0;
                (protocol, payload) = (next, rest);
            }
            _ => break,
        }
    }
    Ok(Upper { protocol, payload, is_later_fragment, more_fragments })
}

/// The ports of a datagram, from its first fragment.
#[inline(always)]
pub(super) fn udp_of_first_fragment(payload: &[u8]) -> Result<Ports, Rejected> {
    let header = payload.first_chunk::<8>().ok_or(Rejected)?;
    if word(header, 4) < 8 { Err(Rejected) } else { Ok([word(header, 0), word(header, 2)]) }
}

/// Two bytes of an array, at a place that the compiler knows.
#[inline(always)]
pub(super) fn word<const N: usize>(bytes: &[u8; N], place: usize) -> u16 {
    u16::from_be_bytes([bytes[place], bytes[place + 1]])
}
