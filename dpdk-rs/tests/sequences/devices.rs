// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The virtual devices of a sequence.

use crate::{
    model::{Behaviour, DeviceRecord, Frame, Stage, Wire, lock},
    raw::{self, Ring},
};
use proptest::prelude::*;
use proptest_derive::Arbitrary;
use std::{
    fs, mem,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock, atomic::Ordering},
};

/// A virtual device.
#[derive(Arbitrary, Clone, Debug)]
pub(crate) enum DevicePlan {
    /// net_ring on rings of the test's: what is sent comes back.
    #[proptest(weight = 4)]
    Loop(Rings),
    /// Two of them: what one sends the other receives.
    #[proptest(weight = 5)]
    Pair(Rings),
    /// net_ring with rings of its own, which go with it.
    #[proptest(weight = 2)]
    OwnRings,
    /// net_null.
    #[proptest(weight = 3)]
    Null {
        #[proptest(strategy = "prop::sample::select(&[64_u16, 0, 1, 128, 900, 1500, 2048, 2049, 9000, 65_535])")]
        len: u16,
        copy: bool,
        deaf: bool,
    },
    /// net_pcap, which reads the test's file and drops what is sent.
    #[proptest(weight = 2)]
    Capture,
}

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct Rings {
    #[proptest(strategy = "1_u8..4")]
    pub(crate) queues: u8,
    /// Each ring holds one frame less than this power of two.
    #[proptest(strategy = "1_u8..8")]
    pub(crate) order: u8,
}

/// A sequence has no more devices than this.
pub(crate) const MOST: usize = 8;

/// Rings that the driver net_ring makes by itself: how many, and how many frames each holds.
pub(crate) const OWN_RINGS: usize = 16;
pub(crate) const OWN_RING_FRAMES: usize = 1023;

/// The lengths of the frames in the file that net_pcap reads.
const CAPTURED: [usize; 12] = [60, 0, 1, 64, 300, 1514, 2048, 2049, 3000, 9000, 14, 128];

pub(crate) struct Devices {
    pub(crate) sequence: u64,
    pub(crate) records: Vec<Arc<DeviceRecord>>,
    wires: Vec<Arc<Wire>>,
    /// Allocations that drivers of devices without a record have forgotten.
    pub(crate) forgotten: usize,
}

impl Devices {
    pub(crate) const fn new(sequence: u64) -> Self {
        Self { sequence, records: Vec::new(), wires: Vec::new(), forgotten: 0 }
    }

    /// Attaches what is planned, if there is room for it.
    pub(crate) fn attach(&mut self, plan: &DevicePlan) -> bool {
        if self.records.len() >= MOST - 1 {
            return false;
        }
        match plan {
            DevicePlan::Loop(plan) => {
                let there = self.rings(plan);
                self.attach_rings(&there, &there);
            }
            DevicePlan::Pair(plan) => {
                let (there, back) = (self.rings(plan), self.rings(plan));
                self.attach_rings(&there, &back);
                self.attach_rings(&back, &there);
            }
            DevicePlan::OwnRings => {
                let name = self.name("net_ring");
                raw::attach(&name, "");
                let wires: Vec<_> = (0..OWN_RINGS).map(|_| Wire::new(OWN_RING_FRAMES, None)).collect();
                self.add(name, Behaviour::Rings { rx: wires.clone(), tx: wires, own: true });
            }
            DevicePlan::Null { len, copy, deaf } => {
                let name = self.name("net_null");
                // The driver does not take both.
                let copy = *copy && !deaf;
                let (copies, receives) = (u8::from(copy), if *deaf { ",no-rx=1" } else { "" });
                raw::attach(&name, &format!("size={len},copy={copies}{receives}"));
                self.add(name, Behaviour::Null { len: usize::from(*len), copy, deaf: *deaf });
            }
            DevicePlan::Capture => {
                let (path, frames) = capture();
                let name = self.name("net_pcap");
                raw::attach(&name, &format!("rx_pcap={}", path.display()));
                self.add(name, Behaviour::Capture(Arc::clone(frames)));
            }
        }
        true
    }

    fn name(&self, driver: &str) -> String {
        format!("{driver}{}x{}", self.sequence, self.records.len())
    }

    fn rings(&mut self, plan: &Rings) -> Vec<Arc<Wire>> {
        let count = 1 << plan.order;
        let wires = (0..plan.queues).map(|_| {
            let ring = Ring::new(&format!("wire{}x{}", self.sequence, self.wires.len()), count);
            let wire = Wire::new(count as usize - 1, Some(ring));
            self.wires.push(Arc::clone(&wire));
            wire
        });
        wires.collect()
    }

    fn attach_rings(&mut self, rx: &[Arc<Wire>], tx: &[Arc<Wire>]) {
        let name = self.name("net_ring");
        let rings = |wires: &[Arc<Wire>]| -> Vec<Ring> { wires.iter().filter_map(|wire| wire.ring).collect() };
        raw::attach_rings(&name, &rings(rx), &rings(tx));
        self.add(name, Behaviour::Rings { rx: rx.to_vec(), tx: tx.to_vec(), own: false });
    }

    fn add(&mut self, name: String, behaviour: Behaviour) {
        self.records.push(Arc::new(DeviceRecord::new(name, behaviour)));
    }

    /// The devices at a stage, in the order in which they were attached.
    pub(crate) fn with_stage(&self, stage: Stage) -> impl Iterator<Item = &Arc<DeviceRecord>> {
        self.records.iter().filter(move |device| *lock(&device.stage) == stage)
    }

    /// A device exists until it is closed, and what was sent and not received lies in the rings.
    pub(crate) fn verify(&self) {
        let names = raw::port_names();
        for device in self.records.iter().filter(|device| !device.is_detached()) {
            let closed = *lock(&device.stage) == Stage::Closed;
            assert_ne!(names.contains(&device.name), closed, "{}, closed: {closed}", device.name);
        }
        for wire in &self.wires {
            assert_eq!(wire.ring.map(Ring::len), Some(wire.lock().len()), "frames in a ring");
        }
    }

    /// Allocations that the drivers have forgotten.
    pub(crate) fn leaks(&self) -> usize {
        self.records.iter().map(|device| device.leaks.load(Ordering::SeqCst)).sum::<usize>() + self.forgotten
    }

    /// Takes all frames out of the rings, and looks at their bytes.
    pub(crate) fn drain(&self) {
        for wire in &self.wires {
            if let Some(ring) = wire.ring {
                drain(ring, mem::take(&mut *wire.lock()));
            }
        }
        // The driver net_ring frees the rings of the RX queues that it was configured with; the others are left.
        for device in self.with_stage(Stage::Closed) {
            if let Behaviour::Rings { rx: wires, own: true, .. } = &device.behaviour {
                for (number, wire) in wires.iter().enumerate() {
                    if let Some(ring) = Ring::find(&format!("ETH_RXTX{number}_{}", device.name)) {
                        drain(ring, mem::take(&mut *wire.lock()));
                        ring.free();
                    }
                }
            }
        }
    }

    /// Detaches all devices, and frees the rings.
    pub(crate) fn detach(&self) {
        self.drain();
        for device in self.records.iter().filter(|device| !device.is_detached()) {
            raw::detach(&device.name);
        }
        self.wires.iter().filter_map(|wire| wire.ring).for_each(Ring::free);
    }
}

fn drain(ring: Ring, frames: impl IntoIterator<Item = Frame>) {
    for frame in frames {
        let segments = ring.take().expect("a frame that was sent is in the ring");
        let expected: Vec<&Vec<u8>> = frame.pieces.iter().map(|piece| &piece.bytes).collect();
        assert_eq!(segments.iter().collect::<Vec<_>>(), expected, "a frame in a ring has changed");
    }
    assert!(ring.take().is_none(), "a frame is in the ring that nobody sent");
}

/// The file that net_pcap reads, and its frames. Made once a process.
pub(crate) fn capture() -> &'static (PathBuf, Arc<[Vec<u8>]>) {
    static CAPTURE: OnceLock<(PathBuf, Arc<[Vec<u8>]>)> = OnceLock::new();
    CAPTURE.get_or_init(|| {
        let path = crate::process::folder().join("frames.pcap");
        let frames: Arc<[Vec<u8>]> =
            CAPTURED.iter().map(|len| (0..*len).map(|at| (at * 7 + len) as u8).collect()).collect();
        write_capture(&path, &frames);
        (path, frames)
    })
}

fn write_capture(path: &Path, frames: &[Vec<u8>]) {
    // The header of the file: magic, version 2.4, time zone, accuracy, longest frame, Ethernet.
    let header = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 1];
    let mut file: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
    for frame in frames {
        let len = frame.len() as u32;
        file.extend([0, 0, len, len].iter().flat_map(|word| word.to_le_bytes()));
        file.extend_from_slice(frame);
    }
    fs::write(path, file).expect("the file can be written");
}

/// Has each driver, and DPDK for its sake, allocate what it allocates once.
pub(crate) fn warm_up() {
    let mut devices = Devices::new(0);
    let rings = Rings { queues: 1, order: 1 };
    for plan in [
        DevicePlan::Loop(rings),
        DevicePlan::OwnRings,
        DevicePlan::Null { len: 64, copy: false, deaf: false },
        DevicePlan::Capture,
    ] {
        assert!(devices.attach(&plan));
    }
    devices.detach();
}
