// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Pools whose mbufs have their buffers in memory of the program.

use crate::{
    frames::{bytes, frame, only_port, packet, pool as ordinary, receive, send, start, until},
    process::{attach, eal_args, folder, init, isolated, isolated_bare},
};
use dpdk_rs::{
    BufferError, Burst, Eal, Mempool, MempoolError, Packet, PacketError, PoolDriver, PortConfig, PortError,
    PrivateData, fragment::Fragmenter, memory::Memzone,
};
use std::{
    collections::BTreeSet,
    mem,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};

/// Memory that counts its drops.
struct Memory<M>(M, Arc<AtomicU32>);

impl<M: AsMut<[u8]>> AsMut<[u8]> for Memory<M> {
    fn as_mut(&mut self) -> &mut [u8] {
        self.0.as_mut()
    }
}

impl<M> Drop for Memory<M> {
    fn drop(&mut self) {
        self.1.fetch_add(1, SeqCst);
    }
}

/// A pool of so many mbufs in memory of its own, the addresses of that, and the count of its drops.
fn in_memory<P: PrivateData>(eal: &Eal, name: &str, size: u32) -> (Mempool<P>, Range<usize>, Arc<AtomicU32>) {
    let mut memory = vec![0xa5_u8; size as usize * 2176 + 64];
    let place = memory.as_mut_ptr_range();
    let drops = Arc::new(AtomicU32::new(0));
    let builder = Mempool::builder(name).size(size).cache(0);
    let pool = builder.build_in(eal, Memory(memory, Arc::clone(&drops))).map_err(|(error, _)| error).unwrap();
    (pool, place.start.addr()..place.end.addr(), drops)
}

fn address<P: PrivateData>(packet: &Packet<P>) -> usize {
    packet.data().as_ptr().addr()
}

/// Frees the objects that wait for it.
fn free_what_can_be(eal: &Eal) {
    drop(Mempool::<()>::builder("another").size(1).cache(0).build(eal).unwrap());
}

#[test]
fn buffers_lie_in_the_memory() {
    isolated(&[], |eal| {
        let (pool, place, drops) = in_memory::<u64>(&eal, "pool", 63);
        assert_eq!((pool.size(), pool.available(), pool.data_room()), (63, 63, 2176));
        let mut packets: Vec<Packet<u64>> = std::iter::from_fn(|| pool.alloc()).collect();
        assert_eq!((packets.len(), pool.available()), (63, 0));
        for (number, packet) in packets.iter_mut().enumerate() {
            assert_eq!((packet.headroom(), packet.tailroom(), packet.is_shared()), (128, 2048, false));
            assert_eq!((address(packet) - 128) % 64, 0);
            *packet.private_mut() = number as u64;
            packet.append(2048).unwrap().copy_from_slice(&frame(number, 2048));
            packet.prepend(128).unwrap().fill(number as u8);
            assert!(place.contains(&address(packet)) && place.contains(&(address(packet) + 2175)));
        }
        assert_eq!(packets.iter().map(address).collect::<BTreeSet<_>>().len(), 63);
        for (number, packet) in packets.iter().enumerate() {
            assert_eq!((*packet.private(), bytes(packet)[128..].to_vec()), (number as u64, frame(number, 2048)));
            assert!(bytes(packet)[..128].iter().all(|byte| *byte == number as u8));
        }
        packets.clear();
        assert_eq!(pool.available(), 63);
        let mut again = pool.alloc().unwrap();
        assert!(place.contains(&address(&again)) && again.append(2049).is_err() && again.append(2048).is_ok());
        drop((again, pool));
        assert_eq!(drops.load(SeqCst), 1);
    });
}

/// In DPDK's memory, in an array that lies in the value itself, with buffers of the longest and the shortest kind.
#[test]
fn memory_of_every_kind_holds_buffers() {
    isolated(&[], |eal| {
        let works = |pool: Mempool| {
            let all: Vec<Packet> = std::iter::from_fn(|| pool.alloc()).collect();
            assert_eq!(all.len(), pool.size());
            let room = pool.data_room().saturating_sub(128);
            for (number, mut packet) in all.into_iter().enumerate() {
                packet.append(room).unwrap().copy_from_slice(&frame(number, room));
                assert_eq!(bytes(&packet), frame(number, room));
            }
        };
        let builder = |size, room| Mempool::<()>::builder("pool").size(size).cache(0).data_room(room);
        let zone = Memzone::builder("zone", 100_000).build(&eal).unwrap();
        works(builder(45, 2176).build_in(&eal, zone).map_err(|(error, _)| error).unwrap());
        assert!(Memzone::lookup(&eal, "zone").is_none(), "freed with the pool");
        let heap = eal.heap().boxed_slice(65_535 * 3 + 63, |_| 0_u8).unwrap();
        works(builder(3, 65_535).build_in(&eal, heap).map_err(|(error, _)| error).unwrap());
        works(builder(31, 1).build_in(&eal, [0_u8; 64 * 32]).map_err(|(error, _)| error).unwrap());
        works(builder(31, 0).build_in(&eal, vec![0_u8; 64 * 32]).map_err(|(error, _)| error).unwrap());
    });
}

#[test]
fn what_does_not_fit_is_said() {
    isolated(&[], |eal| {
        let builder = |size| Mempool::<()>::builder("pool").size(size).cache(0);
        let memory = vec![7_u8; 10 * 2176 + 63];
        let (error, memory) = builder(11).build_in(&eal, memory).unwrap_err();
        let expected = MempoolError::NoRoom { name: "pool".to_owned(), size: 11, data_room: 2176, fits: 10 };
        assert_eq!((error.clone(), memory.len(), memory[0]), (expected, 10 * 2176 + 63, 7));
        assert!(error.to_string().contains("the memory has room for 10 buffers of 2176 bytes"), "{error}");
        let (error, memory) = builder(10).driver(PoolDriver::Stack).build_in(&eal, memory).unwrap_err();
        assert_eq!(error, MempoolError::DriverInMemory("pool".to_owned()));
        let (error, memory) = builder(10).cache(1000).build_in(&eal, memory).unwrap_err();
        assert_eq!(error.errno().unwrap().get(), 22);
        let (error, memory) = Mempool::<()>::builder("n\0").size(1).build_in(&eal, memory).unwrap_err();
        assert_eq!(error, MempoolError::Name("n\0".to_owned()));
        let (error, _) = builder(1).build_in(&eal, [0_u8; 0]).unwrap_err();
        assert!(matches!(error, MempoolError::NoRoom { fits: 0, .. }), "{error}");
        let pool = builder(10).build_in(&eal, memory).map_err(|(error, _)| error).unwrap();
        let (error, _) = builder(10).build_in(&eal, vec![0_u8; 30_000]).unwrap_err();
        assert_eq!((error.errno().unwrap().get(), pool.available()), (17, 10));
    });
}

#[test]
fn the_memory_lives_as_long_as_pool_and_packets() {
    isolated(&["net_ring0"], |eal| {
        let (pool, _, drops) = in_memory::<()>(&eal, "pool", 7);
        let held = packet(&pool, &frame(1, 100));
        drop(pool);
        free_what_can_be(&eal);
        assert_eq!((drops.load(SeqCst), bytes(&held)), (0, frame(1, 100)));
        thread::spawn(move || drop(held)).join().unwrap();
        free_what_can_be(&eal);
        assert_eq!(drops.load(SeqCst), 1);
        // A port keeps what it receives into.
        let (pool, _, drops) = in_memory::<()>(&eal, "pool", 7);
        let (port, rx, tx) = start(only_port(&eal), &pool);
        drop((pool, rx, tx));
        free_what_can_be(&eal);
        assert_eq!(drops.load(SeqCst), 0);
        drop(port);
        free_what_can_be(&eal);
        assert_eq!(drops.load(SeqCst), 1);
    });
}

/// DPDK's own memory keeps the EAL, and the EAL the list of pools that wait for their packets: that is no circle.
#[test]
fn memory_of_dpdk_goes_with_the_eal() {
    let output = isolated(&[], |eal| {
        let drops = Arc::new(AtomicU32::new(0));
        let zone = Memzone::builder("zone", 100_000).build(&eal).unwrap();
        let builder = Mempool::<()>::builder("pool").size(45).cache(0);
        let pool = builder.build_in(&eal, Memory(zone, Arc::clone(&drops))).map_err(|(error, _)| error).unwrap();
        let held = packet(&pool, &frame(1, 100));
        drop(pool);
        drop(held);
        assert_eq!(drops.load(SeqCst), 0, "nobody has looked");
        drop(eal);
        assert_eq!(drops.load(SeqCst), 1);
    });
    assert!(!output.contains("not cleaned up"), "{output}");
}

#[test]
fn a_leaked_packet_keeps_the_memory() {
    let output = isolated(&[], |eal| {
        let (pool, _, drops) = in_memory::<()>(&eal, "pool", 7);
        mem::forget(packet(&pool, &frame(1, 100)));
        drop(pool);
        drop(eal);
        assert_eq!(drops.load(SeqCst), 0);
    });
    assert!(output.contains("the EAL is not cleaned up: 1 pools have mbufs that were never returned"), "{output}");
}

#[test]
fn a_panic_of_its_drop_goes_no_further() {
    struct Panics(Vec<u8>);
    impl AsMut<[u8]> for Panics {
        fn as_mut(&mut self) -> &mut [u8] {
            &mut self.0
        }
    }
    impl Drop for Panics {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new(7));
        }
    }
    isolated(&[], |eal| {
        let make = |name: &str| {
            let pool = Mempool::<()>::builder(name).size(3).cache(0).build_in(&eal, Panics(vec![0; 10_000]));
            pool.map_err(|(error, memory)| (error, mem::forget(memory))).unwrap()
        };
        drop(make("pool"));
        let pool = make("pool");
        let held = pool.alloc();
        drop(pool);
        drop(held);
        free_what_can_be(&eal);
        drop(make("pool"));
    });
}

/// The buffer has its own count: the mbuf that it belongs to returns when the last packet with the data is dropped.
#[test]
fn data_is_shared_as_ever() {
    isolated(&[], |eal| {
        let (pool, place, _) = in_memory::<()>(&eal, "pool", 7);
        let plain: Mempool<u64> = Mempool::builder("plain").size(63).cache(0).data_room(0).build(&eal).unwrap();
        for owner_first in [false, true] {
            let mut first = packet(&pool, &frame(1, 100));
            let mut share = first.share(&plain).unwrap();
            assert!(first.is_shared() && share.is_shared());
            assert_eq!(first.data_mut().unwrap_err(), PacketError::Shared);
            assert_eq!(share.append(1).unwrap_err(), PacketError::Shared);
            assert_eq!((bytes(&share), address(&share)), (frame(1, 100), address(&first)));
            if owner_first {
                drop(first);
                assert_eq!((pool.available(), plain.available()), (6, 62), "the data is still in use");
                share.data_mut().unwrap()[0] = 0xee;
                let second = share.share(&plain).unwrap();
                drop(share);
                assert_eq!(second.data()[0], 0xee);
                thread::spawn(move || drop(second)).join().unwrap();
            } else {
                drop(share);
                first.data_mut().unwrap()[0] = 0xee;
                assert!(!first.is_shared());
                drop(first);
            }
            assert_eq!((pool.available(), plain.available()), (7, 63));
        }
        let mut front = packet(&pool, &frame(2, 200));
        let mut rest = front.split_off(50, &plain).unwrap();
        assert_eq!((bytes(&front), bytes(&rest)), (frame(2, 200)[..50].to_vec(), frame(2, 200)[50..].to_vec()));
        front.chain(rest.split_off(100, &plain).unwrap()).unwrap();
        assert_eq!(front.data_mut().unwrap_err(), PacketError::Shared);
        drop(rest);
        assert_eq!(front.linearize().unwrap_err(), PacketError::Shared);
        let mut whole = packet(&pool, &frame(3, 10));
        whole.chain(front).unwrap();
        whole.linearize().unwrap();
        assert_eq!(bytes(&whole), [&frame(3, 10)[..], &frame(2, 200)[..50], &frame(2, 200)[150..]].concat());
        drop(whole);
        assert_eq!((pool.available(), plain.available()), (7, 63));
        // They are as good as new.
        let all: Vec<Packet> = std::iter::from_fn(|| pool.alloc()).collect();
        assert!(all.iter().all(|packet| place.contains(&address(packet)) && packet.headroom() == 128));
    });
}

/// Counts go up and down on several threads at once, and the last one gives the mbuf back, once.
#[test]
fn data_is_shared_by_threads() {
    isolated(&[], |eal| {
        let (pool, _, _) = in_memory::<()>(&eal, "pool", 7);
        let plain: Mempool = Mempool::builder("plain").size(4095).cache(64).data_room(0).build(&eal).unwrap();
        for _ in 0..20 {
            let mut first = packet(&pool, &frame(1, 200));
            let shares: Vec<Packet> = (0..4).map(|_| first.share(&plain).unwrap()).collect();
            thread::scope(|scope| {
                for mut share in shares {
                    let plain = &plain;
                    scope.spawn(move || {
                        for _ in 0..200 {
                            let other = share.share(plain).unwrap();
                            assert_eq!(bytes(&other), frame(1, 200));
                            share = other;
                        }
                    });
                }
                drop(first);
            });
            assert_eq!((pool.available(), plain.available()), (7, 4095));
        }
    });
}

#[test]
fn its_mbufs_refer_to_nothing_else() {
    isolated(&[], |eal| {
        let (pool, _, _) = in_memory::<()>(&eal, "pool", 7);
        let plain: Mempool = ordinary(&eal, "plain");
        let (error, buffer) = Packet::attach(&pool, frame(1, 60)).unwrap_err();
        assert_eq!((error, buffer), (BufferError::Pinned, frame(1, 60)));
        let mut whole = packet(&plain, &frame(1, 100));
        assert!(whole.share(&pool).is_none());
        assert_eq!(whole.split_off(50, &pool).unwrap_err(), PacketError::Pinned);
        assert_eq!(bytes(&whole), frame(1, 100));
        assert_eq!(Fragmenter::new(&plain, &pool).map(|_| ()), Err(PacketError::Pinned));
        assert_eq!(Fragmenter::new(&pool, &plain).map(|_| ()), Err(PacketError::Pinned));
        // Where nothing has to refer to anything, it is a pool like others.
        assert_eq!(whole.split_off(100, &pool).map(|rest| rest.len()), Ok(0));
        let mut pinned = packet(&pool, &frame(2, 100));
        assert!(pinned.share(&pool).is_none());
        assert_eq!(pinned.split_off(0, &pool).unwrap_err(), PacketError::Pinned);
        pinned.chain(packet(&pool, &frame(3, 30))).unwrap();
        assert_eq!(pinned.split_off(100, &pool).map(|rest| bytes(&rest)), Ok(frame(3, 30)));
        drop(pinned);
        assert_eq!(pool.available(), 7);
    });
}

#[test]
fn frames_are_copied_into_it() {
    isolated(&[], |eal| {
        let plain: Mempool<u64> = ordinary(&eal, "plain");
        let pool = Mempool::<()>::builder("pool").size(7).cache(0).data_room(192);
        let pool = pool.build_in(&eal, vec![0; 8 * 192]).map_err(|(error, _)| error).unwrap();
        let mut source = packet(&plain, &frame(1, 200));
        source.chain(packet(&plain, &frame(2, 57))).unwrap();
        source.chain(packet(&plain, &[])).unwrap();
        let mut copy = source.copy(&pool).unwrap();
        assert_eq!((bytes(&copy), copy.segment_count(), copy.port()), (bytes(&source), 5, None));
        // The mark of its mbufs is in place: they are shared by the count of their buffers.
        let share = copy.share(&plain).unwrap();
        drop(copy);
        assert_eq!((pool.available(), bytes(&share)), (2, bytes(&source)));
        assert!(source.copy(&pool).is_none(), "there are not enough mbufs");
        assert_eq!(pool.available(), 2);
        for _ in 0..2 {
            let mut one = packet(&pool, &frame(3, 60));
            let other = one.share(&plain).unwrap();
            drop(one);
            assert_eq!((bytes(&other), pool.available()), (frame(3, 60), 1));
        }
        drop(share);
        assert_eq!((source.copy(&plain).map(|copy| bytes(&copy)), pool.available()), (Some(bytes(&source)), 7));
        assert!(packet(&plain, &[]).copy(&pool).unwrap().is_empty());
    });
}

/// A virtual device writes what it receives into the memory, and sends what lies there.
#[test]
fn devices_receive_into_the_memory() {
    isolated(&["net_null0,size=100", "net_ring0"], |eal| {
        let (pool, place, _) = in_memory::<()>(&eal, "pool", 511);
        let plain: Mempool = ordinary(&eal, "plain");
        let mut ports = eal.ports();
        let (null, mut from_null, mut to_null) = start(ports.remove(0), &pool);
        let (ring, mut from_ring, mut to_ring) = start(ports.remove(0), &pool);
        let mut burst = Burst::<(), 32>::new();
        assert_eq!(from_null.rx(&mut burst), 32);
        assert!(burst.iter().all(|packet| packet.len() == 100 && place.contains(&address(packet))));
        let mut one = burst.pop().unwrap();
        one.data_mut().unwrap().copy_from_slice(&frame(1, 100));
        let share = one.share(&plain).unwrap();
        send(&mut to_ring, one);
        send(&mut to_ring, share);
        let (first, second) = (receive(&mut from_ring), receive(&mut from_ring));
        assert_eq!((bytes(&first), bytes(&second), first.is_shared()), (frame(1, 100), frame(1, 100), true));
        send(&mut to_null, first);
        send(&mut to_null, second);
        to_null.tx(&mut burst);
        assert!(burst.is_empty());
        drop((null, from_null, to_null, ring, from_ring, to_ring));
        assert_eq!((pool.available(), plain.available()), (511, 511));
    });
}

/// A device that reaches DPDK's memory only, and the other end of its wire, which receives into such a pool.
#[test]
fn only_memory_that_the_devices_reach() {
    isolated_bare(|| {
        let socket = folder().join("vhost.sock");
        let (eal, _) = init(eal_args(&[&format!("net_vhost0,iface={}", socket.display())])).unwrap();
        let plain: Mempool = Mempool::builder("plain").size(2047).build(&eal).unwrap();
        let heap = eal.heap().boxed_slice(2048 * 2176, |_| 0_u8).unwrap();
        let place = heap.as_ptr_range();
        let place = place.start.addr()..place.end.addr();
        let builder = Mempool::<()>::builder("pool").size(2047);
        let pool = builder.build_in(&eal, heap).map_err(|(error, _)| error).unwrap();
        let outside = Mempool::<()>::builder("outside").size(1).cache(0);
        drop(outside.clone().build_in(&eal, vec![0; 3000]).map_err(|(error, _)| error).unwrap());
        let (port, mut rx, mut tx) = start(only_port(&eal), &pool);
        let virtio = format!("net_virtio_user0,path={}", socket.display());
        let peer = attach(&eal, &virtio).unwrap().remove(0);
        let (error, memory) = outside.build_in(&eal, vec![5; 3000]).unwrap_err();
        let reaches = "net_virtio_user0 (net_virtio_user)".to_owned();
        assert_eq!(error, MempoolError::Unreachable { name: "outside".to_owned(), port: reaches });
        assert_eq!(memory, [5; 3000]);
        let error = peer.configure(&PortConfig::default(), &pool).unwrap_err();
        assert!(matches!(&error, PortError::Lacks { what, .. } if what.contains("net_virtio_user")), "{error}");
        // It was not touched, and can be taken again.
        let (peer, mut peer_rx, mut peer_tx) = start(eal.ports().remove(0), &plain);
        until("the link is up", || port.link().unwrap().up && peer.link().unwrap().up);
        send(&mut peer_tx, packet(&plain, &frame(1, 1500)));
        let mut received = receive(&mut rx);
        assert_eq!((bytes(&received), place.contains(&address(&received))), (frame(1, 1500), true));
        received.data_mut().unwrap()[0] = 0xee;
        let share = received.share(&plain).unwrap();
        drop(received);
        send(&mut tx, share);
        let back = receive(&mut peer_rx);
        assert_eq!(bytes(&back), [&[0xee][..], &frame(1, 1500)[1..]].concat());
        // And what lies in the memory is sent by the device that reaches DPDK's only.
        send(&mut peer_tx, packet(&pool, &frame(2, 700)));
        assert_eq!(bytes(&receive(&mut rx)), frame(2, 700));
    });
}
