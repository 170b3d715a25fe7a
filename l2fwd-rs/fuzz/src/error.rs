// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The program's errors, with warnings kept instead of printed.

#[allow(dead_code)]
#[path = "../../src/error.rs"]
mod original;

pub(crate) use original::{Error, UsageError};

use std::{cell::RefCell, fmt::Display};

thread_local! {
    static WARNINGS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn warn(message: impl Display) {
    WARNINGS.with_borrow_mut(|warnings| warnings.push(message.to_string()));
}

/// The warnings since the last call.
pub(crate) fn take_warnings() -> Vec<String> {
    WARNINGS.take()
}
