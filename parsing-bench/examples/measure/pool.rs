// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames in memory, and the order in which they are visited.
//!
//! Every frame begins at a cache line of its own. What decides where frames are when they are touched is how many cache
//! lines one round over the pool touches, not how much memory lies in between, so frames lie close together, and they are
//! visited in an order that no prefetcher guesses.

use crate::{frames, kernel::Kernel, prefetch::prefetch};
use memmap2::MmapMut;
use parsing_bench::{
    contract::{Rule, Workload},
    trace::{BURST, DECK},
};
use std::{error::Error, hint::black_box, ops::Range};

const CACHE_LINE: usize = 64;

/// They alternate: from frame to frame, and for each frame from visit to visit.
const RULES: [Rule; 2] = [
    Rule { destination: [0x02, 0, 0, 0, 0x10, 0x01], source: [0x02, 0, 0, 0, 0x20, 0x01], address: [198, 51, 100, 7] },
    Rule { destination: [0x02, 0, 0, 0, 0x10, 0x02], source: [0x02, 0, 0, 0, 0x20, 0x02], address: [203, 0, 113, 250] },
];

/// Where the frames are when they are touched.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Residency {
    Hot,
    L2,
    Cold,
    ColdPrefetch,
}

impl Residency {
    pub(crate) const ALL: [Self; 4] = [Self::Hot, Self::L2, Self::Cold, Self::ColdPrefetch];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::L2 => "l2",
            Self::Cold => "cold",
            Self::ColdPrefetch => "cold-prefetch",
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self, Box<dyn Error>> {
        let found = Self::ALL.into_iter().find(|residency| residency.name() == name);
        found.ok_or_else(|| format!("'{name}' is no residency: there are hot, l2, cold and cold-prefetch").into())
    }
}

/// A frame's place.
#[derive(Clone, Copy)]
struct Slot {
    line: u32,
    length: u32,
}

impl Slot {
    const fn range(self) -> Range<usize> {
        let start = self.line as usize * CACHE_LINE;
        start..start + self.length as usize
    }
}

/// Frames in memory.
pub(crate) struct Pool {
    memory: MmapMut,
    templates: Vec<Vec<u8>>,
    // In the order of the memory; the template of slot i is i modulo their number.
    places: Vec<Slot>,
    // In the order of the visits.
    order: Vec<Slot>,
    next: usize,
    round: usize,
}

impl Pool {
    /// Each frame of the workload, as many as make up whole bursts.
    pub(crate) fn of_every_frame(workload: Workload) -> Result<Self, Box<dyn Error>> {
        let templates = frames::of(workload);
        let count = templates.len().next_multiple_of(BURST);
        Self::of(templates, count, usize::MAX)
    }

    /// As few as tell anything: one burst, or the two in which every kind of frame of the trace is.
    pub(crate) fn of_few(workload: Workload) -> Result<Self, Box<dyn Error>> {
        let count = if workload == Workload::W4 { DECK } else { BURST };
        Self::of(frames::of(workload), count, usize::MAX)
    }

    /// As many frames as touch at least so many bytes of cache lines, or as many as the memory allows.
    pub(crate) fn touching(workload: Workload, bytes: usize, memory: usize) -> Result<Self, Box<dyn Error>> {
        Self::of(frames::of(workload), (bytes / CACHE_LINE).next_multiple_of(BURST), memory)
    }

    fn of(templates: Vec<Vec<u8>>, count: usize, most: usize) -> Result<Self, Box<dyn Error>> {
        let mut places = Vec::with_capacity(count);
        let mut lines: u32 = 0;
        for template in templates.iter().cycle().take(count) {
            if lines as usize * CACHE_LINE > most {
                break;
            }
            places.push(Slot { line: lines, length: u32::try_from(template.len())? });
            lines += u32::try_from(template.len().div_ceil(CACHE_LINE))?;
        }
        if places.len() < BURST {
            return Err(format!("{most} bytes of memory are not enough for a burst: give more with --memory").into());
        }
        places.truncate(places.len() / BURST * BURST);
        let bytes = lines as usize * CACHE_LINE;
        let memory = MmapMut::map_anon(bytes)
            .map_err(|error| format!("no {bytes} bytes for the frames: {error}: give less with --memory"))?;
        // Pages of 2 MB, as DPDK's frames lie in, so that it is not address translation that is measured. Where the
        // kernel has none, the figures are higher; the record says what its setting is.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        let mut order = places.clone();
        shuffle(&mut order);
        let mut pool = Self { memory, templates, places, order, next: 0, round: 0 };
        pool.refill();
        Ok(pool)
    }

    /// Makes all frames what they were.
    pub(crate) fn refill(&mut self) {
        for (slot, template) in self.places.iter().zip(self.templates.iter().cycle()) {
            self.memory[slot.range()].copy_from_slice(template);
        }
        (self.next, self.round) = (0, 0);
    }

    /// How many there are.
    pub(crate) fn frames(&self) -> usize {
        self.order.len()
    }

    /// Of the cache lines that one round touches, if of each frame only the first is.
    pub(crate) fn touched_bytes(&self) -> usize {
        self.frames() * CACHE_LINE
    }

    /// Every frame once; how many were accepted.
    pub(crate) fn pass(&mut self, kernel: Kernel, residency: Residency) -> usize {
        (0..self.frames() / BURST).map(|_| self.burst(kernel, residency)).sum()
    }

    /// The next burst; how many frames were accepted.
    ///
    /// What the kernel is given is hidden from the optimiser, which so knows neither frame nor rule.
    #[inline(always)]
    pub(crate) fn burst(&mut self, kernel: Kernel, residency: Residency) -> usize {
        if self.next + BURST > self.order.len() {
            self.next = 0;
            self.round += 1;
        }
        let slots = &self.order[self.next..self.next + BURST];
        self.next += BURST;
        if residency == Residency::ColdPrefetch {
            for slot in slots {
                prefetch(&self.memory[slot.range()]);
            }
        }
        let mut accepted = 0;
        match kernel {
            Kernel::Writer(write) => {
                for (number, slot) in slots.iter().enumerate() {
                    let rule = &RULES[(number + self.round) % RULES.len()];
                    let frame = &mut self.memory[slot.range()];
                    accepted += usize::from(black_box(write(black_box(frame), black_box(rule))).is_ok());
                }
            }
            Kernel::Reader(read) => {
                for slot in slots {
                    let frame = &self.memory[slot.range()];
                    accepted += usize::from(black_box(read(black_box(frame))).is_ok());
                }
            }
        }
        accepted
    }
}

/// An order of our own making: the same on every machine.
fn shuffle(slots: &mut [Slot]) {
    // Knuth's multiplicative generator MMIX; its upper bits are good.
    let mut state: u64 = 0x5eed;
    for last in (1..slots.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        slots.swap(last, (state >> 33) as usize % (last + 1));
    }
}
