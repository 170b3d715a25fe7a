// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The command line.

use crate::{error::UsageError, values};
use lexopt::{Arg, Parser};
use std::ffi::OsString;
use testbed_impair::Impairments;

pub(crate) const USAGE: &str = "\
Usage: impair [EAL options] -- [options]

Forwards frames between two ports and impairs them: some are lost, duplicated,
reordered, corrupted or delayed. The same seed and the same frames give the same
decisions.

Options, each for both directions, or A/B: A for what the first port receives, B
for what the second one receives; A/ and /B are for one direction alone:
  --loss P%           lose frames with this probability, each independently
  --gemodel P%,L      lose this share of the frames in bursts of L frames on average
                      (Gilbert-Elliott model), L at least 1
  --duplicate P%      send frames twice with this probability
  --corrupt P%        flip one bit with this probability
  --reorder P%,N      with this probability, hold a frame back until N others have
                      passed
  --delay T           delay every frame, for example 10ms; units us, ms and s
  --jitter T          change the delay of each frame at random by up to this time,
                      shorter or longer; frames overtake each other
  --rate R            let through this many bits per second, for example 10mbit;
                      units kbit, mbit and gbit
  --limit N           drop frames while N wait: 1 to 1000000, default 1000

Options for the program:
  --seed N            draw the decisions from this seed, default 0
  -h, --help          print this text
  --version           print the version

The program needs two ports. It prints a JSON object at the start and the result
as another at the end, on SIGINT or SIGTERM; each second a line on stderr.

EAL options: https://doc.dpdk.org/guides/linux_gsg/
";

/// What the command line requests.
#[derive(Debug)]
pub(crate) enum Command {
    Help,
    Version,
    Run(Box<Options>),
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Options {
    pub(crate) seed: u64,
    /// Of the frames that each port receives.
    pub(crate) directions: [Impairments; 2],
}

/// An option of a direction: its name, what its value is, and how it is applied. `None`: the value is wrong.
type DirectionOption = (&'static str, &'static str, fn(&mut Impairments, &str) -> Option<()>);

const PERCENT: &str = "a percentage from 0% to 100%, for example 0.5%";
const TIME: &str = "a time up to 3600s, for example 10ms";
const OPTIONS: [DirectionOption; 9] = [
    ("loss", PERCENT, |to, text| values::percent(text).map(|loss| to.loss = Some(loss))),
    (
        "gemodel",
        "the share of lost frames and the mean length L of bursts, for example 1%,5; L is at least 1, the share at most \
         L / (1 + L)",
        |to, text| values::gemodel(text).map(|model| to.gemodel = Some(model)),
    ),
    ("duplicate", PERCENT, |to, text| values::percent(text).map(|duplicate| to.duplicate = Some(duplicate))),
    ("corrupt", PERCENT, |to, text| values::percent(text).map(|corrupt| to.corrupt = Some(corrupt))),
    ("reorder", "a percentage and a number of frames from 1 to 1000000, for example 5%,3", |to, text| {
        values::reorder(text).map(|reorder| to.reorder = Some(reorder))
    }),
    ("delay", TIME, |to, text| values::time(text).map(|delay| to.delay = delay)),
    ("jitter", TIME, |to, text| values::time(text).map(|jitter| to.jitter = jitter)),
    ("rate", "a rate from 1kbit to 1000gbit, for example 10mbit", |to, text| {
        values::rate(text).map(|rate| to.rate_bps = Some(rate))
    }),
    ("limit", "a number of frames from 1 to 1000000", |to, text| {
        values::count(text).map(|limit| to.limit = limit as usize)
    }),
];

/// Parses the part of a command line after the first `--`. `--help` takes precedence over errors, also as the first
/// word of the part before it.
pub(crate) fn parse_args(args: impl IntoIterator<Item = OsString>) -> Result<Command, UsageError> {
    let args: Vec<OsString> = args.into_iter().collect();
    let (eal_args, own_args) = args.split_at(args.iter().position(|arg| arg == "--").unwrap_or(args.len()));
    let may_ask = eal_args.iter().skip(1).take(1).chain(own_args);
    let asked = may_ask.filter_map(|arg| arg.to_str()).find_map(|arg| match arg {
        "--help" | "-h" => Some(Command::Help),
        "--version" => Some(Command::Version),
        _ => None,
    });
    asked.map_or_else(|| parse_options(own_args.iter().skip(1)).map(Box::new).map(Command::Run), Ok)
}

fn parse_options<'a>(args: impl Iterator<Item = &'a OsString>) -> Result<Options, UsageError> {
    let mut options = Options::default();
    let mut parser = Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        let Arg::Long(name) = arg else { return Err(arg.unexpected().into()) };
        let option = OPTIONS.into_iter().find(|(option, ..)| *option == name);
        if option.is_none() && name != "seed" {
            return Err(arg.unexpected().into());
        }
        let value = parser.value()?.to_string_lossy().into_owned();
        match option {
            Some(option) => apply(option, value, &mut options.directions)?,
            None => options.seed = values::decimal(&value).ok_or(UsageError::Seed(value))?,
        }
    }
    match options.directions.iter().find(|direction| direction.jitter > direction.delay) {
        Some(Impairments { jitter, delay, .. }) => Err(UsageError::Jitter { jitter: *jitter, delay: *delay }),
        None => Ok(options),
    }
}

/// Applies a value to both directions, A/B to one each, and A/ or /B to one alone.
fn apply(option: DirectionOption, value: String, [one, other]: &mut [Impairments; 2]) -> Result<(), UsageError> {
    let (option, expected, apply) = option;
    let applied = match value.split_once('/') {
        Some(("", second)) => apply(other, second),
        Some((first, "")) => apply(one, first),
        Some((first, second)) => apply(one, first).and_then(|()| apply(other, second)),
        None => apply(one, &value).and_then(|()| apply(other, &value)),
    };
    applied.ok_or(UsageError::Value { option, value, expected })
}

#[cfg(test)]
mod tests {
    use super::{Command, Options, parse_args};
    use crate::values;
    use core::time::Duration;
    use testbed_impair::Impairments;

    fn options(line: &str) -> Result<Options, String> {
        match parse_args(["impair", "--no-huge", "--"].into_iter().chain(line.split_whitespace()).map(Into::into)) {
            Ok(Command::Run(options)) => Ok(*options),
            Ok(other) => Err(format!("{other:?}")),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn nothing_is_impaired_by_default() {
        assert_eq!(options(""), Ok(Options { seed: 0, directions: [Impairments::default(), Impairments::default()] }));
    }

    #[test]
    fn a_value_is_for_both_directions_or_for_one() {
        let all = options(
            "--seed 7 --loss 1% --gemodel=2%,5 --duplicate 3% --corrupt 4% --reorder 5%,6 --delay 20ms/0s \
             --jitter 5ms/ --rate /2mbit --limit 8/9",
        );
        let one = Impairments {
            loss: values::percent("1%"),
            gemodel: values::gemodel("2%,5"),
            duplicate: values::percent("3%"),
            corrupt: values::percent("4%"),
            reorder: values::reorder("5%,6"),
            delay: Duration::from_millis(20),
            jitter: Duration::from_millis(5),
            rate_bps: None,
            limit: 8,
        };
        let (delay, jitter) = (Duration::ZERO, Duration::ZERO);
        let other = Impairments { delay, jitter, rate_bps: Some(2_000_000), limit: 9, ..one.clone() };
        assert_eq!(all, Ok(Options { seed: 7, directions: [one, other] }));
    }

    #[test]
    fn help_takes_precedence() {
        for line in ["impair --help", "impair -- --loss x -h", "impair -l 0 -- --help"] {
            let command = parse_args(line.split(' ').map(Into::into));
            assert!(matches!(command, Ok(Command::Help)), "{line}: {command:?}");
        }
        assert!(matches!(parse_args(["impair", "--version"].map(Into::into)), Ok(Command::Version)));
        assert!(matches!(parse_args(["impair"].map(Into::into)), Ok(Command::Run(_))));
    }
}
