// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The switches that slow the loop down.

use lexopt::{Arg, Parser};
use std::ffi::OsString;

/// Each is off unless the command line names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Switches {
    /// Forward on a thread that is not an lcore and so has no mempool cache.
    pub(crate) unregistered: bool,
    /// Use a mempool without caches.
    pub(crate) no_cache: bool,
    /// Use queues of 4,096 descriptors instead of 1,024.
    pub(crate) many_descriptors: bool,
    /// Do not prefetch the headers.
    pub(crate) no_prefetch: bool,
    /// Write the MAC addresses with smoltcp's `EthernetFrame`, which checks the length of each frame.
    pub(crate) new_checked: bool,
    /// Send only 70 % of each burst and drop the rest.
    pub(crate) refused: bool,
    /// Free dropped packets one by one.
    pub(crate) single_frees: bool,
}

impl Switches {
    /// Parses the arguments after those of the EAL.
    pub(crate) fn parse(args: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Self, lexopt::Error> {
        let mut parser = Parser::from_args(args);
        let mut switches = Self::default();
        while let Some(argument) = parser.next()? {
            let switch = match argument {
                Arg::Long("unregistered") => &mut switches.unregistered,
                Arg::Long("no-cache") => &mut switches.no_cache,
                Arg::Long("many-descriptors") => &mut switches.many_descriptors,
                Arg::Long("no-prefetch") => &mut switches.no_prefetch,
                Arg::Long("new-checked") => &mut switches.new_checked,
                Arg::Long("refused") => &mut switches.refused,
                Arg::Long("single-frees") => &mut switches.single_frees,
                other => return Err(other.unexpected()),
            };
            *switch = true;
        }
        Ok(switches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_option_sets_one_switch() {
        let all =
            ["unregistered", "no-cache", "many-descriptors", "no-prefetch", "new-checked", "refused", "single-frees"];
        let count = |switches: Switches| format!("{switches:?}").matches("true").count();
        assert_eq!(Switches::parse([""; 0]).map(count).ok(), Some(0));
        for name in all {
            assert_eq!(Switches::parse([format!("--{name}")]).map(count).ok(), Some(1), "--{name}");
        }
        assert_eq!(Switches::parse(all.map(|name| format!("--{name}"))).map(count).ok(), Some(all.len()));
    }

    #[test]
    fn other_arguments_are_errors() {
        for wrong in ["--cache", "x", "-p", "--no-cache=1"] {
            assert!(Switches::parse([wrong]).is_err(), "{wrong}");
        }
    }
}
