# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The arrows between Python modules: from the file that imports a name to the file that defines it.

Imports for type checking and those inside functions count. Names that a package passes on are followed to their source.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path


class Modules:
    """The modules of a set of files, each under the name by which the others import it."""

    def __init__(self, files: Iterable[Path]) -> None:
        self.trees = {path: ast.parse(path.read_text()) for path in files}
        self.places = {path: self._place(path) for path in self.trees}
        self.files = {place: path for path, place in self.places.items()}
        self.bound = {path: dict(self._bindings(path)) for path in self.trees}

    @staticmethod
    def _place(path: Path) -> tuple[Path, tuple[str, ...]]:
        """The folder from which a module is imported, and its name there."""
        top = path.parent
        while (top / "__init__.py").is_file():
            top = top.parent
        parts = path.relative_to(top).with_suffix("").parts
        return top, parts[:-1] if parts[-1] == "__init__" else parts

    def _bindings(self, path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
        """What the imports of a file bind, with what each stands for."""
        own = self.places[path][1]
        package = own if path.name == "__init__.py" else own[:-1]
        for node in ast.walk(self.trees[path]):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield alias.asname or alias.name, tuple(alias.name.split("."))
            elif isinstance(node, ast.ImportFrom):
                base = package[: len(package) + 1 - node.level] if node.level else ()
                base += tuple(node.module.split(".")) if node.module else ()
                for alias in node.names:
                    yield alias.asname or alias.name, (*base, alias.name)

    def definition(self, top: Path, name: tuple[str, ...], seen: frozenset[Path] = frozenset()) -> Path | None:
        """The file that defines a dotted name; None if it is not among these."""
        for length in range(len(name), 0, -1):
            path = self.files.get((top, name[:length]))
            if path is None:
                continue
            passed_on = self.bound[path].get(name[length]) if length < len(name) else None
            source = self.definition(top, passed_on, seen | {path}) if passed_on and path not in seen else None
            return source or path
        return None

    def arrows(self) -> Iterator[tuple[Path, Path, str]]:
        """Each use of a name: the file, the file that defines it, the name."""
        for path, tree in self.trees.items():
            top = self.places[path][0]
            names = set(self.bound[path].values())
            for node in ast.walk(tree):
                if isinstance(node, ast.Attribute):
                    dotted = ast.unparse(node)
                    for bound, name in self.bound[path].items():
                        if dotted.startswith(f"{bound}."):
                            names.add((*name, *dotted.removeprefix(f"{bound}.").split(".")))
            for name in names:
                definition = self.definition(top, name)
                if definition:
                    yield path, definition, name[-1]
