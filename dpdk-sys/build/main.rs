// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Finds DPDK, generates the bindings, compiles the wrappers of its static inline functions, and links.

mod allow_list;
mod bind;
mod link;
mod probe;

use std::{env, path::PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=src/wrapper.h");
    println!("cargo:rerun-if-changed=src/wrapper");
    println!("cargo:rerun-if-env-changed=DPDK_SYS_BINDINGS");
    println!("cargo:rerun-if-env-changed=DOCS_RS");
    if let Ok(program) = env::current_exe() {
        // The tests run this program again, with something missing.
        println!("cargo:rustc-env=DPDK_SYS_BUILD_SCRIPT={}", program.display());
    }
    if let Err(message) = run() {
        // This line makes the build fail. With a failing exit status cargo would also print all other output.
        println!("cargo::error={message}");
    }
}

fn run() -> Result<(), String> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: run this through cargo")?);
    if bundled()? {
        return bind::copy_bundled(&out);
    }
    let dpdk = probe::find()?;
    bind::generate(&dpdk, &out)?;
    link::emit(&dpdk)
}

/// Whether to use the bindings in `bindings/` without linking, for documentation on a machine without DPDK.
fn bundled() -> Result<bool, String> {
    match env::var("DPDK_SYS_BINDINGS").as_deref() {
        Ok("bundled") => Ok(true),
        Ok("generate") | Err(_) => Ok(env::var_os("DOCS_RS").is_some()),
        Ok(other) => Err(format!("DPDK_SYS_BINDINGS is '{other}': set it to 'bundled' or 'generate', or unset it")),
    }
}
