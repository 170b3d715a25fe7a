// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The C kernels of one compiler.

use std::{
    env,
    error::Error,
    path::PathBuf,
    process::{Command, Stdio},
};

const SOURCES: [&str; 2] = ["c/read.c", "c/rewrite.c"];

/// Compiles them, or leaves word why not.
pub(crate) fn provide(compiler: &str) {
    println!("cargo::rerun-if-changed=c");
    println!("cargo::rerun-if-env-changed=PATH");
    if let Err(reason) = compile(compiler) {
        println!("cargo::rustc-cfg={compiler}_missing");
        println!("cargo::rustc-env=PARSING_BENCH_MISSING_{}={reason}", compiler.to_uppercase());
    }
}

/// The error says in one line why there are no kernels of this compiler.
fn compile(compiler: &str) -> Result<(), Box<dyn Error>> {
    let version = Command::new(compiler).arg("--version").stdin(Stdio::null()).output();
    if !version.is_ok_and(|output| output.status.success()) {
        return Err(format!("{compiler} was not found when this was built: install the package {compiler}, then cargo clean -p parsing-bench").into());
    }
    let mut build = cc::Build::new();
    build.compiler(compiler).files(SOURCES).define("COMPILER", format!("c_{compiler}").as_str());
    build.std("gnu11").warnings(true).extra_warnings(true).opt_level(3).debug(false);
    for folder in dpdk_headers()? {
        // As system headers: warnings are about our code.
        build.flag("-isystem").flag(folder);
    }
    // DPDK's own flags ask for a newer processor than Rust's default. What is compared, and what is to be inlined into
    // Rust, must be for the same one.
    build.flag("-include").flag("rte_config.h");
    if env::var("CARGO_CFG_TARGET_ARCH")? == "x86_64" {
        build.flag(processor());
    }
    if compiler == "clang" && links_across_languages() {
        build.flag("-flto=thin").define("ACROSS_LANGUAGES", None);
    }
    if compiler == "clang" && env::var_os("CARGO_CFG_FUZZING").is_some() {
        build.flag("-fsanitize=fuzzer-no-link,address,undefined").flag("-fno-sanitize-recover=undefined");
        build.flag("-fno-omit-frame-pointer").flag("-g");
    }
    build.cargo_warnings(false).try_compile(&format!("kernels_{compiler}")).map_err(|error| {
        let first = error.to_string().lines().next().unwrap_or_default().to_string();
        format!("{compiler} could not compile the kernels: {first}").into()
    })
}

fn dpdk_headers() -> Result<Vec<PathBuf>, String> {
    match pkg_config::Config::new().cargo_metadata(false).probe("libdpdk") {
        Ok(dpdk) => Ok(dpdk.include_paths),
        Err(_) => Err("DPDK's headers were not found when this was built: install the package libdpdk-dev, then cargo clean -p parsing-bench".into()),
    }
}

/// The level of x86-64 that Rust compiles for.
fn processor() -> &'static str {
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let has = |feature| features.split(',').any(|one| one == feature);
    if has("avx512bw") {
        "-march=x86-64-v4"
    } else if has("avx2") {
        "-march=x86-64-v3"
    } else if has("sse4.2") {
        "-march=x86-64-v2"
    } else {
        "-march=x86-64"
    }
}

/// Whether the linker gets LLVM's bitcode from Rust: `RUSTFLAGS=-Clinker-plugin-lto`.
fn links_across_languages() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    flags.contains("linker-plugin-lto")
}
