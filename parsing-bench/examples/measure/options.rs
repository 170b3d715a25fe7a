// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The command line.

use crate::kernel::{Choice, NOTHING};
use crate::pool::Residency;
use lexopt::prelude::{Long, Value, ValueExt as _};
use parsing_bench::{contract::Workload, impls::LIBRARIES};
use std::{error::Error, str::FromStr, time::Duration};

const USAGE: &str = "usage: measure list
       measure count [--passes N] [--workloads W1,W2] [--libs smoltcp,pnet]
       measure time [--workloads …] [--libs …] [--residencies hot,l2,cold,cold-prefetch]
                    [--l2-bytes N] [--cold-bytes N] [--memory BYTES] [--samples N] [--seconds S] [--warm-up S]";

/// What is to be done, and of which kernels.
pub(crate) struct Options {
    pub(crate) mode: Mode,
    pub(crate) choice: Choice,
}

/// What is to be done.
pub(crate) enum Mode {
    List,
    Count { passes: usize },
    Time(Settings),
}

/// How it is timed.
pub(crate) struct Settings {
    pub(crate) residencies: Vec<Residency>,
    pub(crate) l2_bytes: usize,
    pub(crate) cold_bytes: usize,
    /// The most that the frames may take, in bytes.
    pub(crate) memory: usize,
    pub(crate) samples: usize,
    pub(crate) measurement: Duration,
    pub(crate) warm_up: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            residencies: Residency::ALL.to_vec(),
            l2_bytes: 256 << 10,
            cold_bytes: 128 << 20,
            memory: 2 << 30,
            samples: 20,
            measurement: Duration::from_secs(1),
            warm_up: Duration::from_millis(200),
        }
    }
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
        let mut settings = Settings::default();
        let mut choice = Choice { workloads: Workload::ALL.to_vec(), libraries: None };
        while let Some(word) = words.next()? {
            match word {
                Long("passes") => passes = positive("--passes", &words.value()?.string()?)?,
                Long("workloads") => choice.workloads = each(&words.value()?.string()?, workload)?,
                Long("libs") => choice.libraries = Some(each(&words.value()?.string()?, library)?),
                Long("residencies") => settings.residencies = each(&words.value()?.string()?, Residency::named)?,
                Long("l2-bytes") => settings.l2_bytes = positive("--l2-bytes", &words.value()?.string()?)?,
                Long("cold-bytes") => settings.cold_bytes = positive("--cold-bytes", &words.value()?.string()?)?,
                Long("memory") => settings.memory = positive("--memory", &words.value()?.string()?)?,
                Long("samples") => settings.samples = samples(&words.value()?.string()?)?,
                Long("seconds") => settings.measurement = seconds("--seconds", &words.value()?.string()?)?,
                Long("warm-up") => settings.warm_up = seconds("--warm-up", &words.value()?.string()?)?,
                other => return Err(format!("{}\n{USAGE}", other.unexpected()).into()),
            }
        }
        let mode = match mode.as_str() {
            "list" => Mode::List,
            "count" => Mode::Count { passes },
            "time" => Mode::Time(settings),
            _ => return Err(format!("'{mode}' is nothing it can do\n{USAGE}").into()),
        };
        Ok(Self { mode, choice })
    }
}

/// The parts of a list joined by commas.
fn each<T>(list: &str, read: impl Fn(&str) -> Result<T, Box<dyn Error>>) -> Result<Vec<T>, Box<dyn Error>> {
    list.split(',').map(read).collect()
}

fn workload(name: &str) -> Result<Workload, Box<dyn Error>> {
    let found = Workload::ALL.into_iter().find(|workload| workload.to_string() == name);
    found.ok_or_else(|| format!("'{name}' is no workload: there are W1, W2, W3 and W4").into())
}

fn library(name: &str) -> Result<String, Box<dyn Error>> {
    let mut known = LIBRARIES.iter().map(|entry| entry.name).chain([NOTHING]);
    if known.any(|one| one == name) {
        return Ok(name.to_owned());
    }
    let names: Vec<_> = LIBRARIES.iter().map(|entry| entry.name).collect();
    Err(format!("no library '{name}' is built in: there are {}", names.join(", ")).into())
}

fn positive<T: FromStr + PartialOrd + Default>(option: &str, text: &str) -> Result<T, Box<dyn Error>> {
    let number: Option<T> = text.parse().ok();
    number
        .filter(|number| *number > T::default())
        .ok_or_else(|| format!("{option} {text}: give a number above 0").into())
}

fn samples(text: &str) -> Result<usize, Box<dyn Error>> {
    let number: usize = positive("--samples", text)?;
    // Criterion's own limit.
    if number < 10 { Err(format!("--samples {text}: criterion takes at least 10").into()) } else { Ok(number) }
}

fn seconds(option: &str, text: &str) -> Result<Duration, Box<dyn Error>> {
    let number: f64 = positive(option, text)?;
    Duration::try_from_secs_f64(number).map_err(|error| format!("{option} {text}: {error}").into())
}
