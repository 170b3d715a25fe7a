// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The page that a proxy's client asks for: its back end answers as the origin of services/ does.

use services::origin::PAGE;

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10240\r\n\r\n";
const LAST_HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10240\r\nConnection: close\r\n\r\n";
/// What each request ends with.
pub(crate) const END_OF_HEAD: &[u8] = b"\r\n\r\n";
/// The end of the last request of a connection.
pub(crate) const CLOSE: &[u8] = b"\r\nConnection: close\r\n\r\n";

/// The answer to each request.
pub(crate) static ANSWER: [u8; HEAD.len() + PAGE.len()] = answer(HEAD);
/// The answer to the last request of a connection.
pub(crate) static LAST_ANSWER: [u8; LAST_HEAD.len() + PAGE.len()] = answer(LAST_HEAD);

const fn answer<const LEN: usize>(head: &[u8]) -> [u8; LEN] {
    let mut answer = [0; LEN];
    let mut at = 0;
    while at < LEN {
        answer[at] = if at < head.len() { head[at] } else { PAGE[at - head.len()] };
        at += 1;
    }
    answer
}
