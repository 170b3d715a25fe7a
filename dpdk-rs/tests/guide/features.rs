// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Everything that the page of features names is in the tree.

use crate::chapters::{rows, text};
use std::path::{Path, PathBuf};

/// Where a file is that the page names: in this crate, or from the repository's root.
pub(crate) fn find(file: &str) -> PathBuf {
    let places = [Path::new(file).to_owned(), Path::new("..").join(file)];
    places.iter().find(|place| place.exists()).unwrap_or_else(|| panic!("there is no {file}")).clone()
}

#[test]
fn every_feature_names_what_shows_it() {
    let rows = rows(&text("docs/features.md"), "");
    assert!(rows.len() >= 40, "{} rows", rows.len());
    let mut shown = 0;
    for row in &rows {
        let [feature, state, evidence] = &row[..] else { panic!("{row:?} has not three cells") };
        let names: Vec<&str> = evidence.split('`').skip(1).step_by(2).collect();
        // Either it is there, and a test shows it, or it is said to be missing.
        assert!(!names.is_empty() || state == "not yet", "{feature}: name a test, or say 'not yet'");
        for name in &names {
            let (file, function) = name.split_once("::").unwrap_or((name, ""));
            let place = find(file);
            if !function.is_empty() {
                let source = text(place.to_str().unwrap());
                // The programs' own tests are in Python.
                let begin = if file.ends_with(".py") { "\ndef" } else { "#[test]\nfn" };
                assert!(source.contains(&format!("{begin} {function}(")), "{file} has no test {function}");
            }
        }
        shown += usize::from(!names.is_empty());
    }
    assert!(shown >= 30, "{shown} features are shown");
}

#[test]
#[should_panic(expected = "there is no tests/eal/missing.rs")]
fn a_file_that_is_not_there_is_noticed() {
    find("tests/eal/missing.rs");
}
