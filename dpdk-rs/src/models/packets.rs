// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Packets: their data, chains, and data that several refer to.

use super::eal;
use crate::{Eal, Mempool, Packet, PacketError};

fn pool(eal: &Eal) -> Mempool<u64> {
    Mempool::builder("pool").size(6).cache(0).data_room(256).build(eal).expect("the stand-in refuses no pool")
}

fn packet(pool: &Mempool<u64>, bytes: &[u8]) -> Packet<u64> {
    let mut packet = pool.alloc().expect("the pool has an mbuf");
    packet.append(bytes.len()).expect("the mbuf has room").copy_from_slice(bytes);
    packet
}

fn bytes(packet: &Packet<u64>) -> Vec<u8> {
    packet.segments().flatten().copied().collect()
}

#[test]
fn a_frame_grows_and_shrinks() {
    let eal = eal();
    let pool = pool(&eal);
    let mut packet = packet(&pool, &[1, 2, 3]);
    packet.prepend(2).expect("the headroom is larger").copy_from_slice(&[8, 9]);
    packet.adj(1).expect("the frame is longer");
    packet.trim(1).expect("the frame is longer");
    assert_eq!(packet.data(), [9, 1, 2]);
    packet.data_mut().expect("nobody else has it")[0] = 7;
    let room = packet.tailroom();
    packet.append(room).expect("the mbuf has room").fill(5);
    assert!(packet.append(1).is_err());
    packet.prepend(packet.headroom()).expect("the mbuf has room").fill(4);
    assert_eq!(packet.len(), 256);
    drop(packet);
    assert_eq!(pool.available(), 6);
}

#[test]
fn chains_are_split_and_joined() {
    let eal = eal();
    let pool = pool(&eal);
    for at in 0..=6 {
        let mut front = packet(&pool, &[1, 2, 3]);
        front.chain(packet(&pool, &[4, 5, 6])).expect("a chain of two");
        let rest = front.split_off(at, &pool).expect("the pool has an mbuf");
        assert_eq!((bytes(&front), bytes(&rest)), ((1..=at as u8).collect(), (at as u8 + 1..=6).collect()));
        front.chain(rest).expect("a chain of four");
        for segment in front.segments_mut().into_iter().flatten() {
            segment.reverse();
        }
        front.keep_front(2);
        assert_eq!(front.len(), 2);
        drop(front);
        assert_eq!(pool.available(), 6, "after a cut at {at}");
    }
}

#[test]
fn data_is_shared_and_given_back() {
    let eal = eal();
    let pool = pool(&eal);
    let mut own = packet(&pool, &[1, 2, 3]);
    let mut other = own.share(&pool).expect("the pool has an mbuf");
    *other.private_mut() = 3;
    assert_eq!(own.data_mut().err(), Some(PacketError::Shared));
    let read = std::thread::spawn(move || (bytes(&other), drop(other)).0);
    assert_eq!(read.join().expect("it does not panic"), [1, 2, 3]);
    own.data_mut().expect("nobody else has it").fill(0);
    let last = own.share(&pool).expect("the pool has an mbuf");
    drop(own);
    assert_eq!(last.data(), [0; 3]);
    drop(last);
    assert_eq!(pool.available(), 6);
}

#[test]
fn a_buffer_of_the_program_is_attached() {
    let eal = eal();
    let pool = pool(&eal);
    let mut own = Packet::attach(&pool, vec![1_u8, 2, 3]).map_err(|(error, _)| error).expect("there are no ports");
    own.data_mut().expect("nobody else has it")[1] = 9;
    let other = own.share(&pool).expect("the pool has an mbuf");
    assert!(own.data_mut().is_err());
    let thread = std::thread::spawn(move || drop(own));
    assert_eq!(other.data(), [1, 9, 3]);
    thread.join().expect("it does not panic");
    drop(other);
    assert_eq!(pool.available(), 6);
}

/// The pool goes first: its memory stays until the last packet has returned.
#[test]
fn packets_outlive_their_pool() {
    let eal = eal();
    let pool = pool(&eal);
    let mut packet = packet(&pool, &[1]);
    drop(pool);
    packet.append(1).expect("the mbuf has room").fill(2);
    assert_eq!(packet.data(), [1, 2]);
    drop(packet);
}

/// Every position and length of the data in a small buffer, with every length that is asked for.
#[test]
fn every_state_of_a_small_buffer() {
    const ROOM: usize = 6;
    let eal = eal();
    let pool = Mempool::<()>::builder("pool").size(1).cache(0).data_room(ROOM as u16).build(&eal).expect("no pool");
    let make = |offset: usize, len: usize| {
        let mut packet = pool.alloc().expect("the pool has an mbuf");
        packet.prepend(ROOM - offset).expect("the headroom is all of the buffer").fill(0);
        packet.trim(ROOM - offset - len).expect("the frame is longer");
        assert_eq!((packet.headroom(), packet.len(), packet.tailroom()), (offset, len, ROOM - offset - len));
        packet
    };
    for (offset, len) in (0..=ROOM).flat_map(|offset| (0..=ROOM - offset).map(move |len| (offset, len))) {
        for asked in (0..=ROOM + 1).chain([65_535, 65_536, 65_536 + len, usize::MAX]) {
            for (operation, allowed, after) in [
                (0, asked <= ROOM - offset - len, (offset, len + asked.min(ROOM))),
                (1, asked <= offset, (offset.wrapping_sub(asked), len + asked.min(ROOM))),
                (2, asked <= len, (offset + asked.min(ROOM), len.wrapping_sub(asked))),
                (3, asked <= len, (offset, len.wrapping_sub(asked))),
            ] {
                let mut packet = make(offset, len);
                let done = match operation {
                    0 => packet.append(asked).map(|bytes| bytes.fill(1)),
                    1 => packet.prepend(asked).map(|bytes| bytes.fill(1)),
                    2 => packet.adj(asked),
                    _ => packet.trim(asked),
                };
                assert_eq!(done.is_ok(), allowed, "operation {operation} of {asked} bytes at {offset}, {len}");
                let after = if allowed { after } else { (offset, len) };
                assert_eq!((packet.headroom(), packet.len()), after);
                packet.data_mut().expect("nobody else has it").fill(2);
            }
        }
    }
}
