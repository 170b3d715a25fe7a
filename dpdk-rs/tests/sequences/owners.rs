// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Devices of six kinds, of which some own others, beside a model of who has each port: nobody, the program, or another device.
//! They are attached, configured, started, closed and detached within one step, among the devices that the sequence has.

use crate::{
    devices::{OWN_RINGS, capture},
    process::{attach, folder},
    raw::{self, Usage},
    world::empty_scope,
};
use dpdk_rs::{
    Burst, Eal, HotplugError, Mempool, Port, PortConfig, PortError, RxQueue, TxQueue, device,
    port::{Configured, Started, Unconfigured},
};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;
use std::mem;

/// Mbufs of the pool, which all devices receive into.
const MBUFS: u32 = 1_023;

/// No more devices at a time.
const MOST: usize = 8;

/// What a device that was configured, or one of net_memif, may leave on DPDK's heap for ever: frames, queues, and what its
/// driver keeps for interrupts.
const MOST_FORGOTTEN: usize = 16;

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct OwnerPlan {
    #[proptest(strategy = "vec(any::<OwnerDeed>(), 0..30)")]
    deeds: Vec<OwnerDeed>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum OwnerDeed {
    #[proptest(weight = 6)]
    Attach {
        kind: Kind,
        /// Few numbers, so that some are in use.
        #[proptest(strategy = "0_u64..2")]
        number: u64,
        take: bool,
    },
    #[proptest(weight = 4)]
    Detach { which: u8 },
    /// All ports that nobody has.
    #[proptest(weight = 2)]
    Take,
    #[proptest(weight = 2)]
    Release { which: u8 },
    #[proptest(weight = 4)]
    Configure {
        which: u8,
        #[proptest(strategy = "1_u16..3")]
        queues: u16,
    },
    #[proptest(weight = 4)]
    Start { which: u8 },
    #[proptest(weight = 4)]
    Send { which: u8 },
    #[proptest(weight = 2)]
    Stop { which: u8 },
    #[proptest(weight = 2)]
    Close { which: u8 },
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Part(Part),
    /// The end of a link that asks for the other, which there is not: it cannot be started. The end that waits stays registered
    /// for interrupts when it is closed (`docs/upstream/memif_listener.md`).
    Memif,
    /// The host of a guest that there is not.
    Vhost,
    /// A device that creates another one, and owns it.
    #[proptest(weight = 3)]
    Failsafe {
        part: Part,
        number: u8,
    },
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Null,
    Ring,
    Capture,
}

impl Part {
    fn name(self, number: u64) -> String {
        let driver = match self {
            Self::Null => "net_null",
            Self::Ring => "net_ring",
            Self::Capture => "net_pcap",
        };
        format!("{driver}{number}")
    }
}

/// Who has a port.
enum Hold {
    Nobody,
    Taken(Port<Unconfigured>),
    Configured(Port<Configured<()>>),
    Started(Port<Started<()>>, Vec<RxQueue<()>>, Vec<TxQueue>),
    /// There is none any more, and the device is still there.
    Closed,
}

struct Device {
    name: String,
    kind: Kind,
    /// The device that it owns.
    part: Option<String>,
    stopped: bool,
    hold: Hold,
}

impl Device {
    /// The device closes the one that it owns, and that one is gone with its port.
    fn close(&mut self) {
        self.hold = Hold::Closed;
        if let Some(part) = self.part.take() {
            is_gone(&part);
        }
    }
}

/// A port is gone. The driver net_ring frees the rings of the queues that it was configured with; the others are left.
fn is_gone(name: &str) {
    assert_eq!(raw::port_number(name), None, "{name} is gone");
    let rings = (0..OWN_RINGS).filter_map(|ring| raw::Ring::find(&format!("ETH_RXTX{ring}_{name}")));
    rings.for_each(raw::Ring::free);
}

struct Laboratory<'e> {
    eal: &'e Eal,
    /// Numbers of devices begin with it. None of the sequence's is one of them.
    first: u64,
    devices: Vec<Device>,
    /// The ports of other devices.
    others: Vec<String>,
    pool: Mempool,
    /// Devices that may forget allocations.
    forgetful: usize,
}

/// Does what is planned, and detaches what is left. Returns how many allocations the drivers have forgotten.
pub(crate) fn run(eal: &Eal, number: u64, plan: &OwnerPlan) -> usize {
    let before = Usage::now();
    let pool = Mempool::builder(format!("owners{number}")).size(MBUFS).cache(0).build(eal).unwrap();
    let (devices, others, first) = (Vec::new(), raw::port_names(), 100 * (number % 10_000_000) + 50);
    let mut laboratory = Laboratory { eal, first, devices, others, pool, forgetful: 0 };
    for deed in &plan.deeds {
        laboratory.act(*deed);
        laboratory.verify();
    }
    while let Some(device) = laboratory.devices.last_mut() {
        device.hold = Hold::Nobody;
        laboratory.detach(laboratory.devices.len() - 1);
    }
    assert_eq!(raw::port_names(), laboratory.others, "ports that are left");
    let Laboratory { pool, forgetful, .. } = laboratory;
    assert_eq!(pool.available(), pool.size(), "mbufs that devices have kept");
    drop(pool);
    empty_scope(eal);
    let forgotten = Usage::now().since(before).allocations();
    assert!((0..=forgetful * MOST_FORGOTTEN).contains(&forgotten), "{forgotten} allocations of {forgetful} devices");
    forgotten
}

fn place(devices: &[Device], which: u8, fits: impl Fn(&Hold) -> bool) -> Option<usize> {
    let fitting: Vec<usize> = (0..devices.len()).filter(|place| fits(&devices[*place].hold)).collect();
    usize::from(which).checked_rem(fitting.len()).map(|place| fitting[place])
}

impl Laboratory<'_> {
    fn act(&mut self, deed: OwnerDeed) {
        match deed {
            OwnerDeed::Attach { kind, number, take } if self.devices.len() < MOST => self.attach(kind, number, take),
            OwnerDeed::Attach { .. } => (),
            OwnerDeed::Detach { which } => self.detach_any(which),
            OwnerDeed::Take => {
                let ports = self.eal.ports();
                self.hold(ports, true);
            }
            OwnerDeed::Release { which } => {
                if let Some(place) = place(&self.devices, which, |hold| matches!(hold, Hold::Taken(_))) {
                    self.devices[place].hold = Hold::Nobody;
                }
            }
            OwnerDeed::Configure { which, queues } => self.configure(which, queues),
            OwnerDeed::Start { which } => self.start(which),
            OwnerDeed::Send { which } => self.send(which),
            OwnerDeed::Stop { which } => {
                let Some(place) = place(&self.devices, which, |hold| matches!(hold, Hold::Started(..))) else { return };
                let device = &mut self.devices[place];
                if let Hold::Started(port, rx, tx) = mem::replace(&mut device.hold, Hold::Closed) {
                    device.stopped = true;
                    device.hold = Hold::Configured(port.stop(rx, tx).expect("the queues are all there"));
                }
            }
            OwnerDeed::Close { which } => {
                let open = |hold: &Hold| matches!(hold, Hold::Configured(_) | Hold::Started(..));
                if let Some(place) = place(&self.devices, which, open) {
                    self.devices[place].close();
                }
            }
        }
    }

    fn number(&self, number: u64) -> u64 {
        self.first + number
    }

    /// Whether a device has the name, or is owned under it.
    fn is_in_use(&self, name: &str) -> bool {
        self.devices.iter().any(|device| device.name == name || device.part.as_deref() == Some(name))
    }

    fn attach(&mut self, kind: Kind, number: u64, take: bool) {
        let number = self.number(number);
        let folder = folder();
        let (name, part, result) = match kind {
            Kind::Part(part) => {
                let result = match part {
                    Part::Null => self.eal.attach(device::Null::new(number as u32)),
                    Part::Ring => self.eal.attach(device::Ring::new(number as u32)),
                    Part::Capture => self.eal.attach(device::Pcap::new(number as u32).rx_file(&capture().0)),
                };
                (part.name(number), None, result)
            }
            Kind::Memif => {
                let name = format!("net_memif{number}");
                let socket = folder.join(&name);
                let text = format!("{name},role=client,socket-abstract=no,socket={}", socket.display());
                (name, None, attach(self.eal, &text))
            }
            Kind::Vhost => {
                let name = format!("net_vhost{number}");
                let text = format!("{name},iface={}", folder.join(&name).display());
                (name, None, attach(self.eal, &text))
            }
            Kind::Failsafe { part, number: of } => {
                let (name, of) = (format!("net_failsafe{number}"), self.number(u64::from(of % 2)));
                let file =
                    if part == Part::Capture { format!(",rx_pcap={}", capture().0.display()) } else { String::new() };
                let result = attach(self.eal, &format!("{name},dev({}{file})", part.name(of)));
                (name, Some(part.name(of)), result)
            }
        };
        let taken = self.is_in_use(&name);
        let refused = taken || part.as_deref().is_some_and(|part| self.is_in_use(part));
        match result {
            Ok(ports) => {
                assert!(!refused, "{name} was attached, of {part:?}");
                self.forgetful += usize::from(kind == Kind::Memif);
                self.devices.push(Device { name, kind, part, stopped: false, hold: Hold::Nobody });
                self.hold(ports, take);
            }
            Err(error) => {
                assert!(refused, "{name} of {part:?}: {error}");
                assert!(!taken || matches!(error, HotplugError::Exists(_)), "{error}");
            }
        }
    }

    /// Compares the ports that nobody had with the model, and takes them or gives them back.
    fn hold(&mut self, ports: Vec<Port<Unconfigured>>, take: bool) {
        let is_free = |device: &&mut Device| matches!(device.hold, Hold::Nobody);
        let (mut ports, free): (Vec<_>, _) = (ports, self.devices.iter_mut().filter(is_free));
        for device in free {
            let place = ports.iter().position(|port| port.name() == device.name);
            let port = ports.swap_remove(place.expect("nobody has this port"));
            if take {
                device.hold = Hold::Taken(port);
            }
        }
        assert!(ports.iter().all(|port| self.others.iter().any(|name| name == port.name())), "{ports:?} are not free");
    }

    /// Detaches a device, or one that is owned by another.
    fn detach_any(&mut self, which: u8) {
        let Some(place) = place(&self.devices, which, |_| true) else { return };
        let device = &self.devices[place];
        if let Some(part) = device.part.as_deref().filter(|_| which >= 128) {
            let result = self.eal.detach(part);
            assert!(matches!(result, Err(HotplugError::InUse { .. })), "{part} is owned: {result:?}");
        } else if matches!(device.hold, Hold::Nobody | Hold::Closed) {
            self.detach(place);
        } else {
            let name = device.name.clone();
            let result = self.eal.detach(&name);
            assert_eq!(result, Err(HotplugError::InUse { device: name.clone(), port: name }));
        }
    }

    fn detach(&mut self, place: usize) {
        let Device { name, part, .. } = self.devices.swap_remove(place);
        assert_eq!(self.eal.detach(&name), Ok(()), "{name}");
        assert!(matches!(self.eal.detach(&name), Err(HotplugError::Refused { .. })), "{name} was detached twice");
        for name in [Some(name), part].into_iter().flatten() {
            is_gone(&name);
        }
    }

    fn configure(&mut self, which: u8, queues: u16) {
        let Some(place) = place(&self.devices, which, |hold| matches!(hold, Hold::Taken(_))) else { return };
        let device = &mut self.devices[place];
        let Hold::Taken(port) = mem::replace(&mut device.hold, Hold::Closed) else { return };
        let info = port.info().expect("the device says what it can do");
        let (rx, tx) = (queues.min(info.max_rx_queues), queues.min(info.max_tx_queues));
        let config = PortConfig::default().rx_queues(rx).tx_queues(tx).scatter(true);
        self.forgetful += 1;
        device.hold = Hold::Configured(port.configure(&config, &self.pool).expect("the device can have these queues"));
    }

    fn start(&mut self, which: u8) {
        let Some(place) = place(&self.devices, which, |hold| matches!(hold, Hold::Configured(_))) else { return };
        let device = &mut self.devices[place];
        let Hold::Configured(port) = mem::replace(&mut device.hold, Hold::Closed) else { return };
        match port.start() {
            Ok((port, rx, tx)) => device.hold = Hold::Started(port, rx, tx),
            // Some cannot be started again.
            Err(PortError::Lacks { .. }) if device.stopped => device.close(),
            Err(PortError::Refused { .. }) if device.kind == Kind::Memif => device.close(),
            Err(error) => panic!("{error}"),
        }
    }

    /// Sends a packet and receives: from a ring just this one, from a device with nobody at the other end none.
    fn send(&mut self, which: u8) {
        let Some(place) = place(&self.devices, which, |hold| matches!(hold, Hold::Started(..))) else { return };
        let Device { kind, hold: Hold::Started(_, rx, tx), .. } = &mut self.devices[place] else { return };
        let (mut packet, mut burst) = (self.pool.alloc().expect("all are there"), Burst::<(), 8>::new());
        packet.append(60).expect("there is room").fill(which);
        burst.push(packet).expect("there is room");
        let sent = tx.first_mut().expect("there is a queue").tx(&mut burst);
        burst.clear();
        rx.first_mut().expect("there is a queue").rx(&mut burst);
        match kind {
            Kind::Part(Part::Ring) | Kind::Failsafe { part: Part::Ring, .. } => {
                let received: Vec<&[u8]> = burst.iter().map(dpdk_rs::Packet::data).collect();
                assert_eq!((sent, received), (1, vec![&[which; 60][..]]));
            }
            Kind::Vhost => assert_eq!((sent, burst.len()), (0, 0)),
            _ => (),
        }
    }

    /// A port exists until it is closed, and one that a device owns as long as that one has a port. The others are as they were.
    fn verify(&self) {
        let mut expected = self.others.clone();
        for device in self.devices.iter().filter(|device| !matches!(device.hold, Hold::Closed)) {
            expected.push(device.name.clone());
            expected.extend(device.part.clone());
        }
        let mut names = raw::port_names();
        expected.sort_unstable();
        names.sort_unstable();
        assert_eq!(names, expected, "ports");
        for part in self.devices.iter().filter_map(|device| device.part.as_ref()) {
            assert!(raw::owner(part).is_none_or(|owner| owner == "Fail-safe"), "{part} belongs to another");
        }
    }
}

/// Has each driver, and DPDK for its sake, allocate what it allocates once.
pub(crate) fn warm_up(eal: &Eal) {
    let parts = [Part::Null, Part::Ring, Part::Capture];
    let kinds = parts.map(|part| [Kind::Part(part), Kind::Failsafe { part, number: 0 }]);
    for kind in [Kind::Memif, Kind::Vhost].iter().chain(kinds.as_flattened()) {
        let deeds = vec![
            OwnerDeed::Attach { kind: *kind, number: 1, take: true },
            OwnerDeed::Configure { which: 0, queues: 1 },
            OwnerDeed::Start { which: 0 },
            OwnerDeed::Close { which: 0 },
        ];
        run(eal, 0, &OwnerPlan { deeds });
    }
}
