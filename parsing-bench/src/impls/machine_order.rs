// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The Internet checksum for libraries whose fields are numbers of the machine, not bytes of the frame.

use crate::checksum::Change;
#[cfg(any(feature = "network-types", feature = "zerocopy"))]
use crate::checksum::Sum;

/// The destination address, as its change changes the checksums that cover it.
#[derive(Clone, Copy)]
pub(super) struct AddressChange(Change);

impl AddressChange {
    #[inline(always)]
    pub(super) fn of(old: [u8; 4], new: [u8; 4]) -> Self {
        Self(Change::of(old, new))
    }

    /// The IPv4 header's checksum after the change.
    #[inline(always)]
    pub(super) fn update(self, checksum: u16) -> u16 {
        u16::from_be_bytes(self.0.update(checksum.to_be_bytes()))
    }

    /// The UDP checksum after the change.
    #[inline(always)]
    pub(super) fn update_udp(self, checksum: u16) -> u16 {
        u16::from_be_bytes(self.0.update_udp(checksum.to_be_bytes()))
    }
}

/// A UDP checksum as it is sent: 0 would mean that there is none.
#[cfg(any(feature = "mutnet", feature = "packet", feature = "pnet"))]
#[inline(always)]
pub(super) fn never_zero(checksum: u16) -> u16 {
    if checksum == 0 { 0xffff } else { checksum }
}

/// The checksum of an IPv4 header in which that field is 0, given as its fixed part and its options.
#[cfg(any(feature = "network-types", feature = "zerocopy"))]
#[inline(always)]
pub(super) fn of_header(fixed: &[u8], options: &[u8]) -> u16 {
    u16::from_be_bytes(Sum::new().bytes(fixed).bytes(options).checksum())
}

/// The checksum of a UDP header in which that field is 0, and its data. Both together are as long as the header says.
#[cfg(any(feature = "network-types", feature = "zerocopy"))]
#[inline(always)]
pub(super) fn of_datagram([source, destination]: [[u8; 4]; 2], header: &[u8], data: &[u8]) -> u16 {
    const UDP: u8 = 17;
    let length = ((header.len() + data.len()) as u16).to_be_bytes();
    let pseudo_header = Sum::new().double_word(source).double_word(destination).word([0, UDP]).word(length);
    u16::from_be_bytes(pseudo_header.bytes(header).bytes(data).checksum_udp())
}
