// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Who waits until when.

use crate::time::Time;
use core::task::Waker;
use std::collections::BTreeMap;

/// Who waits until when. Time-outs are taken back far more often than they come, so this is a tree and not a wheel,
/// which would keep them until their time.
#[derive(Default)]
pub(super) struct Timers {
    waiting: BTreeMap<Key, Waker>,
    /// The number of the next one, which tells those of one time apart.
    next: u64,
}

/// A time, and a number.
pub(super) type Key = (Time, u64);

impl Timers {
    /// A timer whose time has come.
    pub(super) fn due(&mut self, now: Time) -> Option<Waker> {
        let first = self.waiting.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    /// For something that waits until then.
    pub(super) const fn key(&mut self, at: Time) -> Key {
        self.next += 1;
        (at, self.next)
    }

    /// Returns the waker that this one replaces.
    pub(super) fn insert(&mut self, key: Key, waker: &Waker) -> Option<Waker> {
        self.waiting.insert(key, waker.clone())
    }

    pub(super) fn remove(&mut self, key: Key) -> Option<Waker> {
        self.waiting.remove(&key)
    }
}
