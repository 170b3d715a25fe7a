// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Ports from their creation to their end.

use crate::{
    frames::{bytes, frame, only_port, packet, pool, receive, send, start, until},
    process::{attach, eal_args, folder, init, isolated, isolated_bare},
};
use dpdk_rs::{Burst, Mempool, Port, PortConfig, PortError, SocketId, device::Null, port::StopError};
use std::fs;

#[test]
fn each_port_is_handed_out_once() {
    isolated(&["net_null0", "net_ring1", "net_null2"], |eal| {
        let ports = eal.ports();
        let ids: Vec<u16> = ports.iter().map(|port| port.id().get()).collect();
        let names: Vec<&str> = ports.iter().map(dpdk_rs::Port::name).collect();
        assert_eq!(ids, [0, 1, 2]);
        assert_eq!(names, ["net_null0", "net_ring1", "net_null2"]);
        assert!(eal.ports().is_empty(), "all are taken");
    });
}

#[test]
fn unconfigured_port_that_is_dropped_can_be_had_again() {
    isolated(&["net_null0", "net_null1", "net_null2"], |eal| {
        let mut ports = eal.ports();
        let middle = ports.remove(1);
        drop(ports);
        let names: Vec<String> = eal.ports().iter().map(|port| port.name().to_owned()).collect();
        assert_eq!(names, ["net_null0", "net_null2"]);
        drop(middle);
        assert_eq!(eal.ports().len(), 3);
    });
}

#[test]
fn closed_port_cannot_be_had_again() {
    isolated(&["net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        only_port(&eal).configure(&PortConfig::default(), &pool).unwrap().close();
        assert!(eal.ports().is_empty());
    });
}

#[test]
fn numbers_above_the_devices_are_refused_by_name_and_limit() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let most = only_port(&eal).info().unwrap();
        let config = PortConfig::default();
        for (config, text) in [
            (
                config.clone().rx_queues(most.max_rx_queues + 1),
                format!(
                    "port 0 (net_ring0): RX queues: {} requested, the device supports at most {}",
                    most.max_rx_queues + 1,
                    most.max_rx_queues
                ),
            ),
            (
                config.clone().tx_queues(u16::MAX),
                format!(
                    "port 0 (net_ring0): TX queues: 65535 requested, the device supports at most {}",
                    most.max_tx_queues
                ),
            ),
            (
                config.clone().mtu(most.min_mtu - 1),
                format!(
                    "port 0 (net_ring0): MTU in bytes: {} requested, the device supports {} to {}",
                    most.min_mtu - 1,
                    most.min_mtu,
                    most.max_mtu
                ),
            ),
        ] {
            let error = only_port(&eal).configure(&config, &pool).unwrap_err();
            assert!(matches!(error, PortError::Unsupported { .. }), "{error:?}");
            assert_eq!(error.to_string(), text);
        }
        // The port is unaffected.
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        send(&mut tx, packet(&pool, &frame(1, 60)));
        assert_eq!(bytes(&receive(&mut rx)), frame(1, 60));
    });
}

#[test]
fn device_that_refuses_is_closed() {
    isolated_bare(|| {
        let out = folder().join("out");
        fs::create_dir(&out).unwrap();
        let device = format!("net_pcap0,tx_pcap={}/file.pcap", out.display());
        let (eal, _) = init(eal_args(&[&device])).unwrap();
        let pool: Mempool = pool(&eal, "pool");
        let (port, rx, tx) = start(only_port(&eal), &pool);
        let configured = port.stop(vec![rx], vec![tx]).unwrap();
        // The driver opens its file again, and cannot.
        fs::remove_dir_all(&out).unwrap();
        let error = configured.start().unwrap_err();
        let PortError::Refused { port, name, action, .. } = &error else { panic!("{error:?}") };
        assert_eq!((port.get(), name.as_str(), action.as_str()), (0, "net_pcap0", "start the port"));
        assert!(error.to_string().starts_with("port 0 (net_pcap0): cannot start the port: "), "{error}");
        assert!(eal.ports().is_empty());
    });
}

#[test]
fn pool_with_too_little_room_for_any_frame_is_refused() {
    isolated(&["net_ring0"], |eal| {
        let tiny: Mempool = Mempool::builder("tiny").size(511).cache(32).data_room(64).build(&eal).unwrap();
        let error = only_port(&eal).configure(&PortConfig::default(), &tiny).unwrap_err();
        assert_eq!(
            error.to_string(),
            "port 0 (net_ring0): data room of an mbuf in bytes: 64 requested, the device supports 128 or more"
        );
        assert_eq!(eal.ports().len(), 1);
    });
}

#[test]
fn every_queue_is_its_own() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let config = PortConfig::default().rx_queues(3).tx_queues(3);
        let (_port, mut rx, mut tx) = only_port(&eal).configure(&config, &pool).unwrap().start().unwrap();
        let ids = |queue: u16| (0, queue);
        assert_eq!(rx.iter().map(|rx| (rx.port().get(), rx.id())).collect::<Vec<_>>(), [0, 1, 2].map(ids));
        assert_eq!(tx.iter().map(|tx| (tx.port().get(), tx.id())).collect::<Vec<_>>(), [0, 1, 2].map(ids));
        for (queue, tx) in tx.iter_mut().enumerate() {
            send(tx, packet(&pool, &frame(queue, 100)));
        }
        for (queue, rx) in rx.iter_mut().enumerate().rev() {
            assert_eq!(bytes(&receive(rx)), frame(queue, 100));
        }
    });
}

#[test]
fn stop_needs_all_queues_and_no_others() {
    isolated(&["net_ring0", "net_ring1"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let config = PortConfig::default().rx_queues(2);
        let mut ports = eal.ports().into_iter().map(|port| port.configure(&config, &pool).unwrap().start().unwrap());
        let (port0, mut rx0, tx0) = ports.next().unwrap();
        let (port1, mut rx1, tx1) = ports.next().unwrap();

        let kept = rx0.pop().unwrap();
        let error = port0.stop(rx0, tx0).unwrap_err();
        assert_eq!(error.to_string(), "port 0 (net_ring0) needs all its queues back, and no others, to stop");
        let StopError::Queues(all) = error else { panic!("{error:?}") };
        let (port0, mut rx0, tx0) = all.into_inner().unwrap();
        assert_eq!((rx0.len(), tx0.len()), (1, 1));

        rx0.push(rx1.pop().unwrap());
        let StopError::Queues(all) = port0.stop(rx0, tx0).unwrap_err() else { panic!() };
        let (port0, mut rx0, tx0) = all.into_inner().unwrap();
        rx1.push(rx0.pop().unwrap());
        rx0.push(kept);

        let StopError::Queues(all) = port0.stop(rx0, tx1).unwrap_err() else { panic!() };
        let (port0, rx0, tx1) = all.into_inner().unwrap();
        port0.stop(rx0, tx0).unwrap();
        port1.stop(rx1, tx1).unwrap();
    });
}

#[test]
fn stopped_port_starts_again() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut configured = only_port(&eal).configure(&PortConfig::default(), &pool).unwrap();
        for round in 0..4 {
            let (port, mut rx, mut tx) = configured.start().unwrap();
            for number in 0..50 {
                send(&mut tx[0], packet(&pool, &frame(round + number, 64)));
            }
            for number in 0..50 {
                assert_eq!(bytes(&receive(&mut rx[0])), frame(round + number, 64));
            }
            configured = port.stop(rx, tx).unwrap();
        }
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn started_port_lives_as_long_as_a_queue() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (port, mut rx, mut tx) = start(only_port(&eal), &pool);
        drop(port);
        send(&mut tx, packet(&pool, &frame(7, 300)));
        drop(tx);
        assert_eq!(bytes(&receive(&mut rx)), frame(7, 300));
        assert!(eal.ports().is_empty(), "the device is not closed yet");
        drop(rx);
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn virtual_devices_have_a_socket_or_none() {
    isolated(&["net_null0"], |eal| {
        let socket = only_port(&eal).socket();
        assert!(socket == SocketId::ANY || socket.get() >= 0, "{socket}");
    });
}

#[test]
fn port_may_have_queues_one_way_only() {
    isolated(&["net_ring0", "net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        for port in eal.ports() {
            let config = PortConfig::default().rx_queues(0).tx_queues(2);
            let (port, rx, tx) = port.configure(&config, &pool).unwrap().start().unwrap();
            assert_eq!((rx.len(), tx.len()), (0, 2));
            let configured = port.stop(rx, tx).unwrap();
            configured.start().unwrap();
        }
    });
}

#[test]
fn port_without_any_queue_is_refused() {
    isolated(&["net_ring0", "net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        for port in eal.ports() {
            let (id, name) = (port.id(), port.name().to_owned());
            let config = PortConfig::default().rx_queues(0).tx_queues(0);
            let error = port.configure(&config, &pool).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("port {id} ({name}): queues: 0 requested, the device supports 1 or more")
            );
        }
        assert_eq!(eal.ports().len(), 2);
    });
}

#[test]
fn each_queue_receives_into_its_own_pool() {
    isolated(&["net_null0,size=200"], |eal| {
        let pools: [Mempool; 2] = ["first", "second"].map(|name| pool(&eal, name));
        let port = || eal.ports().remove(0);
        let config = PortConfig::default().rx_queues(2);
        for wrong in [&pools[..1], &[], &[pools[0].clone(), pools[1].clone(), pools[0].clone()]] {
            let error = port().configure_with_pools(&config, wrong).unwrap_err();
            let expected = format!(
                "port 0 (net_null0): pools: {} requested, the device supports one for each of its 2 RX queues",
                wrong.len()
            );
            assert_eq!(error.to_string(), expected);
        }
        // The smallest of them counts.
        let small: Mempool = Mempool::builder("small").size(63).cache(0).data_room(256).build(&eal).unwrap();
        let error = port().configure_with_pools(&config, &[pools[0].clone(), small]).unwrap_err();
        assert!(error.to_string().contains("argument 'size' of net_null in bytes: 200 requested"), "{error}");

        let (_port, mut rx, _tx) = port().configure_with_pools(&config, &pools).unwrap().start().unwrap();
        let free = || pools.each_ref().map(Mempool::available);
        let mut bursts = [Burst::<(), 8>::new(), Burst::new()];
        let [first, second] = pools.each_ref().map(Mempool::size);
        assert_eq!((rx[0].rx(&mut bursts[0]), free()), (8, [first - 8, second]));
        assert_eq!((rx[1].rx_up_to(&mut bursts[1], 3), free()), (3, [first - 8, second - 3]));
        drop(bursts);
        assert_eq!(free(), [first, second]);
        // The queues keep them.
        drop(pools);
        assert_eq!(rx[1].rx(&mut Burst::<(), 8>::new()), 8);
    });
}

/// The driver of virtio says which thresholds it does not take.
#[test]
fn thresholds_are_the_drivers_to_judge() {
    isolated_bare(|| {
        let socket = folder().join("vhost.sock");
        let (eal, _) = init(eal_args(&[&format!("net_vhost0,iface={}", socket.display())])).unwrap();
        let pool: Mempool = Mempool::builder("pool").size(2047).build(&eal).unwrap();
        let (port, ..) = start(only_port(&eal), &pool);
        let config = PortConfig::default;
        let mut number = 0;
        let mut configure = |config: PortConfig| {
            number += 1;
            let device = format!("net_virtio_user{number}");
            let peer = attach(&eal, &format!("{device},path={},queue_size=256", socket.display())).unwrap().remove(0);
            let action = match peer.configure(&config, &pool).and_then(Port::start) {
                Ok(started) => {
                    drop(started);
                    String::new()
                }
                Err(PortError::Refused { action, .. }) => action,
                Err(error) => panic!("{error}"),
            };
            eal.detach(&device).unwrap();
            until("the peer is gone", || !port.link().unwrap().up);
            action
        };
        assert_eq!(configure(config().rx_free_threshold(6)), "set up RX queue 0", "no multiple of 4");
        assert_eq!(configure(config().tx_free_threshold(253)), "set up TX queue 0", "too near to 256");
        assert_eq!(configure(config().rx_free_threshold(8).tx_free_threshold(252)), "");
        let null = eal.attach(Null::new(0)).unwrap().remove(0);
        let error = null.configure(&config().tx_descriptors(64).tx_free_threshold(64), &pool).unwrap_err().to_string();
        let expected = "threshold of TX descriptors: 64 requested, the device supports less than their number, 64";
        assert!(error.ends_with(expected), "{error}");
    });
}
