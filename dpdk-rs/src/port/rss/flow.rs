// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The RX queue of a flow: computes in software the hash that NICs compute (Toeplitz, from Microsoft's RSS
//! specification).

use super::{RssFields, RssHash};
use core::net::{Ipv4Addr, Ipv6Addr};
use dpdk_sys as sys;

/// The longest input of the hash, two IPv6 addresses and two ports, in 32-bit words.
const MOST_WORDS: usize = 9;

/// The input of the hash for a packet, in the direction in which it is received.
///
/// ```
/// use core::net::Ipv4Addr;
/// use dpdk_rs::port::RssFlow;
///
/// let flow = RssFlow::ipv4(Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(192, 0, 2, 2)).tcp(50_000, 443);
/// ```
#[doc(alias = "rte_thash_tuple")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RssFlow {
    addresses: Addresses,
    ports: Option<Ports>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Addresses {
    V4(Ipv4Addr, Ipv4Addr),
    V6(Ipv6Addr, Ipv6Addr),
}

/// The ports of a protocol, and the fields by which a device covers them: for IPv4 and for IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Ports {
    source: u16,
    destination: u16,
    fields: (u64, u64),
}

impl RssFlow {
    /// IPv4 packets: those without TCP, UDP and SCTP, and fragments.
    #[must_use]
    pub const fn ipv4(source: Ipv4Addr, destination: Ipv4Addr) -> Self {
        Self { addresses: Addresses::V4(source, destination), ports: None }
    }

    /// IPv6 packets: those without TCP, UDP and SCTP, and fragments.
    #[must_use]
    pub const fn ipv6(source: Ipv6Addr, destination: Ipv6Addr) -> Self {
        Self { addresses: Addresses::V6(source, destination), ports: None }
    }

    /// TCP segments with these ports.
    #[must_use]
    pub const fn tcp(self, source: u16, destination: u16) -> Self {
        self.with_ports(source, destination, (sys::DPDK_SYS_RSS_IPV4_TCP, sys::DPDK_SYS_RSS_IPV6_TCP))
    }

    /// UDP datagrams with these ports.
    #[must_use]
    pub const fn udp(self, source: u16, destination: u16) -> Self {
        self.with_ports(source, destination, (sys::DPDK_SYS_RSS_IPV4_UDP, sys::DPDK_SYS_RSS_IPV6_UDP))
    }

    /// SCTP packets with these ports.
    #[must_use]
    pub const fn sctp(self, source: u16, destination: u16) -> Self {
        self.with_ports(source, destination, (sys::DPDK_SYS_RSS_IPV4_SCTP, sys::DPDK_SYS_RSS_IPV6_SCTP))
    }

    const fn with_ports(mut self, source: u16, destination: u16, fields: (u64, u64)) -> Self {
        self.ports = Some(Ports { source, destination, fields });
        self
    }

    /// The words that a hash of these fields covers; `None` if the packet has none of the fields.
    fn words(&self, fields: RssFields) -> Option<Vec<u32>> {
        let has = |bits| fields.bits() & bits != 0;
        let (mut words, ip, l4) = match self.addresses {
            Addresses::V4(source, destination) => {
                let words = vec![source.to_bits(), destination.to_bits()];
                (words, sys::DPDK_SYS_RSS_IPV4, self.ports.map(|ports| ports.fields.0))
            }
            Addresses::V6(source, destination) => {
                let bytes = [source.octets(), destination.octets()];
                let words = bytes.as_flattened().as_chunks().0.iter().map(|word| u32::from_be_bytes(*word)).collect();
                (words, sys::DPDK_SYS_RSS_IPV6, self.ports.map(|ports| ports.fields.1))
            }
        };
        // If a NIC does not cover the ports of a packet, it hashes the addresses alone, in most cases.
        match self.ports {
            Some(ports) if l4.is_some_and(has) => {
                words.push(u32::from(ports.source) << 16 | u32::from(ports.destination));
                Some(words)
            }
            _ if has(ip) => Some(words),
            _ => None,
        }
    }
}

impl RssHash {
    /// The hash of these fields with this key. [`Port::rss_hash`](super::Port::rss_hash) returns that of a port.
    #[must_use]
    pub fn new(fields: RssFields, key: impl Into<Vec<u8>>) -> Self {
        Self { fields, key: key.into() }
    }

    /// The hash of a packet, as computed by NICs that follow Microsoft's specification: the value that
    /// [`Packet::rss_hash`](crate::Packet::rss_hash) returns for a received packet. `None` if no field of the packet is
    /// covered, if the key is too short (16 bytes for IPv4, 40 for IPv6 with ports), or if only parts of a field are
    /// covered (`RTE_ETH_RSS_L3_SRC_ONLY` and similar).
    #[doc(alias = "rte_softrss")]
    #[must_use]
    pub fn hash(&self, flow: &RssFlow) -> Option<u32> {
        if self.fields.bits() & sys::DPDK_SYS_RSS_PARTS != 0 {
            return None;
        }
        let mut words = flow.words(self.fields)?;
        let count = words.len().min(MOST_WORDS);
        // One word more than the input, since the hash shifts the key along the input.
        let (key, _) = self.key.as_chunks().0.split_at_checked(count + 1)?;
        let key: Vec<u32> = key.iter().map(|word| u32::from_ne_bytes(*word)).collect();
        // SAFETY: the call reads `count` words of the input and `count + 1` of the key, which both have, and keeps
        // neither.
        Some(unsafe { sys::dpdk_sys_softrss(words.as_mut_ptr(), count as u32, key.as_ptr().cast()) })
    }

    /// The RX queue to which a port with this hash and this table ([`Port::rss_table`](super::Port::rss_table)) passes
    /// a packet: the table's entry for the remainder of the packet's hash. `None` without a hash, as for
    /// [`Self::hash`], or with an empty table. Most NICs pass such packets to queue 0.
    ///
    /// ```no_run
    /// # use dpdk_rs::{Port, PortError, port::RssFlow};
    /// # use core::net::Ipv4Addr;
    /// # fn which(port: &Port) -> Result<(), PortError> {
    /// let (hash, table) = (port.rss_hash()?, port.rss_table()?);
    /// let flow = RssFlow::ipv4(Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(192, 0, 2, 2)).udp(5_000, 53);
    /// println!("queue {}", hash.queue(&flow, &table).unwrap_or(0));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn queue(&self, flow: &RssFlow, table: &[u16]) -> Option<u16> {
        let place = (self.hash(flow)? as usize).checked_rem(table.len())?;
        table.get(place).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::{Ipv4Addr, Ipv6Addr, RssFlow};
    use crate::port::{RssFields, RssHash};

    /// This and the following data are from Microsoft's "Verifying the RSS hash calculation".
    const KEY: [u8; 40] = [
        0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca,
        0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b,
        0xbe, 0xac, 0x01, 0xfa,
    ];

    /// Source and destination with their ports, the hash of the addresses, and the hash with ports.
    type Vector<A> = ((A, u16), (A, u16), u32, u32);

    const V4: [Vector<[u8; 4]>; 5] = [
        (([66, 9, 149, 187], 2794), ([161, 142, 100, 80], 1766), 0x323e_8fc2, 0x51cc_c178),
        (([199, 92, 111, 2], 14230), ([65, 69, 140, 83], 4739), 0xd718_262a, 0xc626_b0ea),
        (([24, 19, 198, 95], 12898), ([12, 22, 207, 184], 38024), 0xd2d0_a5de, 0x5c2b_394a),
        (([38, 27, 205, 30], 48228), ([209, 142, 163, 6], 2217), 0x8298_9176, 0xafc7_327f),
        (([153, 39, 163, 191], 44251), ([202, 188, 127, 2], 1303), 0x5d18_09c5, 0x10e8_28a2),
    ];

    const V6: [Vector<[u16; 8]>; 3] = [
        (
            ([0x3ffe, 0x2501, 0x200, 0x1fff, 0, 0, 0, 7], 2794),
            ([0x3ffe, 0x2501, 0x200, 3, 0, 0, 0, 1], 1766),
            0x2cc1_8cd5,
            0x4020_7d3d,
        ),
        (
            ([0x3ffe, 0x501, 8, 0, 0x260, 0x97ff, 0xfe40, 0xefab], 14230),
            ([0xff02, 0, 0, 0, 0, 0, 0, 1], 4739),
            0x0f0c_461c,
            0xdde5_1bbf,
        ),
        (
            ([0x3ffe, 0x1900, 0x4545, 3, 0x200, 0xf8ff, 0xfe21, 0x67cf], 44251),
            ([0xfe80, 0, 0, 0, 0x200, 0xf8ff, 0xfe21, 0x67cf], 38024),
            0x4b61_e985,
            0x02d1_feef,
        ),
    ];

    /// Each of the vectors as a flow, with its ports and both hashes.
    fn flows() -> impl Iterator<Item = (RssFlow, u16, u16, u32, u32)> {
        let v4 = V4.into_iter().map(|((from, source), (to, destination), ip, ports)| {
            (RssFlow::ipv4(Ipv4Addr::from(from), Ipv4Addr::from(to)), source, destination, ip, ports)
        });
        let v6 = V6.into_iter().map(|((from, source), (to, destination), ip, ports)| {
            (RssFlow::ipv6(Ipv6Addr::from(from), Ipv6Addr::from(to)), source, destination, ip, ports)
        });
        v4.chain(v6)
    }

    #[test]
    fn hashes_are_those_of_the_specification() {
        let all = RssHash::new(RssFields::IP | RssFields::TCP | RssFields::UDP | RssFields::SCTP, KEY);
        for (flow, source, destination, ip, ports) in flows() {
            assert_eq!(all.hash(&flow), Some(ip), "{flow:?}");
            for with_ports in
                [flow.tcp(source, destination), flow.udp(source, destination), flow.sctp(source, destination)]
            {
                assert_eq!(all.hash(&with_ports), Some(ports), "{with_ports:?}");
            }
        }
    }

    #[test]
    fn only_what_the_port_hashes_counts() {
        for (flow, source, destination, ip, ports) in flows() {
            let (tcp, udp) = (flow.tcp(source, destination), flow.udp(source, destination));
            let addresses = RssHash::new(RssFields::IP, KEY);
            assert_eq!((addresses.hash(&tcp), addresses.hash(&flow)), (Some(ip), Some(ip)));
            let of_tcp = RssHash::new(RssFields::TCP, KEY);
            assert_eq!((of_tcp.hash(&tcp), of_tcp.hash(&udp), of_tcp.hash(&flow)), (Some(ports), None, None));
            let partial = RssHash::new(RssFields::from_bits(RssFields::TCP.bits() | 1 << 63), KEY);
            assert_eq!(partial.hash(&tcp), None, "of the source address only");
        }
    }

    #[test]
    fn the_table_has_the_queue_of_the_remainder() {
        let hash = RssHash::new(RssFields::IP, KEY);
        let (flow, _, _, ip, _) = flows().next().unwrap_or_else(|| unreachable!());
        let table: Vec<u16> = (0..128).map(|place| place * 3).collect();
        assert_eq!(hash.queue(&flow, &table), Some((ip % 128) as u16 * 3));
        assert_eq!(hash.queue(&flow, &table[..100]), Some((ip % 100) as u16 * 3), "a length that is no power of two");
        assert_eq!(hash.queue(&flow, &[]), None);
        assert_eq!(RssHash::new(RssFields::UDP, KEY).queue(&flow, &table), None);
    }

    #[test]
    fn a_key_is_as_long_as_the_input_and_a_word() {
        let fields = RssFields::IP | RssFields::TCP;
        for (flow, source, destination, ip, ports) in flows() {
            let long = matches!(flow.addresses, super::Addresses::V6(..));
            for (flow, least, expected) in [
                (flow, if long { 36 } else { 12 }, ip),
                (flow.tcp(source, destination), if long { 40 } else { 16 }, ports),
            ] {
                assert_eq!(RssHash::new(fields, &KEY[..least]).hash(&flow), Some(expected));
                assert_eq!(RssHash::new(fields, &KEY[..least - 1]).hash(&flow), None);
            }
        }
    }
}
