#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Fails if Rust or Python files use each other in a circle, and names what ties it.

    circles.py [ROOT]

.ci/imports says what counts as a use.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from imports import python, rust

# For each file the files that it uses, with the names that it takes from them.
Arrows = dict[Path, dict[Path, set[str]]]
BUILT = {".git", ".venv", "build-static", "results", "target"}


def sources(root: Path) -> Iterator[Path]:
    """The files that nobody built."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(set(folders) - BUILT)
        yield from (Path(folder, file) for file in sorted(files))


def circles(arrows: Arrows) -> list[list[Path]]:
    """The sets of files that reach each other, by Tarjan's algorithm."""
    order: dict[Path, int] = {}
    lowest: dict[Path, int] = {}
    pending: list[Path] = []
    found: list[list[Path]] = []

    def visit(file: Path) -> None:
        order[file] = lowest[file] = len(order)
        pending.append(file)
        for other in arrows.get(file, {}):
            if other not in order:
                visit(other)
            if other in pending:
                lowest[file] = min(lowest[file], lowest[other])
        if lowest[file] == order[file]:
            at = pending.index(file)
            if len(pending) - at > 1:
                found.append(sorted(pending[at:]))
            del pending[at:]

    for file in arrows:
        if file not in order:
            visit(file)
    return sorted(found)


def described(circle: list[Path], arrows: Arrows, root: Path) -> list[str]:
    """A circle in words: how long it is, then each arrow with the names that it stands for."""
    folders = {file.parent for file in circle}
    where = "one folder" if len(folders) == 1 else f"{len(folders)} folders"
    lines = [f"a circle of {len(circle)} files in {where}:"]
    for file in circle:
        for other in sorted(arrows[file].keys() & set(circle)):
            names = ", ".join(sorted(arrows[file][other]))
            lines.append(f"    {file.relative_to(root)} -> {other.relative_to(root)}: {names}")
    return lines


def main() -> int:
    """Prints every circle; the exit status."""
    root = Path(sys.argv[1] if sys.argv[1:] else Path(__file__).parents[2]).resolve()
    arrows: Arrows = defaultdict(lambda: defaultdict(set))
    files = list(sources(root))
    manifests = [path for path in files if path.name == "Cargo.toml"]
    scripts = [path for path in files if path.suffix == ".py"]
    for found in (rust.arrows(manifests), python.Modules(scripts).arrows()):
        for file, other, name in found:
            if file != other:
                arrows[file][other].add(name)
    tied = circles(arrows)
    for circle in tied:
        print("\n".join(described(circle, arrows, root)), file=sys.stderr)
    return 1 if tied else 0


if __name__ == "__main__":
    sys.exit(main())
