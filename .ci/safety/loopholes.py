# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Finds what could be unsafe without the word, or without being read: what this module does not know is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator

from safety.source import Token

# Declarations without a body, which `build/bind.rs` makes: the only source text that comes from outside of SOURCES, and
# the only one for which lints are lifted.
GENERATED = ("dpdk-sys/src/lib.rs", 'include!(concat!(env!("OUT_DIR"), "/bindings.rs"))')

# Attributes of the language and of the two derives. None of them can do what only `unsafe` may.
ATTRIBUTES = re.compile(
    r"allow|cfg|cfg_attr|cold|default|deny|derive|diagnostic::(?:do_not_recommend|on_unimplemented)|doc|error|expect|forbid"
    r"|from|inline|must_use|no_std|non_exhaustive|repr|rustfmt::skip|serde|source|test|track_caller|transparent|unsafe|warn"
)
DERIVES = re.compile(
    r"Clone|Copy|Debug|Default|Eq|Hash|Ord|PartialEq|PartialOrd|serde::(?:Serialize|Deserialize)|thiserror::Error"
)
# Macros of the standard library that only compute, and those of crates that the audit knows.
MACROS = re.compile(
    r"(?:debug_)?assert(?:_eq|_ne)?|cfg|concat|env|e?println|format|format_args|include_bytes|include_str|line|macro_rules"
    r"|matches|panic|print|stringify|thread_local|todo|unreachable|vec|write|writeln"
    r"|tracing::(?:debug|error|info|trace|warn)"
    # Only in models.
    r"|loom::(?:lazy_static|thread_local)"
)
# What the audit and the compiler say about unsafe code must not be switched off.
LINTS = re.compile(
    r"^(?:unsafe_\w+|static_mut_refs|clippy::all|clippy::(?:\w*unsafe\w*|missing_safety_doc|not_unsafe_ptr_arg_deref))$"
)
# Fragments with which the user of a macro could put code of his own into an `unsafe` block of the macro.
CODE = ("block", "expr", "expr_2021", "item", "meta", "pat", "pat_param", "stmt", "tt")
WORDS = {
    "global_asm": "`global_asm!` needs no `unsafe` and does whatever it likes",
    "transmute": "`transmute` compares only sizes: cast, or use `bytemuck`",
    "transmute_copy": "`transmute_copy` compares nothing: cast, or use `bytemuck`",
}
NAME = re.compile(r"[A-Za-z_]\w*$")


def macros_of(tokens: list[Token]) -> set[str]:
    """The macros that a file defines."""
    return {
        tokens[at + 2].text
        for at in range(len(tokens) - 2)
        if tokens[at].text == "macro_rules" and tokens[at + 1].text == "!"
    }


def complaints(file: str, tokens: list[Token], macros: set[str]) -> Iterator[tuple[int, str]]:
    """What is wrong with a file, by line."""
    texts = [token.text for token in tokens]
    for at, token in enumerate(tokens):
        before = texts[at - 1] if at > 0 else ""
        following = texts[at + 1 : at + 3]
        if token.text in WORDS and token.is_name:
            yield token.line, WORDS[token.text]
        elif token.text == "include" and token.is_name:
            if not is_generated(file, texts, at):
                yield token.line, "`include!` brings in text that this audit does not read: use a module"
        elif token.text == "path" and before in ("[", ",") and following[:1] == ["="]:
            yield token.line, "`#[path]` may name a file that this audit does not read: move the file"
        elif token.text == "static" and following[:1] == ["mut"]:
            yield token.line, "a `static mut` is written to by whoever likes: use an atomic or a lock"
        elif token.text == "extern" and is_foreign_block(texts, at) and before != "unsafe":
            yield token.line, "an `extern` block declares functions on trust: make it `unsafe extern`"
        elif token.is_name and following in (["!", "("], ["!", "["], ["!", "{"]):
            name = path_before(texts, at)
            if name not in macros and not MACROS.fullmatch(name):
                yield token.line, f"`{name}!` is no macro that this audit knows: what it expands to may be unsafe"
        elif token.text == "#" and (found := attribute(texts, at)):
            yield from ((token.line, words) for words in attribute_complaints(found, lifted=file == GENERATED[0]))
    yield from metavariables(tokens)


def is_generated(file: str, texts: list[str], at: int) -> bool:
    """Whether an `include!` is that of the bindings."""
    return file == GENERATED[0] and "".join(texts[at : at + 20]).startswith(GENERATED[1].replace(" ", ""))


def is_foreign_block(texts: list[str], at: int) -> bool:
    """Whether the `extern` at `at` begins a block of declarations."""
    rest = "".join(texts[at + 1 : at + 6])
    return re.match(r'(?:"[^"]*")?\{', rest) is not None


def path_before(texts: list[str], at: int) -> str:
    """The path that ends at `at`, without the crates of the standard library."""
    name = texts[at]
    while at >= 2 and texts[at - 1] == "::" and NAME.match(texts[at - 2]):
        at -= 2
        name = f"{texts[at]}::{name}"
    return re.sub(r"^(?:std|core|alloc|crate|self|super)::", "", name)


def attribute(texts: list[str], at: int) -> list[str]:
    """The words of the attribute that begins at `at`; none if there is none."""
    start = at + 1 + (texts[at + 1 : at + 2] == ["!"])
    if texts[start : start + 1] != ["["]:
        return []
    depth = 0
    for end in range(start, len(texts)):
        depth += (texts[end] in ("[", "(", "{")) - (texts[end] in ("]", ")", "}"))
        if depth == 0:
            return texts[start + 1 : end]
    return []


def split_list(words: list[str]) -> Iterator[list[str]]:
    """The elements of a list in brackets."""
    element: list[str] = []
    depth = 0
    for word in words:
        depth += (word in ("[", "(", "{")) - (word in ("]", ")", "}"))
        if word == "," and depth == 0:
            yield element
            element = []
        else:
            element.append(word)
    if element:
        yield element


def attribute_complaints(words: list[str], *, lifted: bool) -> Iterator[str]:
    """What is wrong with an attribute."""
    name = "".join(words[: next((at for at, word in enumerate(words) if word in ("(", "=", "[", "{")), len(words))])
    inside = words[words.index("(") + 1 : -1] if "(" in words else []
    if name == "path" or name.startswith("$"):
        return  # `complaints` finds the first, and the second is checked where the macro is used.
    if not ATTRIBUTES.fullmatch(name):
        yield f"`#[{name}]` is no attribute that this audit knows: what it does may be unsafe"
    elif name == "derive":
        for element in split_list(inside):
            derived = re.sub(r"^(?:std|core)::\w+::", "", "".join(element))
            if not DERIVES.fullmatch(derived):
                yield f"`#[derive({derived})]` is none that this audit knows: what it expands to may be unsafe"
    elif name in ("allow", "expect", "warn"):
        for element in split_list(inside):
            if LINTS.match(lint := "".join(element)) and not lifted:
                yield f"`#[{name}({lint})]` lifts a lint of unsafe code"
    elif name == "cfg_attr":
        for element in list(split_list(inside))[1:]:
            yield from attribute_complaints(element, lifted=lifted)


def metavariables(tokens: list[Token]) -> Iterator[tuple[int, str]]:
    """The `unsafe` blocks of macros in which code of the macro's user would come to lie."""
    kinds: dict[str, str] = {}
    texts = [token.text for token in tokens]
    for at, token in enumerate(tokens):
        if token.text == "macro_rules":
            kinds = {}
        elif token.text.startswith("$") and texts[at + 1 : at + 2] == [":"]:
            kinds[token.text] = texts[at + 2] if at + 2 < len(texts) else ""
        elif token.text == "unsafe" and texts[at + 1 : at + 2] == ["{"]:
            depth = 0
            for inner in tokens[at + 1 :]:
                depth += (inner.text == "{") - (inner.text == "}")
                if kinds.get(inner.text) in CODE:
                    yield inner.line, f"`{inner.text}` puts code of the macro's user inside an `unsafe` block"
                if depth == 0:
                    break
