// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Loom itself: that no order of accesses is left out.

use super::{explore, join};
use crate::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};
use std::{collections::BTreeSet, sync::Mutex};

/// What the first thread can read while the second one loads and stores.
#[test]
fn a_load_hides_nothing() {
    let seen: std::sync::Arc<Mutex<BTreeSet<usize>>> = std::sync::Arc::default();
    let all = std::sync::Arc::clone(&seen);
    explore(None, move || {
        let number = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&number);
        let thread = thread::spawn(move || {
            other.load(Relaxed);
            other.store(1, Relaxed);
            other.load(Relaxed);
            other.store(2, Relaxed);
        });
        all.lock().expect("nobody panics").insert(number.load(Relaxed));
        join(thread);
    });
    assert!(seen.lock().expect("nobody panics").iter().eq([&0, &1, &2]));
}
