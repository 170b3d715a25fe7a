// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Addresses of PCI devices.

use core::{fmt, str::FromStr};

/// The address of a PCI device, such as `0000:01:00.0`. `lspci -D` lists those of a machine.
///
/// ```
/// use dpdk_rs::device::PciAddress;
///
/// let address: PciAddress = "01:00.1".parse()?;
/// assert_eq!(address.to_string(), "0000:01:00.1");
/// # Ok::<(), dpdk_rs::device::ParsePciError>(())
/// ```
#[doc(alias = "rte_pci_addr")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PciAddress {
    domain: u32,
    bus: u8,
    device: u8,
    function: u8,
}

/// The text is not a PCI address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid PCI address {0:?}: give domain, bus, device and function in hexadecimal, for example 0000:01:00.0")]
pub struct ParsePciError(String);

impl FromStr for PciAddress {
    type Err = ParsePciError;

    /// Parses an address, whose domain may be missing.
    #[doc(alias = "rte_pci_addr_parse")]
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| ParsePciError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<PciAddress> {
    let (place, function) = text.split_once('.')?;
    let (domain, place) = if place.matches(':').count() == 2 { place.split_once(':')? } else { ("0", place) };
    let (bus, device) = place.split_once(':')?;
    // The standard library would accept a sign.
    let number = |digits: &str, most: u32| {
        let digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(digits)?;
        u32::from_str_radix(digits, 16).ok().filter(|number| *number <= most)
    };
    let byte = |digits, most| u8::try_from(number(digits, most)?).ok();
    Some(PciAddress {
        domain: number(domain, u32::MAX)?,
        bus: byte(bus, 0xff)?,
        device: byte(device, 0x1f)?,
        function: byte(function, 7)?,
    })
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { domain, bus, device, function } = self;
        write!(f, "{domain:04x}:{bus:02x}:{device:02x}.{function:x}")
    }
}

#[cfg(test)]
mod tests {
    use super::{ParsePciError, PciAddress};

    #[test]
    fn texts_are_read_and_written() {
        for (text, written) in [
            ("0000:01:00.0", "0000:01:00.0"),
            ("3:1f.7", "0000:03:1f.7"),
            ("10000:E1:0a.1", "10000:e1:0a.1"),
            ("ffffffff:ff:1f.7", "ffffffff:ff:1f.7"),
        ] {
            let address = text.parse::<PciAddress>();
            assert_eq!(address.as_ref().map(ToString::to_string), Ok(written.to_owned()), "{text}");
            assert_eq!(written.parse(), address, "{text}");
        }
    }

    #[test]
    fn other_texts_are_named() {
        for text in [
            "",
            "01:00",
            "01.0",
            "1:2:3:4.0",
            "01:20.0",
            "01:00.8",
            "100:00.0",
            "+1:00.0",
            "-1:00.0",
            " 1:00.0",
            "01:00.0 ",
            "01:00.0,queues=2",
            "01:00.0\0",
            "01:00.",
            "100000000:01:00.0",
        ] {
            assert_eq!(text.parse::<PciAddress>(), Err(ParsePciError(text.to_owned())));
        }
    }
}
