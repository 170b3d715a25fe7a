# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The store: one file of SQLite. A run is in it once, by its campaign's number; added again, it replaces itself."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Self

from testbed.campaign.diff.values import Unit
from testbed.history.reading import Figure, Run
from testbed.run.results_folder import ResultsError

SCHEMA_VERSION = 1
# Of SQLite's header: 'tbhi'. A file of another program is not changed.
_APPLICATION_ID = 0x74626869
_TABLES = """
CREATE TABLE run (
    campaign TEXT PRIMARY KEY, kind TEXT NOT NULL, started TEXT NOT NULL, "commit" TEXT NOT NULL, uncommitted INTEGER,
    machine TEXT NOT NULL, kernel TEXT NOT NULL, scenario TEXT NOT NULL, preset TEXT NOT NULL, command TEXT NOT NULL,
    folder TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE figure (
    campaign TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
    test TEXT NOT NULL, figure TEXT NOT NULL, frames TEXT NOT NULL, device TEXT NOT NULL, testbed TEXT NOT NULL,
    version TEXT NOT NULL, sha256 TEXT NOT NULL, dpdk TEXT NOT NULL,
    unit TEXT NOT NULL, value REAL NOT NULL, low REAL, high REAL,
    PRIMARY KEY (campaign, test, figure, frames, device, testbed)
) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Point:
    """A figure with the run that it comes from."""

    run: Run
    figure: Figure


@dataclass(frozen=True)
class Filter:
    """Which figures are asked for; None is any."""

    test: str | None = None
    # A part of its name.
    figure: str | None = None
    device: str | None = None
    testbed: str | None = None
    dpdk: str | None = None
    version: str | None = None
    preset: str | None = None
    # Bytes, or the name of a mixture.
    size: str | None = None

    def takes(self, point: Point) -> bool:
        """Whether it is asked for."""
        one = point.figure
        return (
            self.test in (None, one.test)
            and (self.figure is None or self.figure.lower() in one.figure.lower())
            and self.device in (None, one.device)
            and self.testbed in (None, one.testbed)
            and self.dpdk in (None, one.dpdk)
            and self.version in (None, one.version)
            and self.preset in (None, point.run.preset)
            and (self.size is None or any(self._is_size(words) for words in one.frames.split(", ")))
        )

    def _is_size(self, words: str) -> bool:
        return words == f"{self.size} bytes" or words.startswith(f"{self.size} (")


class Store:
    """An open store; use it in a `with`."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Opens the file, or makes it.

        Raises `ResultsError` if it is missing, no store, or of another schema version.
        """
        self._path = path
        if not create and not path.is_file():
            raise ResultsError(f"there is no store '{path}': fill one with ./x testbed history add FOLDER")
        with self._errors():
            if create:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._sql = sqlite3.connect(path)
            try:
                self._check()
            except BaseException:
                self._sql.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._sql.close()

    def add(self, run: Run, figures: list[Figure]) -> bool:
        """Puts a run in the place of an earlier copy of itself; returns whether there was one."""
        with self._errors(), self._sql:
            replaced = self._sql.execute("DELETE FROM run WHERE campaign = ?", (run.campaign,)).rowcount > 0
            row = [run.started.isoformat() if field.name == "started" else getattr(run, field.name) for field in _RUN]
            self._insert("run", [field.name for field in _RUN], [row])
            rows = [[run.campaign, *(getattr(one, field.name) for field in _FIGURE)] for one in figures]
            self._insert("figure", ["campaign", *(field.name for field in _FIGURE)], rows)
        return replaced

    def runs(self) -> list[tuple[Run, int]]:
        """All runs with the number of their figures, the oldest first."""
        counts = "(SELECT count(*) FROM figure WHERE figure.campaign = run.campaign)"
        rows = self._rows(f"SELECT {_columns('run')}, {counts} FROM run ORDER BY started, campaign")
        return [(_run(row), row[-1]) for row in rows]

    def points(self, wanted: Filter) -> list[Point]:
        """The figures that are asked for, the oldest run first."""
        rows = self._rows(
            f"SELECT {_columns('run')}, {_columns('figure')} FROM figure JOIN run USING (campaign) "
            "ORDER BY started, campaign"
        )
        points = (Point(_run(row), _figure(row[len(_RUN) :])) for row in rows)
        return [point for point in points if wanted.takes(point)]

    def _insert(self, table: str, columns: list[str], rows: list[list[object]]) -> None:
        names, marks = ", ".join(f'"{name}"' for name in columns), ", ".join("?" * len(columns))
        self._sql.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)

    def _rows(self, query: str) -> list[tuple]:
        with self._errors():
            return self._sql.execute(query).fetchall()

    def _check(self) -> None:
        (application,) = self._sql.execute("PRAGMA application_id").fetchone()
        (version,) = self._sql.execute("PRAGMA user_version").fetchone()
        (tables,) = self._sql.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if (application, version, tables) == (0, 0, 0):
            # Both in one step, or a kill between them leaves a file that nobody takes.
            self._sql.executescript(
                f"BEGIN; PRAGMA application_id = {_APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};"
                f"{_TABLES} COMMIT;"
            )
        elif application != _APPLICATION_ID:
            raise ResultsError(f"'{self._path}' is a database of another program: give another --store")
        elif version != SCHEMA_VERSION:
            raise ResultsError(
                f"'{self._path}' has schema version {version}, this tool reads version {SCHEMA_VERSION}: use the tool "
                "that wrote it, or give another --store and add the folders again"
            )
        self._sql.execute("PRAGMA foreign_keys = ON")

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise ResultsError(f"cannot use the store '{self._path}': {error}: give another --store") from error


_RUN, _FIGURE = fields(Run), fields(Figure)


def _columns(table: str) -> str:
    return ", ".join(f'{table}."{field.name}"' for field in {"run": _RUN, "figure": _FIGURE}[table])


def _run(row: tuple) -> Run:
    told = dict(zip((field.name for field in _RUN), row, strict=False))
    uncommitted = None if told["uncommitted"] is None else bool(told["uncommitted"])
    return Run(**{**told, "started": datetime.fromisoformat(told["started"]), "uncommitted": uncommitted})


def _figure(row: tuple) -> Figure:
    told = dict(zip((field.name for field in _FIGURE), row, strict=True))
    return Figure(**{**told, "unit": Unit(told["unit"])})
