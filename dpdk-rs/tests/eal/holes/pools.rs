// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Holes 9 and 10: which pool an mbuf goes back to, and how long a pool lives.

use crate::{
    frames::{bytes, frame, packet, pool, receive, send, start},
    process::isolated,
};
use dpdk_rs::{Burst, Eal, Mempool, Packet};

/// Takes all memory that a freed pool may have left, and writes over it.
fn churn(eal: &Eal) {
    for number in 0..4 {
        let pool: Mempool = Mempool::builder(format!("churn-{number}")).size(1023).cache(0).build(eal).unwrap();
        for packet in std::iter::from_fn(|| pool.alloc()).collect::<Vec<_>>().iter_mut() {
            packet.append(packet.tailroom()).unwrap().fill(0xee);
        }
    }
}

/// A bulk free into the pool of the first packet puts the others into a pool that is not theirs. Here each goes home, also
/// from chains and shares, and each pool then holds its own mbufs and no others.
#[test]
fn hole_09_each_mbuf_goes_home() {
    isolated(&[], |eal| {
        let rooms = [200, 300, 400];
        let pools: Vec<Mempool> = rooms
            .iter()
            .map(|room| {
                Mempool::builder(format!("pool-{room}")).size(255).cache(32).data_room(*room).build(&eal).unwrap()
            })
            .collect();
        for round in 0..10 {
            let mut burst = Burst::<_, 192>::new();
            for number in 0..192 {
                let [first, second] = [number, number / 7 + round].map(|number| &pools[number % 3]);
                let mut packet = packet(first, &frame(number, 20));
                match number % 5 {
                    0 => packet.chain(second.alloc().unwrap()).unwrap(),
                    1 => packet = packet.share(second).unwrap(),
                    _ => (),
                }
                burst.push(packet).unwrap();
            }
            match round % 3 {
                0 => burst.clear(),
                1 => drop(burst),
                _ => burst.drain().for_each(drop),
            }
            for (pool, room) in pools.iter().zip(rooms) {
                assert_eq!(pool.available(), 255);
                let all: Vec<Packet> = std::iter::from_fn(|| pool.alloc()).collect();
                assert_eq!(all.len(), 255);
                assert!(all.iter().all(|packet| packet.tailroom() == usize::from(room) - 128), "of this pool");
            }
        }
    });
}

/// A pool that is freed with its handle leaves packets that point into memory which others get. Here its memory stays until
/// the last of its packets is back.
#[test]
fn hole_10_pool_outlives_its_handle_while_packets_are_out() {
    isolated(&[], |eal| {
        let pool: Mempool<u64> = pool(&eal, "pool");
        let mut burst = Burst::<u64, 32>::new();
        for number in 0..32 {
            let mut packet = packet(&pool, &frame(number, 1000));
            *packet.private_mut() = number as u64;
            burst.push(packet).unwrap();
        }
        drop(pool);
        churn(&eal);
        for (number, packet) in burst.iter_mut().enumerate() {
            assert_eq!((bytes(packet), *packet.private()), (frame(number, 1000), number as u64));
            packet.append(1000).unwrap().fill(0xdd);
        }
        let refused = Mempool::<u64>::builder("pool").size(7).cache(0).build(&eal).unwrap_err();
        assert!(refused.to_string().contains("File exists"), "it is still there: {refused}");
        drop(burst);
        let again: Mempool<u64> = Mempool::builder("pool").size(7).cache(0).build(&eal).unwrap();
        assert!(again.alloc().is_some());
    });
}

/// A share holds on to two pools: its own, and the one with the data.
#[test]
fn hole_10_both_pools_of_a_share_outlive_their_handles() {
    isolated(&[], |eal| {
        let (data, indirect): (Mempool, Mempool) = (pool(&eal, "data"), pool(&eal, "indirect"));
        let mut first = packet(&data, &frame(1, 1000));
        let share = first.share(&indirect).unwrap();
        drop((first, data, indirect));
        churn(&eal);
        assert_eq!(bytes(&share), frame(1, 1000));
        let taken = ["data", "indirect"].map(|name| Mempool::<()>::builder(name).size(7).cache(0).build(&eal).is_err());
        assert_eq!(taken, [true; 2]);
        drop(share);
        for name in ["data", "indirect"] {
            assert!(Mempool::<()>::builder(name).size(7).cache(0).build(&eal).is_ok());
        }
    });
}

/// A pool that is freed while a port receives into it. Here the port keeps it, and goes on.
#[test]
fn hole_10_pool_outlives_its_handle_while_a_port_receives() {
    isolated(&["net_null0", "net_ring0"], |eal| {
        let mut ports = eal.ports().into_iter();
        let pool: Mempool = pool(&eal, "pool");
        let (null, mut rx, _tx) = start(ports.next().unwrap(), &pool);
        let (_ring, mut ring_rx, mut ring_tx) = start(ports.next().unwrap(), &pool);
        send(&mut ring_tx, packet(&pool, &frame(1, 60)));
        drop((pool, null));
        churn(&eal);
        for _ in 0..1000 {
            let packet = receive(&mut rx);
            assert_eq!((packet.len(), packet.headroom()), (64, 128));
        }
        assert_eq!(bytes(&receive(&mut ring_rx)), frame(1, 60));
        assert!(Mempool::<()>::builder("pool").size(7).cache(0).build(&eal).is_err(), "it is still there");
    });
}

/// A device that is stopped and not closed keeps descriptors of a pool that is gone. Here it is closed before its pool goes,
/// in whatever order the handles are dropped.
#[test]
fn hole_10_port_is_closed_before_its_pool_goes() {
    isolated(&["net_ring0", "net_ring1", "net_ring2"], |eal| {
        for (round, port) in eal.ports().into_iter().enumerate() {
            let pool: Mempool = pool(&eal, "pool");
            let (port, rx, tx) = start(port, &pool);
            match round {
                0 => drop((pool, port, rx, tx)),
                1 => drop((port.stop(vec![rx], vec![tx]).unwrap(), pool)),
                _ => drop((tx, pool, rx, port)),
            }
            assert!(eal.ports().is_empty(), "a closed port is not available again");
        }
        let again: Mempool = pool(&eal, "pool");
        assert!(again.alloc().is_some(), "the name is free, so the pools are gone");
    });
}
