// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Messages: a byte says what they are, eight bytes how long (the first one is the highest), and then comes the content.

/// The length of a header in bytes.
const HEADER_LEN: usize = 9;

/// The content is text.
const TEXT: u8 = 1;
/// The content is any bytes.
const BYTES: u8 = 2;
/// There is no content, and no further message.
const END: u8 = 3;
/// The content is text that says what is wrong, and there is no further message.
const ERROR: u8 = 4;
/// Added to the kind of a message that is sent back.
const REPLY: u8 = 0x80;

const NO_KIND: &str = "This is no kind of message: send 1 (text), 2 (bytes) or 3 (end).";
const END_WITH_CONTENT: &str = "An end has no content.";

/// Sends messages of any size back while they come.
#[derive(Debug, Default)]
pub(super) struct Echo {
    /// The beginning of a header.
    header: Vec<u8>,
    /// Bytes of the message that are to come.
    left: u64,
    /// Nothing more is sent back.
    pub(super) is_last: bool,
}

impl Echo {
    /// Takes bytes of the peer, and appends what answers them. Returns how many messages were answered.
    pub(super) fn take(&mut self, mut bytes: &[u8], output: &mut Vec<u8>) -> u64 {
        let mut answered = 0;
        while !bytes.is_empty() && !self.is_last {
            if self.left > 0 {
                let len = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
                output.extend_from_slice(&bytes[..len]);
                bytes = &bytes[len..];
                self.left -= len as u64;
                answered += u64::from(self.left == 0);
                continue;
            }
            let len = (HEADER_LEN - self.header.len()).min(bytes.len());
            self.header.extend_from_slice(&bytes[..len]);
            bytes = &bytes[len..];
            answered += self.take_header(output);
        }
        answered
    }

    /// Takes the header if it is complete. Returns whether that was all of a message, as a number.
    fn take_header(&mut self, output: &mut Vec<u8>) -> u64 {
        let Ok([kind, len @ ..]) = <[u8; HEADER_LEN]>::try_from(&self.header[..]) else { return 0 };
        self.header.clear();
        let len = u64::from_be_bytes(len);
        match kind {
            END if len > 0 => self.refuse(END_WITH_CONTENT, output),
            TEXT | BYTES | END => {
                write_header(kind, len, output);
                self.left = len;
                self.is_last = kind == END;
                return u64::from(len == 0);
            }
            _ => self.refuse(NO_KIND, output),
        }
        0
    }

    /// Whether the beginning of something has come, and not the rest.
    pub(super) fn is_partial(&self) -> bool {
        self.left > 0 || !self.header.is_empty()
    }

    fn refuse(&mut self, sentence: &str, output: &mut Vec<u8>) {
        write_header(ERROR, sentence.len() as u64, output);
        output.extend_from_slice(sentence.as_bytes());
        self.is_last = true;
    }
}

fn write_header(kind: u8, len: u64, output: &mut Vec<u8>) {
    output.push(kind | REPLY);
    output.extend_from_slice(&len.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::Echo;

    #[test]
    fn messages_come_back_in_any_pieces() {
        let sent = b"\x01\0\0\0\0\0\0\0\x02hi\x02\0\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\0late";
        for size in 1..sent.len() {
            let (mut echo, mut output) = (Echo::default(), Vec::new());
            let answered: u64 = sent.chunks(size).map(|piece| echo.take(piece, &mut output)).sum();
            assert_eq!(output, b"\x81\0\0\0\0\0\0\0\x02hi\x82\0\0\0\0\0\0\0\0\x83\0\0\0\0\0\0\0\0");
            assert_eq!((answered, echo.is_last, echo.is_partial()), (3, true, false));
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for sent in [b"\x04\0\0\0\0\0\0\0\0", b"\x03\0\0\0\0\0\0\0\x01"] {
            let (mut echo, mut output) = (Echo::default(), Vec::new());
            assert_eq!(echo.take(sent, &mut output), 0);
            assert_eq!((echo.is_last, output[0], output.ends_with(b".")), (true, 0x84, true));
        }
    }
}
