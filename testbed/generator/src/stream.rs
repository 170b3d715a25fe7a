// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A stream: the frames that one port sends and another receives.

use crate::{receive::Receiver, transmit::Sender};

/// A sender, and the receiver of its frames.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) tx_port: u16,
    pub(crate) rx_port: u16,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// Frames sent, and frames that the TX queue refused, before the second load.
    pub(crate) before_then: (u64, u64),
}
