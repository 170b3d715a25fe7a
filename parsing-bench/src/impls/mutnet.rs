// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! mutnet: a buffer that is parsed layer by layer, whose layers' getters and setters are then all there at once.
//!
//! It checks all that the workloads ask for. A layer that does not parse takes the buffer with it, so whether a UDP
//! layer may be asked for has to be known before, and the UDP header of a first fragment is reached as payload bytes.
//! `update_udp_checksum` leaves a sum of 0 as it is, which the caller corrects.
//!
//! What is wrong in version 0.7.0, and shows in the gate: `update_udp_checksum` takes the length in the pseudo header
//! from the IPv4 header, not from the UDP header. Where the datagram is shorter than the packet's payload, the checksum
//! comes out wrong (W3).

use super::{
    machine_order::{AddressChange, never_zero},
    reading,
};
use crate::contract::{About, FiveTuple, Library, Rejected, Rule};
use mutnet::{
    data_buffer::{DataBuffer, PayloadMut},
    ethernet::{Eth, EthernetMethods, EthernetMethodsMut},
    ipv4::{Ipv4, Ipv4Methods, Ipv4MethodsMut},
    udp::{Udp, UdpMethods, UdpMethodsMut},
};

const IPV4: u16 = 0x0800;
const UDP: u8 = 17;
const UDP_HEADER_LEN: u16 = 8;

type Frame<'a, Layers> = DataBuffer<&'a mut [u8], Layers>;

/// mutnet.
#[derive(Debug)]
pub struct Mutnet;

impl Library for Mutnet {
    const NAME: &'static str = "mutnet";
    const ABOUT: About = About {
        package: "mutnet",
        licence: "MIT OR Apache-2.0",
        no_std: true,
        note: "checks everything; the caller reads UDP in first fragments, and sends a UDP checksum of 0 as 0xffff",
    };

    #[inline(always)]
    fn w1(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let mut frame = ipv4_frame(frame)?;
        frame.set_ipv4_destination(rule.address.into());
        set_macs(&mut frame, rule);
        Ok(())
    }

    #[inline(always)]
    fn w2(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let mut frame = ipv4_frame(frame)?;
        let change = AddressChange::of(frame.ipv4_destination().octets(), rule.address);
        if frame.ipv4_protocol() != UDP || frame.ipv4_fragment_offset() != 0 {
            translate(&mut frame, rule, change);
        } else if frame.ipv4_more_fragments_flag() {
            update_first_fragment(frame.payload_mut(), change)?;
            translate(&mut frame, rule, change);
        } else {
            let mut frame = udp_frame(frame)?;
            frame.set_udp_checksum(change.update_udp(frame.udp_checksum()));
            translate(&mut frame, rule, change);
        }
        Ok(())
    }

    #[inline(always)]
    fn w3(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let mut frame = ipv4_frame(frame)?;
        if frame.ipv4_more_fragments_flag() || frame.ipv4_fragment_offset() != 0 {
            return Err(Rejected);
        }
        if frame.ipv4_protocol() != UDP {
            translate_anew(&mut frame, rule);
        } else {
            let mut frame = udp_frame(frame)?;
            translate_anew(&mut frame, rule);
            if frame.udp_checksum() != 0 {
                frame.update_udp_checksum();
                frame.set_udp_checksum(never_zero(frame.udp_checksum()));
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn w4(frame: &[u8]) -> Result<FiveTuple, Rejected> {
        reading::mutnet::five_tuple(frame)
    }
}

#[inline(always)]
fn ipv4_frame(frame: &mut [u8]) -> Result<Frame<'_, Ipv4<Eth>>, Rejected> {
    let frame = DataBuffer::<_, Eth>::parse_ethernet_layer(frame, 0).map_err(|_| Rejected)?;
    if frame.ethernet_ether_type() != IPV4 {
        return Err(Rejected);
    }
    DataBuffer::<_, Ipv4<Eth>>::parse_ipv4_layer(frame, false).map_err(|_| Rejected)
}

#[inline(always)]
fn udp_frame(frame: Frame<'_, Ipv4<Eth>>) -> Result<Frame<'_, Udp<Ipv4<Eth>>>, Rejected> {
    DataBuffer::<_, Udp<Ipv4<Eth>>>::parse_udp_layer(frame, false).map_err(|_| Rejected)
}

/// The checksum of a datagram of which only the first fragment is there.
#[inline(always)]
fn update_first_fragment(payload: &mut [u8], change: AddressChange) -> Result<(), Rejected> {
    let [_, _, _, _, length @ .., c0, c1] = payload.first_chunk_mut::<8>().ok_or(Rejected)?;
    if u16::from_be_bytes(*length) < UDP_HEADER_LEN {
        return Err(Rejected);
    }
    [*c0, *c1] = change.update_udp(u16::from_be_bytes([*c0, *c1])).to_be_bytes();
    Ok(())
}

/// Writes the addresses and updates the header's checksum.
#[inline(always)]
fn translate<T: EthernetMethodsMut + Ipv4MethodsMut>(frame: &mut T, rule: &Rule, change: AddressChange) {
    frame.set_ipv4_header_checksum(change.update(frame.ipv4_header_checksum()));
    frame.set_ipv4_destination(rule.address.into());
    set_macs(frame, rule);
}

/// Writes the addresses and computes the header's checksum.
#[inline(always)]
fn translate_anew<T: EthernetMethodsMut + Ipv4MethodsMut>(frame: &mut T, rule: &Rule) {
    frame.set_ipv4_destination(rule.address.into());
    frame.update_ipv4_header_checksum();
    set_macs(frame, rule);
}

#[inline(always)]
fn set_macs<T: EthernetMethodsMut>(frame: &mut T, rule: &Rule) {
    frame.set_ethernet_destination(&rule.destination);
    frame.set_ethernet_source(&rule.source);
}
