# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Finds safe functions that rely on their callers: what breaks memory when it is called wrongly is an `unsafe fn`.

A function without `pub` may rely on the rest of its file. The page marks what it does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from safety.source import COMMENTS, source

OPENING, CLOSING = "([{", ")]}"
# A caller who passes an `Eal` holds one, and the contract of an `unsafe fn` was promised where that was called.
HELD = re.compile(r"\bcaller holds an `Eal`|\bcaller of `\w+` promised")
CALLERS = re.compile(r"\bcallers?\b")
POINTER = re.compile(r"\* (?:mut|const)\b|\bNonNull\b|\bunsafe\b")
# What a closure is passed is not passed to the function.
CLOSURE = re.compile(r"\b(?:Fn|FnMut|FnOnce) \([^()]*\)(?: -> [^,()]*)?")


@dataclass(frozen=True)
class Function:
    """The head of a function, as words."""

    before: tuple[str, ...]
    after: str

    @property
    def is_unsafe(self) -> bool:
        """Whether its callers make a promise."""
        return "unsafe" in self.before

    @property
    def is_visible(self) -> bool:
        """Whether other files can call it."""
        return "pub" in self.before

    @property
    def name(self) -> str:
        """Its name."""
        return self.after.split(" ", 1)[0]


def head_before(tokens: list[Node], brace: int) -> Function | None:
    """The function whose body begins with the token `brace`; None for another block."""
    words: list[str] = []
    depth = 0
    for at in range(brace - 1, -1, -1):
        word = source(tokens[at])
        if tokens[at].type in COMMENTS:
            continue
        if word in CLOSING and (depth > 0 or word != "}"):
            depth += 1
        elif word in OPENING and depth > 0:
            depth -= 1
        elif depth == 0 and (word in OPENING or word in (";", "}")):
            break
        words.insert(0, word)
    if "fn" not in words:
        return None
    place = words.index("fn")
    return Function(tuple(words[:place]), " ".join(words[place + 1 :]))


def function_around(tokens: list[Node], keyword: int) -> Function | None:
    """The function in which a token lies, also inside a macro."""
    depth = 0
    for at in range(keyword - 1, -1, -1):
        word = source(tokens[at])
        if word == "}":
            depth += 1
        elif word == "{" and depth > 0:
            depth -= 1
        elif word == "{" and (function := head_before(tokens, at)):
            return function
    return None


def relies_on_callers(reason: str) -> bool:
    """Whether a reason holds only if callers do something."""
    return CALLERS.search(HELD.sub("", reason)) is not None


def pointers_on_trust(tokens: list[Node]) -> Iterator[tuple[Node, str]]:
    """The safe functions that other files can call with any pointer."""
    for at, token in enumerate(tokens):
        if source(token) != "{":
            continue
        function = head_before(tokens, at)
        if function is None or function.is_unsafe or not function.is_visible:
            continue
        parameters = CLOSURE.sub("", function.after).split(") ->")[0]
        if POINTER.search(parameters):
            yield token, function.name
