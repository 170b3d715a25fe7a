// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How signals and `--duration` stop the lcores.

use crate::error::Error;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

#[derive(Default)]
pub(crate) struct Signals {
    /// Tells all lcores to leave their queues.
    pub(crate) stop: Arc<AtomicBool>,
    /// Set before `stop` if the program must end. Otherwise the lcores return after a reset of the ports.
    for_good: Arc<AtomicBool>,
}

impl Signals {
    /// Ends the forwarding.
    pub(crate) fn stop_for_good(&self) {
        self.for_good.store(true, SeqCst);
        self.stop.store(true, SeqCst);
    }

    /// Whether the program must end. Call when all lcores have left their queues. Clears `stop` before it reads `for_good`,
    /// so that a later signal still counts.
    pub(crate) fn stopped_for_good(&self) -> bool {
        self.stop.swap(false, SeqCst);
        self.for_good.load(SeqCst)
    }

    /// SIGINT and SIGTERM end the program, SIGUSR1 resets the ports. SIGPIPE is ignored from the start, as in every Rust
    /// program.
    pub(crate) fn install() -> Result<Self, Error> {
        let signals = Self::default();
        let Self { stop, for_good } = &signals;
        // A signal sets its flags in the order of their registration.
        for (signal, flag) in
            [(SIGINT, for_good), (SIGTERM, for_good), (SIGINT, stop), (SIGTERM, stop), (SIGUSR1, stop)]
        {
            signal_hook::flag::register(signal, Arc::clone(flag)).map_err(Error::failed)?;
        }
        Ok(signals)
    }
}
