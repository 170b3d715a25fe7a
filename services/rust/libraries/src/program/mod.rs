// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the programs have in common: where they listen, and when they end.
#![allow(clippy::print_stdout)]

mod options;

pub use options::{Form, Options};

use core::time::Duration;
use options::{parse, usage};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::pipe;
use std::env;
use std::error::Error;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

/// If a connection cannot be accepted since all files are in use, it is tried again after this.
pub const ACCEPT_AGAIN: Duration = Duration::from_millis(100);
/// A connection on which nothing moves is closed after so many time-outs.
pub const IDLE_TIMEOUTS: u32 = 6;

/// What a service gets.
#[derive(Debug)]
pub struct Start {
    /// The command line.
    pub options: Options,
    /// Listens already.
    pub listener: TcpListener,
    /// Becomes readable on SIGINT or SIGTERM.
    pub stop: UnixStream,
}

/// Runs a service. It returns when it is stopped, and says what it has done.
pub fn run(name: &str, form: Form, serve: impl FnOnce(Start) -> Result<String, Box<dyn Error>>) -> ExitCode {
    match try_to_run(name, form, serve) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn try_to_run(
    name: &str,
    form: Form,
    serve: impl FnOnce(Start) -> Result<String, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let Some(options) = parse(env::args_os().skip(1), form)? else {
        print!("{}", usage(name, form));
        return Ok(());
    };
    let address = options.address;
    let listener = TcpListener::bind(address).map_err(|error| format!("cannot listen at {address}: {error}"))?;
    let (stop, raised) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM] {
        pipe::register(signal, raised.try_clone()?)?;
    }
    println!("{name}: {options}");
    let done = serve(Start { options, listener, stop })?;
    println!("{name}: {done}");
    Ok(())
}
