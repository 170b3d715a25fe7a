// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A closure that DPDK calls back: one call at a time, and none after its removal.

use super::{dpdk::Shadow, explore, join};
use crate::{
    callback::Callbacks,
    sync::{Arc, thread},
};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

type Closures = Callbacks<u8, Box<dyn FnMut() + Send>>;

/// A closure that uses data without a lock.
fn using(data: &Arc<Shadow>) -> Box<dyn FnMut() + Send> {
    let data = Arc::clone(data);
    Box::new(move || data.write())
}

fn calling(closures: &Arc<Closures>) -> thread::JoinHandle<()> {
    let closures = Arc::clone(closures);
    thread::spawn(move || {
        closures.call(&1, |closure| closure());
    })
}

/// One call at a time, and after the removal the data is the remover's.
#[test]
fn removal_waits_for_calls() {
    explore(Some(4), || {
        let (closures, data) = (Arc::new(Closures::new()), Arc::new(Shadow::default()));
        assert!(closures.add(1, using(&data)));
        let callers = [calling(&closures), calling(&closures)];
        closures.remove(&1);
        data.write();
        callers.into_iter().for_each(join);
        assert_eq!(Arc::strong_count(&data), 1, "the closure is left");
    });
}

/// The key is used again: a late call may find the new closure, never the old one.
#[test]
fn a_key_is_used_again() {
    explore(Some(4), || {
        let (closures, data, later) =
            (Arc::new(Closures::new()), Arc::new(Shadow::default()), Arc::new(Shadow::default()));
        assert!(closures.add(1, using(&data)));
        let callers = [calling(&closures), calling(&closures)];
        closures.remove(&1);
        data.write();
        assert!(closures.add(1, using(&later)), "the key is free");
        closures.remove(&1);
        later.write();
        callers.into_iter().for_each(join);
    });
}

/// A closure that removes itself ends with the call in which it does, whoever else waits to call it.
#[test]
fn a_closure_removes_itself() {
    explore(None, || {
        let closures = Arc::new(Closures::new());
        let (own, removed) = (Arc::clone(&closures), AtomicBool::new(false));
        let (data, used) = (Arc::new(Shadow::default()), Arc::new(Shadow::default()));
        let mut using = using(&data);
        let kept = Arc::clone(&used);
        closures.add(
            1,
            Box::new(move || {
                assert!(!removed.swap(true, Relaxed), "the closure was called after its removal");
                using();
                own.remove(&1);
                kept.write();
            }),
        );
        let callers = [calling(&closures), calling(&closures)];
        callers.into_iter().for_each(join);
        assert_eq!(Arc::strong_count(&data), 1, "the closure is left");
        assert_eq!(Arc::strong_count(&closures), 1, "the closure is left");
    });
}

/// Two threads remove the same closure during its call: one of them waits for the call, and nobody waits for ever.
#[test]
fn two_threads_remove_a_closure() {
    explore(None, || {
        let (closures, data) = (Arc::new(Closures::new()), Arc::new(Shadow::default()));
        assert!(closures.add(1, using(&data)));
        let caller = calling(&closures);
        let other = Arc::clone(&closures);
        let remover = thread::spawn(move || other.remove(&1));
        closures.remove(&1);
        join(caller);
        join(remover);
        data.write();
        assert_eq!(Arc::strong_count(&data), 1, "the closure is left");
    });
}
