# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The demo: five acts. Each trial is recorded, and an interrupted demo is reported too."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from testbed.command_line.console import say, say_warning
from testbed.comparison.contestants import ContestantError
from testbed.demo import capture, hosts, overload, proxies, report, tables, virtual_wire
from testbed.demo.proxies import ProxyPrograms
from testbed.demo.summary import (
    Act,
    CaptureAct,
    HostsAct,
    OverloadAct,
    ProxiesAct,
    Summary,
    WireAct,
    write_summary,
)
from testbed.run.environment import record_environment
from testbed.run.lcores import plan_lcores
from testbed.run.namespaces import NamespacesUnavailable
from testbed.run.programs import FORWARDERS, GENERATOR, Program, ProgramMissing, find_program
from testbed.run.progress import Steps
from testbed.run.results_folder import Status, new_results_folder, write_model
from testbed.run.signals import signals_as_interrupt
from testbed.wire.frames import CaptureError


@dataclass(frozen=True)
class DemoOptions:
    """The command line of `demo`, checked."""

    out: Path
    size: int
    seconds: float
    blocks: int
    seed: int
    hugepages: bool
    pcap: Path | None = None
    quick: bool = False
    bin_dirs: list[Path] = field(default_factory=list)

    def command(self) -> str:
        """The command that repeats this run, in the same order."""
        words = ["./x", "demo", f"--blocks={self.blocks}", f"--seconds={self.seconds:g}", f"--size={self.size}"]
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
        self.proxies: ProxyPrograms | None = None
        # Why there are none.
        self.without_proxies = ""
        try:
            self.proxies = proxies.find_programs()
        except (NamespacesUnavailable, ProgramMissing) as error:
            self.without_proxies = str(error)
        self.folder = new_results_folder(options.out, "demo")
        self.raw = self.folder / "raw"
        # Interrupted until proven otherwise: this is what a reader finds if this program is killed.
        self.summary = Summary(
            status=Status.INTERRUPTED,
            reason="the demo did not finish",
            started=datetime.now(UTC),
            command=options.command(),
            quick=options.quick,
            hugepages=options.hugepages,
        )

    def run(self) -> Status:
        """Runs the acts, prints the tables, writes the report."""
        say_warning(self.console, *self.lcores.warnings, *self.missing)
        if not self.options.hugepages:
            say_warning(self.console, "without hugepages: rates are lower")
        programs = [*self.programs, *([self.generator] if self.generator else [])]
        programs += self.proxies.all if self.proxies else []
        environment = record_environment(programs, self.options.hugepages)
        write_model(self.folder / "environment.json", environment)
        self._save()
        with signals_as_interrupt():
            try:
                forwarders = len(self.programs)
                proxy_trials = self.proxies.trials if self.proxies else 0
                with Steps(self.console, self.options.blocks + 3 * forwarders + proxy_trials) as steps:
                    self._overload(steps)
                    self._wire(steps)
                    self._hosts(steps)
                    self._capture(steps)
                    self._proxies(steps)
            except KeyboardInterrupt:
                say_warning(self.console, "interrupted: reporting the results so far")
            else:
                self.summary.status, self.summary.reason = self._verdict()
        if self.summary.status is Status.INTERRUPTED:
            self.summary.reason = "interrupted: the results so far are below"
        self.summary.finished = datetime.now(UTC)
        self._save()
        self._print_tables()
        if answer := tables.answer(self.summary.overload):
            self.console.print(f"\n[bold]{answer}[/]", highlight=False, soft_wrap=True)
        written = report.write_report(self.folder)
        say(self.console, f"\nResults: {self.folder}\nReport:  {written}")
        return self.summary.status

    def _save(self) -> None:
        write_summary(self.folder, self.summary)

    def _overload(self, steps: Steps) -> None:
        options = self.options
        plan = overload.OverloadPlan(
            options.size, options.blocks, options.seed, options.hugepages, self.lcores, options.bin_dirs
        )
        act = self.summary.overload = overload.new_act(plan)
        steps.begin("a. Overload")
        try:
            for _ in overload.run(plan, act, self.raw, steps.tell):
                self._save()
                steps.done()
        except ContestantError as error:
            self._skip(act, str(error))

    def _wire(self, steps: Steps) -> None:
        options = self.options
        plan = virtual_wire.WirePlan(options.size, options.seconds, options.hugepages, self.lcores)
        act = self.summary.wire = virtual_wire.new_act(plan)
        if self.generator is None or not self.programs:
            self._skip(act, "; ".join(self.missing))
            return
        steps.begin("b. Every frame")
        for trial in virtual_wire.run(plan, self.programs, self.generator, self.raw, steps.tell):
            act.trials.append(trial)
            self._save()
            steps.done()
        _conclude(act, [trial.valid for trial in act.trials])

    def _hosts(self, steps: Steps) -> None:
        act = self.summary.hosts = HostsAct(status=Status.INTERRUPTED)
        quick = self.options.quick
        plan = hosts.HostsPlan(
            pings=20 if quick else 100,
            tcp_seconds=1 if quick else 2,
            capture_frames=500 if quick else 3000,
            hugepages=self.options.hugepages,
            lcore=self.lcores.forwarder,
        )
        steps.begin("c. Real hosts")
        with self._in_namespaces(act):
            if not self.programs:
                raise NamespacesUnavailable("; ".join(self.missing))
            hosts.check()
            for trial, file in hosts.run(plan, self.programs, self.raw, steps.tell):
                act.trials.append(trial)
                if trial.valid and act.capture is None:
                    act.capture = str(file.relative_to(self.folder))
                self._save()
                steps.done()

    def _capture(self, steps: Steps) -> None:
        act = self.summary.capture = CaptureAct(status=Status.INTERRUPTED)
        made = self.summary.hosts.capture if self.summary.hosts else None
        if self.options.pcap:
            source, label = self.options.pcap, str(self.options.pcap)
        elif made:
            source, label = self.folder / made, f"{made}, the traffic of act c"
        else:
            self._skip(act, "act c recorded no capture: give one with --pcap FILE")
            return
        if not self.programs:
            self._skip(act, "; ".join(self.missing))
            return
        plan = capture.CapturePlan(source, self.options.hugepages, self.lcores.forwarder)
        steps.begin("d. A capture")
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

    def _proxies(self, steps: Steps) -> None:
        quick = self.options.quick
        plan = proxies.ProxiesPlan(0.3 if quick else 1, self.options.hugepages, self.lcores)
        act = self.summary.proxies = proxies.new_act(plan)
        if self.proxies is None:
            self._skip(act, self.without_proxies)
            return
        steps.begin("e. A proxy")
        with self._in_namespaces(act):
            for trial in proxies.run(plan, self.proxies, self.raw, steps.tell):
                act.trials.append(trial)
                self._save()
                steps.done()

    @contextlib.contextmanager
    def _in_namespaces(self, act: HostsAct | ProxiesAct) -> Iterator[None]:
        """Trials that need namespaces: without them the act is skipped, or fails in the middle."""
        try:
            yield
        except NamespacesUnavailable as error:
            if act.trials:
                act.status, act.reason = Status.FAILED, str(error)
            else:
                self._skip(act, str(error))
        else:
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
            remarks: list[str] = []
            if isinstance(act, OverloadAct):
                for table in tables.overload_tables(act):
                    self.console.print(table.rich(self.console.width))
                remarks = tables.overload_remarks(act)
            elif isinstance(act, WireAct) and act.trials:
                self.console.print(tables.wire_table(act).rich(self.console.width))
                remarks = tables.remarks(act.trials)
            elif isinstance(act, HostsAct) and act.trials:
                self.console.print(tables.hosts_table(act).rich(self.console.width))
                remarks = tables.remarks(act.trials)
            elif isinstance(act, CaptureAct) and act.trials:
                self.console.print(tables.capture_table(act).rich(self.console.width))
            elif isinstance(act, ProxiesAct) and act.trials:
                self.console.print(tables.proxies_table(act).rich(self.console.width))
                remarks = tables.remarks(act.trials)
            say(self.console, *(f"  {remark}" for remark in remarks))


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
