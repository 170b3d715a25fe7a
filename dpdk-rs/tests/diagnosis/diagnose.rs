// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Runs of the example `diagnose`.

use crate::process::{Finished, finish};
use std::{
    env, fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{self, Command},
    sync::atomic::{AtomicU32, Ordering},
};

/// Memory without hugepages, and no NIC: nothing of the machine stands in the way.
pub(crate) const PLAIN: &str = "--no-huge -m 64 --no-pci --no-telemetry";

/// How to run it.
pub(crate) struct Diagnose {
    /// The command line in front of the program's.
    wrapper: Vec<String>,
    variables: Vec<(&'static str, PathBuf)>,
    /// A folder of this run's own.
    folder: PathBuf,
}

impl Diagnose {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("diagnosis-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        // Not the usual folder for such files: DPDK takes no plug-in from below one that everybody may write to.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).unwrap();
        let variables = vec![("RUNTIME_DIRECTORY", folder.clone())];
        Self { wrapper: Vec::new(), variables, folder }
    }

    /// A folder of this run's own, in which DPDK has its run-time files, too.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether DPDK would load a plug-in from this run's folder. If not, it says so.
    pub(crate) fn loads_plugins(&self) -> bool {
        let open = |folder: &&Path| fs::metadata(folder).unwrap().permissions().mode() & 0o002 != 0;
        let Some(open) = self.folder.ancestors().find(open) else { return true };
        println!("skipped: everybody may write to {}, so DPDK loads no plug-in from below it", open.display());
        false
    }

    /// Runs it behind another command.
    pub(crate) fn behind(mut self, words: &[&str]) -> Self {
        self.wrapper.extend(words.iter().map(|word| (*word).to_owned()));
        self
    }

    pub(crate) fn variable(mut self, name: &'static str, value: impl Into<PathBuf>) -> Self {
        self.variables.retain(|(own, _)| *own != name);
        self.variables.push((name, value.into()));
        self
    }

    /// Runs it with the run-time files where they usually are.
    pub(crate) fn among_others(mut self) -> Self {
        self.variables.clear();
        self
    }

    /// Runs it in mounts of its own, made by this script. `None` if that is not permitted, and then it says so.
    pub(crate) fn mounted(self, script: &str) -> Option<Self> {
        let tried = finish(Command::new("unshare").args(["--mount", "true"]));
        if tried.status.success() {
            return Some(self.behind(&["unshare", "--mount", "sh", "-ec", &format!("{script}\nexec \"$0\" \"$@\"")]));
        }
        println!("skipped: mounts of its own are refused: {}", tried.stderr.trim());
        None
    }

    /// Runs it as a user without rights. `None` if that is not permitted, and then it says so.
    pub(crate) fn by_nobody(self) -> Option<Self> {
        let words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--"];
        let tried = finish(Command::new(words[0]).args(&words[1..]).arg("true"));
        if tried.status.success() {
            return Some(self.behind(&words));
        }
        println!("skipped: becoming another user is refused: {}", tried.stderr.trim());
        None
    }

    fn run(&self, options: &str) -> Finished {
        let program = env::current_exe().unwrap();
        let program = program.ancestors().nth(2).unwrap().join("examples/diagnose");
        assert!(program.exists(), "{} is missing: run `cargo build -p dpdk-rs --examples`", program.display());
        let mut words = self.wrapper.iter().map(String::as_str).chain([program.to_str().unwrap()]);
        let mut command = Command::new(words.next().unwrap());
        command.args(words).args(options.split_whitespace());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        finish(&mut command)
    }

    /// What it finds; it must fail.
    pub(crate) fn findings(&self, options: &str) -> Vec<String> {
        let finished = self.run(options);
        let all = format!("{}{}", finished.stdout, finished.stderr);
        assert_eq!(finished.status.code(), Some(1), "{options}:\n{all}");
        let lines = finished.stderr.lines().filter_map(|line| line.strip_prefix("diagnose: found: "));
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        assert!(!lines.is_empty(), "{options}:\n{all}");
        lines
    }

    /// What it finds first.
    pub(crate) fn first(&self, options: &str) -> String {
        self.findings(options).swap_remove(0)
    }

    /// What it prints if there is nothing to find.
    pub(crate) fn report(&self, options: &str) -> String {
        let finished = self.run(options);
        assert_eq!(finished.status.code(), Some(0), "{options}:\n{}{}", finished.stdout, finished.stderr);
        finished.stdout
    }
}

impl Drop for Diagnose {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.folder).unwrap();
    }
}

/// Whether a text has all of these parts.
#[track_caller]
pub(crate) fn assert_parts(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "'{part}' is not in: {text}");
    }
}
