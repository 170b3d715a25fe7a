// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors
#![allow(clippy::print_stdout)]

//! The adder on the kernel's sockets or on dpdk-sockets: see `--help`.
#![forbid(unsafe_code)]

use services::adder::Server;
use services::program::{Either, Options, USAGE, start, stop_flag};
use services::sockets::Sockets;
use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("adder: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let Some((sockets, options)) = start()? else {
        print!("{}", USAGE.replace("PROGRAM", "adder"));
        return Ok(());
    };
    let stop = stop_flag()?;
    println!("adder: {}", options.place);
    match sockets {
        Either::Kernel(sockets) => serve(sockets, &options, &stop),
        Either::Dpdk(sockets, _eal) => serve(*sockets, &options, &stop),
    }
}

fn serve<S: Sockets>(sockets: S, options: &Options, stop: &AtomicBool) -> Result<(), Box<dyn Error>> {
    let mut server = Server::new(sockets, options.timeout);
    while !stop.load(Relaxed) {
        server.poll()?;
    }
    println!("adder: {} requests answered", server.answered());
    Ok(())
}
