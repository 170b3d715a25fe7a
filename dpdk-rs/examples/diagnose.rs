// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Starts DPDK with the options of your program. Reports what DPDK found, or why it does not start and how to fix that.
//! Exits with 0 if all is well. The argument after `--` is the number of lcores that your program needs.
//!
//! ```sh
//! cargo run -p dpdk-rs --example diagnose -- -l 0-1 -a 0000:01:00.0 -- 2
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use dpdk_rs::{
    Eal, EalOptions, Mempool, PortError,
    diagnosis::{self, Finding},
};
use std::{fmt::Display, process::ExitCode};

fn main() -> ExitCode {
    let options = EalOptions::from_command_line();
    let args = options.words();
    let (eal, own_args) = match Eal::init(options) {
        Ok(started) => started,
        Err(error) => return explain(Some(&error), &diagnosis::of_start(&args, &error)),
    };
    let wanted = own_args.first().map_or(Ok(1), |lcores| lcores.parse());
    let Ok(wanted) = wanted else {
        eprintln!("diagnose: {own_args:?} is not a number of lcores: give one after --, or nothing");
        return ExitCode::from(2);
    };
    show(&eal);
    let mut findings = diagnosis::of_lcores(&args, &eal, wanted);
    findings.extend(diagnosis::of_ports(&args, &eal));
    let pool = Mempool::<()>::builder("diagnose").build(&eal);
    if let Err(error) = &pool {
        findings.extend(diagnosis::of_pool(&args, error));
    }
    explain(pool.err().as_ref(), &findings)
}

fn show(eal: &Eal) {
    println!("DPDK {}", dpdk_rs::dpdk_version());
    for lcore in eal.lcores() {
        println!("lcore {} on socket {}{}", lcore.id(), lcore.socket(), if lcore.is_main() { ", main" } else { "" });
    }
    println!("memory is in hugepages: {}", if eal.has_hugepages() { "yes" } else { "no" });
    for pages in diagnosis::hugepages() {
        let (size_kb, free, total) = (pages.size_kb, pages.free, pages.total);
        println!("hugepages of {size_kb} kB on socket {}: {free} of {total} are free", pages.socket);
    }
    for port in eal.ports() {
        let about = || Ok::<_, PortError>((port.info()?.driver, port.mac_addr()?));
        match about() {
            Ok((driver, mac_addr)) => println!("port {} ({}): {driver}, {mac_addr}", port.id(), port.name()),
            Err(error) => println!("{error}"),
        }
    }
}

/// Prints the error and the findings that explain it.
fn explain(error: Option<&impl Display>, findings: &[Finding]) -> ExitCode {
    if let Some(error) = error {
        eprintln!("diagnose: {error}");
    }
    for finding in findings {
        eprintln!("diagnose: found: {finding}");
    }
    match (error, findings) {
        (None, []) => ExitCode::SUCCESS,
        (Some(_), []) => {
            eprintln!("diagnose: found nothing that explains it: see DPDK's log above");
            ExitCode::FAILURE
        }
        _ => ExitCode::FAILURE,
    }
}
