// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A stream: the frames that one port sends and another receives.

use crate::{receive::Receiver, transmit::Sender};

/// A sender, and the receiver of its frames.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) tx_port: u16,
    pub(crate) rx_port: u16,
    /// Of the load.
    pub(crate) share: f64,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// Frames sent, and frames that the TX queue refused, before the second load.
    pub(crate) before_then: (u64, u64),
}

/// Sends the answers of the receiving ports that wait.
#[inline]
pub(crate) fn send_answers(streams: &mut [Stream]) {
    if streams.iter().any(|stream| stream.receiver.neighbour.has_answers()) {
        send_each(streams);
    }
}

#[cold]
fn send_each(streams: &mut [Stream]) {
    let ports: Vec<(u16, u16)> = streams.iter().map(|stream| (stream.tx_port, stream.rx_port)).collect();
    for (receiving, (_, asked)) in ports.iter().enumerate() {
        // A port that no stream sends on has its queues in the receiver.
        let sending = ports.iter().position(|(tx_port, _)| tx_port == asked).unwrap_or(receiving);
        if sending == receiving {
            if let Some(Stream { sender, receiver, .. }) = streams.get_mut(receiving) {
                receiver.neighbour.send(Some(&mut sender.queues));
            }
        } else if let Ok([asked, sending]) = streams.get_disjoint_mut([receiving, sending]) {
            asked.receiver.neighbour.send(Some(&mut sending.sender.queues));
        }
    }
}
