// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Why the program cannot continue.

use std::{fmt::Display, io::Write as _, process::ExitCode};

/// An error as the user sees it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command line is wrong on every machine.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// The machine or the service does not allow what the command line requests.
    #[error("{0}")]
    Failed(String),
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum UsageError {
    #[error("give kernel, a service, its address and its port, or dpdk, OWN/PREFIX and the same")]
    Place,
    #[error("'{0}' is no kind of sockets: give kernel or dpdk")]
    Sockets(String),
    #[error("invalid value '{value}' for {option}: give {expected}")]
    Value { option: &'static str, value: String, expected: &'static str },
    #[error("{0} excludes {1}: give one of them")]
    Exclusive(&'static str, &'static str),
    #[error("--poisson needs planned times: give --ramp, or --rate with numbers only")]
    PoissonWithoutRate,
    #[error("--size is for echo: leave it out for other services")]
    SizeWithoutEcho,
    #[error(transparent)]
    Line(#[from] lexopt::Error),
}

impl Error {
    /// An error with the message of a library.
    pub(crate) fn failed(error: impl Display) -> Self {
        Self::Failed(error.to_string())
    }

    /// Prints the error to stderr and returns the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        // If stderr is closed, nobody can read the error.
        let mut stderr = std::io::stderr();
        let _ = writeln!(stderr, "load: {self}");
        match self {
            Self::Usage(_) => {
                let _ = writeln!(stderr, "Run with '--help' for the options.");
                ExitCode::from(2)
            }
            Self::Failed(_) => ExitCode::FAILURE,
        }
    }
}
