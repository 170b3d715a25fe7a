# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What was there before each change, on disk before the change is made: so a crash at any point can be undone."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from testbed.host.files import Host

Entry = dict[str, Any]

DEFAULT = Path("/var/lib/l2fwd-rs/host.jsonl")
_SCHEMA = 1


class JournalError(Exception):
    """The journal cannot be read or written; the message names the file and what to do."""


class Journal:
    """A file with one JSON object a line: first whose it is, then one for each change, in the order they were made."""

    def __init__(self, path: Path, host: Host) -> None:
        self.path = path
        self._boot_id = host.text("/proc/sys/kernel/random/boot_id") or ""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other runs out.

        Raises `JournalError`.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise JournalError(
                f"cannot make {self.path.parent}: {error.strerror}: run it as root, or name another --record"
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError as error:
            raise JournalError(f"another prepare or restore is at work with {self.path}: wait for it") from error
        finally:
            os.close(lock)

    def read(self) -> tuple[list[Entry], bool]:
        """All entries, and whether they were made since this machine was started.

        A last line that is cut off is one whose change was not made. Raises `JournalError`.
        """
        try:
            text = self.path.read_text()
        except FileNotFoundError:
            return [], True
        except OSError as error:
            raise JournalError(f"cannot read {self.path}: {error.strerror}") from error
        complete = text.split("\n")[:-1]
        if not complete:
            return [], True
        try:
            head, *entries = [json.loads(line) for line in complete]
            schema, boot_id = head["schema"], head["boot_id"]
        except (ValueError, KeyError, TypeError) as error:
            raise JournalError(f"{self.path} is not a record of host prepare: check it, and move it away") from error
        if schema != _SCHEMA:
            raise JournalError(
                f"{self.path} has schema {schema}, this program knows {_SCHEMA}: use the one that wrote it"
            )
        return entries, boot_id == self._boot_id

    def append(self, entry: Entry) -> None:
        """Adds an entry, which is on disk when this returns.

        Raises `JournalError`.
        """
        try:
            entries, current = self.read()
            if not current or not (self.path.exists() and self.path.stat().st_size):
                self._replace([])
                entries = []
            if not self.path.read_bytes().endswith(b"\n"):
                self._replace(entries)
            with self.path.open("a") as file:
                file.write(json.dumps(entry) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise JournalError(
                f"cannot write {self.path}: {error.strerror}: nothing was changed for want of it"
            ) from error

    def keep(self, count: int) -> None:
        """Forgets all entries but the first ones; with none left the file goes."""
        entries, _ = self.read()
        if entries[:count]:
            self._replace(entries[:count])
        elif self.path.exists():
            self.path.unlink()
            self._sync_folder()

    def _replace(self, entries: list[Entry]) -> None:
        new = self.path.with_suffix(".new")
        with new.open("w") as file:
            for line in ({"schema": _SCHEMA, "boot_id": self._boot_id}, *entries):
                file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.path)
        self._sync_folder()

    def _sync_folder(self) -> None:
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
