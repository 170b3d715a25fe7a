# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Facts from the files of a crate, as fetched by cargo: its release date, and how often it says unsafe.

Releases are in cargo's copy of the registry's index, which has an entry in JSON for each version. `unsafe` is counted
as a word of the language, with tree-sitter: blocks, functions, traits, impls and what macros make of them, but neither
comments nor strings nor what is compiled for tests only.
"""

from __future__ import annotations

import functools
import json
import os
import re
import tomllib
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

from testbed.parsing.record import Crate
from testbed.parsing.source import SourceError
from testbed.run.programs import repository_root

_PARSER = Parser(Language(tree_sitter_rust.language()))
_COMMENTS = ("line_comment", "block_comment")
# `cfg(test)` and `cfg(all(test, …))`, but not `cfg(not(test))`; a feature of that name stands in quotation marks.
_FOR_TESTS = re.compile(r'^#!?\[cfg\((?!.*not\().*(?<!")\btest\b(?!")')


class CrateError(SourceError):
    """Cargo.lock cannot be read; the message says why."""


@functools.cache
def crate_facts(package: str, version: str, cargo_home: Path | None = None) -> Crate:
    """What is known of one version of a package; what is not there is None."""
    registry = (cargo_home or _cargo_home()) / "registry"
    releases = _releases(package, registry / "index")
    newest = next((name for name in reversed(releases) if "-" not in name), None)
    source = next(iter(sorted((registry / "src").glob(f"*/{package}-{version}"))), None)
    count, lines = count_unsafe(source / "src") if source else (None, None)
    return Crate(
        released=releases.get(version),
        newest=newest,
        newest_released=releases.get(newest) if newest else None,
        unsafe_count=count,
        code_lines=lines,
    )


def locked_version(package: str, user: str = "parsing-bench", lock: Path | None = None) -> str | None:
    """The version that `user` has of a package in Cargo.lock, which may have others for others.

    Raises `CrateError`.
    """
    path = lock or repository_root() / "Cargo.lock"
    try:
        packages = tomllib.loads(path.read_text(encoding="utf-8"))["package"]
        found = [str(one["version"]) for one in packages if one["name"] == package]
        needs = next((one["dependencies"] for one in packages if one["name"] == user), [])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CrateError(f"'{path}' cannot be read as cargo writes it: {error}") from error
    # Where there are several, the dependency says which: "smoltcp 0.14.0".
    named = [need.split()[1] for need in needs if need.split()[0] == package and len(need.split()) > 1]
    return (named or found or [None])[0]


def count_unsafe(folder: Path) -> tuple[int | None, int | None]:
    """How often the Rust files of a folder say `unsafe`, and how many lines of code they have; None without files."""
    for_tests: set[Path] = set()
    found: dict[Path, tuple[int, int]] = {}
    for path in sorted(folder.rglob("*.rs")):
        source = path.read_bytes()
        leaves = list(_leaves(_PARSER.parse(source).root_node, path, for_tests))
        # In a macro's rules there are no keywords: everything is an identifier.
        said = sum(leaf.type in ("unsafe", "identifier") and leaf.text == b"unsafe" for leaf in leaves)
        lines = {row for leaf in leaves for row in range(leaf.start_point[0], leaf.end_point[0] + 1)}
        found[path] = said, len(lines)
    counted = [
        figures
        for path, figures in found.items()
        if not for_tests.intersection((path, path.with_suffix(""), *path.parents))
    ]
    return (sum(said for said, _ in counted), sum(lines for _, lines in counted)) if counted else (None, None)


def _leaves(node: Node, path: Path, for_tests: set[Path]) -> Iterator[Node]:
    """The words of a file that are code; modules for tests that are files of their own are put into `for_tests`."""
    if node.type in _COMMENTS:
        return
    if not node.children:
        if node.text:
            yield node
        return
    skipped = False
    for child in node.children:
        if child.type == "attribute_item":
            skipped = skipped or bool(_FOR_TESTS.match((child.text or b"").decode(errors="replace")))
            if not skipped:
                yield from _leaves(child, path, for_tests)
        elif child.type in _COMMENTS:
            continue
        elif skipped:
            skipped = False
            if child.type == "mod_item" and (name := child.child_by_field_name("name")) is not None:
                for_tests.add(_module_folder(path) / (name.text or b"").decode(errors="replace"))
        else:
            yield from _leaves(child, path, for_tests)


def _module_folder(path: Path) -> Path:
    """Where the modules lie that a file declares."""
    return path.parent if path.name in ("lib.rs", "main.rs", "mod.rs") else path.with_suffix("")


def _releases(package: str, index: Path) -> dict[str, date | None]:
    """The versions in the order of their release, without those that were yanked."""
    file = next(iter(sorted(index.glob(f"*/.cache/{_index_path(package)}"))), None)
    if file is None:
        return {}
    found: dict[str, date | None] = {}
    # Cargo puts the entries of the index between zero bytes, with a version in front of each.
    for part in file.read_bytes().split(b"\0"):
        if part.startswith(b"{"):
            try:
                entry = json.loads(part)
                published = entry.get("pubtime")
                if not entry["yanked"]:
                    found[entry["vers"]] = date.fromisoformat(published[:10]) if published else None
            except (ValueError, KeyError, TypeError):
                continue
    return dict(sorted(found.items(), key=lambda item: _numbers(item[0])))


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def _index_path(package: str) -> str:
    """As the registry's index has it: '3/p/pdu', 'sm/ol/smoltcp'."""
    name = package.lower()
    if len(name) < 4:
        return f"{len(name)}/{name[0]}/{name}" if len(name) == 3 else f"{len(name)}/{name}"
    return f"{name[:2]}/{name[2:4]}/{name}"


def _cargo_home() -> Path:
    return Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
