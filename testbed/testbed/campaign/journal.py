# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The journal: each trial is on the disk before it is used, so that a campaign can be resumed at any point.

JSON lines, appended only. The first one says what kind of journal it is; then come the generators' capabilities and the
results, each with the place in the campaign that it belongs to, and between them which places are to be measured again,
and alarms.
A last line that a crash left incomplete is removed with a warning. Any other damage is an error, since what follows it
could be anything.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from testbed.campaign.traffic_generator import Capabilities
from testbed.campaign.trial import AnyResult, Record

# Raised by one when an older tool would misread the new form.
SCHEMA_VERSION = 1
JOURNAL = "journal.jsonl"
# Gets text of a journal, and whether it is all that there is; otherwise it is added.
Follower = Callable[[str, bool], None]


class JournalError(Exception):
    """The journal cannot be written, read, or does not belong to this campaign; the message says what to do."""


class Head(Record):
    """The first line."""

    type: Literal["head"] = "head"
    schema_version: int = SCHEMA_VERSION
    campaign: str = Field(description="the campaign's own number, as in campaign.json")
    begun: datetime


class Joined(Record):
    """A generator was joined to a device: what it can do there."""

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    type: Literal["joined"] = "joined"
    # Files call the test setup a rig.
    setup: str = Field(alias="rig")
    capabilities: Capabilities


class Measured(Record):
    """A trial was run."""

    type: Literal["trial"] = "trial"
    number: int = Field(ge=1, description="in the order of the journal")
    place: str = Field(description="where in the campaign: device, frames, test")
    ended: datetime
    result: AnyResult


class Again(Record):
    """Somebody wants these places measured again: what was measured there before is kept, and not used any more."""

    type: Literal["again"] = "again"
    places: list[str] = Field(description="each with all of its trials until here")
    asked: datetime


class Alarm(Record):
    """A device that is watched for hours has lost its first frames; written while the trial may still run."""

    type: Literal["alarm"] = "alarm"
    place: str
    raised: datetime
    text: str


Entry = Annotated[Head | Joined | Measured | Again | Alarm, Field(discriminator="type")]
_ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)


class Journal:
    """An open journal. One process at a time has it."""

    def __init__(self, path: Path, file_number: int, entries: list[Entry]) -> None:
        self.path = path
        # Warnings for the user.
        self.warnings: list[str] = []
        self._file = file_number
        self._entries = entries
        self._size = os.fstat(file_number).st_size
        self._trials = sum(isinstance(entry, Measured) for entry in entries)
        self._follower: Follower | None = None

    @classmethod
    def create(cls, path: Path, campaign: str) -> Self:
        """Begins a journal.

        Raises `JournalError`.
        """
        try:
            file_number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise JournalError(f"cannot make '{path}': {error.strerror}: choose another --out") from error
        _lock(file_number, path)
        journal = cls(path, file_number, [])
        journal._append(Head(campaign=campaign, begun=datetime.now(UTC)))
        # The name too must survive a crash.
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return journal

    @classmethod
    def open(cls, path: Path, campaign: str | None = None) -> Self:
        """Opens the journal of a campaign to resume it.

        Raises `JournalError`.
        """
        try:
            file_number = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        except OSError as error:
            raise JournalError(f"cannot open '{path}': {error.strerror}: give the folder of a campaign") from error
        try:
            _lock(file_number, path)
            entries, good, torn = _read(path)
            journal = cls(path, file_number, entries)
            if torn:
                os.ftruncate(file_number, good)
                os.fsync(file_number)
                journal._size = good
                journal.warnings.append(
                    f"'{path.name}' ended in an incomplete line; the line was removed, and its trial is repeated"
                )
            if not entries:
                journal._append(Head(campaign=campaign or "", begun=datetime.now(UTC)))
        except BaseException:
            os.close(file_number)
            raise
        head = journal._entries[0]
        assert isinstance(head, Head)
        if campaign is not None and head.campaign != campaign:
            journal.close()
            raise JournalError(
                f"'{path}' belongs to campaign {head.campaign}, the folder to {campaign}: restore the right file"
            )
        return journal

    @classmethod
    def resume(cls, path: Path, campaign: str) -> Self:
        """Opens the journal of a campaign that was cut off, perhaps before it wrote a line.

        Raises `JournalError`.
        """
        return cls.open(path, campaign) if path.exists() else cls.create(path, campaign)

    @property
    def trials(self) -> int:
        """How many trials it holds."""
        return self._trials

    def results(self, place: str) -> list[AnyResult]:
        """The trials of one place that are of use, in the order in which they were run."""
        found: list[AnyResult] = []
        for entry in self._entries:
            if isinstance(entry, Measured) and entry.place == place:
                found.append(entry.result)
            elif isinstance(entry, Again) and place in entry.places:
                found.clear()
        return found

    def all_results(self) -> list[tuple[str, AnyResult]]:
        """Every trial, with its place."""
        return [(entry.place, entry.result) for entry in self._entries if isinstance(entry, Measured)]

    def capabilities(self, setup: str) -> Capabilities | None:
        """What the generator could do when it was joined for the first time."""
        return next(
            (entry.capabilities for entry in self._entries if isinstance(entry, Joined) and entry.setup == setup), None
        )

    def join(self, setup: str, capabilities: Capabilities) -> None:
        """Writes down what a generator can do.

        Raises `JournalError`.
        """
        self._append(Joined(setup=setup, capabilities=capabilities))

    def add(self, place: str, result: AnyResult) -> None:
        """Writes a result down; it is on the disk when this returns.

        Raises `JournalError`.
        """
        self._append(Measured(number=self._trials + 1, place=place, ended=datetime.now(UTC), result=result))
        self._trials += 1

    def measure_again(self, places: list[str]) -> None:
        """Discards the results at these places.

        Raises `JournalError`.
        """
        self._append(Again(places=places, asked=datetime.now(UTC)))

    def alarm(self, place: str, text: str) -> None:
        """Writes an alarm down.

        Raises `JournalError`.
        """
        self._append(Alarm(place=place, raised=datetime.now(UTC), text=text))

    def follow(self, follower: Follower) -> None:
        """Hands the text to `follower`: now all that there is, then each line when it is on the disk."""
        follower("".join(entry.model_dump_json() + "\n" for entry in self._entries), True)
        self._follower = follower

    def close(self) -> None:
        """Lets others have it. May be called again."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _append(self, entry: Entry) -> None:
        line = (entry.model_dump_json() + "\n").encode()
        try:
            written = 0
            while written < len(line):
                written += os.write(self._file, line[written:])
            os.fsync(self._file)
        except OSError as error:
            # What was written before must stay readable, so half a line goes again; if even that fails, whoever opens
            # the journal next does it.
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._size)
            raise JournalError(f"cannot write '{self.path}': {error.strerror}: free some space") from error
        self._size += len(line)
        self._entries.append(entry)
        if self._follower is not None:
            self._follower(line.decode(), False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_journal(path: Path) -> list[tuple[str, AnyResult]]:
    """The trials of a journal that somebody else may be writing.

    Raises `JournalError`.
    """
    entries, _, _ = _read(path)
    return [(entry.place, entry.result) for entry in entries if isinstance(entry, Measured)]


def read_whole_lines(path: Path) -> str:
    """The text of a journal without a last line that a crash left incomplete.

    Raises `JournalError`.
    """
    _, good, _ = _read(path)
    return path.read_bytes()[:good].decode()


def read_joined(path: Path) -> dict[str, Capabilities]:
    """What the generators of a journal could do when they were joined for the first time, by setup.

    Raises `JournalError`.
    """
    entries, _, _ = _read(path)
    joined = [entry for entry in entries if isinstance(entry, Joined)]
    return {entry.setup: entry.capabilities for entry in reversed(joined)}


def read_entries(text: str, name: str) -> list[Entry]:
    """The lines of a whole journal, which messages call `name`.

    Raises `JournalError`.
    """
    try:
        entries = [_ENTRY.validate_json(line) for line in text.splitlines()]
    except ValidationError as error:
        raise JournalError(f"'{name}' is damaged: remove it, and its measurements are repeated") from error
    _check_order(Path(name), entries)
    return entries


def as_text(entries: list[Entry]) -> str:
    """A journal of these lines; trials are renumbered."""
    lines, trials = [], 0
    for entry in entries:
        if isinstance(entry, Measured):
            trials += 1
            entry = entry.model_copy(update={"number": trials})
        lines.append(entry.model_dump_json() + "\n")
    return "".join(lines)


def discarded(text: str, name: str, places: list[str]) -> str:
    """A journal, which messages call `name`, with the results at these places discarded.

    Raises `JournalError`.
    """
    return as_text([*read_entries(text, name), Again(places=places, asked=datetime.now(UTC))])


def _read(path: Path) -> tuple[list[Entry], int, bool]:
    """The entries, how many bytes they take, and whether something unfinished follows them."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise JournalError(f"cannot read '{path}': {error.strerror}: give the folder of a campaign") from error
    whole, _, rest = content.rpartition(b"\n")
    lines = whole.split(b"\n") if whole else []
    entries: list[Entry] = []
    good = 0
    for number, line in enumerate(lines, start=1):
        try:
            entries.append(_ENTRY.validate_json(line))
        except ValidationError as error:
            # A crash of the machine can leave a last line of the right length with other content.
            if number == len(lines) and not rest and b"\0" in line:
                return entries, good, True
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise JournalError(
                f"'{path}', line {number}: {field}: {first['msg']}: the journal is damaged. Put back a copy, or remove "
                "that line and all after it: their trials are then run again"
            ) from error
        good += len(line) + 1
    _check_order(path, entries)
    return entries, good, bool(rest)


def _check_order(path: Path, entries: list[Entry]) -> None:
    numbers = [entry.number for entry in entries if isinstance(entry, Measured)]
    heads = [number for number, entry in enumerate(entries) if isinstance(entry, Head)]
    if (entries and heads != [0]) or numbers != list(range(1, len(numbers) + 1)):
        raise JournalError(f"'{path}': lines are missing or out of order: restore a copy")
    head = entries[0] if entries else None
    if isinstance(head, Head) and head.schema_version != SCHEMA_VERSION:
        raise JournalError(
            f"'{path}' has schema version {head.schema_version}, this tool reads version {SCHEMA_VERSION}"
        )


def _lock(file_number: int, path: Path) -> None:
    try:
        fcntl.flock(file_number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise JournalError(f"'{path}' is in use: the campaign is still running; end it first") from error
