// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Devices that combine others, made for one step among devices that the sequence uses.

use crate::{
    devices::{DevicePlan, Devices, Rings, capture},
    model::{Behaviour, DeviceRecord, Stage, lock},
    process::attach,
    raw,
};
use dpdk_rs::{Eal, HotplugError, Mempool, Port, PortConfig, PortError, dpdk_version, port::Unconfigured};
use proptest::prelude::*;
use proptest_derive::Arbitrary;
use std::sync::{Arc, atomic::Ordering};

/// A number that no port has.
const NO_PORT: u64 = 31;

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) struct CombinationPlan {
    device: u8,
    combiner: Combiner,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Combiner {
    #[proptest(weight = 3)]
    Bonding {
        #[proptest(strategy = "0_u8..3")]
        mode: u8,
        form: Form,
        start: bool,
    },
    /// Of a device that exists.
    Failsafe,
    /// Of a device that it creates.
    FailsafeOf(Part),
}

/// How a device is called.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Form {
    Name,
    Number,
    /// DPDK cuts it to 16 bits.
    LongNumber,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Part {
    Null,
    Capture,
    Memif,
}

impl Devices {
    /// Attaches a device that combines another one, and detaches it. Whether there was a device to combine.
    pub(crate) fn combine(&mut self, eal: &Eal, plan: CombinationPlan) -> bool {
        let there: Vec<_> = self.records.iter().filter(|device| !device.is_detached()).collect();
        let Some(place) = usize::from(plan.device).checked_rem(there.len()) else { return false };
        let device = &Arc::clone(there[place]);
        match plan.combiner {
            Combiner::Bonding { mode, form, start } => self.forgotten += self.bond(eal, device, (mode, form, start)),
            Combiner::Failsafe => {
                let text = format!("net_failsafe{}c,dev({})", self.sequence, device.name);
                let error = attach(eal, &text).expect_err("the device exists");
                let is_closed = *lock(&device.stage) == Stage::Closed;
                assert!(is_closed || error == HotplugError::Parts(text), "{error}");
            }
            Combiner::FailsafeOf(part) => self.replace(eal, part),
        }
        true
    }

    /// How many allocations the driver forgets.
    fn bond(&self, eal: &Eal, device: &DeviceRecord, (mode, form, start): (u8, Form, bool)) -> usize {
        let is_closed = *lock(&device.stage) == Stage::Closed;
        let free = !is_closed && !device.configured.load(Ordering::SeqCst);
        if free && matches!(device.behaviour, Behaviour::Rings { own: true, .. } | Behaviour::Capture(_)) {
            // Afterwards these drivers do not know how many queues they have.
            return 0;
        }
        let number = raw::port_number(&device.name).unwrap_or(NO_PORT);
        let member = match form {
            Form::Name => device.name.clone(),
            Form::Number => number.to_string(),
            Form::LongNumber => (number + (3 << 16)).to_string(),
        };
        let key = if dpdk_version().as_str() < "23.11" { "slave" } else { "member" };
        let name = format!("net_bonding{}c", self.sequence);
        let port =
            only(attach(eal, &format!("{name},mode={mode},{key}={member}")).expect("the device can be made"), &name);
        let pool: Mempool = Mempool::builder("combination").size(127).cache(0).build(eal).expect("there is memory");
        let harmless = match device.behaviour {
            Behaviour::Null { len, copy, .. } => len <= 2048 && !copy,
            _ => true,
        };
        match port.configure(&PortConfig::default(), &pool) {
            Ok(port) => {
                assert!(free && harmless, "{} was combined", device.name);
                if start && matches!(device.behaviour, Behaviour::Rings { .. }) {
                    // In some modes the driver refuses members whose address it cannot change, after it has set an alarm.
                    drop(port.start());
                }
            }
            Err(PortError::Unsupported { .. } | PortError::Lacks { .. }) => {
                assert!(!free || !harmless, "{}", device.name)
            }
            Err(error) => assert!(is_closed, "{error}: {}", device.name),
        }
        // Without a close, which follows a configuration, it keeps one.
        let forgotten = usize::from(raw::port_number(&name).is_some());
        assert_eq!(eal.detach(&name), Ok(()));
        forgotten
    }

    fn replace(&self, eal: &Eal, part: Part) {
        let (name, own) = (format!("net_failsafe{}c", self.sequence), self.sequence);
        let part = match part {
            Part::Null => format!("net_null{own}c"),
            Part::Capture => format!("net_pcap{own}c,rx_pcap={}", capture().0.display()),
            Part::Memif => format!("net_memif{own}c,role=client,socket-abstract=yes,socket=combination"),
        };
        let port = only(attach(eal, &format!("{name},dev({part})")).expect("it has its part"), &name);
        let part = part.split(',').next().unwrap_or_default();
        assert!(matches!(eal.detach(part), Err(HotplugError::InUse { .. })));
        // If it were closed before, the driver would keep what it has for interrupts.
        drop(port);
        assert_eq!(eal.detach(&name), Ok(()));
        assert!(raw::port_number(part).is_none(), "the part is gone with it");
    }
}

/// The port of this name; the others are free again.
fn only(ports: Vec<Port<Unconfigured>>, name: &str) -> Port<Unconfigured> {
    ports.into_iter().find(|port| port.name() == name).expect("the new port is among the free ones")
}

/// Has each driver, and DPDK for its sake, allocate what it allocates once.
pub(crate) fn warm_up(eal: &Eal) {
    let mut devices = Devices::new(0);
    for plan in [DevicePlan::Capture, DevicePlan::Loop(Rings { queues: 1, order: 1 })] {
        assert!(devices.attach(&plan));
        devices.bond(eal, devices.records.last().expect("it is attached"), (0, Form::Name, true));
    }
    for part in [Part::Null, Part::Capture, Part::Memif] {
        devices.replace(eal, part);
    }
    devices.detach();
}
