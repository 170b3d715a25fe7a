# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The run of `./x bench parsing`: measures, and records each result at once."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from rich.console import Console

from testbed.bench.count.binary import BinaryError
from testbed.command_line.console import say, say_warning
from testbed.parsing.build import BuildError
from testbed.parsing.libraries import LibraryError
from testbed.parsing.matrix import variants
from testbed.parsing.measurement import Measurement
from testbed.parsing.record import KIND, ParsingRecord, Versions, Workload, read_record, write_record
from testbed.parsing.report import write_report
from testbed.parsing.source import SourceError, source_digest
from testbed.parsing.tables import print_record
from testbed.parsing.versions import memory, tool_versions
from testbed.run.environment import record_environment
from testbed.run.progress import Steps
from testbed.run.results_folder import ResultsError, Status, new_results_folder
from testbed.run.signals import signals_as_interrupt


@dataclass(frozen=True)
class ParsingOptions:
    """The command line of `bench parsing`, checked."""

    workloads: tuple[Workload, ...]
    # All, if none is named.
    libraries: tuple[str, ...]
    matrix: str
    quick: bool
    fresh: bool
    alone: bool
    times: bool
    out: Path
    json: Path | None
    command: str
    # The folder of a run to resume with its own settings; the other options are ignored.
    resume: Path | None = None


class Parsing:
    """One run into one results folder."""

    def __init__(self, options: ParsingOptions, console: Console) -> None:
        """Starts a run, or resumes one.

        Raises `BinaryError`, `SourceError`, and `ResultsError`, also if the run cannot be gone on with.
        """
        self.options = options
        self.console = console
        self.memory = memory()
        versions = tool_versions()
        sources = source_digest()
        if options.resume is None:
            self.folder = new_results_folder(options.out, KIND)
            # Interrupted until proven otherwise: this is what a reader finds if this program is killed.
            self.record = ParsingRecord(
                status=Status.INTERRUPTED,
                reason="it did not reach its end",
                started=datetime.now(UTC),
                command=options.command,
                quick=options.quick,
                times=options.times,
                alone=options.alone,
                workloads=list(options.workloads),
                only=list(options.libraries),
                matrix=options.matrix,
                environment=record_environment([], hugepages=False),
                versions=versions,
                sources=sources,
                # The programs get the requested pool size; the record has the actual size.
                memory=self.memory.model_copy(update={"pool_bytes": {}}),
            )
        else:
            self.folder = options.resume
            self.record = read_record(self.folder)
            if reason := refusal(self.record, versions, sources):
                raise ResultsError(f"cannot continue '{self.folder}': {reason}")
            self.record.status, self.record.reason = Status.INTERRUPTED, "it did not reach its end"
            self.record.resumed.append(datetime.now(UTC))
        self.raw = self.folder / "raw"
        self.variants = variants(self.record.matrix, self.record.quick)

    def run(self) -> Status:
        """Measures, prints the tables and writes the record.

        Raises what is wrong with all variants: `LibraryError`, also for a library that there is not, `SourceError`,
        `BuildError`, `BinaryError` and `ResultsError`.
        """
        self._save()
        with signals_as_interrupt():
            try:
                with Steps(self.console, 3 * len(self.variants)) as steps:
                    measurement = Measurement(
                        self.record, self.memory, self.raw, steps, self._save, partial(say_warning, self.console)
                    )
                    measurement.run(self.variants, self.options.fresh)
            except KeyboardInterrupt:
                say_warning(self.console, "interrupted: reporting the results so far")
                go_on = shlex.join(["./x", "bench", "parsing", "--resume", str(self.folder)])
                self.record.reason = f"interrupted: the results so far are below; continue with {go_on}"
            except (BinaryError, BuildError, LibraryError, SourceError) as error:
                self.record.status, self.record.reason = Status.FAILED, str(error)
                self._save()
                raise
            else:
                wrong = [build for build in self.record.builds if build.reason]
                self.record.status = Status.FAILED if wrong else Status.PASSED
                self.record.reason = (
                    f"{len(wrong)} of {len(self.variants)} variants are not complete" if wrong else None
                )
        self.record.finished = datetime.now(UTC)
        self._save()
        print_record(self.console, self.record)
        page = write_report(self.folder)
        say(self.console, f"\nResults: {self.folder}\nReport: {page}")
        if self.record.status is Status.INTERRUPTED:
            say(self.console, self.record.reason or "")
        return self.record.status

    def _save(self) -> None:
        write_record(self.folder / "summary.json", self.record)
        if self.options.json:
            write_record(self.options.json, self.record)


def refusal(record: ParsingRecord, versions: Versions, sources: str) -> str | None:
    """Why a run cannot be gone on with: it has all, or what is measured now would be something else. None if it can."""
    if record.status is Status.PASSED:
        return "it is complete"
    then, now = record.versions.model_dump(), versions.model_dump()
    differing = [name for name in then if name != "crates" and then[name] != now[name]]
    if differing:
        name = differing[0]
        return f"it was begun with {name} {then[name]}, and this is {now[name]}: begin a new run"
    if record.versions.crates != versions.crates:
        return "it was begun with other versions of the crates in Cargo.lock: begin a new run"
    if record.sources != sources:
        return "the sources of its programs have changed: start a new run"
    return None
