// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a program runs.

use core::fmt::Display;
use core::time::Duration;
use std::io;

/// Slow peers are looked for so often.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(100);
/// What is silent, and need not speak, is ended after so many time-outs.
pub(crate) const IDLE_TIMEOUTS: u32 = 6;

/// What serves a port, and says what it has done so far.
pub trait Running: Display {
    /// Does what there is to do, or waits a little for something.
    ///
    /// # Errors
    ///
    /// As of [`Sockets::poll`](crate::sockets::Sockets::poll).
    fn poll(&mut self) -> io::Result<()>;

    /// Comes to an end. Returns whether that is reached; else it is polled, and asked again.
    fn stop(&mut self) -> bool;
}
