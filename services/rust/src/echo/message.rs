// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Messages: a byte says what they are, eight bytes how long (the first one is the highest), and then comes the content.

/// The length of a header in bytes.
pub(super) const HEADER_LEN: usize = 9;

/// The content is text.
const TEXT: u8 = 1;
/// The content is any bytes.
const BYTES: u8 = 2;
/// There is no content, and no further message.
pub(super) const END: u8 = 3;
/// The content is text that says what is wrong, and there is no further message.
const ERROR: u8 = 4;
/// Added to the kind of a message that is sent back.
const REPLY: u8 = 0x80;

/// What comes before the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: u8,
    pub(super) len: u64,
}

/// Why a message is not sent back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Kind,
    EndWithContent,
    TimedOut,
}

impl Header {
    /// The header in these bytes; `None` if they are not enough.
    pub(super) fn parse(bytes: &[u8]) -> Option<Result<Self, Refusal>> {
        let (kind, len) = bytes.split_first()?;
        let len = u64::from_be_bytes(len.try_into().ok()?);
        Some(match *kind {
            END if len > 0 => Err(Refusal::EndWithContent),
            TEXT | BYTES | END => Ok(Self { kind: *kind, len }),
            _ => Err(Refusal::Kind),
        })
    }

    pub(super) const fn reply(self) -> Self {
        Self { kind: self.kind | REPLY, ..self }
    }

    pub(super) fn write(self, output: &mut Vec<u8>) {
        output.push(self.kind);
        output.extend_from_slice(&self.len.to_be_bytes());
    }
}

impl Refusal {
    const fn text(self) -> &'static str {
        match self {
            Self::Kind => "This is no kind of message: send 1 (text), 2 (bytes) or 3 (end).",
            Self::EndWithContent => "An end has no content.",
            Self::TimedOut => "No message came in time.",
        }
    }

    pub(super) fn write(self, output: &mut Vec<u8>) {
        let text = self.text();
        Header { kind: ERROR | REPLY, len: text.len() as u64 }.write(output);
        output.extend_from_slice(text.as_bytes());
    }
}
