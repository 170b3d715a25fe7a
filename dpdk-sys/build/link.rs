// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Selects what cargo links: DPDK's shared libraries, or with the feature `static` its archives and a list of drivers.

use crate::probe::Dpdk;
use std::{env, path::Path, path::PathBuf};

/// The drivers of the static build. They register themselves from constructors that no symbol refers to, so each
/// archive is linked whole, and exactly once. With shared libraries the EAL loads every driver of DPDK's plug-in folder
/// instead.
const DRIVERS: &[&str] = &[
    "common_iavf",
    "bus_pci",
    "bus_vdev",
    "mempool_ring",
    "mempool_stack",
    "net_af_packet",
    "net_e1000",
    "net_ena",
    "net_failsafe",
    "net_i40e",
    "net_iavf",
    "net_ice",
    "net_igc",
    "net_ixgbe",
    "net_memif",
    "net_null",
    "net_pcap",
    "net_ring",
    "net_tap",
    "net_vhost",
    "net_virtio",
    "net_vmxnet3",
];

/// Those of the drivers that DPDK 25.11 has merged into others, `net_iavf` and `net_e1000`. They are omitted if they do
/// not exist.
const MERGED: &[&str] = &["common_iavf", "net_igc"];

/// Libraries of the static build that register telemetry, log types or options from constructors. They too are linked
/// whole. An archive that the installed version does not have (`log`, `argparse`) is omitted.
const WHOLE: &[&str] = &["ethdev", "mempool", "eal", "telemetry", "log", "argparse"];

/// The libraries that those two lists and the bindings refer to, in the order of the linker's single pass.
const REFERRED: &[&str] = &[
    "latencystats",
    "metrics",
    "pdump",
    "pcapng",
    "acl",
    "fib",
    "rib",
    "lpm",
    "reorder",
    "vhost",
    "gro",
    "gso",
    "ip_frag",
    "security",
    "cryptodev",
    "dmadev",
    "hash",
    "bpf",
    "timer",
    "pci",
    "stack",
    "net",
    "mbuf",
    "meter",
    "rcu",
    "ring",
    "kvargs",
];

/// The system libraries that the archives above need.
const SYSTEM: &[&str] = &["numa", "pcap", "elf", "bsd", "atomic", "m", "dl", "pthread"];

/// Prints cargo's link instructions.
pub fn emit(dpdk: &Dpdk) -> Result<(), String> {
    for path in &dpdk.link_paths {
        println!("cargo:rustc-link-search=native={}", path.display());
    }
    if env::var_os("CARGO_FEATURE_STATIC").is_none() {
        for name in &dpdk.shared_libs {
            println!("cargo:rustc-link-lib=dylib={name}");
        }
        return Ok(());
    }
    let folder = archive_folder(&dpdk.link_paths)?;
    let present = |name: &&&str| archive(&folder, name).exists();
    let needed = |name: &&&str| !MERGED.contains(name);
    if let Some(missing) = DRIVERS.iter().chain(REFERRED).filter(needed).find(|name| !present(name)) {
        return Err(format!("static linking needs {}: install libdpdk-dev", archive(&folder, missing).display()));
    }
    for name in DRIVERS.iter().chain(WHOLE).filter(present) {
        println!("cargo:rustc-link-lib=static:+whole-archive,-bundle=rte_{name}");
    }
    for name in REFERRED {
        println!("cargo:rustc-link-lib=static:-bundle=rte_{name}");
    }
    for name in SYSTEM {
        println!("cargo:rustc-link-lib=dylib={name}");
    }
    Ok(())
}

fn archive(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("librte_{name}.a"))
}

fn archive_folder(paths: &[PathBuf]) -> Result<PathBuf, String> {
    paths
        .iter()
        .find(|path| archive(path, "eal").exists())
        .cloned()
        .ok_or_else(|| "static linking needs DPDK's archives (librte_eal.a): install libdpdk-dev".into())
}
