// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What devices find out about frames and do with them: a tap on one side of the kernel's interface, a packet socket on the
//! other. Checksums are computed again here.

use crate::{
    frames::{bytes, frame, only_port, packet, pool, receive, send, start, until},
    namespace::{namespace, shell},
    process::{attach, eal_args, folder, init, isolated, isolated_bare, isolated_in},
};
use dpdk_rs::{
    Checksum, Eal, L2, L3, L4, Mempool, Packet, PortConfig, PortError, RequestError, RxQueue, TxQueue, TxRequest,
    device::AfPacket,
    port::{RxOffloads, TxOffloads},
};
use std::path::Path;

const UDP: u8 = 17;
const TCP: u8 = 6;

/// The ones' complement sum of RFC 1071, to which checksums complete it.
fn sum(bytes: &[u8], before: u32) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let mut sum = before + words.sum::<u32>();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// An Ethernet frame with an IPv4 packet of this protocol; all checksums are zero.
fn ipv4(protocol: u8, l4: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0];
    frame.extend(((20 + l4.len()) as u16).to_be_bytes());
    frame.extend([0x12, 0x34, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
    frame.extend(l4);
    frame
}

/// A UDP datagram from port 5000 to 6000.
fn udp(data: &[u8]) -> Vec<u8> {
    let mut datagram = vec![0x13, 0x88, 0x17, 0x70];
    datagram.extend(((8 + data.len()) as u16).to_be_bytes());
    datagram.extend([0, 0]);
    datagram.extend(data);
    datagram
}

/// A TCP segment with sequence number 1000.
fn tcp(data: &[u8]) -> Vec<u8> {
    let mut segment = vec![0x13, 0x88, 0x17, 0x70, 0, 0, 3, 0xe8, 0, 0, 0, 0, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0];
    segment.extend(data);
    segment
}

/// The sum over the pseudo-header of RFC 768 and 9293 and what follows the IPv4 header: 0xffff if the checksum is right.
fn l4_sum(frame: &[u8]) -> u16 {
    let l4 = &frame[34..];
    let pseudo = sum(&frame[26..34], u32::from(frame[23]) + l4.len() as u32);
    sum(l4, u32::from(pseudo))
}

/// Both checksums are correct.
fn complete(mut frame: Vec<u8>) -> Vec<u8> {
    let header = !sum(&frame[14..34], 0);
    frame[24..26].copy_from_slice(&header.to_be_bytes());
    let l4 = !l4_sum(&frame);
    let place = if frame[23] == UDP { 40 } else { 50 };
    frame[place..place + 2].copy_from_slice(&l4.to_be_bytes());
    frame
}

/// A started port with one queue each way.
struct Side {
    rx: RxQueue,
    tx: TxQueue,
}

const TAP: [&str; 1] = ["net_tap0,iface=offload0"];

/// A network namespace, if there can be a tap in it.
pub(crate) fn with_tap() -> Option<Vec<&'static str>> {
    if Path::new("/dev/net/tun").exists() {
        return namespace("");
    }
    println!("skipped: the kernel has no /dev/net/tun");
    None
}

/// A tap with all that it offers, and a packet socket on its kernel's side, configured as told.
fn both_sides(eal: &Eal, socket: &PortConfig) -> (Mempool, Side, Side) {
    let pool = pool(eal, "pool");
    let config = PortConfig::default()
        .rx_descriptors(64)
        .rx_offloads(RxOffloads::IPV4_CHECKSUM | RxOffloads::UDP_CHECKSUM | RxOffloads::TCP_CHECKSUM)
        .tx_offloads(
            TxOffloads::IPV4_CHECKSUM | TxOffloads::UDP_CHECKSUM | TxOffloads::TCP_CHECKSUM | TxOffloads::TCP_SEGMENTS,
        );
    let (_port, mut rx, mut tx) = only_port(eal).configure(&config, &pool).unwrap().start().unwrap();
    let tap = Side { rx: rx.remove(0), tx: tx.remove(0) };
    shell("ip link set offload0 up");
    let port = eal.attach(AfPacket::new(0, "offload0")).unwrap().remove(0);
    let (_port, mut rx, mut tx) = port.configure(socket, &pool).unwrap().start().unwrap();
    (pool, tap, Side { rx: rx.remove(0), tx: tx.remove(0) })
}

/// Sends one packet with a request.
fn send_with(tx: &mut TxQueue, packet: Packet, request: &TxRequest) {
    let mut burst = tx.prepare::<_, 4>();
    burst.push(packet, request).map_err(|(error, _)| error).unwrap();
    assert_eq!((burst.send(), burst.len(), burst.rejected()), (1, 0, 0));
}

#[test]
fn devices_look_at_checksums_and_types() {
    let Some(namespace) = with_tap() else { return };
    isolated_in(&namespace, &TAP, |eal| {
        let (pool, mut tap, mut socket) = both_sides(&eal, &PortConfig::default());
        let pool = &pool;
        let good = complete(ipv4(UDP, &udp(b"right")));
        let mut bad_header = good.clone();
        bad_header[22] -= 1;
        let mut bad_data = good.clone();
        *bad_data.last_mut().unwrap() ^= 1;
        let mut absent = good.clone();
        absent[40..42].fill(0);
        let segment = complete(ipv4(TCP, &tcp(b"odd")));
        use Checksum::{Absent, Bad, Good, Unknown};
        for (frame, ip, l4, kind) in [
            (&good, Good, Good, Some(L4::Udp)),
            (&bad_header, Bad, Good, Some(L4::Udp)),
            (&bad_data, Good, Bad, Some(L4::Udp)),
            (&absent, Good, Absent, Some(L4::Udp)),
            (&segment, Good, Good, Some(L4::Tcp)),
        ] {
            send(&mut socket.tx, packet(pool, frame));
            let received = receive(&mut tap.rx);
            assert_eq!(&bytes(&received), frame);
            assert_eq!((received.ip_checksum(), received.l4_checksum()), (ip, l4));
            let found = received.packet_type();
            assert_eq!((found.l2(), found.l3(), found.l4()), (Some(L2::Ethernet), Some(L3::Ipv4), kind));
            assert_eq!(received.headers().packet_type, found);
        }
        // The packet socket does not look.
        send(&mut tap.tx, packet(pool, &good));
        let received = receive(&mut socket.rx);
        assert_eq!((received.ip_checksum(), received.l4_checksum()), (Unknown, Unknown));
        assert_eq!((received.rss_hash(), received.stripped_vlan(), received.packet_type().bits()), (None, None, 0));
    });
}

#[test]
fn devices_write_checksums() {
    let Some(namespace) = with_tap() else { return };
    isolated_in(&namespace, &TAP, |eal| {
        let (pool, mut tap, mut socket) = both_sides(&eal, &PortConfig::default());
        let pool = &pool;
        let ip = TxRequest::ipv4(14, 20).ip_checksum();
        for (frame, request) in [
            (ipv4(UDP, &udp(b"")), ip.udp_checksum()),
            (ipv4(UDP, &udp(&frame(1, 999))), ip.udp_checksum()),
            (ipv4(TCP, &tcp(&frame(2, 1460))), ip.tcp_checksum(20)),
            (ipv4(TCP, &tcp(b"the header only")), ip),
        ] {
            send_with(&mut tap.tx, packet(pool, &frame), &request);
            let found = bytes(&receive(&mut socket.rx));
            let mut right = complete(frame.clone());
            if request == ip {
                right[50..52].fill(0);
            }
            assert_eq!(found, right);
        }
        // Without a request the frame is sent as it is, also after one with.
        let plain = ipv4(UDP, &udp(b"as it is"));
        send(&mut tap.tx, packet(pool, &plain));
        assert_eq!(bytes(&receive(&mut socket.rx)), plain);
        let received = packet(pool, &plain);
        send_with(&mut tap.tx, received, &TxRequest::new());
        assert_eq!(bytes(&receive(&mut socket.rx)), plain);
    });
}

#[test]
fn long_segments_are_cut() {
    let version = dpdk_rs::dpdk_version();
    if !version.starts_with("22.11") {
        println!("skipped: net_tap of DPDK {version} offers to cut segments, and then does not take them");
        return;
    }
    let Some(namespace) = with_tap() else { return };
    isolated_in(&namespace, &TAP, |eal| {
        let (pool, mut tap, mut socket) = both_sides(&eal, &PortConfig::default());
        let pool = &pool;
        let data = frame(3, 1000);
        let whole = packet(pool, &ipv4(TCP, &tcp(&data)));
        send_with(&mut tap.tx, whole, &TxRequest::ipv4(14, 20).tcp_segments(20, 400));
        let mut next = 0;
        for len in [400, 400, 200] {
            let part = bytes(&receive(&mut socket.rx));
            assert_eq!(part[54..], data[next..next + len]);
            assert_eq!(u32::from_be_bytes(part[38..42].try_into().unwrap()), 1000 + next as u32);
            assert_eq!((usize::from(part[16]) << 8 | usize::from(part[17]), part[23]), (40 + len, TCP));
            assert_eq!((sum(&part[14..34], 0), l4_sum(&part)), (0xffff, 0xffff));
            next += len;
        }
        assert_eq!(next, data.len());
    });
}

/// A vhost port receives uncut what its peer requests to be cut, as if it had merged the segments.
#[test]
fn merged_segments_say_how_long_they_were() {
    isolated_bare(|| {
        let socket = folder().join("vhost.sock");
        let (eal, _) = init(eal_args(&[&format!("net_vhost0,iface={},tso=1", socket.display())])).unwrap();
        let pool: Mempool = Mempool::builder("pool").size(2047).build(&eal).unwrap();
        let (port, mut rx, _tx) = start(only_port(&eal), &pool);
        let peer = attach(&eal, &format!("net_virtio_user0,path={}", socket.display())).unwrap().remove(0);
        let info = peer.info().unwrap();
        assert!(info.offers_rx.contains(RxOffloads::TCP_LRO), "{info:?}");
        assert_eq!(info.max_lro_len, None);
        let offloads = TxOffloads::TCP_CHECKSUM | TxOffloads::TCP_SEGMENTS;
        let config = PortConfig::default().rx_offloads(RxOffloads::TCP_LRO).tx_offloads(offloads);
        let error = peer.configure(&config.clone().max_lro_len(9000), &pool).unwrap_err();
        let limits = "the device supports no choice: leave max_lro_len out";
        assert!(error.to_string().ends_with(limits), "{error}");
        let peer = eal.ports().remove(0).configure(&config, &pool).unwrap();
        let (peer, _peer_rx, mut peer_tx) = peer.start().unwrap();
        until("the link is up", || port.link().unwrap().up && peer.link().unwrap().up);

        let segment = tcp(&frame(3, 1000));
        let mut whole = frame(0, 14 + 40);
        whole[12..14].copy_from_slice(&[0x86, 0xdd]);
        whole[14..22].copy_from_slice(&[0x60, 0, 0, 0, 4, 4, TCP, 64]);
        whole[18..20].copy_from_slice(&(segment.len() as u16).to_be_bytes());
        whole.extend(segment);
        for request in [TxRequest::ipv6(14, 40).tcp_segments(20, 400), TxRequest::new()] {
            send_with(&mut peer_tx[0], packet(&pool, &whole), &request);
        }
        let merged = receive(&mut rx);
        assert_eq!((merged.lro_segment_len(), merged.len()), (Some(400), whole.len()));
        assert_eq!(bytes(&merged)[74..], whole[74..]);
        assert_eq!(receive(&mut rx).lro_segment_len(), None, "nobody asked to cut the second");
    });
}

#[test]
fn headers_for_which_the_driver_has_no_room_are_refused() {
    let Some(namespace) = with_tap() else { return };
    isolated_in(&namespace, &TAP, |eal| {
        let (pool, mut tap, _socket) = both_sides(&eal, &PortConfig::default());
        let pool = &pool;
        let data = frame(3, 1000);
        let long = [ipv4(TCP, &tcp(&data)), vec![0; 100]].concat();
        let mut tagged = long[..12].to_vec();
        tagged.extend([0; 28]);
        tagged.extend(&long[12..]);
        tagged[42] = 0x4f;
        let (error, packet) = tap
            .tx
            .prepare::<_, 4>()
            .push(packet(pool, &tagged), &TxRequest::ipv4(42, 60).tcp_segments(60, 100))
            .unwrap_err();
        assert_eq!(error, RequestError::Length { what: "Ethernet, IP and TCP", len: 162 });
        assert_eq!(bytes(&packet), tagged);
    });
}

#[test]
fn vlan_tags_are_put_in_and_taken_off() {
    let Some(namespace) = with_tap() else { return };
    isolated_in(&namespace, &TAP, |eal| {
        let config = PortConfig::default().vlan_strip(true).tx_offloads(TxOffloads::VLAN_INSERT);
        let (pool, mut tap, mut socket) = both_sides(&eal, &config);
        let pool = &pool;
        let plain = complete(ipv4(UDP, &udp(b"tagged")));
        let tci = 5 << 13 | 100;
        send_with(&mut socket.tx, packet(pool, &plain), &TxRequest::new().insert_vlan(tci));
        let received = receive(&mut tap.rx);
        let tagged = [&plain[..12], &[0x81, 0], &tci.to_be_bytes(), &plain[12..]].concat();
        assert_eq!(bytes(&received), tagged);
        assert_eq!((received.packet_type().l2(), received.stripped_vlan()), (Some(L2::Vlan), None));
        assert_eq!((received.ip_checksum(), received.l4_checksum()), (Checksum::Good, Checksum::Good));
        let headers = received.headers();
        assert_eq!((headers.l2_len, headers.l3_len, headers.l4_len), (18, 20, 8));

        send(&mut tap.tx, received);
        let received = receive(&mut socket.rx);
        assert_eq!((bytes(&received), received.stripped_vlan()), (plain.clone(), Some(tci)));

        // Some drivers free a frame that they cannot put a tag into, and say that they have not taken it.
        let mut full = packet(pool, &plain);
        full.prepend(full.headroom() - 3).unwrap().fill(0);
        let mut burst = socket.tx.prepare::<_, 1>();
        let (error, mut full) = burst.push(full, &TxRequest::new().insert_vlan(tci)).unwrap_err();
        assert_eq!(error, RequestError::NoHeadroom);
        full.adj(1).unwrap();
        burst.push(full, &TxRequest::new().insert_vlan(tci)).unwrap();
    });
}

#[test]
fn what_a_device_cannot_do_is_refused() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let info = only_port(&eal).info().unwrap();
        assert_eq!((info.offers_rx, info.offers_tx), (RxOffloads::NONE, TxOffloads::NONE));
        let asked = PortConfig::default().tx_offloads(TxOffloads::UDP_CHECKSUM | TxOffloads::VLAN_INSERT);
        let error = only_port(&eal).configure(&asked, &pool).unwrap_err();
        let words = "port 0 (net_ring0): the device has no UDP_CKSUM | VLAN_INSERT for frames that it sends";
        assert_eq!(error.to_string(), words);
        let asked = PortConfig::default().rx_offloads(RxOffloads::TCP_LRO | RxOffloads::KEEP_CRC);
        let error = only_port(&eal).configure(&asked, &pool).unwrap_err();
        assert!(error.to_string().ends_with("the device has no TCP_LRO | KEEP_CRC for received frames"), "{error}");
        let asked = PortConfig::default().rx_offloads(RxOffloads::TIMESTAMP);
        let error = only_port(&eal).configure(&asked, &pool).unwrap_err();
        assert!(matches!(&error, PortError::Lacks { what, .. } if what == "TIMESTAMP for received frames"), "{error}");

        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        let frame = ipv4(UDP, &udp(b"to the ring"));
        let mut burst = tx.prepare::<_, 2>();
        let request = TxRequest::ipv4(14, 20).udp_checksum();
        let (error, refused) = burst.push(packet(&pool, &frame), &request).unwrap_err();
        assert_eq!(error, RequestError::Lacks(TxOffloads::UDP_CHECKSUM));
        // Without a request any frame may be sent, even a shared one, until the burst is full.
        let mut original = refused;
        let twin = original.share(&pool).unwrap();
        burst.push(original, &TxRequest::new()).unwrap();
        burst.push(twin, &TxRequest::new()).unwrap();
        let (error, _) = burst.push(packet(&pool, &frame), &TxRequest::new()).unwrap_err();
        assert_eq!(error, RequestError::Full);
        assert_eq!((burst.send(), burst.is_empty()), (2, true));
        for _ in 0..2 {
            assert_eq!(bytes(&receive(&mut rx)), frame);
        }
        let mut burst = tx.prepare::<_, 2>();
        burst.push(packet(&pool, &frame), &TxRequest::new()).unwrap();
        burst.clear();
        burst.push(packet(&pool, &frame), &TxRequest::new()).unwrap();
        drop(burst);
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn shared_data_is_not_given_to_a_device_that_may_change_it() {
    let Some(namespace) = with_tap() else { return };
    isolated_in(&namespace, &TAP, |eal| {
        let (pool, mut tap, mut socket) = both_sides(&eal, &PortConfig::default());
        let pool = &pool;
        let frame = ipv4(UDP, &udp(b"shared"));
        let mut original = packet(pool, &frame);
        let twin = original.share(pool).unwrap();
        let request = TxRequest::ipv4(14, 20).udp_checksum();
        let mut burst = tap.tx.prepare::<_, 4>();
        let (error, twin) = burst.push(twin, &request).unwrap_err();
        assert_eq!(error, RequestError::Shared);
        let (error, original) = burst.push(original, &request).unwrap_err();
        assert_eq!(error, RequestError::Shared);
        drop(twin);
        burst.push(original, &request).unwrap();
        assert_eq!(burst.send(), 1);
        assert_eq!(l4_sum(&bytes(&receive(&mut socket.rx))), 0xffff);
    });
}

#[test]
fn packets_that_were_not_sent_come_back_without_their_requests() {
    let Some(namespace) = with_tap() else { return };
    isolated_in(&namespace, &TAP, |eal| {
        let (pool, mut tap, mut socket) = both_sides(&eal, &PortConfig::default());
        let frame = ipv4(UDP, &udp(b"as it is"));
        let mut burst = tap.tx.prepare::<_, 4>();
        burst.push(packet(&pool, &frame), &TxRequest::ipv4(14, 20).ip_checksum().udp_checksum()).unwrap();
        let mut packets = burst.into_packets();
        assert_eq!((packets.len(), tap.tx.tx(&mut packets)), (1, 1));
        assert_eq!(bytes(&receive(&mut socket.rx)), frame, "no checksum was written");
    });
}
