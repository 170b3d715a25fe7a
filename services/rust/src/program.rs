// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the programs have in common: where they listen, and when they end.
#![allow(clippy::print_stdout)]

use crate::server::Server;
use crate::service::Service;
use crate::sockets::{Dpdk, Kernel, Sockets};
use core::fmt;
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use dpdk_rs::{Eal, EalOptions};
use dpdk_sockets::IpNet;
use lexopt::Arg::{Long, Short, Value};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The command line, and what it means.
pub const USAGE: &str = "\
usage: PROGRAM kernel ADDRESS PORT [--timeout SECONDS]
       PROGRAM [EAL OPTIONS] -- dpdk ADDRESS/PREFIX PORT [--timeout SECONDS]

Serves a TCP port, on the kernel's sockets or on dpdk-sockets, until SIGINT or SIGTERM.

  ADDRESS            the address to listen at, such as 127.0.0.1 or ::
  ADDRESS/PREFIX     the address of the first port and its network, such as 192.0.2.1/24
  PORT               1 to 65535
  --timeout SECONDS  how long a request, or the room for an answer, may take; default: 10
  -h, --help         print this text
";

/// Where a service is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the kernel's sockets.
    Kernel(SocketAddr),
    /// On dpdk-sockets, at this port.
    Dpdk(IpNet, u16),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel(address) => write!(f, "kernel {} port {}", address.ip(), address.port()),
            Self::Dpdk(net, port) => write!(f, "dpdk {net} port {port}"),
        }
    }
}

/// The command line, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Where to listen.
    pub place: Place,
    /// How long a peer may take.
    pub timeout: Duration,
}

/// Reads the program's own words. `None`: the usage is asked for.
///
/// # Errors
///
/// What is wrong, with the value and the remedy.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, Box<dyn Error>> {
    let mut parser = lexopt::Parser::from_args(words);
    let (mut values, mut timeout) = (Vec::new(), 10.0);
    while let Some(arg) = parser.next()? {
        match arg {
            Short('h') | Long("help") => return Ok(None),
            Long("timeout") => timeout = lexopt::ValueExt::parse(&parser.value()?)?,
            Value(value) => values.push(value.to_string_lossy().into_owned()),
            other => return Err(other.unexpected().into()),
        }
    }
    let [kind, address, port] = values.as_slice() else {
        return Err("give kernel or dpdk, an address, and a port: see --help".into());
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
    let timeout = Duration::try_from_secs_f64(timeout)
        .ok()
        .filter(|timeout| !timeout.is_zero())
        .ok_or_else(|| format!("a timeout of {timeout} s: give more than 0"))?;
    Ok(Some(Options { place, timeout }))
}

/// Runs a service until SIGINT or SIGTERM.
pub fn main<T: Service>(name: &str) -> ExitCode {
    match run::<T>(name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run<T: Service>(name: &str) -> Result<(), Box<dyn Error>> {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    // Without `--`, all words are the program's own.
    let own = words.iter().position(|word| word == "--").map_or(0, |end| end + 1);
    let Some(Options { place, timeout }) = parse(words[own..].iter().cloned())? else {
        print!("{}", USAGE.replace("PROGRAM", name));
        return Ok(());
    };
    match place {
        Place::Kernel(address) => {
            let sockets = Kernel::listen(address).map_err(|error| format!("cannot listen at {address}: {error}"))?;
            serve(name, place, Server::<_, T>::new(sockets, timeout))
        }
        Place::Dpdk(net, port) => {
            let (eal, _own) = Eal::init(EalOptions::from_command_line())?;
            serve(name, place, Server::<_, T>::new(Dpdk::listen(&eal, net, port)?, timeout))
        }
    }
}

fn serve<S: Sockets, T: Service>(name: &str, place: Place, mut server: Server<S, T>) -> Result<(), Box<dyn Error>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    println!("{name}: {place}");
    while !stop.load(Relaxed) {
        server.poll()?;
    }
    println!("{name}: {} requests answered", server.answered());
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Options, Place, parse};
    use core::time::Duration;

    fn words(text: &str) -> Result<Option<Options>, String> {
        parse(text.split_whitespace().map(Into::into)).map_err(|error| error.to_string())
    }

    #[test]
    fn both_kinds_of_sockets_are_understood() {
        let timeout = Duration::from_secs(10);
        let place = Place::Kernel("[::1]:80".parse().unwrap());
        assert_eq!(words("kernel ::1 80"), Ok(Some(Options { place, timeout })));
        let (place, timeout) = (Place::Dpdk("192.0.2.1/24".parse().unwrap(), 8080), Duration::from_millis(500));
        assert_eq!(words("--timeout 0.5 dpdk 192.0.2.1/24 8080"), Ok(Some(Options { place, timeout })));
        assert_eq!(words("--help"), Ok(None));
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
        ] {
            let error = words(text).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
