// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Two ports with a wire between them: shared memory, and a pair of the kernel's virtual interfaces.

use crate::{
    frames::{bytes, frame, packet, pool, start, until},
    process::{eal_args, finish, folder, init, isolated_bare, isolated_in},
};
use dpdk_rs::{Burst, Eal, HotplugError, Mempool, Packet, Port, PortError, RxQueue, TxQueue, port::Started};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};
use std::{os::fd::AsRawFd, process::Command};

/// A local experimental EtherType: frames of this test, and not the kernel's own.
const ETHER_TYPE: [u8; 2] = [0x88, 0xb5];

type End = (Port<Started>, RxQueue, TxQueue);

fn ours(number: usize, len: usize) -> Vec<u8> {
    let mut bytes = frame(number, len);
    // Broadcast, from a local address.
    bytes[..14].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, ETHER_TYPE[0], ETHER_TYPE[1]]);
    bytes
}

/// Sends frames of many lengths from one end and expects them at the other, in order.
fn one_way(pool: &Mempool, from: &mut End, to: &mut End) {
    let lengths: Vec<usize> = (60..=1514).step_by(17).collect();
    let mut received: Vec<Vec<u8>> = Vec::new();
    let mut burst = Burst::<_, 32>::new();
    let mut collect = |rx: &mut RxQueue, received: &mut Vec<Vec<u8>>| {
        rx.rx(&mut burst);
        received.extend(burst.drain().map(|packet: Packet| bytes(&packet)).filter(|bytes| bytes[12..14] == ETHER_TYPE));
    };
    for (number, len) in lengths.iter().enumerate() {
        let mut burst = Burst::<_, 1>::new();
        burst.push(packet(pool, &ours(number, *len))).unwrap();
        // The receiver is polled all the while: memif's server can send only what the client has made room for.
        until("the frame arrives", || {
            from.2.tx(&mut burst);
            collect(&mut to.1, &mut received);
            received.len() > number
        });
    }
    assert_eq!(received.len(), lengths.len());
    for (number, (bytes, len)) in received.iter().zip(lengths).enumerate() {
        assert!(*bytes == ours(number, len), "frame {number} of {len} bytes has changed");
    }
}

/// Returns the ends as they were made.
fn both_ways(eal: &Eal) -> [End; 2] {
    let pool: Mempool = Mempool::builder("pool").size(8191).build(eal).unwrap();
    let ends: Vec<End> = eal.ports().into_iter().map(|port| start(port, &pool)).collect();
    until("both links are up", || ends.iter().all(|(port, ..)| port.link().unwrap().up));
    let [mut left, mut right] = ends.try_into().expect("there are two ports");
    one_way(&pool, &mut left, &mut right);
    one_way(&pool, &mut right, &mut left);
    [left, right]
}

#[test]
fn memif_carries_frames_both_ways() {
    isolated_bare(|| {
        let socket = folder().join("memif.sock");
        let device =
            |number, role| format!("net_memif{number},role={role},socket={},socket-abstract=no", socket.display());
        let (eal, _) = init(eal_args(&[&device(0, "server"), &device(1, "client")])).unwrap();
        let [server, client] = both_ways(&eal);
        drop(server);
        until("the client has seen that the server is gone", || !client.0.link().unwrap().up);
        // The driver of 22.11 frees its regions twice if an end leaves while its other thread still handles that the
        // peer has left, and nothing tells when it is done.
        std::mem::forget(client);
    });
}

/// The driver goes on to listen on the socket of a closed server, with memory that it has freed. So it is not closed.
#[test]
fn a_server_of_memif_that_was_dropped_still_answers() {
    let output = isolated_bare(|| {
        let name = format!("dpdk-rs-{}", std::process::id());
        let device = format!("net_memif0,role=server,socket-abstract=yes,socket={name}");
        let (eal, _) = init(eal_args(&[&device, "net_memif1,role=client,socket-abstract=yes,socket=nobody"])).unwrap();
        let pool: Mempool = pool(&eal, "pool");
        let refused = |error: HotplugError| matches!(error, HotplugError::Unclosable { .. });
        assert!(refused(eal.detach("net_memif0").unwrap_err()), "also if it was never configured");
        let (server, rx, tx) = start(eal.ports().remove(0), &pool);
        drop((server, rx, tx));
        // The server greets whoever connects: 128 bytes that begin with the type HELLO.
        let client = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::empty(), None).unwrap();
        connect(client.as_raw_fd(), &UnixAddr::new_abstract(name.as_bytes()).unwrap()).unwrap();
        let mut hello = [0; 128];
        assert_eq!(nix::unistd::read(&client, &mut hello).unwrap(), hello.len());
        assert_eq!(u16::from_ne_bytes([hello[0], hello[1]]), 2);
        assert!(refused(eal.detach("net_memif0").unwrap_err()));
        eal.detach("net_memif1").unwrap();
    });
    let reason = "its driver would listen for peers with memory that it has freed";
    let expected = format!("port 0 (net_memif0) stays open, and the EAL is not cleaned up: {reason}");
    assert!(output.contains(&expected), "{output}");
}

/// A server that was never taken is closed by the EAL's clean-up otherwise.
#[test]
fn a_server_of_memif_outlives_the_eal() {
    let output = isolated_bare(|| {
        let device = format!("net_memif0,role=server,socket={}", folder().join("memif.sock").display());
        drop(init(eal_args(&[&device])).unwrap());
    });
    assert!(output.contains("the EAL is not cleaned up: port net_memif0 stays open: its driver would"), "{output}");
}

/// Sends a frame; what arrives of it, or `None` if either end drops and counts it.
fn sent_alone(from: &mut End, to: &mut End, packet: Packet) -> Option<Vec<u8>> {
    let counts = |from: &End, to: &End| (from.2.rejected(), to.1.foreign());
    let before = counts(from, to);
    let (mut sending, mut arrived) = (Burst::<_, 1>::new(), Burst::<_, 32>::new());
    sending.push(packet).unwrap();
    until("the frame arrives or is counted", || {
        from.2.tx(&mut sending);
        to.1.rx(&mut arrived) > 0 || counts(from, to) != before
    });
    arrived.pop().map(|packet| bytes(&packet))
}

/// Two ends of memif in this process, with buffers of so many bytes.
fn memif(bsize: u16) -> (Eal, Mempool, End, End) {
    let socket = folder().join("memif.sock");
    let device = |number, role| {
        let socket = socket.display();
        format!("net_memif{number},role={role},socket={socket},socket-abstract=no,bsize={bsize}")
    };
    let (eal, _) = init(eal_args(&[&device(0, "server"), &device(1, "client")])).unwrap();
    let pool: Mempool = Mempool::builder("pool").size(8191).build(&eal).unwrap();
    let mut ends = eal.ports().into_iter().map(|port| start(port, &pool)).collect::<Vec<End>>().into_iter();
    let (server, client) = (ends.next().unwrap(), ends.next().unwrap());
    until("both links are up", || server.0.link().unwrap().up && client.0.link().unwrap().up);
    (eal, pool, server, client)
}

/// From 23.03 on the driver copies a segment of any length into a buffer of its peer, if that holds what the pool's mbufs do.
#[test]
fn memif_sends_no_segment_longer_than_its_peer_has_room_for() {
    isolated_bare(|| {
        let version: Vec<u32> = dpdk_rs::dpdk_version().split('.').map(|part| part.parse().unwrap_or(0)).collect();
        let trusts = version >= vec![23, 3];
        let (eal, pool, mut from, mut to) = memif(2048);
        let small: Mempool = Mempool::builder("small").size(63).cache(0).data_room(192).build(&eal).unwrap();
        let none: Mempool = Mempool::builder("none").size(63).cache(0).data_room(0).build(&eal).unwrap();
        let prefixed = |len| {
            let mut packet = packet(&pool, &frame(1, len));
            packet.prepend(100).unwrap().fill(9);
            packet
        };
        let chained = |head: &Mempool, len| {
            let mut chain = packet(head, &frame(2, 64));
            chain.chain(packet(&pool, &frame(3, len))).unwrap();
            chain
        };
        let shared = |by: &Mempool, len| packet(&pool, &frame(4, len)).share(by).unwrap();
        for _direction in 0..2 {
            for (packet, harmless) in [
                (packet(&pool, &frame(0, 2048)), true),
                (prefixed(60), true),
                (prefixed(1948), true),
                (prefixed(1949), false),
                (prefixed(2048), false),
                (chained(&pool, 2048), true),
                (chained(&small, 64), true),
                (chained(&small, 65), false),
                (chained(&small, 2048), false),
                (shared(&pool, 2048), true),
                (shared(&small, 64), true),
                (shared(&small, 1500), false),
                (shared(&none, 1500), true),
            ] {
                let expected = bytes(&packet);
                let before = from.2.rejected();
                let arrived = sent_alone(&mut from, &mut to, packet);
                if harmless || !trusts {
                    assert!(arrived.as_ref() == Some(&expected), "{} bytes have changed", expected.len());
                    assert_eq!(from.2.rejected(), before);
                } else {
                    assert_eq!((arrived, from.2.rejected()), (None, before + 1), "{} bytes", expected.len());
                }
            }
            std::mem::swap(&mut from, &mut to);
        }
        assert_eq!(small.available(), small.size());
        // See `memif_carries_frames_both_ways`.
        std::mem::forget((from, to));
    });
}

/// In some releases from 23.03 on, the driver writes every piece of a chain to the start of one mbuf, and adds up the
/// lengths.
#[test]
fn memif_chain_arrives_whole_or_not_at_all() {
    isolated_bare(|| {
        let (_eal, pool, mut from, mut to) = memif(9216);
        for _direction in 0..2 {
            for count in 1..=4 {
                let mut chain = packet(&pool, &frame(0, 2048));
                (1..count).for_each(|number| chain.chain(packet(&pool, &frame(number, 2048))).unwrap());
                let expected = bytes(&chain);
                let foreign = to.1.foreign();
                match sent_alone(&mut from, &mut to, chain) {
                    Some(arrived) => assert!(arrived == expected, "{count} segments have changed"),
                    None => assert_eq!(to.1.foreign(), foreign + 1),
                }
            }
            std::mem::swap(&mut from, &mut to);
        }
        // See `memif_carries_frames_both_ways`.
        std::mem::forget((from, to));
    });
}

/// Runs a command in a network namespace of its own, with a pair of interfaces: as root, or in a user namespace, which needs
/// no root, only a kernel that permits it.
const NAMESPACES: [&[&str]; 2] =
    [&["unshare", "--net", "sh", "-ec", SETUP], &["unshare", "--user", "--map-root-user", "--net", "sh", "-ec", SETUP]];
const SETUP: &str = "
    echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
    ip link add left type veth peer name right
    ip link set left up
    ip link set right up
    exec \"$0\" \"$@\"";

/// Runs a test on both ends of a pair of interfaces; without one where none can be made.
fn on_af_packet(run: impl FnOnce(Eal)) {
    let mut reasons = String::new();
    let namespace = NAMESPACES.into_iter().find(|words| {
        let finished = finish(Command::new(words[0]).args(&words[1..]).arg("true"));
        reasons += &finished.stderr.replace('\n', "; ");
        finished.status.success()
    });
    let Some(namespace) = namespace else {
        println!("skipped: no network namespace with a pair of interfaces can be made: {reasons}");
        return;
    };
    isolated_in(namespace, &["net_af_packet0,iface=left", "net_af_packet1,iface=right"], run);
}

#[test]
fn af_packet_carries_frames_both_ways() {
    on_af_packet(|eal| {
        both_ways(&eal);
    });
}

/// The driver closes its sockets on stop, and starts without them: it would receive nothing, and finally block in a
/// send.
#[test]
fn af_packet_is_not_started_again() {
    on_af_packet(|eal| {
        let [(port, rx, tx), _right] = both_ways(&eal);
        assert!(!port.info().unwrap().restarts);
        let error = port.stop(vec![rx], vec![tx]).unwrap().start().unwrap_err();
        assert!(matches!(error, PortError::Lacks { .. }), "{error}");
    });
}
