// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A value is sent whole.

use dpdk_rs::message::Outgoing;

fn message_too_long(value: &[u64; 64]) -> Outgoing<'_> {
    Outgoing::of(value)
}

fn main() {
    let _sent = message_too_long(&[0; 64]);
}
