# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The demo: three acts, written down after each trial, reported even when cut short."""

from __future__ import annotations

import contextlib
import shlex
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from rich.console import Console

from testbed import capture, hosts, overload, report, tables
from testbed.environment import record_environment
from testbed.frames import CaptureError
from testbed.lcores import plan_lcores
from testbed.namespaces import NamespacesUnavailable
from testbed.programs import FORWARDERS, GENERATOR, Program, ProgramMissing, find_program
from testbed.progress import Steps
from testbed.results import (
    Act,
    CaptureAct,
    HostsAct,
    OverloadAct,
    Status,
    Summary,
    new_results_folder,
    write_atomically,
    write_summary,
)


@dataclass(frozen=True)
class DemoOptions:
    """The command line of `demo`, checked."""

    out: Path
    size: int
    seconds: float
    rounds: int
    seed: int
    hugepages: bool
    pcap: Path | None = None
    quick: bool = False
    bin_dirs: list[Path] = field(default_factory=list)

    def command(self) -> str:
        """The command that repeats this run, with the order of the rounds."""
        words = ["./x", "demo", f"--rounds={self.rounds}", f"--seconds={self.seconds:g}", f"--size={self.size}"]
        words += [f"--seed={self.seed}"]
        words += ["--quick"] if self.quick else []
        words += [] if self.hugepages else ["--no-hugepages"]
        words += [f"--pcap={self.pcap}"] if self.pcap else []
        words += [f"--bin-dir={folder}" for folder in self.bin_dirs]
        return shlex.join(words)


class Demo:
    """One run of the demo into one results folder."""

    def __init__(self, options: DemoOptions, console: Console) -> None:
        self.options = options
        self.console = console
        self.lcores = plan_lcores()
        self.programs, self.generator, self.missing = _programs(options.bin_dirs)
        self.folder = new_results_folder(options.out, "demo")
        self.raw = self.folder / "raw"
        # Interrupted until proven otherwise: this is what a reader finds if this program is killed.
        self.summary = Summary(
            status=Status.INTERRUPTED,
            reason="it did not reach its end",
            started=datetime.now(UTC),
            command=options.command(),
            quick=options.quick,
            hugepages=options.hugepages,
        )

    def run(self) -> Status:
        """Runs the acts, prints the tables, writes the report."""
        for warning in [*self.lcores.warnings, *self.missing]:
            self.console.print(f"[yellow]warning:[/] {warning}", highlight=False, soft_wrap=True)
        if not self.options.hugepages:
            self.console.print("[yellow]warning:[/] without hugepages: rates are lower", highlight=False)
        programs = [*self.programs, *([self.generator] if self.generator else [])]
        environment = record_environment(programs, self.options.hugepages)
        write_atomically(self.folder / "environment.json", environment.model_dump_json(indent=2) + "\n")
        self._save()
        with signals_as_interrupt():
            try:
                forwarders = len(self.programs)
                with Steps(self.console, self.options.rounds * forwarders + 2 * forwarders) as steps:
                    self._overload(steps)
                    self._hosts(steps)
                    self._capture(steps)
            except KeyboardInterrupt:
                self.console.print("[yellow]interrupted:[/] reporting what there is", highlight=False)
            else:
                self.summary.status, self.summary.reason = self._verdict()
        if self.summary.status is Status.INTERRUPTED:
            self.summary.reason = "interrupted: what was measured until then is below"
        self.summary.finished = datetime.now(UTC)
        self._save()
        self._print_tables()
        written = report.write_report(self.folder)
        self.console.print(f"\nResults: {self.folder}\nReport:  {written}", highlight=False, soft_wrap=True)
        return self.summary.status

    def _save(self) -> None:
        write_summary(self.folder, self.summary)

    def _overload(self, steps: Steps) -> None:
        options = self.options
        plan = overload.OverloadPlan(
            options.size, options.seconds, options.rounds, options.seed, options.hugepages, self.lcores
        )
        act = self.summary.overload = overload.new_act(plan)
        if self.generator is None or not self.programs:
            self._skip(act, f"{'; '.join(self.missing)}")
            return
        steps.begin("a. Overload on the virtual wire")
        for trial in overload.run(plan, self.programs, self.generator, self.raw, steps.tell):
            act.trials.append(trial)
            overload.conclude(act)
            self._save()
            steps.done()

    def _hosts(self, steps: Steps) -> None:
        act = self.summary.hosts = HostsAct(status=Status.INTERRUPTED)
        quick = self.options.quick
        plan = hosts.HostsPlan(
            pings=20 if quick else 100,
            tcp_seconds=1 if quick else 3,
            capture_frames=500 if quick else 3000,
            hugepages=self.options.hugepages,
            lcore=self.lcores.forwarder,
        )
        steps.begin("b. Real hosts")
        try:
            if not self.programs:
                raise NamespacesUnavailable("; ".join(self.missing))
            hosts.check()
            for trial, file in hosts.run(plan, self.programs, self.raw, steps.tell):
                act.trials.append(trial)
                if trial.valid and act.capture is None:
                    act.capture = str(file.relative_to(self.folder))
                self._save()
                steps.done()
        except NamespacesUnavailable as error:
            if not act.trials:
                self._skip(act, str(error))
                return
            act.status, act.reason = Status.FAILED, str(error)
            return
        _conclude(act, [trial.valid for trial in act.trials])

    def _capture(self, steps: Steps) -> None:
        act = self.summary.capture = CaptureAct(status=Status.INTERRUPTED)
        made = self.summary.hosts.capture if self.summary.hosts else None
        if self.options.pcap:
            source, label = self.options.pcap, str(self.options.pcap)
        elif made:
            source, label = self.folder / made, f"{made}, the traffic of act b"
        else:
            self._skip(act, "act b made no capture: give one with --pcap FILE")
            return
        if not self.programs:
            self._skip(act, "; ".join(self.missing))
            return
        plan = capture.CapturePlan(source, self.options.hugepages, self.lcores.forwarder)
        steps.begin("c. A capture")
        try:
            act = self.summary.capture = capture.new_act(plan, label)
        except CaptureError as error:
            act.status, act.reason = Status.FAILED, str(error)
            return
        for program in self.programs:
            act.trials.append(capture.run_trial(plan, act.frames or 0, program, self.raw, steps.tell))
            self._save()
            steps.done()
        _conclude(act, [trial.valid for trial in act.trials])

    def _skip(self, act: Act, reason: str) -> None:
        act.status, act.reason = Status.SKIPPED, reason

    def _verdict(self) -> tuple[Status, str | None]:
        acts = [act for _, act in self.summary.acts if act is not None]
        faults = list(self.missing)
        faults += [f"act {title[0]}: {act.reason}" for title, act in self.summary.acts if _failed(act)]
        if all(act.status is Status.SKIPPED for act in acts):
            faults.append("no act could run")
        return (Status.FAILED, "; ".join(faults)) if faults else (Status.PASSED, None)

    def _print_tables(self) -> None:
        summary = self.summary
        for title, act in summary.acts:
            if act is None:
                continue
            tail = f": {act.reason}" if act.reason else ""
            self.console.print(f"\n[bold]{title}[/] – {act.status}{tail}", highlight=False, soft_wrap=True)
            trials = []
            if isinstance(act, OverloadAct) and act.trials:
                self.console.print(tables.overload_table(act).rich(self.console.width))
                self.console.print(" ".join(tables.ratio_sentences(act)), highlight=False, soft_wrap=True)
                trials = act.trials
            elif isinstance(act, HostsAct) and act.trials:
                self.console.print(tables.hosts_table(act).rich(self.console.width))
                trials = act.trials
            elif isinstance(act, CaptureAct) and act.trials:
                self.console.print(tables.capture_table(act).rich(self.console.width))
            for remark in tables.remarks(trials):
                self.console.print(f"  {remark}", highlight=False, markup=False, soft_wrap=True)


def _programs(folders: list[Path]) -> tuple[list[Program], Program | None, list[str]]:
    """The forwarders and the generator that are there, and what to say about those that are not."""
    found: dict[str, Program] = {}
    missing: list[str] = []
    for name in (*FORWARDERS, GENERATOR):
        try:
            found[name] = find_program(name, folders or None)
        except ProgramMissing as error:
            missing.append(str(error))
    return [found[name] for name in FORWARDERS if name in found], found.get(GENERATOR), missing


def _failed(act: Act | None) -> bool:
    return act is not None and act.status is Status.FAILED


def _conclude(act: Act, valid: list[bool]) -> None:
    invalid = valid.count(False)
    act.status = Status.FAILED if invalid else Status.PASSED
    act.reason = f"{invalid} of {len(valid)} trials invalid" if invalid else None


@contextlib.contextmanager
def signals_as_interrupt() -> Iterator[None]:
    """SIGTERM and SIGHUP end the demo as Ctrl-C does: in order, with what was measured so far."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
