// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A traffic generator on DPDK that checks every frame. It sends numbered and time-stamped UDP frames, checks every byte of
//! the frames that come back, and counts those that were lost, duplicated, reordered, changed or foreign.
//!
//! `run` is the loop, `transmit` and `receive` are its two halves, and `frame` defines the frames for both.
#![forbid(unsafe_code)]

mod addresses;
mod args;
mod error;
mod frame;
mod gaps;
mod latency;
mod live;
mod neighbours;
mod outage;
mod output;
mod pacing;
mod ports;
mod probe;
mod queues;
mod receive;
mod report;
mod run;
mod sequence;
mod steps;
mod stream;
mod transmit;

use args::{Command, Options, USAGE, parse_args};
use dpdk_rs::{Eal, EalOptions};
use error::{Error, UsageError};
use output::Output;
use report::Report;
use run::Course;
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
            let _ = writeln!(io::stdout(), "generator {version} (DPDK {})", dpdk_rs::dpdk_version());
            Ok(())
        }
        Ok(Command::Run(options)) => generate(&options),
        Err(error) => Err(error.into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn generate(options: &Options) -> Result<(), Error> {
    let output = Output::open(options.json.as_deref())?;
    let stop = stop_on_signals()?;
    let (eal, rest) = Eal::init(EalOptions::from_command_line().without_own_args()).map_err(Error::failed)?;
    if let Some(argument) = rest.into_iter().next() {
        return Err(UsageError::Unexpected(argument).into());
    }
    let clock = eal.clock();
    let mut ports = ports::start_ports(&eal, options)?;
    let linked = ports::wait_for_links(&ports, options, &stop)?;

    let mut streams = run::make_streams(options, &mut ports, clock)?;
    let open = linked && probe::open_paths(options, &mut streams, clock, &stop)?;
    let course = if open { run::run(options, &mut streams, clock, &stop) } else { Course::interrupted_at(clock.now()) };
    // Before the ports are stopped: some devices forget their counters then.
    let report = Report::new(options, &streams, &ports, course, clock);
    // A failure is ignored: the JSON contains all of the text.
    let _ = report.write_text(&mut io::stderr());
    output.write(&report)
}

/// A flag that SIGINT and SIGTERM set.
fn stop_on_signals() -> Result<Arc<AtomicBool>, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).map_err(Error::failed)?;
    }
    Ok(stop)
}
