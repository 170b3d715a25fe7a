// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Settings of a started port, and its counters by name.

use crate::{
    frames::{frame, only_port, packet, pool, receive, send, start, until},
    namespace::{namespace, shell},
    process::{attach, eal_args, folder, init, isolated, isolated_bare, isolated_in},
};
use dpdk_rs::{
    Burst, MacAddr, Mempool, PortConfig, PortError, RxQueue,
    port::{FlowControl, RssFields, RssFlow},
};
use std::{
    collections::BTreeMap,
    net::UdpSocket,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

const EINVAL: i32 = 22;
const ENOSPC: i32 = 28;
const ENOSYS: i32 = 38;
const ENOTSUP: i32 = 95;
const EADDRINUSE: i32 = 98;

/// The error number of a refused call, or 0.
fn errno<T>(result: Result<T, PortError>) -> i32 {
    match result {
        Err(error) => error.errno().unwrap_or_else(|| panic!("{error:?} is not a refusal")).get(),
        Ok(_) => 0,
    }
}

#[test]
fn extended_counters_have_names_and_are_reset() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (port, mut rx, mut tx) = start(only_port(&eal), &pool);
        for number in 0..5 {
            send(&mut tx, packet(&pool, &frame(number, 64)));
        }
        (0..3).for_each(|_| drop(receive(&mut rx)));
        let counters = || -> BTreeMap<String, u64> {
            port.xstats().unwrap().into_iter().map(|xstat| (xstat.name, xstat.value)).collect()
        };
        let counted = counters();
        assert_eq!((counted["rx_good_packets"], counted["tx_good_packets"]), (3, 5), "{counted:?}");
        assert_eq!((counted["rx_q0_packets"], counted["tx_q0_packets"]), (3, 5), "{counted:?}");
        port.reset_xstats().unwrap();
        assert_eq!((counters().len(), counters().values().sum()), (counted.len(), 0_u64));
        (0..2).for_each(|_| drop(receive(&mut rx)));
        assert_eq!(counters()["rx_good_packets"], 2);
    });
}

#[test]
fn chosen_counters_are_read_alone() {
    isolated(&["net_ring0", "net_ring1"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut ports = eal.ports().into_iter();
        let (port, mut rx, mut tx) = start(ports.next().unwrap(), &pool);
        let names = ["tx_q0_packets", "rx_good_packets", "tx_good_bytes"];
        let chosen = port.select_xstats(names).unwrap();
        assert_eq!(chosen.names(), names);
        let mut counted = [0, 0, 0, 7];
        for number in 1..5 {
            send(&mut tx, packet(&pool, &frame(number, 64)));
            if number % 2 == 0 {
                drop(receive(&mut rx));
            }
            port.read_xstats(&chosen, &mut counted).unwrap();
            let all: BTreeMap<String, u64> =
                port.xstats().unwrap().into_iter().map(|xstat| (xstat.name, xstat.value)).collect();
            assert_eq!((counted[0], counted[1]), (number as u64, number as u64 / 2));
            assert_eq!(counted, [all[names[0]], all[names[1]], all[names[2]], 7]);
        }
        // More than are read at once, in any order and some of them repeatedly.
        let many = port.select_xstats((0..700).map(|place| names[place % 2])).unwrap();
        let mut values = vec![0; 700];
        port.read_xstats(&many, &mut values).unwrap();
        assert!(values.chunks(2).all(|pair| pair == [4, 2]), "{values:?}");

        let error = port.select_xstats(["rx_good_packets", "rx_god_packets"]).unwrap_err().to_string();
        assert!(
            error.starts_with("port 0 (net_ring0): the device has no extended counter 'rx_god_packets': "),
            "{error}"
        );
        let error = port.read_xstats(&chosen, &mut counted[..2]).unwrap_err();
        assert!(matches!(error, PortError::Unsupported { what: "room for values", asked: 2, .. }), "{error}");
        let (other, ..) = start(ports.next().unwrap(), &pool);
        let error = other.read_xstats(&chosen, &mut counted).unwrap_err();
        assert!(matches!(error, PortError::Unsupported { what: "counters of another port", .. }), "{error}");
        assert_eq!(port.read_xstats(&port.select_xstats([""; 0]).unwrap(), &mut []), Ok(()));
    });
}

#[test]
fn all_multicast_is_switched_where_there_is_a_choice() {
    isolated(&["net_ring0", "net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut ports = eal.ports().into_iter();
        let (ring, _rx, _tx) = start(ports.next().unwrap(), &pool);
        for on in [true, false, false, true] {
            ring.set_allmulticast(on).unwrap();
            assert_eq!(ring.is_allmulticast(), on);
        }
        let (null, _rx, _tx) = start(ports.next().unwrap(), &pool);
        let error = null.set_allmulticast(false).unwrap_err();
        assert_eq!(error.to_string(), "port 1 (net_null0): cannot disable all-multicast mode: Operation not supported");
    });
}

/// DPDK keeps addresses in plain memory, which a read during a write finds half changed.
#[test]
fn an_address_is_read_whole_while_another_thread_sets_it() {
    isolated(&["net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (port, _rx, _tx) = start(only_port(&eal), &pool);
        let whole = [MacAddr([2, 0, 0, 0, 0, 0]), MacAddr([2, 255, 255, 255, 255, 255])];
        port.set_mac_addr(whole[0]).unwrap();
        let end = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..100_000 {
                    port.set_mac_addr(whole[round % 2]).unwrap();
                }
                end.store(1, SeqCst);
            });
            while end.load(SeqCst) == 0 {
                let address = port.mac_addr().unwrap();
                assert!(whole.contains(&address), "{address}");
            }
        });
    });
}

#[test]
fn addresses_are_set_added_and_removed() {
    isolated(&["net_null0", "net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut ports = eal.ports().into_iter();
        let (null, _rx, _tx) = start(ports.next().unwrap(), &pool);
        let [first, second] = [1, 2].map(|last| MacAddr([2, 0, 0, 0, 0, last]));
        null.set_mac_addr(first).unwrap();
        assert_eq!(null.mac_addr().unwrap(), first);
        let group = MacAddr([3, 0, 0, 0, 0, 0]);
        let error = null.set_mac_addr(group).unwrap_err();
        assert_eq!(error.call(), Some("rte_eth_dev_default_mac_addr_set"));
        assert!(error.to_string().contains("cannot make the port's own MAC address 03:00:00:00:00:00"), "{error}");
        assert_eq!((errno(null.set_mac_addr(group)), null.mac_addr().unwrap()), (EINVAL, first));
        assert_eq!(errno(null.add_mac_addr(second)), ENOTSUP);
        // A ring has no multicast addresses, and room for one MAC address.
        let (ring, _rx, _tx) = start(ports.next().unwrap(), &pool);
        assert_eq!(ring.info().unwrap().max_mac_addrs, 1);
        ring.add_mac_addr(first).unwrap();
        assert_eq!((ring.mac_addr().unwrap(), errno(ring.add_mac_addr(second))), (first, ENOSPC));
        ring.remove_mac_addr(second).unwrap();
        assert_eq!(errno(ring.remove_mac_addr(first)), EADDRINUSE);
    });
}

#[test]
fn what_a_device_lacks_is_said_before_anything_is_changed() {
    isolated(&["net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let config = PortConfig::default;
        for (config, what) in [
            (config().vlan_filter(true), "VLAN filter"),
            (config().vlan_strip(true), "VLAN strip"),
            (config().link_interrupts(true), "link interrupts"),
        ] {
            let error = only_port(&eal).configure(&config, &pool).unwrap_err();
            assert_eq!(error.to_string(), format!("port 0 (net_null0): the device has no {what}"));
        }
        let (port, ..) = start(only_port(&eal), &pool);
        assert_eq!(errno(port.set_vlan(7, true)), ENOSYS);
        assert!(matches!(port.set_vlan_strip(true), Err(PortError::Lacks { .. })) && !port.strips_vlan());
        assert!(matches!(port.on_link_change(|| {}), Err(PortError::Lacks { .. })));
        assert_eq!(errno(port.flow_control()), ENOTSUP);
        assert_eq!(errno(port.set_flow_control(&FlowControl::default())), ENOTSUP);
    });
}

#[test]
fn frames_are_spread_by_the_table() {
    isolated(&["net_null0", "net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut ports = eal.ports().into_iter();
        let fields = RssFields::IP | RssFields::TCP;
        let config = PortConfig::default().rx_queues(1).rss(fields);
        let (null, _rx, _tx) = ports.next().unwrap().configure(&config, &pool).unwrap().start().unwrap();
        let info = null.info().unwrap();
        assert!(info.rss_fields.contains(fields) && info.rss_table_len > 0);
        null.set_rss_hash(RssFields::UDP, None).unwrap();
        assert_eq!(null.rss_hash().unwrap().fields, RssFields::UDP);
        let len = usize::from(info.rss_key_len);
        let key: Vec<u8> = (1..=40).collect();
        if len == 0 {
            // As in DPDK 22.11, whose driver always reads 40 bytes.
            let error = null.set_rss_hash(fields, Some(&key)).unwrap_err();
            assert!(error.to_string().contains("the device has no RSS key of a known length"), "{error}");
        } else {
            null.set_rss_hash(fields, Some(&key[..len])).unwrap();
            assert_eq!(null.rss_hash().unwrap().key, key[..len]);
            let error = null.set_rss_hash(fields, Some(&key[1..len])).unwrap_err();
            assert!(matches!(error, PortError::Unsupported { what: "length of the RSS key in bytes", .. }), "{error}");
        }

        let table = null.rss_table().unwrap();
        assert_eq!(table.len(), usize::from(info.rss_table_len));
        null.set_rss_table(&vec![0; table.len()]).unwrap();
        assert_eq!(null.rss_table().unwrap(), vec![0; table.len()]);
        let flow = RssFlow::ipv4([192, 0, 2, 1].into(), [192, 0, 2, 2].into()).udp(5000, 53);
        let queue = null.rss_hash().unwrap().queue(&flow, &null.rss_table().unwrap());
        assert_eq!(queue, (len > 0).then_some(0), "without a key there is no hash");
        let mut wrong = table.clone();
        wrong[5] = 1;
        let error = null.set_rss_table(&wrong).unwrap_err();
        let expected = "port 0 (net_null0): RX queue number: 1 requested, the device supports below 1";
        assert_eq!(error.to_string(), expected);
        assert!(matches!(null.set_rss_table(&table[1..]), Err(PortError::Unsupported { .. })));

        let config = PortConfig::default().rss(RssFields::SCTP);
        let ring = ports.next().unwrap();
        let lacking = ring.configure(&config, &pool).unwrap_err();
        assert_eq!(lacking.to_string(), "port 1 (net_ring0): the device has no RSS over SCTP");
        let (ring, ..) = start(eal.ports().remove(0), &pool);
        let error = ring.rss_table().unwrap_err();
        assert_eq!(error.to_string(), "port 1 (net_ring0): the device has no RSS redirection table");
    });
}

/// A vhost port has a link while its peer, which comes and goes here, is there.
#[test]
fn a_change_of_the_link_calls_a_closure() {
    isolated_bare(|| {
        let socket = folder().join("vhost.sock");
        let (eal, _) = init(eal_args(&[&format!("net_vhost0,iface={}", socket.display())])).unwrap();
        let pool: Mempool = Mempool::builder("pool").size(2047).build(&eal).unwrap();
        let config = PortConfig::default().link_interrupts(true);
        let (port, _rx, _tx) = only_port(&eal).configure(&config, &pool).unwrap().start().unwrap();
        assert!(port.info().unwrap().link_interrupts && !port.link().unwrap().up);
        let changes = Arc::new(AtomicUsize::new(0));
        let watch = || {
            let changes = Arc::clone(&changes);
            let closure = move || {
                changes.fetch_add(1, SeqCst);
                // A closure's panic payload is dropped.
                std::panic::resume_unwind(Box::new(1));
            };
            port.on_link_change(closure).unwrap()
        };
        let (first, second) = (watch(), watch());
        let peer = attach(&eal, &format!("net_virtio_user0,path={}", socket.display())).unwrap().remove(0);
        let peer = start(peer, &pool);
        until("both have been called", || changes.load(SeqCst) >= 2);
        until("the link is up", || port.link().unwrap().up);
        assert_eq!(first.port(), port.id());
        drop(first);
        assert_eq!(Arc::strong_count(&changes), 2, "one closure is gone");
        let before = changes.load(SeqCst);
        drop(peer);
        until("the other has been called", || changes.load(SeqCst) > before);
        until("the link is down", || !port.link().unwrap().up);
        drop(second);
        assert_eq!(Arc::strong_count(&changes), 1, "the closures are gone");
    });
}

/// The kernel's side of a tap shows the port's settings.
#[test]
fn a_tap_has_flow_control_and_addresses() {
    if !Path::new("/dev/net/tun").exists() {
        println!("skipped: the kernel has no /dev/net/tun");
        return;
    }
    let Some(namespace) = namespace("") else { return };
    isolated_in(&namespace, &["net_tap0,iface=watched0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let config = PortConfig::default().rx_descriptors(64);
        let (port, _rx, _tx) = only_port(&eal).configure(&config, &pool).unwrap().start().unwrap();
        let info = port.info().unwrap();
        assert!(info.tx_offloads.iter().any(|name| name == "MULTI_SEGS"), "{info:?}");
        assert_eq!(port.flow_control().unwrap(), FlowControl::default());
        let pausing = FlowControl { rx_pause: true, ..FlowControl::default() };
        assert_eq!(errno(port.set_flow_control(&pausing)), ENOTSUP);
        let address = MacAddr([2, 0, 0, 0, 0, 0x77]);
        port.set_mac_addr(address).unwrap();
        shell("ip link show watched0 | grep -q 02:00:00:00:00:77");
        assert_eq!(port.mac_addr().unwrap(), address);
        for on in [true, false] {
            port.set_allmulticast(on).unwrap();
            assert_eq!(port.is_allmulticast(), on);
        }
    });
}

#[test]
fn a_queue_sleeps_until_frames_come() {
    if !Path::new("/dev/net/tun").exists() {
        println!("skipped: the kernel has no /dev/net/tun");
        return;
    }
    let Some(namespace) = namespace("") else { return };
    isolated_in(&namespace, &["net_tap0,iface=sleeper0", "net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let config = PortConfig::default().rx_interrupts(true).rx_descriptors(64);
        let mut ports = eal.ports().into_iter();
        let (_tap, mut rx, _tx) = ports.next().unwrap().configure(&config, &pool).unwrap().start().unwrap();
        shell("ip address add 192.0.2.2/24 dev sleeper0; ip link set sleeper0 up");
        assert!(!rx[0].wait(Duration::ZERO).unwrap(), "nothing has come");
        let socket = UdpSocket::bind("192.0.2.2:0").unwrap();
        for _ in 0..3 {
            // The kernel asks by ARP for the other end.
            let mut burst = Burst::<(), 32>::new();
            until("a frame arrives", || {
                let _ = socket.send_to(b"anybody", "192.0.2.1:9");
                rx[0].wait(Duration::from_secs(5)).unwrap() && rx[0].rx(&mut burst) > 0
            });
            burst.clear();
        }
        // Another thread may run first.
        let mut queue = rx.remove(0);
        let queue = thread::spawn(move || {
            queue.wait(Duration::ZERO).unwrap();
            queue
        });
        assert!(queue.join().unwrap().wait(Duration::ZERO).is_ok());

        let (_null, mut rx, _tx) = ports.next().unwrap().configure(&config, &pool).unwrap().start().unwrap();
        assert_eq!(errno(rx[0].wait(Duration::from_secs(5))), ENOTSUP);
        assert_eq!(errno(RxQueue::wait_any(&mut rx, Duration::from_secs(5))), ENOTSUP);
    });
}

#[test]
fn several_queues_are_waited_for_together() {
    if !Path::new("/dev/net/tun").exists() {
        println!("skipped: the kernel has no /dev/net/tun");
        return;
    }
    let Some(namespace) = namespace("") else { return };
    isolated_in(&namespace, &["net_tap0,iface=sleeper0", "net_tap1,iface=sleeper1"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let config = PortConfig::default().rx_interrupts(true).rx_descriptors(64);
        let mut queues = Vec::new();
        let mut kept = Vec::new();
        for (number, port) in eal.ports().into_iter().enumerate() {
            let (port, rx, tx) = port.configure(&config, &pool).unwrap().start().unwrap();
            shell(&format!(
                "ip address add 192.0.{number}.2/24 dev sleeper{number}; ip link set sleeper{number} addrgenmode none up"
            ));
            queues.extend(rx);
            kept.push((port, tx));
        }
        queues.iter_mut().try_for_each(RxQueue::enable_interrupt).unwrap();
        let mut burst = Burst::<(), 32>::new();
        for number in [0, 1, 1, 0] {
            // Frames that the kernel has sent by itself.
            while queues.iter_mut().map(|rx| rx.rx(&mut burst)).sum::<usize>() > 0 {
                burst.clear();
            }
            let socket = UdpSocket::bind(format!("192.0.{number}.2:0")).unwrap();
            until("a frame arrives at this queue", || {
                let _ = socket.send_to(b"anybody", format!("192.0.{number}.1:9"));
                RxQueue::wait_any(&mut queues, Duration::from_secs(5)).unwrap() && queues[number].rx(&mut burst) > 0
            });
            burst.clear();
        }
        queues.iter_mut().try_for_each(RxQueue::disable_interrupt).unwrap();
        // Ports stop after their queues have been waited for, and start again.
        for ((port, tx), rx) in kept.into_iter().zip(queues) {
            let (_port, mut rx, _tx) = port.stop(vec![rx], tx).unwrap().start().unwrap();
            rx[0].wait(Duration::ZERO).unwrap();
        }
        assert!(!RxQueue::<()>::wait_any([], Duration::ZERO).unwrap());
    });
}
