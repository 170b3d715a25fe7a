// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! An open-loop load generator for services, over the kernel's sockets or over dpdk-sockets: see `--help` and
//! testbed/docs/load.md.
#![forbid(unsafe_code)]

mod args;
mod connection;
mod error;
mod limits;
mod load;
mod plan;
mod progress;
mod record;
mod report;
mod schedule;
mod service;

use args::{Options, Rate, USAGE, parse};
use core::net::SocketAddr;
use dpdk_rs::{Eal, EalOptions};
use error::Error;
use load::Load;
use services::sockets::{Dpdk, Kernel, Sockets};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::{
    env,
    ffi::OsString,
    io::{self, Write as _},
    process::ExitCode,
    sync::{Arc, atomic::AtomicBool},
};

/// The exit status if a step is invalid.
const INVALID: u8 = 3;

fn main() -> ExitCode {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    // Without `--`, all words are the program's own.
    let own = words.iter().position(|word| word == "--").map_or(0, |end| end + 1);
    let result = match parse(words[own..].iter().cloned()) {
        // A closed pipe is not an error.
        Ok(None) => {
            let _ = io::stdout().write_all(USAGE.as_bytes());
            Ok(true)
        }
        Ok(Some(options)) => start(&options),
        Err(error) => Err(error.into()),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(INVALID),
        Err(error) => error.report(),
    }
}

/// Returns whether all is valid.
fn start(options: &Options) -> Result<bool, Error> {
    match options.own {
        None => {
            limits::allow_files(options.connections)?;
            generate(options, Kernel::new().map_err(Error::failed)?, limits::kernel_reason)
        }
        Some(own) => {
            let (eal, _own_words) = Eal::init(EalOptions::from_command_line()).map_err(Error::failed)?;
            generate(options, Dpdk::new(&eal, own).map_err(Error::failed)?, limits::dpdk_reason)
        }
    }
}

fn generate<S: Sockets>(options: &Options, sockets: S, reason: fn(SocketAddr) -> String) -> Result<bool, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).map_err(Error::failed)?;
    }
    let mut load = Load::new(sockets, options, reason, stop)?;
    let opened_in_s = load.open_all()?;
    report::write_start(options, opened_in_s)?;

    let seed = |step| options.poisson.then(|| options.seed.wrapping_add(step as u64));
    let (mut outside, mut invalid, mut steps) = (Vec::new(), Vec::new(), 0);
    if options.warm_up > 0.0 {
        let record = load.step(0, at_start(options.rates[0]), options.warm_up, seed(0))?;
        outside.extend(record.faults().into_iter().map(|fault| format!("in the warm-up, {fault}")));
    }
    for (step, rate) in (1..).zip(&options.rates) {
        if load.is_stopped() {
            break;
        }
        let record = load.step(step, *rate, options.seconds, seed(step))?;
        report::write_step(step, *rate, &record, load.is_stopped())?;
        if !record.reasons().is_empty() {
            invalid.push(step);
        }
        steps = step;
    }
    if steps == 0 {
        outside.push("interrupted before the first step".to_owned());
    }
    let record = load.close_all()?;
    outside.extend(record.faults().into_iter().map(|fault| format!("at the end, {fault}")));
    report::write_result(steps, &invalid, &outside, load.totals(), load.is_stopped())?;
    Ok(invalid.is_empty() && outside.is_empty())
}

/// The rate with which a step begins.
const fn at_start(rate: Rate) -> Rate {
    match rate {
        Rate::Planned { from, .. } => Rate::Planned { from, to: from },
        Rate::Max => Rate::Max,
    }
}
