// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Failures of a start, each provoked for real in a process of its own, and what the example `diagnose` finds.
//! Those that need a NIC are provoked in a virtual machine, by `testbed/tests/test_diagnosis_vm.py`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod devices;
mod diagnose;
mod drivers;
mod lcores;
mod memory;
mod prefixes;
#[path = "../eal/process.rs"]
#[allow(dead_code, reason = "the tests of the EAL use the rest")]
mod process;
