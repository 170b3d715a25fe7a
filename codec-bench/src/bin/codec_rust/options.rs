// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The command line.

use std::error::Error;

use codec_bench::{
    contract::{Case, Exchange, Form},
    libraries::{LIBRARIES, Library, library},
};
use lexopt::prelude::*;

/// What is to be done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Command {
    /// Name the libraries.
    List,
    /// Rounds, and what they took.
    Run,
    /// Rounds when stdin says so.
    Serve,
    /// The server of another process.
    Answer,
    /// Messages to stdout.
    Write,
    /// Messages from stdin.
    Read,
}

/// How a request comes to its server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Mode {
    /// As it was built.
    Object,
    /// As bytes in memory.
    Bytes,
    /// By a pipe to another process.
    Pipe,
    /// By a TCP connection to another process.
    Tcp,
}

pub(crate) struct Options {
    pub(crate) command: Command,
    pub(crate) library: &'static Library,
    pub(crate) case: Case,
    pub(crate) mode: Mode,
    pub(crate) form: Form,
    pub(crate) rounds: u64,
    /// The CPU of the other process.
    pub(crate) peer_cpu: Option<usize>,
}

const COMMANDS: [(&str, Command, usize); 6] = [
    ("list", Command::List, 0),
    ("run", Command::Run, 3),
    ("serve", Command::Serve, 3),
    ("answer", Command::Answer, 2),
    ("write", Command::Write, 2),
    ("read", Command::Read, 2),
];
const MODES: [(&str, Mode); 4] =
    [("object", Mode::Object), ("bytes", Mode::Bytes), ("pipe", Mode::Pipe), ("tcp", Mode::Tcp)];

impl Options {
    /// `COMMAND [LIBRARY CASE [MODE]] [--packed] [--reuse] [--rounds N] [--peer-cpu N]`
    pub(crate) fn parse() -> Result<Self, Box<dyn Error>> {
        let (mut words, mut form, mut rounds, mut peer_cpu) = (Vec::new(), Form::default(), None, None);
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("packed") => form.packed = true,
                Long("reuse") => form.reuse = true,
                Long("rounds") => rounds = Some(parser.value()?.parse()?),
                Long("peer-cpu") => peer_cpu = Some(parser.value()?.parse()?),
                Value(word) => words.push(word.string()?),
                _ => return Err(argument.unexpected().into()),
            }
        }
        let given = words.first().map_or("", String::as_str);
        let names = COMMANDS.map(|(name, ..)| name).join(", ");
        let (_, command, wanted) = COMMANDS
            .into_iter()
            .find(|(name, ..)| *name == given)
            .ok_or_else(|| format!("unknown command '{given}': give one of {names}"))?;
        if words.len() != wanted + 1 {
            return Err(format!("'{given}' takes {wanted} words after it, and has {}", words.len() - 1).into());
        }
        let word = |place: usize| words.get(place).map(String::as_str);
        let library = match word(1) {
            Some(name) => library(name).ok_or_else(|| format!("unknown library '{name}'"))?,
            None => &LIBRARIES[0],
        };
        let case = match word(2) {
            Some(name) => {
                *Case::ALL.iter().find(|case| case.name() == name).ok_or_else(|| format!("unknown case '{name}'"))?
            }
            None => Case::Carsales,
        };
        let mode = match word(3) {
            Some(name) => MODES.iter().find(|(one, _)| *one == name).ok_or_else(|| format!("unknown mode '{name}'"))?.1,
            None => Mode::Bytes,
        };
        if form.packed && !library.packs {
            return Err(format!("'{}' has no packed form: omit --packed", library.name).into());
        }
        Ok(Self { command, library, case, mode, form, rounds: rounds.unwrap_or(case.rounds()), peer_cpu })
    }

    /// The case with this library.
    pub(crate) fn exchange(&self) -> Box<dyn Exchange> {
        (self.library.exchange)(self.case, self.form)
    }
}
