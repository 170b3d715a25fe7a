# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Reads each `unsafe` of a file, with the reason in the comment before it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from tree_sitter import Node

from safety.comments import comment_before, safety_of, words
from safety.source import COMMENTS, PARSER, Audit, Entry, Token, first_line, last_line, source, tokens_of, walk
from safety.trust import function_around, pointers_on_trust, relies_on_callers

# What the keyword begins, told by what is behind it; in a macro there is nothing else to go by. Without a name behind
# `fn` it is part of a type.
KINDS = {
    "block": r"\{",
    "impl": r"impl\b",
    "trait": r"(?:auto\s+)?trait\b",
    "type": r'(?:extern\s*(?:"[^"]*"\s*)?)?fn\s*\(',
    "fn": r'(?:extern\s*(?:"[^"]*"\s*)?)?fn\b',
    "extern": r"extern\b",
    "attribute": r"\(",
}
# A reader of the page sees one line, so what it leans on has to be in it.
ELSEWHERE = re.compile(r"\b(?:(?:as|see) (?:above|below|before|for|in|there)\b|see `|(?:the )?same as\b)", re.I)
# The code on the page: longer calls are cut after the name of what is called.
CODE_WIDTH = 72


def place_of(keyword: Node) -> str:
    """The function, type or macro around the keyword, as Rust names it."""
    names: list[str] = []
    node = keyword.parent
    while node is not None:
        if node.type == "macro_definition":
            names.insert(0, source(node.child_by_field_name("name")) + "!")
        elif node.type in ("function_item", "function_signature_item", "trait_item", "mod_item"):
            names.insert(0, source(node.child_by_field_name("name")))
        elif node.type == "impl_item":
            names.insert(0, source(node.child_by_field_name("type")).split("<")[0])
        node = node.parent
    return "::".join(names) or "the file itself"


def code_of(keyword: Node, kind: str, behind: str) -> str:
    """The operation of a block, or the head of what else is unsafe, in one line."""
    body = keyword.next_sibling
    if kind == "block":
        inside = (leaf for leaf in walk(body) if leaf.type in COMMENTS) if body is not None else ()
        text = source(body)[1:-1]
        for comment in inside:
            text = text.replace(source(comment), " ")
        text = " ".join(text.split()).removesuffix(";")
    elif kind == "fn":
        name = re.search(r"fn\s+(\S+?)\s*[(<]", behind)
        text = f"unsafe fn {name[1] if name else ''}".strip()
    else:
        text = "unsafe " + " ".join(re.split(r"[{;\]]", behind, maxsplit=1)[0].split())
    text = text.replace("( ", "(").replace(", )", ")")
    head, call, _ = text.partition("(")
    return f"{head}(…)" if call and len(text) > CODE_WIDTH else text


@dataclass
class File:
    """A parsed file."""

    name: str
    text: str
    # Comments too.
    leaves: list[Node]
    tokens: list[Token]


def parse(audit: Audit, name: str, text: str) -> File | None:
    """The parts of a file; None, and a complaint, if it is not Rust."""
    tree = PARSER.parse(text.encode())
    for node in walk(tree.root_node):
        if node.is_error or node.is_missing:
            audit.complaints.append(f"{name}:{first_line(node) + 1}: this cannot be parsed, so nothing is known of it")
            return None
    leaves = [node for node in walk(tree.root_node) if node.type in COMMENTS or not node.children]
    return File(name, text, leaves, tokens_of(leaves))


def read(audit: Audit, parsed: File) -> None:
    """Adds what one file holds."""
    file, text, tokens = parsed.name, parsed.text, parsed.leaves
    used: dict[int, int] = {}
    for number, keyword in enumerate(tokens):
        if keyword.type not in ("unsafe", "identifier") or source(keyword) != "unsafe":
            continue
        behind = text.encode()[keyword.end_byte :].decode().lstrip()
        kind = next((kind for kind, pattern in KINDS.items() if re.match(pattern, behind)), "keyword")
        if kind == "type":
            continue
        here = f"{file}:{first_line(keyword) + 1}"
        code = code_of(keyword, kind, behind)
        comments = comment_before(tokens, number)
        reason = safety_of(comments, kind)
        wanted = "a section `# Safety` in its documentation" if kind in ("fn", "trait") else "a comment `// SAFETY: …`"
        if not reason:
            audit.complaints.append(f"{here}: `{code}` lacks {wanted}: what it relies on, and who ensures it")
        elif comments[-1].start_byte in used:
            other = used[comments[-1].start_byte]
            audit.complaints.append(f"{here}: `{code}` lacks {wanted} of its own: that before it is for line {other}")
        elif elsewhere := ELSEWHERE.search(reason):
            audit.complaints.append(f"{here}: the reason for `{code}` says '{elsewhere[0]}', and must be read alone")
        else:
            entry = Entry(file, place_of(keyword), kind, code, reason)
            audit.entries.append(replace(entry, trusts=trusts_callers(audit, here, entry, tokens, number)))
        if comments:
            used[comments[-1].start_byte] = first_line(keyword) + 1
    complain_of_idle(audit, file, tokens, used)
    for brace, function in pointers_on_trust(tokens):
        here = f"{file}:{first_line(brace) + 1}"
        audit.complaints.append(f"{here}: other files can call `{function}` with any pointer: make it an `unsafe fn`")


def trusts_callers(audit: Audit, here: str, entry: Entry, tokens: list[Node], keyword: int) -> bool:
    """Whether a safe function relies on its callers for this operation. Only those of its own file can be trusted."""
    if entry.kind != "block" or not relies_on_callers(entry.reason):
        return False
    function = function_around(tokens, keyword)
    if function is None or function.is_unsafe:
        return False
    if function.is_visible:
        audit.complaints.append(
            f"{here}: `{entry.code}` relies on the callers of `{function.name}`, which is safe and not private to this "
            "file: make it an `unsafe fn`, or take what they have to hold as an argument"
        )
    return True


def complain_of_idle(audit: Audit, file: str, tokens: list[Node], used: dict[int, int]) -> None:
    """Names the SAFETY comments that are before nothing unsafe."""
    taken = False
    # From the end: a comment is known by its last line.
    for number in range(len(tokens) - 1, -1, -1):
        token = tokens[number]
        if token.type not in COMMENTS:
            continue
        below = tokens[number + 1] if number + 1 < len(tokens) else None
        goes_on = below is not None and below.type in COMMENTS and first_line(below) - last_line(token) == 1
        taken = token.start_byte in used or (goes_on and taken)
        if words(token).startswith("SAFETY:") and not taken:
            audit.complaints.append(f"{file}:{first_line(token) + 1}: this SAFETY comment is before nothing unsafe")
