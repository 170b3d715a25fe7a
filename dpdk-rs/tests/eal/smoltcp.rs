// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A queue pair as a device of smoltcp: frame by frame on a ring, and as a host that a Linux host talks to.

use crate::{
    frames::{frame, only_port, packet, pool, send, start},
    namespace::{namespace, shell},
    process::{example, example_until, finish, isolated, isolated_bare_in, patience},
};
use dpdk_rs::{Mempool, PortConfig, smoltcp::QueueDevice};
use smoltcp::{
    phy::{Device, Medium, RxToken, TxToken},
    time::Instant,
};
use std::{
    cell::Cell,
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    path::Path,
    process::Command,
    thread,
    time::Duration,
};

const NOW: Instant = Instant::ZERO;

fn transmit(device: &mut QueueDevice, bytes: &[u8]) -> bool {
    let Some(token) = device.transmit(NOW) else { return false };
    token.consume(bytes.len(), |room| {
        assert_eq!(room, vec![0; bytes.len()], "nothing of what the mbuf held before");
        room.copy_from_slice(bytes);
    });
    true
}

fn received(device: &mut QueueDevice) -> Option<Vec<u8>> {
    device.receive(NOW).map(|(rx, _tx)| rx.consume(<[u8]>::to_vec))
}

#[test]
fn frames_go_out_and_come_in_in_order() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (port, rx, tx) = start(only_port(&eal), &pool);
        let mut device = QueueDevice::new(rx, tx, pool.clone(), port.mtu().unwrap());
        let capabilities = device.capabilities();
        assert_eq!((capabilities.medium, capabilities.max_transmission_unit), (Medium::Ethernet, 1514));
        assert!(capabilities.checksum.tcp.rx() && capabilities.checksum.tcp.tx(), "the stack does it");
        for round in 0..3 {
            let frames: Vec<_> = (0..50).map(|number| frame(round * 50 + number, 14 + number * 30)).collect();
            assert!(frames.iter().all(|frame| transmit(&mut device, frame)));
            for frame in &frames {
                assert_eq!(received(&mut device).as_ref(), Some(frame));
            }
            assert_eq!(received(&mut device), None);
        }
        assert_eq!((port.stats().unwrap().opackets, device.dropped()), (150, 0));
        drop((device, port));
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn an_answer_can_be_sent_beside_what_it_answers() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (_port, rx, tx) = start(only_port(&eal), &pool);
        let mut device = QueueDevice::new(rx, tx, pool, 1500);
        assert!(transmit(&mut device, &frame(1, 60)));
        let (rx, tx) = device.receive(NOW).unwrap();
        let asked = rx.consume(<[u8]>::to_vec);
        tx.consume(asked.len(), |room| room.iter_mut().zip(asked.iter().rev()).for_each(|(to, from)| *to = *from));
        let mut expected = frame(1, 60);
        expected.reverse();
        assert_eq!(received(&mut device), Some(expected));
        // A token that is not used sends nothing, and its mbuf is used for the next.
        assert!(device.transmit(NOW).is_some());
        assert_eq!(received(&mut device), None);
    });
}

#[test]
fn a_chain_is_read_as_one_frame() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (_port, rx, mut tx) = start(only_port(&eal), &pool);
        let whole = frame(9, 3000);
        let mut head = packet(&pool, &whole[..1000]);
        for part in whole[1000..].chunks(1000) {
            head.chain(packet(&pool, part)).unwrap();
        }
        send(&mut tx, head);
        let mut device = QueueDevice::new(rx, tx, pool, 9000);
        assert_eq!(device.capabilities().max_transmission_unit, 2048, "what fits an mbuf");
        assert_eq!(received(&mut device), Some(whole));
    });
}

#[test]
fn a_full_queue_makes_the_stack_wait() {
    isolated(&["net_ring0"], |eal| {
        // The ring of the driver has fewer places than the pool has mbufs.
        let pool: Mempool = Mempool::builder("pool").size(4095).build(&eal).unwrap();
        let config = PortConfig::default();
        let (port, mut rx, mut tx) = only_port(&eal).configure(&config, &pool).unwrap().start().unwrap();
        let mut device = QueueDevice::new(rx.remove(0), tx.remove(0), pool.clone(), 1500);
        let mut sent = 0;
        while transmit(&mut device, &frame(sent, 60)) {
            sent += 1;
            assert!(sent < 4095, "the queue is never full");
        }
        let taken = usize::try_from(port.stats().unwrap().opackets).unwrap();
        assert_eq!(sent, taken + 32, "so many wait");
        assert!(device.receive(NOW).is_none(), "nothing is taken that could not be answered");
        // What the queue has taken is received by another hand, and what waits follows.
        let (mut rx, tx) = device.into_queues();
        let mut burst = dpdk_rs::Burst::<(), 32>::new();
        let mut count = 0;
        while rx.rx(&mut burst) > 0 {
            count += burst.len();
            burst.clear();
        }
        assert_eq!(count, taken);
        let mut device = QueueDevice::new(rx, tx, pool, 1500);
        assert!(transmit(&mut device, &frame(7, 60)));
        assert_eq!(received(&mut device), Some(frame(7, 60)));
        assert_eq!(device.dropped(), 0);
    });
}

#[test]
fn an_exhausted_pool_and_a_frame_too_long_are_survived() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (_port, rx, tx) = start(only_port(&eal), &pool);
        let mut device = QueueDevice::new(rx, tx, pool.clone(), 1500);
        assert!(transmit(&mut device, &frame(0, 5000)));
        assert_eq!((device.dropped(), received(&mut device)), (1, None));
        let hoard: Vec<_> = std::iter::from_fn(|| pool.alloc()).collect();
        assert!(transmit(&mut device, &frame(1, 60)), "one was kept for this");
        assert!(!transmit(&mut device, &frame(2, 60)) && received(&mut device).is_none());
        drop(hoard);
        assert_eq!(received(&mut device), Some(frame(1, 60)));
        assert!(transmit(&mut device, &frame(3, 60)));
    });
}

#[test]
fn the_echo_server_says_what_is_wrong() {
    let finished = example("smoltcp_echo", &[], &["--", "224.0.0.1/24"]);
    assert_eq!(finished.status.code(), Some(1));
    assert!(finished.stderr.contains("'224.0.0.1/24' is not a host's address"), "{}", finished.stderr);
    let finished = example("smoltcp_echo", &[], &[]);
    assert!(finished.stderr.contains("no port: give one with --vdev or -a"), "{}", finished.stderr);
}

/// What the server sends back of these bytes, sent and received at once by the kernel's TCP.
fn echo(bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect("192.0.2.1:7").unwrap();
    stream.set_read_timeout(Some(patience(Duration::from_secs(60)))).unwrap();
    let mut sender = stream.try_clone().unwrap();
    let mut answer = Vec::new();
    thread::scope(|scope| {
        scope.spawn(move || {
            sender.write_all(bytes).unwrap();
            sender.shutdown(Shutdown::Write).unwrap();
        });
        stream.read_to_end(&mut answer).unwrap();
    });
    answer
}

#[test]
fn a_linux_host_talks_to_the_echo_server() {
    let missing = ["ping", "busybox"].into_iter().find(|tool| Command::new(tool).output().is_err());
    if let Some(tool) = missing {
        println!("skipped: '{tool}' is missing: install the packages iputils-ping and busybox-static");
        return;
    }
    if !Path::new("/dev/net/tun").exists() {
        println!("skipped: the kernel has no /dev/net/tun");
        return;
    }
    let Some(namespace) = namespace("") else { return };
    isolated_bare_in(&namespace, || {
        const BYTES: usize = 3_000_000;
        let talked = Cell::new(false);
        let talk = || {
            if !finish(Command::new("ip").args(["link", "show", "echo0"])).status.success() {
                return false;
            }
            shell("ip address add 192.0.2.2/24 dev echo0; ip link set echo0 up");
            shell("ping -c 3 -i 0.2 -W 20 192.0.2.1");
            let bytes = frame(5, BYTES);
            assert!(echo(&bytes) == bytes, "what comes back is not what was sent");
            let by_nc = finish(Command::new("sh").args(["-c", "echo 'by nc' | busybox nc 192.0.2.1 7"]));
            assert_eq!(by_nc.stdout, "by nc\n", "{}", by_nc.stderr);
            talked.set(true);
            true
        };
        let finished = example_until("smoltcp_echo", &["net_tap0,iface=echo0"], &[], talk);
        assert!(finished.status.success() && talked.get(), "{}\n{}", finished.stdout, finished.stderr);
        let bytes = BYTES + "by nc\n".len();
        assert!(finished.stdout.contains(&format!("echoed {bytes} bytes\n")), "{}", finished.stdout);
    });
}
