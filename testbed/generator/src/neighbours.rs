// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Answers to a device that asks who has an address of the frames, as routers do before they forward: ARP (RFC 826) and
//! neighbour discovery (RFC 4861).

use crate::{
    addresses::Ranges,
    frame::{Format, TUNNEL_ENDS, checksum, sum_of},
    queues::Queues,
    transmit::Written,
};
use dpdk_rs::{Burst, MacAddr, Mempool, Packet, TxQueue};
use std::mem;

/// More questions in one burst wait for the next time that the device asks.
const ANSWERS_MAX: usize = 32;
/// A question with two tags and a few options.
const QUESTION_MAX: usize = 256;
/// The shortest Ethernet frame, without FCS.
const LEN_MIN: usize = 60;

const TAGS: [[u8; 2]; 2] = [[0x81, 0], [0x88, 0xa8]];
const ARP: [u8; 2] = [8, 6];
const IPV6: [u8; 2] = [0x86, 0xdd];
/// Ethernet and IPv4, a request; in the reply the last byte is 2.
const ARP_REQUEST: [u8; 8] = [0, 1, 8, 0, 6, 4, 0, 1];
const ARP_REPLY: [u8; 8] = [0, 1, 8, 0, 6, 4, 0, 2];
const ICMPV6: u8 = 58;
/// Who forwarded a message would have lowered this (RFC 4861, section 7.1).
const HOP_LIMIT: u8 = 255;
const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
/// Solicited, and in place of what was known before.
const FLAGS: u8 = 0x60;

type Ipv4 = [u8; 4];
type Ipv6 = [u8; 16];

/// The addresses that frames come from and go to.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    ranges: Ranges,
    format: Format,
}

impl Hosts {
    pub(crate) const fn new(ranges: Ranges, format: Format) -> Self {
        Self { ranges, format }
    }

    fn have_ipv4(&self, address: Ipv4) -> bool {
        if self.format.vxlan.is_some() {
            // A device sees the ends of the tunnel.
            return TUNNEL_ENDS.contains(&address);
        }
        let number = u32::from_be_bytes(address);
        let ranges = [self.ranges.src_ip, self.ranges.dst_ip];
        self.format.ipv6.is_none() && ranges.iter().any(|range| (range.first..=range.last).contains(&number))
    }

    fn have_ipv6(&self, address: Ipv6) -> bool {
        let Some(ipv6) = self.format.ipv6.filter(|_| self.format.vxlan.is_none()) else { return false };
        let (begin, [third, low]) = (u128::from_be_bytes(address) >> 64, halves(address));
        let Ranges { src_ip, dst_ip, .. } = self.ranges;
        let is_destination = begin == u128::from(u64::from_be_bytes(ipv6.dst))
            && third == src_ip.first
            && (dst_ip.first..=dst_ip.last).contains(&low);
        is_destination || address == ipv6.src
    }

    /// What a port with the address `mac` answers to a frame; `None` if it asks for no address of these.
    pub(crate) fn answer(&self, frame: &[u8], mac: MacAddr) -> Option<Vec<u8>> {
        let (_, rest) = frame.split_first_chunk::<6>()?;
        let (asker, mut rest) = rest.split_first_chunk::<6>()?;
        let mut tags = Vec::new();
        while let Some((tag, more)) = rest.split_first_chunk::<4>().filter(|(tag, _)| TAGS.contains(&[tag[0], tag[1]]))
        {
            tags.extend(tag);
            rest = more;
        }
        let (kind, packet) = rest.split_first_chunk::<2>()?;
        let answer = match *kind {
            ARP => self.arp_reply(packet, mac.octets())?,
            IPV6 => self.advertisement(packet, mac.octets())?,
            _ => return None,
        };
        let mut bytes = [&asker[..], &mac.octets(), &tags, kind, &answer].concat();
        bytes.resize(bytes.len().max(LEN_MIN), 0);
        Some(bytes)
    }

    fn arp_reply(&self, packet: &[u8], mac: [u8; 6]) -> Option<Vec<u8>> {
        let rest = packet.strip_prefix(&ARP_REQUEST)?;
        let (asker_mac, rest) = rest.split_first_chunk::<6>()?;
        let (asker, rest) = rest.split_first_chunk::<4>()?;
        let target = *rest.get(6..)?.first_chunk::<4>()?;
        // Who looks for others with its own address has none yet, and who tells its address asks nobody (RFC 5227).
        let asks = *asker != [0; 4] && *asker != target;
        let answers = asks && self.have_ipv4(target);
        answers.then(|| [&ARP_REPLY[..], &mac, &target, asker_mac, asker].concat())
    }

    fn advertisement(&self, packet: &[u8], mac: [u8; 6]) -> Option<Vec<u8>> {
        let (header, rest) = packet.split_first_chunk::<8>()?;
        let [0x60..=0x6f, _, _, _, high, low, ICMPV6, HOP_LIMIT] = *header else { return None };
        let (asker, rest) = rest.split_first_chunk::<16>()?;
        let (asked, rest) = rest.split_first_chunk::<16>()?;
        let message = rest.get(..usize::from(u16::from_be_bytes([high, low])))?;
        let [SOLICITATION, 0, _, _, _, _, _, _, more @ ..] = message else { return None };
        let target = *more.first_chunk::<16>()?;
        let whole = icmpv6_checksum(asker, asked, message) == 0;
        // Without an address it looks for others that have the one it wants (RFC 4862, section 5.4).
        if !whole || *asker == [0; 16] || !self.have_ipv6(target) {
            return None;
        }
        let answer = |checksum: u16| {
            let target_mac = [&[2, 1][..], &mac].concat();
            [&[ADVERTISEMENT, 0][..], &checksum.to_be_bytes(), &[FLAGS, 0, 0, 0], &target, &target_mac].concat()
        };
        let message = answer(icmpv6_checksum(&target, asker, &answer(0)));
        let len = (message.len() as u16).to_be_bytes();
        Some([&[0x60, 0, 0, 0][..], &len, &[ICMPV6, HOP_LIMIT], &target, asker, &message].concat())
    }
}

/// The last 64 bits.
fn halves(address: Ipv6) -> [u32; 2] {
    let number = u128::from_be_bytes(address);
    [(number >> 32) as u32, number as u32]
}

/// Of a message with its own checksum, 0 if that is right (RFC 8200, section 8.1).
fn icmpv6_checksum(src: &Ipv6, dst: &Ipv6, message: &[u8]) -> u16 {
    checksum(sum_of(src) + sum_of(dst) + message.len() as u64 + u64::from(ICMPV6) + sum_of(message)) as u16
}

/// What a receiving port answers.
#[derive(Debug)]
pub(crate) struct Neighbour {
    hosts: Hosts,
    mac: MacAddr,
    pool: Mempool<Written>,
    /// Where answers leave; `None` where a stream sends on the port, with its queues.
    queues: Option<Queues<TxQueue>>,
    waiting: Burst<Written, ANSWERS_MAX>,
    pub(crate) answered: u64,
}

impl Neighbour {
    pub(crate) fn new(hosts: Hosts, mac: MacAddr, pool: Mempool<Written>, queues: Option<Queues<TxQueue>>) -> Self {
        Self { hosts, mac, pool, queues, waiting: Burst::new(), answered: 0 }
    }

    /// Whether answers wait.
    #[inline]
    pub(crate) fn has_answers(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Makes an answer to a frame that is a question; returns whether it did.
    pub(crate) fn consider(&mut self, packet: &Packet) -> bool {
        let mut bytes = [0; QUESTION_MAX];
        let len = packet.copy_to(&mut bytes);
        let answer = bytes.get(..len).and_then(|frame| self.hosts.answer(frame, self.mac));
        let Some((answer, mut mbuf)) = answer.and_then(|answer| Some((answer, self.pool.alloc()?))) else {
            return false;
        };
        let Ok(data) = mbuf.append(answer.len()) else { return false };
        data.copy_from_slice(&answer);
        // It holds no frame of the stream any more.
        *mbuf.private_mut() = 0;
        self.waiting.push(mbuf).is_ok()
    }

    /// Sends the answers that wait; `of_stream` are the queues of the stream that sends on this port.
    pub(crate) fn send(&mut self, of_stream: Option<&mut Queues<TxQueue>>) {
        let mut answers = mem::replace(&mut self.waiting, Burst::new());
        let queue = self.queues.as_mut().or(of_stream).and_then(Queues::take_turn);
        self.answered += queue.map_or(0, |queue| queue.tx(&mut answers)) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::Hosts;
    use crate::{
        addresses::{IpRange, PortRange, Ranges},
        frame::{Format, Ipv6},
    };
    use core::net::Ipv6Addr;
    use dpdk_rs::MacAddr;

    const OWN: MacAddr = MacAddr([2, 0, 0, 0, 9, 9]);
    const ASKER: [u8; 6] = [2, 0, 0, 0, 0, 7];

    fn hosts(format: Format) -> Hosts {
        let ports = PortRange::new(1, 1);
        let (src_ip, dst_ip) = (IpRange::network([198, 18, 0, 0], 32), IpRange::network([198, 19, 0, 0], 24));
        Hosts::new(Ranges { src_ip, dst_ip, src_udp: ports, dst_udp: ports }, format)
    }

    fn arp(operation: u8, asker: [u8; 4], target: [u8; 4]) -> Vec<u8> {
        let request = [0, 1, 8, 0, 6, 4, 0, operation];
        [&[0xff; 6][..], &ASKER, &[8, 6], &request, &ASKER, &asker, &[0; 6], &target, &[0; 18]].concat()
    }

    /// RFC 826: the reply goes to who asked, with the answer as its sender.
    #[test]
    fn arp_requests_for_an_address_of_the_frames_are_answered() {
        let (asker, target) = ([198, 19, 0, 254], [198, 19, 0, 9]);
        let hosts = hosts(Format::default());
        let reply =
            [&ASKER[..], &OWN.octets(), &[8, 6, 0, 1, 8, 0, 6, 4, 0, 2], &OWN.octets(), &target, &ASKER, &asker];
        assert_eq!(hosts.answer(&arp(1, asker, target), OWN), Some([&reply.concat()[..], &[0; 18]].concat()));
        let tagged = |bytes: &[u8]| [&bytes[..12], &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6], &bytes[12..]].concat();
        let answer = hosts.answer(&tagged(&arp(1, asker, target)), OWN);
        assert_eq!(answer, Some(tagged(&[&reply.concat()[..], &[0; 10]].concat())));
        for (why, question) in [
            ("another's address", arp(1, asker, [198, 19, 1, 0])),
            ("a reply", arp(2, asker, target)),
            ("a probe", arp(1, [0; 4], target)),
            ("an announcement", arp(1, target, target)),
            ("cut off", arp(1, asker, target)[..40].to_vec()),
        ] {
            assert_eq!(hosts.answer(&question, OWN), None, "{why}");
        }
    }

    #[test]
    fn the_ends_of_a_tunnel_are_asked_for_and_not_what_is_inside() {
        let hosts = hosts(Format { vxlan: Some(7), ..Format::default() });
        for (target, answered) in [([198, 18, 0, 0], true), ([198, 19, 0, 0], true), ([198, 19, 0, 9], false)] {
            assert_eq!(hosts.answer(&arp(1, [198, 19, 0, 254], target), OWN).is_some(), answered, "{target:?}");
        }
    }

    /// RFC 1071 as its text has it.
    fn slow_checksum(bytes: &[u8]) -> u16 {
        let sum = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum::<u32>();
        !((sum & 0xffff) + (sum >> 16)) as u16
    }

    fn pseudo_header_and(packet: &[u8]) -> Vec<u8> {
        [&packet[8..40], &[0, 0], &packet[4..6], &[0, 0, 0, 58], &packet[40..]].concat()
    }

    /// RFC 4861, sections 4.3 and 4.4.
    #[test]
    fn neighbour_solicitations_for_an_address_of_the_frames_are_answered() -> Result<(), core::net::AddrParseError> {
        let address = |text: &str| text.parse::<Ipv6Addr>().map(|address| address.octets());
        let (asker, group) = (address("fe80::7")?, address("ff02::1:ff13:9")?);
        let solicitation = |asker: [u8; 16], target: [u8; 16], hops: u8| {
            let mut packet =
                [&[0x60, 0, 0, 0, 0, 32, 58, hops][..], &asker, &group, &[135, 0, 0, 0, 0, 0, 0, 0]].concat();
            packet.extend([&target[..], &[1, 1], &ASKER].concat());
            let checksum = slow_checksum(&pseudo_header_and(&packet));
            packet[42..44].copy_from_slice(&checksum.to_be_bytes());
            [&[0x33, 0x33, 0xff, 0x13, 0, 9][..], &ASKER, &[0x86, 0xdd], &packet].concat()
        };
        let src = address("2001:2::1")?;
        // The third part of the destinations is in the source's field.
        let (ipv6, third) = Ipv6::new(src, address("2001:2:0:1::")?);
        let mut hosts = hosts(Format { ipv6: Some(ipv6), ..Format::default() });
        hosts.ranges.src_ip = IpRange { first: third, last: third };
        let target = address("2001:2:0:1::c613:9")?;
        let answer = hosts.answer(&solicitation(asker, target, 255), OWN).unwrap_or_default();
        assert_eq!(answer[..14], [&ASKER[..], &OWN.octets(), &[0x86, 0xdd]].concat());
        let packet = &answer[14..];
        assert_eq!(packet[..8], [0x60, 0, 0, 0, 0, 32, 58, 255]);
        assert_eq!(packet[8..40], [target, asker].concat());
        assert_eq!((&packet[40..42], &packet[44..48]), (&[136, 0][..], &[0x60, 0, 0, 0][..]));
        assert_eq!(packet[48..], [&target[..], &[2, 1], &OWN.octets()].concat());
        assert_eq!(slow_checksum(&pseudo_header_and(packet)), 0);

        assert!(hosts.answer(&solicitation(asker, src, 255), OWN).is_some());
        let mut broken = solicitation(asker, target, 255);
        broken[70] ^= 1;
        for (why, question) in [
            ("another's address", solicitation(asker, address("2001:2:0:1::1")?, 255)),
            ("another network", solicitation(asker, address("2001:2:0:2::c613:9")?, 255)),
            ("forwarded", solicitation(asker, target, 254)),
            ("who has no address yet", solicitation([0; 16], target, 255)),
            ("a wrong checksum", broken),
        ] {
            assert_eq!(hosts.answer(&question, OWN), None, "{why}");
        }
        Ok(())
    }
}
