// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The command line.

use lexopt::prelude::{Long, Value, ValueExt as _};
use std::{error::Error, str::FromStr, time::Duration};

const USAGE: &str = "usage: parsing-timer PROGRAM --workloads W1,W2 --libs smoltcp,pnet
                     [--residencies hot,l2,cold,cold-prefetch] [--l2-bytes N] [--cold-bytes N] [--memory BYTES]
                     [--samples N] [--seconds S] [--warm-up S] [--resamples N]";
/// Criterion takes no fewer.
const LEAST_SAMPLES: usize = 10;

/// What is to be timed, and how.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) program: String,
    pub(crate) workloads: Vec<String>,
    pub(crate) libraries: Vec<String>,
    pub(crate) residencies: Vec<String>,
    l2_bytes: usize,
    cold_bytes: usize,
    /// The most that the frames may take, in bytes.
    memory: usize,
    pub(crate) samples: usize,
    pub(crate) measurement: Duration,
    pub(crate) warm_up: Duration,
    /// For the intervals; criterion's own 100,000 take longer than the measurement.
    pub(crate) resamples: usize,
}

impl Options {
    pub(crate) fn parse(mut words: lexopt::Parser) -> Result<Self, Box<dyn Error>> {
        let mut found = Self {
            program: String::new(),
            workloads: vec![],
            libraries: vec![],
            residencies: ["hot", "l2", "cold", "cold-prefetch"].map(String::from).into(),
            l2_bytes: 256 << 10,
            cold_bytes: 128 << 20,
            memory: 2 << 30,
            samples: 30,
            measurement: Duration::from_millis(600),
            warm_up: Duration::from_millis(200),
            resamples: 10_000,
        };
        while let Some(word) = words.next()? {
            match word {
                Value(program) if found.program.is_empty() => found.program = program.string()?,
                Long("workloads") => found.workloads = each(&words.value()?.string()?),
                Long("libs") => found.libraries = each(&words.value()?.string()?),
                Long("residencies") => found.residencies = each(&words.value()?.string()?),
                Long("l2-bytes") => found.l2_bytes = positive("--l2-bytes", &words.value()?.string()?)?,
                Long("cold-bytes") => found.cold_bytes = positive("--cold-bytes", &words.value()?.string()?)?,
                Long("memory") => found.memory = positive("--memory", &words.value()?.string()?)?,
                Long("samples") => found.samples = positive("--samples", &words.value()?.string()?)?,
                Long("seconds") => found.measurement = seconds("--seconds", &words.value()?.string()?)?,
                Long("warm-up") => found.warm_up = seconds("--warm-up", &words.value()?.string()?)?,
                Long("resamples") => found.resamples = positive("--resamples", &words.value()?.string()?)?,
                other => return Err(format!("{}\n{USAGE}", other.unexpected()).into()),
            }
        }
        if found.program.is_empty() || found.workloads.is_empty() || found.libraries.is_empty() {
            return Err(format!("give a program, workloads and libraries\n{USAGE}").into());
        }
        if found.samples < LEAST_SAMPLES {
            return Err(format!("--samples {}: criterion takes at least {LEAST_SAMPLES}", found.samples).into());
        }
        Ok(found)
    }

    /// The order that makes the frames of a workload in a residency.
    pub(crate) fn pool(&self, workload: &str, residency: &str) -> Result<String, String> {
        let bytes = match residency {
            "hot" => return Ok(format!("pool {workload} hot")),
            "l2" => self.l2_bytes,
            "cold" | "cold-prefetch" => self.cold_bytes,
            _ => return Err(format!("'{residency}' is no residency: there are hot, l2, cold and cold-prefetch")),
        };
        Ok(format!("pool {workload} {residency} {bytes} {}", self.memory))
    }
}

/// The parts of a list joined by commas.
fn each(list: &str) -> Vec<String> {
    list.split(',').map(String::from).collect()
}

fn positive<T: FromStr + PartialOrd + Default>(option: &str, text: &str) -> Result<T, String> {
    let number: Option<T> = text.parse().ok();
    number.filter(|number| *number > T::default()).ok_or_else(|| format!("{option} {text}: give a number above 0"))
}

fn seconds(option: &str, text: &str) -> Result<Duration, String> {
    Duration::try_from_secs_f64(positive(option, text)?).map_err(|error| format!("{option} {text}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Options, String> {
        let words = ["parsing-timer"].into_iter().chain(words.split_whitespace());
        Options::parse(lexopt::Parser::from_iter(words)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_pool_is_as_large_as_its_cache_asks() -> Result<(), String> {
        let options = parse("measure --workloads W1,W4 --libs a --l2-bytes 5 --cold-bytes 7 --memory 9")?;
        assert_eq!(options.workloads, ["W1", "W4"]);
        for (residency, order) in
            [("hot", "pool W1 hot"), ("l2", "pool W1 l2 5 9"), ("cold-prefetch", "pool W1 cold-prefetch 7 9")]
        {
            assert_eq!(options.pool("W1", residency)?, order);
        }
        assert!(options.pool("W1", "warm").is_err_and(|reason| reason.contains("'warm' is no residency")));
        Ok(())
    }

    #[test]
    fn bad_words_are_told() {
        for (words, complaint) in [
            ("", "give a program, workloads and libraries"),
            ("measure --libs a", "give a program, workloads and libraries"),
            ("measure --workloads W1 --libs a --samples 9", "--samples 9: criterion takes at least 10"),
            ("measure --seconds 0", "--seconds 0: give a number above 0"),
            ("measure --seconds 1e30", "--seconds 1e30: "),
            ("measure --memory much", "--memory much: give a number above 0"),
            ("measure other", "unexpected argument \"other\""),
        ] {
            assert!(parse(words).is_err_and(|reason| reason.starts_with(complaint)), "{words}");
        }
    }
}
