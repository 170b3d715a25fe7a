// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What stands behind a proxy: `GET /` over HTTP/1.1 is answered by 10 KiB of text.

use crate::http::{Pages, ROOM, Refusal};

const LEN: usize = 10_240;
const NO_SUCH_PAGE: Refusal = Refusal::new("404 Not Found", "There is no such page: ask for /.\n");

/// Lines of the alphabet, with a number of their own: 320 of 32 bytes.
pub static PAGE: [u8; LEN] = page();

const fn page() -> [u8; LEN] {
    let mut page = [b'\n'; LEN];
    let mut at = 0;
    while at < LEN {
        let (line, column) = (at / 32, at % 32);
        page[at] = match column {
            0 => b'0' + (line / 100) as u8,
            1 => b'0' + (line / 10 % 10) as u8,
            2 => b'0' + (line % 10) as u8,
            3 | 4 => b' ',
            31 => b'\n',
            _ => b'a' + column as u8 - 5,
        };
        at += 1;
    }
    page
}

/// One page.
#[derive(Debug, Default)]
pub struct Origin;

impl Pages for Origin {
    fn page<'a>(path: &str, _: &'a mut [u8; ROOM]) -> Result<&'a [u8], Refusal> {
        if path == "/" { Ok(&PAGE) } else { Err(NO_SUCH_PAGE) }
    }
}
