// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The public interface is what `public-api.txt` lists: every change of the interface appears as a change of that file,
//! where it can be weighed against the version number.
//!
//! To renew the list: `DPDK_RS_RENEW=1 cargo test -p dpdk-rs --test public_api`, and read what is different.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

const LIST: &str = "public-api.txt";
const HEAD: &str = "# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
#
# The public interface of dpdk-rs with all features. Renew with:
#     DPDK_RS_RENEW=1 cargo test -p dpdk-rs --test public_api

";

/// The format of rustdoc's JSON that the crate `public-api` reads: that of Rust 1.95.
const FORMAT: &str = "\"format_version\":57";

/// Has rustdoc describe the crate, among what else is built; where the description is.
fn describe() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // JSON is unstable. The variable that allows it is set for rustdoc alone: build scripts look at it, and would have
    // everything built again.
    let wrapper = folder.join("rustdoc");
    let rustdoc = env::var("RUSTDOC").unwrap_or_else(|_| "rustdoc".into());
    fs::write(&wrapper, format!("#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec {rustdoc} \"$@\"\n")).unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["rustdoc", "--package", "dpdk-rs", "--lib", "--features", "serde,smoltcp,tracing"])
        .args(["--", "-Z", "unstable-options", "--output-format", "json"])
        .env("RUSTDOC", &wrapper)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let target = folder.parent().unwrap().join(env::var("CARGO_BUILD_TARGET").unwrap_or_default());
    target.join("doc/dpdk_rs.json")
}

/// What the compiler gives every type. `Send` and `Sync`, which are promises, are listed.
const AUTOMATIC: [&str; 5] =
    ["marker::Freeze", "marker::StructuralPartialEq", "marker::Unpin", "marker::UnsafeUnpin", "panic::unwind_safe::"];

/// Methods whose whole signature follows from the line of the `impl` that is listed above them.
const IMPLIED: [&str; 8] = [
    "::clone(&self) -> ",
    "::cmp(&self, &",
    "::default() -> ",
    "::drop(&mut self)",
    "::eq(&self, &",
    "::fmt(&self, &mut core::fmt::Formatter<'_>)",
    "::hash<__H: core::hash::Hasher>(&self, &mut __H)",
    "::partial_cmp(&self, &",
];

/// The list, without what is the same for every type, what is listed already, and the chapters of the guide.
fn list(description: PathBuf) -> String {
    let api = public_api::Builder::from_rustdoc_json(description).omit_blanket_impls(true).build().unwrap();
    let automatic = |line: &str| line.starts_with("impl") && AUTOMATIC.iter().any(|name| line.contains(name));
    let implied = |line: &str| line.starts_with("pub fn") && IMPLIED.iter().any(|method| line.contains(method));
    let lines = api.items().map(|item| format!("{item}\n"));
    lines.filter(|line| !automatic(line) && !implied(line) && !line.starts_with("pub mod dpdk_rs::guide")).collect()
}

#[test]
fn public_interface_is_the_one_listed() {
    if env::var_os("DPDK_RS_TEST_VARYING").is_some() {
        println!("not repeated: no version of DPDK changes the public interface");
        return;
    }
    let description = describe();
    if !fs::read_to_string(&description).unwrap().contains(FORMAT) {
        println!("skipped: rustdoc of this toolchain writes another format of JSON than {FORMAT}");
        return;
    }
    let found = list(description);
    assert!(found.contains("pub fn dpdk_rs::Eal::init"), "{found}");
    if env::var_os("DPDK_RS_RENEW").is_some() {
        fs::write(LIST, format!("{HEAD}{found}")).unwrap();
    }
    let listed = fs::read_to_string(LIST).unwrap();
    let listed = listed.strip_prefix(HEAD).expect("the list has lost its head");
    let differences = |sign, from: &str, than: &str| -> String {
        from.lines()
            .filter(|line| !than.lines().any(|other| other == *line))
            .map(|line| format!("{sign} {line}\n"))
            .collect()
    };
    let (gone, new) = (differences('-', listed, &found), differences('+', &found, listed));
    assert!(listed == found, "{LIST} is not the public interface; renew it if this is meant:\n{gone}{new}");
}

/// As `anyhow` requires, and most code that handles errors on several threads. Errors that hold queues keep them in a mutex.
#[test]
fn threads_can_share_every_error() {
    let list = fs::read_to_string(LIST).unwrap();
    let named = |line: &str, words: &str| {
        let (_, rest) = line.strip_prefix("impl")?.split_once(words)?;
        Some(rest.split(['<', ' ']).next().unwrap().to_owned())
    };
    let errors: Vec<_> = list.lines().filter_map(|line| named(line, "core::error::Error for ")).collect();
    assert!(errors.len() > 25, "{errors:?}");
    let kept: Vec<_> = list.lines().filter_map(|line| named(line, " !core::marker::Sync for ")).collect();
    assert!(kept.iter().any(|name| name == "dpdk_rs::Eal"), "{kept:?}");
    let not_shared: Vec<_> = errors.iter().filter(|name| kept.contains(name)).collect();
    assert_eq!(not_shared, [""; 0]);
}
