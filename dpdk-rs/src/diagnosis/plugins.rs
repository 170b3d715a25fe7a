// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! DPDK's plug-ins: why the EAL does not load one, whether all have one version, and the one that pools need.

use super::{
    Finding,
    arguments::Arguments,
    drivers::{environments, mapped, plugin_folder},
    host::Host,
};
use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// What prevents the EAL from loading the plug-ins on its command line, and conflicting versions.
pub(super) fn of_start(args: &Arguments, host: &Host) -> Vec<Finding> {
    let mut findings = Vec::new();
    let given = args.all("d").filter(|plugin| plugin.contains('/')).map(PathBuf::from);
    for plugin in given.chain(plugin_folder(host, &mapped(host)).filter(|folder| host.exists(folder))) {
        let Some(real) = host.real(&plugin) else {
            findings.push(Finding::PluginMissing { plugin });
            continue;
        };
        let open = |folder: &&Path| host.metadata(folder).is_some_and(|metadata| metadata.mode() & 0o002 != 0);
        let is_file = host.metadata(&real).is_some_and(|metadata| metadata.is_file());
        let loaded = is_file || host.names(&real).iter().any(|name| name.contains(".so"));
        if let Some(folder) = real.ancestors().find(open).filter(|_| loaded) {
            findings.push(Finding::PluginFolderOpen { plugin, folder: folder.to_owned() });
        }
    }
    findings.extend(two_versions(host));
    findings
}

/// Two versions of DPDK in one process, for example by a plug-in of another version.
pub(super) fn two_versions(host: &Host) -> Option<Finding> {
    match &environments(host)[..] {
        [first, second, ..] => Some(Finding::TwoVersions { first: first.clone(), second: second.clone() }),
        _ => None,
    }
}

/// Why a pool cannot be created: the driver that stores its mbufs is missing.
pub(super) fn of_pool(host: &Host) -> Option<Finding> {
    let folder = plugin_folder(host, &mapped(host))?;
    let there = |name: &String| name.starts_with("librte_mempool_ring.so");
    (!host.names(&folder).iter().any(there)).then_some(Finding::PoolDriverMissing { folder })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{of_pool, of_start, two_versions};
    use crate::diagnosis::{
        Finding,
        arguments::Arguments,
        drivers::tests::{FOLDER, shared},
    };
    use std::path::PathBuf;

    fn arguments(line: &str) -> Arguments {
        Arguments::new(&line.split(' ').collect::<Vec<_>>())
    }

    #[test]
    fn plugin_that_is_missing_is_named() {
        let missing = Finding::PluginMissing { plugin: PathBuf::from("/opt/nothing.so") };
        let tree = shared();
        assert_eq!(of_start(&arguments("x -d /opt/nothing.so"), &tree.host()), [missing]);
        assert_eq!(of_start(&arguments("x -d libfound_by_the_loader.so"), &tree.host()), []);
    }

    #[test]
    fn plugin_where_everybody_may_write_is_named() {
        let tree = shared().file("/opt/pmd/mine.so", "").mode("/opt/pmd", 0o777);
        let expected = |plugin: &str| Finding::PluginFolderOpen { plugin: plugin.into(), folder: "/opt/pmd".into() };
        for plugin in ["/opt/pmd", "/opt/pmd/mine.so"] {
            assert_eq!(of_start(&arguments(&format!("x -d {plugin}")), &tree.host()), [expected(plugin)]);
        }
        let tree = tree.folder("/opt/empty").mode("/opt/empty", 0o777);
        assert_eq!(of_start(&arguments("x -d /opt/empty"), &tree.host()), [], "nothing is loaded from there");
    }

    #[test]
    fn usual_folder_must_be_closed_too() {
        let tree = shared();
        assert_eq!(of_start(&arguments("x"), &tree.host()), []);
        let tree = tree.mode("/usr", 0o777);
        let (plugin, folder) = (PathBuf::from(FOLDER), PathBuf::from("/usr"));
        assert_eq!(of_start(&arguments("x"), &tree.host()), [Finding::PluginFolderOpen { plugin, folder }]);
    }

    #[test]
    fn second_version_is_named() {
        let line = "7f-80 r-xp 00 08:01 2   /usr/lib/librte_eal.so.23.0\n";
        let maps = format!("{line}{line}");
        let tree = shared().file("/proc/self/maps", &maps);
        assert_eq!(two_versions(&tree.host()), None);
        let tree = tree.file("/proc/self/maps", &format!("{maps}7f-80 r-xp 00 08:01 3   /opt/librte_eal.so.25.0\n"));
        let (first, second) = ("/opt/librte_eal.so.25.0".into(), "/usr/lib/librte_eal.so.23.0".into());
        assert_eq!(two_versions(&tree.host()), Some(Finding::TwoVersions { first, second }));
    }

    #[test]
    fn pools_need_their_driver() {
        let tree = shared();
        assert_eq!(of_pool(&tree.host()), None);
        std::fs::remove_file(tree.place(&format!("{FOLDER}/librte_mempool_ring.so.23.0"))).unwrap();
        assert_eq!(of_pool(&tree.host()), Some(Finding::PoolDriverMissing { folder: PathBuf::from(FOLDER) }));
    }
}
