# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Holds l2fwd-c and l2fwd-rs to being twins: the same files, with the same functions in the same order.

What counts: in C every function that a .c file defines, in Rust every free function and every method of an inherent
`impl`. Methods of traits, functions within functions and the module `tests` do not count.

How names match: a Rust function has the name of its twin. A method `Type::name` has either its own name in C or that of
its type after it: `Report::finish` is `finish` or `finish_report`. `Type::new` is `init_type`.

What only one language has stands in twins-exceptions.toml, with the reason. `main` ends its file in both.

Prints each deviation and exits with 1 if there is one.
"""

from __future__ import annotations

import re
import sys
import tomllib
from bisect import bisect_left
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
C_FOLDER = Path("l2fwd-c")
RUST_FOLDER = Path("l2fwd-rs/src")
EXCEPTIONS = Path(__file__).with_name("twins-exceptions.toml")

# clang-format puts the name of a function that is defined at the start of a line, and the brace at that of a later one.
C_FUNCTION = re.compile(r"^(\w+)\([^;{}]*\)\n\{", re.MULTILINE)
C_NOISE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'", re.DOTALL)
# A lifetime is no character: 'a, but '\'' and 'a'.
RUST_NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|r(#*)\".*?\"\1|\"(?:\\.|[^\"\\])*\"|'(?:\\[^']*'|\\''|[^'\\]')", re.DOTALL)
RUST_ARRAY = re.compile(r"\[[^][{}]*\]")
RUST_ITEM = re.compile(r"\b(?P<kind>fn|impl|mod|trait)\b(?P<head>[^{};]*)(?P<end>[{;])|(?P<brace>[{}])")
RUST_IMPL_TYPE = re.compile(r"(?:<[^{]*?>\s+)?(\w+)")


@dataclass
class Exceptions:
    """What only one language has."""

    # The names of files, without suffix, by the folder that has them.
    files: dict[Path, set[str]] = field(default_factory=dict)
    # By folder and file.
    functions: dict[tuple[Path, str], set[str]] = field(default_factory=dict)


def c_functions(text: str) -> list[str]:
    """The functions that a C file defines, in their order."""
    return C_FUNCTION.findall(C_NOISE.sub("", text))


def rust_functions(text: str) -> list[str]:
    """The free functions of a Rust file, and the methods of its inherent impls as `Type::name`, in their order."""
    found = []
    # For each open brace what its functions are called: the prefix, or None where they do not count.
    scopes: list[str | None] = [""]
    for item in RUST_ITEM.finditer(RUST_ARRAY.sub("[]", RUST_NOISE.sub("", text))):
        if item["brace"] == "}":
            scopes.pop()
        elif item["brace"] == "{":
            scopes.append(None)
        elif item["end"] == "{":
            if item["kind"] == "fn" and scopes[-1] is not None:
                found.append(scopes[-1] + item["head"].split("(")[0].split("<")[0].strip())
            scopes.append(_methods_prefix(item["head"]) if item["kind"] == "impl" and scopes[-1] == "" else None)
    return found


def _methods_prefix(head: str) -> str | None:
    """What names of methods begin with in `impl HEAD`; None for those of a trait."""
    own = RUST_IMPL_TYPE.match(head.strip())
    return None if own is None or re.search(r"\bfor\b", head) else f"{own[1]}::"


def c_names(rust: str) -> set[str]:
    """The names that the twin of a Rust function may have."""
    type_name, separator, name = rust.rpartition("::")
    if not separator:
        return {name}
    type_name = re.sub(r"(?<!^)(?=[A-Z])", "_", type_name).lower()
    return {name, f"{name}_{type_name}"} if name != "new" else {f"init_{type_name}"}


def pair(c: list[str], rust: list[str]) -> list[tuple[str, str]]:
    """Each C function that has a twin in the list, with it; in the order of the C functions."""
    names = {name: function for function in reversed(rust) for name in c_names(function)}
    return [(function, names[function]) for function in c if function in names]


def out_of_order(pairs: list[tuple[str, str]], rust: list[str]) -> list[tuple[str, str]]:
    """The fewest pairs that would have to move for the others to be in the same order."""
    places = [rust.index(function) for _, function in pairs]
    # The longest ascending row: `ends` holds for each length the place that ends such a row earliest.
    ends: list[int] = []
    lengths = []
    for place in places:
        length = bisect_left(ends, place)
        ends[length : length + 1] = [place]
        lengths.append(length)
    wanted = len(ends) - 1
    moved = []
    for number in reversed(range(len(pairs))):
        if lengths[number] == wanted:
            wanted -= 1
        else:
            moved.append(pairs[number])
    return moved[::-1]


def compare(name: str, c: list[str], rust: list[str], exceptions: Exceptions) -> list[str]:
    """The deviations between a file in C and its twin, each in one line."""
    c_file, rust_file = C_FOLDER / f"{name}.c", RUST_FOLDER / f"{name}.rs"
    c_alone = exceptions.functions.get((C_FOLDER, name), set())
    rust_alone = exceptions.functions.get((RUST_FOLDER, name), set())
    found = [f"{EXCEPTIONS.name}: there is no function {one} in {c_file}" for one in sorted(c_alone - set(c))]
    found += [f"{EXCEPTIONS.name}: there is no function {one} in {rust_file}" for one in sorted(rust_alone - set(rust))]
    c = [function for function in c if function not in c_alone]
    rust = [function for function in rust if function not in rust_alone]
    pairs = pair(c, rust)
    with_twin = {function for twins in pairs for function in twins}
    found += [f"{c_file}: {function} has no twin in {rust_file}" for function in c if function not in with_twin]
    found += [f"{rust_file}: {function} has no twin in {c_file}" for function in rust if function not in with_twin]
    for in_c, in_rust in out_of_order(pairs, rust):
        found.append(f"{c_file}: {in_c} stands elsewhere among its neighbours than {in_rust} in {rust_file}")
    if name == "main":
        found += [
            f"{file}: main is not the last function"
            for file, functions in ((c_file, c), (rust_file, rust))
            if functions[-1:] != ["main"]
        ]
    return found


def read_exceptions(path: Path) -> tuple[Exceptions, list[str]]:
    """The exceptions, and what is wrong with them."""
    exceptions, found = Exceptions(), []
    for number, entry in enumerate(tomllib.loads(path.read_text()).get("exception", []), 1):
        if not str(entry.get("reason", "")).strip():
            found.append(f"{path.name}: exception {number} gives no reason")
        if entry.keys() - {"file", "c", "rust", "reason"} or "file" not in entry or not entry.keys() & {"c", "rust"}:
            found.append(f"{path.name}: exception {number} needs `file`, and `c` or `rust`")
            continue
        for folder, language in ((C_FOLDER, "c"), (RUST_FOLDER, "rust")):
            functions = entry.get(language, [])
            if functions is True:
                exceptions.files.setdefault(folder, set()).add(entry["file"])
            else:
                exceptions.functions.setdefault((folder, entry["file"]), set()).update(functions)
    return exceptions, found


def check(root: Path, exceptions_file: Path) -> tuple[list[str], str]:
    """All deviations below `root`, and the sum in one line."""
    exceptions, found = read_exceptions(exceptions_file)
    texts = {
        folder: {file.stem: file.read_text() for file in sorted((root / folder).glob(f"*{suffix}"))}
        for folder, suffix in ((C_FOLDER, ".c"), (RUST_FOLDER, ".rs"))
    }
    for folder, other in ((C_FOLDER, RUST_FOLDER), (RUST_FOLDER, C_FOLDER)):
        allowed = exceptions.files.get(folder, set())
        missing = sorted(allowed - texts[folder].keys())
        found += [f"{exceptions_file.name}: there is no file {name} in {folder}" for name in missing]
        alone = texts[folder].keys() - texts[other].keys() - allowed
        found += [f"{folder}: the file {name} has no twin in {other}" for name in sorted(alone)]
    counts = {"functions": 0, "pairs": 0, "moved": 0}
    for name in sorted(texts[C_FOLDER].keys() & texts[RUST_FOLDER].keys()):
        c, rust = c_functions(texts[C_FOLDER][name]), rust_functions(texts[RUST_FOLDER][name])
        pairs = pair(c, rust)
        counts["functions"] += len(c)
        counts["pairs"] += len(pairs)
        counts["moved"] += len(out_of_order(pairs, rust))
        found += compare(name, c, rust, exceptions)
    in_order = counts["pairs"] - counts["moved"]
    return found, f"twins: {counts['functions']} functions in C, {counts['pairs']} with a twin, {in_order} in its order"


def main() -> int:
    """Prints what deviates."""
    found, total = check(ROOT, EXCEPTIONS)
    for deviation in found:
        print(deviation, file=sys.stderr)
    print(total)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
