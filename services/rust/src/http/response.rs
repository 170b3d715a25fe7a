// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Responses.

use super::Refusal;
use super::request::Request;
use std::io::Write as _;

const CLOSE: &str = "Connection: close\r\n";

/// Appends the answer to a request.
pub(super) fn answer(request: &Request<'_>, page: Result<&[u8], Refusal>, output: &mut Vec<u8>) {
    let connection = match (request.keeps_alive, request.is_http10) {
        (false, _) => CLOSE,
        (true, true) => "Connection: keep-alive\r\n",
        (true, false) => "",
    };
    match page {
        Ok(page) => write(output, "200 OK", "", connection, page),
        Err(refusal) => {
            write(output, refusal.status, refusal.headers, connection, refusal.sentence.as_bytes());
        }
    }
}

/// Appends the last answer of a connection.
pub(super) fn refuse(refusal: Refusal, output: &mut Vec<u8>) {
    let Refusal { status, headers, sentence } = refusal;
    if sentence.is_empty() {
        let _ = write!(output, "HTTP/1.1 {status}\r\n{headers}{CLOSE}\r\n"); // a vector takes everything
    } else {
        write(output, status, headers, CLOSE, sentence.as_bytes());
    }
}

fn write(output: &mut Vec<u8>, status: &str, headers: &str, connection: &str, content: &[u8]) {
    let len = content.len();
    // A vector takes everything.
    let _ = write!(
        output,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len}\r\n{headers}{connection}\r\n"
    );
    output.extend_from_slice(content);
}
