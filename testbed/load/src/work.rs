// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What requests ask for, and what answers them.

use crate::page::{ANSWER, CLOSE, END_OF_HEAD, LAST_ANSWER};

/// Bytes of a request.
pub(crate) const DATA_LEN: usize = 100;

/// What the server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// It sends the request back.
    Echo,
    /// It sends a message back, as a reply (services/README.md).
    Message,
    /// It adds two numbers: `GET /add/A/B` (services/README.md).
    Adder,
    /// It asks its back end for a page of 10 KiB, or has it itself: `GET /`.
    Page,
    /// The same, after which the connection ends.
    LastPage,
}

/// What bytes from the server are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The end of the answer.
    Whole,
    /// What comes before it.
    Part,
    Wrong,
}

/// A message of bytes, which has a length of eight bytes. In a reply this is added.
pub(crate) const MESSAGE: u8 = 2;
pub(crate) const REPLY: u8 = 0x80;
pub(crate) const HEADER_LEN: usize = 9;
/// Where the sequence number is in a message: an even place, for the checksum.
const MESSAGE_NUMBER: usize = HEADER_LEN + 1;
/// Numbers from here on have so many digits, whatever client and sequence number are added, and so has the sum of two.
const LEAST: u64 = 10_000_000_000;
const DIGITS: usize = 11;
const METHOD: &[u8] = b"GET /add/";
/// Where the second number begins. Its slash is written with it, so that both are whole words of the checksum.
const SLASH: usize = METHOD.len() + DIGITS;
/// With a header that makes the request as long as all others.
const REST: &[u8] = b" HTTP/1.1\r\nHost: adder\r\nUser-Agent: race-client/0123456789012345\r\n\r\n";
const PAGE: &[u8] = b"GET / HTTP/1.1\r\nHost: origin\r\nUser-Agent: race-client/";
const STATUS: &[u8] = b"HTTP/1.1 ";
const OK: &[u8] = b"HTTP/1.1 200";
/// Of `A + B = C` and a line feed.
const SUM_LEN: usize = 3 * DIGITS + 7;

impl Work {
    /// The request of a client without a sequence number.
    pub(crate) fn request(self, number: u32) -> [u8; DATA_LEN] {
        let mut data = [0; DATA_LEN];
        match self {
            Self::Echo => {
                for (at, byte) in data.iter_mut().enumerate().skip(4) {
                    *byte = number.to_be_bytes()[at % 4].wrapping_add(at as u8 / 4);
                }
            }
            Self::Message => {
                data = Self::Echo.request(number);
                data[0] = MESSAGE;
                data[1..HEADER_LEN].copy_from_slice(&((DATA_LEN - HEADER_LEN) as u64).to_be_bytes());
                data[MESSAGE_NUMBER..MESSAGE_NUMBER + 4].fill(0);
            }
            Self::Adder => {
                data[..METHOD.len()].copy_from_slice(METHOD);
                write_digits(LEAST + u64::from(number), &mut data[METHOD.len()..SLASH]);
                data[SLASH + 1 + DIGITS..].copy_from_slice(REST);
            }
            Self::Page | Self::LastPage => {
                data.fill(b'x');
                data[..PAGE.len()].copy_from_slice(PAGE);
                let end = if self == Self::Page { END_OF_HEAD } else { CLOSE };
                data[DATA_LEN - end.len()..].copy_from_slice(end);
            }
        }
        data
    }

    /// Writes the sequence number into a request. Returns the bytes that were 0 before.
    #[inline]
    pub(crate) fn number(self, data: &mut [u8], seq: u32) -> &[u8] {
        match self {
            Self::Echo | Self::Message => {
                let start = if self == Self::Echo { 0 } else { MESSAGE_NUMBER };
                let field = &mut data[start..start + 4];
                field.copy_from_slice(&seq.to_be_bytes());
                field
            }
            Self::Adder => {
                let field = &mut data[SLASH..=SLASH + DIGITS];
                field[0] = b'/';
                write_digits(LEAST + u64::from(seq), &mut field[1..]);
                field
            }
            Self::Page | Self::LastPage => &[],
        }
    }

    /// What `found` is to the request of a client with this sequence number, which is `data` without it, after so many bytes of the
    /// answer.
    #[inline]
    pub(crate) fn answer(self, data: &[u8], number: u32, found: &[u8], seq: u32, after: usize) -> Answer {
        let is_whole = match self {
            Self::Echo => {
                found.split_at_checked(4).is_some_and(|(first, rest)| first == seq.to_be_bytes() && *rest == data[4..])
            }
            Self::Message => {
                let mut wanted = [0; DATA_LEN];
                wanted.copy_from_slice(&data[..DATA_LEN]);
                self.number(&mut wanted, seq);
                wanted[0] |= REPLY;
                found == wanted
            }
            Self::Page => return part_of(&ANSWER, after, found),
            Self::LastPage => return part_of(&LAST_ANSWER, after, found),
            Self::Adder if found.starts_with(STATUS) && !found.starts_with(OK) => return Answer::Wrong,
            Self::Adder if found.ends_with(&sum(number, seq)) => true,
            Self::Adder if found.starts_with(OK) => return Answer::Part,
            Self::Adder => false,
        };
        if is_whole { Answer::Whole } else { Answer::Wrong }
    }
}

/// What `found` is after so many bytes of an answer.
fn part_of(answer: &[u8], after: usize, found: &[u8]) -> Answer {
    match answer.get(after..).and_then(|rest| rest.strip_prefix(found)) {
        None => Answer::Wrong,
        Some([]) => Answer::Whole,
        Some(_) => Answer::Part,
    }
}

/// What the adder says.
fn sum(number: u32, seq: u32) -> [u8; SUM_LEN] {
    let (a, b) = (LEAST + u64::from(number), LEAST + u64::from(seq));
    let mut sum = [b' '; SUM_LEN];
    for (at, value) in [a, b, a + b].into_iter().enumerate() {
        let start = at * (DIGITS + 3);
        write_digits(value, &mut sum[start..start + DIGITS]);
    }
    (sum[DIGITS + 1], sum[2 * DIGITS + 4], sum[SUM_LEN - 1]) = (b'+', b'=', b'\n');
    sum
}

fn write_digits(mut value: u64, to: &mut [u8]) {
    for digit in to.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::{ANSWER, Answer, DATA_LEN, HEADER_LEN, MESSAGE_NUMBER, Work};

    fn request(work: Work, number: u32, seq: u32) -> [u8; DATA_LEN] {
        let mut data = work.request(number);
        work.number(&mut data, seq);
        data
    }

    #[test]
    fn the_adder_is_asked_for_a_sum() {
        let data = request(Work::Adder, 70_001, u32::MAX);
        assert!(data.starts_with(b"GET /add/10000070001/14294967295 HTTP/1.1\r\n"), "{}", data.escape_ascii());
        assert!(data.ends_with(b"\r\n\r\n"));
    }

    #[test]
    fn a_message_comes_back_as_a_reply() {
        let mut reply = request(Work::Message, 7, 9);
        assert_eq!(reply[..HEADER_LEN], [2, 0, 0, 0, 0, 0, 0, 0, 91]);
        let of = |found: &[u8]| Work::Message.answer(&Work::Message.request(7), 7, found, 9, 0);
        assert_eq!(of(&reply), Answer::Wrong, "it is no reply");
        reply[0] = 0x82;
        assert_eq!((of(&reply), of(&reply[1..])), (Answer::Whole, Answer::Wrong));
        reply[MESSAGE_NUMBER + 3] ^= 1;
        assert_eq!(of(&reply), Answer::Wrong);
    }

    #[test]
    fn answers_are_those_of_the_client_and_the_number() {
        let (echo, adder) = (Work::Echo.request(7), Work::Adder.request(7));
        let sum = b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n10000000007 + 10000000009 = 20000000016\n";
        let of = |found: &[u8]| Work::Adder.answer(&adder, 7, found, 9, 0);
        assert_eq!(Work::Echo.answer(&echo, 7, &request(Work::Echo, 7, 9), 9, 0), Answer::Whole);
        assert_eq!(Work::Echo.answer(&echo, 7, &request(Work::Echo, 7, 8), 9, 0), Answer::Wrong);
        assert_eq!(Work::Echo.answer(&echo, 7, &request(Work::Echo, 6, 9), 9, 0), Answer::Wrong);
        assert_eq!((of(sum), of(&sum[..39]), of(&sum[39..])), (Answer::Whole, Answer::Part, Answer::Whole));
        for wrong in [&sum[1..10], b"HTTP/1.1 400 Bad Request\r\n", b"10000000007 + 10000000009 = 20000000017\n"] {
            assert_eq!(of(wrong), Answer::Wrong, "{}", wrong.escape_ascii());
        }
        assert_eq!(
            Work::Adder.answer(&adder, 7, sum, 10, 0),
            Answer::Part,
            "another sum, or the beginning of a long one"
        );
    }

    #[test]
    fn a_page_comes_in_pieces() {
        let data = request(Work::Page, 7, 9);
        assert!(data.starts_with(b"GET / HTTP/1.1\r\n") && data.ends_with(b"x\r\n\r\n"), "{}", data.escape_ascii());
        let last = request(Work::LastPage, 7, 9);
        assert!(last.ends_with(b"x\r\nConnection: close\r\n\r\n"), "{}", last.escape_ascii());
        let of = |found: &[u8], after| Work::Page.answer(&data, 7, found, 9, after);
        assert_eq!((of(&ANSWER, 0), of(&ANSWER[..99], 0)), (Answer::Whole, Answer::Part));
        assert_eq!((of(&ANSWER[99..], 99), of(&ANSWER[99..], 98)), (Answer::Whole, Answer::Wrong));
        assert_eq!(of(&[&ANSWER[99..], b"!"].concat(), 99), Answer::Wrong);
    }
}
