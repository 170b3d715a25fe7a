# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The folder that a run writes, under `results/`: how it is made, and how its JSON files are written and read."""

from __future__ import annotations

import contextlib
import lzma
import os
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

R = TypeVar("R", bound=BaseModel)
# Raised by one when a reader of the old form would misread the new one.
SCHEMA_VERSION = 1


class ResultsError(Exception):
    """A results folder cannot be written or read; the message says why."""


class Status(StrEnum):
    """How a run, or a part of it, ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    INTERRUPTED = "interrupted"


class Record(BaseModel):
    """A part of the summary. Unknown fields are an error: the schema's version says what may be there."""

    model_config = ConfigDict(extra="forbid")


def write_atomically(path: Path, text: str) -> None:
    """Writes `text` to `path`, compressed for `.xz`, so that a reader, or a crash, never meets half a file."""
    data = text.encode()
    if path.suffix == ".xz":
        data = lzma.compress(data, preset=9)
    draft = path.with_name(f".{path.name}.draft")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise ResultsError(
            f"cannot write '{path}': {error.strerror}: free some space or choose another --out"
        ) from error


def read_record(path: Path, model: type[R], what: str, whose: str, version: int = SCHEMA_VERSION) -> R:
    """Reads a JSON file with a schema version, which messages call `what` in a folder of `whose`.

    Raises `ResultsError` for a file that is missing, of another schema version, or broken.
    """
    try:
        return model.model_validate_json(_of_version(path, version))
    except OSError as error:
        raise ResultsError(f"cannot read '{path}': {error.strerror}: give the folder of {whose}") from error
    except (lzma.LZMAError, UnicodeDecodeError) as error:
        raise ResultsError(f"'{path}' is not {what}: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise ResultsError(f"'{path}' is not {what}: {field}: {first['msg']}") from error


def write_model(path: Path, model: BaseModel) -> None:
    """Writes a JSON file.

    Raises `ResultsError`.
    """
    write_atomically(path, model.model_dump_json(indent=2) + "\n")


class _Version(BaseModel):
    schema_version: int


def _of_version(path: Path, wanted: int) -> str:
    data = path.read_bytes()
    text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
    version = _Version.model_validate_json(text).schema_version
    if version != wanted:
        raise ResultsError(f"'{path}' has schema version {version}, this tool reads version {wanted}")
    return text


def new_results_folder(parent: Path, kind: str, now: datetime | None = None) -> Path:
    """Makes `parent/KIND-<UTC time>/raw` and returns the folder; a second one in the same second gets a number."""
    stamp = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    try:
        for attempt in range(100):
            folder = parent / (f"{kind}-{stamp}" if attempt == 0 else f"{kind}-{stamp}-{attempt + 1}")
            try:
                folder.mkdir(parents=True)
            except FileExistsError:
                continue
            (folder / "raw").mkdir()
            return folder
    except OSError as error:
        raise ResultsError(
            f"cannot make a results folder in '{parent}': {error.strerror}: choose another --out"
        ) from error
    raise ResultsError(f"'{parent}' already has 100 folders named {kind}-{stamp}")
