// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The gate's verdicts, as a table or as JSON.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a program's output")]

use lexopt::{Arg, Parser, ValueExt};
use parsing_bench::{
    contract::Workload,
    gate::{CATCHES_PANICS, FRAMES, Outcome, SEED, Trial, Verdict, judge},
    impls::{Entry, LIBRARIES, find},
};
use serde::Serialize;
use std::{collections::BTreeMap, process::ExitCode};

const HELP: &str = "\
usage: parsing-gate [OPTIONS]

Checks every library on mutants and random frames, and prints the verdicts. The exit status is 0 whatever the verdicts
are.

  --json               print JSON, with the results for every class of bad input
  --libs A,B           check only these libraries
  --workload W2        check only this workload; repeatable
  --frames N           random frames per workload; default 100000
  --seed N             seed of the random frames
  -h, --help           print this text";

/// What the command line asks for.
struct Wanted {
    json: bool,
    libraries: Vec<&'static Entry>,
    workloads: Vec<Workload>,
    frames: usize,
    seed: u64,
}

/// `--json` prints this.
#[derive(Serialize)]
struct Record {
    schema_version: u32,
    /// For each workload.
    drawn: usize,
    seed: u64,
    mutants: BTreeMap<String, usize>,
    /// By library and workload.
    verdicts: BTreeMap<&'static str, BTreeMap<String, Verdict>>,
}

fn main() -> ExitCode {
    let wanted = match arguments(Parser::from_env()) {
        Ok(Some(wanted)) => wanted,
        Ok(None) => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => return fail(&format!("{error}: see --help")),
    };
    if !CATCHES_PANICS {
        return fail("built with panic=abort, so that the first panic would end it: build it with panic=unwind");
    }
    let record = judged(&wanted);
    if wanted.json {
        match serde_json::to_string_pretty(&record) {
            Ok(text) => println!("{text}"),
            Err(error) => return fail(&format!("cannot write the verdicts: {error}")),
        }
    } else {
        print_table(&record);
    }
    ExitCode::SUCCESS
}

fn fail(message: &str) -> ExitCode {
    eprintln!("parsing-gate: error: {message}");
    ExitCode::from(2)
}

fn judged(wanted: &Wanted) -> Record {
    let mut record = Record {
        schema_version: 1,
        drawn: wanted.frames,
        seed: wanted.seed,
        mutants: BTreeMap::new(),
        verdicts: BTreeMap::new(),
    };
    for workload in &wanted.workloads {
        let trial = Trial::new(*workload, wanted.frames, wanted.seed);
        record.mutants.insert(workload.to_string(), trial.mutants());
        for library in &wanted.libraries {
            let verdicts = record.verdicts.entry(library.name).or_default();
            verdicts.insert(workload.to_string(), judge(library, &trial));
        }
    }
    record
}

fn print_table(record: &Record) {
    let width = record.verdicts.keys().map(|name| name.len()).max().unwrap_or(0);
    for (library, verdicts) in &record.verdicts {
        for (workload, verdict) in verdicts {
            let reason = verdict.reason().map_or_else(String::new, |reason| format!(": {reason}"));
            println!("{library:width$}  {workload}  {}{reason}", verdict.outcome);
            if let Some(frame) = verdict.frame() {
                println!("{:width$}      {frame}", "");
            }
        }
    }
    let verdicts = || record.verdicts.values().flat_map(BTreeMap::values);
    let count = |outcome| verdicts().filter(|verdict| verdict.outcome == outcome).count();
    let (passed, cannot) = (count(Outcome::Passes), count(Outcome::Cannot));
    let failed = verdicts().count() - passed - cannot;
    let frames: usize = verdicts().map(|verdict| verdict.frames).sum();
    println!("{passed} pass, {failed} do not, {cannot} cannot; {frames} frames tried");
}

/// `None` asks for help.
fn arguments(mut parser: Parser) -> Result<Option<Wanted>, lexopt::Error> {
    let mut wanted =
        Wanted { json: false, libraries: LIBRARIES.iter().collect(), workloads: vec![], frames: FRAMES, seed: SEED };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("json") => wanted.json = true,
            Arg::Long("libs") => wanted.libraries = libraries(&parser.value()?.string()?)?,
            Arg::Long("workload") => wanted.workloads.push(workload(&parser.value()?.string()?)?),
            Arg::Long("frames") => wanted.frames = parser.value()?.parse()?,
            Arg::Long("seed") => wanted.seed = parser.value()?.parse()?,
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            _ => return Err(argument.unexpected()),
        }
    }
    if wanted.workloads.is_empty() {
        wanted.workloads = Workload::ALL.into();
    }
    Ok(Some(wanted))
}

fn libraries(names: &str) -> Result<Vec<&'static Entry>, lexopt::Error> {
    let known = || LIBRARIES.iter().map(|library| library.name).collect::<Vec<_>>().join(", ");
    let entry = |name| find(name).ok_or_else(|| format!("no library '{name}': choose from {}", known()).into());
    names.split(',').map(entry).collect()
}

fn workload(name: &str) -> Result<Workload, lexopt::Error> {
    let found = Workload::ALL.into_iter().find(|workload| workload.to_string().eq_ignore_ascii_case(name));
    found.ok_or_else(|| format!("no workload '{name}': choose from W1, W2, W3, W4").into())
}
