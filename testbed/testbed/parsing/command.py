# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The run of `./x bench parsing`: builds each variant, measures its kernels, and writes down what there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from testbed.bench.binary import BinaryError
from testbed.demo import signals_as_interrupt
from testbed.environment import record_environment
from testbed.parsing import timing
from testbed.parsing.build import BuildError, build_variant
from testbed.parsing.code import Program
from testbed.parsing.count import CountError, count_kernels
from testbed.parsing.libraries import LibraryError, Listed, chosen_libraries, judge, list_libraries, weigh_alone
from testbed.parsing.matrix import refusal, variants
from testbed.parsing.record import (
    KIND,
    LTO_FAT,
    LTO_OFF,
    Build,
    CrossLanguage,
    Kernel,
    ParsingRecord,
    Residency,
    Variant,
    Workload,
    write_record,
)
from testbed.parsing.report import write_report
from testbed.parsing.source import SourceError
from testbed.parsing.tables import print_record
from testbed.parsing.timing import NOTHING, Pool, TimingError, time_kernels
from testbed.parsing.versions import memory, tool_versions
from testbed.progress import Steps
from testbed.results import Status, new_results_folder

# What the linker is to have made part of Rust's functions.
_CLANG_KERNELS = "c_clang_"


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
    out: Path
    json: Path | None
    command: str


class Parsing:
    """One run into one results folder."""

    def __init__(self, options: ParsingOptions, console: Console) -> None:
        self.options = options
        self.console = console
        self.variants = variants(options.matrix, options.quick)
        versions = tool_versions()
        # What is wanted; the record says what came of it.
        self.memory = memory()
        self.folder = new_results_folder(options.out, KIND)
        self.raw = self.folder / "raw"
        # Interrupted until proven otherwise: this is what a reader finds if this program is killed.
        self.record = ParsingRecord(
            status=Status.INTERRUPTED,
            reason="it did not reach its end",
            started=datetime.now(UTC),
            command=options.command,
            quick=options.quick,
            workloads=list(options.workloads),
            matrix=options.matrix,
            environment=record_environment([], hugepages=False),
            versions=versions,
            memory=self.memory.model_copy(update={"pool_bytes": {}}),
        )

    def run(self) -> Status:
        """Measures, prints the tables and writes the record.

        Raises what is wrong with all variants: `LibraryError`, also for a library that there is not, `SourceError`,
        `BuildError`, `BinaryError` and `ResultsError`.
        """
        self._save()
        with signals_as_interrupt():
            try:
                with Steps(self.console, 4 * len(self.variants)) as steps:
                    self._measure(steps)
            except KeyboardInterrupt:
                self._warn("interrupted: reporting what there is")
                self.record.reason = "interrupted: what was measured until then is below"
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
        return self.record.status

    def _measure(self, steps: Steps) -> None:
        chosen: list[Listed] = []
        for variant in self.variants:
            build = Build(variant=variant, reason=refusal(variant))
            self.record.builds.append(build)
            steps.begin(variant.describe())
            if build.reason is None:
                try:
                    chosen = self._measure_variant(build, chosen, steps)
                except (BinaryError, BuildError, CountError, TimingError) as error:
                    build.reason = str(error)
            if build.reason is not None:
                self._warn(f"{variant.describe()}: {build.reason}")
            self._save()
            steps.done()
        if self.options.alone:
            steps.begin("each library alone")
            try:
                weigh_alone(chosen, self.raw, steps.tell, self._save)
            except (BinaryError, BuildError) as error:
                self._warn(f"not every library was built alone: {error}")

    def _measure_variant(self, build: Build, chosen: list[Listed], steps: Steps) -> list[Listed]:
        """Fills in `build`; the libraries, which the first variant tells."""
        built = build_variant(build.variant, self.options.fresh, self.raw, steps.tell)
        build.seconds, build.binary_bytes, build.sha256 = built.seconds, built.stripped_bytes, built.sha256
        steps.done()
        if not chosen:
            chosen = chosen_libraries(
                list_libraries(built.program, self.record.versions, self.raw), self.options.libraries
            )
            self.record.libraries = [one.library for one in chosen]
            judge(self.record.libraries, self.options.workloads, self.options.quick, self.raw, steps.tell)
        build.kernels = [
            Kernel(library=one.library.name, workload=workload)
            for workload in self.options.workloads
            for one in chosen
            if workload not in one.library.cannot
        ]
        self._look_at_code(build, built.program, chosen)
        for workload in self.options.workloads:
            names = [one.library.name for one in chosen if one.library.measurable(workload)]
            if names:
                self._count(build, built.program, workload, names, steps)
        self._save()
        steps.done()
        for workload in self.options.workloads:
            names = [one.library.name for one in chosen if one.library.measurable(workload)]
            if names:
                self._time(build, built.program, workload, names, steps)
        steps.done()
        return chosen

    def _look_at_code(self, build: Build, path: Path, chosen: Sequence[Listed]) -> None:
        program = Program(path)
        symbols = {(one.library.name, workload): symbol for one in chosen for workload, symbol in one.symbols.items()}
        for kernel in build.kernels:
            kernel.code = program.kernel(symbols[kernel.library, kernel.workload])
        if build.variant.cross_language:
            left = sorted(name for name in program.names() if name.startswith(_CLANG_KERNELS))
            build.cross_language = CrossLanguage(inlined=not left, symbols_left=left)
            if left:
                build.reason = f"clang's code was not inlined: {', '.join(left)} are still functions of their own"

    def _count(self, build: Build, path: Path, workload: Workload, names: list[str], steps: Steps) -> None:
        if self.record.versions.valgrind is None:
            build.reason = "instructions were not counted: 'valgrind' is not installed: run ./x setup"
            return
        steps.tell(f"counting instructions, {workload}")
        for count in count_kernels(path, [workload], names, self.raw, f"count-{build.variant.name}-{workload}"):
            kernel = build.kernel(count.library, count.workload)
            if kernel is not None:
                kernel.instructions_per_frame, kernel.calls_per_frame = count.instructions, count.calls

    def _time(self, build: Build, path: Path, workload: Workload, names: list[str], steps: Steps) -> None:
        protocol = timing.QUICK if self.options.quick else timing.USUAL
        residencies = self._residencies(build.variant)
        steps.tell(f"timing, {workload}")
        found = time_kernels(
            path,
            [workload],
            names,
            residencies,
            self.memory,
            protocol,
            self.raw,
            f"time-{build.variant.name}-{workload}",
        )
        for one in found:
            if isinstance(one, Pool):
                pools = self.record.memory.pool_bytes
                pools[one.residency] = min(one.touched_bytes, pools.get(one.residency, one.touched_bytes))
            elif one.library == NOTHING:
                build.loop_timings.setdefault(workload, []).append(one.timing)
            elif (kernel := build.kernel(one.library, workload)) is not None:
                kernel.timings.append(one.timing)
                self._save()

    def _residencies(self, variant: Variant) -> list[Residency]:
        """All of them where it is about libraries; one where it is about what a compiler makes of them."""
        if variant not in (LTO_OFF, LTO_FAT):
            return [Residency.HOT]
        return [Residency.HOT, Residency.COLD] if self.options.quick else list(Residency)

    def _save(self) -> None:
        write_record(self.folder / "summary.json", self.record)
        if self.options.json:
            write_record(self.options.json, self.record)

    def _warn(self, message: str) -> None:
        self.console.print("[yellow]warning:[/]", end=" ")
        self.console.print(message, highlight=False, markup=False, soft_wrap=True)
