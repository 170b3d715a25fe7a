// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames in many segments, sent by ports that were not configured for segments: each arrives whole, or is not
//! accepted.

use crate::{
    capture,
    frames::{bytes, only_port, packet, receive, send, start, until},
    kernel::{Interface, ours},
    namespace::namespace,
    process::{eal_args, folder, init, isolated, isolated_bare, isolated_bare_cases, isolated_in},
    wire::{End, Setup, over_wire},
};
use dpdk_rs::{Burst, Eal, Mempool, Packet, PortConfig, TxQueue, TxRequest, port::TxOffloads};
use std::{fs, iter, thread};

/// How many segments.
const COUNTS: [usize; 11] = [1, 2, 63, 64, 65, 255, 256, 1022, 1023, 4096, 32_766];

/// Mbufs for the longest chain and for what else is under way, of 64 bytes each.
fn segments(eal: &Eal) -> Mempool {
    Mempool::builder("segments").size(33_000).cache(0).data_room(192).build(eal).unwrap()
}

/// A frame that lies in `count` segments, each of them of the same length if it can be, and the bytes of the frame.
/// With `gaps`, every other segment is empty.
fn chain(pool: &Mempool, count: usize, gaps: bool) -> (Packet, Vec<u8>) {
    let full = if gaps { count.div_ceil(2) } else { count };
    // Below the MTU, so that any device can send it.
    let piece = (1400 / full).min(64);
    let all = ours(count, (piece * full).clamp(60, 1400));
    // What is left goes with the first ones.
    let (longer, rest) = (all.len() % full, all.len() / full);
    let mut at = 0;
    let lengths: Vec<usize> = (0..count)
        .map(|number| match (gaps, number) {
            (true, number) if number % 2 == 1 => 0,
            (true, number) => rest + usize::from(number / 2 < longer),
            (false, number) => rest + usize::from(number < longer),
        })
        .collect();
    assert_eq!(lengths.iter().sum::<usize>(), all.len());
    let pieces = lengths.iter().map(|len| {
        at += len;
        packet(pool, &all[at - len..at])
    });
    (join(pieces.collect()), all)
}

/// A frame in segments of 64 bytes.
fn cut(pool: &Mempool, all: &[u8]) -> Packet {
    join(all.chunks(64).map(|piece| packet(pool, piece)).collect())
}

/// One packet of them all. Halves are joined, since each joining walks to the end of the first.
fn join(mut packets: Vec<Packet>) -> Packet {
    if packets.len() == 1 {
        return packets.remove(0);
    }
    let behind = packets.split_off(packets.len() / 2);
    let mut whole = join(packets);
    whole.chain(join(behind)).unwrap();
    whole
}

/// Every chain, whether it has gaps or not.
fn each_chain(pool: &Mempool, mut check: impl FnMut(Packet, Vec<u8>)) {
    for count in COUNTS {
        for gaps in [false, true] {
            let (packet, all) = chain(pool, count, gaps);
            assert_eq!((packet.segment_count(), packet.len()), (count, all.len()));
            check(packet, all);
        }
    }
}

/// Offers a frame to the device, which leaves it.
fn refused(tx: &mut TxQueue, packet: Packet) {
    let mut burst = Burst::<(), 1>::new();
    burst.push(packet).unwrap();
    assert_eq!((tx.tx(&mut burst), burst.len()), (0, 1));
}

#[test]
fn chains_through_a_ring() {
    isolated(&["net_ring0"], |eal| {
        let pool = segments(&eal);
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        each_chain(&pool, |packet, all| {
            let count = packet.segment_count();
            send(&mut tx, packet);
            let packet = receive(&mut rx);
            assert!(packet.segment_count() == count && bytes(&packet) == all);
        });
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn chains_into_the_null_device() {
    isolated(&["net_null0"], |eal| {
        let pool = segments(&eal);
        let (_port, _rx, mut tx) = start(only_port(&eal), &pool);
        each_chain(&pool, |packet, _| {
            send(&mut tx, packet);
            assert_eq!(pool.available(), pool.size());
        });
    });
}

#[test]
fn chains_into_a_capture() {
    isolated_bare(|| {
        let path = folder().join("out.pcap");
        let (eal, _) = init(eal_args(&[&format!("net_pcap0,tx_pcap={}", path.display())])).unwrap();
        let pool = segments(&eal);
        let (port, _rx, mut tx) = start(only_port(&eal), &pool);
        let mut expected = Vec::new();
        each_chain(&pool, |packet, all| {
            send(&mut tx, packet);
            expected.push(all);
        });
        let longest = ours(1, LONGEST_CAPTURED);
        send(&mut tx, cut(&pool, &longest));
        expected.push(longest);
        assert_eq!(pool.available(), pool.size());
        drop((port, tx));
        assert!(capture::read(&path) == expected);
    });
}

/// The driver's buffer for frames in several segments: of a longer one it writes as many bytes, and says how many it
/// had.
const LONGEST_CAPTURED: usize = 16_128;

#[test]
fn chain_beyond_the_capture_drivers_buffer_is_cut() {
    isolated_bare(|| {
        let path = folder().join("out.pcap");
        let (eal, _) = init(eal_args(&[&format!("net_pcap0,tx_pcap={}", path.display())])).unwrap();
        let pool = segments(&eal);
        let (port, _rx, mut tx) = start(only_port(&eal), &pool);
        let long = ours(1, 70_000);
        send(&mut tx, cut(&pool, &long));
        assert_eq!(pool.available(), pool.size());
        drop((port, tx));
        let file = fs::read(&path).unwrap();
        let word = |place: usize| u32::from_ne_bytes(file[place..place + 4].try_into().unwrap()) as usize;
        // The lengths that were written and sent, behind the file's header and the time.
        assert_eq!((word(32), word(36), file.len() - 40), (LONGEST_CAPTURED, 70_000, LONGEST_CAPTURED));
        assert!(file[40..] == long[..LONGEST_CAPTURED]);
    });
}

#[test]
fn chains_into_a_tap() {
    let Some(namespace) = namespace("") else { return };
    isolated_in(&namespace, &["net_tap0,iface=fault0"], |eal| {
        let pool = segments(&eal);
        let config = PortConfig::default().rx_descriptors(64);
        let (_port, _rx, mut tx) = only_port(&eal).configure(&config, &pool).unwrap().start().unwrap();
        let kernel = Interface::open("fault0");
        let free = pool.available();
        // Each piece has a place in an array on the stack of the thread that sends.
        let sender = thread::Builder::new().stack_size(256 << 10).spawn(move || {
            each_chain(&pool, |packet, all| {
                // The kernel takes 1,024 pieces at once, and the driver needs two for itself.
                if packet.segment_count() < 1023 {
                    send(&mut tx[0], packet);
                    assert!(kernel.receive() == all);
                } else {
                    let before = tx[0].rejected();
                    let mut burst = Burst::<(), 1>::new();
                    burst.push(packet).unwrap();
                    assert_eq!((tx[0].tx(&mut burst), burst.len(), tx[0].rejected()), (0, 0, before + 1));
                }
            });
            assert_eq!(pool.available(), free);
        });
        sender.unwrap().join().unwrap();
    });
}

/// The driver sends a copy of the headers, in a piece of its own.
#[test]
fn a_tap_writes_checksums_of_chains() {
    let Some(namespace) = namespace("") else { return };
    isolated_in(&namespace, &["net_tap0,iface=fault0"], |eal| {
        let pool = segments(&eal);
        let config = PortConfig::default().rx_descriptors(64).tx_offloads(TxOffloads::UDP_CHECKSUM);
        let (_port, _rx, mut tx) = only_port(&eal).configure(&config, &pool).unwrap().start().unwrap();
        for (count, sent, rejected) in [(1022, 1, 0), (1023, 0, 1)] {
            let mut all = ours(count, 64 + count - 1);
            // What the headers of IPv4 and UDP say of their lengths and of what follows.
            let (ip, udp) = (u16::try_from(all.len() - 14).unwrap(), u16::try_from(all.len() - 34).unwrap());
            all[12..15].copy_from_slice(&[8, 0, 0x45]);
            all[16..18].copy_from_slice(&ip.to_be_bytes());
            all[20..24].copy_from_slice(&[0, 0, 64, 17]);
            all[38..40].copy_from_slice(&udp.to_be_bytes());
            let (headers, rest) = all.split_at(64);
            let pieces = iter::once(headers).chain(rest.chunks(1)).map(|piece| packet(&pool, piece));
            let mut burst = tx[0].prepare::<(), 1>();
            burst
                .push(join(pieces.collect()), &TxRequest::ipv4(14, 20).udp_checksum())
                .map_err(|(error, _)| error)
                .unwrap();
            assert_eq!((burst.send(), burst.len()), (sent, 0), "{count} segments");
            drop(burst);
            assert_eq!(tx[0].rejected(), rejected);
        }
    });
}

#[test]
fn chains_into_af_packet() {
    let setup = "ip link add fault0 type veth peer name fault1; ip link set fault0 up; ip link set fault1 up";
    let Some(namespace) = namespace(setup) else { return };
    isolated_in(&namespace, &["net_af_packet0,iface=fault0"], |eal| {
        let pool = segments(&eal);
        let receiving: Mempool = crate::frames::pool(&eal, "receiving");
        let (_port, _rx, mut tx) = start(only_port(&eal), &receiving);
        let kernel = Interface::open("fault1");
        each_chain(&pool, |packet, all| {
            send(&mut tx, packet);
            assert!(kernel.receive() == all);
        });
        assert_eq!(pool.available(), pool.size());
    });
}

/// Sends a frame as soon as the device takes it: it may have to take back first what it has sent.
fn send_at_last(tx: &mut TxQueue, packet: Packet) {
    let mut burst = Burst::<(), 1>::new();
    burst.push(packet).unwrap();
    until("the device takes the frame", || tx.tx(&mut burst) == 1);
}

/// Sends every chain of up to `most` segments; the others are not taken.
fn send_all(end: &mut End, most: usize) {
    let pool = segments(&end.eal);
    each_chain(&pool, |packet, _| {
        if packet.segment_count() > most {
            refused(&mut end.tx, packet);
        } else {
            send_at_last(&mut end.tx, packet);
            end.meet();
        }
    });
    end.meet();
}

fn receive_all(end: &mut End, most: usize) {
    let pool = segments(&end.eal);
    each_chain(&pool, |packet, all| {
        if packet.segment_count() <= most {
            assert!(bytes(&receive(&mut end.rx)) == all, "{} segments", packet.segment_count());
            end.meet();
        }
    });
    end.meet();
}

/// The kinds of ring that the two ends may have between them.
const KINDS: [&str; 4] = ["", ",in_order=0", ",packed_vq=1", ",packed_vq=1,in_order=0"];

fn setup(kind: usize) -> Setup {
    Setup { virtio_args: KINDS[kind], ..Setup::default() }
}

#[test]
fn chains_from_virtio_to_vhost() {
    isolated_bare_cases(&[], KINDS.len(), |kind| {
        // The ring has 256 descriptors, and the header needs one.
        let ended = over_wire(&setup(kind), |vhost| receive_all(vhost, 255), |virtio| send_all(virtio, 255));
        ended.expect_success();
    });
}

#[test]
fn chains_from_vhost_to_virtio() {
    isolated_bare_cases(&[], KINDS.len(), |kind| {
        let most = usize::MAX;
        over_wire(&setup(kind), |vhost| send_all(vhost, most), |virtio| receive_all(virtio, most)).expect_success();
    });
}
