// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Random sequences of two processes: what the primary one makes, the secondary one finds or does not, packets go from one to the
//! other and back, and secondary ones end, exit in the middle of it, and are killed.
//!
//! A model says where each mbuf is: held here, held there, in a ring, or lost with a process. One primary process serves many
//! sequences, and one secondary process many steps, since processes are what takes time.

use crate::{
    child, context,
    laboratory::{Laboratory, POOLS, RINGS, ZONES},
    other,
    others::{lacks_hugepages, primary},
    process::isolated_bare_cases,
    sequences,
};
use dpdk_rs::{Mempool, PortConfig};
use proptest::{
    collection::vec,
    prelude::*,
    strategy::{Strategy, ValueTree},
};
use proptest_derive::Arbitrary;
use std::collections::BTreeMap;

/// One such sequence for so many of the others.
const RARENESS: u64 = 500;

/// A primary process carries out no more than this many.
const BATCH: u64 = 50;

/// An operation that is drawn so often must have been carried out at least once.
const OFTEN: usize = 40;

/// What is done, in the primary process (`here`) or in the secondary one. What there is nothing for is left out.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Deed {
    #[proptest(weight = 12)]
    Attach,
    /// The secondary process drops all that it has, and ends.
    End,
    /// It ends with all that it has.
    Exit,
    Kill,
    #[proptest(weight = 4)]
    MakePool(#[proptest(strategy = "0..POOLS")] u8),
    DropPool(#[proptest(strategy = "0..POOLS")] u8),
    #[proptest(weight = 5)]
    FindPool(#[proptest(strategy = "0..POOLS")] u8),
    #[proptest(weight = 2)]
    DropFoundPool(#[proptest(strategy = "0..POOLS")] u8),
    #[proptest(weight = 5)]
    MakeRing(#[proptest(strategy = "0..RINGS")] u8),
    DropRing(#[proptest(strategy = "0..RINGS")] u8),
    #[proptest(weight = 5)]
    FindRing(#[proptest(strategy = "0..RINGS")] u8),
    MakeZone(#[proptest(strategy = "0..ZONES")] u8, u8),
    DropZone(#[proptest(strategy = "0..ZONES")] u8),
    #[proptest(weight = 2)]
    FindZone(#[proptest(strategy = "0..ZONES")] u8),
    FindPorts,
    DropPorts,
    #[proptest(weight = 12)]
    Alloc {
        here: bool,
        pool: u8,
        #[proptest(strategy = "0_u8..64")]
        len: u8,
    },
    #[proptest(weight = 3)]
    Flip {
        here: bool,
        packet: u8,
    },
    #[proptest(weight = 4)]
    Drop {
        here: bool,
        packet: u8,
    },
    #[proptest(weight = 16)]
    Put {
        here: bool,
        ring: u8,
        packet: u8,
    },
    #[proptest(weight = 12)]
    Take {
        here: bool,
        ring: u8,
    },
}

/// Something to begin with, then anything.
fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let beginning = [Deed::MakePool(0), Deed::MakeRing(0), Deed::Attach, Deed::FindPool(0), Deed::FindRing(0)];
    vec(any::<Deed>(), 60..160).prop_map(move |rest| beginning.into_iter().chain(rest).collect())
}

#[test]
fn random_processes() {
    if lacks_hugepages() {
        return;
    }
    let (seed, count) = sequences();
    let end = seed + count.div_ceil(RARENESS).max(1);
    let batches = (end - seed).div_ceil(BATCH) as usize;
    let outputs = isolated_bare_cases(&[], batches, |case| {
        if case == other::CASE {
            other::serve();
        }
        let first = seed + case as u64 * BATCH;
        carry_out(first, end.min(first + BATCH));
    });
    outputs.iter().flat_map(|output| output.lines()).filter(|line| line.contains("of processes")).for_each(|line| {
        println!("{line}");
    });
}

/// In a primary process: carries out sequences.
fn carry_out(first: u64, end: u64) {
    let eal = primary(&["net_ring0"]);
    let frames: Mempool = Mempool::builder("port").size(63).cache(0).build(&eal).unwrap();
    let port = eal.ports().remove(0).configure(&PortConfig::default(), &frames).unwrap();
    let _started = port.start().unwrap();
    let listener = other::listen();
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for number in first..end {
        let tree = deeds().new_tree(&mut child::runner(number)).expect("the strategy has no conditions");
        let mut laboratory = Laboratory::new(&eal, &listener, number);
        // Shown if one of them fails.
        eprintln!("sequence of processes {number} (DPDK_RS_SEQUENCES=1 DPDK_RS_SEED={number})");
        for deed in tree.current() {
            eprintln!("  {deed:?}");
            let done = laboratory.apply(deed);
            laboratory.verify();
            let count = counts.entry(context::name(&deed).to_string()).or_default();
            *count = (count.0 + 1, count.1 + usize::from(done));
        }
        laboratory.end();
    }
    for (name, (drawn, done)) in &counts {
        assert!(*drawn < OFTEN || *done > 0, "{name} was drawn {drawn} times, and never carried out");
    }
    println!("\n{} sequences of processes from {first} on: {counts:?}", end - first);
}
