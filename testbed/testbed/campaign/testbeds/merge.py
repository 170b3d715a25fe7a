# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The results of the testbeds' jobs, on the disk, and one journal made of them."""

from __future__ import annotations

from datetime import datetime
from itertools import count
from pathlib import Path, PurePosixPath

from testbed.campaign.journal import Entry, Head, Joined, as_text, read_entries
from testbed.campaign.testbeds.job import JobResult
from testbed.run.results_folder import ResultsError, read_record, write_atomically

# The folder of the results.
PARTS = "parts"


def keep(folder: Path, name: str, result: JobResult) -> None:
    """Writes a result down, with the output of what was started and what its testbed is.

    One that is measured again takes the place of the earlier one, whose journal it has; the output of both is kept.

    Raises `ResultsError`.
    """
    own = file_stem(name)
    raw = folder / "raw" / result.testbed
    output = raw / own
    if _file(folder, name).exists():
        output = next(path for number in count(2) if not (path := raw / f"{own}-{number}").exists())
    try:
        (folder / PARTS).mkdir(exist_ok=True)
        for log, text in result.logs.items():
            path = PurePosixPath(log)
            # What comes over the network does not choose where it is written.
            if path.is_absolute() or ".." in path.parts:
                continue
            file = output / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    except OSError as error:
        raise ResultsError(f"cannot write into '{folder}': {error.strerror}: free some space, then resume") from error
    write_atomically(_file(folder, name), result.model_copy(update={"logs": {}}).model_dump_json() + "\n")


def kept(folder: Path, name: str) -> JobResult | None:
    """The result of the job of this name, if it was done.

    Raises `ResultsError`.
    """
    path = _file(folder, name)
    return read_record(path, JobResult, "what a testbed has measured", "a campaign") if path.exists() else None


def file_stem(part: str) -> str:
    """'64B-1way-1flows': the name of a part in the names of files."""
    return part.replace("/", "-")


def _file(folder: Path, name: str) -> Path:
    return folder / PARTS / f"{file_stem(name)}.json"


def merged(campaign: str, begun: datetime, results: dict[str, JobResult]) -> str:
    """The journal of the campaign: its results in this order, as if one testbed had measured them one by one.

    Raises `JournalError`.
    """
    entries: list[Entry] = [Head(campaign=campaign, begun=begun)]
    joined: set[str] = set()
    for name, result in results.items():
        for entry in read_entries(result.journal, f"{PARTS}/{name}"):
            if isinstance(entry, Head) or (isinstance(entry, Joined) and entry.setup in joined):
                continue
            if isinstance(entry, Joined):
                joined.add(entry.setup)
            entries.append(entry)
    return as_text(entries)
