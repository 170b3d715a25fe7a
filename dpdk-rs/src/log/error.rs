// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Errors of the log.

/// Why the log was not changed as requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The pattern contains a NUL byte.
    #[error("pattern {0:?} of log types contains a NUL byte")]
    Pattern(String),
    /// Too little memory for the pattern, or for the stream to `tracing`.
    #[error("no memory is left for the log")]
    NoMemory,
}
