// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Exhausted pools: nothing is received or created, nothing is lost without being counted, and everything works again
//! once mbufs return.

use crate::{
    capture,
    frames::{bytes, frame, only_port, packet, receive, send, start, until},
    kernel::{Interface, is_ours, ours},
    namespace::{namespace, shell},
    process::{eal_args, folder, init, isolated, isolated_bare, isolated_in},
    wire::{Setup, over_wire},
};
use dpdk_rs::{Burst, Eal, Mempool, Packet, PortConfig, RxQueue};

fn small_pool(eal: &Eal, mbufs: u32) -> Mempool {
    Mempool::builder("small").size(mbufs).cache(0).build(eal).unwrap()
}

/// Allocates all but `left` of the pool's mbufs.
fn hold(pool: &Mempool, left: usize) -> Vec<Packet> {
    let held: Vec<Packet> = (left..pool.available()).map(|_| pool.alloc().unwrap()).collect();
    assert_eq!(pool.available(), left);
    held
}

/// Polls, and receives nothing.
fn nothing(rx: &mut RxQueue) {
    let mut burst = Burst::<(), 32>::new();
    for _ in 0..3 {
        assert_eq!(rx.rx(&mut burst), 0);
    }
}

#[test]
fn dry_pool_makes_nothing() {
    isolated(&[], |eal| {
        for cache in [0, 32] {
            let pool: Mempool = Mempool::builder("pool").size(255).cache(cache).build(&eal).unwrap();
            for _ in 0..3 {
                let held = hold(&pool, 0);
                assert!(pool.alloc().is_none());
                let mut burst = Burst::<(), 8>::new();
                assert_eq!((pool.alloc_bulk(&mut burst), burst.len()), (0, 0));
                assert_eq!(pool.alloc_bulk_up_to(&mut burst, 0), 0);
                drop(held);
                assert_eq!(pool.available(), pool.size());
                let held = hold(&pool, 5);
                assert_eq!((pool.alloc_bulk(&mut burst), pool.available()), (0, 5), "all or nothing");
                assert_eq!((pool.alloc_bulk_up_to(&mut burst, 5), pool.available()), (5, 0));
                drop(held);
            }
        }
    });
}

#[test]
fn dry_pool_shares_and_copies_nothing() {
    isolated(&[], |eal| {
        let (pool, small) = (crate::frames::pool::<()>(&eal, "pool"), small_pool(&eal, 3));
        let mut four = packet(&pool, &frame(0, 2000));
        (1..4).for_each(|number| four.chain(packet(&pool, &frame(number, 2000))).unwrap());
        for _ in 0..3 {
            assert!(four.share(&small).is_none() && four.copy(&small).is_none());
            assert_eq!(small.available(), 3, "what was taken is back");
            assert!(!four.is_shared());
            four.segments_mut().unwrap().for_each(|segment| segment[0] ^= 0xff);
        }
        four.trim(2000).unwrap();
        let expected = bytes(&four);
        assert!(bytes(&four.copy(&small).unwrap()) == expected);
        let mut three = packet(&pool, &frame(7, 100));
        (0..2).for_each(|_| three.chain(packet(&pool, &frame(7, 100))).unwrap());
        let share = three.share(&small).unwrap();
        assert_eq!((bytes(&share), small.available()), (bytes(&three), 0));
        drop(share);
        assert_eq!(small.available(), 3);
    });
}

/// Mbufs without room, or with so little room that a copy would need more of them than can be counted, stay in the
/// pool.
#[test]
fn pool_without_room_copies_nothing() {
    isolated(&[], |eal| {
        let pool: Mempool = Mempool::builder("pool").size(7).cache(0).data_room(u16::MAX).build(&eal).unwrap();
        for room in [0, 64, 128] {
            let tiny: Mempool = Mempool::builder("tiny").size(63).cache(0).data_room(room).build(&eal).unwrap();
            assert!(packet(&pool, &frame(0, 1)).copy(&tiny).is_none());
            assert!(packet(&pool, &[]).copy(&tiny).unwrap().is_empty());
            assert_eq!(tiny.available(), 63);
        }
        let narrow: Mempool = Mempool::builder("narrow").size(70_000).cache(0).data_room(129).build(&eal).unwrap();
        let mut long = packet(&pool, &frame(0, 32_766));
        let copy = long.copy(&narrow).unwrap();
        assert_eq!((copy.segment_count(), narrow.available()), (32_766, 70_000 - 32_766));
        assert!(bytes(&copy) == frame(0, 32_766));
        drop(copy);
        for more in [1, 32_000] {
            long.append(more).unwrap();
            assert!(long.copy(&narrow).is_none());
        }
        long.chain(packet(&pool, &frame(1, 10_000))).unwrap();
        assert!(long.len() > 65_536 && long.copy(&narrow).is_none());
        assert_eq!(narrow.available(), narrow.size());
    });
}

#[test]
fn null_device_waits_for_mbufs() {
    isolated(&["net_null0"], |eal| {
        let pool = small_pool(&eal, 63);
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        for _ in 0..3 {
            let held = hold(&pool, 0);
            nothing(&mut rx);
            drop(held);
            let mut burst = Burst::<(), 32>::new();
            assert_eq!(rx.rx(&mut burst), 32);
            assert_eq!((tx.tx(&mut burst), pool.available()), (32, 63));
        }
    });
}

/// A ring passes on existing mbufs, and needs no others.
#[test]
fn ring_needs_no_mbufs() {
    isolated(&["net_ring0"], |eal| {
        let pool = small_pool(&eal, 63);
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        let one = packet(&pool, &frame(1, 60));
        let _held = hold(&pool, 0);
        send(&mut tx, one);
        assert_eq!(bytes(&receive(&mut rx)), frame(1, 60));
    });
}

/// What the driver has read of the file when it finds no mbuf is lost, and counted.
#[test]
fn capture_goes_on_when_mbufs_return() {
    isolated_bare(|| {
        let input = folder().join("in.pcap");
        let lengths = [60, 61, 62, 9018, 63, 9018, 64];
        capture::write(&input, &lengths.map(|len| frame(len, len)));
        let (eal, _) = init(eal_args(&[&format!("net_pcap0,rx_pcap={}", input.display())])).unwrap();
        let pool = small_pool(&eal, 15);
        let (port, mut rx, _tx) = start(only_port(&eal), &pool);
        let mut burst = Burst::<(), 1>::new();
        let mut next = |rx: &mut RxQueue| {
            let count = rx.rx(&mut burst);
            assert!(count == 0 || bytes(&burst[0]) == frame(burst[0].len(), burst[0].len()));
            burst.pop().map(|packet| packet.len())
        };
        assert_eq!(next(&mut rx), Some(60));
        let held = hold(&pool, 0);
        assert_eq!((next(&mut rx), port.stats().unwrap().rx_nombuf), (None, 1));
        drop(held);
        assert_eq!(next(&mut rx), Some(62));
        // Enough for the start of the long one, and not for its end.
        let held = hold(&pool, 3);
        assert_eq!((next(&mut rx), port.stats().unwrap().ierrors, pool.available()), (None, 1, 3));
        assert_eq!(next(&mut rx), Some(63));
        drop(held);
        assert_eq!((next(&mut rx), next(&mut rx), next(&mut rx)), (Some(9018), Some(64), None));
        assert_eq!(pool.available(), pool.size());
    });
}

/// Receives frames of the tests' own until there is this one; how many were there before.
fn receive_up_to(rx: &mut RxQueue, last: &[u8]) -> usize {
    let mut others = 0;
    loop {
        let packet = receive(rx);
        if bytes(&packet) == last {
            return others;
        }
        others += usize::from(is_ours(packet.data()));
    }
}

#[test]
fn tap_goes_on_when_mbufs_return() {
    let Some(namespace) = namespace("") else { return };
    isolated_in(&namespace, &["net_tap0,iface=fault0"], |eal| {
        let pool = small_pool(&eal, 63);
        let config = PortConfig::default().rx_descriptors(8).scatter(true);
        let (port, mut rx, _tx) = only_port(&eal).configure(&config, &pool).unwrap().start().unwrap();
        shell("ip link set fault0 mtu 9000 up");
        let kernel = Interface::open("fault0");
        let free = pool.available();
        // In the middle of a chain too.
        for (left, len) in [(0, 60), (0, 9000), (1, 9000), (3, 9000), (4, 9000)] {
            let (before, held) = (port.stats().unwrap().rx_nombuf, hold(&pool, left));
            kernel.send(&ours(1, len));
            let mut burst = Burst::<(), 1>::new();
            until("the frame is lost and counted", || {
                assert_eq!(rx[0].rx(&mut burst), 0);
                port.stats().unwrap().rx_nombuf > before
            });
            drop(held);
            assert_eq!(pool.available(), free, "{left} mbufs left for {len} bytes");
            for len in [60, 9000] {
                kernel.send(&ours(2, len));
                assert_eq!(receive_up_to(&mut rx[0], &ours(2, len)), 0);
            }
            assert_eq!(pool.available(), free);
        }
    });
}

/// Frames wait in the kernel's ring.
#[test]
fn af_packet_goes_on_when_mbufs_return() {
    let setup = "ip link add fault0 type veth peer name fault1; ip link set fault0 up; ip link set fault1 up";
    let Some(namespace) = namespace(setup) else { return };
    isolated_in(&namespace, &["net_af_packet0,iface=fault0"], |eal| {
        let pool = small_pool(&eal, 63);
        let (_port, mut rx, _tx) = start(only_port(&eal), &pool);
        let kernel = Interface::open("fault1");
        for _ in 0..3 {
            let held = hold(&pool, 0);
            (0..10).for_each(|number| kernel.send(&ours(number, 100)));
            nothing(&mut rx);
            drop(held);
            assert_eq!(receive_up_to(&mut rx, &ours(9, 100)), 9);
            assert_eq!(pool.available(), pool.size());
        }
    });
}

/// A tap and a vhost cannot start without mbufs; the others ports go on.
#[test]
fn port_that_needs_mbufs_to_start_is_refused_without() {
    let Some(namespace) = namespace("") else { return };
    isolated_in(&namespace, &["net_tap0,iface=fault0", "net_ring0", "net_tap1,iface=fault1"], |eal| {
        let pool = small_pool(&eal, 63);
        let mut ports = eal.ports();
        let config = PortConfig::default().rx_descriptors(64);
        let error = ports.remove(0).configure(&config, &pool).unwrap_err();
        let text = "port 0 (net_tap0): cannot set up RX queue 0: Cannot allocate memory";
        assert!(error.to_string().starts_with(text), "{error}");
        assert_eq!(pool.available(), pool.size());
        let (_port, mut rx, mut tx) = start(ports.remove(0), &pool);
        send(&mut tx, packet(&pool, &frame(1, 60)));
        assert_eq!(bytes(&receive(&mut rx)), frame(1, 60));
        ports.remove(0).configure(&config.rx_descriptors(32), &pool).unwrap().start().unwrap();
    });
}

/// Frames wait in the ring that the two ends share.
#[test]
fn vhost_goes_on_when_mbufs_return() {
    isolated_bare(|| {
        let ended = over_wire(
            &Setup::default(),
            |vhost| {
                for _ in 0..3 {
                    let held = hold(&vhost.pool, 0);
                    vhost.meet();
                    vhost.meet();
                    nothing(&mut vhost.rx);
                    drop(held);
                    for number in 0..10 {
                        assert_eq!(bytes(&receive(&mut vhost.rx)), frame(number, 100));
                    }
                    // The long one is lost, since there are not enough mbufs for it.
                    let held = hold(&vhost.pool, 3);
                    vhost.meet();
                    vhost.meet();
                    nothing(&mut vhost.rx);
                    drop(held);
                    assert_eq!(vhost.pool.available(), vhost.pool.size());
                    vhost.meet();
                    assert_eq!(bytes(&receive(&mut vhost.rx)), frame(3, 100));
                    vhost.meet();
                }
            },
            |virtio| {
                let pool: Mempool =
                    Mempool::builder("long").size(63).cache(0).data_room(16_384).build(&virtio.eal).unwrap();
                for _ in 0..3 {
                    virtio.meet();
                    (0..10).for_each(|number| send(&mut virtio.tx, packet(&pool, &frame(number, 100))));
                    virtio.meet();
                    virtio.meet();
                    send(&mut virtio.tx, packet(&pool, &frame(1, 9018)));
                    virtio.meet();
                    virtio.meet();
                    send(&mut virtio.tx, packet(&pool, &frame(3, 100)));
                    virtio.meet();
                }
            },
        );
        ended.expect_success();
    });
}

/// The device has the mbufs of its ring, and receives as many frames; then it gives the sender no more room, until
/// there are mbufs again.
#[test]
fn virtio_goes_on_when_mbufs_return() {
    const RING: usize = 256;
    isolated_bare(|| {
        let ended = over_wire(
            &Setup::default(),
            |vhost| {
                for _ in 0..3 {
                    let mut sent = 0;
                    for number in 0..2 * RING {
                        let mut burst = Burst::<(), 1>::new();
                        burst.push(packet(&vhost.pool, &frame(number, 100))).unwrap();
                        sent += vhost.tx.tx(&mut burst);
                    }
                    assert_eq!(sent, RING);
                    vhost.meet();
                    vhost.meet();
                    let mut burst = Burst::<(), 1>::new();
                    burst.push(packet(&vhost.pool, &frame(RING, 100))).unwrap();
                    assert_eq!(vhost.tx.tx(&mut burst), 0);
                    vhost.meet();
                    vhost.meet();
                    assert_eq!(vhost.tx.tx(&mut burst), 1);
                    vhost.meet();
                }
            },
            |virtio| {
                for _ in 0..3 {
                    virtio.meet();
                    let held = hold(&virtio.pool, 0);
                    let before = virtio.port.stats().unwrap().rx_nombuf;
                    let received: Vec<Packet> = (0..RING).map(|_| receive(&mut virtio.rx)).collect();
                    assert!(received.iter().enumerate().all(|(number, packet)| bytes(packet) == frame(number, 100)));
                    nothing(&mut virtio.rx);
                    assert!(virtio.port.stats().unwrap().rx_nombuf > before);
                    virtio.meet();
                    virtio.meet();
                    drop((held, received));
                    nothing(&mut virtio.rx);
                    virtio.meet();
                    assert_eq!(bytes(&receive(&mut virtio.rx)), frame(RING, 100));
                    virtio.meet();
                }
            },
        );
        ended.expect_success();
    });
}
