// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Why the program cannot continue.

use std::{fmt::Display, io::Write as _, process::ExitCode};

/// An error as the user sees it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// The command line is wrong on every machine.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// The machine, a device or a file does not allow what the command line requests.
    #[error("{0}")]
    Failed(String),
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UsageError {
    #[error("no ports: give the ports to use with --ports, for example --ports 0,1")]
    NoPorts,
    #[error("invalid value '{value}' for {option}: give {expected}")]
    Value { option: &'static str, value: String, expected: String },
    #[error(
        "--size has frames of {size} bytes, too short for these headers and the mark of a frame: give {least} or more"
    )]
    TooShort { size: u16, least: usize },
    #[error("--src-ip and --dst-ip are of different IP versions: give both as IPv4, or both as IPv6")]
    IpVersions,
    #[error("--src-ip has several IPv6 addresses: give one, since with IPv6 the destinations vary")]
    SourceVaries,
    #[error(
        "--flows asks for {flows} flows, and the ranges of addresses and ports make {most}: give longer ranges, or fewer"
    )]
    Flows { flows: u64, most: u128 },
    #[error("port {port} appears twice in --ports {value}: give one port, or different ports")]
    PortTwice { port: u16, value: String },
    #[error("--bidirectional needs two ports or more: give them with --ports, for example --ports 0,1")]
    BidirectionalAlone,
    #[error("--reverse-share needs two directions with a rate: give --bidirectional and --rate, for example --rate 1M")]
    ReverseAlone,
    #[error("--then needs a first load with a rate and a duration: give --rate, for example --rate 1M, and no --count")]
    ThenAlone,
    #[error("--duration and --count exclude each other: give only one of them")]
    DurationAndCount,
    #[error("--{option} has {given} MAC addresses for {ports} {role} port{}: give one for each", if *ports == 1 { "" } else { "s" })]
    MacCount { option: &'static str, given: usize, ports: usize, role: &'static str },
    #[error("unknown option '{0}'")]
    Unknown(String),
    #[error("option '{0}' needs a value")]
    NoValue(String),
    #[error("option '{0}' takes no value")]
    NeedsNoValue(String),
    #[error("unexpected argument '{0}'")]
    Unexpected(String),
}

impl Error {
    /// An error with the message of another part of the program, or of a library.
    pub(crate) fn failed(error: impl Display) -> Self {
        Self::Failed(error.to_string())
    }

    /// Prints the error to stderr and returns the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        // If stderr is closed, nobody can read the error.
        let mut stderr = std::io::stderr();
        let _ = writeln!(stderr, "generator: {self}");
        match self {
            Self::Usage(_) => {
                let _ = writeln!(stderr, "Run with '-- --help' for the options.");
                ExitCode::from(2)
            }
            Self::Failed(_) => ExitCode::FAILURE,
        }
    }
}

/// Prints a warning to stderr. The program continues.
pub(crate) fn warn(message: impl Display) {
    let _ = writeln!(std::io::stderr(), "generator: warning: {message}");
}
