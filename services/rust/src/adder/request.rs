// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The head of a request (RFC 9112). What could be read in two ways is refused.

use httparse::{EMPTY_HEADER, Header};
use memchr::memchr_iter;
use memchr::memmem;

/// The maximum length of a head in bytes.
pub(super) const LONGEST: usize = 8_192;
const MOST_HEADERS: usize = 64;

/// What the bytes of a connection begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    /// The head is not complete.
    Incomplete,
    /// A request of so many bytes.
    Request(usize, Request),
    /// No request that is answered. Where the next one begins is not known.
    Refused(Refusal),
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) what: Result<(i64, i64), Refusal>,
    /// Whether more requests can follow.
    pub(super) keeps_alive: bool,
    /// Whether the peer has to be told that.
    pub(super) is_http10: bool,
}

/// Why there is no sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Malformed,
    TooLong,
    NotGet,
    HasBody,
    NoSuchPage,
    NoNumber,
    TooLarge,
    TimedOut,
}

/// Reads the first request.
pub(super) fn parse(bytes: &[u8]) -> Parsed {
    // RFC 9112, section 2.2: empty lines before a request are ignored.
    let empty = bytes.chunks_exact(2).take_while(|pair| pair == b"\r\n").count() * 2;
    let rest = &bytes[empty..];
    // A line feed alone is the end of a line for some, and not for others.
    let end = memmem::find(rest, b"\r\n\r\n").map(|place| place + 4);
    let head = &rest[..end.unwrap_or(rest.len())];
    if memchr_iter(b'\n', head).any(|place| place == 0 || head[place - 1] != b'\r') {
        return Parsed::Refused(Refusal::Malformed);
    }
    if head.len() > LONGEST || empty > LONGEST {
        return Parsed::Refused(Refusal::TooLong);
    }
    if end.is_none() {
        return Parsed::Incomplete;
    }
    let mut headers = [EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(head) {
        Ok(httparse::Status::Complete(_)) => (),
        Err(httparse::Error::TooManyHeaders) => return Parsed::Refused(Refusal::TooLong),
        Ok(httparse::Status::Partial) | Err(_) => return Parsed::Refused(Refusal::Malformed),
    }
    let (Some(method), Some(target), Some(minor)) = (request.method, request.path, request.version) else {
        return Parsed::Refused(Refusal::Malformed);
    };
    let is_http10 = minor == 0;
    let keeps_alive = match connection(request.headers, is_http10) {
        Ok(keeps_alive) => keeps_alive,
        Err(refusal) => return Parsed::Refused(refusal),
    };
    if method != "GET" {
        return Parsed::Refused(Refusal::NotGet);
    }
    Parsed::Request(empty + head.len(), Request { what: numbers(target), keeps_alive, is_http10 })
}

/// Whether more requests may follow, by the headers.
fn connection(headers: &[Header<'_>], is_http10: bool) -> Result<bool, Refusal> {
    let (mut hosts, mut lengths, mut keeps_alive) = (0, 0, !is_http10);
    for header in headers.iter() {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        if is("host") {
            hosts += 1;
        } else if is("transfer-encoding") {
            return Err(Refusal::HasBody);
        } else if is("content-length") {
            lengths += 1;
            if header.value != b"0" || lengths > 1 {
                return Err(Refusal::HasBody);
            }
        } else if is("connection") {
            for token in header.value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                if token.eq_ignore_ascii_case(b"close") {
                    keeps_alive = false;
                } else if token.eq_ignore_ascii_case(b"keep-alive") && is_http10 {
                    keeps_alive = true;
                }
            }
        }
    }
    // RFC 9112, section 3.2.
    if hosts > 1 || (hosts == 0 && !is_http10) { Err(Refusal::Malformed) } else { Ok(keeps_alive) }
}

/// The two numbers in `/add/A/B`, or in `http://host/add/A/B` (RFC 9112, section 3.2.2).
fn numbers(target: &str) -> Result<(i64, i64), Refusal> {
    let scheme = target.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("http://"));
    let path = scheme.map_or(Some(target), |scheme| {
        let rest = &target[scheme.len()..];
        rest.find('/').map(|place| &rest[place..])
    });
    let words = path.and_then(|path| path.strip_prefix("/add/")).and_then(|words| words.split_once('/'));
    let (a, b) = words.filter(|(_, b)| !b.contains('/')).ok_or(Refusal::NoSuchPage)?;
    Ok((number(a)?, number(b)?))
}

/// Digits, and a minus before them for a negative number.
fn number(text: &str) -> Result<i64, Refusal> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Refusal::NoNumber);
    }
    text.parse().map_err(|_| Refusal::TooLarge)
}
