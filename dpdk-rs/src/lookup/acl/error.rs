// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Errors of access control lists.

use crate::{CreateError, Errno};

/// Why an access control list was not created, or inputs were not classified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AclError {
    /// DPDK cannot read a field where its definition places it.
    #[error("field {index}: {reason}")]
    Field {
        /// The index of the field, from 0.
        index: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A rule contains an impossible requirement.
    #[error("rule {index}: {reason}")]
    Rule {
        /// The index of the rule, from 0.
        index: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// An input is shorter than the fields require.
    #[error("input {index} has {len} bytes: the fields need {needed}")]
    Input {
        /// The index of the input, from 0.
        index: usize,
        /// Its length in bytes.
        len: usize,
        /// The required length in bytes ([`Acl::input_len`](super::Acl::input_len)).
        needed: usize,
    },
    /// The list was not created.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// A DPDK call failed.
    #[error("{call}: {errno}")]
    Call {
        /// The name of the DPDK function.
        call: &'static str,
        /// `EINVAL` for a list without rules, `ENOMEM` for a list that needs more memory than is available, …
        errno: Errno,
    },
}

impl AclError {
    /// DPDK's error, if a DPDK call failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        match self {
            Self::Call { errno, .. } => Some(*errno),
            Self::Create(error) => error.errno(),
            _ => None,
        }
    }

    /// The name of the DPDK function that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        match self {
            Self::Call { call, .. } => Some(call),
            Self::Create(error) => error.call(),
            _ => None,
        }
    }

    pub(super) fn check_call(call: &'static str, result: i32) -> Result<(), Self> {
        Errno::check(result).map(drop).map_err(|errno| Self::Call { call, errno })
    }
}
