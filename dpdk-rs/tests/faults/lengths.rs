// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames without a byte, frames longer than an mbuf, and frames with a wrong length: each is received whole, in as
//! many segments as it needs, or dropped.

use crate::{
    capture,
    frames::{bytes, frame, only_port, packet, receive, send, start, until},
    kernel::{Interface, is_ours, ours},
    namespace::{namespace, shell},
    process::{eal_args, folder, init, isolated, isolated_bare, isolated_in},
    wire::{Setup, over_wire},
};
use dpdk_rs::{Burst, Eal, EalError, Mempool, Packet, PortConfig, PortError, RxQueue};
use std::{fs, path::Path};

/// The most room that an mbuf can have behind its headroom.
const MOST_ROOM: usize = 65_535 - 128;

fn long_mbufs(eal: &Eal) -> Mempool {
    Mempool::builder("long").size(63).cache(0).data_room(u16::MAX).build(eal).unwrap()
}

/// The bytes of a packet, whose lengths are what they say.
fn whole(packet: &Packet) -> Vec<u8> {
    let segments: Vec<&[u8]> = packet.segments().collect();
    assert_eq!(segments.len(), packet.segment_count());
    assert_eq!(segments.iter().map(|segment| segment.len()).sum::<usize>(), packet.len());
    bytes(packet)
}

#[test]
fn empty_frames_through_a_ring() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = crate::frames::pool(&eal, "pool");
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        for segments in [1, 2, 64] {
            let mut empty = pool.alloc().unwrap();
            (1..segments).for_each(|_| empty.chain(pool.alloc().unwrap()).unwrap());
            send(&mut tx, empty);
            let mut packet = receive(&mut rx);
            assert!(packet.segment_count() == segments && whole(&packet).is_empty());
            assert!(whole(&packet.copy(&pool).unwrap()).is_empty());
            assert!(whole(&packet.share(&pool).unwrap()).is_empty());
        }
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn null_device_makes_frames_of_any_length_that_fits() {
    let lengths = [1, 13, 14, 2048, 9018, MOST_ROOM];
    let devices: Vec<String> =
        lengths.iter().enumerate().map(|(number, len)| format!("net_null{number},size={len}")).collect();
    let devices: Vec<&str> = devices.iter().map(String::as_str).collect();
    isolated(&devices, |eal| {
        let pool = long_mbufs(&eal);
        for (port, len) in eal.ports().into_iter().zip(lengths) {
            let (_port, mut rx, mut tx) = start(port, &pool);
            let packet = receive(&mut rx);
            assert_eq!((whole(&packet).len(), packet.segment_count()), (len, 1));
            send(&mut tx, packet);
        }
        assert_eq!(pool.available(), pool.size());
    });
}

/// The driver asks for a buffer without a byte, which DPDK does not give.
#[test]
fn null_device_without_length_is_refused_or_makes_empty_frames() {
    isolated(&["net_null0,size=0", "net_null1,size=65535", "net_ring0"], |eal| {
        let pool = long_mbufs(&eal);
        let mut ports = eal.ports();
        match ports.remove(0).configure(&PortConfig::default(), &pool) {
            Ok(port) => {
                let (_port, mut rx, _tx) = port.start().unwrap();
                assert!(whole(&receive(&mut rx[0])).is_empty());
            }
            Err(error) => {
                let text = "port 0 (net_null0): cannot set up RX queue 0: Cannot allocate memory";
                assert!(error.to_string().starts_with(text), "{error}");
            }
        }
        let error = ports.remove(0).configure(&PortConfig::default(), &pool).unwrap_err();
        assert!(matches!(error, PortError::Unsupported { asked: 65_535, .. }), "{error:?}");
        let (_port, mut rx, mut tx) = start(ports.remove(0), &pool);
        send(&mut tx, packet(&pool, &frame(1, 60)));
        assert_eq!(whole(&receive(&mut rx)), frame(1, 60));
    });
}

/// Runs `body` with a port that reads the capture `input` and one that writes what it is given to another, which is
/// returned.
fn through(
    input: &Path,
    pool: (u32, u16),
    body: impl FnOnce(&Mempool, &mut RxQueue, &mut dyn FnMut(Packet)),
) -> Vec<u8> {
    let output = folder().join("out.pcap");
    let device = format!("net_pcap0,rx_pcap={},tx_pcap={}", input.display(), output.display());
    let (eal, _) = init(eal_args(&[&device])).unwrap();
    let pool = Mempool::builder("pool").size(pool.0).cache(0).data_room(pool.1).build(&eal).unwrap();
    let (port, mut rx, mut tx) = start(only_port(&eal), &pool);
    body(&pool, &mut rx, &mut |packet| send(&mut tx, packet));
    assert_eq!(pool.available(), pool.size());
    drop((port, rx, tx));
    fs::read(&output).unwrap()
}

/// Everything that the port still has, until it has had nothing twice.
fn drain(rx: &mut RxQueue) -> Vec<Packet> {
    let mut packets = Vec::new();
    let mut burst = Burst::<(), 4>::new();
    let mut silent = 0;
    while silent < 2 {
        silent = if rx.rx(&mut burst) == 0 { silent + 1 } else { 0 };
        packets.extend(burst.drain());
    }
    packets
}

/// Lengths around the room of an mbuf, what 16 bits can count, and the most that the library reads.
const LENGTHS: [usize; 14] =
    [0, 1, 2047, 2048, 2049, 4224, 4225, 9728, 16_128, 65_535, 65_536, 65_546, 68_536, 262_144];

#[test]
fn captured_frames_of_any_length() {
    isolated_bare(|| {
        let input = folder().join("in.pcap");
        capture::write(&input, &LENGTHS.map(|len| frame(len, len)));
        through(&input, (511, 2176), |pool, rx, send| {
            let mut received = Vec::new();
            for mut packet in drain(rx) {
                assert_eq!(whole(&packet), frame(packet.len(), packet.len()));
                assert!(bytes(&packet.copy(pool).unwrap()) == bytes(&packet));
                assert!(bytes(&packet.share(pool).unwrap()) == bytes(&packet));
                received.push(packet.len());
                send(packet);
            }
            assert!(received.starts_with(&LENGTHS[..10]), "{received:?}");
            // The driver of 22.11 copies 65,546 bytes, and a part of the other long ones.
            assert_eq!(received.len() + rx.foreign() as usize, LENGTHS.len(), "{received:?}");
        });
    });
}

/// A capture of one frame after another, each with the lengths that it claims to have in the file and to have had.
fn lying(path: &Path, longest: usize, frames: &[(&[u8], usize, usize)]) {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 2 | 4 << 16, 0, 0, longest as u32, 1] {
        file.extend(word.to_ne_bytes());
    }
    for (frame, held, len) in frames {
        for word in [0, 0, *held as u32, *len as u32] {
            file.extend(word.to_ne_bytes());
        }
        file.extend(*frame);
    }
    fs::write(path, file).unwrap();
}

#[test]
fn captured_frames_that_lie() {
    isolated_bare(|| {
        let (input, whole_frame) = (folder().join("in.pcap"), frame(1, 100));
        let cut = [(&*whole_frame, 100, 1500), (&whole_frame, 100, 0), (&whole_frame, 100, usize::MAX >> 32)];
        for frames in [
            &cut[..],
            // Longer than what is left, and than anything.
            &[(&whole_frame, 100, 100), (&whole_frame, 101, 101)],
            &[(&whole_frame, 100, 100), (&whole_frame, 0x7fff_ffff, 100)],
            &[(&whole_frame, 100, 100), (&whole_frame, 0xffff_ffff, 0xffff_ffff)],
        ] {
            lying(&input, 65_535, frames);
            let ended = crate::forked::forked(|| {
                through(&input, (63, 2176), |_, rx, send| {
                    let packets = drain(rx);
                    assert!(!packets.is_empty() && packets.len() <= frames.len());
                    for packet in packets {
                        assert_eq!(whole(&packet), whole_frame);
                        send(packet);
                    }
                });
                0
            });
            ended.expect_success();
        }
    });
}

/// Cut behind any byte, the capture ends with the last frame that is whole, or is no capture.
#[test]
fn captures_cut_anywhere() {
    isolated_bare(|| {
        let input = folder().join("in.pcap");
        capture::write(&input, &[frame(1, 20), frame(2, 20)]);
        let file = fs::read(&input).unwrap();
        // In one process, as devices: as many as DPDK has numbers for.
        let cuts: Vec<usize> = (0..file.len()).filter(|cut| *cut < 26 || cut % 5 == 0).collect();
        let (headless, cuts) = cuts.split_at(cuts.partition_point(|cut| *cut < 24));
        for cuts in headless.chunks(1).chain(cuts.chunks(16)) {
            let ended = crate::forked::forked(|| {
                let devices: Vec<String> = cuts
                    .iter()
                    .map(|cut| {
                        let path = folder().join(format!("{cut}.pcap"));
                        fs::write(&path, &file[..*cut]).unwrap();
                        format!("net_pcap{cut},rx_pcap={}", path.display())
                    })
                    .collect();
                let devices: Vec<&str> = devices.iter().map(String::as_str).collect();
                let started = init(eal_args(&devices));
                if cuts[0] < 24 {
                    assert!(matches!(started, Err(EalError::Device(_))), "a file without a header");
                    return 0;
                }
                let (eal, _) = started.unwrap();
                let pool: Mempool = crate::frames::pool(&eal, "pool");
                let ports = eal.ports();
                assert_eq!(ports.len(), cuts.len());
                for port in ports {
                    let cut: usize = port.name().trim_start_matches("net_pcap").parse().unwrap();
                    let (_port, mut rx, _tx) = start(port, &pool);
                    let frames: Vec<Vec<u8>> = drain(&mut rx).iter().map(whole).collect();
                    assert_eq!(frames, [frame(1, 20), frame(2, 20)][..(cut - 24) / 36], "cut behind {cut} bytes");
                }
                0
            });
            ended.expect_success();
        }
    });
}

/// Receives one frame of the tests' own.
fn receive_ours(rx: &mut RxQueue) -> Packet {
    loop {
        let packet = receive(rx);
        if is_ours(packet.data()) {
            return packet;
        }
    }
}

const JUMBO: [usize; 5] = [60, 2048, 2049, 4225, 9014];

#[test]
fn jumbo_frames_from_a_tap_with_scatter() {
    let Some(namespace) = namespace("") else { return };
    isolated_in(&namespace, &["net_tap0,iface=fault0"], |eal| {
        let pool: Mempool = crate::frames::pool(&eal, "pool");
        let config = PortConfig::default().rx_descriptors(64).scatter(true);
        let (port, mut rx, _tx) = only_port(&eal).configure(&config, &pool).unwrap().start().unwrap();
        shell("ip link set fault0 mtu 9000 up");
        let kernel = Interface::open("fault0");
        for len in JUMBO {
            kernel.send(&ours(len, len));
            assert!(whole(&receive_ours(&mut rx[0])) == ours(len, len), "{len} bytes");
        }
        assert_eq!(port.stats().unwrap().ierrors, 0);
    });
}

#[test]
fn jumbo_frames_from_a_tap_without_scatter() {
    let Some(namespace) = namespace("") else { return };
    isolated_in(&namespace, &["net_tap0,iface=fault0"], |eal| {
        let pool: Mempool = crate::frames::pool(&eal, "pool");
        let config = PortConfig::default().rx_descriptors(64);
        let (port, mut rx, _tx) = only_port(&eal).configure(&config, &pool).unwrap().start().unwrap();
        shell("ip link set fault0 mtu 9000 up");
        let kernel = Interface::open("fault0");
        for len in JUMBO {
            kernel.send(&ours(len, len));
        }
        for len in [60, 2048] {
            assert!(whole(&receive_ours(&mut rx[0])) == ours(len, len), "{len} bytes");
        }
        let mut burst = Burst::<(), 4>::new();
        until("the long frames are counted", || {
            assert_eq!(rx[0].rx(&mut burst), 0);
            port.stats().unwrap().ierrors == 3
        });
        kernel.send(&ours(7, 1500));
        assert!(whole(&receive_ours(&mut rx[0])) == ours(7, 1500));
    });
}

const PAIR: &str = "ip link add fault0 mtu 9000 type veth peer name fault1 mtu 9000; \
                    ip link set fault0 up; ip link set fault1 up";

/// The driver's frames are shorter than the mbufs' room. The kernel cuts what is longer, and the driver does not tell.
#[test]
fn jumbo_frames_from_af_packet_are_cut() {
    let Some(namespace) = namespace(PAIR) else { return };
    isolated_in(&namespace, &["net_af_packet0,iface=fault0"], |eal| {
        let pool: Mempool = crate::frames::pool(&eal, "pool");
        let (_port, mut rx, _tx) = start(only_port(&eal), &pool);
        let kernel = Interface::open("fault1");
        for len in JUMBO {
            kernel.send(&ours(len, len));
            let packet = receive_ours(&mut rx);
            let held = whole(&packet);
            assert!(held == ours(len, len)[..held.len()] && (held.len() == len || held.len() > 1900), "{len} bytes");
        }
        assert_eq!(pool.available(), pool.size());
    });
}

/// Frames as long as the mbufs' room need a driver's frame that is longer, and more blocks of memory.
#[test]
fn af_packet_refuses_frames_longer_than_an_mbuf() {
    let Some(namespace) = namespace(PAIR) else { return };
    isolated_in(&namespace, &["net_af_packet0,iface=fault0,blocksz=65536,framesz=16384,framecnt=64"], |eal| {
        let pool: Mempool = crate::frames::pool(&eal, "pool");
        let port = only_port(&eal);
        let error = port.configure(&PortConfig::default(), &pool).unwrap_err();
        assert!(matches!(&error, PortError::Refused { call: "rte_eth_rx_queue_setup", .. }), "{error:?}");
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn jumbo_frames_from_af_packet() {
    let Some(namespace) = namespace(PAIR) else { return };
    isolated_in(&namespace, &["net_af_packet0,iface=fault0,blocksz=65536,framesz=16384,framecnt=64"], |eal| {
        let pool = long_mbufs(&eal);
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        let kernel = Interface::open("fault1");
        for len in JUMBO {
            kernel.send(&ours(len, len));
            let packet = receive_ours(&mut rx);
            assert!(whole(&packet) == ours(len, len), "{len} bytes");
            send(&mut tx, packet);
            assert!(kernel.receive() == ours(len, len), "{len} bytes back");
        }
        assert_eq!(pool.available(), pool.size());
    });
}

/// Frames around the lengths of mbufs, as long as mbufs can be.
const SENT: [usize; 7] = [60, 1514, 2048, 2049, 9018, 40_000, MOST_ROOM];

#[test]
fn long_frames_from_virtio_to_vhost() {
    isolated_bare(|| {
        let ended = over_wire(
            &Setup::default(),
            |vhost| {
                for len in SENT {
                    let packet = receive(&mut vhost.rx);
                    assert!(whole(&packet) == frame(len, len) && packet.segment_count() == len.div_ceil(2048));
                    vhost.meet();
                }
                assert_eq!(vhost.pool.available(), vhost.pool.size());
            },
            |virtio| {
                let pool = long_mbufs(&virtio.eal);
                for len in SENT {
                    send(&mut virtio.tx, packet(&pool, &frame(len, len)));
                    virtio.meet();
                }
            },
        );
        ended.expect_success();
    });
}

#[test]
fn long_frames_from_vhost_to_virtio() {
    isolated_bare(|| {
        let ended = over_wire(
            &Setup::default(),
            |vhost| {
                let pool = long_mbufs(&vhost.eal);
                for len in SENT {
                    send(&mut vhost.tx, packet(&pool, &frame(len, len)));
                    vhost.meet();
                }
            },
            |virtio| {
                for len in SENT {
                    let packet = receive(&mut virtio.rx);
                    assert!(whole(&packet) == frame(len, len), "{len} bytes: {packet:?}");
                    virtio.meet();
                }
            },
        );
        ended.expect_success();
    });
}

/// A virtio device that takes a buffer a frame has none for longer ones: vhost leaves them.
#[test]
fn long_frames_from_vhost_to_virtio_without_merging() {
    isolated_bare(|| {
        let setup = Setup { virtio_args: ",mrg_rxbuf=0", ..Setup::default() };
        let ended = over_wire(
            &setup,
            |vhost| {
                let pool = long_mbufs(&vhost.eal);
                for len in [2049, 60, MOST_ROOM, 1514] {
                    let mut burst = Burst::<(), 1>::new();
                    burst.push(packet(&pool, &frame(len, len))).unwrap();
                    assert_eq!(vhost.tx.tx(&mut burst), usize::from(len < 2048), "{len} bytes");
                    burst.clear();
                }
                vhost.meet();
                assert_eq!(pool.available(), pool.size());
            },
            |virtio| {
                for len in [60, 1514] {
                    assert!(whole(&receive(&mut virtio.rx)) == frame(len, len), "{len} bytes");
                }
                virtio.meet();
            },
        );
        ended.expect_success();
    });
}

/// Frames without a byte, or without a whole header, do not arrive at the other end or arrive as they are, and do not
/// disturb those that follow.
#[test]
fn short_frames_over_a_wire() {
    isolated_bare(|| {
        let sends = |end: &mut crate::wire::End| {
            for len in 0..60 {
                let mut burst = Burst::<(), 1>::new();
                burst.push(packet(&end.pool, &frame(len, len))).unwrap();
                until("the device takes the frame", || end.tx.tx(&mut burst) == 1);
            }
            send(&mut end.tx, packet(&end.pool, &frame(60, 60)));
            end.meet();
        };
        let receives = |end: &mut crate::wire::End| {
            let mut before = 0;
            loop {
                let packet = receive(&mut end.rx);
                let len = packet.len();
                assert!(whole(&packet) == frame(len, len) && (before == 0 || len > before), "{len} after {before}");
                if len == 60 {
                    break;
                }
                before = len;
            }
            end.meet();
        };
        let both = over_wire(
            &Setup::default(),
            |vhost| {
                receives(vhost);
                sends(vhost);
            },
            |virtio| {
                sends(virtio);
                receives(virtio);
            },
        );
        both.expect_success();
    });
}
