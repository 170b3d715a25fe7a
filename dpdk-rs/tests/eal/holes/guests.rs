// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a guest may make a driver say of its frames. `tests/guest/` has guests that do worse.

use crate::{
    frames::{bytes, frame, packet, pool, receive, send, start, until},
    process::{attach, eal_args, folder, init, isolated_bare},
};
use dpdk_rs::{Burst, Mempool, Packet};

/// A frame of so many bytes, in mbufs of 2,048.
fn long(pool: &Mempool, len: usize) -> Packet {
    let all = frame(1, len);
    let mut pieces = all.chunks(2048).map(|piece| packet(pool, piece));
    let mut whole = pieces.next().unwrap();
    pieces.for_each(|piece| whole.chain(piece).unwrap());
    whole
}

/// The driver counts 65,546 segments as 10. Another driver reserves as many descriptors, and writes beyond them.
#[test]
fn frames_of_more_segments_than_vhost_counts_are_dropped() {
    isolated_bare(|| {
        let socket = folder().join("vhost.sock");
        let (eal, _) = init(eal_args(&[&format!("net_vhost0,iface={}", socket.display())])).unwrap();
        let small: Mempool = Mempool::builder("small").size(66_000).cache(0).data_room(129).build(&eal).unwrap();
        let pool: Mempool = pool(&eal, "pool");
        let (vhost, mut rx, _tx) = start(eal.ports().remove(0), &small);
        let device = format!("net_virtio_user0,path={},in_order=0", socket.display());
        let (_peer, _peer_rx, mut peer_tx) = start(attach(&eal, &device).unwrap().remove(0), &pool);
        until("the link is up", || vhost.link().unwrap().up);
        for (number, len) in [65_546, 65_536, 65_535, 32_767].into_iter().enumerate() {
            send(&mut peer_tx, long(&pool, len));
            let mut burst = Burst::<(), 8>::new();
            until("the frame arrives or is dropped", || rx.rx(&mut burst) > 0 || rx.foreign() > number as u64);
            for packet in &burst {
                assert_eq!(packet.segments().count(), packet.segment_count(), "of {len} bytes");
                assert!(packet.segment_count() <= 32_766);
            }
            assert_eq!((burst.len(), small.available()), (0, small.size()));
        }
        send(&mut peer_tx, long(&pool, 32_766));
        let longest = receive(&mut rx);
        assert_eq!((longest.segment_count(), longest.segments().count()), (32_766, 32_766));
        assert!(bytes(&longest) == frame(1, 32_766));
    });
}
