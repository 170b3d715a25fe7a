// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The command lines.

use core::fmt;
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use dpdk_sockets::IpNet;
use lexopt::Arg::{Long, Short, Value};
use lexopt::ValueExt as _;
use std::error::Error;
use std::ffi::OsString;

const SERVICE: &str = "\
usage: NAME kernel ADDRESS PORT [--timeout SECONDS]
       NAME [EAL OPTIONS] -- dpdk ADDRESS/PREFIX PORT [--timeout SECONDS]

Serves a TCP port, on the kernel's sockets or on dpdk-sockets, until SIGINT or SIGTERM.

  ADDRESS            the address to listen at, such as 127.0.0.1 or ::
  ADDRESS/PREFIX     the address of the first port and its network, such as 192.0.2.1/24
  PORT               1 to 65535
  --timeout SECONDS  how long a request, or the room for an answer, may take; default: 10
  -h, --help         print this text
";

const PROXY: &str = "\
usage: NAME kernel ADDRESS PORT TO [--timeout SECONDS] [--limit N]
       NAME [EAL OPTIONS] -- dpdk ADDRESS/PREFIX PORT TO [--timeout SECONDS] [--limit N]

Passes the connections to a TCP port on to another one, on the kernel's sockets or on dpdk-sockets, until SIGINT or
SIGTERM, and then until all of them have ended.

  ADDRESS            the address to listen at, such as 127.0.0.1 or ::
  ADDRESS/PREFIX     the address of the first port and its network, such as 192.0.2.1/24
  PORT               1 to 65535
  TO                 the address and port to connect to, such as 127.0.0.1:80 or [::1]:80
  --timeout SECONDS  how long connecting may take, and at the end what is open; default: 10
  --limit N          so many connections are passed on at a time; default: 10000
  -h, --help         print this text
";

/// The text that `--help` prints.
pub(super) fn usage(name: &str, is_proxy: bool) -> String {
    let text = if is_proxy { PROXY } else { SERVICE };
    text.replace("NAME", name)
}

/// Where a service is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// On the kernel's sockets.
    Kernel(SocketAddr),
    /// On dpdk-sockets, at this port.
    Dpdk(IpNet, u16),
}

/// The command line, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// Where to listen.
    pub(super) place: Place,
    /// How long a peer may take.
    pub(super) timeout: Duration,
    /// Where a proxy connects to.
    pub(super) to: Option<SocketAddr>,
    /// So many connections a proxy passes on at a time.
    pub(super) limit: usize,
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Kernel(address) => write!(f, "kernel {} port {}", address.ip(), address.port())?,
            Place::Dpdk(net, port) => write!(f, "dpdk {net} port {port}")?,
        }
        self.to.map_or(Ok(()), |to| write!(f, " to {to}"))
    }
}

/// Reads the program's own words. `None`: the usage is asked for.
///
/// # Errors
///
/// What is wrong, with the value and the remedy.
pub(super) fn parse(
    words: impl IntoIterator<Item = OsString>,
    is_proxy: bool,
) -> Result<Option<Options>, Box<dyn Error>> {
    let mut parser = lexopt::Parser::from_args(words);
    let (mut values, mut timeout, mut limit) = (Vec::new(), 10.0, 10_000);
    while let Some(arg) = parser.next()? {
        match arg {
            Short('h') | Long("help") => return Ok(None),
            Long("timeout") => timeout = parser.value()?.parse()?,
            Long("limit") if is_proxy => limit = parser.value()?.parse()?,
            Value(value) => values.push(value.to_string_lossy().into_owned()),
            other => return Err(other.unexpected().into()),
        }
    }
    let (kind, address, port, to) = match values.as_slice() {
        [kind, address, port] if !is_proxy => (kind, address, port, None),
        [kind, address, port, to] if is_proxy => (kind, address, port, Some(to)),
        _ if is_proxy => {
            return Err("give kernel or dpdk, an address, a port, and where to connect to: see --help".into());
        }
        _ => return Err("give kernel or dpdk, an address, and a port: see --help".into()),
    };
    let port = port.parse().ok().filter(|port| *port != 0).ok_or(format!("port '{port}': give 1 to 65535"))?;
    let place = match kind.as_str() {
        "kernel" => {
            let ip: IpAddr =
                address.parse().map_err(|_| format!("'{address}' is no address: give one such as 127.0.0.1"))?;
            Place::Kernel(SocketAddr::new(ip, port))
        }
        "dpdk" => {
            let net: IpNet = address
                .parse()
                .map_err(|_| format!("'{address}' is no address with a prefix: give one such as 192.0.2.1/24"))?;
            Place::Dpdk(net, port)
        }
        other => return Err(format!("'{other}' is no kind of sockets: give kernel or dpdk").into()),
    };
    let to = to.map(|to| back_end(to)).transpose()?;
    let timeout = Duration::try_from_secs_f64(timeout)
        .ok()
        .filter(|timeout| !timeout.is_zero())
        .ok_or_else(|| format!("a timeout of {timeout} s: give more than 0"))?;
    if limit == 0 {
        return Err("a limit of 0 connections: give 1 or more".into());
    }
    Ok(Some(Options { place, timeout, to, limit }))
}

fn back_end(text: &str) -> Result<SocketAddr, String> {
    text.parse().ok().filter(|to: &SocketAddr| to.port() != 0).ok_or_else(|| {
        format!("'{text}' is nothing to connect to: give an address and a port such as 127.0.0.1:80 or [::1]:80")
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Options, Place, parse};
    use core::time::Duration;

    const LIMIT: usize = 10_000;

    fn words(text: &str, is_proxy: bool) -> Result<Option<Options>, String> {
        parse(text.split_whitespace().map(Into::into), is_proxy).map_err(|error| error.to_string())
    }

    #[test]
    fn both_kinds_of_sockets_are_understood() {
        let timeout = Duration::from_secs(10);
        let place = Place::Kernel("[::1]:80".parse().unwrap());
        assert_eq!(words("kernel ::1 80", false), Ok(Some(Options { place, timeout, to: None, limit: LIMIT })));
        let (to, limit) = ("[2001:db8::2]:80".parse().ok(), 7);
        assert_eq!(
            words("kernel ::1 80 [2001:db8::2]:80 --limit 7", true),
            Ok(Some(Options { place, timeout, to, limit }))
        );
        let (place, timeout) = (Place::Dpdk("192.0.2.1/24".parse().unwrap(), 8080), Duration::from_millis(500));
        let options = Options { place, timeout, to: None, limit: LIMIT };
        assert_eq!(words("--timeout 0.5 dpdk 192.0.2.1/24 8080", false), Ok(Some(options)));
        assert_eq!(words("--help", true), Ok(None));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, told) in [
            ("", "see --help"),
            ("kernel 127.0.0.1", "see --help"),
            ("kernel localhost 80", "'localhost' is no address"),
            ("kernel 127.0.0.1 0", "port '0'"),
            ("kernel 127.0.0.1 65536", "port '65536'"),
            ("dpdk 192.0.2.1 80", "'192.0.2.1' is no address with a prefix"),
            ("lwip 192.0.2.1/24 80", "'lwip' is no kind of sockets"),
            ("kernel 127.0.0.1 80 --timeout 0", "a timeout of 0 s"),
            ("kernel 127.0.0.1 80 --timeout -1", "a timeout of -1 s"),
            ("kernel 127.0.0.1 80 --speed", "--speed"),
            ("kernel 127.0.0.1 80 --limit 5", "--limit"),
            ("kernel 127.0.0.1 80 127.0.0.1:81", "see --help"),
        ] {
            let error = words(text, false).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
        for (text, told) in [
            ("kernel 127.0.0.1 80", "where to connect to"),
            ("kernel 127.0.0.1 80 localhost:81", "'localhost:81' is nothing to connect to"),
            ("kernel 127.0.0.1 80 127.0.0.1:0", "'127.0.0.1:0' is nothing to connect to"),
            ("kernel 127.0.0.1 80 127.0.0.1:81 --limit 0", "a limit of 0 connections"),
        ] {
            let error = words(text, true).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
