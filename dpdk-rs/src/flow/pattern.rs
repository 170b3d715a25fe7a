// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The headers that a rule compares, from the outermost inwards.

use crate::MacAddr;
use core::net::{Ipv4Addr, Ipv6Addr};
use dpdk_sys as sys;

/// The bytes of a header, as in a frame, and DPDK's additional fields after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(8))]
pub(super) struct Bytes(pub(super) [u8; sys::DPDK_SYS_FLOW_ITEM_SIZE as usize]);

/// A header in a pattern, converted from [`Eth`], [`Vlan`], [`Ipv4`], [`Ipv6`], [`Tcp`] or [`Udp`].
#[doc(alias = "rte_flow_item")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub(super) kind: sys::rte_flow_item_type,
    pub(super) spec: Bytes,
    /// The bits of `spec` to compare.
    pub(super) mask: Bytes,
    /// An impossible value: its name, the value, and the allowed range.
    pub(super) wrong: Option<(&'static str, u32, &'static str)>,
}

impl Item {
    const fn any(kind: sys::rte_flow_item_type) -> Self {
        const NOTHING: Bytes = Bytes([0; sys::DPDK_SYS_FLOW_ITEM_SIZE as usize]);
        Self { kind, spec: NOTHING, mask: NOTHING, wrong: None }
    }

    /// Whether it matches any header of its kind.
    pub(super) fn is_any(&self) -> bool {
        self.mask.0.iter().all(|byte| *byte == 0)
    }

    /// Adds a comparison of the bytes from `offset` on with `value`, under `mask`.
    fn compare(mut self, offset: usize, value: &[u8], mask: &[u8]) -> Self {
        for (to, from) in [(&mut self.spec, value), (&mut self.mask, mask)] {
            to.0.iter_mut().skip(offset).zip(from).for_each(|(to, from)| *to = *from);
        }
        self
    }

    /// Adds a comparison of a whole field.
    fn equal<const N: usize>(self, offset: usize, value: [u8; N]) -> Self {
        self.compare(offset, &value, &[0xff; N])
    }

    /// Adds a comparison of the first `prefix` bits of an address.
    fn net<const N: usize>(mut self, offset: usize, address: [u8; N], prefix: u8, allowed: &'static str) -> Self {
        if usize::from(prefix) > N * 8 {
            self.wrong = Some(("prefix length", u32::from(prefix), allowed));
        }
        let mut mask = [0; N];
        for bit in 0..usize::from(prefix).min(N * 8) {
            if let Some(byte) = mask.get_mut(bit / 8) {
                *byte |= 0x80 >> (bit % 8);
            }
        }
        let mut network = address;
        network.iter_mut().zip(mask).for_each(|(byte, mask)| *byte &= mask);
        self.compare(offset, &network, &mask)
    }
}

/// Declares a header.
macro_rules! header {
    ($(#[$doc:meta])* $name:ident = $kind:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[must_use]
        pub struct $name(Item);

        impl $name {
            /// Matches any such header.
            pub const fn any() -> Self {
                Self(Item::any(sys::$kind))
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::any()
            }
        }

        impl From<$name> for Item {
            fn from(header: $name) -> Self {
                header.0
            }
        }
    };
}

header! {
    /// An Ethernet header.
    #[doc(alias = "rte_flow_item_eth")]
    Eth = RTE_FLOW_ITEM_TYPE_ETH
}
header! {
    /// A VLAN tag (IEEE 802.1Q), after an Ethernet header or another tag.
    #[doc(alias = "rte_flow_item_vlan")]
    Vlan = RTE_FLOW_ITEM_TYPE_VLAN
}
header! {
    /// An IPv4 header (RFC 791).
    #[doc(alias = "rte_flow_item_ipv4")]
    Ipv4 = RTE_FLOW_ITEM_TYPE_IPV4
}
header! {
    /// An IPv6 header (RFC 8200).
    #[doc(alias = "rte_flow_item_ipv6")]
    Ipv6 = RTE_FLOW_ITEM_TYPE_IPV6
}
header! {
    /// A TCP header (RFC 9293).
    #[doc(alias = "rte_flow_item_tcp")]
    Tcp = RTE_FLOW_ITEM_TYPE_TCP
}
header! {
    /// A UDP header (RFC 768).
    #[doc(alias = "rte_flow_item_udp")]
    Udp = RTE_FLOW_ITEM_TYPE_UDP
}

impl Eth {
    /// Matches this destination address.
    pub fn dst(self, addr: MacAddr) -> Self {
        Self(self.0.equal(0, addr.octets()))
    }

    /// Matches this source address.
    pub fn src(self, addr: MacAddr) -> Self {
        Self(self.0.equal(6, addr.octets()))
    }

    /// Matches this EtherType.
    pub fn ether_type(self, ether_type: u16) -> Self {
        Self(self.0.equal(12, ether_type.to_be_bytes()))
    }
}

impl Vlan {
    /// Matches this VLAN number, from 0 to 4,095.
    pub fn id(mut self, id: u16) -> Self {
        if id > 0xfff {
            self.0.wrong = Some(("VLAN number", u32::from(id), "0 to 4095"));
        }
        Self(self.0.compare(0, &id.to_be_bytes(), &[0x0f, 0xff]))
    }

    /// Matches this EtherType after the tag.
    pub fn ether_type(self, ether_type: u16) -> Self {
        Self(self.0.equal(2, ether_type.to_be_bytes()))
    }
}

/// Declares the addresses of an IP header: their offsets and their number of bits.
macro_rules! addresses {
    ($name:ident, $address:ty, $src:literal, $dst:literal, $bits:literal) => {
        impl $name {
            /// Matches this destination address.
            pub fn dst(self, address: $address) -> Self {
                self.dst_net(address, $bits)
            }

            #[doc = concat!("To an address of which the first `prefix` bits, at most ", $bits, ", are these.")]
            pub fn dst_net(self, network: $address, prefix: u8) -> Self {
                Self(self.0.net($dst, network.octets(), prefix, concat!("0 to ", $bits)))
            }

            /// Matches this source address.
            pub fn src(self, address: $address) -> Self {
                self.src_net(address, $bits)
            }

            #[doc = concat!("From an address of which the first `prefix` bits, at most ", $bits, ", are these.")]
            pub fn src_net(self, network: $address, prefix: u8) -> Self {
                Self(self.0.net($src, network.octets(), prefix, concat!("0 to ", $bits)))
            }
        }
    };
}

addresses!(Ipv4, Ipv4Addr, 12, 16, 32);
addresses!(Ipv6, Ipv6Addr, 8, 24, 128);

impl Ipv4 {
    /// Matches this protocol number.
    pub fn protocol(self, protocol: u8) -> Self {
        Self(self.0.equal(9, [protocol]))
    }
}

impl Ipv6 {
    /// Matches this protocol number, or extension header, directly after the IPv6 header.
    pub fn next_header(self, protocol: u8) -> Self {
        Self(self.0.equal(6, [protocol]))
    }
}

/// Declares the ports of a transport header, which are its first fields.
macro_rules! ports {
    ($name:ident) => {
        impl $name {
            /// Matches this source port.
            pub fn src_port(self, port: u16) -> Self {
                Self(self.0.equal(0, port.to_be_bytes()))
            }

            /// Matches this destination port.
            pub fn dst_port(self, port: u16) -> Self {
                Self(self.0.equal(2, port.to_be_bytes()))
            }
        }
    };
}

ports!(Tcp);
ports!(Udp);

#[cfg(test)]
mod tests {
    use super::{Eth, Ipv4, Ipv6, Item, Udp, Vlan};
    use crate::MacAddr;

    /// The compared bytes, with their offsets.
    fn compared(item: impl Into<Item>) -> Vec<(usize, u8, u8)> {
        let item = item.into();
        let bytes = item.spec.0.into_iter().zip(item.mask.0).enumerate();
        bytes
            .filter(|(_, (spec, mask))| (*spec, *mask) != (0, 0))
            .map(|(place, (spec, mask))| (place, spec, mask))
            .collect()
    }

    #[test]
    fn fields_lie_where_they_are_in_a_frame() {
        assert_eq!(compared(Eth::any()), []);
        let eth = compared(Eth::any().dst(MacAddr([2, 0, 0, 0, 0, 9])).ether_type(0x86dd));
        assert_eq!(eth[..2], [(0, 2, 0xff), (1, 0, 0xff)]);
        assert_eq!(eth[5..], [(5, 9, 0xff), (12, 0x86, 0xff), (13, 0xdd, 0xff)]);
        assert_eq!(compared(Vlan::any().id(0x123)), [(0, 1, 0x0f), (1, 0x23, 0xff)]);
        assert_eq!(compared(Udp::any().dst_port(0x1234)), [(2, 0x12, 0xff), (3, 0x34, 0xff)]);
        assert_eq!(compared(Ipv4::any().protocol(17)), [(9, 17, 0xff)]);
    }

    #[test]
    fn a_prefix_counts_from_the_front_and_bits_behind_it_do_not() {
        let net = Ipv4::any().src_net([10, 1, 255, 7].into(), 20);
        assert_eq!(compared(net), [(12, 10, 0xff), (13, 1, 0xff), (14, 0xf0, 0xf0)]);
        assert_eq!(
            compared(Ipv6::any().dst_net([0x2001, 0, 0, 0, 0, 0, 0, 1].into(), 16)),
            [(24, 0x20, 0xff), (25, 1, 0xff)]
        );
        assert_eq!(compared(Ipv4::any().dst_net([10, 0, 0, 1].into(), 0)), []);
    }

    #[test]
    fn values_that_no_header_has_are_kept_for_the_error() {
        assert_eq!(Item::from(Vlan::any().id(4096)).wrong, Some(("VLAN number", 4096, "0 to 4095")));
        assert_eq!(Item::from(Ipv4::any().dst_net([0; 4].into(), 33)).wrong.map(|wrong| wrong.1), Some(33));
        assert_eq!(Item::from(Ipv6::any().dst_net([0; 16].into(), 128)).wrong, None);
    }
}
