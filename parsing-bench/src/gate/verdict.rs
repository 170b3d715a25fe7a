// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The gate's verdicts on libraries.

use super::{
    conduct::{Conduct, Fault},
    mutants::{Case, Class},
};
use core::fmt;
use serde::{Serialize, Serializer, ser::SerializeStruct};
use std::collections::BTreeMap;

/// The verdict on a library in one workload; the later ones are worse.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub enum Outcome {
    /// It cannot do the workload, and was not tried.
    #[serde(rename = "cannot")]
    Cannot,
    /// Its results are correct in all cases.
    #[serde(rename = "passes")]
    Passes,
    /// Its result differs from the reference.
    #[serde(rename = "disagrees")]
    Disagrees,
    /// It writes to a frame that it rejects, or to bytes around the frame.
    #[serde(rename = "wrote to a rejected frame")]
    Wrote,
    /// It panics.
    #[serde(rename = "panic")]
    Panic,
}

impl From<&Fault> for Outcome {
    fn from(fault: &Fault) -> Self {
        match fault {
            Fault::Disagrees(_) => Self::Disagrees,
            Fault::Wrote(_) => Self::Wrote,
            Fault::Panicked(_) => Self::Panic,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Cannot => "cannot",
            Self::Passes => "passes",
            Self::Disagrees => "disagrees",
            Self::Wrote => "wrote to a rejected frame",
            Self::Panic => "panic",
        })
    }
}

/// What a library does with bad input: frames that it must or may reject.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Behaviour {
    /// It rejects the frame and leaves it unchanged.
    Error,
    /// It accepts the frame, which is allowed, with the correct result.
    Accepted,
    /// It accepts a frame that it must reject, or its result is wrong.
    Wrong,
    /// It writes to the frame and rejects it.
    Wrote,
    /// It panics.
    Panic,
}

/// The verdict on a library in one workload.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The worst outcome.
    pub outcome: Outcome,
    /// Why it cannot do the workload.
    pub cannot: Option<&'static str>,
    /// The first case of the worst kind.
    pub finding: Option<(Case, Fault)>,
    /// The number of frames.
    pub frames: usize,
    /// How often each kind of bad input led to each conduct.
    pub bad_input: BTreeMap<Class, BTreeMap<Behaviour, usize>>,
}

impl Default for Verdict {
    fn default() -> Self {
        Self { outcome: Outcome::Passes, cannot: None, finding: None, frames: 0, bad_input: BTreeMap::new() }
    }
}

impl Verdict {
    pub(super) fn cannot(reason: &'static str) -> Self {
        Self { outcome: Outcome::Cannot, cannot: Some(reason), ..Self::default() }
    }

    pub(super) fn count(&mut self, class: Class, is_good_input: bool, conduct: &Result<Conduct, Fault>) {
        self.frames += 1;
        if let Err(fault) = conduct {
            self.outcome = self.outcome.max(fault.into());
        }
        if !is_good_input {
            let behaviour = match conduct {
                Ok(Conduct::Rejects) => Behaviour::Error,
                Ok(Conduct::Accepts) => Behaviour::Accepted,
                Err(Fault::Disagrees(_)) => Behaviour::Wrong,
                Err(Fault::Wrote(_)) => Behaviour::Wrote,
                Err(Fault::Panicked(_)) => Behaviour::Panic,
            };
            *self.bad_input.entry(class).or_default().entry(behaviour).or_default() += 1;
        }
    }

    /// The fault in words, or the reason why the library cannot do the workload.
    pub fn reason(&self) -> Option<String> {
        let finding = self.finding.as_ref().map(|(case, fault)| format!("{}: {}", case.name, fault.reason()));
        finding.or_else(|| self.cannot.map(String::from))
    }

    /// The frame that went wrong, in hexadecimal.
    pub fn frame(&self) -> Option<String> {
        let (case, _) = self.finding.as_ref()?;
        Some(case.frame.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bad_input: BTreeMap<_, _> =
            self.bad_input.iter().map(|(class, counts)| (class.to_string(), counts)).collect();
        let mut fields = serializer.serialize_struct("Verdict", 5)?;
        fields.serialize_field("outcome", &self.outcome)?;
        fields.serialize_field("reason", &self.reason())?;
        fields.serialize_field("case", &self.frame())?;
        fields.serialize_field("frames", &self.frames)?;
        fields.serialize_field("bad_input", &bad_input)?;
        fields.end()
    }
}
