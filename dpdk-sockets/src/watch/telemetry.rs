// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The counters and connections of stacks on DPDK's telemetry socket.

use super::stacks::{NameError, Stacks};
use crate::stack::Stack;
use crate::wire::Wire;
use core::fmt;
use core::time::Duration;
use dpdk_rs::Eal;
use dpdk_rs::telemetry::{TelemetryCommand, TelemetryError};

const LIST: &str = "/sockets/list";
const LIST_HELP: &str =
    "TCP connections. Parameters: NAME[,from=N][,port=N][,peer=IP][,state=STATE]; none: the names of stacks";
const COUNTERS: &str = "/sockets/counters";
const COUNTERS_HELP: &str = "Counters of TCP and UDP since the start. Parameter: the name of a stack; none: all stacks";

/// A stack that was not polled for so long does not answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Answers the commands `/sockets/list` and `/sockets/counters` on DPDK's telemetry socket, as long as it lives.
///
/// ```no_run
/// # use dpdk_sockets::{Stack, wire::QueuePair};
/// # fn watch(eal: &dpdk_rs::Eal, stack: &mut Stack<QueuePair>) -> Result<(), Box<dyn std::error::Error>> {
/// let telemetry = dpdk_sockets::watch::Telemetry::register(eal)?;
/// telemetry.add("web", stack)?;
/// # Ok(())
/// # }
/// ```
#[must_use = "the commands are answered until this is dropped"]
pub struct Telemetry {
    stacks: Stacks,
    _commands: [TelemetryCommand; 2],
}

impl Telemetry {
    /// Registers the commands.
    ///
    /// # Errors
    ///
    /// [`TelemetryError`] if another `Telemetry` lives, or as of [`Eal::register_telemetry`].
    pub fn register(eal: &Eal) -> Result<Self, TelemetryError> {
        let stacks = Stacks::new(PATIENCE);
        let (list, counters) = (stacks.clone(), stacks.clone());
        let list = eal.register_telemetry(LIST, LIST_HELP, move |text| list.list(text))?;
        let counters = eal.register_telemetry(COUNTERS, COUNTERS_HELP, move |text| counters.counters(text))?;
        Ok(Self { stacks, _commands: [list, counters] })
    }

    /// Adds a stack under a name of its own. It answers when it is polled, by whichever thread, within 100 ms. When it is
    /// dropped, its name is free again.
    ///
    /// # Errors
    ///
    /// [`NameError`] if the name cannot be one, or is another stack's.
    pub fn add<W: Wire>(&self, name: &str, stack: &mut Stack<W>) -> Result<(), NameError> {
        self.stacks.add(name, stack)
    }
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telemetry").field("stacks", &self.stacks.names()).finish()
    }
}
