// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The gate: compares every library with the reference, on mutants and on random frames.
//!
//! A library that panics, writes to a frame that it rejects, or gives another result than the reference is marked, with the
//! failing case, and is not timed for that workload.
//!
//! ```
//! use parsing_bench::{contract::Workload, gate::{Outcome, Trial, judge}, impls};
//!
//! let library = impls::find("safe-rust").ok_or("not built in")?;
//! let verdict = judge(library, &Trial::new(Workload::W1, 100, 7));
//! assert_eq!(verdict.outcome, Outcome::Passes);
//! # Ok::<_, &'static str>(())
//! ```

mod conduct;
mod drawn;
mod mutants;
mod seeds;
mod verdict;

pub use conduct::{CATCHES_PANICS, Conduct, Fault};
pub use drawn::Drawn;
pub use mutants::{Case, Class, RULES, mutants};
pub use seeds::{Seed, seeds};
pub use verdict::{Behaviour, Outcome, Verdict};

use crate::{
    contract::{FiveTuple, Workload},
    impls::{Entry, Reader, Writer},
    reference::{self, Expected, writing},
};

/// The default number of random frames per workload.
pub const FRAMES: usize = 100_000;
/// The default seed of the random frames.
pub const SEED: u64 = 2026;

/// The cases of one workload, each with its correct result.
#[derive(Debug)]
pub struct Trial {
    workload: Workload,
    seed: u64,
    /// How many of the cases are mutants. The others are random.
    mutants: usize,
    cases: Vec<(Case, Right)>,
}

/// The correct result of a case.
#[derive(Clone, Debug)]
enum Right {
    Written(Expected<Vec<u8>>),
    Read(Expected<FiveTuple>),
}

impl Right {
    fn of(workload: Workload, case: &Case) -> Self {
        match workload {
            Workload::W1 => Self::Written(writing::w1(&case.frame, &case.rule)),
            Workload::W2 => Self::Written(writing::w2(&case.frame, &case.rule)),
            Workload::W3 => Self::Written(writing::w3(&case.frame, &case.rule)),
            Workload::W4 => Self::Read(reference::five_tuple(&case.frame)),
        }
    }

    fn is_of_good_input(&self) -> bool {
        matches!(self, Self::Written(Expected::Accept(_)) | Self::Read(Expected::Accept(_)))
    }
}

impl Trial {
    /// All mutants, and this many random frames.
    pub fn new(workload: Workload, frames: usize, seed: u64) -> Self {
        let mutants = mutants(workload);
        let count = mutants.len();
        let cases = mutants.into_iter().chain(Drawn::new(workload, seed).take(frames));
        let cases = cases.map(|case| {
            let right = Right::of(workload, &case);
            (case, right)
        });
        Self { workload, seed, mutants: count, cases: cases.collect() }
    }

    /// The workload.
    pub fn workload(&self) -> Workload {
        self.workload
    }

    /// The number of mutants.
    pub fn mutants(&self) -> usize {
        self.mutants
    }

    /// The number of frames.
    pub fn frames(&self) -> usize {
        self.cases.len()
    }
}

/// Runs a library on all cases.
pub fn judge(library: &Entry, trial: &Trial) -> Verdict {
    let kernel = match Kernel::of(library, trial.workload) {
        Ok(kernel) => kernel,
        Err(reason) => return Verdict::cannot(reason),
    };
    let mut verdict = Verdict::default();
    let mut worst: Option<(usize, Fault)> = None;
    for (number, (case, right)) in trial.cases.iter().enumerate() {
        let conduct = kernel.conduct(case, right);
        verdict.count(case.class, right.is_of_good_input(), &conduct);
        if let Err(fault) = conduct
            && worst.as_ref().is_none_or(|(_, worst)| Outcome::from(&fault) > Outcome::from(worst))
        {
            worst = Some((number, fault));
        }
    }
    if let Some((number, fault)) = worst {
        let found = number.checked_sub(trial.mutants).and_then(|number| smallest(kernel, trial, number, &fault));
        let found = found.or_else(|| trial.cases.get(number).map(|(case, _)| (case.clone(), fault)));
        verdict.finding = found;
    }
    verdict
}

/// Runs a library on one case.
///
/// # Errors
///
/// The fault of the library. A library rejects workloads that it cannot do.
pub fn try_case(library: &Entry, workload: Workload, case: &Case) -> Result<Conduct, Fault> {
    match Kernel::of(library, workload) {
        Ok(kernel) => kernel.conduct(case, &Right::of(workload, case)),
        Err(_) => Ok(Conduct::Rejects),
    }
}

/// A random case with a fault, reduced as long as it has a fault of that kind.
fn smallest(kernel: Kernel, trial: &Trial, number: usize, fault: &Fault) -> Option<(Case, Fault)> {
    let try_again = |case: &Case| kernel.conduct(case, &Right::of(trial.workload, case)).err();
    let fails = |case: &Case| try_again(case).is_some_and(|found| Outcome::from(&found) == Outcome::from(fault));
    let case = Drawn::new(trial.workload, trial.seed).smallest(number, fails)?;
    let fault = try_again(&case)?;
    Some((case, fault))
}

/// The kernel under test.
#[derive(Clone, Copy, Debug)]
enum Kernel {
    Writer(Writer),
    Reader(Reader),
}

impl Kernel {
    /// The kernel of a library. The error gives the reason if there is none.
    fn of(library: &Entry, workload: Workload) -> Result<Self, &'static str> {
        let kernel = match workload {
            Workload::W4 => library.reader().map(Self::Reader),
            _ => library.writer(workload).map(Self::Writer),
        };
        kernel.ok_or_else(|| library.cannot(workload).unwrap_or("it has no such kernel"))
    }

    fn conduct(self, case: &Case, right: &Right) -> Result<Conduct, Fault> {
        match (self, right) {
            (Self::Writer(writer), Right::Written(expected)) => conduct::written(writer, case, expected),
            (Self::Reader(reader), Right::Read(expected)) => conduct::read(reader, case, expected),
            (Self::Writer(_), Right::Read(_)) | (Self::Reader(_), Right::Written(_)) => Ok(Conduct::Rejects),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        contract::{About, Library, Rejected, Rule},
        impls::Entry,
    };
    use std::collections::HashSet;

    const ABOUT: About = About { package: "", licence: "", no_std: true, note: "" };

    /// Each kernel has another fault.
    struct Faulty;

    impl Library for Faulty {
        const NAME: &'static str = "faulty";
        const ABOUT: About = ABOUT;

        /// Panics at what is too short.
        #[allow(clippy::indexing_slicing, reason = "the fault")]
        fn w1(frame: &mut [u8], _rule: &Rule) -> Result<(), Rejected> {
            if frame[12] == 8 { Ok(()) } else { Err(Rejected) }
        }

        /// Writes first, and validates then.
        fn w2(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
            if let Some(destination) = frame.first_chunk_mut() {
                *destination = rule.destination;
            }
            Err(Rejected)
        }

        /// Accepts everything.
        fn w3(_frame: &mut [u8], _rule: &Rule) -> Result<(), Rejected> {
            Ok(())
        }
    }

    #[test]
    fn every_fault_is_found_and_its_case_shown() {
        let faulty = Entry::of::<Faulty>();
        let judged = |workload| judge(&faulty, &Trial::new(workload, 100, SEED));
        let panics = judged(Workload::W1);
        assert_eq!(panics.outcome, Outcome::Panic);
        assert_eq!(panics.frame().as_deref(), Some(""));
        assert!(panics.reason().is_some_and(|reason| reason.contains("cut to 0 bytes: panicked: index out of bounds")));
        let wrote = judged(Workload::W2);
        assert_eq!(wrote.outcome, Outcome::Wrote);
        assert!(wrote.reason().is_some_and(|reason| reason.contains("rejected it and wrote 0x0a in place of 0x02")));
        assert_eq!(judged(Workload::W3).outcome, Outcome::Disagrees);
        assert_eq!(judged(Workload::W4).outcome, Outcome::Disagrees);
    }

    /// Right but for addresses that no mutant has.
    struct NearlyRight;

    impl Library for NearlyRight {
        const NAME: &'static str = "nearly-right";
        const ABOUT: About = ABOUT;
        const CANNOT: &'static [(Workload, &'static str)] = &[(Workload::W2, "it has not learnt that")];

        fn w1(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
            if rule.address[3] == 0x77 {
                return Err(Rejected);
            }
            match writing::w1(frame, rule) {
                Expected::Accept(bytes) | Expected::Either(bytes) => frame.copy_from_slice(&bytes),
                Expected::Reject => return Err(Rejected),
            }
            Ok(())
        }
    }

    #[test]
    fn a_drawn_case_is_made_smaller() {
        let verdict = judge(&Entry::of::<NearlyRight>(), &Trial::new(Workload::W1, 5_000, SEED));
        assert_eq!(verdict.outcome, Outcome::Disagrees);
        let Some((case, _)) = verdict.finding else { unreachable!("it disagrees") };
        assert!(case.name.contains("made smaller"), "{}", case.name);
        assert_eq!((case.rule.address, case.rule.source), ([0, 0, 0, 0x77], [0; 6]));
    }

    #[test]
    fn what_a_library_cannot_do_is_not_tried() {
        let verdict = judge(&Entry::of::<NearlyRight>(), &Trial::new(Workload::W2, 0, SEED));
        assert_eq!((verdict.outcome, verdict.frames), (Outcome::Cannot, 0));
        assert_eq!(verdict.reason().as_deref(), Some("it has not learnt that"));
    }

    #[test]
    fn there_are_enough_mutants_of_every_workload() {
        for workload in Workload::ALL {
            let mutants = mutants(workload);
            let different: HashSet<_> = mutants.iter().map(|case| (&case.frame, case.rule.address)).collect();
            assert!(different.len() >= 400, "{workload}: {}", different.len());
            let good = mutants.iter().filter(|case| Right::of(workload, case).is_of_good_input()).count();
            assert!(good >= 400 && mutants.len() - good >= 400, "{workload}: {good} of {}", mutants.len());
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_frames() {
        let drawn = |seed| Drawn::new(Workload::W4, seed).take(50).map(|case| case.frame).collect::<Vec<_>>();
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }
}
