// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Virtual devices that come and go while the program runs.

use crate::{
    frames::{frame, packet, pool, receive, send, start},
    process::{attach, folder, isolated},
};
use dpdk_rs::{
    HotplugError, Mempool,
    device::{Null, Ring},
};

fn names(ports: &[dpdk_rs::Port<dpdk_rs::port::Unconfigured>]) -> Vec<&str> {
    ports.iter().map(dpdk_rs::Port::name).collect()
}

#[test]
fn a_device_comes_works_and_goes_several_times() {
    isolated(&["net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        for round in 0..3 {
            let mut ports = eal.attach(Ring::new(7)).unwrap();
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
            assert_eq!(eal.attach(Ring::new(7)).unwrap_err(), HotplugError::Exists("net_ring7".to_owned()));
            eal.detach("net_ring7").unwrap();
            assert!(matches!(eal.detach("net_ring7"), Err(HotplugError::Refused { .. })));
        }
        assert_eq!(pool.available(), pool.size());
        // One that nobody has configured, and one of the command line.
        eal.attach(Null::new(1).size(128)).unwrap();
        eal.detach("net_null1").unwrap();
        eal.detach("net_null0").unwrap();
        assert_eq!(names(&eal.ports()), [""; 0]);
    });
}

#[test]
fn what_cannot_be_attached_is_named() {
    let output = isolated(&["net_null0"], |eal| {
        let error = eal.attach(Null::new(0)).unwrap_err();
        let expected = "device 'net_null0' already exists: choose another name, or detach it first";
        assert_eq!(error.to_string(), expected);
        for name in ["net\0", "net_nullü", &"net_null1".repeat(8)] {
            let error = attach(&eal, name).unwrap_err();
            assert_eq!(error, HotplugError::Name(name.to_owned()));
            assert!(error.to_string().contains("at most 63 ASCII characters"), "{error}");
        }
        let _held = eal.ports();
        let error = eal.detach("net_null0").unwrap_err();
        let expected = "device 'net_null0' is in use: drop its port 'net_null0' and the port's queues first";
        assert_eq!(error.to_string(), expected);
    });
    assert!(!output.contains("not cleaned up"), "{output}");
}

/// Each error contains the device, what is wrong with it, and what to do. The next device can still be attached.
#[test]
fn what_there_is_not_differs_from_what_a_driver_refuses() {
    isolated(&["net_null0"], |eal| {
        let absent = folder().join("absent.pcap");
        let capture = format!("net_pcap1,rx_pcap={}", absent.display());
        for device in ["net_nosuch0,size=1", "ring0", "", "0000:00:1f", "1f.x"] {
            let error = attach(&eal, device).unwrap_err();
            assert_eq!(error, HotplugError::NoDriver(device.to_owned()));
            let words = format!("there is no driver for device '{device}': its name must begin with ");
            assert!(error.to_string().starts_with(&words), "{error}");
            assert_eq!((error.call(), error.errno().unwrap().get()), (Some("rte_eal_hotplug_add"), 14));
        }
        for device in ["0000:00:1f.7", "18:00.0,queues=2"] {
            let error = attach(&eal, device).unwrap_err();
            assert_eq!(error, HotplugError::NotVirtual(device.to_owned()));
            assert!(error.to_string().contains("give it with the EAL's option -a"), "{error}");
        }
        for device in ["net_null1,nosuch=1", "net_failsafe1", &capture] {
            let error = attach(&eal, device).unwrap_err();
            assert!(matches!(&error, HotplugError::Driver { device: named, .. } if named == device), "{error:?}");
            assert!(error.to_string().starts_with(&format!("the driver of device '{device}' refuses it: ")), "{error}");
            assert!(error.to_string().contains("those that the driver knows"), "{error}");
            assert_eq!(error.call(), Some("rte_eal_hotplug_add"));
        }
        assert_eq!(names(&eal.attach(Null::new(1).size(64)).unwrap()), ["net_null0", "net_null1"]);
    });
}
