// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the programs have in common: where they listen, and when they end.
#![allow(clippy::print_stdout)]

mod options;

use crate::proxy::{Proxy, Terms};
use crate::running::Running;
use crate::server::Server;
use crate::service::Service;
use crate::sockets::{Dpdk, Kernel, Sockets};
use core::marker::PhantomData;
use core::time::Duration;
use dpdk_rs::{Eal, EalOptions};
use options::{Options, Place, parse, usage};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What can run on sockets of either kind.
trait Startable {
    type On<S: Sockets>: Running;

    fn on<S: Sockets>(self, sockets: S) -> Self::On<S>;
}

struct Serving<T> {
    service: PhantomData<T>,
    timeout: Duration,
}

impl<T: Service> Startable for Serving<T> {
    type On<S: Sockets> = Server<S, T>;

    fn on<S: Sockets>(self, sockets: S) -> Server<S, T> {
        Server::new(sockets, self.timeout)
    }
}

impl Startable for Terms {
    type On<S: Sockets> = Proxy<S>;

    fn on<S: Sockets>(self, sockets: S) -> Proxy<S> {
        Proxy::new(sockets, self)
    }
}

/// Runs a service until SIGINT or SIGTERM.
pub fn serve<T: Service>(name: &str) -> ExitCode {
    main(name, false, |options| Ok(Serving { service: PhantomData::<T>, timeout: options.timeout }))
}

/// Runs a proxy until SIGINT or SIGTERM, and then until its connections have ended.
pub fn proxy(name: &str) -> ExitCode {
    main(name, true, |options| {
        let to = options.to.ok_or("no address to connect to: see --help")?;
        Ok(Terms { to, timeout: options.timeout, limit: options.limit })
    })
}

fn main<T: Startable>(
    name: &str,
    is_proxy: bool,
    start: impl FnOnce(&Options) -> Result<T, Box<dyn Error>>,
) -> ExitCode {
    let run = || {
        let words: Vec<OsString> = env::args_os().skip(1).collect();
        // Without `--`, all words are the program's own.
        let own = words.iter().position(|word| word == "--").map_or(0, |end| end + 1);
        match parse(words[own..].iter().cloned(), is_proxy)? {
            Some(options) => run(name, &options, start(&options)?),
            None => {
                print!("{}", usage(name, is_proxy));
                Ok(())
            }
        }
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(name: &str, options: &Options, start: impl Startable) -> Result<(), Box<dyn Error>> {
    match options.place {
        Place::Kernel(address) => {
            let sockets = Kernel::listen(address).map_err(|error| format!("cannot listen at {address}: {error}"))?;
            go_on(name, options, start.on(sockets))
        }
        Place::Dpdk(net, port) => {
            let (eal, _own) = Eal::init(EalOptions::from_command_line())?;
            go_on(name, options, start.on(Dpdk::listen(&eal, net, port)?))
        }
    }
}

fn go_on(name: &str, options: &Options, mut running: impl Running) -> Result<(), Box<dyn Error>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    println!("{name}: {options}");
    while !(stop.load(Relaxed) && running.stop()) {
        running.poll()?;
    }
    println!("{name}: {running}");
    Ok(())
}
