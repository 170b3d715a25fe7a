// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Random sequences of safe calls: whatever is called in whatever order, nothing crashes, nothing leaks, nothing is
//! written to where it does not belong.
//!
//! A sequence (`operation.rs`) is drawn from its number, and carried out in a process with an EAL (`world.rs`): pools of
//! several types and sizes, virtual devices that are attached at run time, packets, bursts, queues, closures on lcores,
//! service cores and threads, tables of all kinds, rings, zones, timers, telemetry commands, panics, `mem::forget`, drops in
//! any order. Beside every object lies a model of it (`model.rs`), and after every step the two are compared: the bytes of
//! each packet, the mbufs in each pool, the frames in each ring. At the end everything is dropped, and DPDK's memory must be
//! what it was before.
//!
//! `DPDK_RS_SEQUENCES=N` says how many sequences, `DPDK_RS_SEED=S` with which number to begin. One that fails is made smaller,
//! as long as it still fails, and printed with its number S: `DPDK_RS_SEQUENCES=1 DPDK_RS_SEED=S` runs it again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod acts;
mod asks;
#[allow(dead_code, reason = "shared with the tests of the folder `eal`")]
#[path = "../eal/buckets.rs"]
mod buckets;
mod bursts;
mod campaign;
mod child;
mod combinations;
mod commands;
mod context;
mod devices;
mod flows;
mod fragments;
#[allow(dead_code, reason = "shared with the tests of the folder `eal`")]
#[path = "../eal/frames.rs"]
mod frames;
mod holders;
mod hops;
mod jobs;
mod laboratory;
mod lists;
mod marks;
mod meters;
mod model;
mod names;
mod operation;
mod other;
#[allow(dead_code, reason = "shared with the tests of the folder `eal`")]
#[path = "../eal/others.rs"]
mod others;
mod owners;
mod packets;
mod pages;
mod pinned;
mod plugs;
mod ports;
#[allow(dead_code, reason = "shared with the tests of the folder `eal`")]
#[path = "../eal/process.rs"]
mod process;
mod processes;
mod queues;
mod raw;
mod requests;
mod routes;
mod services;
mod shelf;
mod shifts;
mod singles;
mod splits;
mod streams;
mod tables;
mod timers;
mod windows;
mod world;
mod zones;

use std::env;

#[global_allocator]
static ALLOCATOR: raw::Counting = raw::Counting;

/// Above this, a sequence's number would not fit into the names of its rings.
const LAST: u64 = 9_999_999;

/// How many sequences without being asked for a number: about 20 seconds' worth.
const SEQUENCES: u64 = 2_000;

#[test]
fn random_sequences() {
    child::run_if_asked();
    let (seed, count) = sequences();
    campaign::run(seed, count);
}

/// The number of the first sequence, and how many.
fn sequences() -> (u64, u64) {
    let count = number("DPDK_RS_SEQUENCES").unwrap_or(SEQUENCES);
    let seed = number("DPDK_RS_SEED").unwrap_or(1);
    let last = seed.saturating_add(count);
    assert!(last <= LAST, "DPDK_RS_SEED={seed} and {count} sequences: numbers go up to {LAST}");
    (seed, count)
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|error| panic!("{variable}={text}: {error}")))
}
