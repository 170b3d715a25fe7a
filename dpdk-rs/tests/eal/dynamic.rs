// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Fields and flags of mbufs that are registered at run time.

use crate::{
    frames::{frame, only_port, packet, pool, receive, send, start},
    process::{eal_args, folder, init, isolated, isolated_bare},
};
use dpdk_rs::{DynField, DynFlag, DynamicError, Mempool, RxTimestamp};
use std::fs;

const EEXIST: i32 = 17;
const EINVAL: i32 = 22;
const ENOENT_TO_ENOSPC: [i32; 2] = [2, 28];

#[test]
fn fields_and_flags_travel_with_the_packet() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        let wide = DynField::<u64>::register(&eal, "test_wide").unwrap();
        let narrow = DynField::<[u8; 3]>::register(&eal, "test_narrow").unwrap();
        let (first, second) =
            (DynFlag::register(&eal, "test_first").unwrap(), DynFlag::register(&eal, "test_second").unwrap());
        let mut sent = packet(&pool, &frame(1, 64));
        assert!(!sent.flag(first) && !sent.flag(second));
        sent.set_field(wide, u64::MAX - 1);
        sent.set_field(narrow, [1, 2, 3]);
        sent.set_flag(first, true);
        sent.set_flag(second, true);
        sent.set_flag(second, false);
        assert_eq!((sent.data(), sent.len()), (frame(1, 64).as_slice(), 64));
        send(&mut tx, sent);
        let received = receive(&mut rx);
        assert_eq!((received.field(wide), received.field(narrow)), (u64::MAX - 1, [1, 2, 3]));
        assert!(received.flag(first) && !received.flag(second));
        assert_eq!(received.data(), frame(1, 64));
        drop(received);
        // A new packet has no flags.
        let all: Vec<_> = std::iter::from_fn(|| pool.alloc()).collect();
        assert!(all.len() == pool.size() && !all.iter().any(|packet| packet.flag(first)));
    });
}

/// Also for a frame without bytes, which DPDK does not copy.
#[test]
fn fields_and_flags_are_copied() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let field = DynField::<u64>::register(&eal, "test_field").unwrap();
        let (set, unset) =
            (DynFlag::register(&eal, "test_set").unwrap(), DynFlag::register(&eal, "test_unset").unwrap());
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        for len in [60, 0] {
            send(&mut tx, packet(&pool, &frame(1, 60)));
            let mut first = receive(&mut rx);
            first.trim(60 - len).unwrap();
            first.set_field(field, 7 + len as u64);
            first.set_flag(set, true);
            let shared = first.share(&pool).unwrap();
            for packet in [&first, &shared] {
                let copy = packet.copy(&pool).unwrap();
                assert_eq!((copy.len(), copy.field(field), copy.port()), (len, 7 + len as u64, first.port()));
                assert!(copy.flag(set) && !copy.flag(unset) && !copy.is_shared());
            }
        }
        assert_eq!(pool.available(), 511);
    });
}

#[test]
fn a_name_is_one_field() {
    isolated(&["net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut packet = pool.alloc().unwrap();
        let unsigned = DynField::<u32>::register(&eal, "test_same").unwrap();
        let signed = DynField::<i32>::register(&eal, "test_same").unwrap();
        packet.set_field(unsigned, u32::MAX);
        assert_eq!(packet.field(signed), -1);
        match DynField::<u64>::register(&eal, "test_same").unwrap_err() {
            DynamicError::Field { name, len: 8, errno } => {
                assert_eq!((name.as_str(), errno.get()), ("test_same", EEXIST));
            }
            other => panic!("{other:?}"),
        }
        for name in ["", "with\0nul", &"x".repeat(61)] {
            assert_eq!(DynField::<u8>::register(&eal, name).unwrap_err(), DynamicError::Name(name.to_owned()));
            assert_eq!(DynFlag::register(&eal, name).unwrap_err(), DynamicError::Name(name.to_owned()));
        }
        DynFlag::register(&eal, &"x".repeat(60)).unwrap();
        let mut given = 0;
        let error = loop {
            match DynField::<u64>::register(&eal, &format!("test_{given}")) {
                Ok(_) => given += 1,
                Err(error) => break error,
            }
        };
        let DynamicError::Field { errno, .. } = &error else { panic!("{error:?}") };
        assert!((1..16).contains(&given) && ENOENT_TO_ENOSPC.contains(&errno.get()), "{given}: {error}");
        assert!(error.to_string().starts_with(&format!("cannot register 'test_{given}', 8 bytes of every mbuf: ")));
        let flags = (0..64).take_while(|number| DynFlag::register(&eal, &format!("flag_{number}")).is_ok()).count();
        assert!((1..=18).contains(&flags), "{flags}");
    });
}

/// Mbufs lie at multiples of 64 bytes.
#[test]
fn a_field_may_not_want_more_alignment_than_mbufs_have() {
    #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C, align(64))]
    struct Line([u8; 0]);
    #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C, align(128))]
    struct Lines([u8; 0]);
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let packet = pool.alloc().unwrap();
        let field = DynField::<Line>::register(&eal, "test_line").unwrap();
        assert_eq!(packet.field(field).0, [0; 0]);
        let result = DynField::<Lines>::register(&eal, "test_lines");
        let error = result.map(|field| packet.field(field).0).unwrap_err();
        assert!(matches!(error, DynamicError::Field { len: 0, errno, .. } if errno.get() == EINVAL), "{error}");
    });
}

/// A capture with one frame, of 14 bytes, at 3.000005 s.
const CAPTURE: [u8; 24 + 16 + 14] = {
    let mut file = [0; 54];
    let head = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0];
    let record = [3, 0, 0, 0, 5, 0, 0, 0, 14, 0, 0, 0, 14, 0, 0, 0];
    let mut place = 0;
    while place < head.len() {
        file[place] = head[place];
        place += 1;
    }
    while place < head.len() + record.len() {
        file[place] = record[place - head.len()];
        place += 1;
    }
    file
};

#[test]
fn devices_say_when_a_frame_came() {
    isolated_bare(|| {
        let path = folder().join("timed.pcap");
        fs::write(&path, CAPTURE).unwrap();
        let (eal, _) = init(eal_args(&[&format!("net_pcap0,rx_pcap={}", path.display())])).unwrap();
        let pool: Mempool = pool(&eal, "pool");
        let timestamp = RxTimestamp::register(&eal).unwrap();
        let (_port, mut rx, _tx) = start(only_port(&eal), &pool);
        assert_eq!(receive(&mut rx).rx_timestamp(&timestamp), Some(3_000_005));
        assert_eq!(pool.alloc().unwrap().rx_timestamp(&timestamp), None);
    });
}
