// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a program runs.

use core::fmt::Display;
use std::io;

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
