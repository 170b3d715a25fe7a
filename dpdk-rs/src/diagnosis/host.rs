// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The machine as described by the files of /proc, /sys and /dev, below a root folder that tests replace.

use std::{
    env, fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// The source of all facts.
pub(super) struct Host {
    root: PathBuf,
    /// The folder in which DPDK creates its own, from the environment.
    runtime: Option<PathBuf>,
}

impl Host {
    /// The machine on which this process runs.
    pub(super) fn this() -> Self {
        // First systemd's variable, then the desktop's, in DPDK's order.
        let system = env::var_os("RUNTIME_DIRECTORY");
        let runtime = system.or_else(|| env::var_os("XDG_RUNTIME_DIR").filter(|_| !Self::at("/").user().is_root()));
        Self { root: PathBuf::from("/"), runtime: runtime.map(PathBuf::from) }
    }

    /// A machine below `root`, without environment variables.
    pub(super) fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), runtime: None }
    }

    #[cfg(test)]
    pub(super) fn with_runtime(mut self, folder: &str) -> Self {
        self.runtime = Some(PathBuf::from(folder));
        self
    }

    /// DPDK's folder for the files of its processes.
    pub(super) fn runtime_folder(&self) -> PathBuf {
        let default = if self.user().is_root() { "/var/run" } else { "/tmp" };
        self.runtime.as_deref().unwrap_or(Path::new(default)).join("dpdk")
    }

    /// The path of an absolute path below the root.
    pub(super) fn place(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The canonical path, with links followed.
    pub(super) fn real(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        let (root, real) = (fs::canonicalize(&self.root).ok()?, fs::canonicalize(self.place(path)).ok()?);
        Some(Path::new("/").join(real.strip_prefix(root).ok()?))
    }

    pub(super) fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.place(path).exists()
    }

    pub(super) fn bytes(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        fs::read(self.place(path)).ok()
    }

    /// A file's text without leading and trailing white space.
    pub(super) fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let bytes = self.bytes(path)?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    pub(super) fn number(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// The names in a folder, sorted; empty if the folder does not exist.
    pub(super) fn names(&self, folder: impl AsRef<Path>) -> Vec<String> {
        let entries = fs::read_dir(self.place(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The target of a symbolic link.
    pub(super) fn link(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        fs::read_link(self.place(path)).ok()
    }

    /// The last component of a symbolic link's target, by which /sys names a driver, a module or a group.
    pub(super) fn link_name(&self, path: impl AsRef<Path>) -> Option<String> {
        Some(self.link(path)?.file_name()?.to_string_lossy().into_owned())
    }

    pub(super) fn metadata(&self, path: impl AsRef<Path>) -> Option<fs::Metadata> {
        fs::metadata(self.place(path)).ok()
    }

    /// The text after `key:` in a file of such lines.
    pub(super) fn field(&self, path: impl AsRef<Path>, key: &str) -> Option<String> {
        let text = self.text(path)?;
        let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        Some(value.trim().to_owned())
    }

    /// Whether the kernel has this module, loaded or built in with parameters.
    pub(super) fn has_module(&self, name: &str) -> bool {
        self.exists(format!("/sys/module/{name}"))
    }

    /// All processes except this one.
    pub(super) fn other_processes(&self) -> Vec<Process> {
        let own = self.field("/proc/self/status", "Pid");
        let numbers = self.names("/proc").into_iter().filter(|name| Some(name) != own.as_ref());
        numbers.filter_map(|name| Some(self.process(name.parse().ok()?))).collect()
    }

    pub(super) fn process(&self, pid: u32) -> Process {
        Process { pid, name: self.text(format!("/proc/{pid}/comm")).unwrap_or_default() }
    }

    /// The user of the calling process.
    pub(super) fn user(&self) -> User {
        let numbers = |key| -> Vec<u32> {
            let line = self.field("/proc/self/status", key).unwrap_or_default();
            line.split_whitespace().filter_map(|number| number.parse().ok()).collect()
        };
        // Of the four numbers, real, effective, saved and file system, the last applies to files.
        let last = |key| numbers(key).last().copied().unwrap_or(0);
        let capabilities = self.field("/proc/self/status", "CapEff").unwrap_or_default();
        let mut groups = numbers("Groups");
        groups.push(last("Gid"));
        User {
            id: last("Uid"),
            real_id: numbers("Uid").first().copied().unwrap_or(0),
            groups,
            capabilities: u64::from_str_radix(&capabilities, 16).unwrap_or(0),
        }
    }
}

/// A process: its number and the name of its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// The program's name, as `ps` shows it; empty if the process has already ended.
    pub name: String,
}

/// The properties that the kernel checks when a process opens a file.
pub(super) struct User {
    pub(super) id: u32,
    real_id: u32,
    groups: Vec<u32>,
    capabilities: u64,
}

/// A requested access to a file, as in a file's mode.
#[derive(Clone, Copy)]
pub(super) struct Access(u32);

impl Access {
    pub(super) const READ_WRITE: Self = Self(0o6);
    /// Creating files in a folder.
    pub(super) const ENTER_AND_WRITE: Self = Self(0o3);
    pub(super) const ENTER: Self = Self(0o1);
}

impl User {
    const CAP_DAC_OVERRIDE: u32 = 1;
    const CAP_IPC_LOCK: u32 = 14;

    /// DPDK's test for root.
    pub(super) const fn is_root(&self) -> bool {
        self.real_id == 0
    }

    pub(super) const fn may_lock_memory(&self) -> bool {
        self.has(Self::CAP_IPC_LOCK)
    }

    const fn has(&self, capability: u32) -> bool {
        self.capabilities & (1 << capability) != 0
    }

    /// Whether the file's mode allows this user the access.
    pub(super) fn may(&self, access: Access, file: &fs::Metadata) -> bool {
        if self.has(Self::CAP_DAC_OVERRIDE) {
            return true;
        }
        let shift = if file.uid() == self.id {
            6
        } else if self.groups.contains(&file.gid()) {
            3
        } else {
            0
        };
        (file.mode() >> shift) & access.0 == access.0
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::Access;
    use crate::diagnosis::tree::Tree;
    use std::path::Path;

    fn tree(uid: u32, gid: u32, capabilities: &str) -> Tree {
        Tree::new().file(
            "/proc/self/status",
            &format!(
                "Name:\tx\nPid:\t7\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\nGid:\t{gid}\t{gid}\t{gid}\t{gid}\n\
                 Groups:\t\nCapEff:\t{capabilities}\n"
            ),
        )
    }

    #[test]
    fn mode_decides_for_owner_group_and_others() {
        for (mode, owner, group, other) in
            [(0o600, true, false, false), (0o060, false, true, false), (0o006, false, false, true)]
        {
            let (uid, gid) = Tree::new().file("/f", "").owner("/f");
            for (uid, gid, expected) in [(uid, gid, owner), (uid + 1, gid, group), (uid + 1, gid + 1, other)] {
                let tree = tree(uid, gid, "0").file("/f", "").mode("/f", mode);
                let host = tree.host();
                let may = host.user().may(Access::READ_WRITE, &host.metadata("/f").unwrap());
                assert_eq!(may, expected, "{mode:o} {uid} {gid}");
            }
        }
    }

    #[test]
    fn capability_goes_beyond_the_mode() {
        let tree = tree(4_000_000, 4_000_000, "0000000000000002").file("/f", "").mode("/f", 0);
        let host = tree.host();
        assert!(host.user().may(Access::READ_WRITE, &host.metadata("/f").unwrap()));
    }

    #[test]
    fn runtime_folder_is_that_of_the_user() {
        let (root, user) = (tree(0, 0, "0"), tree(1000, 0, "0"));
        assert_eq!(root.host().runtime_folder(), Path::new("/var/run/dpdk"));
        assert_eq!(user.host().runtime_folder(), Path::new("/tmp/dpdk"));
        let host = user.host().with_runtime("/run/user/1000");
        assert_eq!(host.runtime_folder(), Path::new("/run/user/1000/dpdk"));
    }

    #[test]
    fn the_process_itself_is_not_among_the_others() {
        let tree = tree(0, 0, "0").file("/proc/7/comm", "me\n").file("/proc/19/comm", "dpdk-testpmd\n");
        let others = tree.host().other_processes();
        assert_eq!(others.len(), 1);
        assert_eq!((others[0].pid, others[0].name.as_str()), (19, "dpdk-testpmd"));
    }
}
