// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the build says when something is missing: one sentence, which names the package to install. The build script is run
//! as cargo runs it.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Where no pkg-config file and no library is.
fn empty_folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("build_errors").join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

/// Runs the build script; it writes into `folder`.
fn build(folder: &Path, environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("DPDK_SYS_BUILD_SCRIPT"));
    for (name, _) in env::vars() {
        if name.starts_with("PKG_CONFIG") || name.starts_with("DPDK_SYS") || name.starts_with("CARGO_FEATURE") {
            command.env_remove(name);
        }
    }
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("OUT_DIR", folder)
        .env("TARGET", "x86_64-unknown-linux-gnu")
        .env("HOST", "x86_64-unknown-linux-gnu")
        .env("OPT_LEVEL", "0")
        .env("RUST_BACKTRACE", "0")
        .envs(environment.iter().copied())
        .output()
        .expect("the build script can be run")
}

/// The only error. Cargo shows it alone, and fails the build, if the script itself ends well and writes nothing to stderr.
fn error(folder: &Path, environment: &[(&str, &str)]) -> String {
    let output = build(folder, environment);
    let stdout = String::from_utf8(output.stdout).expect("it is text");
    assert!(output.status.success(), "{stdout}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "nothing but the sentence");
    let errors: Vec<&str> = stdout.lines().filter_map(|line| line.strip_prefix("cargo::error=")).collect();
    let [error] = errors[..] else { panic!("not one error: {stdout}") };
    error.to_owned()
}

#[test]
fn no_dpdk() {
    let folder = empty_folder("no_dpdk");
    assert_eq!(
        error(&folder, &[("PKG_CONFIG_LIBDIR", folder.to_str().expect("it is UTF-8"))]),
        "DPDK was not found by pkg-config: install the package libdpdk-dev (22.11 or newer), or add the folder of \
         libdpdk.pc to PKG_CONFIG_PATH; to build only the documentation set DPDK_SYS_BINDINGS=bundled"
    );
}

#[test]
fn old_dpdk() {
    let folder = empty_folder("old_dpdk");
    let description = "Name: DPDK\nDescription: an old one\nVersion: 21.11.9\nLibs: -lrte_eal\nCflags: -I/nowhere\n";
    fs::write(folder.join("libdpdk.pc"), description).expect("the file can be written");
    assert_eq!(
        error(&folder, &[("PKG_CONFIG_PATH", folder.to_str().expect("it is UTF-8"))]),
        "DPDK 21.11.9 is too old: install libdpdk-dev 22.11 or newer"
    );
}

#[test]
fn no_pkg_config() {
    let folder = empty_folder("no_pkg_config");
    assert_eq!(
        error(&folder, &[("PKG_CONFIG", "/nonexistent/pkg-config")]),
        "pkg-config cannot be run: install the package pkgconf (or pkg-config)"
    );
}

#[test]
fn no_libclang() {
    let folder = empty_folder("no_libclang");
    assert_eq!(
        error(&folder, &[("LIBCLANG_PATH", folder.to_str().expect("it is UTF-8"))]),
        "libclang was not found: install the package libclang-dev, or set LIBCLANG_PATH"
    );
}

#[test]
fn no_static_archives() {
    let folder = empty_folder("no_static_archives");
    let description = format!(
        "Name: DPDK\nDescription: without archives\nVersion: 22.11.0\nLibs: -L{} -lrte_eal\nCflags: {}\n",
        folder.display(),
        cflags()
    );
    fs::write(folder.join("libdpdk.pc"), description).expect("the file can be written");
    let path = folder.to_str().expect("it is UTF-8");
    assert_eq!(
        error(&folder, &[("PKG_CONFIG_PATH", path), ("CARGO_FEATURE_STATIC", "1")]),
        "static linking needs DPDK's archives (librte_eal.a): install libdpdk-dev"
    );
}

fn cflags() -> String {
    let output = Command::new("pkg-config").args(["--cflags", "libdpdk"]).output().expect("pkg-config can be run");
    String::from_utf8(output.stdout).expect("it is text").trim().to_owned()
}

#[test]
fn unknown_choice_of_bindings() {
    let folder = empty_folder("unknown_choice");
    assert_eq!(
        error(&folder, &[("DPDK_SYS_BINDINGS", "bundeled")]),
        "DPDK_SYS_BINDINGS is 'bundeled': set it to 'bundled' or 'generate', or unset it"
    );
}

#[test]
fn bundled_bindings_need_nothing() {
    let folder = empty_folder("bundled");
    let nowhere = folder.to_str().expect("it is UTF-8");
    let without = [("PKG_CONFIG_LIBDIR", nowhere), ("LIBCLANG_PATH", nowhere), ("PATH", nowhere)];
    for choice in [("DPDK_SYS_BINDINGS", "bundled"), ("DOCS_RS", "1")] {
        let _ = fs::remove_file(folder.join("bindings.rs"));
        let output = build(&folder, &[&without[..], &[choice]].concat());
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !stdout.contains("error"), "{stdout}");
        assert!(!stdout.contains("rustc-link-lib"), "nothing is linked");
        let copy = fs::read(folder.join("bindings.rs")).expect("the bindings are written");
        assert_eq!(copy, fs::read("bindings/dpdk-22.11.rs").expect("the bindings are there"));
    }
}
