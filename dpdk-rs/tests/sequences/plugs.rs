// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Devices that are attached and detached by the safe calls, at any time and under names that may be in use.

use crate::{
    devices::{Devices, MOST, OWN_RING_FRAMES, OWN_RINGS, capture},
    model::{Behaviour, DeviceRecord, Stage, Wire, lock},
    process::attach,
};
use dpdk_rs::{
    Eal, HotplugError, Port,
    device::{Null, Pcap, Ring, VirtualDevice},
    port::Unconfigured,
};
use proptest::prelude::*;
use proptest_derive::Arbitrary;
use std::sync::{Arc, atomic::Ordering};

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) struct PlugPlan {
    driver: Driver,
    /// Few numbers, so that some are in use.
    #[proptest(strategy = "0_u32..2")]
    number: u32,
    /// Whether the free ports are taken.
    pub(crate) take: bool,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Driver {
    #[proptest(weight = 5)]
    Null {
        #[proptest(strategy = "prop::sample::select(&[64_u16, 1, 1500])")]
        len: u16,
    },
    #[proptest(weight = 5)]
    Rings,
    #[proptest(weight = 5)]
    Capture,
    /// A device that is there already, closed or not.
    #[proptest(weight = 4)]
    Again { device: u8 },
    /// There is no such driver.
    #[proptest(weight = 1)]
    Unknown,
    /// A name with a NUL byte.
    #[proptest(weight = 1)]
    Nul,
}

/// What became of a plan.
pub(crate) enum Plugged {
    /// There are as many devices as there may be, or none to be attached again.
    NoRoom,
    /// The call has refused it, as it should.
    Refused,
    /// The ports that nobody had taken.
    Ports(Vec<Port<Unconfigured>>),
}

impl Devices {
    pub(crate) fn plug(&mut self, eal: &Eal, plan: PlugPlan) -> Plugged {
        if self.records.len() >= MOST {
            return Plugged::NoRoom;
        }
        let number = 100 * (self.sequence % 10_000_000) as u32 + plan.number;
        let (device, behaviour): (VirtualDevice, _) = match plan.driver {
            Driver::Null { len } => {
                let behaviour = Behaviour::Null { len: usize::from(len), copy: false, deaf: false };
                (Null::new(number).size(len).into(), behaviour)
            }
            Driver::Rings => {
                // Some of a detached device's rings are left, under its name.
                let former = self.records.iter().filter(|device| device.is_detached()).count() as u32;
                let wires: Vec<_> = (0..OWN_RINGS).map(|_| Wire::new(OWN_RING_FRAMES, None)).collect();
                let behaviour = Behaviour::Rings { rx: wires.clone(), tx: wires, own: true };
                (Ring::new(number + 2 * former).into(), behaviour)
            }
            Driver::Capture => {
                let (path, frames) = capture();
                (Pcap::new(number).rx_file(path).into(), Behaviour::Capture(Arc::clone(frames)))
            }
            Driver::Again { device } => {
                let there: Vec<_> = self.records.iter().filter(|device| !device.is_detached()).collect();
                let Some(place) = usize::from(device).checked_rem(there.len()) else { return Plugged::NoRoom };
                let name = there[place].name.clone();
                assert_eq!(attach(eal, &name).expect_err("it is there"), HotplugError::Exists(name));
                return Plugged::Refused;
            }
            Driver::Unknown => {
                let name = format!("net_nosuch{number}");
                assert_eq!(attach(eal, &name).expect_err("there is no such driver"), HotplugError::NoDriver(name));
                return Plugged::Refused;
            }
            Driver::Nul => {
                let text = format!("net_null{number}\0");
                assert_eq!(attach(eal, &text).expect_err("it has a NUL byte"), HotplugError::Name(text));
                return Plugged::Refused;
            }
        };
        let name = device.name().to_owned();
        let in_use = self.attached(&name).is_some();
        match eal.attach(device) {
            Ok(ports) => {
                assert!(!in_use, "{name} was attached twice");
                self.records.push(Arc::new(DeviceRecord::new(name, behaviour)));
                Plugged::Ports(ports)
            }
            Err(error) => {
                assert!(in_use, "{error}");
                assert_eq!(error, HotplugError::Exists(name));
                Plugged::Refused
            }
        }
    }

    /// Detaches a device, unless it is in use or was detached before; false if there are none.
    pub(crate) fn unplug(&self, eal: &Eal, device: u8) -> bool {
        let Some(place) = usize::from(device).checked_rem(self.records.len()) else { return false };
        let name = self.records[place].name.as_str();
        let result = eal.detach(name);
        let Some(device) = self.attached(name) else {
            assert!(matches!(result, Err(HotplugError::Refused { .. })), "{name} was detached twice: {result:?}");
            return true;
        };
        let mut stage = lock(&device.stage);
        if *stage == Stage::Taken {
            assert_eq!(result, Err(HotplugError::InUse { device: name.to_owned(), port: name.to_owned() }));
        } else {
            assert_eq!(result, Ok(()));
            *stage = Stage::Closed;
            device.detached.store(true, Ordering::SeqCst);
        }
        true
    }

    /// The device of a name that was attached and not detached, be it closed or not.
    fn attached(&self, name: &str) -> Option<&Arc<DeviceRecord>> {
        self.records.iter().find(|device| device.name == name && !device.is_detached())
    }
}
