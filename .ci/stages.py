# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Runs stages, records what each said and took, and adds it all up.

`suites.py` has the lists. Of each stage the record keeps NAME.status, NAME.log and NAME.took (wall and CPU seconds),
for `tally.py`. A stage that fails ends nothing: the others still run, and the last line is the sum. After Ctrl-C the
stages that run are interrupted, the others are listed as failed, and the sum still comes. A run that can be resumed
also keeps NAME.passed, with the commit at which the stage passed.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO

import tally

TREE = Path(__file__).resolve().parent.parent
INTERRUPTED = 130
TIMED_OUT = 124
# What an interrupted stage has to say how far it came.
GRACE_S = 60.0
TOOK = re.compile(r"^took +(?P<name>\S+) +(?P<wall>[\d.]+) s +(?P<cpu>[\d.]+) s CPU$")


@dataclass(frozen=True)
class Stage:
    """One command; `kind` is what the tally reads of it. One that is `elsewhere` has no command."""

    name: str
    kind: str
    command: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    # It runs only if this stage ended with 0.
    needs: str | None = None
    # It is interrupted when so many seconds have gone since the first stage.
    until_s: float | None = None


def clean_commit() -> str:
    """The commit of this tree; nothing if the tree has changes or is not git's."""
    # Without git, the shell says so, and there is no commit.
    command = ("sh", "-c", f"git --no-optional-locks -C {shlex.quote(str(TREE))} status --porcelain=v2 --branch")
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    commit, *others = told.stdout.splitlines() or [""]
    return commit if all(line.startswith("#") for line in others) else ""


class Record:
    """A run of stages, whose traces are in one folder. With `resume`, stages that passed in an earlier run, at the same
    commit of a tree without changes, do not run again. None: no later run can resume this one.
    """

    def __init__(self, folder: Path, *, quiet: bool = False, resume: bool | None = None) -> None:
        self._folder, self._quiet = folder, quiet
        self._started = time.monotonic()
        self._running: set[int] = set()
        self._lock = threading.Lock()
        self.interrupted = False
        self._resumable = resume is not None
        commit = clean_commit() if resume else ""
        self._passed = {file.stem for file in folder.glob("*.passed") if commit and file.read_text() == commit}
        if not self._passed:
            subprocess.run(["rm", "-rf", folder], check=True)
        folder.mkdir(parents=True, exist_ok=True)
        for file in folder.iterdir():
            if file.stem not in self._passed:
                file.unlink()
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._interrupt)

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        self.interrupted = True
        for pid in list(self._running):
            _signal_group(pid, signal.SIGINT)

    def run(self, *lanes: Sequence[Stage]) -> None:
        """Runs the stages of each lane one after the other, and the lanes beside each other."""
        threads = [threading.Thread(target=self._lane, args=(lane,)) for lane in lanes]
        for thread in threads:
            thread.start()
        # Not in one long wait, in which no signal would be handled.
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.1)

    def _lane(self, stages: Sequence[Stage]) -> None:
        for stage in stages:
            if stage.kind == "elsewhere" or self.interrupted:
                continue
            if stage.needs and self.status(stage.needs) != 0:
                continue
            if stage.name in self._passed:
                self._say(f"x: {stage.name}: passed in an earlier run, at this commit")
                continue
            commit = clean_commit() if self._resumable else ""
            self._run(stage)
            if commit and self.status(stage.name) == 0 and clean_commit() == commit:
                (self._folder / f"{stage.name}.passed").write_text(commit)

    def status(self, name: str) -> int | None:
        """The exit status of a stage; None if it did not run."""
        file = self._folder / f"{name}.status"
        return int(file.read_text()) if file.exists() else None

    def _run(self, stage: Stage) -> None:
        log = self._folder / f"{stage.name}.log"
        told = f"its output goes to {log.relative_to(TREE)}" if self._quiet else ""
        self._say(f"x: {stage.name}: {shlex.join(stage.command)}", told)
        begun = time.monotonic()
        with log.open("wb") as kept:
            process = subprocess.Popen(
                stage.command,
                cwd=TREE,
                env=os.environ | dict(stage.environment),
                stdin=subprocess.DEVNULL,
                stdout=kept if self._quiet else subprocess.PIPE,
                stderr=subprocess.STDOUT,
                # Signals go to all of it.
                process_group=0,
            )
            self._running.add(process.pid)
            limits = self._limits(stage, process.pid)
            if process.stdout:
                _copy(process.stdout, kept)
            _, status, usage = os.wait4(process.pid, 0)
            self._running.discard(process.pid)
            timed_out = limits.end() if limits else False
        process.returncode = os.waitstatus_to_exitcode(status)
        code = TIMED_OUT if timed_out else process.returncode
        wall, cpu = time.monotonic() - begun, usage.ru_utime + usage.ru_stime
        (self._folder / f"{stage.name}.status").write_text(f"{code}\n")
        (self._folder / f"{stage.name}.took").write_text(f"{wall:.1f} {cpu:.1f}\n")
        if self._quiet:
            self._show(stage, log, code, wall)

    def _limits(self, stage: Stage, pid: int) -> _Limit | None:
        if stage.until_s is None:
            return None
        return _Limit(pid, max(1.0, stage.until_s - (time.monotonic() - self._started)))

    def _show(self, stage: Stage, log: Path, code: int, wall: float) -> None:
        """The last line of a stage whose output nobody saw, or what it said of its failures."""
        lines = [f"=== {stage.name}: {wall:.0f} s"]
        if code == TIMED_OUT:
            lines.append("It was not done in time and was interrupted.")
        if code in (0, 77):
            lines.append(tally.last_line(log))
        else:
            told = subprocess.run(
                [sys.executable, ".ci/failures.py", str(log)], cwd=TREE, capture_output=True, text=True, check=False
            )
            lines += [f"It ended with exit status {code}.", told.stdout]
        self._say(*lines)

    def _say(self, *lines: str) -> None:
        with self._lock:
            print(*filter(None, lines), sep="\n", flush=True)

    def table(self, stages: Sequence[Stage]) -> list[str]:
        """What each stage took, with the stages of those that are tallies themselves, and the sum."""
        rows: list[tuple[str, float, float]] = []
        for stage in stages:
            file = self._folder / f"{stage.name}.took"
            if not file.exists():
                continue
            wall, cpu = map(float, file.read_text().split())
            rows.append((stage.name, wall, cpu))
            log = (self._folder / f"{stage.name}.log").read_text(errors="replace")
            inner = [found for found in map(TOOK.match, log.splitlines()) if found and stage.kind == "tally"]
            rows += [(f"·{found['name']}", float(found["wall"]), float(found["cpu"])) for found in inner]
        rows = [row for row in rows if row[0] != "·all"]
        cpu_s = sum(cpu for name, _, cpu in rows if not name.startswith("·") and name not in self._passed)
        rows.append(("all", time.monotonic() - self._started, cpu_s))
        width = max(len(name) for name, _, _ in rows)
        return [
            f"took  {name:<{width}} {wall:8.1f} s {cpu:8.1f} s CPU{', earlier' if name in self._passed else ''}"
            for name, wall, cpu in rows
        ]

    def sum(self, stages: Sequence[Stage]) -> int:
        """Prints the table and the sum, and returns the exit status."""
        print(*self.table(stages), sep="\n")
        ran = [stage for stage in stages if not (stage.needs and self.status(stage.needs) not in (0, None))]
        # Each stage of a quiet run has a list of its own in its log.
        form = ["--brief"] if self._quiet else []
        status = tally.main([*form, str(self._folder), *(f"{stage.name}:{stage.kind}" for stage in ran)])
        return INTERRUPTED if self.interrupted else status


class _Limit:
    """Interrupts a process group when its time is over, so that it can report, and kills it after the grace."""

    def __init__(self, pid: int, seconds: float) -> None:
        self._pid = pid
        self._over = False
        self._timers = [
            threading.Timer(seconds, self._interrupt),
            threading.Timer(seconds + GRACE_S, _signal_group, (pid, signal.SIGKILL)),
        ]
        for timer in self._timers:
            timer.start()

    def _interrupt(self) -> None:
        self._over = True
        _signal_group(self._pid, signal.SIGINT)

    def end(self) -> bool:
        """Whether it was interrupted."""
        for timer in self._timers:
            timer.cancel()
        return self._over


def _signal_group(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, number)


def _copy(source: IO[bytes], kept: IO[bytes]) -> None:
    for line in source:
        kept.write(line)
        kept.flush()
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
