// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Dynamic fields and flags of mbufs, and what is known of them in each packet.

use crate::shelf::{Kind, PacketHeld, Shelf, choose_mut};
use dpdk_rs::{DynField, DynFlag, Eal, Packet, PrivateData};
use proptest_derive::Arbitrary;
use std::sync::OnceLock;

struct Marks {
    wide: DynField<u64>,
    narrow: DynField<[u8; 3]>,
    flags: [DynFlag; 2],
}

/// Registered once a process: DPDK keeps them, and the memory for their names, until its end.
static MARKS: OnceLock<Marks> = OnceLock::new();

/// Registers them, which the main thread does before the first sequence.
pub(crate) fn register(eal: &Eal) {
    let name = |kind: &str| format!("sequences_{kind}");
    let flag = |number| DynFlag::register(eal, &name(&format!("flag_{number}"))).expect("a flag is free");
    let marks = Marks {
        wide: DynField::register(eal, &name("wide")).expect("there is room for it"),
        narrow: DynField::register(eal, &name("narrow")).expect("there is room for it"),
        flags: [1, 2].map(flag),
    };
    assert!(MARKS.set(marks).is_ok(), "registered once");
}

fn marks() -> &'static Marks {
    MARKS.get().expect("registered before the first sequence")
}

/// Something to be written.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Mark {
    Wide(u64),
    Narrow([u8; 3]),
    Flag { second: bool, on: bool },
}

/// What is known of one packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marked {
    /// `None`: nobody has written it since the packet was made.
    wide: Option<u64>,
    narrow: Option<[u8; 3]>,
    flags: [bool; 2],
}

impl Marked {
    /// What is known of another packet of the same frame: fields are the packet's own.
    pub(crate) fn of_twin(&self) -> Self {
        Self { flags: self.flags, ..Self::default() }
    }

    pub(crate) fn verify<P: PrivateData>(&self, packet: &Packet<P>) {
        let Marks { wide, narrow, flags } = marks();
        if let Some(known) = self.wide {
            assert_eq!(packet.field(*wide), known, "a field has changed");
        }
        if let Some(known) = self.narrow {
            assert_eq!(packet.field(*narrow), known, "a field has changed");
        }
        assert_eq!(flags.map(|flag| packet.flag(flag)), self.flags, "flags");
    }
}

impl<P: Kind> PacketHeld<P> {
    fn mark(&mut self, mark: Mark) {
        let Marks { wide, narrow, flags } = marks();
        let (packet, known) = (&mut self.packet, &mut self.frame.marked);
        match mark {
            Mark::Wide(value) => {
                packet.set_field(*wide, value);
                known.wide = Some(value);
            }
            Mark::Narrow(value) => {
                packet.set_field(*narrow, value);
                known.narrow = Some(value);
            }
            Mark::Flag { second, on } => {
                let number = usize::from(second);
                packet.set_flag(flags[number], on);
                known.flags[number] = on;
            }
        }
    }
}

impl<P: Kind> Shelf<P> {
    pub(crate) fn mark(&mut self, packet: u8, mark: Mark) -> Option<()> {
        choose_mut(&mut self.packets, packet)?.mark(mark);
        Some(())
    }
}
