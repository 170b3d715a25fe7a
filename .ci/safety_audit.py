# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Writes target/doc/SAFETY.md: what every `unsafe` of the two crates relies on, in the words of the comment before it.

    safety_audit.py [--check] [ROOT]      --check: write nothing, only complain

Each `unsafe` needs a comment of its own: `// SAFETY:` before a block, an impl, an extern block or an attribute, a
section `# Safety` in the documentation of a function or a trait. One that is missing, serves two, belongs to nothing
unsafe or sends the reader elsewhere ("as above") is an error; then nothing is written. So is source text from a file
that is not read here: `include!` and `#[path]`, except for the bindings that bindgen makes.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

PAGE = "target/doc/SAFETY.md"
SOURCES = ("dpdk-rs/src", "dpdk-sys/src")
# Declarations without a body, which `build/bind.rs` makes: the only source text that comes from outside of SOURCES.
GENERATED = ("dpdk-sys/src/lib.rs", 'include!(concat!(env!("OUT_DIR"), "/bindings.rs"))')

PARSER = Parser(Language(tree_sitter_rust.language()))
COMMENTS = ("line_comment", "block_comment")

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
NAMES = {"fn": "function", "extern": "extern block"}
# A reader of the page sees one line, so what it leans on has to be in it.
ELSEWHERE = re.compile(r"\b(?:(?:as|see) (?:above|below|before|for|in|there)\b|see `|(?:the )?same as\b)", re.I)
# The code on the page: longer calls are cut after the name of what is called.
CODE_WIDTH = 72

INTRODUCTION = """\
# What the unsafe code relies on

`./x doc` makes this page from the comments in the sources; `./x lint` fails where one is missing.

`dpdk-rs` promises that no sequence of safe calls is undefined behaviour: in any order of drops, with `mem::forget`,
panics and exhausted pools. The price is paid here: each line is one operation that the compiler cannot check, then why
it is sound and who ensures it. A line `unsafe fn` says what the function's callers have to ensure; they are on this
page too.

How it is checked:

- `./x lint`: one operation in a block, a comment of its own for every `unsafe` (also inside macros), and this page.
- `dpdk-rs/tests/compile_fail/`: programs that break a promise of the types, which must not compile.
- `dpdk-rs/tests/eal/`: what the types cannot promise, on a running EAL: drops in every order, forgotten values, panics,
  the edges of every buffer; in `holes/` the mistakes that were found in other bindings.
- `dpdk-rs/tests/sequences/`: random sequences of safe calls, compared with a model.
- `dpdk-rs/tests/faults/`: calls of DPDK and of the system that fail, one by one.

The C functions themselves are declared by bindgen; the layout of every struct is compared with the C compiler's when
`dpdk-sys` is built. The page has {total} lines for {files}: {kinds}.
"""


@dataclass(frozen=True)
class Entry:
    """One `unsafe`: where it is, what it does, and why that is sound."""

    file: str
    place: str
    kind: str
    code: str
    reason: str


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


# --- comments -------------------------------------------------------------------------------------------------------


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


# --- code -----------------------------------------------------------------------------------------------------------


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


def read(audit: Audit, file: str, text: str) -> None:
    """Adds what one file holds."""
    tree = PARSER.parse(text.encode())
    tokens = [node for node in walk(tree.root_node) if node.type in COMMENTS or not node.children]
    for node in walk(tree.root_node):
        if node.is_error or node.is_missing:
            audit.complaints.append(f"{file}:{first_line(node) + 1}: this cannot be parsed, so nothing is known of it")
            return
    complain_of_other_files(audit, file, text, tokens)
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
            audit.entries.append(Entry(file, place_of(keyword), kind, code, reason))
        if comments:
            used[comments[-1].start_byte] = first_line(keyword) + 1
    complain_of_idle(audit, file, tokens, used)


def complain_of_other_files(audit: Audit, file: str, text: str, tokens: list[Node]) -> None:
    """Names what brings in source text from a file that may lie outside of SOURCES, also inside macros."""
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        at = f"{file}:{first_line(token) + 1}"
        found = source(token)
        if found == "include" and token.type == "identifier":
            generated = file == GENERATED[0] and text.encode()[token.start_byte :].decode().startswith(GENERATED[1])
            if not generated:
                audit.complaints.append(f"{at}: `include!` brings in text that this audit does not read: use a module")
        elif found == "path" and source(before) in ("[", ",") and source(after) == "=":
            audit.complaints.append(f"{at}: `#[path]` may name a file that this audit does not read: move the file")


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


# --- the page -------------------------------------------------------------------------------------------------------


def counted(count: int, name: str) -> str:
    """A number of things."""
    return f"{count} {name}" + ("s" if count != 1 else "")


def page(entries: list[Entry]) -> str:
    """The page as it should be."""
    counts = {kind: sum(entry.kind == kind for entry in entries) for kind in KINDS}
    kinds = ", ".join(counted(count, NAMES.get(kind, kind)) for kind, count in counts.items() if count)
    files = counted(len({entry.file for entry in entries}), "file")
    lines = [INTRODUCTION.format(total=len(entries), files=files, kinds=kinds)]
    for file, of_file in groupby(entries, key=lambda entry: entry.file):
        lines.append(f"## {file}\n")
        for place, of_place in groupby(of_file, key=lambda entry: entry.place):
            lines.append(f"`{place}`\n")
            lines += [f"- `{entry.code}`: {entry.reason}" for entry in of_place]
            lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def main() -> int:
    """Checks the comments, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parents[1])
    arguments = parser.parse_args()
    root: Path = arguments.root
    audit = Audit()
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*.rs")):
            read(audit, path.relative_to(root).as_posix(), path.read_text())
    if not audit.entries and not audit.complaints:
        audit.complaints.append(f"no unsafe code found below {root}: this is not where the sources are")
    if not audit.complaints and not arguments.check:
        (root / PAGE).parent.mkdir(parents=True, exist_ok=True)
        (root / PAGE).write_text(page(audit.entries))
    for complaint in audit.complaints:
        print(complaint, file=sys.stderr)
    return 1 if audit.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
