// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A service's closure runs on service cores: what it has captured may cross threads.

use dpdk_rs::{
    Eal,
    service::{Activity, Service},
};
use std::rc::Rc;

fn service_closure_not_send(eal: &Eal, text: Rc<str>) -> Service {
    let closure = move || if text.is_empty() { Activity::Idle } else { Activity::Busy };
    eal.register_service("reader", closure).unwrap()
}

fn main() {}
