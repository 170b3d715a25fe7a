// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The command line.

use crate::kernel::{Choice, missing};
use lexopt::prelude::{Long, Value, ValueExt as _};
use parsing_bench::{contract::Workload, impls::find};
use std::{error::Error, str::FromStr};

const USAGE: &str = "usage: measure list
       measure count [--passes N] [--workloads W1,W2] [--libs smoltcp,pnet]
       measure serve";

/// What is to be done, and of which kernels.
pub(crate) struct Options {
    pub(crate) mode: Mode,
    pub(crate) choice: Choice,
}

/// What is to be done.
pub(crate) enum Mode {
    List,
    Count { passes: usize },
    Serve,
}

impl Options {
    /// Reads the command line; `--help` prints the usage and ends the program.
    pub(crate) fn parse() -> Result<Self, Box<dyn Error>> {
        let mut words = lexopt::Parser::from_env();
        let mode = match words.next()? {
            Some(Value(mode)) => mode.string()?,
            Some(Long("help")) => return Err(USAGE.into()),
            _ => return Err(format!("say what to do\n{USAGE}").into()),
        };
        let mut passes = 100;
        let mut choice = Choice { workloads: Workload::ALL.to_vec(), libraries: None };
        while let Some(word) = words.next()? {
            match word {
                Long("passes") => passes = positive("--passes", &words.value()?.string()?)?,
                Long("workloads") => choice.workloads = each(&words.value()?.string()?, workload)?,
                Long("libs") => choice.libraries = Some(each(&words.value()?.string()?, library)?),
                other => return Err(format!("{}\n{USAGE}", other.unexpected()).into()),
            }
        }
        let mode = match mode.as_str() {
            "list" => Mode::List,
            "count" => Mode::Count { passes },
            "serve" => Mode::Serve,
            _ => return Err(format!("'{mode}' is nothing it can do\n{USAGE}").into()),
        };
        Ok(Self { mode, choice })
    }
}

/// The parts of a list joined by commas.
fn each<T>(list: &str, read: impl Fn(&str) -> Result<T, Box<dyn Error>>) -> Result<Vec<T>, Box<dyn Error>> {
    list.split(',').map(read).collect()
}

/// The workload of that name.
pub(crate) fn workload(name: &str) -> Result<Workload, Box<dyn Error>> {
    let found = Workload::ALL.into_iter().find(|workload| workload.to_string() == name);
    found.ok_or_else(|| format!("'{name}' is no workload: there are W1, W2, W3 and W4").into())
}

fn library(name: &str) -> Result<String, Box<dyn Error>> {
    if find(name).is_some() { Ok(name.to_owned()) } else { Err(missing(name).into()) }
}

/// A number that makes sense; the error names what it was given to.
pub(crate) fn positive<T: FromStr + PartialOrd + Default>(option: &str, text: &str) -> Result<T, Box<dyn Error>> {
    let number: Option<T> = text.parse().ok();
    number
        .filter(|number| *number > T::default())
        .ok_or_else(|| format!("{option} {text}: give a number above 0").into())
}
