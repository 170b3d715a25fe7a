// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! network-types: headers as structs for eBPF programs, to which its own examples cast pointers.
//!
//! Its default feature, `wincode`, casts without `unsafe`, and is what is used here. It checks sizes and alignment: the
//! Ethernet header holds a `u16`, so that a frame at an odd address is rejected.

use super::{
    machine_order::{AddressChange, of_datagram, of_header},
    reading,
};
use crate::contract::{About, FiveTuple, Library, Rejected, Rule};
use network_types::{
    eth::{EthHdr, EtherType},
    ip::{IpProto, Ipv4Hdr},
    udp::UdpHdr,
};
use wincode::ZeroCopy;

const MORE_FRAGMENTS: u8 = 1;

/// network-types.
#[derive(Debug)]
pub struct NetworkTypes;

impl Library for NetworkTypes {
    const NAME: &'static str = "network-types";
    const ABOUT: About = About {
        package: "network-types",
        licence: "MIT",
        no_std: true,
        note: "structs only, without IPv6 extension headers: casts are wincode's, checks and checksums the user's; \
               frames to be written must lie at even addresses",
    };

    #[inline(always)]
    fn w1(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let (ethernet, ip, _) = headers(frame)?;
        ip.set_dst_addr(rule.address.into());
        set_macs(ethernet, rule);
        Ok(())
    }

    #[inline(always)]
    fn w2(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let (ethernet, ip, rest) = headers(frame)?;
        let (_, payload) = split(ip, rest)?;
        let change = AddressChange::of(ip.dst_addr, rule.address);
        if ip.proto == IpProto::Udp as u8 && ip.frag_offset() == 0 {
            let room = payload.len();
            let udp = UdpHdr::from_bytes_mut(payload).map_err(|_| Rejected)?;
            let length = usize::from(udp.len());
            let fragmented = ip.frag_flags() & MORE_FRAGMENTS != 0;
            if length < UdpHdr::LEN || (!fragmented && length > room) {
                return Err(Rejected);
            }
            udp.set_checksum(change.update_udp(udp.checksum()));
        }
        ip.set_checksum(change.update(ip.checksum()));
        ip.set_dst_addr(rule.address.into());
        set_macs(ethernet, rule);
        Ok(())
    }

    #[inline(always)]
    fn w3(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let (ethernet, ip, rest) = headers(frame)?;
        let (_, payload) = split(ip, rest)?;
        if ip.frag_flags() & MORE_FRAGMENTS != 0 || ip.frag_offset() != 0 {
            return Err(Rejected);
        }
        if ip.proto == IpProto::Udp as u8 {
            let length = usize::from(UdpHdr::from_bytes(payload).map_err(|_| Rejected)?.len());
            let datagram = payload.get_mut(..length).ok_or(Rejected)?;
            let udp = UdpHdr::from_bytes_mut(datagram).map_err(|_| Rejected)?;
            if udp.checksum() != 0 {
                udp.set_checksum(0);
                // The structs have no view of their bytes.
                let sum = of_datagram([ip.src_addr, rule.address], datagram, &[]);
                UdpHdr::from_bytes_mut(datagram).map_err(|_| Rejected)?.set_checksum(sum);
            }
        }
        let length = usize::from(ip.ihl());
        ip.set_dst_addr(rule.address.into());
        ip.set_checksum(0);
        set_macs(ethernet, rule);
        let packet = frame.get_mut(EthHdr::LEN..).ok_or(Rejected)?;
        let sum = of_header(packet.get(..length).ok_or(Rejected)?, &[]);
        Ipv4Hdr::from_bytes_mut(packet).map_err(|_| Rejected)?.set_checksum(sum);
        Ok(())
    }

    #[inline(always)]
    fn w4(frame: &[u8]) -> Result<FiveTuple, Rejected> {
        reading::network_types::five_tuple(frame)
    }
}

/// The fixed headers of an IPv4 frame, and what is behind them.
#[inline(always)]
fn headers(frame: &mut [u8]) -> Result<(&mut EthHdr, &mut Ipv4Hdr, &mut [u8]), Rejected> {
    let (ethernet, packet) = frame.split_at_mut_checked(EthHdr::LEN).ok_or(Rejected)?;
    let (ip, rest) = packet.split_at_mut_checked(Ipv4Hdr::LEN).ok_or(Rejected)?;
    let ethernet = EthHdr::from_bytes_mut(ethernet).map_err(|_| Rejected)?;
    let ip = Ipv4Hdr::from_bytes_mut(ip).map_err(|_| Rejected)?;
    if ethernet.ether_type() == Ok(EtherType::Ipv4) { Ok((ethernet, ip, rest)) } else { Err(Rejected) }
}

/// Options and payload of a packet, of which `rest` is what follows the fixed header.
#[inline(always)]
fn split<'a>(ip: &Ipv4Hdr, rest: &'a mut [u8]) -> Result<(&'a mut [u8], &'a mut [u8]), Rejected> {
    let options = usize::from(ip.ihl()).checked_sub(Ipv4Hdr::LEN).ok_or(Rejected)?;
    let length = usize::from(ip.tot_len()).checked_sub(Ipv4Hdr::LEN).ok_or(Rejected)?;
    let rest = rest.get_mut(..length).ok_or(Rejected)?;
    if ip.version() == 4 { rest.split_at_mut_checked(options).ok_or(Rejected) } else { Err(Rejected) }
}

#[inline(always)]
fn set_macs(ethernet: &mut EthHdr, rule: &Rule) {
    ethernet.dst_addr = rule.destination;
    ethernet.src_addr = rule.source;
}
