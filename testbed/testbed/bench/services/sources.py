# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x bench services --sources`: how large and how nested the sources of each program are.

A program consists of the sources that its main file asks for, and those that these ask for in turn, without those of
another service. `syntax.py` says what counts.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field
from rich.console import Console
from tree_sitter import Node

from testbed.bench.services.contestants import ORIGIN
from testbed.bench.services.contestants import SERVICES as RACED
from testbed.bench.services.syntax import Size, SyntaxTreeError, nodes, size_of, tree_of
from testbed.command_line.console import fail
from testbed.page.tables import Row, Table
from testbed.run.programs import repository_root
from testbed.run.results_folder import Record, ResultsError, write_model

SERVICES = (*RACED, ORIGIN)


@dataclass(frozen=True)
class Folder:
    """The sources of a language, or of a way to use it."""

    language: str
    # Below services/: where names of modules, packages and headers begin.
    top: str
    # Its main files, and others that are not named like a service.
    mains: str
    # The sources that one asks for, by its path and the top.
    asked: Callable[[Path, Path], Iterator[Path]]
    # If the main file is not named like it.
    program: str | None = None


class SourceFigures(Record):
    """The sources of one program."""

    service: str
    program: str
    language: str
    files: int
    lines: int = Field(description="all that the files have")
    code: int = Field(description="without blank lines, comments, and tests in the same file, as all that follows")
    shared_code: int = Field(description="of these, in files that other programs have too")
    functions: int = Field(description="with a body, and closures whose body is a block")
    scopes: int = Field(description="bodies of functions, types, modules, branches and loops")
    depth: int = Field(description="the most scopes inside each other in one function")


class Sources(Record):
    """What `--json` writes."""

    schema_version: int = 1
    kind: Literal["bench-services-sources"] = "bench-services-sources"
    programs: list[SourceFigures]


def print_sources(console: Console, json: Path | None) -> None:
    """The command: a table, and a file if there is to be one."""
    try:
        figures = all_figures(repository_root() / "services")
        if json:
            write_model(json, Sources(programs=figures))
    except (SyntaxTreeError, ResultsError, OSError) as error:
        fail(str(error))
    console.print(table(figures).rich(console.width))


def all_figures(services: Path) -> list[SourceFigures]:
    """Of each program below the folder `services`.

    Raises `SyntaxTreeError`.
    """
    programs = [(folder, found) for folder in FOLDERS for found in sources_of(services, folder).items()]
    users = Counter(path for _, (_, paths) in programs for path in paths)
    figures = [
        SourceFigures(
            service=service,
            program=program,
            language=folder.language,
            shared_code=sum(size_of(path).code for path in paths if users[path] > 1),
            **vars(sum(map(size_of, paths), Size())),
        )
        for folder, ((service, program), paths) in programs
    ]
    return sorted(figures, key=lambda one: SERVICES.index(one.service))


def table(figures: list[SourceFigures]) -> Table:
    """What is printed."""
    columns = ["Service", "Program", "Language", "Files", "Lines", "Code", "Shared", "Functions", "Scopes", "Depth"]
    rows = [
        Row(
            [
                *(one.service, one.program, one.language),
                *(f"{one.files}", f"{one.lines:,}", f"{one.code:,}", f"{one.shared_code:,}"),
                *(f"{one.functions}", f"{one.scopes}", f"{one.depth}"),
            ]
        )
        for one in figures
    ]
    return Table("Sources", columns, rows, text_columns=3)


def sources_of(services: Path, folder: Folder) -> dict[tuple[str, str], set[Path]]:
    """The sources of each program of a folder, by service and program.

    Raises `SyntaxTreeError`.
    """
    top = services / folder.top
    found = {}
    for main in sorted(top.glob(folder.mains)):
        program = folder.program or (main.parent.name if main.stem == "main" else main.stem.lower())
        service = program.split("-")[0]
        if service in SERVICES:
            found[service, program] = _reached(main, top, service, folder.asked)
    return found


def _reached(main: Path, top: Path, service: str, asked: Callable[[Path, Path], Iterator[Path]]) -> set[Path]:
    others = set(SERVICES) - {service}
    reached, waiting = set(), [main]
    while waiting:
        path = waiting.pop()
        if path in reached or others.intersection(Path(part).stem.lower() for part in path.relative_to(top).parts):
            continue
        reached.add(path)
        waiting += [one for one in asked(path, top) if one.is_file()]
    return reached


def _texts(path: Path, *types: str) -> Iterator[str]:
    """What the nodes of these types say."""
    return (_text(node) for node in nodes(tree_of(path)) if node.type in types)


def _fields(path: Path, kind: str, field: str) -> list[str]:
    """What this field of each node of this type says."""
    return [_text(node.child_by_field_name(field)) for node in nodes(tree_of(path)) if node.type == kind]


def _text(node: Node | None) -> str:
    """Without quotation marks."""
    return (node.text or b"").decode().strip('"') if node else ""


def _included(path: Path, top: Path) -> Iterator[Path]:
    """Headers, and for a header the source of its name, and sources without a header, which do what it says."""
    yield from _headers(path, top)
    if path.suffix in (".h", ".hpp"):
        end = {".h": ".c", ".hpp": ".cpp"}[path.suffix]
        yield path.with_suffix(end)
        for source in path.parent.glob(f"*{end}"):
            is_alone = not source.with_suffix(path.suffix).exists() and source.stem not in SERVICES
            if is_alone and path in _headers(source, top):
                yield source


def _headers(path: Path, top: Path) -> list[Path]:
    names = _fields(path, "preproc_include", "path")
    found = [one for name in names for one in (path.parent / name, top / name) if one.is_file()]
    # Without "..", so that each has one name.
    return [Path(os.path.normpath(one)) for one in found]


def _imported_by_go(path: Path, top: Path) -> Iterator[Path]:
    """Packages of the module, and the rest of its own."""
    names = [name for name in _fields(path, "import_spec", "path") if name.startswith(f"{_GO_MODULE}/")]
    for folder in (path.parent, *(top / name.removeprefix(f"{_GO_MODULE}/") for name in names)):
        yield from (one for one in folder.glob("*.go") if not one.stem.endswith("_test"))


def _named_in_java(path: Path, _: Path) -> Iterator[Path]:
    """The classes of the package."""
    for name in {*_texts(path, "type_identifier", "identifier")}:
        yield path.with_name(f"{name}.java")


def _imported_by_python(path: Path, top: Path) -> Iterator[Path]:
    for name in _texts(path, "dotted_name"):
        yield top / f"{name}.py"


def _imported_by_node(path: Path, _: Path) -> Iterator[Path]:
    for name in _fields(path, "import_statement", "source"):
        yield path.parent / name


def _used_by_rust(path: Path, top: Path) -> Iterator[Path]:
    """The modules of each path, from the root of the crate or from this module."""
    own = path.parent if path.stem in ("mod", "lib", "main") else path.with_suffix("")
    for first, *rest in _rust_paths(tree_of(path)):
        at, words = own, [first, *rest]
        if first in _RUST_ROOTS:
            yield top / "lib.rs"
            at, words = top, rest
        while words:
            word, *words = words
            at = at.parent if word == "super" else at / word
            yield from (at / "mod.rs", at.with_suffix(".rs"))


def _rust_paths(node: Node, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """All that is written with `::`, and each path of a `use` with braces."""
    if node.type in ("identifier", "scoped_identifier", "scoped_type_identifier") and (before or "::" in _text(node)):
        yield before + tuple(_text(node).split("::"))
    elif node.type == "scoped_use_list":
        head, *_, group = node.named_children
        above = before + tuple(_text(head).split("::"))
        yield above
        yield from _rust_paths(group, above)
    else:
        for child in node.named_children:
            yield from _rust_paths(child, before)


_GO_MODULE = "services"
_RUST_ROOTS = ("crate", "services", "services_libraries")
FOLDERS = (
    Folder("Rust", "rust/src", "bin/*.rs", _used_by_rust),
    Folder("Rust", "rust/libraries/src", "bin/*.rs", _used_by_rust),
    Folder("C", "c", "*.c", _included),
    Folder("C", "c", "splice/program.c", _included, "proxy-splice"),
    Folder("C++", "cpp", "*.cpp", _included),
    Folder("Go", "go", "cmd/*/main.go", _imported_by_go),
    Folder("Java", "java/src/main/java/services", "*.java", _named_in_java),
    Folder("JavaScript", "node", "*.js", _imported_by_node),
    Folder("Python", "python", "*.py", _imported_by_python),
)
