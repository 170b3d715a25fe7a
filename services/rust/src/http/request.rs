// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The head of a request (RFC 9112). What could be read in two ways is refused.

use super::refusal::{HAS_BODY, HEAD, MALFORMED, NOT_GET, Refusal, TOO_LONG};
use httparse::{EMPTY_HEADER, Header};
use memchr::memchr_iter;
use memchr::memmem;

/// The maximum length of a head in bytes.
const LONGEST: usize = 8_192;
const MOST_HEADERS: usize = 64;

/// What the bytes of a connection begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parsed<'a> {
    /// The head is not complete.
    Incomplete,
    /// A request of so many bytes.
    Request(usize, Request<'a>),
    /// No request that is answered. Where the next one begins is not known.
    Refused(Refusal),
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request<'a> {
    /// Of `/path`, or of `http://host/path` (RFC 9112, section 3.2.2); `None` if that has none.
    pub(super) path: Option<&'a str>,
    /// Whether more requests can follow.
    pub(super) keeps_alive: bool,
    /// Whether the peer has to be told that.
    pub(super) is_http10: bool,
}

/// Reads the first request.
pub(super) fn parse(bytes: &[u8]) -> Parsed<'_> {
    // RFC 9112, section 2.2: empty lines before a request are ignored.
    let empty = bytes.chunks_exact(2).take_while(|pair| pair == b"\r\n").count() * 2;
    let rest = &bytes[empty..];
    // A line feed alone is the end of a line for some, and not for others.
    let end = memmem::find(rest, b"\r\n\r\n").map(|place| place + 4);
    let head = &rest[..end.unwrap_or(rest.len())];
    if memchr_iter(b'\n', head).any(|place| place == 0 || head[place - 1] != b'\r') {
        return Parsed::Refused(MALFORMED);
    }
    if head.len() > LONGEST || empty > LONGEST {
        return Parsed::Refused(TOO_LONG);
    }
    if end.is_none() {
        return Parsed::Incomplete;
    }
    let mut headers = [EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(head) {
        Ok(httparse::Status::Complete(_)) => (),
        Err(httparse::Error::TooManyHeaders) => return Parsed::Refused(TOO_LONG),
        Ok(httparse::Status::Partial) | Err(_) => return Parsed::Refused(MALFORMED),
    }
    let (Some(method), Some(target), Some(minor)) = (request.method, request.path, request.version) else {
        return Parsed::Refused(MALFORMED);
    };
    let is_http10 = minor == 0;
    let keeps_alive = match connection(request.headers, is_http10) {
        Ok(keeps_alive) => keeps_alive,
        Err(refusal) => return Parsed::Refused(refusal),
    };
    match method {
        "GET" => (),
        "HEAD" => return Parsed::Refused(HEAD),
        _ => return Parsed::Refused(NOT_GET),
    }
    Parsed::Request(empty + head.len(), Request { path: path(target), keeps_alive, is_http10 })
}

/// Whether more requests may follow, by the headers.
fn connection(headers: &[Header<'_>], is_http10: bool) -> Result<bool, Refusal> {
    let (mut hosts, mut lengths, mut keeps_alive) = (0, 0, !is_http10);
    for header in headers.iter() {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        if is("host") {
            hosts += 1;
        } else if is("transfer-encoding") {
            return Err(HAS_BODY);
        } else if is("content-length") {
            lengths += 1;
            if header.value != b"0" || lengths > 1 {
                return Err(HAS_BODY);
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
    if hosts > 1 || (hosts == 0 && !is_http10) { Err(MALFORMED) } else { Ok(keeps_alive) }
}

/// The path of a target.
fn path(target: &str) -> Option<&str> {
    match target.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("http://")) {
        None => Some(target),
        Some(scheme) => {
            let rest = &target[scheme.len()..];
            rest.find('/').map(|place| &rest[place..])
        }
    }
}
