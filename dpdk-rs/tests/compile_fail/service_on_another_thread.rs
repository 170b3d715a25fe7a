// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A service stays on its thread, so that its closure cannot wait for itself.

use dpdk_rs::service::Service;
use std::thread;

fn service_on_another_thread(service: Service) {
    thread::spawn(move || drop(service));
}

fn main() {}
