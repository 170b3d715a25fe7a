// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Asks pkg-config where DPDK is and how to compile with it.

use std::{env, ffi::OsString, path::PathBuf, process::Command};

const FLOOR: &str = "22.11";

/// An installed DPDK.
pub struct Dpdk {
    /// Flags for the C compiler: include paths, `-include rte_config.h`, `-march`.
    pub cflags: Vec<String>,
    /// The folders of the libraries.
    pub link_paths: Vec<PathBuf>,
    /// The names of DPDK's shared libraries, without `lib` and `.so`.
    pub shared_libs: Vec<String>,
}

/// Finds the installed DPDK; the error is one sentence that says what to install.
pub fn find() -> Result<Dpdk, String> {
    let library = pkg_config::Config::new()
        .atleast_version(FLOOR)
        .cargo_metadata(false)
        .print_system_libs(true)
        .print_system_cflags(true)
        .probe("libdpdk")
        .map_err(|error| explain(&error))?;
    Ok(Dpdk { cflags: cflags()?, link_paths: library.link_paths, shared_libs: library.libs })
}

fn explain(error: &pkg_config::Error) -> String {
    let installed = pkg_config("--modversion");
    match (error, installed) {
        (pkg_config::Error::Command { .. }, _) => {
            "pkg-config cannot be run: install the package pkgconf (or pkg-config)".into()
        }
        (_, Ok(version)) if !version.is_empty() => {
            format!("DPDK {version} is too old: install libdpdk-dev {FLOOR} or newer")
        }
        _ => format!(
            "DPDK was not found by pkg-config: install the package libdpdk-dev ({FLOOR} or newer), or add the folder \
             of libdpdk.pc to PKG_CONFIG_PATH; to build only the documentation set DPDK_SYS_BINDINGS=bundled"
        ),
    }
}

/// All C flags. The pkg-config crate itself keeps only include paths and macros.
fn cflags() -> Result<Vec<String>, String> {
    let flags = pkg_config("--cflags")?;
    Ok(flags.split_whitespace().map(str::to_owned).collect())
}

fn pkg_config(option: &str) -> Result<String, String> {
    let program = env::var_os("PKG_CONFIG").unwrap_or_else(|| OsString::from("pkg-config"));
    let output = Command::new(&program)
        .args([option, "libdpdk"])
        .output()
        .map_err(|error| format!("{} cannot be run: {error}: install the package pkgconf", program.display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
