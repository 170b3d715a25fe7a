// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The command lines.

use core::fmt;
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use lexopt::Arg::{Long, Short, Value};
use lexopt::ValueExt as _;
use std::error::Error;
use std::ffi::OsString;

const SERVICE: &str = "\
usage: NAME kernel ADDRESS PORT [--timeout SECONDS]

Serves a TCP port, on the kernel's sockets, until SIGINT or SIGTERM.

  ADDRESS            the address to listen at, such as 127.0.0.1 or ::
  PORT               1 to 65535
  --timeout SECONDS  how long a request, or the room for an answer, may take; default: 10
  -h, --help         print this text
";

const POOL: &str = "\
usage: NAME kernel ADDRESS PORT [--timeout SECONDS] [--threads N]

Serves a TCP port, on the kernel's sockets, until SIGINT or SIGTERM.

  ADDRESS            the address to listen at, such as 127.0.0.1 or ::
  PORT               1 to 65535
  --timeout SECONDS  how long a request, or the room for an answer, may take; default: 10
  --threads N        so many threads serve; default: 8
  -h, --help         print this text
";

const PROXY: &str = "\
usage: NAME kernel ADDRESS PORT TO [--timeout SECONDS] [--limit N]

Passes the connections to a TCP port on to another one, on the kernel's sockets, until SIGINT or SIGTERM, and then until
all of them have ended.

  ADDRESS            the address to listen at, such as 127.0.0.1 or ::
  PORT               1 to 65535
  TO                 the address and port to connect to, such as 127.0.0.1:80 or [::1]:80
  --timeout SECONDS  how long connecting may take, and at the end what is open; default: 10
  --limit N          so many connections are passed on at a time; default: 10000
  -h, --help         print this text
";

/// Which words a program takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Where it listens.
    Service,
    /// And with how many threads.
    Pool,
    /// And where it connects to.
    Proxy,
}

/// The text that `--help` prints.
pub(super) fn usage(name: &str, form: Form) -> String {
    let text = match form {
        Form::Service => SERVICE,
        Form::Pool => POOL,
        Form::Proxy => PROXY,
    };
    text.replace("NAME", name)
}

/// The command line, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Where to listen.
    pub address: SocketAddr,
    /// Where a proxy connects to.
    pub to: Option<SocketAddr>,
    /// How long a peer may take.
    pub timeout: Duration,
    /// So many connections a proxy passes on at a time.
    pub limit: usize,
    /// So many threads a pool has.
    pub threads: usize,
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {} port {}", self.address.ip(), self.address.port())?;
        self.to.map_or(Ok(()), |to| write!(f, " to {to}"))
    }
}

/// Reads the program's words. `None`: the usage is asked for.
///
/// # Errors
///
/// What is wrong, with the value and the remedy.
pub(super) fn parse(words: impl IntoIterator<Item = OsString>, form: Form) -> Result<Option<Options>, Box<dyn Error>> {
    let mut parser = lexopt::Parser::from_args(words);
    let (mut values, mut timeout, mut limit, mut threads) = (Vec::new(), 10.0, 10_000, 8);
    while let Some(arg) = parser.next()? {
        match arg {
            Short('h') | Long("help") => return Ok(None),
            Long("timeout") => timeout = parser.value()?.parse()?,
            Long("limit") if form == Form::Proxy => limit = parser.value()?.parse()?,
            Long("threads") if form == Form::Pool => threads = parser.value()?.parse()?,
            Value(value) => values.push(value.to_string_lossy().into_owned()),
            other => return Err(other.unexpected().into()),
        }
    }
    let (kind, address, port, to) = match values.as_slice() {
        [kind, address, port] if form != Form::Proxy => (kind, address, port, None),
        [kind, address, port, to] if form == Form::Proxy => (kind, address, port, Some(to)),
        _ if form == Form::Proxy => {
            return Err("give kernel, an address, a port, and where to connect to: see --help".into());
        }
        _ => return Err("give kernel, an address, and a port: see --help".into()),
    };
    if kind != "kernel" {
        return Err(format!("'{kind}' is no kind of sockets: give kernel").into());
    }
    let ip: IpAddr = address.parse().map_err(|_| format!("'{address}' is no address: give one such as 127.0.0.1"))?;
    let port = port.parse().ok().filter(|port| *port != 0).ok_or(format!("port '{port}': give 1 to 65535"))?;
    let to = to.map(|to| back_end(to)).transpose()?;
    let timeout = Duration::try_from_secs_f64(timeout)
        .ok()
        .filter(|timeout| !timeout.is_zero())
        .ok_or_else(|| format!("a timeout of {timeout} s: give more than 0"))?;
    if limit == 0 {
        return Err("a limit of 0 connections: give 1 or more".into());
    }
    if threads == 0 {
        return Err("a pool of 0 threads: give 1 or more".into());
    }
    Ok(Some(Options { address: SocketAddr::new(ip, port), to, timeout, limit, threads }))
}

fn back_end(text: &str) -> Result<SocketAddr, String> {
    text.parse().ok().filter(|to: &SocketAddr| to.port() != 0).ok_or_else(|| {
        format!("'{text}' is nothing to connect to: give an address and a port such as 127.0.0.1:80 or [::1]:80")
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Form, Options, parse};
    use core::time::Duration;

    fn words(text: &str, form: Form) -> Result<Option<Options>, String> {
        parse(text.split_whitespace().map(Into::into), form).map_err(|error| error.to_string())
    }

    #[test]
    fn each_form_is_understood() {
        let address = "[::1]:80".parse().unwrap();
        let plain = Options { address, to: None, timeout: Duration::from_secs(10), limit: 10_000, threads: 8 };
        assert_eq!(words("kernel ::1 80", Form::Service), Ok(Some(plain)));
        let pool = Options { timeout: Duration::from_millis(500), threads: 3, ..plain };
        assert_eq!(words("--timeout 0.5 kernel ::1 80 --threads 3", Form::Pool), Ok(Some(pool)));
        let proxy = Options { to: "[2001:db8::2]:80".parse().ok(), limit: 7, ..plain };
        assert_eq!(words("kernel ::1 80 [2001:db8::2]:80 --limit 7", Form::Proxy), Ok(Some(proxy)));
        assert_eq!(words("--help", Form::Proxy), Ok(None));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, form, told) in [
            ("", Form::Service, "see --help"),
            ("kernel 127.0.0.1", Form::Service, "see --help"),
            ("kernel localhost 80", Form::Service, "'localhost' is no address"),
            ("kernel 127.0.0.1 0", Form::Service, "port '0'"),
            ("kernel 127.0.0.1 65536", Form::Service, "port '65536'"),
            ("dpdk 192.0.2.1/24 80", Form::Service, "'dpdk' is no kind of sockets"),
            ("kernel 127.0.0.1 80 --timeout 0", Form::Service, "a timeout of 0 s"),
            ("kernel 127.0.0.1 80 --timeout -1", Form::Service, "a timeout of -1 s"),
            ("kernel 127.0.0.1 80 --limit 5", Form::Service, "--limit"),
            ("kernel 127.0.0.1 80 127.0.0.1:81", Form::Service, "see --help"),
            ("kernel 127.0.0.1 80 --threads 0", Form::Pool, "a pool of 0 threads"),
            ("kernel 127.0.0.1 80", Form::Proxy, "where to connect to"),
            ("kernel 127.0.0.1 80 localhost:81", Form::Proxy, "'localhost:81' is nothing to connect to"),
            ("kernel 127.0.0.1 80 127.0.0.1:0", Form::Proxy, "'127.0.0.1:0' is nothing to connect to"),
            ("kernel 127.0.0.1 80 127.0.0.1:81 --limit 0", Form::Proxy, "a limit of 0 connections"),
        ] {
            let error = words(text, form).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
