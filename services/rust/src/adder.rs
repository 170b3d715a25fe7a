// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Adds two numbers over HTTP/1.1: `GET /add/1/2` is answered by `1 + 2 = 3`.

use crate::http::{Pages, ROOM, Refusal};
use std::io::Write as _;

const NO_NUMBER: Refusal = Refusal::new("400 Bad Request", "This is no number: give /add/A/B, such as /add/1/-2.\n");
const TOO_LARGE: Refusal = Refusal::new("400 Bad Request", "A number or the sum does not fit into 64 bits.\n");
const NO_SUCH_PAGE: Refusal = Refusal::new("404 Not Found", "There is no such page: ask for /add/A/B.\n");

/// Sums of two numbers of 64 bits.
#[derive(Debug, Default)]
pub struct Adder;

impl Pages for Adder {
    fn page<'a>(path: &str, room: &'a mut [u8; ROOM]) -> Result<&'a [u8], Refusal> {
        let words = path.strip_prefix("/add/").and_then(|words| words.split_once('/'));
        let (a, b) = words.filter(|(_, b)| !b.contains('/')).ok_or(NO_SUCH_PAGE)?;
        let (a, b) = (number(a)?, number(b)?);
        let sum = a.checked_add(b).ok_or(TOO_LARGE)?;
        let mut rest = &mut room[..];
        // Three numbers of 20 characters at most.
        let _ = writeln!(rest, "{a} + {b} = {sum}");
        let unused = rest.len();
        Ok(&room[..ROOM - unused])
    }
}

/// Digits, and a minus before them for a negative number.
fn number(text: &str) -> Result<i64, Refusal> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NO_NUMBER);
    }
    text.parse().map_err(|_| TOO_LARGE)
}
