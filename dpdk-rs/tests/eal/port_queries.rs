// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a started port and its queues report about themselves, and how their link and addresses can be set.

use crate::{
    frames::{only_port, pool, start, until},
    namespace::{namespace, shell},
    offloads::with_tap,
    process::{attach, eal_args, folder, init, isolated, isolated_bare, isolated_in},
};
use core::{fmt::Debug, time::Duration};
use dpdk_rs::{
    HotplugError, L2, L3, L4, MacAddr, Mempool, PortConfig, PortError,
    port::{LinkSpeed, LinkSpeeds, PortEvent},
};
use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
};

const GROUP: MacAddr = MacAddr([1, 0, 0x5e, 0, 0, 1]);

/// The words of the error that a device has not got something.
fn lacking<T: Debug>(result: Result<T, PortError>) -> String {
    match result {
        Err(error @ PortError::Lacks { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_a_driver_does_not_have_is_said_with_a_remedy() {
    isolated(&["net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (port, mut rx, mut tx) = start(only_port(&eal), &pool);
        assert_eq!(
            lacking(port.set_link(false)),
            "port 0 (net_null0): the device has no switch for its link (its driver is net_null): stop the port, or take the other \
             end down"
        );
        for error in [
            lacking(port.set_link(true)),
            lacking(port.set_led(true)),
            lacking(port.set_led(false)),
            lacking(port.firmware_version()),
            lacking(port.module()),
            lacking(port.set_multicast_addrs(&[GROUP])),
            lacking(port.rx_queue_info(0)),
            lacking(port.tx_queue_info(0)),
            lacking(port.rx_burst_mode(0)),
            lacking(port.tx_burst_mode(0)),
            lacking(rx.descriptor(0)),
            lacking(tx.descriptor(0)),
            lacking(tx.free_sent(0)),
        ] {
            assert!(error.starts_with("port 0 (net_null0): the device has no "), "{error}");
            let remedy = error.split_once(" (its driver is net_null): ").map(|(_, remedy)| remedy);
            assert!(remedy.is_some_and(|remedy| remedy.len() > 20), "{error}");
        }
        match rx.used_descriptors() {
            // Newer releases do not say which drivers do not count.
            Ok(used) => assert!(used == 0 && dpdk_rs::dpdk_version().as_str() > "25", "{used}"),
            counted => {
                assert!(lacking(counted).contains("no count of its used descriptors (its driver is net_null): "))
            }
        }
        assert_eq!(port.packet_types().unwrap(), []);
        let words = |error: PortError| error.to_string();
        let expected = "port 0 (net_null0): RX queue number: 1 requested, the device supports 0 to 0";
        assert_eq!(words(port.rx_burst_mode(1).unwrap_err()), expected);
        assert_eq!(words(port.rx_queue_info(1).unwrap_err()), expected);
        for error in [port.tx_burst_mode(7).unwrap_err(), port.tx_queue_info(7).map(|_| String::new()).unwrap_err()] {
            assert!(matches!(error, PortError::Unsupported { what: "TX queue number", asked: 7, .. }), "{error}");
        }
    });
}

#[test]
fn a_link_is_taken_down_and_up() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (port, rx, tx) = start(only_port(&eal), &pool);
        for up in [false, false, true, false] {
            port.set_link(up).unwrap();
            assert_eq!(port.link().unwrap().up, up);
        }
        let (port, ..) = port.stop(vec![rx], vec![tx]).unwrap().start().unwrap();
        assert!(port.link().unwrap().up, "a start takes it up");
    });
}

/// The kernel's side of a tap shows what the port was told.
#[test]
fn a_tap_has_a_link_multicast_addresses_and_types_of_frames() {
    if !Path::new("/dev/net/tun").exists() {
        println!("skipped: the kernel has no /dev/net/tun");
        return;
    }
    let Some(namespace) = namespace("") else { return };
    isolated_in(&namespace, &["net_tap0,iface=asked0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let config = PortConfig::default().rx_descriptors(64);
        let (port, _rx, _tx) = only_port(&eal).configure(&config, &pool).unwrap().start().unwrap();
        shell("ip link show up dev asked0 | grep -q asked0");
        port.set_link(false).unwrap();
        assert!(!port.link().unwrap().up);
        shell("! ip link show up dev asked0 | grep -q asked0");
        port.set_link(true).unwrap();
        shell("ip link show up dev asked0 | grep -q asked0");

        for addrs in [&[GROUP, MacAddr([0x33, 0x33, 0, 0, 0, 1])][..], &[], &[GROUP]] {
            port.set_multicast_addrs(addrs).unwrap();
        }
        let error = port.set_multicast_addrs(&[GROUP, MacAddr([2, 0, 0, 0, 0, 1])]).unwrap_err();
        assert!(error.to_string().contains("02:00:00:00:00:01, which is the address of one host"), "{error}");

        let types = port.packet_types().unwrap();
        assert!(types.iter().any(|kind| kind.l2() == Some(L2::Vlan)), "{types:?}");
        assert!(types.iter().any(|kind| kind.l3() == Some(L3::Ipv6)), "{types:?}");
        assert!(types.iter().any(|kind| kind.l4() == Some(L4::Tcp)), "{types:?}");
        assert!(types.iter().all(|kind| kind.bits() & 0xfff != 0), "no tunnels: {types:?}");
    });
}

#[test]
fn a_link_has_one_of_the_devices_speeds() {
    let Some(namespace) = with_tap() else { return };
    isolated_in(&namespace, &["net_tap0,iface=speeds0", "net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut ports = eal.ports().into_iter();
        let (tap, null) = (ports.next().unwrap(), ports.next().unwrap());
        let has = tap.info().unwrap().speeds;
        assert!(has.contains(LinkSpeed::G1) && has.contains(LinkSpeed::G10), "{has}");
        assert!(!has.contains(LinkSpeed::M10Half) && !has.contains(LinkSpeed::G400), "{has}");
        let config = PortConfig::default();
        let several = LinkSpeed::G1 | LinkSpeed::M100Half | LinkSpeed::G400;
        let error = tap.configure(&config.clone().advertised_speeds(several), &pool).unwrap_err();
        let lacking =
            "port 0 (net_tap0): the device has no link speed 100 Mbit/s half duplex, 400000 Mbit/s: it has 10 ";
        assert!(error.to_string().starts_with(lacking), "{error}");
        assert!(error.to_string().ends_with(&format!(": it has {has}")), "{error}");
        let tap = eal.ports().remove(0);
        let error = tap.configure(&config.clone().advertised_speeds(LinkSpeeds::NONE), &pool).unwrap_err();
        assert!(matches!(error, PortError::Unsupported { what: "link speeds to advertise", asked: 0, .. }), "{error}");
        let tap = eal.ports().remove(0);
        let error = tap.configure(&config.clone().fixed_speed(LinkSpeed::M10Half), &pool).unwrap_err();
        assert!(matches!(error, PortError::Lacks { .. }), "{error}");
        let error = null.configure(&config.clone().fixed_speed(LinkSpeed::G1), &pool).unwrap_err();
        let lacking = "the device has no link speed 1000 Mbit/s: its driver reports no speeds to choose from";
        assert!(error.to_string().ends_with(lacking), "{error}");
        // This driver takes any of its speeds, and its link has the one that it always has.
        let config = config.rx_descriptors(64).advertised_speeds(LinkSpeed::G1 | LinkSpeed::G10);
        let (tap, ..) = eal.ports().remove(0).configure(&config, &pool).unwrap().start().unwrap();
        let link = tap.link().unwrap();
        assert_eq!(link.speed(), Some(LinkSpeed::G10), "{link}");
    });
}

/// The driver knows, but might read memory that it has freed.
#[test]
fn a_vhost_port_is_not_asked_about_its_peer() {
    isolated_bare(|| {
        let socket = folder().join("vhost.sock");
        let (eal, _) = init(eal_args(&[&format!("net_vhost0,iface={}", socket.display())])).unwrap();
        let pool: Mempool = Mempool::builder("pool").size(2047).build(&eal).unwrap();
        let config = PortConfig::default().rx_interrupts(true);
        let (port, mut rx, mut tx) = only_port(&eal).configure(&config, &pool).unwrap().start().unwrap();
        let (mut rx, mut tx) = (rx.remove(0), tx.remove(0));
        let peer = attach(&eal, &format!("net_virtio_user0,path={}", socket.display())).unwrap().remove(0);
        let _peer = start(peer, &pool);
        until("the link is up", || port.link().unwrap().up);
        let counters = [port.xstats().map(drop), port.reset_xstats(), port.select_xstats(["rx_q0_packets"]).map(drop)];
        for error in counters.map(lacking) {
            assert!(error.contains("no extended counters in safe use"), "{error}");
        }
        for error in [rx.enable_interrupt(), rx.disable_interrupt(), rx.wait(Duration::ZERO).map(drop)].map(lacking) {
            assert!(error.contains("no RX interrupts"), "{error}");
        }
        assert_eq!(port.stats().unwrap().ipackets, 0);
        let error = lacking(rx.used_descriptors());
        assert!(error.contains("no count of its used descriptors (its driver is net_vhost)"), "{error}");
        assert_eq!(tx.free_sent(0), Ok(0), "it keeps nothing");
    });
}

/// The driver has a service core wait with memory that it frees while the core waits.
#[test]
fn failsafe_has_no_rx_interrupts() {
    isolated(&["net_failsafe0,dev(net_ring0)"], |eal| {
        let pool: Mempool = Mempool::builder("pool").size(2047).build(&eal).unwrap();
        let config = PortConfig::default().rx_interrupts(true);
        let (_port, mut rx, _tx) = only_port(&eal).configure(&config, &pool).unwrap().start().unwrap();
        for error in [rx[0].enable_interrupt(), rx[0].wait(Duration::ZERO).map(drop)].map(lacking) {
            assert!(error.contains("no RX interrupts"), "{error}");
        }
    });
}

/// The queues of a vhost port are switched on when its peer comes, and off when it goes.
#[test]
fn an_event_calls_a_closure() {
    isolated_bare(|| {
        let socket = folder().join("vhost.sock");
        let (eal, _) = init(eal_args(&[&format!("net_vhost0,iface={}", socket.display())])).unwrap();
        let pool: Mempool = Mempool::builder("pool").size(2047).build(&eal).unwrap();
        let (port, _rx, _tx) = start(only_port(&eal), &pool);
        let count = |event| {
            let calls = Arc::new(AtomicUsize::new(0));
            let own = Arc::clone(&calls);
            let closure = move || {
                own.fetch_add(1, SeqCst);
                // What a closure panics with is dropped.
                std::panic::resume_unwind(Box::new(1));
            };
            (port.on_event(event, closure).unwrap(), calls)
        };
        let (watch, calls) = count(PortEvent::QueueState);
        let (second, second_calls) = count(PortEvent::QueueState);
        let others =
            [PortEvent::NeedsReset, PortEvent::Recovering, PortEvent::Recovered, PortEvent::RecoveryFailed].map(count);
        let peer = attach(&eal, &format!("net_virtio_user0,path={}", socket.display())).unwrap().remove(0);
        let peer = start(peer, &pool);
        until("both closures are called", || calls.load(SeqCst) > 0 && second_calls.load(SeqCst) > 0);
        until("the link is up", || port.link().unwrap().up);
        assert_eq!(watch.port(), port.id());
        drop(watch);
        assert_eq!(Arc::strong_count(&calls), 1, "the closure is gone");
        let before = second_calls.load(SeqCst);
        drop(peer);
        until("the other is called", || second_calls.load(SeqCst) > before);
        drop(second);
        assert!(others.iter().all(|(_, calls)| calls.load(SeqCst) == 0), "they are of other events");
    });
}

/// A driver goes on with its device when a closure that it calls returns.
#[test]
fn a_port_that_a_closure_drops_is_left_open() {
    isolated_bare(|| {
        let socket = folder().join("vhost.sock");
        let (eal, _) = init(eal_args(&[&format!("net_vhost0,iface={}", socket.display())])).unwrap();
        let pool: Mempool = Mempool::builder("pool").size(2047).build(&eal).unwrap();
        let peer = start(only_port(&eal), &pool);
        let port = attach(&eal, &format!("net_virtio_user0,path={}", socket.display())).unwrap().remove(0);
        let config = PortConfig::default().link_interrupts(true);
        let (port, rx, tx) = port.configure(&config, &pool).unwrap().start().unwrap();
        until("the link is up", || peer.0.link().unwrap().up);
        let all = Arc::new(Mutex::new(None));
        let ended = Arc::new(AtomicBool::new(false));
        let (taken, end) = (Arc::clone(&all), Arc::clone(&ended));
        let watch = port.on_link_change(move || {
            let taken = taken.lock().unwrap().take();
            let has_taken = taken.is_some();
            drop(taken);
            end.fetch_or(has_taken, SeqCst);
        });
        *all.lock().unwrap() = Some((watch.unwrap(), port, rx, tx));
        drop(peer);
        until("the closure has dropped the port", || ended.load(SeqCst));
        assert!(matches!(eal.detach("net_virtio_user0"), Err(HotplugError::InUse { .. })));
    });
}

#[test]
fn a_port_whose_driver_has_no_reset_is_as_it_was() {
    isolated(&["net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (port, rx, tx) = start(only_port(&eal), &pool);
        let refused = port.stop(vec![rx], vec![tx]).unwrap().reset().unwrap_err();
        assert_eq!(
            refused.to_string(),
            "port 0 (net_null0): the device has no reset (its driver is net_null): start the port again as it is, or close it"
        );
        let (port, rx, tx) = refused.port.unwrap().start().unwrap();
        assert_eq!((port.id().get(), rx.len(), tx.len()), (0, 1, 1));
    });
}
