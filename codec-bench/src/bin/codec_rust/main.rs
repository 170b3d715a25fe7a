// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! `codec-rust`: rounds of a case, with a library in Rust. `codec-cpp` has the same command line.

#![forbid(unsafe_code)]

mod exchange_files;
mod line;
mod options;
mod peer;
mod rounds;
mod served;

use std::{
    error::Error,
    io::{stdin, stdout},
    process::ExitCode,
};

use codec_bench::{contract::Part, libraries::LIBRARIES};
use serde_json::json;

use crate::{
    line::print_line,
    options::{Command, Options},
};

fn main() -> ExitCode {
    match Options::parse() {
        Err(error) => {
            eprintln!("codec-rust: {error}: see codec-bench/README.md");
            ExitCode::from(2)
        }
        Ok(options) => match run(&options) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("codec-rust: {error}");
                ExitCode::FAILURE
            }
        },
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    match options.command {
        Command::List => {
            for library in &LIBRARIES {
                print_line(&json!({
                    "library": library.name,
                    "what": library.what,
                    "objects": library.has_objects,
                    "bytes": library.has_bytes,
                    "packs": library.packs,
                }));
            }
        }
        Command::Run => {
            let mut rounds = rounds::Rounds::start(options)?;
            rounds.run(options.rounds)?;
            print_line(&rounds.told()?);
        }
        Command::Serve => served::serve(rounds::Rounds::start(options)?, stdin())?,
        Command::Answer => peer::answer(options.exchange())?,
        Command::Write => exchange_files::write(options.exchange(), options.rounds, stdout().lock())?,
        Command::Read => {
            let digests = exchange_files::read(options.exchange(), stdin().lock())?;
            let name = |part| format!("{:016x}", digests[part as usize].value());
            print_line(&json!({"requests": name(Part::Request), "responses": name(Part::Response)}));
        }
    }
    Ok(())
}
