// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A handler is called on a thread of DPDK.

use dpdk_rs::message::{Handler, Messages};
use std::{cell::Cell, rc::Rc};

fn message_handler_not_send(messages: &Messages, count: Rc<Cell<u32>>) -> Handler {
    messages.on("program/count", move |_| count.set(count.get() + 1)).unwrap()
}

fn main() {}
