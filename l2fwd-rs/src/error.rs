// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Why the program cannot continue. The messages are those of l2fwd-c.

use dpdk_rs::{Errno, lcore};
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
    #[error("no port mask: give the ports to use with -p, for example -p 0x3")]
    NoPortMask,
    #[error("invalid port mask '{0}': give a hexadecimal number, for example 0x3")]
    PortMask(String),
    #[error("port mask '{0}' selects no port")]
    EmptyPortMask(String),
    #[error("invalid value '{value}' for {option}: give a number from {min} to {max}")]
    Number { value: String, option: &'static str, min: u32, max: u32 },
    #[error("invalid port map '{0}': give pairs of port numbers, for example (0,1),(2,3)")]
    PortMap(String),
    #[error("port map '{map}' uses port {port} twice")]
    PortTwice { map: String, port: u16 },
    #[error("port map '{map}' names port {port}, which is not in port mask {mask:#x}")]
    PortOutside { map: String, port: u16, mask: u64 },
    #[cfg(feature = "rewrite")]
    #[error(
        "invalid value '{0}' for --rewrite: give smoltcp, pnet, etherparse, zerocopy or raw, \
         then :w1, :w2 or :w3 if wanted"
    )]
    Rewrite(String),
    #[error("unknown option '{0}'")]
    Unknown(String),
    #[error("option '{0}' needs a value")]
    NoValue(&'static str),
    #[error("option '{0}' takes no value")]
    Value(&'static str),
    #[error("unexpected argument '{0}'")]
    Unexpected(String),
}

impl Error {
    /// An error with the message of another part of the program, or of the library.
    pub(crate) fn failed(error: impl Display) -> Self {
        Self::Failed(error.to_string())
    }

    /// Prints the error to stderr and returns the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        // If stderr is closed, nobody can read the error.
        match self {
            Self::Usage(error) => {
                let _ = writeln!(std::io::stderr(), "l2fwd: {error}\nRun with '-- --help' for the options.");
                ExitCode::from(2)
            }
            Self::Failed(message) => {
                let _ = writeln!(std::io::stderr(), "l2fwd: {message}");
                ExitCode::FAILURE
            }
        }
    }
}

impl From<lcore::Panicked> for Error {
    fn from(error: lcore::Panicked) -> Self {
        Self::failed(error)
    }
}

impl From<lcore::LaunchError> for Error {
    fn from(error: lcore::LaunchError) -> Self {
        Self::failed(error)
    }
}

/// A system error in the words of l2fwd-c.
pub(crate) fn io_error(error: &std::io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), |number| Errno::new(number).to_string())
}

/// Prints a warning to stderr. The program continues.
pub(crate) fn warn(message: impl Display) {
    let _ = writeln!(std::io::stderr(), "l2fwd: warning: {message}");
}
