# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Facts from the source: versions from Cargo.lock, and the number of lines of a kernel.

Lines of a kernel are those of its function and of the functions in the same file that it uses, directly or not, without
blank lines and comments. What several libraries share, such as the checksum for those that have none, stands in files
of its own and does not count. The sources are formatted by rustfmt and clang-format, so a function ends where its
indentation is met again.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from testbed.parsing.record import Workload
from testbed.run.programs import repository_root

_RUST_FUNCTION = re.compile(r"( *)(?:pub(?:\([a-z ]+\))? )?(?:(?:const|unsafe|extern \"C\") )*fn (\w+)")
# Nothing else that begins a line in C has a parenthesis and no semicolon. A kernel is named by a macro: KERNEL(w2).
_C_FUNCTION = re.compile(r"()(?![#/\s])(?:[\w\*]+[ \*]+)*(?:KERNEL\()?(\w+)\)?\([^;]*$")
# Of a function in C whose name begins the next line.
_C_TYPE = re.compile(r"[a-z][\w \*]*$")
_COMMENT = re.compile(r"\s*(//|/\*|\*[ /])")
# An attribute is the compiler's business, not the author's.
_ATTRIBUTE = re.compile(r"\s*#!?\[")


class SourceError(Exception):
    """A source file is not there or not as expected; the message names it."""


def crate_versions(lock: Path | None = None) -> dict[str, str]:
    """The packages of Cargo.lock with their versions; of one that is there twice, both.

    Raises `SourceError`.
    """
    path = lock or repository_root() / "Cargo.lock"
    found: dict[str, str] = {}
    try:
        for package in tomllib.loads(path.read_text())["package"]:
            name, version = str(package["name"]), str(package["version"])
            found[name] = f"{found[name]}, {version}" if name in found else version
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SourceError(f"'{path}' cannot be read as cargo writes it: {error}") from error
    return found


# What programs are built from, below the top of the source tree.
_BUILT_FROM = (
    "Cargo.lock",
    "Cargo.toml",
    "parsing-bench/Cargo.toml",
    "parsing-bench/build",
    "parsing-bench/c",
    "parsing-bench/examples",
    "parsing-bench/src",
)


def source_digest(top: Path | None = None) -> str:
    """Of all that a program is built from: by it is seen that nothing has changed, whatever the commit.

    Raises `SourceError`.
    """
    top = top or repository_root()
    digest = hashlib.sha256()
    try:
        for place in _BUILT_FROM:
            path = top / place
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                if file.is_dir():
                    continue
                content = file.read_bytes()
                digest.update(f"{file.relative_to(top)}\0{len(content)}\0".encode())
                digest.update(content)
    except OSError as error:
        raise SourceError(f"cannot read '{error.filename}': {error.strerror}") from error
    return digest.hexdigest()


def kernel_lines(module: str, folder: Path | None = None) -> dict[Workload, int]:
    """The lines of each kernel by the name of the library's file; without those that the file does not have.

    Raises `SourceError`.
    """
    top = folder or repository_root() / "parsing-bench"
    if module.startswith("c_"):
        functions = _all_functions(sorted((top / "c").glob("*.[ch]")), _C_FUNCTION)
        roots = {workload: workload.lower() for workload in Workload}
        return {workload: _lines(functions, root) for workload, root in roots.items() if root in functions}
    writing = _functions(top / "src" / "impls" / f"{module}.rs", _RUST_FUNCTION)
    reading = top / "src" / "impls" / "reading" / f"{module}.rs"
    found = {workload: _lines(writing, workload.lower()) for workload in Workload if workload.lower() in writing}
    if Workload.W4 in found and reading.is_file():
        found[Workload.W4] = _lines(_functions(reading, _RUST_FUNCTION), "five_tuple")
    return found


def _functions(path: Path, pattern: re.Pattern[str]) -> dict[str, list[str]]:
    """The functions of a file by name, without blank lines, comments and attributes."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise SourceError(f"cannot read '{path}': {error.strerror}") from error
    found: dict[str, list[str]] = {}
    number = 0
    while number < len(lines):
        begins = pattern.match(lines[number])
        if begins is None:
            number += 1
            continue
        indent, name = begins[1], begins[2]
        first = number - 1 if number and _C_TYPE.match(lines[number - 1]) else number
        last = number
        # One of a single line closes what it opens.
        if not re.search(r"\{.*\}$", lines[number]):
            while last < len(lines) - 1 and not lines[last].startswith(f"{indent}}}"):
                last += 1
        found.setdefault(name, [])
        found[name] += [line for line in lines[first : last + 1] if _is_code(line)]
        number = last + 1
    return found


def _all_functions(paths: Iterable[Path], pattern: re.Pattern[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in paths:
        found |= _functions(path, pattern)
    return found


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not _COMMENT.match(line) and not _ATTRIBUTE.match(line)


def _lines(functions: dict[str, list[str]], root: str) -> int:
    """Of a function, and of those that it uses."""
    if root not in functions:
        raise SourceError(f"no function '{root}' was found among {', '.join(sorted(functions)) or 'none'}")
    waiting, used = [root], {root}
    while waiting:
        words = set(re.findall(r"\w+(?=(?:::<[^(]*>)?\(|\))", "\n".join(functions[waiting.pop()])))
        for name in sorted(words & functions.keys() - used):
            used.add(name)
            waiting.append(name)
    return sum(len(functions[name]) for name in used)
