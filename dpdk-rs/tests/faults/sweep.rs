// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The same procedure repeatedly, each time with another call failing, each time in a separate process.

use crate::{
    forked::{Ended, forked},
    interposer::{Kind, Which, arm, failed, in_place, list, watch_crashes},
    process::folder,
};
use core::{ffi::CStr, fmt};
use std::{collections::BTreeMap, env, fs, os::fd::AsRawFd};

/// Set to `all`: every single call is made to fail, not a sample of those that come from one place. That takes ten
/// minutes for the memory of `Eal::init`, so `DPDK_RS_TEST_PATIENCE=10` belongs to it.
const VARIABLE: &str = "DPDK_RS_FAULTS";

/// DPDK ends the process instead of returning an error. Each of these is a defect of DPDK, not of this crate.
pub(crate) struct Exception {
    /// What failed: a part of the line that the interposer writes.
    pub(crate) call: &'static str,
    /// Where the process ended: a part of what it wrote then.
    pub(crate) end: &'static str,
    /// Why DPDK ends it.
    pub(crate) reason: &'static str,
}

/// What a procedure found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// An error was returned.
    Error,
    /// DPDK went on without what it did not get.
    Tolerated,
}

impl Outcome {
    const fn code(self) -> i32 {
        match self {
            Self::Error => 81,
            Self::Tolerated => 82,
        }
    }

    const fn from_code(code: Option<i32>) -> Option<Self> {
        match code {
            Some(81) => Some(Self::Error),
            Some(82) => Some(Self::Tolerated),
            _ => None,
        }
    }
}

/// How often each thing happened.
#[derive(Default)]
struct Tally {
    calls: usize,
    tried: usize,
    errors: usize,
    tolerated: usize,
    excepted: BTreeMap<&'static str, usize>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, tried, errors, tolerated, excepted } = self;
        write!(f, "{tried} of {calls} calls failed: {errors} errors, {tolerated} times DPDK did without")?;
        excepted.iter().try_for_each(|(reason, times)| write!(f, ", {times} times the process ended, since {reason}"))
    }
}

/// One of the calls of a procedure.
#[derive(Debug)]
struct Call {
    number: u64,
    /// The function, and where it was called.
    place: String,
}

/// Runs `procedure` once for each of the calls that it makes inside `function`, with that call failing.
///
/// Only every so many calls are looked at, beginning with number `part`: other processes look at the others.
/// The procedure panics if something is not as it should be. Returns how often DPDK went on without what it did not
/// get.
pub(crate) fn sweep(
    kind: Kind,
    function: &'static CStr,
    which: fn(u64) -> Which,
    (part, parts): (usize, usize),
    exceptions: &[Exception],
    procedure: impl Fn() -> Outcome,
) -> usize {
    if !in_place() {
        return 0;
    }
    let calls = calls(kind, function, &procedure);
    let mut tally = Tally { calls: calls.len(), ..Tally::default() };
    let mut crashes = String::new();
    for call in sample(&calls).skip(part).step_by(parts) {
        tally.tried += 1;
        let ended = forked(|| {
            watch_crashes();
            arm(kind, function, which(call.number));
            let outcome = procedure();
            assert!(failed() > 0, "the call was not made again");
            outcome.code()
        });
        // Whatever failed, all mbufs are back and all objects gone.
        let outcome = Outcome::from_code(ended.code()).filter(|_| !ended.stderr.contains("the EAL is not cleaned up"));
        match outcome {
            Some(Outcome::Error) => tally.errors += 1,
            Some(Outcome::Tolerated) => tally.tolerated += 1,
            None => match excuse(call, &ended, exceptions) {
                Some(reason) => *tally.excepted.entry(reason).or_default() += 1,
                None => crashes += &format!("{call:?} ended the process: {:?}\n{}\n", ended.status, ended.stderr),
            },
        }
    }
    println!("\nswept: {kind:?} in {}: {tally}", function.to_string_lossy());
    assert!(crashes.is_empty(), "{crashes}");
    tally.tolerated
}

/// The calls that the procedure makes when none fails.
fn calls(kind: Kind, function: &'static CStr, procedure: impl Fn() -> Outcome) -> Vec<Call> {
    let path = folder().join("calls");
    let file = fs::File::create(&path).expect("the file can be made");
    let ended = forked(|| {
        arm(kind, function, Which::None);
        list(file.as_raw_fd());
        procedure().code()
    });
    let outcome = Outcome::from_code(ended.code());
    assert_eq!(outcome, Some(Outcome::Tolerated), "without a fault: {:?}\n{}", ended.status, ended.stderr);
    let lines = fs::read_to_string(&path).expect("the file is there");
    let call = |line: &str| {
        let (numbered, place) = line.strip_prefix("interposer: ")?.split_once(": ")?;
        Some(Call { number: numbered.rsplit_once(' ')?.1.parse().ok()?, place: place.to_owned() })
    };
    lines.lines().map(|line| call(line).unwrap_or_else(|| panic!("no line of the interposer's: {line}"))).collect()
}

/// The first call and the last from each place, if there are more than a few; or all.
fn sample(calls: &[Call]) -> impl Iterator<Item = &Call> {
    let all = env::var(VARIABLE).is_ok_and(|value| value == "all");
    let mut places = BTreeMap::<&str, Vec<u64>>::new();
    for call in calls {
        places.entry(&call.place).or_default().push(call.number);
    }
    calls.iter().filter(move |call| {
        let numbers = &places[call.place.as_str()];
        all || numbers.len() < 4 || [numbers.first(), numbers.last()].contains(&Some(&call.number))
    })
}

/// The reason that DPDK has for ending the process, if it is known.
fn excuse(call: &Call, ended: &Ended, exceptions: &[Exception]) -> Option<&'static str> {
    let known = |known: &&Exception| call.place.contains(known.call) && ended.stderr.contains(known.end);
    exceptions.iter().find(known).map(|known| known.reason)
}
