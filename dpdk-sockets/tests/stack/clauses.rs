// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! `docs/clauses.md` is complete, and the tests that it names exist.

use std::collections::BTreeMap;
use std::path::Path;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");
const PAGE: &str = include_str!("../../docs/clauses.md");

/// How many numbers of each kind RFC 9293 has.
const NUMBERS: [(&str, usize); 4] = [("MUST", 69), ("SHLD", 31), ("MAY", 18), ("REC", 1)];

/// Number, grade, and what is said about it.
fn rows() -> Vec<(&'static str, &'static str, &'static str)> {
    let rows = PAGE.lines().filter(|line| line.starts_with("| ") && !line.ends_with("| by which test, or why not |"));
    rows.map(|row| {
        let cells: Vec<_> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [number, _, grade, said] = cells[..] else { panic!("four cells: {row}") };
        (number, grade, said)
    })
    .collect()
}

/// The names of tests in a text: what looks like `file.function`.
fn tests(said: &str) -> impl Iterator<Item = (&str, &str)> {
    let quoted = said.split('`').skip(1).step_by(2);
    quoted.filter_map(|name| name.split_once('.')).filter(|(_, function)| function.contains('_'))
}

#[test]
fn every_number_of_the_appendix_is_graded() {
    let mut found = BTreeMap::<_, Vec<usize>>::new();
    for (kind, number) in rows().iter().filter_map(|(number, ..)| number.split_once('-')) {
        found.entry(kind).or_default().push(number.parse().unwrap());
    }
    for (kind, last) in NUMBERS {
        let mut numbers = found.remove(kind).unwrap_or_default();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers, (1..=last).collect::<Vec<_>>(), "{kind}");
    }
    assert_eq!(found.len(), 0, "{found:?}");
}

#[test]
fn every_row_has_a_grade_and_a_test_or_a_reason() {
    for (number, grade, said) in rows() {
        assert!(["met", "not met", "not applicable"].contains(&grade), "{number}: {grade}");
        assert!(said.len() > 3, "{number}: neither test nor reason");
        for (file, function) in tests(said) {
            let path = if file.contains('/') { format!("{file}.rs") } else { format!("tests/stack/{file}.rs") };
            let text = std::fs::read_to_string(Path::new(CRATE).join(&path));
            let text = text.unwrap_or_else(|error| panic!("{number}: {path}: {error}"));
            let test = format!("#[test]\n{}fn {function}()", if text.contains("mod tests {\n") { "    " } else { "" });
            assert!(text.contains(&test), "{number}: {path} has no test {function}");
        }
    }
    assert!(rows().iter().map(|(.., said)| tests(said).count()).sum::<usize>() > 150, "tests are named");
}
