// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Devices that combine others: each port has one owner, and what the drivers of the parts do is taken into account.

use crate::{
    capture::write,
    frames::pool,
    process::{attach, eal_args, folder, init, isolated, isolated_bare, isolated_bare_cases, isolated_cases},
};
use dpdk_rs::{Burst, Eal, HotplugError, Mempool, Port, PortConfig, PortError, dpdk_version, port::Unconfigured};
use std::fs;

/// A bonding device of a ring, by its name or number. The argument has another name from 23.11 on.
fn bonding_of(member: &str) -> String {
    let key = if dpdk_version().as_str() < "23.11" { "slave" } else { "member" };
    format!("net_bonding0,mode=0,{key}={member}")
}

/// Whether there is a `net_bonding`; says so if there is none.
pub(crate) fn has_bonding() -> bool {
    let has = !cfg!(feature = "static");
    if !has {
        println!("skipped: net_bonding is not among the drivers of a static build");
    }
    has
}

/// The ports of a ring and of a bonding device.
fn ring_and_bonding(eal: &Eal) -> [Port<Unconfigured>; 2] {
    let mut ports = eal.ports();
    ports.sort_by_key(|port| port.name() == "net_bonding0");
    ports.try_into().unwrap_or_else(|ports: Vec<_>| panic!("{ports:?}"))
}

fn is_about_combining(error: &PortError) -> bool {
    matches!(error, PortError::Unsupported { what, .. } if what.starts_with("port number of a part"))
}

/// A bonding device stops its members when it starts, and receives from their queues: nobody else may use these.
#[test]
fn a_port_is_not_combined_with_others_once_it_is_configured() {
    if !has_bonding() {
        return;
    }
    isolated_bare_cases(&[], 2, |case| {
        let (eal, _) = init(eal_args(&["net_ring0", &bonding_of(["net_ring0", "0"][case])])).unwrap();
        let pool: Mempool = pool(&eal, "pool");
        let [ring, bonding] = ring_and_bonding(&eal);
        let (ring, mut rx, _tx) = ring.configure(&PortConfig::default(), &pool).unwrap().start().unwrap();
        let error = bonding.configure(&PortConfig::default(), &pool).unwrap_err();
        assert!(is_about_combining(&error), "{error}");
        assert_eq!(rx[0].rx(&mut Burst::<_, 8>::new()), 0, "it is as it was");
        assert!(ring.link().unwrap().up);
    });
}

#[test]
fn a_port_that_was_combined_with_others_is_theirs() {
    if !has_bonding() {
        return;
    }
    isolated(&["net_ring0", &bonding_of("net_ring0")], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let [ring, bonding] = ring_and_bonding(&eal);
        let bonding = bonding.configure(&PortConfig::default(), &pool).unwrap();
        let error = ring.configure(&PortConfig::default(), &pool).unwrap_err();
        assert!(is_about_combining(&error), "{error}");
        assert_eq!(eal.ports().len(), 0, "nor is it handed out again");
        assert!(matches!(eal.detach("net_ring0"), Err(HotplugError::InUse { .. })));
        drop(bonding);
        // The bonding device has released the ring.
        let ring = eal.ports().into_iter().find(|port| port.name() == "net_ring0").unwrap();
        ring.configure(&PortConfig::default(), &pool).unwrap().start().unwrap();
    });
}

/// The scripts of `net_softnic` name ports whose queues a service core then polls, and pools that are freed when it stops.
#[test]
fn a_device_of_scripts_is_refused_also_as_a_part() {
    let outputs = isolated_cases(2, &["net_ring0"], |eal, case| {
        let script = folder().join("empty.cli");
        fs::write(&script, "").unwrap();
        let alone = format!("net_softnic0,firmware={}", script.display());
        let device = &if case == 0 { alone } else { format!("net_failsafe0,dev({alone})") };
        let mut ports = match attach(&eal, device) {
            Err(HotplugError::NoDriver(_) | HotplugError::Driver { .. }) => return println!("no net_softnic"),
            ports => ports.unwrap(),
        };
        ports.sort_by_key(|port| port.name() == "net_ring0");
        let [soft, ring] = <[_; 2]>::try_from(ports).unwrap();
        let pool: Mempool = pool(&eal, "pool");
        let error = soft.configure(&PortConfig::default(), &pool).unwrap_err();
        assert!(matches!(&error, PortError::Lacks { what, .. } if what.contains("its driver net_softnic")), "{error}");
        // Other ports are unaffected.
        ring.configure(&PortConfig::default(), &pool).unwrap().start().unwrap();
        assert_eq!(eal.detach(device.split_once(',').unwrap().0), Ok(()));
    });
    if outputs.iter().any(|output| output.contains("no net_softnic")) {
        println!("skipped: this DPDK was built without net_softnic");
    }
}

/// `net_pcap` loses a part of frames longer than 65,535 bytes and reports their full length, even if the frames arrive
/// through another device.
#[test]
fn frames_that_a_part_miscounts_are_dropped() {
    isolated_bare(|| {
        let input = folder().join("in.pcap");
        write(&input, &[vec![1; 64], vec![2; 68_536], vec![3; 64]]);
        let device = format!("net_failsafe0,dev(net_pcap0,rx_pcap={})", input.display());
        let (eal, _) = init(eal_args(&[&device])).unwrap();
        let pool: Mempool = Mempool::builder("pool").size(511).cache(0).build(&eal).unwrap();
        let port = eal.ports().remove(0);
        let (_port, mut rx, _tx) =
            port.configure(&PortConfig::default().scatter(true), &pool).unwrap().start().unwrap();
        let mut burst = Burst::<_, 8>::new();
        let mut lens = Vec::new();
        for _ in 0..8 {
            rx[0].rx(&mut burst);
            for packet in burst.drain() {
                assert_eq!(packet.segments().map(<[u8]>::len).sum::<usize>(), packet.len());
                lens.push(packet.len());
            }
        }
        assert_eq!((lens, rx[0].foreign()), (vec![64, 64], 1));
    });
}
