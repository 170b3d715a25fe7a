// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The page of contracts has a row for every DPDK function that this crate calls, and for no other.

use crate::{
    chapters::{rows, text},
    features::find,
};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// How the second cell of a row begins.
const TRAPS: [&str; 4] = ["none", "name", "32 bits", "text"];

/// What a language's comments and strings begin and end with.
const RUST: &[(&str, &str)] = &[("//", "\n"), ("\"", "\"")];
const C: &[(&str, &str)] = &[("/*", "*/"), ("//", "\n"), ("\"", "\"")];

/// The code of a file, without comments and strings.
fn code(text: &str, marks: &[(&str, &str)]) -> String {
    // A quotation mark that opens nothing.
    let text = text.replace("'\"'", "");
    let mut rest = text.as_str();
    let mut code = String::new();
    while let Some((at, begin, end)) =
        marks.iter().filter_map(|(begin, end)| Some((rest.find(begin)?, *begin, *end))).min()
    {
        code.push_str(&rest[..at]);
        code.push(' ');
        rest = &rest[at + begin.len()..];
        let mut to = rest.find(end).unwrap_or(rest.len());
        while begin == "\"" && rest[..to].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1 {
            to += 1 + rest[to + 1..].find(end).unwrap_or(rest.len() - to - 1);
        }
        rest = rest.get(to + end.len()..).unwrap_or_default();
    }
    code + rest
}

/// The names in some code, each with what follows it.
fn names(code: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let starts = code.match_indices("rte_").map(|(at, _)| &code[..at]);
    starts.map(move |before| {
        let start = before.trim_end_matches(is_part).len();
        let len = code[start..].find(|letter| !is_part(letter)).unwrap_or(code.len() - start);
        (&code[start..start + len], code[start + len..].trim_start())
    })
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// The functions that this crate calls, itself or in `wrapper.h`.
fn called() -> BTreeSet<String> {
    let bindings = text("../dpdk-sys/bindings/dpdk-22.11.rs");
    let functions: BTreeSet<&str> =
        bindings.split("pub fn ").skip(1).filter_map(|rest| rest.split('(').next()).collect();
    assert!(functions.contains("rte_eal_init"));
    let mut called = BTreeSet::new();
    for file in sources(Path::new("src")) {
        let code = code(&text(file.to_str().unwrap()), RUST);
        called.extend(names(&code).map(|(name, _)| name.to_owned()).filter(|name| functions.contains(name.as_str())));
    }
    let headers = fs::read_dir("../dpdk-sys/src/wrapper").unwrap().map(|entry| entry.unwrap().path());
    let wrapper: String = headers.map(|path| code(&text(path.to_str().unwrap()), C)).collect();
    // Our own functions have a prefix, and types are not called.
    let of_c = names(&wrapper)
        .filter(|(name, next)| next.starts_with('(') && name.trim_start_matches('_').starts_with("rte_"));
    called.extend(of_c.map(|(name, _)| name.to_owned()));
    called
}

/// The words in backquotes.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn every_function_has_a_row_and_every_row_a_function() {
    let page = text("docs/contracts.md");
    let rows: Vec<_> = rows(&page, "").into_iter().filter(|row| row.len() == 4).collect();
    let (called, listed): (_, BTreeSet<String>) =
        (called(), rows.iter().flat_map(|row| quoted(&row[0])).map(str::to_owned).collect());
    assert!(called.len() > 250, "{} functions", called.len());
    let missing: Vec<_> = called.difference(&listed).collect();
    assert!(missing.is_empty(), "docs/contracts.md lacks {missing:?}: say in a row what C does with the arguments");
    let idle: Vec<_> = listed.difference(&called).collect();
    assert!(idle.is_empty(), "docs/contracts.md has {idle:?}, which nothing calls any more");
}

#[test]
fn every_trap_names_a_test() {
    for row in rows(&text("docs/contracts.md"), "").into_iter().filter(|row| row.len() == 4) {
        let [functions, trap, _, tests] = &row[..] else { unreachable!() };
        let kind = TRAPS.iter().find(|kind| trap.strip_prefix(**kind).is_some_and(|rest| rest.starts_with(": ")));
        let kind = kind.unwrap_or_else(|| panic!("{functions}: begin with one of {TRAPS:?} and a colon"));
        let tests: Vec<_> = quoted(tests).collect();
        assert_eq!(tests.is_empty(), *kind == "none", "{functions}: a trap has a test, and nothing else has");
        for test in tests {
            let (file, function) = test.split_once("::").unwrap_or_else(|| panic!("{test} names no function"));
            let source: String = text(find(file).to_str().unwrap()).split_whitespace().collect();
            assert!(source.contains(&format!("#[test]fn{function}(")), "{file} has no test {function}");
        }
    }
}

#[test]
fn calls_are_found_and_words_are_not() {
    let text = "let x = sys::rte_a(\"rte_b(\\\"rte_c(\"); // rte_d()\nrte_e ();";
    let code = code(text, RUST);
    let found: Vec<_> = names(&code).filter(|(_, next)| next.starts_with('(')).map(|(name, _)| name).collect();
    assert_eq!(found, ["rte_a", "rte_e"]);
}
