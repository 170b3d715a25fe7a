// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Requests to a device that its driver fulfils beyond the frame.

use crate::{
    frames::{bytes, frame, only_port, packet, pool, until},
    namespace::namespace,
    offloads::with_tap,
    process::isolated_in,
};
use dpdk_rs::{Burst, Eal, Mempool, Packet, PortConfig, RequestError, TxRequest, dpdk_version, port::TxOffloads};

/// `net_af_packet` has 512 places of 2,016 bytes for frames. It compares a frame with a place, then inserts the tag, and
/// writes four bytes to the next place, or past the last one. Here a frame that is too long with its tag is dropped,
/// whatever its content, and a tagged frame that fits arrives.
#[test]
fn tags_leave_frames_in_their_places() {
    let Some(namespace) = namespace("ip link set lo up") else { return };
    isolated_in(&namespace, &["net_af_packet0,iface=lo"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let config = PortConfig::default().tx_offloads(TxOffloads::VLAN_INSERT);
        let (_port, mut rx, mut tx) = only_port(&eal).configure(&config, &pool).unwrap().start().unwrap();
        let tag = TxRequest::new().insert_vlan(7);
        for content in [vec![0xff; 2016], vec![0; 2016], vec![0xff; 2013]] {
            for _ in 0..513 {
                let mut burst = tx[0].prepare::<_, 1>();
                burst.push(packet(&pool, &content), &tag).map_err(|(error, _)| error).unwrap();
                assert_eq!(burst.send(), 1);
            }
        }
        let plain = frame(1, 100);
        let mut burst = tx[0].prepare::<_, 1>();
        burst.push(packet(&pool, &plain), &tag).map_err(|(error, _)| error).unwrap();
        assert_eq!(burst.send(), 1);
        drop(burst);
        let tagged = [&plain[..12], &[0x81, 0, 0, 7], &plain[12..]].concat();
        let mut received = Burst::<(), 32>::new();
        until("the tagged frame is back", || {
            received.clear();
            rx[0].rx(&mut received);
            received.iter().any(|packet| bytes(packet) == tagged)
        });
    });
}

/// `net_tap` copies the flags of a frame to the segments that it makes of it: where these say that the data is in a
/// buffer of the program, it frees a buffer that is not there. Here such a frame is refused, unless only its data lies
/// there, in a later mbuf.
#[test]
fn segments_claim_no_buffer_of_the_program() {
    let Some(namespace) = with_tap() else { return };
    isolated_in(&namespace, &["net_tap0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let offloads = TxOffloads::IPV4_CHECKSUM | TxOffloads::TCP_CHECKSUM | TxOffloads::TCP_SEGMENTS;
        let config = PortConfig::default().rx_descriptors(64).tx_offloads(offloads);
        let (_port, _rx, mut tx) = only_port(&eal).configure(&config, &pool).unwrap().start().unwrap();
        let mut whole = frame(0, 1400);
        whole[12..15].copy_from_slice(&[8, 0, 0x45]);
        whole[16..18].copy_from_slice(&1386_u16.to_be_bytes());
        whole[23] = 6;
        whole[46] = 0x50;
        let cut = TxRequest::ipv4(14, 20).tcp_segments(20, 500);
        let mut burst = tx[0].prepare::<_, 4>();
        let attached = Packet::attach(&pool, whole.clone()).map_err(|(error, _)| error).unwrap();
        let pinned = packet(&own_memory(&eal), &whole);
        for refused in [attached, pinned] {
            let (error, refused) = burst.push(refused, &cut).unwrap_err();
            assert_eq!((error, bytes(&refused)), (RequestError::External, whole.clone()));
            burst.push(refused.copy(&pool).unwrap(), &cut).map_err(|(error, _)| error).unwrap();
        }
        let mut chain = packet(&pool, &whole[..54]);
        let data = Packet::attach(&pool, whole[54..].to_vec()).map_err(|(error, _)| error).unwrap();
        chain.chain::<()>(data).unwrap();
        burst.push(chain, &cut).map_err(|(error, _)| error).unwrap();
        // Later releases offer to cut, and then take no such frame.
        let sent = burst.send();
        assert!(sent == 3 || !dpdk_version().starts_with("22.11"), "{sent}");
    });
}

/// A pool in memory of the program.
fn own_memory(eal: &Eal) -> Mempool {
    Mempool::builder("own").size(63).cache(0).build_in(eal, vec![0; 1 << 20]).map_err(|(error, _)| error).unwrap()
}
