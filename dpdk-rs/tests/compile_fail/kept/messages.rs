// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The promises about messages between processes, kept.
#![allow(dead_code)]

use dpdk_rs::message::{Handler, Message, Messages, Outgoing};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, Ordering},
};

fn main() {
    let _sent = message_too_long(&[0; 32]);
}

fn message_handler_borrows(messages: &Messages, lengths: Arc<Mutex<Vec<usize>>>) -> Handler {
    messages.on("program/count", move |message| lengths.lock().unwrap().push(message.bytes().len())).unwrap()
}

fn message_handler_not_send(messages: &Messages, count: Arc<AtomicU32>) -> Handler {
    messages
        .on("program/count", move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        })
        .unwrap()
}

fn message_answered_twice(requests: [Message; 2]) {
    for request in requests {
        request.reply(&Outgoing::empty()).unwrap();
    }
}

fn message_with_pointer<'a>(text: &&'a str) -> Outgoing<'a> {
    Outgoing::bytes(text.as_bytes()).unwrap()
}

fn message_too_long(value: &[u64; 32]) -> Outgoing<'_> {
    Outgoing::of(value)
}
