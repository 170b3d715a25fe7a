// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Responses.

use super::request::{Refusal, Request};
use std::io::Write as _;

/// Appends the answer to a request.
pub(super) fn answer(request: &Request, output: &mut Vec<u8>) {
    let sum = request.what.and_then(|(a, b)| Ok((a, b, a.checked_add(b).ok_or(Refusal::TooLarge)?)));
    let mut body = [0; 80];
    let mut rest = &mut body[..];
    let (status, text) = match sum {
        Ok((a, b, sum)) => {
            // Three numbers of 20 characters at most.
            let _ = writeln!(rest, "{a} + {b} = {sum}");
            let unused = rest.len();
            ("200 OK", &body[..body.len() - unused])
        }
        Err(refusal) => refusal.words(),
    };
    let connection = match (request.keeps_alive, request.is_http10) {
        (false, _) => "Connection: close\r\n",
        (true, true) => "Connection: keep-alive\r\n",
        (true, false) => "",
    };
    write(output, status, connection, text);
}

/// Appends the last answer of a connection.
pub(super) fn refuse(refusal: Refusal, output: &mut Vec<u8>) {
    let (status, text) = refusal.words();
    let more = if refusal == Refusal::NotGet { "Allow: GET\r\nConnection: close\r\n" } else { "Connection: close\r\n" };
    write(output, status, more, text);
}

fn write(output: &mut Vec<u8>, status: &str, more: &str, text: &[u8]) {
    let len = text.len();
    // A vector takes everything.
    let _ = write!(output, "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len}\r\n{more}\r\n");
    output.extend_from_slice(text);
}

impl Refusal {
    /// The status, and a sentence.
    const fn words(self) -> (&'static str, &'static [u8]) {
        match self {
            Self::Malformed => ("400 Bad Request", b"This is no request of HTTP/1.1.\n"),
            Self::HasBody => ("400 Bad Request", b"The request has a body: send none.\n"),
            Self::NoNumber => ("400 Bad Request", b"This is no number: give /add/A/B, such as /add/1/-2.\n"),
            Self::TooLarge => ("400 Bad Request", b"A number or the sum does not fit into 64 bits.\n"),
            Self::NoSuchPage => ("404 Not Found", b"There is no such page: ask for /add/A/B.\n"),
            Self::NotGet => ("405 Method Not Allowed", b"Only GET is answered.\n"),
            Self::TimedOut => ("408 Request Timeout", b"The request did not come in time.\n"),
            Self::TooLong => ("431 Request Header Fields Too Large", b"The head is too long: 8192 bytes, 64 fields.\n"),
        }
    }
}
