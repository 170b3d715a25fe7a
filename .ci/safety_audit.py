# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Writes target/doc/SAFETY.md: what every `unsafe` of the crates relies on, in the words of the comment before it.

    safety_audit.py [--check] [ROOT]      --check: write nothing, only complain

Each `unsafe` needs a comment of its own: `// SAFETY:` before a block, an impl, an extern block or an attribute, a
section `# Safety` in the documentation of a function or a trait. One that is missing, serves two, belongs to nothing
unsafe or sends the reader elsewhere ("as above") is an error; then nothing is written. So is

- source text from a file that is not read here: `include!`, `#[path]`, links; only bindgen's bindings are exempt;
- an attribute, a derive, a macro or a crate that is not known here, since it may expand to unsafe code;
- what needs no `unsafe` but can do as much: `global_asm!`, an `extern` block without it, lints that are lifted;
- a safe function that other files can call and that relies on its callers, or takes a pointer on trust.
"""

from __future__ import annotations

import argparse
import sys
from itertools import groupby
from pathlib import Path

from safety.entries import KINDS, parse, read
from safety.loopholes import complaints, macros_of
from safety.manifests import manifest_complaints
from safety.source import Audit, Entry

PAGE = "target/doc/SAFETY.md"
SOURCES = ("dpdk-rs/src", "dpdk-sockets/c/src", "dpdk-sys/src")
TRUSTING = " (trusting its file)"
# Tests and their stand-in for DPDK, which no program contains.
TESTS = "dpdk-rs/src/models/"
NAMES = {"fn": "function", "extern": "extern block"}

INTRODUCTION = """\
# What the unsafe code relies on

`./x doc` makes this page from the comments in the sources; `./x lint` fails where one is missing.

`dpdk-rs` promises that no sequence of safe calls is undefined behaviour: in any order of drops, with `mem::forget`,
panics and exhausted pools. The price is paid here: each line is one operation that the compiler cannot check, then why
it is sound and who ensures it. A line `unsafe fn` says what the function's callers have to ensure; they are on this
page too. "trusting its file" marks a safe function that relies on what calls it: it is private to its file.
`dpdk-sockets/c` is called from C: the header has what its callers have to ensure.

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
            lines += [f"- `{entry.code}`{TRUSTING if entry.trusts else ''}: {entry.reason}" for entry in of_place]
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
    audit.complaints += manifest_complaints(root)
    files = []
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.is_symlink():
                audit.complaints.append(f"{name}: a link, which may lead to a file that this audit does not read")
            elif name.startswith(TESTS):
                continue
            elif path.suffix == ".rs" and (file := parse(audit, name, path.read_text())):
                files.append(file)
    macros = {macro for file in files for macro in macros_of(file.tokens)}
    for file in files:
        audit.complaints += [f"{file.name}:{line}: {what}" for line, what in complaints(file.name, file.tokens, macros)]
        read(audit, file)
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
