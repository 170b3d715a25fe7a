// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A handler may be called as long as it is kept, whatever becomes of the stack.

use dpdk_rs::message::{Handler, Messages};
use std::sync::Mutex;

fn message_handler_borrows(messages: &Messages, lengths: &Mutex<Vec<usize>>) -> Handler {
    messages.on("program/count", |message| lengths.lock().unwrap().push(message.bytes().len())).unwrap()
}

fn main() {}
