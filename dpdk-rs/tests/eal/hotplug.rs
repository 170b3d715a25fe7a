// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Virtual devices that come and go while the program runs.

use crate::{
    frames::{frame, packet, pool, receive, send, start},
    process::isolated,
};
use dpdk_rs::{HotplugError, Mempool};

fn names(ports: &[dpdk_rs::Port<dpdk_rs::port::Unconfigured>]) -> Vec<&str> {
    ports.iter().map(dpdk_rs::Port::name).collect()
}

#[test]
fn a_device_comes_works_and_goes_several_times() {
    isolated(&["net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        for round in 0..3 {
            let mut ports = eal.attach("net_ring7").unwrap();
            assert_eq!(names(&ports), ["net_null0", "net_ring7"]);
            let (port, mut rx, mut tx) = start(ports.remove(1), &pool);
            send(&mut tx, packet(&pool, &frame(round, 100)));
            assert_eq!(receive(&mut rx).data(), frame(round, 100));
            // One handle after the other keeps the device.
            let in_use = HotplugError::InUse { device: "net_ring7".to_owned(), port: "net_ring7".to_owned() };
            assert_eq!(eal.detach("net_ring7"), Err(in_use.clone()));
            drop((port, rx));
            assert_eq!(eal.detach("net_ring7"), Err(in_use));
            drop(tx);
            // Its port is closed, and the device is still there.
            assert_eq!(eal.attach("net_ring7").unwrap_err(), HotplugError::Exists("net_ring7".to_owned()));
            eal.detach("net_ring7").unwrap();
            assert!(matches!(eal.detach("net_ring7"), Err(HotplugError::Refused { .. })));
        }
        assert_eq!(pool.available(), pool.size());
        // One that nobody has configured, and one of the command line.
        eal.attach("net_null1,size=128").unwrap();
        eal.detach("net_null1").unwrap();
        eal.detach("net_null0").unwrap();
        assert_eq!(names(&eal.ports()), [""; 0]);
    });
}

#[test]
fn what_cannot_be_attached_is_named() {
    let output = isolated(&["net_null0"], |eal| {
        let error = eal.attach("net_null0").unwrap_err();
        let expected = "device 'net_null0' is there already: choose another name, or detach it first";
        assert_eq!(error.to_string(), expected);
        let error = eal.attach("net_nosuch0,size=1").unwrap_err();
        assert!(error.to_string().starts_with("cannot attach device 'net_nosuch0,size=1': "), "{error}");
        assert_eq!(error.call(), Some("rte_eal_hotplug_add"));
        for name in ["net\0", "net_nullü"] {
            assert_eq!(eal.attach(name).unwrap_err(), HotplugError::Name(name.to_owned()));
        }
        let _held = eal.ports();
        let error = eal.detach("net_null0").unwrap_err();
        let expected = "device 'net_null0' is in use: drop its port 'net_null0' and the port's queues first";
        assert_eq!(error.to_string(), expected);
    });
    assert!(!output.contains("not cleaned up"), "{output}");
}
