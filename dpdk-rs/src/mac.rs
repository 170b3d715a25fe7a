// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Ethernet addresses.

use core::{
    fmt,
    hash::{BuildHasher, Hasher},
    str::FromStr,
};
use std::hash::RandomState;

/// A 48-bit Ethernet address, in the order of transmission.
///
/// The type is plain bytes, so it can be the key of a [hash table](crate::lookup::HashTable) or a part of one, and a
/// part of packets' [private data](crate::PrivateData).
#[doc(alias = "rte_ether_addr")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct MacAddr(pub [u8; 6]);

// SAFETY: six zero bytes are an address.
unsafe impl bytemuck::Zeroable for MacAddr {}

// SAFETY: an address consists of its six bytes, as `transparent` and the type of its only field ensure: any bytes are
// an address, there is no padding, it is `Copy`, and it borrows nothing.
unsafe impl bytemuck::Pod for MacAddr {}

/// The text does not consist of six hexadecimal bytes separated by colons.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid MAC address '{0}': give six hexadecimal bytes, for example 02:00:00:00:00:01")]
pub struct ParseMacError(String);

impl MacAddr {
    /// A random, locally administered unicast address, for example for a virtual device. Each call returns another one,
    /// from the system's random numbers. Any thread may call this, even before the EAL is initialised.
    #[doc(alias = "rte_eth_random_addr")]
    #[must_use]
    pub fn random() -> Self {
        const GROUP: u8 = 1;
        const LOCAL: u8 = 2;
        // Keyed by the system with a random number. DPDK's own generator is for lcores only.
        let random = RandomState::new().build_hasher().finish();
        let [first, b, c, d, e, g, ..] = random.to_ne_bytes();
        Self([first & !GROUP | LOCAL, b, c, d, e, g])
    }

    /// The six bytes.
    #[must_use]
    pub const fn octets(self) -> [u8; 6] {
        self.0
    }
}

impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl FromStr for MacAddr {
    type Err = ParseMacError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut octets = [0; 6];
        let mut parts = text.split(':');
        for octet in &mut octets {
            *octet = parts
                .next()
                .filter(|part| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
                .and_then(|part| u8::from_str_radix(part, 16).ok())
                .ok_or_else(|| ParseMacError(text.to_owned()))?;
        }
        if parts.next().is_some() { Err(ParseMacError(text.to_owned())) } else { Ok(Self(octets)) }
    }
}

#[cfg(test)]
mod tests {
    use super::{MacAddr, ParseMacError};
    use std::collections::HashSet;

    #[test]
    fn random_addresses_are_of_one_host_and_differ() {
        let drawn: Vec<_> = (0..1000).map(|_| MacAddr::random()).collect();
        assert!(drawn.iter().all(|addr| addr.octets()[0] & 3 == 2), "of one host, and local");
        // Two equal addresses among these would be a chance of 1 in 140 million.
        assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), drawn.len());
        // Each of the other bits is set in one address and clear in another.
        let bits = |fold: fn(u8, u8) -> u8| {
            drawn.iter().map(|addr| addr.octets()).reduce(|a, b| core::array::from_fn(|place| fold(a[place], b[place])))
        };
        assert_eq!(
            (bits(|a, b| a | b), bits(|a, b| a & b)),
            (Some([0xfe, 255, 255, 255, 255, 255]), Some([2, 0, 0, 0, 0, 0]))
        );
    }

    #[test]
    fn text_round_trip() {
        let mac = MacAddr([2, 0, 0xab, 0xcd, 0xef, 1]);
        assert_eq!(mac.to_string(), "02:00:ab:cd:ef:01");
        assert_eq!(mac.to_string().parse(), Ok(mac));
    }

    #[test]
    fn bad_texts_are_named() {
        for text in ["", "1:2:3:4:5", "1:2:3:4:5:6:7", "1:2:3:4:5:g", "+1:2:3:4:5:6", "001:2:3:4:5:6"] {
            assert_eq!(text.parse::<MacAddr>(), Err(ParseMacError(text.to_owned())));
        }
    }
}
