// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Devices that cannot be closed at once, or not at all.

use crate::{
    frames::{pool, start},
    interposer::{Kind, Which, arm, disarm, failed, with_interposer},
    process::{eal_args, init, isolated},
    refusal::ring_works,
};
use dpdk_rs::{HotplugError, Mempool, MempoolError, PortConfig, dpdk_version};
use std::fs;

const EEXIST: i32 = 17;

/// Whether an alarm of DPDK is due, as the kernel shows for its timer.
fn alarm_is_set() -> bool {
    let files = fs::read_dir("/proc/self/fdinfo").unwrap().map(|file| file.unwrap().path());
    let timers = files.filter_map(|file| fs::read_to_string(file).ok()).filter(|text| text.contains("it_value:"));
    timers.into_iter().any(|text| !text.contains("it_value: (0, 0)"))
}

/// A ring keeps its address, which a bonding device of this mode wants to change after it has set an alarm. The alarm
/// reads the port under this number, closed or not: 22.11 finds the next device there, 24.11 address 0.
#[test]
fn bonding_is_closed_after_its_alarm() {
    let key = if dpdk_version().as_str() < "23.11" { "slave" } else { "member" };
    isolated(&["net_ring0", &format!("net_bonding0,mode=0,{key}=net_ring0")], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let bonding = eal.ports().into_iter().find(|port| port.name() == "net_bonding0").unwrap();
        let bonding = bonding.configure(&PortConfig::default(), &pool).unwrap();
        assert!(!alarm_is_set());
        let error = bonding.start().unwrap_err();
        assert!(!alarm_is_set(), "nothing reads the closed port");
        assert_eq!(error.call(), Some("rte_eth_dev_start"), "{error}");
        ring_works(eal.ports().remove(0), &pool);
    });
}

/// DPDK refuses to close it, and it goes on receiving. So nobody gets it, and the pool of its queues is not freed.
#[test]
fn a_port_that_cannot_be_stopped_stays_open() {
    with_interposer(&[], 3, |case| {
        let (eal, _) = init(eal_args(&["net_null0", "net_ring0"])).unwrap();
        let first: Mempool = pool(&eal, "first");
        let mut ports = eal.ports();
        let port = ports.remove(0);
        if case == 0 {
            // The driver may not stop queues, and the port is stopped again; else it is dropped as in the next case.
            let port = port.configure(&PortConfig::default(), &first).unwrap();
            arm(Kind::Call, c"rte_eth_dev_stop", Which::From(1));
            drop(port.start_stopped());
        } else {
            let (port, rx, tx) = start(port, &first);
            arm(Kind::Call, c"rte_eth_dev_stop", Which::From(1));
            if case == 1 {
                drop((port, rx, tx));
            } else {
                let error = port.stop(vec![rx], vec![tx]).unwrap_err();
                assert!(error.to_string().starts_with("port 0 (net_null0): cannot stop the port"), "{error}");
                drop(error);
            }
        }
        assert!(failed() > 0);
        disarm();
        drop(first);
        assert!(eal.ports().is_empty());
        assert!(matches!(eal.detach("net_null0"), Err(HotplugError::InUse { .. })));
        let again = Mempool::<()>::builder("first").size(63).build(&eal).unwrap_err();
        assert!(matches!(again, MempoolError::Create { errno, .. } if errno.get() == EEXIST), "it is there: {again}");
        ring_works(ports.remove(0), &pool(&eal, "second"));
    });
}

/// A bonding device lets go of its members when it is closed, but not of one that cannot be stopped.
#[test]
fn a_bonding_device_whose_member_cannot_be_stopped_stays_open() {
    let key = if dpdk_version().as_str() < "23.11" { "slave" } else { "member" };
    with_interposer(&[], 1, |_| {
        let (eal, _) =
            init(eal_args(&["net_ring0", &format!("net_bonding0,mode=0,{key}=net_ring0"), "net_ring1"])).unwrap();
        let first: Mempool = pool(&eal, "first");
        let mut ports = eal.ports();
        let bonding = ports.iter().position(|port| port.name() == "net_bonding0").unwrap();
        let bonding = ports.remove(bonding).configure(&PortConfig::default(), &first).unwrap();
        ports.retain(|port| port.name() == "net_ring1");
        // The start, which is refused, stops the member and then the device; the close stops the member again.
        arm(Kind::Call, c"rte_eth_dev_stop", Which::Only(3));
        bonding.start().unwrap_err();
        assert_eq!(failed(), 1);
        disarm();
        drop(first);
        assert!(eal.ports().is_empty(), "nobody gets the member");
        let again = Mempool::<()>::builder("first").size(63).build(&eal).unwrap_err();
        assert!(matches!(again, MempoolError::Create { errno, .. } if errno.get() == EEXIST), "it is there: {again}");
        ring_works(ports.remove(0), &pool(&eal, "second"));
    });
}
