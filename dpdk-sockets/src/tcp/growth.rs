// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Larger buffers. smoltcp 0.14 has no way to give a socket others, so a connection whose socket holds nothing continues with a
//! new one, which has the same numbers after a handshake that only the two of them see.

use super::{Connection, Reply, Stage};
use crate::engine::{Socket, State};
use smoltcp::wire::{TcpControl, TcpSeqNumber};

/// The handshake that takes a new socket to where the old one is, with the peer's FIN if that has come.
pub(crate) struct Handshake {
    pub(crate) initial: TcpSeqNumber,
    pub(crate) syn: Vec<u8>,
    pub(crate) ack: Vec<u8>,
}

/// How much room the receive buffer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// Hardly more than the peer knows of.
    Same,
    /// So much more than was announced that the peer should know.
    More,
    /// All, but the peer fills it: it should be larger.
    TooSmall,
}

impl Connection {
    /// Whether the socket holds nothing: what was sent is acknowledged, and what has arrived was read. Data behind a gap are
    /// lost with it, and come again.
    fn is_empty(&self) -> bool {
        self.stage == Stage::Open
            && !self.is_shut_down
            && matches!(self.socket.state(), State::Established | State::CloseWait)
            && self.acknowledged == self.written
            && self.socket.unacknowledged() == 0
            && self.socket.unread() == 0
    }

    /// How many bytes can be written, if the send buffer may have `most` bytes.
    pub(crate) fn space(&self, most: usize) -> usize {
        let space = self.socket.space();
        if space < most && self.is_empty() { most } else { space }
    }

    /// What the program's reading means for the window, if `waited` bytes were there before, packets have at most `mtu` bytes and
    /// the receive buffer may have `most` (RFC 9293, section 3.8.6.2.2).
    #[inline]
    pub(crate) fn after_reading(&mut self, waited: usize, (mtu, most): (usize, usize)) -> Room {
        let (size, free) = self.socket.window();
        if size < most {
            self.was_filled |= 2 * waited > size;
            if self.was_filled && self.is_empty() {
                return Room::TooSmall;
            }
        }
        let segment_size = mtu - self.flow.headers_len();
        let opens = free.saturating_sub(usize::from(self.window)) >= segment_size.min(size / 2);
        if opens { Room::More } else { Room::Same }
    }

    /// The handshake for a new socket, if the old one holds nothing.
    pub(crate) fn handshake(&self) -> Option<Handshake> {
        let expected = self.next_expected().filter(|_| self.is_empty())?;
        let (control, seq) =
            if self.socket.is_at_end() { (TcpControl::Fin, expected - 1) } else { (TcpControl::None, expected) };
        let (flow, ack, window) = (self.flow.reversed(), Some(self.next_to_send), self.peer_window);
        Some(Handshake {
            initial: self.next_to_send - 1,
            syn: Reply::syn(flow, seq - 1, self.noted.terms),
            ack: Reply { flow, control, seq, ack, window, segment_size: None }.packet(),
        })
    }

    /// From now on, this is the socket. It believes that the peer knows its window, and what has arrived.
    pub(crate) fn continue_with(&mut self, socket: Socket) {
        self.socket = socket;
        self.owes_acknowledgment = true;
    }

    /// What the peer has to be told, if no segment has told it.
    pub(crate) fn owed(&mut self) -> Option<Reply> {
        let window = self.socket.window().1 as u16;
        let expected = self.next_expected().filter(|_| core::mem::take(&mut self.owes_acknowledgment))?;
        (self.window, self.edge) = (window, expected + usize::from(window));
        Some(Reply::acknowledge(self.flow, self.next_to_send, expected, window))
    }
}
