// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a port reports about itself, and its settings.

use crate::{
    frames::{frame, only_port, packet, pool, receive, send, start},
    process::isolated,
};
use dpdk_rs::{MacAddr, Mempool, PortConfig, PortError};

const ENOTSUP: i32 = 95;

/// The error number of a refused call.
fn errno<T: std::fmt::Debug>(result: Result<T, PortError>) -> i32 {
    match result {
        Err(PortError::Refused { errno, .. }) => errno.get(),
        other => panic!("{other:?} is not a refusal"),
    }
}

#[test]
fn frames_are_counted() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (port, mut rx, mut tx) = start(only_port(&eal), &pool);
        assert_eq!(port.stats().unwrap(), dpdk_rs::port::PortStats::default());
        for number in 0..5 {
            send(&mut tx, packet(&pool, &frame(number, 64)));
        }
        for _ in 0..3 {
            receive(&mut rx);
        }
        let stats = port.stats().unwrap();
        assert_eq!((stats.ipackets, stats.opackets, stats.oerrors, stats.imissed), (3, 5, 0, 0));
        port.reset_stats().unwrap();
        assert_eq!(port.stats().unwrap().opackets, 0);
        receive(&mut rx);
        assert_eq!(port.stats().unwrap().ipackets, 1);
        receive(&mut rx);
    });
}

#[test]
fn link_is_up_while_the_port_is_started() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (port, rx, tx) = start(only_port(&eal), &pool);
        let link = port.link().unwrap();
        assert!(link.up && link.full_duplex);
        assert_eq!((link.speed_mbps, port.wait_link().unwrap()), (Some(10_000), link));
        assert_eq!(link.to_string(), "up, 10000 Mbit/s, full duplex");
        let configured = port.stop(vec![rx], vec![tx]).unwrap();
        let (port, _rx, _tx) = configured.start().unwrap();
        assert!(port.link().unwrap().up);
    });
}

#[test]
fn promiscuous_mode_is_switched_where_there_is_one() {
    isolated(&["net_ring0", "net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut ports = eal.ports().into_iter();
        let (ring, _rx, _tx) = start(ports.next().unwrap(), &pool);
        for on in [true, false, false, true] {
            ring.set_promiscuous(on).unwrap();
            assert_eq!(ring.is_promiscuous(), on);
        }
        let (null, _rx, _tx) = start(ports.next().unwrap(), &pool);
        let error = null.set_promiscuous(false).unwrap_err();
        assert_eq!(error.to_string(), "port 1 (net_null0): cannot disable promiscuous mode: Operation not supported");
        assert!(null.is_promiscuous(), "it always is");
    });
}

#[test]
fn mac_address_is_the_devices() {
    isolated(&["net_null0", "net_null1", "net_ring0"], |eal| {
        let addresses: Vec<MacAddr> = eal.ports().iter().map(|port| port.mac_addr().unwrap()).collect();
        assert_eq!(addresses[2], MacAddr([0; 6]), "a ring has none");
        assert_ne!(addresses[0], addresses[1]);
        for address in &addresses[..2] {
            assert_eq!(address.octets()[0] & 3, 2, "{address} is local, and one host's");
        }
    });
}

#[test]
fn mtu_is_set_with_the_configuration_or_after_it() {
    isolated(&["net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let port = only_port(&eal);
        assert_eq!(port.mtu().unwrap(), 1500);
        let port = port.configure(&PortConfig::default().mtu(9000), &pool).unwrap();
        assert_eq!(port.mtu().unwrap(), 9000);
        port.set_mtu(1400).unwrap();
        assert_eq!(port.mtu().unwrap(), 1400);
        let least = port.info().unwrap().min_mtu;
        assert_ne!(errno(port.set_mtu(least - 1)), ENOTSUP);
        assert_eq!(port.mtu().unwrap(), 1400);
        let (port, ..) = port.start().unwrap();
        assert_eq!(port.mtu().unwrap(), 1400);
    });
}

#[test]
fn mtu_that_cannot_be_changed_comes_with_the_configuration() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let port = only_port(&eal).configure(&PortConfig::default().mtu(1400).rx_queues(2), &pool).unwrap();
        assert_eq!(port.mtu().unwrap(), 1400);
        let (port, mut rx, mut tx) = port.start().unwrap();
        assert_eq!((port.mtu().unwrap(), rx.len()), (1400, 2));
        send(&mut tx[0], packet(&pool, &frame(1, 64)));
        receive(&mut rx[0]);
    });
}

#[test]
fn mtu_of_a_device_without_one_cannot_be_set() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let port = only_port(&eal).configure(&PortConfig::default(), &pool).unwrap();
        assert_eq!(errno(port.set_mtu(1400)), ENOTSUP);
        assert!(port.start().is_ok(), "the port is none the worse");
    });
}

#[test]
fn info_names_the_driver_and_its_limits() {
    isolated(&["net_ring0", "net_null0"], |eal| {
        let ports = eal.ports();
        let ring = ports[0].info().unwrap();
        assert_eq!((ring.driver.as_str(), ring.max_rx_queues, ring.max_tx_queues), ("net_ring", 16, 16));
        assert!(ring.rx_descriptors.allows(1024) && ring.tx_descriptors.allows(1024));
        assert!(ring.min_mtu <= 68 && ring.max_mtu >= 1500 && ring.min_data_room == 128);
        assert_eq!(ports[1].info().unwrap().driver, "net_null");
    });
}
