// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The program that `./x bench parsing` builds for each variant of the matrix, and measures.
//!
//! - `list` says which libraries are in it, and what is to be known of them.
//! - `count` runs each kernel over the same frames, for callgrind.
//! - `serve` runs bursts of 32 frames as it is told on stdin, and tells how long they took: `parsing-timer` asks.
//!
//! All of them print one JSON object a line. The kernels are called through the table of the crate, so that what is
//! timed and counted is the function whose machine code can be looked at: `objdump --disassemble=pb_w2_smoltcp`.
#![deny(unsafe_code)]

mod count;
mod frames;
mod kernel;
mod line;
mod list;
mod options;
mod pool;
mod prefetch;
mod serve;

use line::print_line;
use options::{Mode, Options};
use serde_json::json;
use std::{error::Error, io::stdin, process::ExitCode};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("measure: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let Options { mode, choice } = Options::parse()?;
    match mode {
        Mode::List => list::print(),
        Mode::Count { passes } => count::run(&choice, passes)?,
        Mode::Serve => serve::run(stdin().lock())?,
    }
    // A reader knows by this that nothing is missing.
    print_line(&json!({ "type": "end" }));
    Ok(())
}
