// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The kernels that are measured, and one that does nothing: what the loop around them costs.

use parsing_bench::{
    contract::{FiveTuple, Rejected, Rule, Workload},
    impls::{self, Entry, LIBRARIES, Reader, Writer},
};
use std::{error::Error, hint::black_box};

/// The name of the kernels that do nothing.
pub(crate) const NOTHING: &str = "nothing";

/// A burst's worth of work goes through one of these.
#[derive(Clone, Copy)]
pub(crate) enum Kernel {
    Writer(Writer),
    Reader(Reader),
}

/// A kernel, and what it is called.
pub(crate) struct Cell {
    pub(crate) library: &'static str,
    pub(crate) workload: Workload,
    /// The unmangled symbol.
    pub(crate) symbol: String,
    pub(crate) kernel: Kernel,
}

/// What of it all is to be measured.
pub(crate) struct Choice {
    pub(crate) workloads: Vec<Workload>,
    /// All, if none is named.
    pub(crate) libraries: Option<Vec<String>>,
}

impl Choice {
    /// The chosen kernels, workload by workload, without those that a library has not.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Cell> {
        self.workloads
            .iter()
            .flat_map(|workload| LIBRARIES.iter().filter_map(|entry| cell(entry, *workload)))
            .filter(|cell| self.is_chosen(cell.library))
    }

    fn is_chosen(&self, name: &str) -> bool {
        self.libraries.as_ref().is_none_or(|names| names.iter().any(|one| one == name))
    }
}

fn cell(entry: &'static Entry, workload: Workload) -> Option<Cell> {
    Some(Cell { library: entry.name, workload, symbol: entry.symbol(workload), kernel: kernel(entry, workload)? })
}

fn kernel(entry: &Entry, workload: Workload) -> Option<Kernel> {
    match workload {
        Workload::W4 => entry.reader().map(Kernel::Reader),
        _ => entry.writer(workload).map(Kernel::Writer),
    }
}

/// That of a library, or the one that does nothing.
pub(crate) fn find(name: &str, workload: Workload) -> Result<Kernel, Box<dyn Error>> {
    if name == NOTHING {
        return Ok(match workload {
            Workload::W4 => Kernel::Reader(read_nothing),
            _ => Kernel::Writer(write_nothing),
        });
    }
    let entry = impls::find(name).ok_or_else(|| missing(name))?;
    kernel(entry, workload).ok_or_else(|| format!("{name} has no kernel for {workload}").into())
}

/// That there is no library of that name.
pub(crate) fn missing(name: &str) -> String {
    let names: Vec<_> = LIBRARIES.iter().map(|entry| entry.name).collect();
    format!("no library '{name}' is built in: there are {}", names.join(", "))
}

#[inline(never)]
fn write_nothing(_: &mut [u8], _: &Rule) -> Result<(), Rejected> {
    black_box(Ok(()))
}

#[inline(never)]
fn read_nothing(_: &[u8]) -> Result<FiveTuple, Rejected> {
    black_box(Err(Rejected))
}
