// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The chapters as text: code blocks, tables and links.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The text of a file of this crate.
pub(crate) fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The code blocks of a language, without the fences.
pub(crate) fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut parts = text.split("\n```");
    parts.next();
    // Fences take turns: one opens, the next closes.
    while let Some(opened) = parts.next() {
        let (first, body) = opened.split_once('\n').unwrap();
        assert!(parts.next().is_some(), "a code block is not closed: {first}");
        if first == language {
            blocks.push(format!("{body}\n"));
        }
    }
    blocks
}

/// The only code block of a language that has `words` in it.
pub(crate) fn block(text: &str, language: &str, words: &str) -> String {
    let found: Vec<String> = blocks(text, language).into_iter().filter(|block| block.contains(words)).collect();
    let [block] = &found[..] else { panic!("{} blocks of {language} with {words:?}", found.len()) };
    block.clone()
}

/// The cells of each row of the tables under a heading, without those of the head; of all tables for an empty heading.
pub(crate) fn rows(text: &str, heading: &str) -> Vec<Vec<String>> {
    let section = text.split("\n## ").filter(|section| section.lines().next().unwrap().contains(heading));
    let lines = section.flat_map(|section| section.split("\n|---").skip(1));
    let tables = lines.map(|table| table.lines().skip(1).take_while(|line| line.starts_with('|')));
    tables.flatten().map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// The destinations of links: those in the text, and those of definitions.
fn destinations(text: &str) -> Vec<&str> {
    let inline = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let defined = text.lines().filter(|line| line.starts_with('[')).filter_map(|line| line.split_once("]: "));
    inline.chain(defined.map(|(_, destination)| destination)).collect()
}

pub(crate) fn chapters() -> Vec<PathBuf> {
    let entries = fs::read_dir("docs").unwrap().map(|entry| entry.unwrap().path());
    // The folders in it are not for users of the crate.
    let mut files: Vec<PathBuf> = entries.filter(|path| path.is_file()).collect();
    files.sort();
    files
}

#[test]
fn every_chapter_is_a_module() {
    let guide = text("src/guide.rs");
    assert!(chapters().len() >= 5);
    for file in chapters() {
        assert!(guide.contains(&format!("\"../{}\"", file.display())), "src/guide.rs lacks {}", file.display());
    }
}

#[test]
fn links_to_files_lead_to_files() {
    let readmes = ["README.md", "../dpdk-sys/README.md", "../README.md"].map(PathBuf::from);
    for file in chapters().into_iter().chain(readmes) {
        let text = text(file.to_str().unwrap());
        for destination in destinations(&text) {
            // An item is no file: rustdoc finds [`Port`] without a destination, by the imports of src/guide.rs.
            let elsewhere = destination.contains("://") || destination.starts_with('#');
            // Without the heading that it may lead to.
            let target = file.parent().unwrap().join(destination.split('#').next().unwrap());
            assert!(elsewhere || target.exists(), "{}: there is no {destination}", file.display());
        }
    }
}

/// Reports for DPDK are not part of the published crate, so that chapters name them without a link.
#[test]
fn reports_that_are_named_exist() {
    for file in chapters() {
        for name in text(file.to_str().unwrap()).split('`').filter(|word| word.starts_with("docs/upstream/")) {
            assert!(Path::new(name).exists(), "{}: there is no {name}", file.display());
        }
    }
}

#[test]
fn links_between_chapters_lead_to_modules_in_the_documentation() {
    let guide = text("src/guide.rs");
    for file in chapters() {
        let text = text(file.to_str().unwrap());
        for destination in destinations(&text) {
            if Path::new(destination).extension().is_some_and(|extension| extension == "md") {
                let module = destination.trim_end_matches(".md").replace('-', "_");
                let here = format!("[{module}]: {destination}");
                assert!(text.contains(&here), "{}: define the link as {here}", file.display());
                assert!(guide.contains(&format!("[{module}]: crate::guide::{module}")), "src/guide.rs: {module}");
            }
        }
    }
}

#[test]
fn blocks_and_rows_are_found() {
    let page = "# Page\n\n## One\n\n```sh\na\nb\n```\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n## Two\n\n```text\nc\n```\n| z |\n|---|\n| 3 |\n";
    assert_eq!(blocks(page, "sh"), ["a\nb\n"]);
    assert_eq!(block(page, "text", "c"), "c\n");
    assert_eq!(rows(page, "One"), [["1", "2"]]);
    assert_eq!(rows(page, ""), [vec!["1", "2"], vec!["3"]]);
}
