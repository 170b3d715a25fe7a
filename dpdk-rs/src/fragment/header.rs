// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The contents of IP headers in a frame.

/// The maximum value of the `l2_len` bits in an mbuf.
const LONGEST_LINK_HEADER: usize = 127;

/// The length of an IPv4 header without options.
const IPV4: usize = 20;

/// The length of an IPv6 header.
pub(super) const IPV6: usize = 40;

/// The length of the IPv6 fragment header.
pub(super) const IPV6_FRAGMENT: usize = 8;

/// The number of the IPv6 fragment header (RFC 8200).
pub(super) const FRAGMENT_HEADER: u8 = 44;

/// The maximum length of an IPv4 packet, and of the bytes after an IPv6 header.
const LONGEST: usize = 65_535;

/// Why a frame is not an IP packet that can be fragmented or reassembled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// The link header is longer than an mbuf can store.
    #[error("a link header of {len} bytes: give at most 127")]
    LinkHeader {
        /// The length that the caller passed.
        len: usize,
    },
    /// The headers extend past the first segment.
    #[error("the first segment has {len} bytes, but the headers need {needed}")]
    Short {
        /// The length of the headers in bytes.
        needed: usize,
        /// The length of the segment in bytes.
        len: usize,
    },
    /// The header has another IP version.
    #[error("the header has IP version {found}, not {expected}")]
    Version {
        /// The version in the header.
        found: u8,
        /// The version that the call expects.
        expected: u8,
    },
    /// An IPv4 header has an impossible length, or the packet is shorter than its header.
    #[error("the IPv4 header claims {header} bytes for itself and {packet} for its packet")]
    HeaderLength {
        /// The claimed length of the header in bytes.
        header: usize,
        /// The claimed length of the packet in bytes.
        packet: usize,
    },
    /// The frame has fewer bytes after its link header than the packet, or more where that is not allowed.
    #[error("the header claims {said} bytes for the packet, but the frame has {found}")]
    Length {
        /// The claimed length in bytes.
        said: usize,
        /// The length in the frame in bytes.
        found: usize,
    },
    /// An option extends past the IPv4 header.
    #[error("an option of the IPv4 header extends past the end of the header")]
    Options,
    /// The payload length of a fragment other than the last is not a multiple of 8, or a fragment has no payload.
    #[error("a fragment of {0} bytes: the length must be a multiple of 8 except in the last, and never 0")]
    Uneven(usize),
    /// The fragment ends past the maximum length of a datagram (the ping of death).
    #[error("the fragment ends at byte {0} of its datagram, whose maximum is 65,535")]
    Beyond(usize),
}

/// The fields of an IP header. Lengths are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ip {
    /// The length of the header, including options; for IPv6 fragments, including the fragment header.
    pub(crate) header_len: usize,
    /// The length of the packet, including its header.
    pub(crate) len: usize,
    /// The offset of the payload in the datagram.
    pub(super) offset: usize,
    /// Whether more fragments follow.
    pub(super) more: bool,
}

impl Ip {
    /// The length of the payload.
    pub(crate) const fn payload(self) -> usize {
        self.len.saturating_sub(self.header_len)
    }

    /// Whether the packet is a fragment of a datagram.
    pub(crate) const fn is_fragment(self) -> bool {
        self.more || self.offset != 0
    }

    /// Checks that the fragment can be a part of a valid datagram.
    pub(super) fn check_place(self, unfragmentable: usize) -> Result<(), HeaderError> {
        let payload = self.payload();
        if payload == 0 || self.more && !payload.is_multiple_of(8) {
            return Err(HeaderError::Uneven(payload));
        }
        let end = unfragmentable + self.offset + payload;
        if end > LONGEST { Err(HeaderError::Beyond(end)) } else { Ok(()) }
    }
}

/// The first segment after the link header, if it has `needed` bytes there.
fn behind_link(segment: &[u8], l2_len: usize, needed: usize) -> Result<&[u8], HeaderError> {
    if l2_len > LONGEST_LINK_HEADER {
        return Err(HeaderError::LinkHeader { len: l2_len });
    }
    let needed = l2_len + needed;
    if segment.len() < needed {
        return Err(HeaderError::Short { needed, len: segment.len() });
    }
    Ok(segment.get(l2_len..).unwrap_or_default())
}

/// A number of 16 bits; 0 past the end, which callers rule out.
pub(crate) fn number(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| usize::from(u16::from_be_bytes(*bytes)))
}

fn check_version(ip: &[u8], expected: u8) -> Result<(), HeaderError> {
    match ip.first().map_or(0, |byte| byte >> 4) {
        found if found == expected => Ok(()),
        found => Err(HeaderError::Version { found, expected }),
    }
}

/// Parses the IPv4 header in the first segment of a frame.
pub(crate) fn ipv4(segment: &[u8], l2_len: usize) -> Result<Ip, HeaderError> {
    let ip = behind_link(segment, l2_len, IPV4)?;
    check_version(ip, 4)?;
    let header_len = usize::from(ip.first().map_or(0, |byte| byte & 15)) * 4;
    let len = number(ip, 2);
    if header_len < IPV4 || len < header_len {
        return Err(HeaderError::HeaderLength { header: header_len, packet: len });
    }
    behind_link(segment, l2_len, header_len)?;
    let place = number(ip, 6);
    Ok(Ip { header_len, len, offset: (place & 0x1fff) * 8, more: place & 0x2000 != 0 })
}

/// Whether an IPv4 packet has DF (don't fragment) set.
pub(super) fn ipv4_is_whole(ip: &[u8]) -> bool {
    number(ip, 6) & 0x4000 != 0
}

/// Checks that each option of an IPv4 header ends within it: DPDK copies some options to every fragment, and reads one
/// byte ahead.
pub(super) fn ipv4_options(header: &[u8]) -> Result<(), HeaderError> {
    const END: u8 = 0;
    const NOTHING: u8 = 1;
    let mut rest = header.get(IPV4..).unwrap_or_default();
    loop {
        rest = match rest {
            [] | [END, ..] => return Ok(()),
            [NOTHING, behind @ ..] => behind,
            [_, len, ..] if *len >= 2 => rest.get(usize::from(*len)..).ok_or(HeaderError::Options)?,
            _ => return Err(HeaderError::Options),
        };
    }
}

/// Parses the IPv6 header in the first segment of a frame. The number is that of the next header or protocol.
pub(super) fn ipv6(segment: &[u8], l2_len: usize) -> Result<(Ip, u8), HeaderError> {
    let ip = behind_link(segment, l2_len, IPV6)?;
    check_version(ip, 6)?;
    let len = IPV6 + number(ip, 4);
    Ok((Ip { header_len: IPV6, len, offset: 0, more: false }, ip.get(6).copied().unwrap_or_default()))
}

/// Parses the IPv6 header and the fragment header after it.
pub(super) fn ipv6_fragment(segment: &[u8], l2_len: usize) -> Result<Ip, HeaderError> {
    let header_len = IPV6 + IPV6_FRAGMENT;
    let ip = behind_link(segment, l2_len, header_len)?;
    let len = IPV6 + number(ip, 4);
    let place = number(ip, IPV6 + 2);
    Ok(Ip { header_len, len, offset: place & 0xfff8, more: place & 1 != 0 })
}

/// The checksum of an IPv4 header whose checksum field is 0 (RFC 1071).
pub(crate) fn checksum(header: &[u8]) -> u16 {
    let mut sum: u32 = header.chunks(2).map(|pair| number(pair, 0) as u32).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Writes the checksum of the IPv4 header at the start of these bytes.
pub(crate) fn write_checksum(header: &mut [u8]) {
    if let Some(place) = header.get_mut(10..12) {
        place.fill(0);
    }
    let sum = checksum(header);
    if let Some(place) = header.get_mut(10..12) {
        place.copy_from_slice(&sum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::{HeaderError, Ip, checksum, ipv4, ipv4_options, ipv6_fragment, write_checksum};

    /// A textbook example: its checksum is b861.
    const HEADER: [u8; 20] = [0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7];

    #[test]
    fn checksums_are_those_of_rfc_1071() {
        assert_eq!(checksum(&HEADER), 0xb861);
        let mut header = HEADER;
        write_checksum(&mut header);
        assert_eq!((header[10], header[11], checksum(&header)), (0xb8, 0x61, 0));
    }

    #[test]
    fn headers_are_compared_with_the_segment() {
        assert_eq!(ipv4(&HEADER, 0), Ok(Ip { header_len: 20, len: 0x73, offset: 0, more: false }));
        assert_eq!(ipv4(&HEADER, 1), Err(HeaderError::Short { needed: 21, len: 20 }));
        assert_eq!(ipv4(&HEADER, 128), Err(HeaderError::LinkHeader { len: 128 }));
        let changed = |at: usize, byte: u8| {
            let mut header = HEADER;
            header[at] = byte;
            ipv4(&header, 0)
        };
        assert_eq!(changed(0, 0x65), Err(HeaderError::Version { found: 6, expected: 4 }));
        assert_eq!(changed(0, 0x44), Err(HeaderError::HeaderLength { header: 16, packet: 0x73 }));
        assert_eq!(changed(0, 0x46), Err(HeaderError::Short { needed: 24, len: 20 }));
        assert_eq!(changed(3, 19), Err(HeaderError::HeaderLength { header: 20, packet: 19 }));
        assert_eq!(changed(6, 0x3f), Ok(Ip { header_len: 20, len: 0x73, offset: 0x1f00 * 8, more: true }));
        let short = ipv6_fragment(&[0x60; 47], 0);
        assert_eq!(short, Err(HeaderError::Short { needed: 48, len: 47 }));
    }

    /// Every first byte, and every length of the packet and the segment up to the longest header and a little more.
    #[test]
    fn every_header_lies_in_its_segment() {
        let bytes = [0_u8; 80];
        let mut good = 0;
        for (first, l2_len) in (0..=255_u8).flat_map(|first| [0, 1, 14].map(|l2_len| (first, l2_len))) {
            for (len, held) in (0..=66_u8).flat_map(|len| (0..=80).map(move |held| (len, held))) {
                let mut segment = bytes;
                (segment[l2_len], segment[l2_len + 3]) = (first, len);
                let header = usize::from(first & 15) * 4;
                let fits = header >= 20 && usize::from(len) >= header && l2_len + header <= held;
                match ipv4(&segment[..held], l2_len) {
                    Ok(ip) => {
                        assert!(fits && first >> 4 == 4, "{first:#x} {len} {held}");
                        assert_eq!(
                            (ip.header_len, ip.len, ip.payload()),
                            (header, len.into(), usize::from(len) - header)
                        );
                        good += 1;
                    }
                    Err(_) => assert!(!fits || first >> 4 != 4, "{first:#x} {len} {held}"),
                }
            }
        }
        assert!(good > 1000, "{good} good headers");
    }

    /// Every field with the place of a fragment, and payloads at the borders.
    #[test]
    fn every_place_of_a_fragment_is_within_the_longest_datagram() {
        for place in 0..=u16::MAX {
            let mut header = HEADER;
            header[6..8].copy_from_slice(&place.to_be_bytes());
            for payload in [0, 1, 7, 8, 9, 64, 65_515_usize] {
                header[2..4].copy_from_slice(&(20 + payload as u16).to_be_bytes());
                let (offset, more) = (usize::from(place & 0x1fff) * 8, place & 0x2000 != 0);
                let ip = Ip { header_len: 20, len: 20 + payload, offset, more };
                assert_eq!(ipv4(&header, 0), Ok(ip));
                let ends = offset + payload;
                let expected = (!more || payload % 8 == 0) && payload > 0 && ends + 20 <= 65_535;
                if ip.is_fragment() {
                    assert_eq!(ip.check_place(20).is_ok(), expected, "{place:#x} {payload}");
                }
            }
        }
    }

    /// Every sequence of five bytes that options are made of.
    #[test]
    fn every_short_option_list_ends_within_the_header() {
        const BYTES: [u8; 9] = [0, 1, 2, 3, 4, 5, 7, 131, 255];
        /// Follows the options by their numbers.
        fn ends(options: &[u8], at: usize) -> bool {
            match (options.get(at), options.get(at + 1)) {
                (None | Some(0), _) => true,
                (Some(1), _) => ends(options, at + 1),
                (_, None | Some(0 | 1)) => false,
                (_, Some(len)) => at + usize::from(*len) <= options.len() && ends(options, at + usize::from(*len)),
            }
        }
        for number in 0..BYTES.len().pow(5) {
            let options: Vec<u8> = (0..5).map(|place| BYTES[number / BYTES.len().pow(place) % BYTES.len()]).collect();
            for len in 0..=options.len() {
                let whole = [&HEADER, &options[..len]].concat();
                assert_eq!(ipv4_options(&whole).is_ok(), ends(&options[..len], 0), "{:?}", &options[..len]);
            }
        }
    }

    #[test]
    fn options_end_within_the_header() {
        let options = |options: &[u8]| ipv4_options(&[&HEADER, options].concat());
        for good in [&[][..], &[1, 1, 1, 1], &[0, 9, 9, 9], &[7, 4, 0, 0], &[1, 7, 3, 9], &[7, 3, 0, 0], &[7, 2, 1, 0]]
        {
            assert_eq!(options(good), Ok(()), "{good:?}");
        }
        for bad in [&[7][..], &[1, 1, 1, 7], &[7, 5, 0, 0], &[7, 1, 0, 0], &[7, 0, 0, 0], &[1, 7, 255, 0]] {
            assert_eq!(options(bad), Err(HeaderError::Options), "{bad:?}");
        }
    }

    #[test]
    fn places_are_within_the_longest_datagram() {
        let fragment = |offset, len, more| Ip { header_len: 20, len, offset, more };
        assert_eq!(fragment(65_512, 23, false).check_place(20), Ok(()));
        assert_eq!(fragment(65_512, 24, false).check_place(20), Err(HeaderError::Beyond(65_536)));
        assert_eq!(fragment(8, 20, false).check_place(20), Err(HeaderError::Uneven(0)));
        assert_eq!(fragment(8, 29, true).check_place(20), Err(HeaderError::Uneven(9)));
        assert_eq!(fragment(8, 29, false).check_place(20), Ok(()));
    }
}
