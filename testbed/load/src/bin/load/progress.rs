// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The line that is printed every second.

use crate::record::Counters;
use std::io::{self, IsTerminal as _, Write as _};

const SECOND: u64 = 1_000_000_000;

/// Prints a line on stderr every second, if that is a terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    /// In nanoseconds from the start of the program on.
    next: u64,
    answered: u64,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self { next: if io::stderr().is_terminal() { SECOND } else { u64::MAX }, answered: 0 }
    }

    #[inline]
    pub(crate) const fn is_due(&self, now: u64) -> bool {
        now >= self.next
    }

    #[cold]
    pub(crate) fn print(&mut self, now: u64, step: usize, Counters { sent, answered, wrong, broken, .. }: Counters) {
        let (seconds, rate) = (now as f64 / 1e9, answered.saturating_sub(self.answered));
        // A failure to print must not end the run.
        let _ = writeln!(
            io::stderr(),
            "{seconds:7.1} s  step {step}  sent {sent}  answered {answered} (+{rate})  wrong {wrong}  broken {broken}"
        );
        self.answered = answered;
        self.next = now - now % SECOND + SECOND;
    }
}
