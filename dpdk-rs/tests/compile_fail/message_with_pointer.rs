// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is sent to another process has no addresses of this one.

use dpdk_rs::message::Outgoing;

fn message_with_pointer<'a>(text: &'a &'static str) -> Outgoing<'a> {
    Outgoing::of(text)
}

fn main() {}
