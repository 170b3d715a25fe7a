// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Writes at fixed offsets, beside libraries that only read.

use crate::contract::{Rejected, Rule};

const ETHERNET_LEN: usize = 14;
/// Both headers without options.
const HEADERS_LEN: usize = 34;
const IP_CHECKSUM: usize = ETHERNET_LEN + 10;
const IP_DESTINATION: usize = ETHERNET_LEN + 16;
const UDP_CHECKSUM: usize = 6;

/// The new checksums of a frame.
pub(super) struct Checksums {
    pub(super) ip: u16,
    pub(super) udp: Option<UdpChecksum>,
}

/// A UDP header's new checksum.
pub(super) struct UdpChecksum {
    /// The length of the IPv4 header before it.
    pub(super) behind: usize,
    pub(super) value: u16,
}

/// Writes the addresses, and nothing if they do not lie in the frame.
#[inline(always)]
pub(super) fn write_addresses(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
    let headers = frame.first_chunk_mut::<HEADERS_LEN>().ok_or(Rejected)?;
    headers[..6].copy_from_slice(&rule.destination);
    headers[6..12].copy_from_slice(&rule.source);
    headers[IP_DESTINATION..].copy_from_slice(&rule.address);
    Ok(())
}

/// Writes the checksums, and nothing if they do not lie in the frame.
#[inline(always)]
pub(super) fn write_checksums(frame: &mut [u8], checksums: &Checksums) -> Result<(), Rejected> {
    let (headers, rest) = frame.split_first_chunk_mut::<HEADERS_LEN>().ok_or(Rejected)?;
    if let Some(udp) = &checksums.udp {
        let field = (ETHERNET_LEN + udp.behind + UDP_CHECKSUM).checked_sub(HEADERS_LEN).ok_or(Rejected)?;
        *rest.get_mut(field..).and_then(<[u8]>::first_chunk_mut).ok_or(Rejected)? = udp.value.to_be_bytes();
    }
    headers[IP_CHECKSUM..IP_CHECKSUM + 2].copy_from_slice(&checksums.ip.to_be_bytes());
    Ok(())
}

/// Writes both, and nothing if one does not lie in the frame.
#[inline(always)]
pub(super) fn write(frame: &mut [u8], rule: &Rule, checksums: &Checksums) -> Result<(), Rejected> {
    write_checksums(frame, checksums)?;
    write_addresses(frame, rule)
}
