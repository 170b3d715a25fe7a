// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Messages of any size (services/README.md) that are sent while replies to earlier ones come.

use crate::stream::{PATTERN, PIECE};
use crate::work::{HEADER_LEN, MESSAGE, REPLY};
use dpdk_sockets::wire::Wire;
use dpdk_sockets::{ConnectionError, ConnectionId, Stack};

/// The client's side of a connection. All of its messages have the same length.
#[derive(Debug)]
pub struct Messages {
    /// The connection.
    pub id: ConnectionId,
    content: Content,
    begun: u64,
    sent: u64,
    received: u64,
}

/// What goes to and fro.
#[derive(Clone, Copy, Debug)]
struct Content {
    /// Of a message with its header.
    len: u64,
    /// Different connections have different bytes.
    number: u64,
}

impl Messages {
    /// A connection that is established, with messages of at least [`LEAST`](Self::LEAST) bytes.
    #[must_use]
    pub const fn new(id: ConnectionId, number: u32, len: u32) -> Self {
        let content = Content { len: len as u64, number: number as u64 };
        Self { id, content, begun: 0, sent: 0, received: 0 }
    }

    /// The length of a message without content.
    pub const LEAST: u32 = HEADER_LEN as u32;

    /// Bytes of replies that have come.
    #[must_use]
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Bytes of messages that are sent or to be sent.
    #[must_use]
    pub const fn begun(&self) -> u64 {
        self.begun
    }

    /// Bytes that are to come back.
    #[must_use]
    pub const fn on_their_way(&self) -> u64 {
        self.begun - self.received
    }

    /// Begins messages until at least so many bytes are to come back.
    pub const fn begin(&mut self, bytes: u64) {
        let wanted = bytes.saturating_sub(self.on_their_way());
        self.begun += wanted.div_ceil(self.content.len) * self.content.len;
    }

    /// Sends what the connection takes. `room` is for any number of bytes.
    ///
    /// # Errors
    ///
    /// As [`Stack::send`].
    pub fn send<W: Wire>(&mut self, stack: &mut Stack<W>, room: &mut [u8]) -> Result<(), ConnectionError> {
        while self.sent < self.begun {
            let len = room.len().min((self.begun - self.sent) as usize);
            self.content.write(self.sent, 0, &mut room[..len]);
            match stack.send(self.id, &room[..len])? {
                0 => break,
                sent => self.sent += sent as u64,
            }
        }
        Ok(())
    }

    /// Reads what has come. Returns whether all of it is right. Both rooms are for any number of bytes, the same one.
    ///
    /// # Errors
    ///
    /// As [`Stack::recv`].
    pub fn take<W: Wire>(
        &mut self,
        stack: &mut Stack<W>,
        room: &mut [u8],
        wanted: &mut [u8],
    ) -> Result<bool, ConnectionError> {
        while let Some(len) = stack.recv(self.id, room)? {
            self.content.write(self.received, REPLY, &mut wanted[..len]);
            if len == 0 || len as u64 > self.on_their_way() || room[..len] != wanted[..len] {
                return Ok(false);
            }
            self.received += len as u64;
        }
        Ok(true)
    }
}

impl Content {
    /// The bytes from a place on, with so much added to the first one of each message.
    fn write(self, mut place: u64, added: u8, to: &mut [u8]) {
        let mut header = [0; HEADER_LEN];
        header[0] = MESSAGE + added;
        header[1..].copy_from_slice(&(self.len - HEADER_LEN as u64).to_be_bytes());
        let mut rest = to;
        while !rest.is_empty() {
            let at = place % self.len;
            let bytes = match header.get(at as usize..).filter(|left| !left.is_empty()) {
                Some(left) => left,
                None => PATTERN.from(place + self.number, (self.len - at).min(PIECE as u64) as usize),
            };
            let len = bytes.len().min(rest.len());
            let (now, later) = rest.split_at_mut(len);
            now.copy_from_slice(&bytes[..len]);
            (place, rest) = (place + len as u64, later);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Content;

    fn written(content: Content, place: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        content.write(place, 0x80, &mut bytes);
        bytes
    }

    #[test]
    fn the_bytes_are_those_of_messages_from_any_place_on() {
        let content = Content { len: 300, number: 5 };
        let all = written(content, 0, 900);
        for message in all.chunks(300) {
            assert_eq!(message[..9], [0x82, 0, 0, 0, 0, 0, 0, 1, 35]);
        }
        assert_eq!((all[9], all[300 + 9]), (14, ((300 + 9 + 5) % 251) as u8));
        for place in 0..600 {
            assert_eq!(written(content, place as u64, 300), all[place..place + 300], "{place}");
        }
        assert_ne!(written(Content { len: 300, number: 6 }, 0, 300), all[..300]);
    }

    #[test]
    fn a_message_may_have_no_content_or_very_much() {
        assert_eq!(written(Content { len: 9, number: 0 }, 0, 18)[9..], [0x82, 0, 0, 0, 0, 0, 0, 0, 0]);
        let long = written(Content { len: 1 << 20, number: 0 }, 0, 1 << 20);
        assert_eq!((long[8], long[500_000]), (((1_usize << 20) - 9) as u8, (500_000 % 251) as u8));
    }
}
