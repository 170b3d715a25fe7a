# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Source text as the audit sees it: tokens, what is `unsafe`, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

PARSER = Parser(Language(tree_sitter_rust.language()))
COMMENTS = ("line_comment", "block_comment")


@dataclass(frozen=True)
class Entry:
    """One `unsafe`: where it is, what it does, and why that is sound."""

    file: str
    place: str
    kind: str
    code: str
    reason: str
    # Whether it is in a safe function that relies on the other code of its file.
    trusts: bool = False


@dataclass
class Audit:
    """What the sources hold, and what is wrong with them."""

    entries: list[Entry] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


def walk(node: Node) -> Iterator[Node]:
    """The node and all that is below it, in the order of the source; comments are not looked into."""
    yield node
    if node.type not in COMMENTS:
        for child in node.children:
            yield from walk(child)


def source(node: Node | None) -> str:
    """The source of a node."""
    return node.text.decode() if node is not None and node.text is not None else ""


def first_line(node: Node) -> int:
    """The number of the node's first line, from 0."""
    return node.start_point.row


def last_line(node: Node) -> int:
    """The number of the node's last line, from 0; a line comment may reach to the start of the next line."""
    return node.end_point.row - (1 if node.end_point.column == 0 else 0)


@dataclass(frozen=True)
class Token:
    """One word or sign of the source, outside of comments."""

    text: str
    line: int
    is_name: bool


def tokens_of(leaves: list[Node]) -> list[Token]:
    """The tokens among the leaves of a tree."""
    found: list[Token] = []
    for leaf in leaves:
        if leaf.type in COMMENTS:
            continue
        # The name of a macro definition is one leaf with its sign, outside of macros.
        texts = ["macro_rules", "!"] if leaf.type == "macro_rules!" else [source(leaf)]
        found += [Token(text, first_line(leaf) + 1, leaf.type in ("identifier", "macro_rules!")) for text in texts]
    return found
