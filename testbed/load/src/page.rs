// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The page that a proxy's client asks for, and its back end sends.

/// `origin` of services/ answers so too, with another head.
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 10240\r\n\r\n";
const PAGE_LEN: usize = 10_240;
/// Bytes of an answer.
pub(crate) const ANSWER_LEN: usize = HEAD.len() + PAGE_LEN;
/// What each request ends with.
pub(crate) const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// The end of the last request of a connection.
pub(crate) const CLOSE: &[u8] = b"\r\nConnection: close\r\n\r\n";

/// The answer to each request.
pub(crate) static ANSWER: [u8; ANSWER_LEN] = answer();

const fn answer() -> [u8; ANSWER_LEN] {
    let mut answer = [0; ANSWER_LEN];
    let mut at = 0;
    while at < ANSWER_LEN {
        // A period that is a prime: no two segments have the same bytes.
        answer[at] = if at < HEAD.len() { HEAD[at] } else { b'!' + (at % 89) as u8 };
        at += 1;
    }
    answer
}
