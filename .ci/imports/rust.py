# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The arrows between the modules of a Rust crate: from the file that uses a name to the file that defines it.

Re-exports are followed to their source. A module may declare and re-export its children without an arrow, and what is
compiled for tests only is left out. Modules are found by their files, since a macro may declare them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

# The Rust programs and libraries of a package; modules are found from these.
CRATE_ROOTS = ("src/lib.rs", "src/main.rs", "src/bin/*.rs", "src/bin/*/main.rs", "examples/*/main.rs", "build/main.rs")
# What an item begins with that defines a name.
DEFINES = ("const", "enum", "fn", "static", "struct", "trait", "type", "union")

# Comments, strings and characters, which are skipped, and then the tokens. Lifetimes come before characters.
RUST = re.compile(
    r"""//[^\n]* | /\*(?:/\*.*?\*/|.)*?\*/ | b?c?r(?P<hashes>\#*)"(?s:.*?)"(?P=hashes)
    | [bc]?"(?:[^"\\]|\\.)*" | '[A-Za-z_]\w*(?!') | b?'(?:[^'\\]|\\[^\n]*?)'
    | (?P<token>(?:r\#)?[A-Za-z_]\w* | :: | \S)""",
    re.VERBOSE | re.DOTALL,
)
WORD = re.compile(r"[A-Za-z_]\w*$")
OPENING, CLOSING = "([{", ")]}"


@dataclass(eq=False)
class Module:
    """A module of a crate: a file, or a part of one."""

    file: Path
    parent: Module | None = None
    children: dict[str, Module] = field(default_factory=dict)
    # What its `use` declarations bind, each with the path that it stands for, and the modules of `use …::*`.
    bound: dict[str, list[str]] = field(default_factory=dict)
    globs: list[list[str]] = field(default_factory=list)
    reexported: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)
    # The paths in its code; those of one word stand for a name that is bound.
    paths: list[list[str]] = field(default_factory=list)

    def root(self) -> Module:
        """The top of the crate."""
        return self.parent.root() if self.parent else self


Definition = tuple[Module, str]


def closing(tokens: list[str], at: int) -> int:
    """Where the bracket at `at` is closed."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += (tokens[place] in OPENING) - (tokens[place] in CLOSING)
        if depth == 0:
            return place
    return len(tokens) - 1


def without_tests(tokens: list[str]) -> list[str]:
    """The tokens without attributes and without what is compiled for tests only."""
    kept: list[str] = []
    at = 0
    while at < len(tokens):
        if tokens[at] != "#" or tokens[at + 1 : at + 2] not in (["["], ["!"]):
            kept.append(tokens[at])
            at += 1
            continue
        start = at + 1 + (tokens[at + 1] == "!")
        end = closing(tokens, start)
        attribute = tokens[start + 1 : end]
        at = end + 1
        if attribute[:1] == ["cfg"] and "test" in attribute and "not" not in attribute:
            while at < len(tokens) and tokens[at] not in ";{":
                at = closing(tokens, at) + 1 if tokens[at] in OPENING else at + 1
            at = closing(tokens, at) + 1
    return kept


def used(tokens: list[str], prefix: list[str]) -> Iterator[tuple[str, list[str]]]:
    """What a tree of `use` binds: each name, `*` for all, with its path."""
    at, path, named = 0, prefix, False
    while at < len(tokens):
        word = tokens[at]
        if word == "{":
            end = closing(tokens, at)
            yield from used(tokens[at + 1 : end], path)
            at, named = end, False
        elif word == ",":
            if named:
                yield path[-1], path
            path, named = prefix, False
        elif word == "as":
            yield tokens[at + 1], path
            at, named = at + 1, False
        elif word != "::":
            # The `self` of a list is what stands before the list.
            path, named = path if word == "self" and path else [*path, word], True
        at += 1
    if named:
        yield path[-1], path


def parse(module: Module, tokens: list[str]) -> None:
    """Fills a module from its tokens."""
    at = 0
    while at < len(tokens):
        word, before = tokens[at], tokens[at - 1] if at else ""
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        if word == "mod" and tokens[at + 2 : at + 3] == ["{"]:
            end = closing(tokens, at + 2)
            child = module.children[following] = Module(module.file, module)
            parse(child, tokens[at + 3 : end])
            at = end
        elif word == "use" and (WORD.match(following) or following in ("{", "::")):
            end = tokens.index(";", at)
            for name, path in used(tokens[at + 1 : end], []):
                if name == "*":
                    module.globs.append(path[:-1])
                    continue
                # Each unnamed trait is a binding of its own.
                name = f"_{len(module.bound)}" if name == "_" else name
                module.bound[name] = path
                if before in ("pub", ")"):
                    module.reexported.add(name)
            at = end
        elif WORD.match(word) and before not in (".", "::"):
            path = [word]
            while tokens[at + 1 : at + 2] == ["::"] and WORD.match("".join(tokens[at + 2 : at + 3])):
                at += 2
                path.append(tokens[at])
            if word in DEFINES:
                module.defined.add(following)
            module.paths.append(path)
        at += 1


def read(file: Path, folder: Path, parent: Module | None = None) -> Module:
    """Reads a module's file and those of its children, which lie in `folder`: a macro may declare them."""
    module = Module(file, parent)
    for path in sorted(folder.glob("*.rs")) + sorted(folder.glob("*/mod.rs")):
        name, inside = (path.parent.name, path.parent) if path.name == "mod.rs" else (path.stem, folder / path.stem)
        if path != file and path.name not in ("lib.rs", "main.rs") and path.parent.name != "bin":
            module.children[name] = read(path, inside, module)
    tokens = [found["token"] for found in RUST.finditer(file.read_text()) if found["token"]]
    parse(module, without_tests(tokens))
    return module


def resolve(module: Module, path: list[str], seen: frozenset[tuple[int, str]] = frozenset()) -> Definition | None:
    """What a path names, and the module that defines it; None for a module and what is not in the crate."""
    start, rest = module, list(path)
    if rest[0] == "crate":
        start, rest = module.root(), rest[1:]
    while rest and rest[0] in ("self", "super"):
        start = start.parent if rest[0] == "super" and start.parent else start
        rest = rest[1:]
    if rest == path and rest[0] not in module.children and rest[0] not in module.bound:
        return by_glob(module, rest, seen)
    while rest:
        name, rest = rest[0], rest[1:]
        if name in start.children:
            start = start.children[name]
        elif name in start.bound and (id(start), name) not in seen:
            return resolve(start, start.bound[name] + rest, seen | {(id(start), name)})
        else:
            return by_glob(start, [name], seen) or (start, name)
    return None


def by_glob(module: Module, path: list[str], seen: frozenset[tuple[int, str]]) -> Definition | None:
    """What the first name of a path is, if a `use …::*` brings it in."""
    for glob in module.globs:
        key = (id(module), "::".join(glob))
        source = None if key in seen else resolve(module, [*glob, path[0]], seen | {key})
        if source and path[0] in source[0].defined:
            return source
    return None


def arrows(manifests: Iterable[Path]) -> Iterator[tuple[Path, Path, str]]:
    """The arrows between the modules of each crate."""

    def below(module: Module) -> Iterator[Module]:
        yield module
        for child in module.children.values():
            yield from below(child)

    tops = [path for manifest in manifests for pattern in CRATE_ROOTS for path in manifest.parent.glob(pattern)]
    for top in tops:
        folder = top.parent if top.parent.name != "bin" else top.with_suffix("")
        for module in below(read(top, folder)):
            for name, path in module.bound.items():
                definition = resolve(module, path)
                if definition and not (name in module.reexported and definition[0] in below(module)):
                    yield module.file, definition[0].file, definition[1]
            for path in module.paths:
                definition = resolve(module, path)
                if definition:
                    yield module.file, definition[0].file, definition[1]
