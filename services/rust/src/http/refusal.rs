// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Why a request does not get what it asks for.

/// A status, and a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The code and its phrase (RFC 9110, section 15).
    pub status: &'static str,
    /// More headers.
    pub headers: &'static str,
    /// For the peer; empty: the answer has no content.
    pub sentence: &'static str,
}

impl Refusal {
    /// Without more headers.
    pub const fn new(status: &'static str, sentence: &'static str) -> Self {
        Self { status, headers: "", sentence }
    }
}

pub(super) const MALFORMED: Refusal = Refusal::new("400 Bad Request", "This is no request of HTTP/1.1.\n");
pub(super) const HAS_BODY: Refusal = Refusal::new("400 Bad Request", "The request has a body: send none.\n");
pub(super) const NOT_FOUND: Refusal = Refusal::new("404 Not Found", "There is no such page.\n");
pub(super) const TIMED_OUT: Refusal = Refusal::new("408 Request Timeout", "The request did not come in time.\n");
pub(super) const TOO_LONG: Refusal =
    Refusal::new("431 Request Header Fields Too Large", "The head is too long: 8192 bytes, 64 fields.\n");
/// The answer to HEAD has no content (RFC 9110, section 9.3.2).
pub(super) const HEAD: Refusal = Refusal { sentence: "", ..NOT_GET };
pub(super) const NOT_GET: Refusal =
    Refusal { status: "405 Method Not Allowed", headers: "Allow: GET\r\n", sentence: "Only GET is answered.\n" };
