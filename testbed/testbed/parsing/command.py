# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The run of `./x bench parsing`: measures, and writes down what there is, also when it is cut short."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from testbed.bench.binary import BinaryError
from testbed.demo import signals_as_interrupt
from testbed.environment import record_environment
from testbed.parsing.build import BuildError
from testbed.parsing.libraries import LibraryError
from testbed.parsing.matrix import variants
from testbed.parsing.measurement import Measurement
from testbed.parsing.record import KIND, ParsingRecord, Versions, Workload, read_record, write_record
from testbed.parsing.report import write_report
from testbed.parsing.source import SourceError, source_digest
from testbed.parsing.tables import print_record
from testbed.parsing.versions import memory, tool_versions
from testbed.progress import Steps
from testbed.results import ResultsError, Status, new_results_folder


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
    # The folder of a run to go on with, as it was begun, whatever else is said here.
    resume: Path | None = None


class Parsing:
    """One run into one results folder."""

    def __init__(self, options: ParsingOptions, console: Console) -> None:
        """Begins a run, or goes on with one.

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
                # The pools that are wanted are told the programs; the record says what came of it.
                memory=self.memory.model_copy(update={"pool_bytes": {}}),
            )
        else:
            self.folder = options.resume
            self.record = read_record(self.folder)
            if reason := refusal(self.record, versions, sources):
                raise ResultsError(f"cannot go on with '{self.folder}': {reason}")
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
                    measurement = Measurement(self.record, self.memory, self.raw, steps, self._save, self._warn)
                    measurement.run(self.variants, self.options.fresh)
            except KeyboardInterrupt:
                self._warn("interrupted: reporting what there is")
                go_on = shlex.join(["./x", "bench", "parsing", "--resume", str(self.folder)])
                self.record.reason = f"interrupted: what was measured until then is below; go on with {go_on}"
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
        self.console.print(f"\nResults: {self.folder}\nReport: {page}", highlight=False, soft_wrap=True)
        if self.record.status is Status.INTERRUPTED:
            self.console.print(self.record.reason, highlight=False, markup=False, soft_wrap=True)
        return self.record.status

    def _save(self) -> None:
        write_record(self.folder / "summary.json", self.record)
        if self.options.json:
            write_record(self.options.json, self.record)

    def _warn(self, message: str) -> None:
        self.console.print("[yellow]warning:[/]", end=" ")
        self.console.print(message, highlight=False, markup=False, soft_wrap=True)


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
        return "what its programs are built from has changed since: begin a new run"
    return None
