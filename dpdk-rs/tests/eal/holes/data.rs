// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Holes 1 to 3: where data and private areas end.

use crate::{
    frames::{bytes, frame, packet},
    process::isolated,
};
use dpdk_rs::{Mempool, Packet, PacketError};

type Private = [u64; 4];

/// All packets of a pool without caches, so that they are neighbours in memory.
fn neighbours(pool: &Mempool<Private>) -> Vec<Packet<Private>> {
    let packets: Vec<_> = std::iter::from_fn(|| pool.alloc()).collect();
    assert_eq!(packets.len(), pool.size());
    packets
}

/// A slice that starts at the data and spans the length of the buffer reaches over the headroom's length into the next
/// mbuf. Here it ends with the data, and no packet can grow beyond its buffer.
#[test]
fn hole_01_data_ends_in_its_own_buffer() {
    isolated(&[], |eal| {
        let pool: Mempool<Private> = Mempool::builder("pool").size(15).cache(0).data_room(256).build(&eal).unwrap();
        let mut packets = neighbours(&pool);
        for (packet, number) in packets.iter_mut().zip(1_u8..) {
            *packet.private_mut() = [u64::from(number); 4];
            assert_eq!(packet.append(number.into()).unwrap().len(), number.into());
            assert_eq!((packet.data().len(), packet.data_mut().unwrap().len()), (number.into(), number.into()));
            // From the first byte of the buffer to the last.
            let (headroom, tailroom) = (packet.headroom(), packet.tailroom());
            assert_eq!((headroom, tailroom), (128, 128 - usize::from(number)));
            packet.prepend(headroom).unwrap();
            packet.append(tailroom).unwrap();
            assert!(packet.append(1).is_err() && packet.prepend(1).is_err());
            packet.data_mut().unwrap().fill(number);
        }
        for (packet, number) in packets.iter().zip(1_u8..) {
            assert_eq!(packet.data(), [number; 256], "nobody else wrote here");
            assert_eq!(*packet.private(), [u64::from(number); 4]);
        }
        let mut ranges: Vec<_> = packets.iter().map(|packet| packet.data().as_ptr_range()).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start));
        drop(packets);
        assert_eq!(pool.available(), pool.size());
    });
}

/// A length that is cut to 16 bits before it is compared passes 65,546 as 10. Here the whole number is compared.
#[test]
fn hole_02_lengths_are_compared_whole() {
    isolated(&[], |eal| {
        let pool: Mempool = Mempool::builder("pool").size(7).cache(0).build(&eal).unwrap();
        let mut packet = packet(&pool, &frame(1, 100));
        for asked in [65_546, 65_536, 65_536 + 100, 1 << 17, (1 << 32) + 10, usize::MAX - 65_535, usize::MAX] {
            assert_eq!(packet.append(asked).unwrap_err(), PacketError::NoRoom { asked, room: 2048 - 100 });
            assert_eq!(packet.prepend(asked).unwrap_err(), PacketError::NoRoom { asked, room: 128 });
            assert_eq!(packet.adj(asked).unwrap_err(), PacketError::TooShort { asked, len: 100 });
            assert_eq!(packet.trim(asked).unwrap_err(), PacketError::TooShort { asked, len: 100 });
            assert_eq!((packet.len(), packet.headroom(), packet.tailroom()), (100, 128, 2048 - 100));
        }
        assert_eq!(bytes(&packet), frame(1, 100));
    });
}

/// A bound that is the length of the buffer forgets that data starts behind the headroom. Here the room is what is left
/// behind the data, wherever that starts.
#[test]
fn hole_02_headroom_counts() {
    isolated(&[], |eal| {
        for data_room in [128, 129, 2176, 65_535] {
            let name = format!("pool-{data_room}");
            let pool: Mempool = Mempool::builder(name).size(3).cache(0).data_room(data_room).build(&eal).unwrap();
            let mut packet = pool.alloc().unwrap();
            let room = usize::from(data_room) - 128;
            let asked = usize::from(data_room);
            assert_eq!(packet.append(asked).unwrap_err(), PacketError::NoRoom { asked, room });
            assert_eq!(packet.append(room + 1).unwrap_err(), PacketError::NoRoom { asked: room + 1, room });
            assert_eq!(packet.append(room).unwrap().len(), room);
            packet.adj(room.min(28)).unwrap();
            assert_eq!((packet.headroom(), packet.tailroom()), (128 + room.min(28), 0));
        }
    });
}

/// A size that is cut to 16 bits reserves nothing for 65,536 bytes, and the private data lies over the frame. Here longer
/// types do not compile, and the longest is there to its last byte.
#[test]
fn hole_03_longest_private_area_is_all_there() {
    isolated(&[], |eal| {
        type Longest = [u8; 65_528];
        let pool: Mempool<Longest> = Mempool::builder("pool").size(3).cache(0).build(&eal).unwrap();
        let mut packets: Vec<_> = std::iter::from_fn(|| pool.alloc()).collect();
        for (packet, number) in packets.iter_mut().zip(1_u8..) {
            packet.prepend(128).unwrap();
            packet.append(2048).unwrap();
            packet.data_mut().unwrap().fill(0x80 + number);
            packet.private_mut().fill(number);
            let private = packet.private().as_ptr_range();
            assert!(private.end <= packet.data().as_ptr(), "the private area ends before the buffer");
        }
        for (packet, number) in packets.iter().zip(1_u8..) {
            assert!(packet.private().iter().all(|byte| *byte == number));
            assert_eq!(packet.data(), [0x80 + number; 2176]);
        }
        drop(packets);
        assert_eq!(pool.available(), pool.size());
    });
}

/// Sizes that are no multiple of what DPDK aligns to are rounded up, never down.
#[test]
fn hole_03_private_area_is_rounded_up() {
    fn check<const N: usize>(eal: &dpdk_rs::Eal) {
        let name = format!("pool-{N}");
        let pool: Mempool<[u8; N]> = Mempool::builder(name).size(3).cache(0).build(eal).unwrap();
        let mut packets: Vec<_> = std::iter::from_fn(|| pool.alloc()).collect();
        for packet in &mut packets {
            packet.prepend(128).unwrap().fill(0x11);
            packet.private_mut().fill(0x22);
        }
        assert!(packets.iter().all(|packet| *packet.private() == [0x22; N] && packet.data() == [0x11; 128]));
    }
    isolated(&[], |eal| {
        check::<1>(&eal);
        check::<7>(&eal);
        check::<8>(&eal);
        check::<9>(&eal);
        check::<4095>(&eal);
        check::<65_521>(&eal);
    });
}
