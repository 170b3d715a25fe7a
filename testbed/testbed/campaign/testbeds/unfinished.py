# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The journals of jobs that have not ended, in the campaign's folder: each line as soon as its testbed has it.

What a lost testbed, or a lost scheduler, has measured is here, and the same testbed continues it.
"""

from __future__ import annotations

import os
import threading
from itertools import count
from pathlib import Path

from testbed.campaign.journal import read_whole_lines
from testbed.campaign.testbeds.job import Job
from testbed.campaign.testbeds.merge import PARTS, file_stem
from testbed.run.results_folder import ResultsError, write_atomically

_SUFFIX = ".jsonl"


class UnfinishedJournals:
    """One file for each job that runs or was lost. Lines come from another thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / PARTS
        self._lock = threading.Lock()
        # Where the lines of a job go, by the job's number.
        self._files: dict[str, Path] = {}
        self._error: OSError | ResultsError | None = None

    def text(self, part: str, testbed: str) -> str:
        """What the testbed has measured of a part; nothing if it has not begun it.

        Raises `JournalError`.
        """
        path = self._path(part, testbed)
        return read_whole_lines(path) if path.exists() else ""

    def testbeds_with(self, part: str) -> list[str]:
        """The testbeds that have begun a part."""
        start = f"{file_stem(part)}@"
        names = [path.name for path in self._folder.glob(f"*{_SUFFIX}") if path.name.startswith(start)]
        return [name.removeprefix(start).removesuffix(_SUFFIX) for name in names]

    def begin(self, job: Job) -> None:
        """From now on the lines of the job are taken."""
        with self._lock:
            self._files[job.number] = self._path(job.part, job.testbed)

    def take(self, number: str, text: str, whole: bool) -> None:
        """Writes lines of a job down: its whole journal so far, or what was added to it.

        Lines of a job that was given up are of no use, since another testbed may have it.
        """
        with self._lock:
            path = self._files.get(number)
            if path is None or self._error is not None:
                return
            try:
                if whole:
                    path.parent.mkdir(exist_ok=True)
                    write_atomically(path, text)
                    return
                with path.open("a", encoding="utf-8") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
            except (OSError, ResultsError) as error:
                self._error = error

    def check(self) -> None:
        """Raises `ResultsError` if a line could not be written."""
        with self._lock:
            if isinstance(self._error, ResultsError):
                raise self._error
            if self._error is not None:
                raise ResultsError(f"cannot write into '{self._folder}': {self._error.strerror}: free some space")

    def give_up(self, job: Job) -> None:
        """The job is lost; what came of it stays."""
        with self._lock:
            self._files.pop(job.number, None)

    def set_aside(self, job: Job) -> None:
        """What came of the job is kept, but not used: whoever measures this part begins it anew."""
        self.give_up(job)
        path = self._path(job.part, job.testbed)
        if path.exists():
            path.replace(
                next(one for number in count(1) if not (one := path.with_suffix(f".invalid-{number}")).exists())
            )

    def end(self, job: Job) -> None:
        """The job is done, and its result has all lines."""
        self.give_up(job)
        self._path(job.part, job.testbed).unlink(missing_ok=True)

    def _path(self, part: str, testbed: str) -> Path:
        return self._folder / f"{file_stem(part)}@{testbed}{_SUFFIX}"
