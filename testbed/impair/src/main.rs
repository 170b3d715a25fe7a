// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! An impairment program on DPDK, to stand between two ports: frames of each go out of the other, and some of them are
//! lost, duplicated, reordered, corrupted or delayed. The same seed and the same frames give the same decisions.
//!
//! The library part decides and queues. Here are the command line, the ports, the loop, and the messages.
#![forbid(unsafe_code)]

mod args;
mod error;
mod forward;
mod ports;
mod report;
mod values;
mod way;

use args::{Command, Options, USAGE, parse_args};
use dpdk_rs::{Eal, EalOptions};
use error::{Error, UsageError};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::{
    env,
    io::{self, Write as _},
    process::ExitCode,
    sync::{Arc, atomic::AtomicBool},
};

fn main() -> ExitCode {
    let result = match parse_args(env::args_os()) {
        // A closed pipe is not an error.
        Ok(Command::Help) => {
            let _ = io::stdout().write_all(USAGE.as_bytes());
            Ok(())
        }
        Ok(Command::Version) => {
            let version = env!("CARGO_PKG_VERSION");
            let _ = writeln!(io::stdout(), "impair {version} (DPDK {})", dpdk_rs::dpdk_version());
            Ok(())
        }
        Ok(Command::Run(options)) => impair(&options),
        Err(error) => Err(error.into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn impair(options: &Options) -> Result<(), Error> {
    let (eal, rest) = Eal::init(EalOptions::from_command_line().without_own_args()).map_err(Error::failed)?;
    if let Some(argument) = rest.into_iter().next() {
        return Err(UsageError::Unexpected(argument).into());
    }
    // Only now: a driver may wait for its peer forever in the EAL, and only the default action of a signal ends that wait.
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).map_err(Error::failed)?;
    }
    let (_ports, mut ways) = ports::start_ways(&eal, options)?;
    report::write_start(options.seed)?;
    let duration = forward::forward_loop(&mut ways, eal.clock(), &stop);
    report::write_result(options.seed, duration, &ways)
}
