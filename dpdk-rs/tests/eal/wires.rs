// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Two ports with a wire between them: shared memory, and a pair of the kernel's virtual interfaces.

use crate::{
    frames::{bytes, frame, packet, start, until},
    process::{eal_args, finish, folder, isolated_bare, isolated_in},
};
use dpdk_rs::{Burst, Eal, Mempool, Packet, Port, RxQueue, TxQueue, port::Started};
use std::process::Command;

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
        let (eal, _) = Eal::init(eal_args(&[&device(0, "server"), &device(1, "client")])).unwrap();
        let [server, client] = both_ways(&eal);
        drop(server);
        until("the client has seen that the server is gone", || !client.0.link().unwrap().up);
        // The driver of 22.11 frees its regions twice if an end leaves while its other thread still handles that the
        // peer has left, and nothing tells when it is done.
        std::mem::forget(client);
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

#[test]
fn af_packet_carries_frames_both_ways() {
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
    isolated_in(namespace, &["net_af_packet0,iface=left", "net_af_packet1,iface=right"], |eal| {
        both_ways(&eal);
    });
}
