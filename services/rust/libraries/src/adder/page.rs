// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a request is answered by.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderValue, TRANSFER_ENCODING};
use hyper::{Method, Request, Response, StatusCode, Version};

/// Why a request does not get what it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    status: StatusCode,
    /// For the peer.
    sentence: &'static str,
    /// Nothing more is answered: where the next request begins is not known, or the peer may think otherwise.
    is_last: bool,
}

pub(super) const MALFORMED: Refusal = last(StatusCode::BAD_REQUEST, "This is no request of HTTP/1.1.\n");
pub(super) const TOO_LONG: Refusal =
    last(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "The head is too long: 8192 bytes, 64 fields.\n");
const HAS_BODY: Refusal = last(StatusCode::BAD_REQUEST, "The request has a body: send none.\n");
const NOT_GET: Refusal = last(StatusCode::METHOD_NOT_ALLOWED, "Only GET is answered.\n");
const NO_NUMBER: Refusal = kept(StatusCode::BAD_REQUEST, "This is no number: give /add/A/B, such as /add/1/-2.\n");
const TOO_LARGE: Refusal = kept(StatusCode::BAD_REQUEST, "A number or the sum does not fit into 64 bits.\n");
const NO_SUCH_PAGE: Refusal = kept(StatusCode::NOT_FOUND, "There is no such page: ask for /add/A/B.\n");

const fn last(status: StatusCode, sentence: &'static str) -> Refusal {
    Refusal { status, sentence, is_last: true }
}

const fn kept(status: StatusCode, sentence: &'static str) -> Refusal {
    Refusal { status, sentence, is_last: false }
}

impl Refusal {
    /// All of the answer, for the case that hyper found no request.
    pub(super) fn text(self) -> String {
        let Self { status, sentence, .. } = self;
        let len = sentence.len();
        format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\nconnection: close\r\ncontent-length: {len}\r\n\r\n{sentence}"
        )
    }
}

/// Answers a request, whatever its body would be.
pub(super) fn answer<T>(request: &Request<T>) -> Response<Full<Bytes>> {
    let result = check(request).and_then(|()| page(request));
    let mut response = match result {
        Ok(text) => Response::new(Full::from(text)),
        Err(Refusal { status, sentence, is_last }) => {
            let mut response = Response::new(Full::from(sentence));
            *response.status_mut() = status;
            if status == StatusCode::METHOD_NOT_ALLOWED {
                response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET"));
            }
            if is_last {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            response
        }
    };
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}

/// What hyper leaves to its user.
fn check<T>(request: &Request<T>) -> Result<(), Refusal> {
    let headers = request.headers();
    let length = headers.get(CONTENT_LENGTH);
    if headers.contains_key(TRANSFER_ENCODING) || length.is_some_and(|length| length != "0") {
        return Err(HAS_BODY);
    }
    // RFC 9112, section 3.2.
    let hosts = headers.get_all(HOST).iter().count();
    if hosts > 1 || (hosts == 0 && request.version() == Version::HTTP_11) || !target(request).is_ascii() {
        return Err(MALFORMED);
    }
    if request.method() == Method::GET { Ok(()) } else { Err(NOT_GET) }
}

/// The sum at a path.
fn page<T>(request: &Request<T>) -> Result<String, Refusal> {
    let words = target(request).strip_prefix("/add/").and_then(|words| words.split_once('/'));
    let (a, b) = words.filter(|(_, b)| !b.contains('/')).ok_or(NO_SUCH_PAGE)?;
    let (a, b) = (number(a)?, number(b)?);
    let sum = a.checked_add(b).ok_or(TOO_LARGE)?;
    Ok(format!("{a} + {b} = {sum}\n"))
}

/// The path, and the query if there is one.
fn target<T>(request: &Request<T>) -> &str {
    request.uri().path_and_query().map_or("", |target| target.as_str())
}

/// Digits, and a minus before them for a negative number.
fn number(text: &str) -> Result<i64, Refusal> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NO_NUMBER);
    }
    text.parse().map_err(|_| TOO_LARGE)
}

#[cfg(test)]
mod tests {
    use super::{NO_NUMBER, TOO_LARGE, number};

    #[test]
    fn numbers_have_digits_and_a_minus_and_fit_into_64_bits() {
        assert_eq!(number("-9223372036854775808"), Ok(i64::MIN));
        assert_eq!(number("007"), Ok(7));
        for text in ["", "-", "+1", "--1", "1 ", "0x1"] {
            assert_eq!(number(text), Err(NO_NUMBER), "{text}");
        }
        assert_eq!(number("9223372036854775808"), Err(TOO_LARGE));
    }
}
