// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A request is answered once: a second reply would be one to the next request.

use dpdk_rs::message::{Message, Outgoing};

fn message_answered_twice(request: Message) {
    request.reply(&Outgoing::empty()).unwrap();
    request.reply(&Outgoing::empty()).unwrap();
}

fn main() {}
