// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Why the program cannot continue.

use core::time::Duration;
use std::{fmt::Display, io::Write as _, process::ExitCode};

/// An error as the user sees it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command line is wrong on every machine.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// The machine or a device does not allow what the command line requests.
    #[error("{0}")]
    Failed(String),
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum UsageError {
    #[error("invalid value '{value}' for --{option}: give {expected}")]
    Value { option: &'static str, value: String, expected: &'static str },
    #[error("invalid value '{0}' for --seed: give a number from 0 to 18446744073709551615")]
    Seed(String),
    #[error("--jitter {jitter:?} is longer than --delay {delay:?}: give a jitter up to the delay")]
    Jitter { jitter: Duration, delay: Duration },
    #[error("unexpected argument '{0}'")]
    Unexpected(String),
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
        let _ = writeln!(stderr, "impair: {self}");
        match self {
            Self::Usage(_) => {
                let _ = writeln!(stderr, "Run with '-- --help' for the options.");
                ExitCode::from(2)
            }
            Self::Failed(_) => ExitCode::FAILURE,
        }
    }
}
