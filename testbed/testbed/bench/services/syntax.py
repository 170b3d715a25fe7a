# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The size of a source by its syntax tree: lines of code, functions, scopes, and how deep these are nested.

tree-sitter parses each language. What a macro is given is not parsed, but its lines count. Tests that a source in Rust
has inside (`#[cfg(test)]`) do not count, nor do strings that stand alone in Python, which are its documentation.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import tree_sitter_c
import tree_sitter_cpp
import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
from tree_sitter import Language, Node, Parser

_COMMENTS = frozenset({"comment", "line_comment", "block_comment"})
_FOR_TESTS = re.compile(rb"#\[cfg\(test\b")
_BLOCKS = "compound_statement declaration_list field_declaration_list enumerator_list"
_CONTROLS = frozenset(
    {
        *("if_statement", "else_clause", "for_statement", "while_statement", "do_statement"),
        *("for_range_loop", "enhanced_for_statement", "for_in_statement"),
    }
)


class SyntaxTreeError(Exception):
    """A source is not understood; the message says where."""


@dataclass(frozen=True)
class Grammar:
    """A language: its parser, and which nodes of its trees are scopes and functions."""

    parser: Parser
    scopes: frozenset[str]
    functions: frozenset[str]
    # Whether the body of an `if` or a loop may be one statement without braces: it is a scope as well.
    has_bare_bodies: bool


@dataclass(frozen=True)
class Size:
    """Of one source or several."""

    files: int = 0
    # With blank lines and comments, and without.
    lines: int = 0
    code: int = 0
    functions: int = 0
    scopes: int = 0
    # The most scopes inside each other in one function; its body is the first.
    depth: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(
            self.files + other.files,
            self.lines + other.lines,
            self.code + other.code,
            self.functions + other.functions,
            self.scopes + other.scopes,
            max(self.depth, other.depth),
        )


def _grammar(module: ModuleType, scopes: str, functions: str, *, has_bare_bodies: bool = False) -> Grammar:
    parser = Parser(Language(module.language()))
    return Grammar(parser, frozenset(scopes.split()), frozenset(functions.split()), has_bare_bodies)


# By the end of a file's name.
GRAMMARS = {
    ".rs": _grammar(
        tree_sitter_rust,
        "block declaration_list enum_variant_list field_declaration_list match_block",
        "function_item closure_expression",
    ),
    ".c": _grammar(tree_sitter_c, _BLOCKS, "function_definition", has_bare_bodies=True),
    ".cpp": _grammar(tree_sitter_cpp, _BLOCKS, "function_definition lambda_expression", has_bare_bodies=True),
    ".go": _grammar(
        tree_sitter_go,
        "block field_declaration_list interface_type"
        " expression_switch_statement type_switch_statement select_statement",
        "function_declaration method_declaration func_literal",
    ),
    ".java": _grammar(
        tree_sitter_java,
        "block constructor_body class_body enum_body interface_body annotation_type_body switch_block",
        "method_declaration constructor_declaration compact_constructor_declaration lambda_expression",
        has_bare_bodies=True,
    ),
    ".js": _grammar(
        tree_sitter_javascript,
        "statement_block class_body switch_body",
        "function_declaration function_expression arrow_function method_definition"
        " generator_function generator_function_declaration",
        has_bare_bodies=True,
    ),
    ".py": _grammar(tree_sitter_python, "block", "function_definition"),
}
GRAMMARS |= {".h": GRAMMARS[".c"], ".hpp": GRAMMARS[".cpp"]}


@functools.cache
def tree_of(path: Path) -> Node:
    """The syntax tree of a source.

    Raises `SyntaxTreeError`. A word that the grammar does not know yet, as in Go's `new(1)`, is none that counts.
    """
    tree = GRAMMARS[path.suffix].parser.parse(path.read_bytes()).root_node
    for node in nodes(tree):
        if node.is_missing or (node.is_error and re.search(rb"[\n{}]", node.text or b"")):
            raise SyntaxTreeError(f"'{path}', line {node.start_point.row + 1}: the parser does not understand this")
    return tree


def nodes(node: Node) -> Iterator[Node]:
    """A node and all that is in it, but for comments and tests."""
    yield node
    for child in _counted(node):
        yield from nodes(child)


@functools.cache
def size_of(path: Path) -> Size:
    """The size of one source.

    Raises `SyntaxTreeError`.
    """
    tree, grammar = tree_of(path), GRAMMARS[path.suffix]
    found = list(nodes(tree))
    return Size(
        files=1,
        lines=len(path.read_bytes().splitlines()),
        code=len({row for node in found if not node.children for row in _rows(node)}),
        functions=sum(_is_function(node, grammar) for node in found),
        scopes=sum(_is_scope(node, grammar) for node in found),
        depth=_depth(tree, grammar, 0),
    )


def _counted(node: Node) -> Iterator[Node]:
    is_for_tests = False
    for child in node.children:
        if child.type in _COMMENTS or _is_documentation(child):
            continue
        if child.type == "attribute_item":
            is_for_tests = is_for_tests or bool(_FOR_TESTS.match(child.text or b""))
            if not is_for_tests:
                yield child
        elif is_for_tests:
            is_for_tests = False
        else:
            yield child


def _is_documentation(node: Node) -> bool:
    return node.type == "expression_statement" and [child.type for child in node.children] == ["string"]


def _rows(leaf: Node) -> range:
    """The lines that a word is on; some include the end of their line."""
    start, end = leaf.start_point, leaf.end_point
    if end == start:
        return range(0)
    return range(start.row, end.row + (end.column > 0))


def _is_function(node: Node, grammar: Grammar) -> bool:
    """One with a body; a closure that is one expression is none."""
    body = node.child_by_field_name("body")
    return node.type in grammar.functions and body is not None and body.type in grammar.scopes


def _is_scope(node: Node, grammar: Grammar) -> bool:
    return node.type in grammar.scopes or (grammar.has_bare_bodies and _is_bare_body(node))


def _is_bare_body(node: Node) -> bool:
    """Whether it is the body of an `if` or a loop, but not what continues an `if`."""
    parent = node.parent
    if parent is None or parent.type not in _CONTROLS or node.type == "else_clause":
        return False
    if parent.type == "else_clause":
        return node.type != "if_statement" and node == parent.named_children[-1]
    if node == parent.child_by_field_name("alternative"):
        return node.type != "if_statement"
    return node in (parent.child_by_field_name("consequence"), parent.child_by_field_name("body"))


def _depth(node: Node, grammar: Grammar, above: int) -> int:
    """How many scopes are inside each other here, with those above; those outside of functions do not count."""
    deepest = above
    for child in _counted(node):
        starts = above > 0 or _is_function(node, grammar)
        deepest = max(deepest, _depth(child, grammar, above + (starts and _is_scope(child, grammar))))
    return deepest
