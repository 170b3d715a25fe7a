// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Whether this user may create the files that a primary process needs.

use super::{
    Finding,
    arguments::Arguments,
    host::{Access, Host},
};

/// Finds the folder in which the EAL cannot create its run-time files: the folder above DPDK's, DPDK's own, or that of
/// the prefix.
pub(super) fn of_start(args: &Arguments, host: &Host) -> Option<Finding> {
    if !args.shares_files() {
        return None;
    }
    let user = host.user();
    let dpdk = host.runtime_folder();
    let own = dpdk.join(args.file_prefix());
    let above = dpdk.parent()?.to_owned();
    if !host.exists(&above) {
        return Some(Finding::RuntimeFolderMissing { folder: above });
    }
    let mut steps = vec![above, dpdk, own.clone()];
    // The user must be able to pass through all existing folders, and to create the missing ones in the last of them.
    steps.retain(|folder| host.exists(folder));
    let last = steps.pop()?;
    let asked = steps.into_iter().map(|folder| (folder, Access::ENTER)).chain([(last, Access::ENTER_AND_WRITE)]);
    let files = ["config", "hugepage_info"].into_iter().map(|name| (own.join(name), Access::READ_WRITE));
    let mut asked = asked.chain(files);
    let refused =
        asked.find(|(path, access)| host.metadata(path).is_some_and(|metadata| !user.may(*access, &metadata)))?;
    Some(Finding::RuntimeFolderDenied { path: refused.0, user: user.id })
}

#[cfg(test)]
mod tests {
    use super::of_start;
    use crate::diagnosis::{Finding, arguments::Arguments, tree::Tree};
    use std::path::PathBuf;

    /// A machine on which the user owns none of these folders.
    fn machine() -> Tree {
        let status = "Pid:\t7\nUid:\t4000000\t4000000\t4000000\t4000000\nCapEff:\t0\n";
        Tree::new().file("/proc/self/status", status).folder("/run/user/0")
    }

    fn found(tree: &Tree, line: &str) -> Option<Finding> {
        let host = tree.host().with_runtime("/run/user/0");
        of_start(&Arguments::new(&line.split(' ').collect::<Vec<_>>()), &host)
    }

    fn denied(path: &str) -> Option<Finding> {
        Some(Finding::RuntimeFolderDenied { path: PathBuf::from(path), user: 4_000_000 })
    }

    #[test]
    fn first_folder_that_refuses_is_named() {
        let tree = machine().mode("/run/user/0", 0o755);
        assert_eq!(found(&tree, "x"), denied("/run/user/0"));
        for line in ["x --no-shconf", "x --in-memory"] {
            assert_eq!(found(&tree, line), None, "{line}");
        }
        let tree = tree.mode("/run/user/0", 0o777);
        assert_eq!(found(&tree, "x"), None);
        let tree = tree.folder("/run/user/0/dpdk").mode("/run/user/0/dpdk", 0o755);
        assert_eq!(found(&tree, "x"), denied("/run/user/0/dpdk"));
        let tree = tree.folder("/run/user/0/dpdk/rte").mode("/run/user/0/dpdk/rte", 0o777);
        assert_eq!(found(&tree, "x"), None, "all folders are there");
        let tree = tree.file("/run/user/0/dpdk/rte/config", "").mode("/run/user/0/dpdk/rte/config", 0o600);
        assert_eq!(found(&tree, "x"), denied("/run/user/0/dpdk/rte/config"));
        assert_eq!(found(&tree, "x --file-prefix=mine"), denied("/run/user/0/dpdk"));
    }

    #[test]
    fn folder_that_is_missing_is_named() {
        let host = machine().host().with_runtime("/run/user/1");
        let missing = Finding::RuntimeFolderMissing { folder: PathBuf::from("/run/user/1") };
        assert_eq!(of_start(&Arguments::new(&["x"]), &host), Some(missing));
    }
}
