// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Drivers that combine devices take ports by themselves, and parse the arguments that name these more generously than
//! anybody else. Here a driver takes no port that the program uses, whatever the text says.

use crate::{
    capture::write,
    combined::has_bonding,
    frames::{frame, packet, pool, receive, send, start, until},
    process::{attach, eal_args, folder, init, isolated, isolated_bare, isolated_bare_cases},
};
use dpdk_rs::{
    Burst, Eal, HotplugError, Mempool, Port, PortConfig, PortError, RxQueue, TxQueue, dpdk_version,
    port::{Started, Unconfigured},
};
use std::{fs, thread};

/// The argument by which `net_bonding` names a device; 23.11 has renamed it.
fn member(text: &str) -> String {
    let key = if dpdk_version().as_str() < "23.11" { "slave" } else { "member" };
    format!("{key}={text}")
}

/// The port with this name.
fn take(ports: &mut Vec<Port<Unconfigured>>, name: &str) -> Port<Unconfigured> {
    let place = ports.iter().position(|port| port.name() == name);
    ports.swap_remove(place.unwrap_or_else(|| panic!("{name} is not among {ports:?}")))
}

/// A started `net_ring`, which receives what it sends.
struct Ring {
    pool: Mempool,
    _port: Port<Started>,
    rx: RxQueue,
    tx: TxQueue,
}

impl Ring {
    fn start(eal: &Eal, port: Port<Unconfigured>) -> Self {
        let pool = pool(eal, port.name());
        let (port, rx, tx) = start(port, &pool);
        Self { pool, _port: port, rx, tx }
    }

    /// Whether the ring is started, and nobody else receives from it.
    fn works(&mut self) {
        send(&mut self.tx, packet(&self.pool, &frame(1, 60)));
        assert_eq!(receive(&mut self.rx).data(), frame(1, 60));
        assert_eq!(self.rx.rx(&mut Burst::<_, 8>::new()), 0);
        assert_eq!(self.pool.available(), self.pool.size());
    }
}

/// DPDK cuts the number of a port to 16 bits, and ignores a sign. The bonding device would stop the port, configure it
/// anew, and receive from its queue.
#[test]
fn bonding_takes_no_configured_port_by_any_number() {
    const NUMBERS: [&str; 6] = ["0", "65536", "-0", "+0", "00", "4294967296"];
    if !has_bonding() {
        return;
    }
    isolated_bare_cases(&[], NUMBERS.len(), |case| {
        let bonding = format!("net_bonding0,mode=0,{}", member(NUMBERS[case]));
        let (eal, _) = init(eal_args(&["net_ring0", &bonding])).unwrap();
        let mut ports = eal.ports();
        let mut ring = Ring::start(&eal, take(&mut ports, "net_ring0"));
        let pool: Mempool = pool(&eal, "pool");
        let bonding = take(&mut ports, "net_bonding0").configure(&PortConfig::default(), &pool);
        ring.works();
        assert!(matches!(bonding, Err(PortError::Unsupported { .. } | PortError::Lacks { .. })), "{bonding:?}");
        ring.works();
    });
}

/// What a device's arguments would do to the pool matters for each device that is combined, whatever it is called.
#[test]
fn bonding_takes_no_dangerous_port_by_any_number() {
    if !has_bonding() {
        return;
    }
    isolated_bare(|| {
        let bonding = format!("net_bonding0,mode=0,{}", member("65536"));
        let (eal, _) = init(eal_args(&["net_null0,size=9000", &bonding])).unwrap();
        let pool: Mempool = pool(&eal, "pool");
        let bonding = take(&mut eal.ports(), "net_bonding0").configure(&PortConfig::default(), &pool);
        let Err(PortError::Unsupported { what, asked, .. }) = &bonding else { panic!("{bonding:?}") };
        assert_eq!((*what, *asked), ("argument 'size' of net_null in bytes", 9000));
        assert_eq!(eal.ports().len(), 1, "the device is free again");
    });
}

/// The mode is cut to 8 bits: 259 is broadcast, in which one mbuf is sent through several devices. In the modes 5 and 6
/// addresses are written to frames that are sent, whoever else reads them.
#[test]
fn bonding_neither_broadcasts_nor_writes_to_frames_under_any_number() {
    const MODES: [(&str, u32); 5] = [("3", 3), ("259", 3), ("-253", 3), ("5", 5), ("262", 6)];
    if !has_bonding() {
        return;
    }
    isolated_bare_cases(&[], MODES.len(), |case| {
        let (mode, known_as) = MODES[case];
        let bonding = format!("net_bonding0,mode={mode},{}", member("net_ring0"));
        let (eal, _) = init(eal_args(&["net_ring0", &bonding])).unwrap();
        let pool: Mempool = pool(&eal, "pool");
        let bonding = take(&mut eal.ports(), "net_bonding0").configure(&PortConfig::default(), &pool);
        let Err(PortError::Unsupported { what, asked, .. }) = &bonding else { panic!("{bonding:?}") };
        assert_eq!((*what, *asked), ("argument 'mode' of net_bonding", known_as));
    });
}

/// The primary device is the one that a bonding device receives from and sends on, and need not be one of its members.
#[test]
fn bonding_has_no_primary_that_is_not_its_member() {
    const PRIMARIES: [&str; 3] = ["0", "65536", "net_ring0"];
    if !has_bonding() {
        return;
    }
    isolated_bare_cases(&[], PRIMARIES.len(), |case| {
        let (member, primary) = (member("net_ring1"), PRIMARIES[case]);
        let bonding = format!("net_bonding0,mode=1,mac=02:00:00:00:00:09,{member},primary={primary}");
        let (eal, _) = init(eal_args(&["net_ring0", "net_ring1", &bonding])).unwrap();
        let mut ports = eal.ports();
        let mut ring = Ring::start(&eal, take(&mut ports, "net_ring0"));
        let pool: Mempool = pool(&eal, "pool");
        let configured = take(&mut ports, "net_bonding0").configure(&PortConfig::default(), &pool);
        if let Ok(bonding) = configured {
            let (_port, mut rx, _tx) = bonding.start().unwrap();
            send(&mut ring.tx, packet(&ring.pool, &frame(1, 60)));
            panic!("it received {} frames of the program's port", rx[0].rx(&mut Burst::<_, 8>::new()));
        }
        ring.works();
    });
}

/// A device that another one owns is not given to a third one.
#[test]
fn bonding_takes_no_part_of_another_device_by_number() {
    if !has_bonding() {
        return;
    }
    isolated_bare(|| {
        let bonding = format!("net_bonding0,mode=0,{}", member("1"));
        let (eal, _) = init(eal_args(&["net_failsafe0,dev(net_ring1)", &bonding])).unwrap();
        let mut ports = eal.ports();
        let mut failsafe = Ring::start(&eal, take(&mut ports, "net_failsafe0"));
        let pool: Mempool = pool(&eal, "pool");
        let bonding = take(&mut ports, "net_bonding0").configure(&PortConfig::default(), &pool);
        assert!(bonding.is_err(), "{bonding:?}");
        failsafe.works();
    });
}

/// `net_failsafe` takes a device whose name begins with the text, and removes it when it is removed itself.
/// The driver has an array on the stack with 256 bytes for each packet of a call.
#[test]
fn bonding_has_room_on_the_stack_for_any_burst() {
    const PACKETS: usize = 65_535;
    if !has_bonding() {
        return;
    }
    isolated_bare(|| {
        let bonding = format!("net_bonding0,mode=0,{},{}", member("net_null0"), member("net_null1"));
        let (eal, _) = init(eal_args(&["net_null0", "net_null1", &bonding])).unwrap();
        let pool: Mempool = Mempool::builder("pool").size(70_000).data_room(256).cache(0).build(&eal).unwrap();
        let (port, mut rx, mut tx) = start(take(&mut eal.ports(), "net_bonding0"), &pool);
        until("its members are up", || port.link().unwrap().up);
        let mut burst = Box::new(Burst::<_, PACKETS>::new());
        assert_eq!(pool.alloc_bulk(&mut burst), PACKETS);
        let small = thread::Builder::new().stack_size(256 << 10);
        let (sent, received) = thread::scope(|scope| {
            let job = || (tx.tx(&mut burst), rx.rx(&mut burst));
            small.spawn_scoped(scope, job).unwrap().join().unwrap()
        });
        assert_eq!((sent, received), (PACKETS, PACKETS));
    });
}

#[test]
fn failsafe_takes_no_port_that_the_program_has() {
    isolated(&["net_ring100"], |eal| {
        let mut ring = Ring::start(&eal, take(&mut eal.ports(), "net_ring100"));
        for part in ["net_ring100", "net_ring1"] {
            let device = format!("net_failsafe0,dev({part})");
            assert_eq!(attach(&eal, &device).unwrap_err(), HotplugError::Parts(device));
            ring.works();
            assert!(eal.detach("net_failsafe0").is_err(), "there is no such device");
            ring.works();
        }
        // What it creates itself is its own.
        let device = "net_failsafe0,dev(net_ring2)";
        let mut failsafe = Ring::start(&eal, attach(&eal, device).unwrap().remove(0));
        assert_eq!(eal.ports().len(), 0);
        failsafe.works();
        assert!(matches!(eal.detach("net_ring2"), Err(HotplugError::InUse { .. })));
        drop(failsafe);
        assert_eq!(eal.detach("net_failsafe0"), Ok(()));
        ring.works();
    });
}

/// The parts of a device that was refused belong to nobody.
#[test]
fn failsafe_leaves_no_parts_behind() {
    isolated(&["net_ring0"], |eal| {
        let input = folder().join("in.pcap");
        write(&input, &[]);
        let part = format!("net_pcap7,rx_pcap={}", input.display());
        // net_pcap cannot change its address.
        let error = attach(&eal, &format!("net_failsafe0,mac=02:00:00:00:00:09,dev({part})")).unwrap_err();
        assert!(matches!(error, HotplugError::Driver { .. }), "{error}");
        assert_eq!(attach(&eal, &part).unwrap().len(), 2);
    });
}

/// A part that does not exist yet is looked for again and again, on another thread.
#[test]
fn failsafe_takes_no_port_later() {
    isolated_bare(|| {
        let tick = folder().join("tick");
        let parts = format!("dev(net_ring1,nodeaction=bad),exec(touch,{})", tick.display());
        let (eal, _) = init(eal_args(&[&format!("net_failsafe0,hotplug_poll=5,{parts}")])).unwrap();
        let mut ports = attach(&eal, "net_ring10").unwrap();
        let mut ring = Ring::start(&eal, take(&mut ports, "net_ring10"));
        let ticks = || {
            let _ = fs::remove_file(&tick);
            until("it looks for its parts", || tick.exists());
        };
        for _ in 0..5 {
            ticks();
        }
        ring.works();
        let pool: Mempool = pool(&eal, "pool");
        let failsafe = take(&mut ports, "net_failsafe0").configure(&PortConfig::default(), &pool);
        assert!(matches!(&failsafe, Err(PortError::Lacks { .. })), "{failsafe:?}");
        assert_eq!(eal.detach("net_failsafe0"), Ok(()));
        ring.works();
    });
}

/// A part that a command or a file descriptor names is not known before it is plugged in.
#[test]
fn failsafe_has_no_parts_that_are_named_later() {
    const PARTS: [&str; 3] = ["exec(true)", "fd(0)", "dev(net_ring7),exec(echo,net_ring8)"];
    isolated_bare_cases(&[], PARTS.len(), |case| {
        let (eal, _) = init(eal_args(&[&format!("net_failsafe0,{}", PARTS[case])])).unwrap();
        let pool: Mempool = pool(&eal, "pool");
        let failsafe = take(&mut eal.ports(), "net_failsafe0").configure(&PortConfig::default(), &pool);
        assert!(matches!(&failsafe, Err(PortError::Lacks { .. })), "{failsafe:?}");
    });
}
