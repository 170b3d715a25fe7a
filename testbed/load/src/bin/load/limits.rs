// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the machine allows, and why connections cannot be opened.

use crate::error::Error;
use core::{net::SocketAddr, time::Duration};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::{io::ErrorKind, net::TcpStream};

/// Files that are no connections.
const OTHERS: u64 = 32;
const PATIENCE: Duration = Duration::from_secs(1);

/// Raises the limit of open files as far as it goes, if that is necessary.
pub(crate) fn allow_files(connections: usize) -> Result<(), Error> {
    let needed = connections as u64 + OTHERS;
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(Error::failed)?;
    if hard < needed {
        return Err(Error::Failed(format!(
            "{connections} connections need {needed} open files, and {hard} are allowed: give fewer --connections, or raise \
             the limit with 'ulimit -Hn {needed}' as root"
        )));
    }
    if soft < needed {
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard).map_err(Error::failed)?;
    }
    Ok(())
}

/// Why connections cannot be opened over the kernel's sockets, and what to do. The seam does not say, so the kernel is asked
/// once more.
pub(crate) fn kernel_reason(to: SocketAddr) -> String {
    match TcpStream::connect_timeout(&to, PATIENCE) {
        Ok(_) => {
            "the service takes another one: give fewer --connections, or give the service a longer backlog".to_owned()
        }
        Err(error) => match error.kind() {
            ErrorKind::ConnectionRefused => "nothing listens there: start the service, or give another port".to_owned(),
            ErrorKind::AddrNotAvailable => "no local port is free: give fewer --connections, wait until the ports of \
                                            earlier ones are free (60 s), or widen net.ipv4.ip_local_port_range"
                .to_owned(),
            ErrorKind::TimedOut => "nothing answers there: give another address".to_owned(),
            _ => format!("{error}: give another address"),
        },
    }
}

/// The same over dpdk-sockets.
pub(crate) fn dpdk_reason(_: SocketAddr) -> String {
    "no host answers there, nothing listens, or no port is free: start the service, and check the wire and OWN/PREFIX"
        .to_owned()
}
