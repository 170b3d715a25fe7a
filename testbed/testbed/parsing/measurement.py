# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Measures what a record lacks: first the machine code and the instructions of all variants, each while the next is
built, and then, when nothing else runs, the times of all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from testbed.bench.count.binary import BinaryError
from testbed.parsing.build import BuildError, Built, Watch, build_gate, build_timer, build_variant, kept_program
from testbed.parsing.builds import Builds
from testbed.parsing.code import Program
from testbed.parsing.count import CountError, count_kernels
from testbed.parsing.libraries import Listed, chosen_libraries, judge, list_libraries, weigh_alone
from testbed.parsing.matrix import refusal
from testbed.parsing.plan import gate_frames, protocol, residencies
from testbed.parsing.record import Build, CrossLanguage, Kernel, Memory, ParsingRecord, Variant, Workload
from testbed.parsing.timing import NOTHING, Pool, TimingError, time_kernels
from testbed.run.progress import Steps

# What the linker is to have made part of Rust's functions.
_CLANG_KERNELS = "c_clang_"
_GATE = "gate"
_TIMER = "timer"


class Measurement:
    """Fills in a record, and has it saved after each step."""

    def __init__(
        self,
        record: ParsingRecord,
        memory: Memory,
        raw: Path,
        steps: Steps,
        save: Callable[[], None],
        warn: Callable[[str], None],
    ) -> None:
        self.record = record
        # The pools that are wanted.
        self.memory = memory
        self.raw = raw
        self.steps = steps
        self.save = save
        self.warn = warn
        self.listed: list[Listed] = []

    def run(self, variants: Sequence[Variant], fresh: bool) -> None:
        """All variants.

        Raises what is wrong with all of them: `LibraryError`, `SourceError`, `BuildError` and `BinaryError`.
        """
        wanted: dict[str, Callable[[Watch], Built]] = {}
        programs: dict[str, Path] = {}
        for variant in variants:
            build = self.record.build(variant)
            if build is None:
                build = Build(variant=variant)
                self.record.builds.append(build)
            build.reason = refusal(variant)
            if build.reason is None:
                wanted[variant.name] = partial(self._built, build, fresh)
            # It is of the variant without LTO, which comes first, and judges before anything is counted.
            wanted.setdefault(_GATE, partial(build_gate, self.record.quick, self.raw))
        wanted[_TIMER] = partial(build_timer, self.raw)
        if self._is_judged():
            del wanted[_GATE]
        if not self.record.times:
            del wanted[_TIMER]
        with Builds(wanted, ahead=not fresh) as builds:
            for build in self.record.builds:
                self.steps.begin(build.variant.describe())
                if build.reason is None:
                    self._attempt(build, partial(self._look_at, build, builds, programs))
                self._done(build, 2)
            timer = self._wait_for(builds, _TIMER).program if self.record.times and programs else None
        for build in self.record.builds:
            self.steps.begin(build.variant.describe())
            if timer is not None and build.variant.name in programs:
                self._attempt(build, partial(self._time_all, build, timer, programs[build.variant.name]))
            self._done(build, 1)
        if self.record.alone:
            self.steps.begin("each library alone")
            try:
                weigh_alone(self.listed, self.raw, self.steps.tell, self.save)
            except (BinaryError, BuildError) as error:
                self.warn(f"not every library was built alone: {error}")

    def _attempt(self, build: Build, act: Callable[[], None]) -> None:
        """One variant that fails leaves the others."""
        before = build.reason
        try:
            act()
        except (BinaryError, BuildError, CountError, TimingError) as error:
            build.reason = str(error)
        if build.reason not in (None, before):
            self.warn(f"{build.variant.describe()}: {build.reason}")

    def _done(self, build: Build, steps: int) -> None:
        self.save()
        for _ in range(steps):
            self.steps.done()

    def _built(self, build: Build, fresh: bool, watch: Watch) -> Built:
        """The build of an interrupted run, if it still exists."""
        kept = None if fresh else kept_program(build.variant, build.sha256, self.raw)
        return kept or build_variant(build.variant, fresh, self.raw, watch)

    def _wait_for(self, builds: Builds, name: str) -> Built:
        if not builds.is_ready(name):
            self.steps.tell("building" if name not in (_GATE, _TIMER) else f"building the {name}")
        return builds.get(name)

    def _look_at(self, build: Build, builds: Builds, programs: dict[str, Path]) -> None:
        """The machine code and the instructions of a variant, as far as they are not known."""
        built = self._wait_for(builds, build.variant.name)
        if build.sha256 != built.sha256:
            # What is known is of another program, if anything is.
            build.kernels, build.loop_timings = [], {}
        build.seconds = built.seconds or build.seconds
        build.binary_bytes, build.sha256 = built.stripped_bytes, built.sha256
        if not self.listed:
            listed = list_libraries(built.program, self.record.versions, self.raw)
            # Results of an interrupted run.
            known = {library.name: library for library in self.record.libraries}
            self.listed = [
                replace(one, library=known.get(one.library.name, one.library))
                for one in chosen_libraries(listed, self.record.only)
            ]
        if not self._is_judged():
            self.record.libraries = [one.library for one in self.listed]
            gate = self._wait_for(builds, _GATE).program
            self.steps.tell("judging the libraries")
            frames = gate_frames(self.record.quick)
            judge(self.record.libraries, self.record.workloads, frames, gate, self.raw)
        if not build.kernels:
            self._look_at_code(build, built.program)
        self._check_inlining(build)
        for workload in self.record.workloads:
            self._count(build, built.program, workload)
        programs[build.variant.name] = built.program

    def _is_judged(self) -> bool:
        """Whether the gate's verdicts are known."""
        libraries = self.record.libraries
        return bool(libraries) and all(set(self.record.workloads) <= set(one.gate) for one in libraries)

    def _look_at_code(self, build: Build, path: Path) -> None:
        program = Program(path)
        for workload in self.record.workloads:
            for one in self.listed:
                if workload not in one.library.cannot:
                    code = program.kernel(one.symbols[workload])
                    build.kernels.append(Kernel(library=one.library.name, workload=workload, code=code))
        if build.variant.cross_language:
            left = sorted(name for name in program.names() if name.startswith(_CLANG_KERNELS))
            build.cross_language = CrossLanguage(inlined=not left, symbols_left=left)

    def _check_inlining(self, build: Build) -> None:
        if build.cross_language is not None and (left := build.cross_language.symbols_left):
            build.reason = f"clang's code was not inlined: {', '.join(left)} are still functions of their own"

    def _kernels(self, build: Build, workload: Workload) -> list[Kernel]:
        """Those whose figures count."""
        names = {library.name for library in self.record.libraries if library.measurable(workload)}
        return [kernel for kernel in build.kernels if kernel.workload is workload and kernel.library in names]

    def _count(self, build: Build, path: Path, workload: Workload) -> None:
        kernels = {kernel.library: kernel for kernel in self._kernels(build, workload)}
        if all(kernel.instructions_per_frame is not None for kernel in kernels.values()):
            return
        if self.record.versions.valgrind is None:
            build.reason = "instructions were not counted: 'valgrind' is not installed: run ./x setup"
            return
        self.steps.tell(f"counting instructions, {workload}")
        for count in count_kernels(path, [workload], list(kernels), self.raw, f"count-{build.variant.name}-{workload}"):
            kernel = kernels[count.library]
            kernel.instructions_per_frame, kernel.calls_per_frame = count.instructions, count.calls
        self.save()

    def _time_all(self, build: Build, timer: Path, path: Path) -> None:
        for workload in self.record.workloads:
            self._time(build, timer, path, workload)

    def _time(self, build: Build, timer: Path, path: Path, workload: Workload) -> None:
        kernels = {kernel.library: kernel for kernel in self._kernels(build, workload)}
        wanted = residencies(self.record.quick, build.variant)
        if all([timing.residency for timing in kernel.timings] == wanted for kernel in kernels.values()):
            return
        for kernel in kernels.values():
            kernel.timings = []
        build.loop_timings[workload] = []
        self.steps.tell(f"timing, {workload}")
        found = time_kernels(
            timer,
            path,
            [workload],
            list(kernels),
            wanted,
            self.memory,
            protocol(self.record.quick, build.variant),
            self.raw,
            f"time-{build.variant.name}-{workload}",
        )
        for one in found:
            if isinstance(one, Pool):
                pools = self.record.memory.pool_bytes
                pools[one.residency] = min(one.touched_bytes, pools.get(one.residency, one.touched_bytes))
            elif one.library == NOTHING:
                build.loop_timings[workload].append(one.timing)
            else:
                kernels[one.library].timings.append(one.timing)
        self.save()
