// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The page of the origin (testbed/testbed/services/origin.py).

use std::sync::LazyLock;

/// 320 lines of 32 bytes.
pub(super) static PAGE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let lines = (0..320).map(|line| format!("{line:03}  abcdefghijklmnopqrstuvwxyz\n"));
    lines.collect::<String>().into_bytes()
});
