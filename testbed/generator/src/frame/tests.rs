// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames against checksums taken the long way, and against changes of every byte.

use super::{
    ExpectedMacs, Format, HEAD_LEN, Ipv6, LEAST_LEN_MAX, Macs, Mixture, SEQUENCE_MASK, Series, Stamp, Template,
};
use crate::addresses::{FieldSequence, Fields, IpRange, PortRange, Ranges};
use dpdk_rs::MacAddr;
use proptest::prelude::*;

const MACS: Macs = Macs { dst: MacAddr([2, 0, 0, 0, 1, 0]), src: MacAddr([2, 9, 8, 7, 6, 5]) };

/// RFC 1071 as its text has it: 16 bits at a time, carries added back at once. 0 for data with a right checksum.
fn slow_checksum<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> u16 {
    let bytes: Vec<u8> = bytes.into_iter().copied().collect();
    let mut sum = 0_u32;
    for pair in bytes.chunks(2) {
        sum += u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn frame(template: &Template, fields: Fields, stamp: Stamp) -> Vec<u8> {
    let mut head = [0xee; HEAD_LEN];
    template.write_head::<true>(&mut head, fields, stamp);
    [template.before_head(), &head[..], template.pattern()].concat()
}

/// As a receiver takes it: whose frame it is, and whether it is whole.
fn verdict(template: &Template, fields: Fields, frame: &[u8]) -> (Option<Stamp>, bool) {
    let behind = frame.get(template.head_at()..).unwrap_or_default();
    let Some((head, pattern)) = behind.split_first_chunk() else { return (None, false) };
    let stamp = template.identify(head);
    let whole =
        stamp.is_some_and(|stamp| template.head_matches::<true>(head, fields, stamp)) && pattern == template.pattern();
    (stamp, whole && template.headers_match(frame))
}

prop_compose! {
    fn any_fields()(src_ip: u32, dst_ip: u32, src_udp: u16, dst_udp: u16) -> Fields {
        Fields { src_ip, dst_ip, src_udp, dst_udp }
    }
}

prop_compose! {
    fn any_stamp()(sequence in 0..=SEQUENCE_MASK, time: u64) -> Stamp {
        Stamp { sequence, time }
    }
}

/// A single value, few or many; ends of the address space too.
fn any_ranges() -> impl Strategy<Value = Ranges> {
    let sizes = prop::array::uniform4(prop_oneof![Just(1_u32), 1..5_u32, 900..1100_u32, 60_000..=65_536_u32]);
    (sizes, any::<u32>()).prop_map(|([a, b, c, d], src)| Ranges {
        src_ip: IpRange { first: src.min(u32::MAX - a), last: src.min(u32::MAX - a) + a - 1 },
        dst_ip: IpRange { first: u32::MAX - (b - 1), last: u32::MAX },
        src_udp: PortRange::new(0, (c - 1) as u16),
        dst_udp: PortRange::new((0x1_0000 - d) as u16, u16::MAX),
    })
}

/// No tag, one or two; in a tunnel or not; both IP versions.
fn any_format() -> impl Strategy<Value = Format> {
    let vlans = prop::collection::vec(1..4095_u16, 0..=2);
    let ipv6 = any::<([u8; 16], [u8; 8])>().prop_map(|(src, dst)| Ipv6 { src, dst });
    let more = (vlans, prop::option::of(0..1_u32 << 24), prop::option::of(ipv6));
    more.prop_map(|(vlans, vxlan, ipv6)| Format { vlans, vxlan, ipv6 })
}

fn with_tags(vlans: Vec<u16>) -> Format {
    Format { vlans, ..Format::default() }
}

/// Where the last Ethernet header begins, but for its tags.
fn inner_at(format: &Format) -> usize {
    4 * format.vlans.len() + if format.vxlan.is_some() { 50 } else { 0 }
}

fn any_len() -> impl Strategy<Value = usize> {
    prop_oneof![Just(HEAD_LEN), HEAD_LEN..200, Just(8996)]
}

proptest! {
    #[test]
    fn checksums_are_right(fields in any_fields(), stamp in any_stamp(), len in any_len(), format in any_format(), session:
        u8, stream: u8)
    {
        let len = len - HEAD_LEN + format.least_len();
        let template = Template::new(len, &format, MACS, session, stream);
        let whole = frame(&template, fields, stamp);
        prop_assert_eq!(whole.len(), len);
        let packet = &whole[inner_at(&format) + 14..];
        let (addresses, datagram) = match format.ipv6 {
            None => {
                prop_assert_eq!(slow_checksum(&packet[..20]), 0);
                (&packet[12..20], &packet[20..])
            }
            Some(_) => (&packet[8..40], &packet[40..]),
        };
        let udp_len = (datagram.len() as u16).to_be_bytes();
        let pseudo_header = addresses.iter().chain(&[0, 17]).chain(&udp_len);
        prop_assert_eq!(slow_checksum(pseudo_header.chain(datagram)), 0);
        prop_assert_ne!(&datagram[6..8], [0, 0]);
    }

    #[test]
    fn fields_are_where_the_protocols_have_them(fields in any_fields(), stamp in any_stamp(), len in any_len()) {
        let frame = frame(&Template::new(len, &Format::default(), MACS, 7, 1), fields, stamp);
        prop_assert_eq!(&frame[..16], [2, 0, 0, 0, 1, 0, 2, 9, 8, 7, 6, 5, 8, 0, 0x45, 0]);
        prop_assert_eq!(&frame[16..18], (len as u16 - 14).to_be_bytes());
        prop_assert_eq!(&frame[18..24], [0, 0, 0x40, 0, 64, 17]);
        prop_assert_eq!(&frame[26..30], fields.src_ip.to_be_bytes());
        prop_assert_eq!(&frame[30..34], fields.dst_ip.to_be_bytes());
        prop_assert_eq!(&frame[34..36], fields.src_udp.to_be_bytes());
        prop_assert_eq!(&frame[36..38], fields.dst_udp.to_be_bytes());
        prop_assert_eq!(&frame[38..40], (len as u16 - 34).to_be_bytes());
        prop_assert_eq!(&frame[44..46], [7, 1]);
        prop_assert_eq!(&frame[46..52], &stamp.sequence.to_be_bytes()[2..]);
        prop_assert_eq!(&frame[52..60], stamp.time.to_be_bytes());
    }

    /// IEEE 802.1Q, sections 9.3 to 9.6: of two tags the first is the service's.
    #[test]
    fn tags_are_between_the_addresses_and_the_type(fields in any_fields(), stamp in any_stamp(), len in any_len(), id in
        1..4095_u16, service in 1..4095_u16)
    {
        let plain = frame(&Template::new(len, &Format::default(), MACS, 7, 1), fields, stamp);
        let tag = [&[0x81, 0][..], &id.to_be_bytes()].concat();
        let service_tag = [&[0x88, 0xa8][..], &service.to_be_bytes()].concat();
        for (vlans, tags) in [(vec![id], tag.clone()), (vec![service, id], [service_tag, tag].concat())] {
            let template = Template::new(len + tags.len(), &with_tags(vlans), MACS, 7, 1);
            prop_assert_eq!(frame(&template, fields, stamp), [&plain[..12], &tags, &plain[12..]].concat());
            prop_assert!(template.len() >= HEAD_LEN + tags.len());
        }
    }

    /// RFC 8200, section 3, and RFC 768: all after the header is as with IPv4, but for the checksum.
    #[test]
    fn an_ipv6_header_stands_where_an_ipv4_header_stood(fields in any_fields(), stamp in any_stamp(), len in any_len(), src:
        [u8; 16], dst: [u8; 8])
    {
        let plain = frame(&Template::new(len, &Format::default(), MACS, 7, 1), fields, stamp);
        let format = Format { ipv6: Some(Ipv6 { src, dst }), ..Format::default() };
        let found = frame(&Template::new(len + 20, &format, MACS, 7, 1), fields, stamp);
        prop_assert_eq!(&found[..20], [&plain[..12], &[0x86, 0xdd, 0x60, 0, 0, 0], &plain[38..40]].concat());
        prop_assert_eq!(&found[20..22], [17, 64]);
        prop_assert_eq!(&found[22..38], src);
        let low = [fields.src_ip, fields.dst_ip].map(u32::to_be_bytes).concat();
        prop_assert_eq!(&found[38..54], [&dst[..], &low].concat());
        prop_assert_eq!((&found[54..60], &found[62..]), (&plain[34..40], &plain[42..]));
    }

    /// RFC 7348, section 5: what the tunnel carries is the frame that would be sent without it, but for its MAC addresses.
    #[test]
    fn a_tunnel_is_around_a_frame(fields in any_fields(), stamp in any_stamp(), len in any_len(), format in any_format(), vni
        in 0..1_u32 << 24)
    {
        let len = len - HEAD_LEN + format.least_len();
        let bare = Format { vxlan: None, ..format };
        let tunnel = Format { vxlan: Some(vni), ..bare.clone() };
        let tags = 4 * bare.vlans.len();
        let plain = frame(&Template::new(len, &bare, MACS, 7, 1), fields, stamp);
        let found = frame(&Template::new(len + 50, &tunnel, MACS, 7, 1), fields, stamp);
        prop_assert_eq!(&found[..12 + tags], &plain[..12 + tags]);
        let outer = &found[12 + tags..];
        let inside = len - tags;
        prop_assert_eq!(&outer[..4], [8, 0, 0x45, 0]);
        prop_assert_eq!(&outer[4..6], (inside as u16 + 36).to_be_bytes());
        prop_assert_eq!(&outer[6..12], [0, 0, 0x40, 0, 64, 17]);
        prop_assert_eq!(slow_checksum(&outer[2..22]), 0);
        prop_assert_eq!(&outer[14..26], [198, 18, 0, 0, 198, 19, 0, 0, 0xc0, 0, 0x12, 0xb5]);
        prop_assert_eq!(&outer[26..28], (inside as u16 + 16).to_be_bytes());
        prop_assert_eq!(&outer[28..34], [0, 0, 8, 0, 0, 0]);
        prop_assert_eq!(&outer[34..38], (vni << 8).to_be_bytes());
        prop_assert_eq!(&outer[38..50], [2, 0, 0, 0, 3, 0, 2, 0, 0, 0, 2, 0]);
        prop_assert_eq!(&outer[50..], &plain[12 + tags..]);
    }

    #[test]
    fn a_change_of_any_byte_shows(fields in any_fields(), stamp in any_stamp(), len in any_len(), format in any_format(),
        change in 1_u8..)
    {
        let len = len - HEAD_LEN + format.least_len();
        let template = Template::new(len, &format, MACS, 7, 1);
        let whole = frame(&template, fields, stamp);
        prop_assert_eq!(verdict(&template, fields, &whole), (Some(stamp), true));
        let macs = ExpectedMacs::new(Some(MACS.dst), Some(MACS.src));
        for index in 0..len {
            let mut changed = whole.clone();
            changed[index] ^= change;
            let (identity, whole) = verdict(&template, fields, &changed);
            let macs_match = changed.first_chunk().is_some_and(|head| macs.matches(head));
            match index {
                0..12 => prop_assert!(whole && !macs_match, "byte {}", index),
                index if (42..46).contains(&(index - template.head_at().min(index))) => prop_assert!(identity.is_none() && macs_match, "byte {}", index),
                _ => prop_assert!(identity.is_some() && !whole && macs_match, "byte {}", index),
            }
        }
    }

    #[test]
    fn a_series_is_the_frames_one_by_one(ranges in any_ranges(), format in any_format(), start in 0..SEQUENCE_MASK - 100_000, jumps in
        prop::collection::vec((0_u64..3000, 1_u64..100, any::<u64>()), 1..8))
    {
        let template = Template::new(format.least_len(), &format, MACS, 7, 1);
        let mut fields = FieldSequence::new(&ranges);
        let mut series = Series::new(template.clone(), fields.clone());
        let mut sequence = start;
        for (gap, count, time) in jumps {
            sequence += gap;
            let (mut heads, most) = series.heads(Stamp { sequence, time });
            prop_assert!(most > 0);
            for sequence in sequence..sequence + most.min(count) {
                let (mut long, mut quick) = ([0xee; HEAD_LEN], [0xdd; HEAD_LEN]);
                template.write_head::<true>(&mut long, fields.fields_of(sequence), Stamp { sequence, time });
                heads.write(&mut quick);
                prop_assert_eq!(quick, long);
                prop_assert!(heads.matches(&long));
                for index in 12..HEAD_LEN {
                    long[index] ^= 1 << (sequence % 8);
                    prop_assert!(!heads.matches(&long), "byte {}", index);
                    long[index] ^= 1 << (sequence % 8);
                }
                heads.step();
            }
            // Frames that were not taken are written again.
            sequence += most.min(count) / 2;
        }
    }

    #[test]
    fn a_mixture_has_its_lengths_in_order_again_and_again(lens in prop::collection::vec(any_len(), 1..20), format in
        any_format(), sequence in 0..SEQUENCE_MASK)
    {
        let lens: Vec<usize> = lens.into_iter().map(|len| len - HEAD_LEN + format.least_len()).collect();
        let mixture = Mixture::new(&lens, &format, MACS, 7, 1);
        prop_assert_eq!(mixture.is_some(), lens.iter().any(|len| *len != lens[0]));
        if let Some(mixture) = mixture {
            let template = mixture.template_of(sequence);
            prop_assert_eq!(template.len(), lens[(sequence % lens.len() as u64) as usize]);
            prop_assert_eq!(Some(mixture.longest().len()), lens.iter().copied().max());
            // What an mbuf holds of one length serves the others, and a frame of any length says whose it is.
            prop_assert!(mixture.longest().pattern().starts_with(template.pattern()));
            let mut head = [0; HEAD_LEN];
            let (fields, stamp) = (Fields { src_ip: 1, dst_ip: 2, src_udp: 3, dst_udp: 4 }, Stamp { sequence, time: 5 });
            template.write_head::<true>(&mut head, fields, stamp);
            prop_assert_eq!(mixture.longest().identify(&head), Some(stamp));
            let same = template.len() == mixture.longest().len();
            prop_assert_eq!(mixture.longest().head_matches::<true>(&head, fields, stamp), same);
        }
    }

    #[test]
    fn another_session_or_stream_is_foreign(stamp in any_stamp(), fields in any_fields()) {
        let template = Template::new(HEAD_LEN, &Format::default(), MACS, 7, 1);
        for (session, stream) in [(8, 1), (7, 0)] {
            let other = frame(&Template::new(HEAD_LEN, &Format::default(), MACS, session, stream), fields, stamp);
            prop_assert_eq!(verdict(&template, fields, &other), (None, false));
        }
    }
}

#[test]
fn the_longest_headers_fit_where_frames_in_parts_are_copied() {
    let ipv6 = Some(Ipv6 { src: [0; 16], dst: [0; 8] });
    let format = Format { vlans: vec![1, 2], vxlan: Some(3), ipv6 };
    assert_eq!(format.least_len(), LEAST_LEN_MAX);
    assert_eq!(Template::new(LEAST_LEN_MAX, &format, MACS, 0, 0).head_at() + HEAD_LEN, LEAST_LEN_MAX);
}

#[test]
fn a_checksum_of_zero_is_sent_as_ones() {
    let template = Template::new(HEAD_LEN, &Format::default(), MACS, 0, 0);
    let fields = Fields { src_ip: 0, dst_ip: 0, src_udp: 0, dst_udp: 0 };
    let frames = (0..0x1_0000).map(|time| frame(&template, fields, Stamp { sequence: 0, time }));
    // One of these times makes the sum come to zero.
    assert_eq!(frames.filter(|frame| frame[40..42] == [0xff, 0xff]).count(), 1);
}

#[test]
fn addresses_that_are_not_expected_are_not_checked() {
    let mut head = [0; HEAD_LEN];
    head[..12].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    let (dst, src) = (MacAddr([1, 2, 3, 4, 5, 6]), MacAddr([7, 8, 9, 10, 11, 12]));
    assert!(!ExpectedMacs::default().is_checked());
    assert!(ExpectedMacs::default().matches(&head));
    assert!(ExpectedMacs::new(Some(dst), None).matches(&head));
    assert!(!ExpectedMacs::new(Some(src), None).matches(&head));
    assert!(ExpectedMacs::new(None, Some(src)).matches(&head));
    assert!(!ExpectedMacs::new(None, Some(dst)).matches(&head));
    assert!(ExpectedMacs::new(Some(dst), Some(src)).is_checked());
}
