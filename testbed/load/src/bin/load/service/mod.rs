// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What requests ask of a service, and what has to come back.

mod http;

use core::net::SocketAddr;
use rand::{Rng as _, RngExt as _, SeedableRng as _, rngs::Xoshiro256PlusPlus};
use services::origin::PAGE;
use std::borrow::Cow;
use std::io::Write as _;
use std::mem;

/// The numbers that are added have up to nine digits.
const LARGEST: i64 = 999_999_999;
/// A message of the echo server: kinds, and what a reply adds to them (services/README.md).
const BYTES: u8 = 2;
const END: u8 = 3;
const REPLY: u8 = 0x80;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Adder,
    /// Messages of so many bytes.
    Echo {
        size: usize,
    },
    Origin,
}

/// Makes requests, one after the other.
#[derive(Debug)]
pub(crate) struct Asker {
    service: Service,
    host: SocketAddr,
    seed: u64,
    random: Xoshiro256PlusPlus,
    /// So many were made.
    number: u64,
}

/// A request, and how much of its answer has come.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    pub(crate) request: Vec<u8>,
    /// So much of the request is sent.
    pub(crate) sent: usize,
    /// Whether a head has to come before the body.
    awaits_head: bool,
    /// What has come of the head.
    head: Vec<u8>,
    body: Cow<'static, [u8]>,
    /// So much of the body has come.
    checked: usize,
}

impl Asker {
    pub(crate) fn new(service: Service, host: SocketAddr, seed: u64) -> Self {
        Self { service, host, seed, random: Xoshiro256PlusPlus::seed_from_u64(seed), number: 0 }
    }

    /// Puts the next request in place of the one before. After the last one of a connection, the service closes it, or waits
    /// for [`farewell`](Self::farewell).
    pub(crate) fn ask(&mut self, exchange: &mut Exchange, is_last: bool) {
        self.number += 1;
        match self.service {
            Service::Adder => {
                let mut draw = || self.random.random_range(-LARGEST..=LARGEST);
                let (a, b) = (draw(), draw());
                let body = exchange.begin(true);
                let _ = writeln!(body, "{a} + {b} = {}", a + b); // a vector takes everything
                self.get(exchange, format_args!("/add/{a}/{b}"), is_last);
            }
            Service::Echo { size } => {
                let mut content = Xoshiro256PlusPlus::seed_from_u64(self.seed.wrapping_add(self.number));
                exchange.message(BYTES, size, |bytes| content.fill_bytes(bytes));
            }
            Service::Origin => {
                exchange.begin(true);
                exchange.body = Cow::Borrowed(&PAGE);
                self.get(exchange, format_args!("/"), is_last);
            }
        }
    }

    /// The last request of a connection, which does not count, if the service has one.
    pub(crate) fn farewell(&self, exchange: &mut Exchange) -> bool {
        let is_echo = matches!(self.service, Service::Echo { .. });
        if is_echo {
            exchange.message(END, 0, |_| ());
        }
        is_echo
    }

    fn get(&self, exchange: &mut Exchange, path: core::fmt::Arguments<'_>, is_last: bool) {
        let connection = if is_last { "Connection: close\r\n" } else { "" };
        // A vector takes everything.
        let _ = write!(exchange.request, "GET {path} HTTP/1.1\r\nHost: {}\r\n{connection}\r\n", self.host);
    }
}

impl Exchange {
    /// Begins anew. Returns the room for the body of the answer.
    fn begin(&mut self, awaits_head: bool) -> &mut Vec<u8> {
        self.request.clear();
        self.head.clear();
        (self.sent, self.checked, self.awaits_head) = (0, 0, awaits_head);
        if matches!(self.body, Cow::Borrowed(_)) {
            self.body = Cow::Owned(Vec::new());
        }
        let body = self.body.to_mut();
        body.clear();
        body
    }

    /// A message of the echo server, and its reply.
    fn message(&mut self, kind: u8, size: usize, fill: impl FnOnce(&mut [u8])) {
        let body = self.begin(false);
        body.push(kind | REPLY);
        body.extend_from_slice(&(size as u64).to_be_bytes());
        let header = body.len();
        body.resize(header + size, 0);
        fill(&mut body[header..]);
        self.request.push(kind);
        self.request.extend_from_slice(&self.body[1..]);
    }

    /// Whether all of the answer has come.
    pub(crate) fn is_answered(&self) -> bool {
        !self.awaits_head && self.checked == self.body.len()
    }

    /// Checks bytes that have come. Returns whether the answer is whole now.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<bool, String> {
        let mut rest = bytes;
        let joined;
        if self.awaits_head {
            let head = mem::take(&mut self.head);
            if !head.is_empty() {
                joined = [&head[..], bytes].concat();
                rest = &joined;
            }
            let Some(len) = http::head(rest, self.body.len())? else {
                self.head = rest.to_vec();
                return Ok(false);
            };
            self.awaits_head = false;
            rest = &rest[len..];
        }
        let expected = &self.body[self.checked..];
        if rest.len() > expected.len() {
            return Err(format!("{} bytes came after the end of an answer", rest.len() - expected.len()));
        }
        if *rest != expected[..rest.len()] {
            let at = rest.iter().zip(expected).take_while(|(found, expected)| found == expected).count();
            let place = self.checked + at;
            return Err(format!("byte {place} is {:#04x}, and not {:#04x}", rest[at], expected[at]));
        }
        self.checked += rest.len();
        Ok(self.is_answered())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Asker, Exchange, Service};

    const SERVICES: [Service; 3] = [Service::Adder, Service::Echo { size: 100 }, Service::Origin];

    fn asker(service: Service, seed: u64) -> Asker {
        Asker::new(service, "192.0.2.1:80".parse().unwrap(), seed)
    }

    fn asked(service: Service, seed: u64) -> Exchange {
        let mut exchange = Exchange::default();
        asker(service, seed).ask(&mut exchange, false);
        exchange
    }

    /// What a server answers, with a header that is not looked at.
    fn answer(service: Service, exchange: &Exchange) -> Vec<u8> {
        let request = String::from_utf8_lossy(&exchange.request);
        let body = match service {
            Service::Echo { .. } => {
                return [&[exchange.request[0] | 0x80], &exchange.request[1..]].concat();
            }
            Service::Adder => {
                let mut words = request.split(['/', ' ']).skip(3).map(|word| word.parse::<i64>().unwrap_or_default());
                let (a, b) = (words.next().unwrap(), words.next().unwrap());
                format!("{a} + {b} = {}\n", a + b)
            }
            Service::Origin => (0..320).map(|line| format!("{line:03}  abcdefghijklmnopqrstuvwxyz\n")).collect(),
        };
        format!("HTTP/1.1 200 OK\r\nServer: x\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }

    #[test]
    fn answers_may_come_split_at_each_byte() {
        for service in SERVICES {
            let mut exchange = asked(service, 0);
            let answer = answer(service, &exchange);
            for byte in &answer[..answer.len() - 1] {
                assert_eq!(exchange.take(&[*byte]), Ok(false), "{service:?}");
            }
            assert_eq!(exchange.take(&answer[answer.len() - 1..]), Ok(true));
            for split in 1..answer.len() {
                let mut exchange = asked(service, 0);
                assert_eq!(exchange.take(&answer[..split]), Ok(false), "{service:?}, {split}");
                assert_eq!(exchange.take(&answer[split..]), Ok(true), "{service:?}, {split}");
            }
            assert_eq!(asked(service, 0).take(&answer), Ok(true));
        }
    }

    #[test]
    fn a_wrong_byte_is_found_wherever_it_is() {
        for service in SERVICES {
            let answer = answer(service, &asked(service, 0));
            let place = |text: &[u8]| answer.windows(text.len()).position(|window| window == text);
            // Of a head, the version, the status and the length are looked at.
            let body = place(b"\r\n\r\n").map_or(0, |end| end + 4);
            let length = place(b"content-length");
            let length = length.map_or(0..0, |start| start..body - 4);
            let status = if length.is_empty() { 0..0 } else { 0..b"HTTP/1.1 200".len() };
            let heads = status.chain(length).flat_map(|at| [(at, 0x01), (at, 0x10), (at, 0x80)]);
            for (at, flip) in heads.chain((body..answer.len()).map(|at| (at, 1 << (at % 8)))) {
                let mut wrong = answer.clone();
                wrong[at] ^= flip;
                assert_ne!(asked(service, 0).take(&wrong), Ok(true), "{service:?}, {at}, {flip}");
            }
            let more = [&answer[..], b"x"].concat();
            assert_eq!(asked(service, 0).take(&more), Err("1 bytes came after the end of an answer".to_owned()));
            let mut exchange = asked(service, 0);
            assert_eq!((exchange.take(&answer), exchange.take(b"x").is_err()), (Ok(true), true));
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let told = |answer: &str| asked(Service::Adder, 0).take(answer.as_bytes()).unwrap_err();
        assert_eq!(told("HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\n"), "its status is 404, and not 200");
        assert_eq!(told("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n"), "its version is HTTP/1.0, and not HTTP/1.1");
        let length = asked(Service::Adder, 0).body.len();
        assert_eq!(told("HTTP/1.1 200 OK\r\n\r\n"), "it has no Content-Length, or several");
        assert_eq!(
            told("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
            format!("its Content-Length is 5, and not {length}")
        );
        let twice = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nContent-Length: {length}\r\n\r\n");
        assert_eq!(told(&twice), "it has no Content-Length, or several");
        let chunked = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: {length}\r\n\r\n");
        assert_eq!(told(&chunked), "it has a Transfer-Encoding");
        assert_eq!(told("SSH-2.0-x\r\n"), "it is no answer of HTTP: invalid HTTP version");
        assert_eq!(told(&format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(9_000))), "its head is longer than 8192 bytes");
        assert_eq!(asked(Service::Echo { size: 1 }, 0).take(b"\x84").unwrap_err(), "byte 0 is 0x84, and not 0x82");
    }

    #[test]
    fn requests_depend_on_the_seed_and_their_number() {
        for service in [Service::Adder, Service::Echo { size: 100 }] {
            let mut asker = asker(service, 1);
            let mut next = || {
                let mut exchange = Exchange::default();
                asker.ask(&mut exchange, false);
                exchange.request
            };
            let (first, second) = (next(), next());
            assert_eq!(first, asked(service, 1).request);
            assert!(first != second && first != asked(service, 2).request, "{service:?}");
        }
    }

    #[test]
    fn an_exchange_can_be_used_again() {
        let mut exchange = Exchange::default();
        for service in SERVICES.into_iter().chain(SERVICES) {
            asker(service, 0).ask(&mut exchange, false);
            assert_eq!(exchange.take(&answer(service, &exchange)), Ok(true));
        }
    }

    #[test]
    fn the_last_request_says_so() {
        for service in [Service::Adder, Service::Origin] {
            let mut exchange = Exchange::default();
            let mut asker = asker(service, 0);
            asker.ask(&mut exchange, true);
            let request = String::from_utf8(exchange.request.clone()).unwrap();
            assert!(request.ends_with(" HTTP/1.1\r\nHost: 192.0.2.1:80\r\nConnection: close\r\n\r\n"), "{request}");
            assert!(!asker.farewell(&mut exchange));
        }
        let mut exchange = asked(Service::Echo { size: 5 }, 0);
        assert!(asker(Service::Echo { size: 5 }, 0).farewell(&mut exchange));
        assert_eq!(exchange.request, [3, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(exchange.take(&[0x83, 0, 0, 0, 0, 0, 0, 0, 0]), Ok(true));
    }
}
