// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Drivers that are missing, and versions of DPDK that do not fit each other.

use crate::{
    diagnose::{Diagnose, PLAIN, assert_parts},
    process::finish,
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Compiles a shared library.
fn library(folder: &Path, name: &str, source: &str, options: &[&str]) -> PathBuf {
    let (source_file, library) = (folder.join(format!("{name}.c")), folder.join(name));
    fs::write(&source_file, source).unwrap();
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source_file).args(options);
    let finished = finish(&mut command);
    assert!(finished.status.success(), "{}", finished.stderr);
    library
}

/// DPDK's plug-in folder, as the finding of a driver that cannot exist names it. `None` if the example is linked with
/// DPDK's archives, and then it says so.
fn plugin_folder() -> Option<String> {
    let found = Diagnose::new().first(&format!("{PLAIN} --vdev=net_nothing0"));
    let Some((_, rest)) = found.split_once(" in /") else {
        assert_parts(&found, &["there is no driver for device net_nothing0 in this program: link its archive "]);
        println!("skipped: the example is linked with DPDK's archives");
        return None;
    };
    let folder = format!("/{}", rest.split_once(" (").unwrap().0);
    assert!(Path::new(&folder).is_dir(), "{found}");
    Some(folder)
}

/// A run that finds only the plug-ins whose names begin so.
fn with_plugins(names: &[&str]) -> Option<Diagnose> {
    let folder = plugin_folder()?;
    let run = Diagnose::new();
    let own = run.folder().join("plugins");
    fs::create_dir(&own).unwrap();
    for entry in fs::read_dir(&folder).unwrap() {
        let (name, path) = entry.map(|entry| (entry.file_name().into_string().unwrap(), entry.path())).unwrap();
        if names.iter().any(|wanted| name.starts_with(&format!("librte_{wanted}."))) {
            // With its links, since DPDK takes two files of the same content for two plug-ins.
            assert!(finish(Command::new("cp").arg("-a").args([&path, &own])).status.success());
        }
    }
    run.mounted(&format!("mount --bind '{}' '{folder}'", own.display()))
}

#[test]
fn plugin_that_is_not_installed() {
    let Some(run) = with_plugins(&["bus_pci", "bus_vdev", "mempool_ring", "net_null"]) else { return };
    assert_parts(&run.report(&format!("{PLAIN} --vdev=net_null0")), &["port 0 (net_null0)"]);
    let found = run.first(&format!("{PLAIN} --vdev=net_ring0"));
    assert_parts(&found, &["there is no driver for device net_ring0 in /", "apt-get install librte-meta-net"]);
}

#[test]
fn driver_of_pools_that_is_not_installed() {
    let Some(run) = with_plugins(&["bus_pci", "bus_vdev", "net_null"]) else { return };
    let found = run.first(&format!("{PLAIN} --vdev=net_null0"));
    assert_parts(&found, &["lacks librte_mempool_ring.so", "apt-get install librte-meta-mempool"]);
}

#[test]
fn empty_plugin_folder() {
    let Some(run) = with_plugins(&[]) else { return };
    let found = run.first(&format!("{PLAIN} --vdev=net_null0"));
    assert_parts(&found, &["there is no driver for device net_null0 in /", "(0 plug-ins)"]);
}

#[test]
fn plugin_that_does_not_exist() {
    let found = Diagnose::new().first(&format!("{PLAIN} -d /nothing/librte_net_mine.so"));
    assert_parts(&found, &["/nothing/librte_net_mine.so does not exist: give -d a driver's library"]);
}

#[test]
fn plugin_below_a_folder_that_everybody_may_write_to() {
    if plugin_folder().is_none() {
        return;
    }
    let run = Diagnose::new();
    if !run.loads_plugins() {
        return;
    }
    let plugin = library(run.folder(), "mine.so", "int nothing;", &[]);
    let options = format!("{PLAIN} --vdev=net_null0 -d {}", plugin.display());
    assert_parts(&run.report(&options), &["port 0 (net_null0)"]);
    assert!(finish(Command::new("chmod").arg("o+w").arg(run.folder())).status.success());
    assert_parts(&run.first(&options), &["everybody may write to ", ", so DPDK loads nothing from ", "chmod o-w "]);
}

#[test]
fn library_of_another_version() {
    if plugin_folder().is_none() {
        return;
    }
    let run = Diagnose::new();
    let shim = library(run.folder(), "other.so", "const char *rte_version(void) { return \"DPDK 99.11.0\"; }", &[]);
    let run = run.variable("LD_PRELOAD", shim);
    let found = run.first(&format!("{PLAIN} --vdev=net_null0"));
    assert_parts(&found, &["the program was built with DPDK 2", " is DPDK 99.11.0: build the program again here"]);
    assert_parts(&found, &["/librte_eal.so."]);
}

#[test]
fn plugin_of_another_version() {
    if plugin_folder().is_none() {
        return;
    }
    let run = Diagnose::new();
    if !run.loads_plugins() {
        return;
    }
    let other = library(run.folder(), "librte_eal.so.99", "int other_environment;", &["-Wl,-soname,librte_eal.so.99"]);
    let here = format!("-Wl,--no-as-needed,-rpath,{}", run.folder().display());
    let plugin = library(run.folder(), "librte_net_mine.so", "int mine;", &[&here, other.to_str().unwrap()]);
    let findings = run.findings(&format!("{PLAIN} --vdev=net_mine0 -d {}", plugin.display()));
    let found = findings.iter().find(|found| found.starts_with("two versions of DPDK are loaded"));
    assert_parts(found.unwrap(), &["/librte_eal.so.99", "remove the plug-in that loads the second one from -d"]);
}
