// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Lcores: compares those requested with the CPUs that the machine has and that the process may use.

use super::{Finding, arguments::Arguments, host::Host, numbers};
use std::collections::BTreeSet;

/// Lcores, and the CPUs on which each of them may run.
struct Assignment {
    lcores: BTreeSet<u32>,
    cpus: BTreeSet<u32>,
}

impl Assignment {
    /// Assigns each lcore to the CPU with the same number.
    fn one_to_one(numbers: BTreeSet<u32>) -> Vec<Self> {
        numbers.into_iter().map(|number| Self { lcores: [number].into(), cpus: [number].into() }).collect()
    }
}

/// The options that select lcores, in the form of the command line.
const OPTIONS: [(&str, &str); 3] = [("l", "-l "), ("c", "-c "), ("lcores", "--lcores=")];

/// What prevents the EAL from having the requested lcores. `most` is `RTE_MAX_LCORE`.
pub(super) fn of_start(args: &Arguments, host: &Host, most: u32) -> Vec<Finding> {
    let Some(assignments) = assignments(args) else { return Vec::new() };
    let online = online(host);
    let wanted: BTreeSet<u32> = assignments.iter().flat_map(|assignment| &assignment.cpus).copied().collect();
    let mut findings = Vec::new();
    let missing: Vec<u32> = wanted.difference(&online).copied().collect();
    if !missing.is_empty() && !online.is_empty() {
        findings.push(Finding::CpusMissing { cpus: missing, online: online.iter().copied().collect() });
    }
    let lcores = assignments.iter().flat_map(|assignment| &assignment.lcores).copied();
    let lcores: Vec<u32> = lcores.filter(|lcore| *lcore >= most).collect();
    if findings.is_empty() && !lcores.is_empty() && !args.has("remap-lcore-ids") {
        findings.push(Finding::LcoresTooHigh { lcores, most: most - 1, instead: renumbered(&assignments) });
    }
    if let Some(allowed) = allowed(host) {
        let cpus: Vec<u32> = wanted.intersection(&online).filter(|cpu| !allowed.contains(cpu)).copied().collect();
        if !cpus.is_empty() {
            findings.push(Finding::CpusNotAllowed { cpus, allowed: allowed.into_iter().collect() });
        }
    }
    findings
}

/// Why the EAL has fewer lcores than `wanted`.
pub(super) fn of_lcores(args: &Arguments, host: &Host, lcores: &[u32], wanted: usize) -> Vec<Finding> {
    if lcores.len() >= wanted {
        return Vec::new();
    }
    let option = OPTIONS.iter().find_map(|(name, written)| Some(format!("{written}{}", args.last(name)?)));
    let online = online(host);
    let usable =
        allowed(host).map_or_else(|| online.clone(), |allowed| online.intersection(&allowed).copied().collect());
    let usable = usable.into_iter().collect();
    vec![Finding::TooFewLcores { wanted, lcores: lcores.to_vec(), option, usable }]
}

/// The requested lcores; `None` if the EAL chooses them, or if that part of the command line is invalid.
fn assignments(args: &Arguments) -> Option<Vec<Assignment>> {
    if let Some(list) = args.last("l") {
        return numbers::parse(list).map(Assignment::one_to_one);
    }
    if let Some(mask) = args.last("c") {
        return numbers::parse_mask(mask).map(Assignment::one_to_one);
    }
    map(args.last("lcores")?)
}

/// Parses the value of `--lcores`: `0,(1-2)@3,4@(5,6)`.
fn map(text: &str) -> Option<Vec<Assignment>> {
    let mut depth = 0;
    let outside = |letter| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    };
    let mut assignments = Vec::new();
    for part in text.split(outside) {
        let grouped = part.starts_with('(');
        let mut sides = part.split('@').map(|side| {
            let side = side.trim();
            numbers::parse(side.strip_prefix('(').and_then(|side| side.strip_suffix(')')).unwrap_or(side))
        });
        let lcores = sides.next()??;
        match sides.next() {
            Some(cpus) => assignments.push(Assignment { lcores, cpus: cpus? }),
            // The lcores of a group share its CPUs.
            None if grouped => assignments.push(Assignment { cpus: lcores.clone(), lcores }),
            None => assignments.extend(Assignment::one_to_one(lcores)),
        }
    }
    Some(assignments)
}

/// The same CPUs for lcores numbered from 0, in the form of `--lcores`.
fn renumbered(assignments: &[Assignment]) -> String {
    let cpus = assignments.iter().flat_map(|assignment| assignment.lcores.iter().map(|_| &assignment.cpus));
    let parts = cpus.enumerate().map(|(lcore, cpus)| {
        let cpus: Vec<u32> = cpus.iter().copied().collect();
        match cpus[..] {
            [cpu] => format!("{lcore}@{cpu}"),
            _ => format!("{lcore}@({})", numbers::ranges(&cpus)),
        }
    });
    parts.collect::<Vec<_>>().join(",")
}

/// The CPUs that the EAL detects.
fn online(host: &Host) -> BTreeSet<u32> {
    let folder = "/sys/devices/system/cpu";
    let cpus = host.names(folder).into_iter().filter_map(|name| name.strip_prefix("cpu")?.parse().ok());
    cpus.filter(|cpu: &u32| host.exists(format!("{folder}/cpu{cpu}/topology/core_id"))).collect()
}

/// The CPUs of the process's control group, which no thread of it can leave. An affinity is not such a limit.
fn allowed(host: &Host) -> Option<BTreeSet<u32>> {
    let groups = host.text("/proc/self/cgroup")?;
    groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, group) = (parts.next()?, parts.next()?.trim_end_matches('/'));
        let file = if controllers.is_empty() {
            format!("/sys/fs/cgroup{group}/cpuset.cpus.effective")
        } else if controllers.split(',').any(|controller| controller == "cpuset") {
            format!("/sys/fs/cgroup/cpuset{group}/cpuset.effective_cpus")
        } else {
            return None;
        };
        numbers::parse(&host.text(file)?)
    })
}

#[cfg(test)]
mod tests {
    use super::{of_lcores, of_start};
    use crate::diagnosis::{Finding, arguments::Arguments, tree::Tree};

    /// CPUs 0 to 3 and 200; 2 is offline.
    fn machine() -> Tree {
        let tree =
            Tree::new().folder("/sys/devices/system/cpu/cpu2").file("/sys/devices/system/cpu/online", "0-1,3,200");
        [0, 1, 3, 200]
            .into_iter()
            .fold(tree, |tree, cpu| tree.file(&format!("/sys/devices/system/cpu/cpu{cpu}/topology/core_id"), "0"))
    }

    fn found(tree: &Tree, line: &str) -> Vec<Finding> {
        of_start(&Arguments::new(&line.split(' ').collect::<Vec<_>>()), &tree.host(), 128)
    }

    fn missing(cpus: &[u32]) -> Finding {
        Finding::CpusMissing { cpus: cpus.to_vec(), online: vec![0, 1, 3, 200] }
    }

    #[test]
    fn cpus_that_the_machine_lacks_are_named() {
        let machine = machine();
        for (line, cpus) in [
            ("x -l 0-4", &[2, 4][..]),
            ("x -c 0xc", &[2]),
            ("x --lcores=0@7", &[7]),
            ("x --lcores (0-1)@(1,9),2@3", &[9]),
            ("x -l 999", &[999]),
        ] {
            assert_eq!(found(&machine, line), [missing(cpus)], "{line}");
        }
    }

    #[test]
    fn what_is_there_is_no_finding() {
        let machine = machine();
        for line in ["x", "x -l 0,1", "x -c b", "x --lcores=(0-5)@(0-1)", "x --lcores=5@200,6@(1,3)", "x -l nonsense"] {
            assert_eq!(found(&machine, line), [], "{line}");
        }
        assert_eq!(found(&Tree::new(), "x -l 0"), [], "nothing is known of the CPUs");
    }

    #[test]
    fn lcores_beyond_the_limit_get_other_numbers() {
        let machine = machine();
        let expected = |lcores: &[u32], instead: &str| {
            [Finding::LcoresTooHigh { lcores: lcores.to_vec(), most: 127, instead: instead.to_owned() }]
        };
        assert_eq!(found(&machine, "x -l 1,200"), expected(&[200], "0@1,1@200"));
        assert_eq!(found(&machine, "x --lcores=128@(0,1),3"), expected(&[128], "0@(0-1),1@3"));
        assert_eq!(found(&machine, "x --lcores=127@200"), []);
    }

    #[test]
    fn control_groups_limit_the_cpus() {
        let expected = [Finding::CpusNotAllowed { cpus: vec![1], allowed: vec![0, 3] }];
        let second =
            machine().file("/proc/self/cgroup", "0::/a/b\n").file("/sys/fs/cgroup/a/b/cpuset.cpus.effective", "0,3\n");
        assert_eq!(found(&second, "x -l 0-1"), expected);
        assert_eq!(found(&second, "x -l 0,3"), []);
        let first = machine()
            .file("/proc/self/cgroup", "4:memory:/m\n3:cpuset,cpu:/\n0::/\n")
            .file("/sys/fs/cgroup/cpuset/cpuset.effective_cpus", "0,3\n");
        assert_eq!(found(&first, "x -l 1"), expected);
    }

    #[test]
    fn too_few_lcores_are_explained_by_the_option() {
        let machine = machine();
        let found = |line: &str, lcores: &[u32], wanted| {
            of_lcores(&Arguments::new(&line.split(' ').collect::<Vec<_>>()), &machine.host(), lcores, wanted)
        };
        assert_eq!(found("x -l 0-1", &[0, 1], 2), []);
        let few = |option: Option<&str>| Finding::TooFewLcores {
            wanted: 2,
            lcores: vec![0],
            option: option.map(str::to_owned),
            usable: vec![0, 1, 3, 200],
        };
        assert_eq!(found("x -l 0", &[0], 2), [few(Some("-l 0"))]);
        assert_eq!(found("x --lcores 0@1", &[0], 2), [few(Some("--lcores=0@1"))]);
        assert_eq!(found("x", &[0], 2), [few(None)]);
    }
}
