// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The head of an answer over HTTP/1.1.

use httparse::{EMPTY_HEADER, Response, Status};

const LONGEST: usize = 8_192;
const MOST_HEADERS: usize = 64;

/// The length of the head that these bytes begin with; `None` if it is not whole. A body of this length has to follow. Other
/// headers, and the phrase of the status, differ between servers.
///
/// # Errors
///
/// What is wrong.
pub(super) fn head(bytes: &[u8], body: usize) -> Result<Option<usize>, String> {
    let mut headers = [EMPTY_HEADER; MOST_HEADERS];
    let mut response = Response::new(&mut headers);
    let len = match response.parse(bytes) {
        Ok(Status::Complete(len)) => len,
        Ok(Status::Partial) if bytes.len() <= LONGEST => return Ok(None),
        Ok(Status::Partial) => return Err(format!("its head is longer than {LONGEST} bytes")),
        Err(error) => return Err(format!("it is no answer of HTTP: {error}")),
    };
    if response.version != Some(1) {
        return Err("its version is HTTP/1.0, and not HTTP/1.1".to_owned());
    }
    if let Some(status) = response.code.filter(|code| *code != 200) {
        return Err(format!("its status is {status}, and not 200"));
    }
    let values = |name: &'static str| {
        response.headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value)
    };
    if values("Transfer-Encoding").next().is_some() {
        return Err("it has a Transfer-Encoding".to_owned());
    }
    let mut lengths = values("Content-Length");
    let (Some(length), None) = (lengths.next(), lengths.next()) else {
        return Err("it has no Content-Length, or several".to_owned());
    };
    if length == body.to_string().as_bytes() {
        return Ok(Some(len));
    }
    Err(format!("its Content-Length is {}, and not {body}", String::from_utf8_lossy(length)))
}
