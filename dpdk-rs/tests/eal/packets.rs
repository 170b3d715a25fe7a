// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What can be done to one packet, up to each edge of its buffer.

use crate::{
    frames::{bytes, frame, packet, pool},
    process::isolated,
};
use dpdk_rs::{Eal, Mempool, MempoolError, PacketError, SocketId};

const HEADROOM: usize = 128;
const ROOM: usize = 2048;

#[test]
fn fresh_packet_is_empty_with_room_on_both_sides() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut packet = pool.alloc().unwrap();
        assert_eq!((packet.len(), packet.is_empty(), packet.segment_count()), (0, true, 1));
        assert_eq!((packet.headroom(), packet.tailroom()), (HEADROOM, ROOM));
        assert!(packet.is_contiguous() && packet.port().is_none());
        assert!(packet.data().is_empty() && packet.data_mut().unwrap().is_empty());
        assert_eq!(packet.segments().map(<[u8]>::len).collect::<Vec<_>>(), [0]);
        assert_eq!(packet.copy_to(&mut [0; 8]), 0);
        assert_eq!(format!("{packet:?}"), "Packet { len: 0, segments: 1, port: None }");
    });
}

#[test]
fn data_can_be_changed_in_place() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut packet = packet(&pool, &frame(3, 100));
        packet.data_mut().unwrap()[99] = 0xee;
        packet.data_mut().unwrap()[..6].copy_from_slice(&[1, 2, 3, 4, 5, 6]);
        let mut expected = frame(3, 100);
        expected[99] = 0xee;
        expected[..6].copy_from_slice(&[1, 2, 3, 4, 5, 6]);
        assert_eq!(packet.data(), expected);
        packet.prefetch();
    });
}

#[test]
fn what_a_device_leaves_behind_the_data_is_read() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let with_crc = frame(4, 64);
        // As drivers receive it that keep the FCS: it is in the buffer, and in no length.
        let mut received = packet(&pool, &with_crc);
        received.trim(4).unwrap();
        assert_eq!((received.len(), received.kept_crc().unwrap().as_slice()), (60, &with_crc[60..]));
        // Another owner may write there.
        let twin = received.share(&pool).unwrap();
        assert_eq!((received.kept_crc(), twin.kept_crc()), (None, None));
        drop(twin);
        assert!(received.kept_crc().is_some());
        received.append(ROOM - 60 - 4).unwrap().fill(0);
        assert!(received.kept_crc().is_some(), "just enough room");
        received.append(1).unwrap();
        assert_eq!(received.kept_crc(), None, "beyond the buffer");
        let mut chain = packet(&pool, &frame(1, 60));
        chain.chain(packet(&pool, &frame(2, 60))).unwrap();
        assert_eq!(chain.kept_crc(), None);
        assert_eq!(chain.lro_segment_len(), None, "no device has made it");
    });
}

#[test]
fn append_and_prepend_go_to_the_edge_and_not_beyond() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut packet = pool.alloc().unwrap();
        packet.append(10).unwrap().fill(0xaa);
        assert_eq!(packet.append(ROOM - 9).unwrap_err(), PacketError::NoRoom { asked: ROOM - 9, room: ROOM - 10 });
        assert_eq!(packet.prepend(HEADROOM + 1).unwrap_err(), PacketError::NoRoom { asked: 129, room: 128 });
        assert_eq!(packet.data(), [0xaa; 10], "a refused call changes nothing");
        assert_eq!((packet.headroom(), packet.tailroom()), (HEADROOM, ROOM - 10));

        assert_eq!(packet.append(ROOM - 10).unwrap().len(), ROOM - 10);
        let front = packet.prepend(HEADROOM).unwrap();
        assert_eq!(front.len(), HEADROOM);
        front.fill(0xbb);
        assert_eq!((packet.headroom(), packet.tailroom(), packet.len()), (0, 0, HEADROOM + ROOM));
        assert_eq!(packet.append(1).unwrap_err(), PacketError::NoRoom { asked: 1, room: 0 });
        assert_eq!(packet.prepend(1).unwrap_err(), PacketError::NoRoom { asked: 1, room: 0 });
        assert_eq!(packet.append(0).unwrap().len(), 0);
        assert_eq!(packet.data()[..HEADROOM], [0xbb; HEADROOM]);
        assert_eq!(packet.data()[HEADROOM..HEADROOM + 10], [0xaa; 10]);
    });
}

#[test]
fn lengths_that_do_not_fit_16_bits_are_not_cut() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut packet = packet(&pool, &frame(0, 64));
        for asked in [65_536, 65_536 + 10, 1 << 32, usize::MAX] {
            assert_eq!(packet.append(asked).unwrap_err(), PacketError::NoRoom { asked, room: ROOM - 64 });
            assert_eq!(packet.prepend(asked).unwrap_err(), PacketError::NoRoom { asked, room: HEADROOM });
            assert_eq!(packet.adj(asked).unwrap_err(), PacketError::TooShort { asked, len: 64 });
            assert_eq!(packet.trim(asked).unwrap_err(), PacketError::TooShort { asked, len: 64 });
        }
        assert_eq!(bytes(&packet), frame(0, 64));
    });
}

#[test]
fn adj_and_trim_go_to_the_last_byte_and_not_beyond() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut packet = packet(&pool, &frame(5, 100));
        packet.adj(14).unwrap();
        packet.trim(4).unwrap();
        assert_eq!(packet.data(), &frame(5, 100)[14..96]);
        assert_eq!((packet.len(), packet.headroom()), (82, HEADROOM + 14));
        assert_eq!(packet.adj(83).unwrap_err(), PacketError::TooShort { asked: 83, len: 82 });
        assert_eq!(packet.trim(83).unwrap_err(), PacketError::TooShort { asked: 83, len: 82 });
        packet.trim(82).unwrap();
        assert_eq!((packet.is_empty(), packet.tailroom()), (true, ROOM - 14));
        assert_eq!(packet.trim(1).unwrap_err(), PacketError::TooShort { asked: 1, len: 0 });
        assert_eq!(packet.adj(1).unwrap_err(), PacketError::TooShort { asked: 1, len: 0 });
        assert_eq!(packet.prepend(HEADROOM + 14).unwrap().len(), HEADROOM + 14);
    });
}

#[test]
fn errors_say_the_numbers() {
    assert_eq!(PacketError::NoRoom { asked: 5, room: 2 }.to_string(), "5 bytes do not fit: the segment has room for 2");
    assert_eq!(
        PacketError::TooShort { asked: 5, len: 2 }.to_string(),
        "5 bytes cannot be removed: the segment holds 2"
    );
    assert_eq!(
        PacketError::Shared.to_string(),
        "the packet's data is shared with another packet: copy it to change it"
    );
}

#[test]
fn copy_is_as_long_as_the_shorter_side() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let packet = packet(&pool, &frame(9, 50));
        let mut short = [0; 20];
        assert_eq!(packet.copy_to(&mut short), 20);
        assert_eq!(short, frame(9, 50)[..20]);
        let mut long = [0xff; 60];
        assert_eq!(packet.copy_to(&mut long), 50);
        assert_eq!(long[..50], frame(9, 50));
        assert_eq!(long[50..], [0xff; 10]);
        assert_eq!(packet.copy_to(&mut []), 0);
    });
}

#[test]
fn mbufs_come_back_clean() {
    isolated(&[], |eal| {
        let pool: Mempool = Mempool::builder("pool").size(1).cache(0).build(&eal).unwrap();
        let mut first = pool.alloc().unwrap();
        first.append(700).unwrap();
        first.prepend(50).unwrap();
        assert!(pool.alloc().is_none(), "there is only one");
        drop(first);
        let second = pool.alloc().unwrap();
        assert_eq!((second.len(), second.headroom(), second.tailroom()), (0, HEADROOM, ROOM));
    });
}

#[test]
fn packets_can_cross_threads() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let sent = packet(&pool, &frame(1, 64));
        let back = std::thread::spawn(move || {
            assert_eq!(dpdk_rs::lcore::current(), None);
            bytes(&sent)
        });
        assert_eq!(back.join().unwrap(), frame(1, 64));
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn small_and_missing_data_rooms_hold_what_they_hold() {
    isolated(&[], |eal| {
        for (room, headroom, tailroom) in
            [(0, 0, 0), (100, 100, 0), (128, 128, 0), (129, 128, 1), (65_535, 128, 65_407)]
        {
            let name = format!("room-{room}");
            let pool: Mempool = Mempool::builder(name).size(7).cache(0).data_room(room).build(&eal).unwrap();
            let mut packet = pool.alloc().unwrap();
            assert_eq!((packet.headroom(), packet.tailroom()), (headroom, tailroom), "data room {room}");
            assert_eq!(packet.append(tailroom).unwrap().len(), tailroom);
            assert_eq!(packet.append(1).unwrap_err(), PacketError::NoRoom { asked: 1, room: 0 });
            assert_eq!(packet.prepend(headroom).unwrap().len(), headroom);
            assert_eq!(packet.len(), usize::from(room));
        }
    });
}

fn refused(eal: &Eal, size: u32, cache: u32) -> String {
    Mempool::<()>::builder("refused").size(size).cache(cache).build(eal).unwrap_err().to_string()
}

#[test]
fn pools_that_cannot_be_made_say_why() {
    isolated(&[], |eal| {
        let _held: Mempool = pool(&eal, "taken");
        let error = Mempool::<()>::builder("taken").size(511).build(&eal).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot create pool 'taken' of 511 mbufs: File exists: the name is in use, or its last object has not been freed yet"
        );
        for name in ["nul\0", "für", "23-bytes-are-not-enough"] {
            let error = Mempool::<()>::builder(name).build(&eal).unwrap_err();
            assert_eq!(error, MempoolError::Name(name.to_owned()));
        }
        assert_eq!(
            refused(&eal, 0, 0),
            "cannot create pool 'refused' of 0 mbufs: Invalid argument: \
                give at least 1 mbuf, and a cache of at most 512 and of two thirds of them"
        );
        assert!(refused(&eal, 2048, 513).contains("Invalid argument: give"), "the cache is too large");
        assert!(refused(&eal, 1 << 24, 0).contains("Cannot allocate memory: request less"));
        let large = Mempool::<()>::builder("large").size(1 << 24).socket(SocketId::FIRST).build(&eal).unwrap_err();
        assert!(large.to_string().starts_with("cannot create pool 'large' of 16777216 mbufs on socket 0: "), "{large}");
    });
}

/// Without a cache of their own the default would be larger than DPDK allows.
#[test]
fn small_pools_need_no_cache_to_be_given() {
    isolated(&[], |eal| {
        for size in [1, 2, 7, 63, 255, 383, 384] {
            let small: Mempool = Mempool::builder(format!("of {size}")).size(size).build(&eal).unwrap();
            let all: Vec<_> = std::iter::from_fn(|| small.alloc()).collect();
            assert_eq!(all.len() as u32, size);
        }
    });
}

#[test]
fn name_is_free_again_once_all_packets_are_back() {
    isolated(&[], |eal| {
        let first: Mempool = pool(&eal, "pool");
        let packet = first.alloc().unwrap();
        drop(first);
        assert!(Mempool::<()>::builder("pool").size(7).build(&eal).is_err(), "a packet is still out");
        drop(packet);
        let again: Mempool = pool(&eal, "pool");
        assert!(again.alloc().is_some());
    });
}
