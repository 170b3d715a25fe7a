// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Packets whose data is a buffer of the program.

use crate::{
    combined::has_bonding,
    frames::{bytes, frame, only_port, packet, pool, receive, send, start, until},
    process::{attach, eal_args, folder, init, isolated, isolated_bare, isolated_cases},
};
use dpdk_rs::{
    BufferError, Burst, Eal, Mempool, Packet, PacketError, PortConfig, RequestError, TxRequest, dpdk_version,
    memory::Memzone, port::TxOffloads,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};

/// A buffer that counts its drops.
#[derive(Debug)]
struct Buffer(Vec<u8>, Arc<AtomicU32>);

impl AsMut<[u8]> for Buffer {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.1.fetch_add(1, SeqCst);
    }
}

/// Attaches a buffer with these bytes.
fn attached(pool: &Mempool, bytes: Vec<u8>, drops: &Arc<AtomicU32>) -> Packet {
    Packet::attach(pool, Buffer(bytes, Arc::clone(drops))).map_err(|(error, _)| error).unwrap()
}

/// Some drivers read headers of a frame that has none. What they read must be there.
#[test]
fn a_buffer_holds_what_a_driver_reads() {
    let vhost = |eal: &Eal| {
        let device = format!("net_vhost0,iface={}", folder().join("sock").display());
        attach(eal, &device).unwrap().remove(0)
    };
    let bonding = |eal: &Eal| {
        let key = if dpdk_version().as_str() < "23.11" { "slave" } else { "member" };
        let mut ports = attach(eal, "net_null0").unwrap();
        ports.extend(attach(eal, &format!("net_bonding0,mode=2,{key}=net_null0")).unwrap());
        ports.into_iter().find(|port| port.name() == "net_bonding0").unwrap()
    };
    let drivers = if has_bonding() { 2 } else { 1 };
    isolated_cases(drivers, &[], |eal, case| {
        let (port, reads) = if case == 0 { (vhost(&eal), 6) } else { (bonding(&eal), 66) };
        let pool: Mempool = pool(&eal, "pool");
        let (port, _rx, mut tx) = start(port, &pool);
        if case == 1 {
            until("its part is up", || port.link().unwrap().up);
        }
        let drops = Arc::new(AtomicU32::new(0));
        let mut burst = Burst::<_, 4>::new();
        let mut cut = attached(&pool, vec![1; 200], &drops);
        cut.adj(201 - reads).unwrap();
        for packet in [attached(&pool, vec![1; reads - 1], &drops), cut, attached(&pool, vec![1; reads], &drops)] {
            burst.push(packet).unwrap();
        }
        let sent = tx.tx(&mut burst);
        assert_eq!((tx.rejected(), sent + burst.len()), (2, 1), "two frames are not given to the driver");
        burst.clear();
        until("the buffers are dropped", || drops.load(SeqCst) == 3);
    });
}

#[test]
fn a_buffer_is_the_data_of_a_packet() {
    isolated(&[], |eal| {
        let pool: Mempool = Mempool::builder("pool").size(7).cache(0).data_room(0).build(&eal).unwrap();
        let drops = Arc::new(AtomicU32::new(0));
        let buffer = frame(1, 65_535);
        let place = buffer.as_ptr();
        let mut packet = attached(&pool, buffer, &drops);
        assert_eq!((packet.data().as_ptr(), packet.len(), packet.is_contiguous()), (place, 65_535, true));
        assert_eq!((packet.headroom(), packet.tailroom(), packet.port()), (0, 0, None));
        assert!(!packet.is_shared());
        packet.adj(100).unwrap();
        packet.trim(65_335).unwrap();
        assert_eq!((packet.headroom(), packet.tailroom()), (100, 65_335));
        assert_eq!(bytes(&packet), frame(1, 65_535)[100..200]);
        packet.prepend(10).unwrap().fill(0xdd);
        packet.append(10).unwrap().fill(0xee);
        packet.data_mut().unwrap()[10] = 0x11;
        let expected = [&[0xdd; 10][..], &[0x11], &frame(1, 65_535)[101..200], &[0xee; 10]].concat();
        assert_eq!(bytes(&packet), expected);
        assert_eq!((pool.available(), drops.load(SeqCst)), (6, 0));
        drop(packet);
        assert_eq!((pool.available(), drops.load(SeqCst)), (7, 1));
        // The mbuf was reset.
        assert_eq!(pool.alloc().map(|packet| (packet.len(), packet.tailroom())), Some((0, 0)));
    });
}

/// Anything that provides bytes can be attached, even if they are inside the value itself.
#[test]
fn buffers_of_every_kind_are_attached() {
    isolated(&[], |eal| {
        let pool: Mempool<u64> = pool(&eal, "pool");
        let attached = |packet: Result<Packet<u64>, _>| bytes(&packet.map_err(|error: BufferError| error).unwrap());
        let boxed: Box<[u8]> = frame(1, 60).into();
        assert_eq!(attached(Packet::attach(&pool, boxed).map_err(|(error, _)| error)), frame(1, 60));
        let array: [u8; 60] = frame(2, 60).try_into().unwrap();
        assert_eq!(attached(Packet::attach(&pool, array).map_err(|(error, _)| error)), frame(2, 60));
        let heap = eal.heap().boxed_slice(3000, |place| place as u8).unwrap();
        let expected: Vec<u8> = heap.to_vec();
        assert_eq!(attached(Packet::attach(&pool, heap).map_err(|(error, _)| error)), expected);
        let mut zone = Memzone::builder("zone", 9_984).contiguous().build(&eal).unwrap();
        zone.bytes_mut().copy_from_slice(&frame(4, 9_984));
        assert_eq!(attached(Packet::attach(&pool, zone).map_err(|(error, _)| error)), frame(4, 9_984));
        assert!(Memzone::lookup(&eal, "zone").is_none(), "freed with the packet");
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn a_buffer_lives_as_long_as_a_packet_of_it() {
    isolated(&[], |eal| {
        let (pool, other): (Mempool, Mempool) = (pool(&eal, "pool"), pool(&eal, "other"));
        let drops = Arc::new(AtomicU32::new(0));
        let mut first = attached(&pool, frame(1, 100), &drops);
        let mut share = first.share(&other).unwrap();
        for packet in [&mut first, &mut share] {
            assert!(packet.is_shared());
            assert_eq!(packet.data_mut().unwrap_err(), PacketError::Shared);
            packet.adj(10).unwrap();
            assert_eq!(packet.prepend(1).unwrap_err(), PacketError::Shared);
        }
        drop(first);
        // The mbuf that was freed contained none of the data.
        assert_eq!((pool.available(), drops.load(SeqCst)), (pool.size(), 0));
        share.data_mut().unwrap()[0] = 0xee;
        let mut head = packet(&pool, &frame(2, 20));
        let rest = share.split_off(40, &pool).unwrap();
        head.chain(share).unwrap();
        assert_eq!(bytes(&head), [&frame(2, 20)[..], &[0xee], &frame(1, 100)[11..50]].concat());
        assert!(head.data_mut().is_ok() && head.is_shared());
        head.linearize().unwrap();
        assert!(!rest.is_shared() && drops.load(SeqCst) == 0);
        assert_eq!(bytes(&rest), frame(1, 100)[50..]);
        thread::spawn(move || drop(rest)).join().unwrap();
        assert_eq!(drops.load(SeqCst), 1);
        drop(head);
        assert_eq!((pool.available(), other.available()), (pool.size(), other.size()));
    });
}

/// Several threads increment and decrement the count at once, and the last one drops the buffer, once.
#[test]
fn buffers_are_shared_by_threads() {
    isolated(&[], |eal| {
        let pool: Mempool = Mempool::builder("pool").size(4095).cache(64).build(&eal).unwrap();
        let drops = Arc::new(AtomicU32::new(0));
        for round in 0..20 {
            let mut first = attached(&pool, frame(1, 200), &drops);
            let shares: Vec<Packet> = (0..4).map(|_| first.share(&pool).unwrap()).collect();
            thread::scope(|scope| {
                for mut share in shares {
                    let pool = &pool;
                    scope.spawn(move || {
                        for _ in 0..200 {
                            let other = share.share(pool).unwrap();
                            assert_eq!(bytes(&other), frame(1, 200));
                            share = other;
                        }
                    });
                }
                drop(first);
            });
            assert_eq!((drops.load(SeqCst), pool.available()), (round + 1, pool.size()));
        }
    });
}

/// The device frees what it has sent, and passes on what comes back.
#[test]
fn devices_send_buffers() {
    isolated(&["net_ring0", "net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let drops = Arc::new(AtomicU32::new(0));
        let mut ports = eal.ports();
        let (_ring, mut rx, mut tx) = start(ports.remove(0), &pool);
        let (_null, _, mut nowhere) = start(ports.remove(0), &pool);
        send(&mut tx, attached(&pool, frame(1, 100), &drops));
        let mut back = receive(&mut rx);
        assert_eq!(bytes(&back), frame(1, 100));
        assert!(!back.is_shared() && back.data_mut().is_ok());
        assert_eq!(drops.load(SeqCst), 0);
        send(&mut nowhere, back);
        assert_eq!(drops.load(SeqCst), 1);
        let mut burst = Burst::<(), 8>::new();
        for number in 0..4 {
            burst.push(attached(&pool, frame(number, 60), &drops)).unwrap();
            burst.push(packet(&pool, &frame(number, 60))).unwrap();
        }
        burst.clear();
        assert_eq!((drops.load(SeqCst), pool.available()), (5, pool.size()));
    });
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
            std::panic::panic_any(7);
        }
    }
    isolated(&[], |eal| {
        std::panic::set_hook(Box::new(|_| {}));
        let pool: Mempool = pool(&eal, "pool");
        drop(Packet::attach(&pool, Panics(frame(1, 60))).map_err(|(error, _)| error).unwrap());
        assert_eq!(pool.available(), pool.size());
        // Also if a panic drops it.
        let packet = Packet::attach(&pool, Panics(frame(1, 60))).map_err(|(error, _)| error).unwrap();
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _packet = packet;
            std::panic::resume_unwind(Box::new(7));
        }));
        assert_eq!(unwound.unwrap_err().downcast_ref(), Some(&7));
        assert_eq!(pool.available(), pool.size());
        // A buffer without bytes is dropped at once.
        struct Silent(Arc<AtomicU32>);
        impl AsMut<[u8]> for Silent {
            fn as_mut(&mut self) -> &mut [u8] {
                std::panic::resume_unwind(Box::new(8));
            }
        }
        let silent = Silent(Arc::default());
        let count = Arc::clone(&silent.0);
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| Packet::attach(&pool, silent).is_ok()));
        assert_eq!(unwound.unwrap_err().downcast_ref(), Some(&8));
        assert_eq!((Arc::strong_count(&count), pool.available()), (1, pool.size()));
    });
}

#[test]
fn what_cannot_be_attached_comes_back() {
    isolated(&[], |eal| {
        let pool: Mempool = Mempool::builder("pool").size(1).cache(0).build(&eal).unwrap();
        for len in [0, 65_536] {
            let (error, buffer) = Packet::attach(&pool, vec![7; len]).unwrap_err();
            assert_eq!((&error, buffer.len()), (&BufferError::Length { len }, len));
            assert_eq!(
                error.to_string(),
                format!("a buffer of {len} bytes cannot be attached: give one of 1 to 65,535")
            );
        }
        let _only = pool.alloc().unwrap();
        let drops = Arc::new(AtomicU32::new(0));
        let (error, buffer) = Packet::attach(&pool, Buffer(frame(1, 60), Arc::clone(&drops))).unwrap_err();
        assert_eq!((error, &buffer.0, drops.load(SeqCst)), (BufferError::NoMbuf, &frame(1, 60), 0));
    });
}

/// The peer of `net_virtio_user` maps only DPDK's memory. Data that the driver has not sent is freed when the port is
/// closed. For a zone this needs the control plane, which is locked then.
#[test]
fn a_device_that_reaches_dpdk_memory_only() {
    isolated_bare(|| {
        let socket = folder().join("vhost.sock");
        let (eal, _) = init(eal_args(&[&format!("net_vhost0,iface={}", socket.display())])).unwrap();
        let pool: Mempool = Mempool::builder("pool").size(2047).build(&eal).unwrap();
        let (port, _rx, mut tx) = start(only_port(&eal), &pool);
        assert!(Packet::attach(&pool, frame(1, 60)).is_ok());
        let peer = attach(&eal, &format!("net_virtio_user0,path={}", socket.display())).unwrap().remove(0);
        let (error, buffer) = Packet::attach(&pool, frame(1, 60)).unwrap_err();
        assert_eq!(error, BufferError::Unreachable { port: "net_virtio_user0 (net_virtio_user)".to_owned() });
        assert_eq!(buffer, frame(1, 60));
        let (peer, rx, mut peer_tx) = start(peer, &pool);
        until("the link is up", || port.link().unwrap().up && peer.link().unwrap().up);
        let mut zone = Memzone::builder("zone", 2048).build(&eal).unwrap();
        zone.bytes_mut()[..60].copy_from_slice(&frame(2, 60));
        let mut packet = Packet::attach(&pool, zone).map_err(|(error, _)| error).unwrap();
        packet.trim(2048 - 60).unwrap();
        send(&mut peer_tx, packet);
        assert!(Memzone::lookup(&eal, "zone").is_some(), "it is still on its way");
        drop((peer, rx, peer_tx));
        assert!(Memzone::lookup(&eal, "zone").is_none(), "freed once the port was closed");
        let mut burst = Burst::<(), 1>::new();
        tx.tx(&mut burst);
    });
}

/// Drivers that insert a tag copy the addresses into an mbuf's headroom, and free a frame without headroom.
#[test]
fn no_tag_is_put_into_a_buffer() {
    isolated_bare(|| {
        let socket = folder().join("vhost.sock");
        let (eal, _) = init(eal_args(&[&format!("net_vhost0,iface={}", socket.display())])).unwrap();
        let pool: Mempool = Mempool::builder("pool").size(2047).build(&eal).unwrap();
        let config = PortConfig::default().tx_offloads(TxOffloads::VLAN_INSERT);
        let (_port, _rx, mut tx) = only_port(&eal).configure(&config, &pool).unwrap().start().unwrap();
        let mut buffer = Packet::attach(&pool, frame(1, 100)).map_err(|(error, _)| error).unwrap();
        buffer.adj(20).unwrap();
        let mut burst = tx[0].prepare::<(), 4>();
        let (error, buffer) = burst.push(buffer, &TxRequest::new().insert_vlan(7)).unwrap_err();
        assert_eq!((error, bytes(&buffer)), (RequestError::External, frame(1, 100)[20..].to_vec()));
        burst.push(buffer.copy(&pool).unwrap(), &TxRequest::new().insert_vlan(7)).map_err(|(error, _)| error).unwrap();
    });
}
