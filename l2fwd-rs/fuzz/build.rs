// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Compiles the parts of l2fwd-c that are compared with l2fwd-rs: for a fuzzer with clang, its sanitizers and the
//! instrumentation that libFuzzer steers by; for the tests that replay the corpora with the usual compiler.

use std::env;

const SOURCES: [&str; 11] = [
    "args.c",
    "error.c",
    "forward.c",
    "fuzz/command_line.c",
    "fuzz/command_line.h",
    "fuzz/frames.c",
    "fuzz/frames.h",
    "gaps.c",
    "idle.c",
    "queue_pair.c",
    "topology.c",
];
/// libFuzzer itself comes with the crate libfuzzer-sys.
const INSTRUMENTATION: &str = "-fsanitize=fuzzer-no-link,address,undefined";
const SANITIZERS: &str = "-fsanitize=address,undefined";

fn main() {
    let dpdk = match pkg_config::Config::new().cargo_metadata(false).probe("libdpdk") {
        Ok(dpdk) => dpdk,
        Err(error) => {
            println!("cargo::error=DPDK was not found by pkg-config: install the package libdpdk-dev: {error}");
            return;
        }
    };
    let mut build = cc::Build::new();
    build.std("gnu11").define("_GNU_SOURCE", None).define("VERSION", "\"0\"").warnings(true).extra_warnings(true);
    for folder in dpdk.include_paths {
        // As system headers: warnings are about our code.
        build.flag("-isystem").flag(folder);
    }
    if env::var_os("CARGO_FEATURE_LIBFUZZER").is_some() {
        build.compiler("clang").flag(INSTRUMENTATION).flag("-fno-sanitize-recover=undefined");
        build.flag("-fno-omit-frame-pointer").flag("-g");
        println!("cargo::rustc-link-arg-bins={SANITIZERS}");
    }
    for source in SOURCES {
        let path = format!("../../l2fwd-c/{source}");
        println!("cargo::rerun-if-changed={path}");
        if source == "error.c" {
            // Its warnings are compared, so they are not printed.
            build.clone().define("warn", "print_warning").file(path).compile("l2fwd-c-error");
        } else if source.ends_with(".c") {
            build.file(path);
        }
    }
    build.compile("l2fwd-c");
}
