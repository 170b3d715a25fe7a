// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Loom's atomics, of which loom tries every order of accesses.
//!
//! By itself loom 0.7 does not: a load hides the earlier accesses of other threads from a store that the same thread
//! makes later (loom's issues 166 and 392), and whole runs are left out. So each access here is preceded by one of a
//! second atomic, which neither loads nor stores alone. It orders nothing, and loom tries every order of these.

pub(crate) use loom::sync::atomic::{Ordering, fence};

macro_rules! atomic {
    ($name:ident: $type:ty) => {
        #[derive(Debug)]
        pub(crate) struct $name {
            turn: loom::sync::atomic::AtomicUsize,
            value: loom::sync::atomic::$name,
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new(Default::default())
            }
        }

        #[allow(dead_code, reason = "not every type is used for everything")]
        impl $name {
            pub(crate) fn new(value: $type) -> Self {
                Self { turn: loom::sync::atomic::AtomicUsize::new(0), value: loom::sync::atomic::$name::new(value) }
            }

            fn value(&self) -> &loom::sync::atomic::$name {
                self.turn.fetch_add(1, Ordering::Relaxed);
                &self.value
            }

            pub(crate) fn load(&self, order: Ordering) -> $type {
                self.value().load(order)
            }

            pub(crate) fn store(&self, value: $type, order: Ordering) {
                self.value().store(value, order);
            }

            pub(crate) fn swap(&self, value: $type, order: Ordering) -> $type {
                self.value().swap(value, order)
            }

            pub(crate) fn compare_exchange(
                &self,
                old: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                self.value().compare_exchange(old, new, success, failure)
            }
        }
    };
}

macro_rules! number {
    ($name:ident: $type:ty) => {
        atomic!($name: $type);

        #[allow(dead_code, reason = "not every type is used for everything")]
        impl $name {
            pub(crate) fn fetch_add(&self, value: $type, order: Ordering) -> $type {
                self.value().fetch_add(value, order)
            }

            pub(crate) fn fetch_sub(&self, value: $type, order: Ordering) -> $type {
                self.value().fetch_sub(value, order)
            }
        }
    };
}

atomic!(AtomicBool: bool);
number!(AtomicU16: u16);
number!(AtomicU64: u64);
number!(AtomicUsize: usize);
