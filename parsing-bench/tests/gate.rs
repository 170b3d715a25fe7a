// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The verdicts of the gate, which are checked in: that of every library of the registry, and no others.
//!
//! `PARSING_GATE_RENEW=1` writes them anew; `PARSING_GATE_FRAMES` and `PARSING_GATE_SEED` draw other frames.
#![forbid(unsafe_code)]
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

use parsing_bench::{
    contract::Workload,
    gate::{FRAMES, Outcome, SEED, Trial, judge},
    impls::LIBRARIES,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, env, fs, path::PathBuf, thread};

/// By library and workload.
type Verdicts = BTreeMap<String, BTreeMap<String, Checked>>;

/// What is checked in of a verdict.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
struct Checked {
    outcome: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("gate.json")
}

fn checked_in() -> Verdicts {
    let text = fs::read_to_string(file()).expect("gate.json is there");
    serde_json::from_str(&text).expect("gate.json holds verdicts")
}

fn number<T: std::str::FromStr>(name: &str, usual: T) -> T {
    match env::var(name) {
        Err(_) => usual,
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number: give a whole one")),
    }
}

/// A workload's verdict on every library.
fn verdicts(workload: Workload) -> Vec<(&'static str, Checked)> {
    let trial = Trial::new(workload, number("PARSING_GATE_FRAMES", FRAMES), number("PARSING_GATE_SEED", SEED));
    let judged = LIBRARIES.iter().map(|library| {
        let verdict = judge(library, &trial);
        (library.name, Checked { outcome: verdict.outcome.to_string(), reason: verdict.reason() })
    });
    judged.collect()
}

#[test]
fn every_verdict_is_the_one_that_is_checked_in() {
    let judged = thread::scope(|scope| {
        let workers = Workload::ALL.map(|workload| scope.spawn(move || (workload, verdicts(workload))));
        workers.map(|worker| worker.join().expect("the gate itself does not panic"))
    });
    let mut found = Verdicts::new();
    for (workload, verdicts) in judged {
        for (library, verdict) in verdicts {
            found.entry(library.into()).or_default().insert(workload.to_string(), verdict);
        }
    }
    if env::var_os("PARSING_GATE_RENEW").is_some() {
        let text = serde_json::to_string_pretty(&found).expect("verdicts become JSON") + "\n";
        fs::write(file(), text).expect("gate.json can be written");
        return;
    }
    let expected = checked_in();
    let mut changes = vec![];
    for (library, verdicts) in &found {
        for (workload, verdict) in verdicts {
            let known = expected.get(library).and_then(|verdicts| verdicts.get(workload));
            if is_of_this_machine(library, verdict) {
                println!("skipped: {library} {workload}: {}", verdict.reason.clone().unwrap_or_default());
            } else if known.map(|known| &known.outcome) != Some(&verdict.outcome) {
                changes.push(format!("{library} {workload}: {verdict:?}, and gate.json says {known:?}"));
            }
        }
    }
    assert!(changes.is_empty(), "see the head of this file for how to renew gate.json:\n{}", changes.join("\n"));
}

/// C is judged where there is a compiler for it, and DPDK's headers.
fn is_of_this_machine(library: &str, verdict: &Checked) -> bool {
    matches!(library, "c-gcc" | "c-clang") && verdict.outcome == Outcome::Cannot.to_string()
}

#[test]
fn the_registry_and_the_checked_in_verdicts_name_the_same() {
    if env::var_os("PARSING_GATE_RENEW").is_some() {
        println!("skipped: the verdicts are being written anew");
        return;
    }
    let expected = checked_in();
    let known: Vec<&str> = expected.keys().map(String::as_str).collect();
    let mut built: Vec<&str> = LIBRARIES.iter().map(|library| library.name).collect();
    built.sort_unstable();
    if cfg!(feature = "libraries") {
        assert_eq!(known, built);
    } else {
        assert!(built.iter().all(|name| known.contains(name)), "{built:?} and {known:?}");
    }
    for (library, verdicts) in &expected {
        let workloads: Vec<String> = Workload::ALL.iter().map(ToString::to_string).collect();
        assert_eq!(verdicts.keys().cloned().collect::<Vec<_>>(), workloads, "{library}");
    }
}
