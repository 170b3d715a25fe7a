// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Each kernel over the same frames, so often: callgrind counts, and this says how often each was called.

use crate::{
    kernel::{Choice, Kernel},
    line::print_line,
    pool::{Pool, Residency},
};
use serde_json::json;
use std::error::Error;

/// Every frame of the workload, `passes` times; once where there is no rule, by which alone passes differ.
pub(crate) fn run(choice: &Choice, passes: usize) -> Result<(), Box<dyn Error>> {
    for cell in choice.cells() {
        let passes = if matches!(cell.kernel, Kernel::Reader(_)) { 1 } else { passes };
        let mut pool = Pool::of_every_frame(cell.workload)?;
        let mut accepted = 0;
        for _ in 0..passes {
            accepted += pool.pass(cell.kernel, Residency::Hot);
        }
        print_line(&json!({
            "type": "counted",
            "library": cell.library,
            "workload": cell.workload.to_string(),
            "symbol": cell.symbol,
            "frames": passes * pool.frames(),
            "accepted": accepted,
        }));
    }
    Ok(())
}
