# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Finds the comment that belongs to an `unsafe`, and the reason in it."""

from __future__ import annotations

import re

from tree_sitter import Node

from safety.source import COMMENTS, first_line, last_line, source


def comment_before(tokens: list[Node], keyword: int) -> list[Node]:
    """The comment lines before the statement or the item that holds the token with the number `keyword`.

    As far as rustfmt lays code out, a statement begins behind a brace or a semicolon that ends its line.
    """
    at = keyword - 1
    while at >= 0 and tokens[at].type not in COMMENTS:
        if tokens[at].type in ("{", "}", ";") and first_line(tokens[at + 1]) > last_line(tokens[at]):
            return []
        at -= 1
    found: list[Node] = []
    while at >= 0 and tokens[at].type in COMMENTS:
        if first_line(tokens[at + 1]) - last_line(tokens[at]) > 1:
            break  # an empty line between
        if at > 0 and last_line(tokens[at - 1]) == first_line(tokens[at]):
            break  # behind other code, so it is about that
        found.insert(0, tokens[at])
        at -= 1
    return found


def words(comment: Node) -> str:
    """What a comment says, line by line, without its signs."""
    text = source(comment).strip()
    if text.startswith("/*"):
        lines = re.sub(r"^/\*[*!]?|\*/$", "", text).splitlines()
        return "\n".join(re.sub(r"^\s*\* ?", "", line) for line in lines)
    return re.sub(r"^//[/!]? ?", "", text)


def safety_of(comments: list[Node], kind: str) -> str:
    """The reason in a comment; empty if it gives none."""
    text = "\n".join(words(comment) for comment in comments)
    if kind in ("fn", "trait"):
        found = re.search(r"^\s*# Safety\s*$(.*?)(?=^\s*# |\Z)", text, re.M | re.S)
    else:
        found = re.search(r"^\s*SAFETY:(.*)\Z", text, re.M | re.S)
    return " ".join(found[1].split()) if found else ""
