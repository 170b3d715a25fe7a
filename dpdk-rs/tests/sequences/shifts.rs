// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a sequence has lcores and threads do, as plain data.

use crate::operation::{Act, mask};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;

/// Closures that run while the caller goes on.
#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct Work {
    pub(crate) outer: Shift,
    /// In a scope of its own, inside the closure of the outer one.
    #[proptest(strategy = "prop_oneof![3 => Just(None), 1 => any::<Shift>().prop_map(Some)]")]
    pub(crate) inner: Option<Shift>,
}

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct Shift {
    #[proptest(strategy = "vec(any::<Job>().boxed(), 0..4)")]
    pub(crate) jobs: Vec<Job>,
    #[proptest(strategy = "vec(any::<Act>(), 0..6)")]
    pub(crate) meanwhile: Vec<Act>,
    /// The closure of the scope itself panics, with some objects in hand.
    #[proptest(strategy = "prop_oneof![6 => Just(None), 1 => mask().prop_map(Some)]")]
    pub(crate) panic: Option<u32>,
}

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct Job {
    pub(crate) place: Place,
    /// Which objects it takes along.
    #[proptest(strategy = "mask()")]
    pub(crate) mask: u32,
    #[proptest(strategy = "vec(any::<Act>(), 0..8)")]
    pub(crate) acts: Vec<Act>,
    pub(crate) outcome: Outcome,
    pub(crate) handle: Handle,
    /// Launches one more job, from its lcore.
    #[proptest(strategy = "prop_oneof![6 => Just(None), 1 => any::<Errand>().prop_map(Some)]")]
    pub(crate) errand: Option<Errand>,
}

/// A job that a job launches.
#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct Errand {
    #[proptest(strategy = "0_u8..3")]
    pub(crate) lcore: u8,
    #[proptest(strategy = "mask()")]
    pub(crate) mask: u32,
    #[proptest(strategy = "vec(any::<Act>(), 0..4)")]
    pub(crate) acts: Vec<Act>,
    pub(crate) outcome: Outcome,
    pub(crate) handle: Handle,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Place {
    /// 0 is the main lcore.
    #[proptest(weight = 4)]
    Lcore(#[proptest(strategy = "prop_oneof![1 => Just(0_u8), 9 => Just(1), 9 => Just(2)]")] u8),
    /// A thread that the EAL did not make.
    #[proptest(weight = 1)]
    Thread,
    /// Such a thread, which makes itself an lcore.
    #[proptest(weight = 1)]
    Registered,
}

/// How a closure ends.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    #[proptest(weight = 6)]
    Return,
    #[proptest(weight = 2)]
    Panic,
    /// Returns a value that panics when it is dropped.
    #[proptest(weight = 1)]
    ReturnBomb,
}

/// What becomes of the handle of a closure.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handle {
    #[proptest(weight = 3)]
    Join,
    /// Joined after the closure of the scope has done its work.
    #[proptest(weight = 6)]
    JoinLate,
    #[proptest(weight = 2)]
    Drop,
    #[proptest(weight = 1)]
    Forget,
}
