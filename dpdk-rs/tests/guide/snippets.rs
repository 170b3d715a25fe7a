// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The guide's programs with `anyhow::Error` in place of `Box<dyn Error>`.

use crate::{
    chapters::{blocks, chapters, text},
    compilation::{cases, elsewhere},
};
use std::{env, fmt::Write as _, fs, path::Path};

#[test]
fn every_snippet_compiles_with_anyhow() {
    if elsewhere() {
        return;
    }
    let mut program = String::from("#![allow(dead_code, unused_imports)]\nfn main() {}\n");
    let mut changed = 0;
    for file in chapters().into_iter().chain(["README.md".into()]) {
        let text = text(file.to_str().unwrap());
        let snippets: Vec<String> =
            ["rust", "rust,no_run"].iter().flat_map(|language| blocks(&text, language)).collect();
        assert_eq!(
            snippets.len(),
            text.matches("\n```rust").count(),
            "{}: a language that is not looked for",
            file.display()
        );
        for snippet in snippets {
            let with_anyhow = snippet
                .replace("Box<dyn Error>", "anyhow::Error")
                .replace("Box<dyn std::error::Error>", "anyhow::Error");
            changed += usize::from(with_anyhow != snippet);
            let module = file.file_stem().unwrap().to_str().unwrap().replace('-', "_").to_lowercase();
            let number = program.len();
            writeln!(program, "mod {module}_{number} {{\n{with_anyhow}}}").unwrap();
        }
    }
    assert!(changed >= 5, "{changed} snippets have errors");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("snippets.rs");
    fs::write(&path, program).unwrap();
    cases().pass(path);
}
