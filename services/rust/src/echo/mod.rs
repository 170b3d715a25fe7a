// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Sends back messages of any size, marked as replies.

mod message;

use crate::service::{Service, Taken};
use message::{END, HEADER_LEN, Header, Refusal};

/// The server's side of a connection. A message is sent back while it comes.
#[derive(Debug, Default)]
pub struct Echo {
    /// The beginning of a header.
    header: Vec<u8>,
    /// Bytes of the message that are to come.
    left: u64,
}

impl Service for Echo {
    const HAS_DEADLINE: bool = false;

    fn take(&mut self, bytes: &[u8], output: &mut Vec<u8>) -> Taken {
        let (mut rest, mut taken) = (bytes, Taken::default());
        while !rest.is_empty() && !taken.is_last {
            if self.left > 0 {
                let len = usize::try_from(self.left).unwrap_or(usize::MAX).min(rest.len());
                output.extend_from_slice(&rest[..len]);
                rest = &rest[len..];
                self.left -= len as u64;
                taken.answered += u64::from(self.left == 0);
                continue;
            }
            let len = (HEADER_LEN - self.header.len()).min(rest.len());
            self.header.extend_from_slice(&rest[..len]);
            rest = &rest[len..];
            let Some(header) = Header::parse(&self.header) else { continue };
            self.header.clear();
            match header {
                Ok(header) => {
                    header.reply().write(output);
                    self.left = header.len;
                    taken.is_last = header.kind == END;
                    taken.answered += u64::from(header.len == 0);
                }
                Err(refusal) => {
                    refusal.write(output);
                    taken.is_last = true;
                }
            }
        }
        taken.is_partial = self.left > 0 || !self.header.is_empty();
        taken
    }

    /// Within a message, nothing else can be said.
    fn time_out(&mut self, output: &mut Vec<u8>) -> bool {
        let may = self.left == 0;
        if may {
            Refusal::TimedOut.write(output);
        }
        may
    }
}
