# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A program that is watched, on whichever machine it runs: its output kept in files, its JSON lines read as events.

Waiting is always for a condition (an event, a line, the exit) with a deadline. A program that ends early or hangs is
an error that quotes its last lines, so that the reader of the error need not look for the log.
"""

from __future__ import annotations

import abc
import contextlib
import json
import os
import shlex
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, Self, TypeVar

T = TypeVar("T")

_QUOTED_LINES = 8


class ProcessError(Exception):
    """A program did not do what was asked of it; the message quotes its last lines."""


class Watched(abc.ABC):
    """What is the same for a program here (`process.Process`) and on another host.

    ``NAME.command`` in `log_dir` tells how it was started; ``NAME.stdout`` and ``NAME.stderr`` receive its output as it
    comes. Each line of stdout that is a JSON object is also an event.
    """

    def __init__(self, name: str, argv: Sequence[str | os.PathLike[str]], log_dir: Path) -> None:
        self.name = name
        self.log_dir = log_dir
        self.argv = [os.fspath(word) for word in argv]
        self.stdout_path = log_dir / f"{name}.stdout"
        self.stderr_path = log_dir / f"{name}.stderr"
        self.events: list[dict[str, Any]] = []
        self.lines: list[str] = []
        self.stdout_lines: list[str] = []
        self._last_lines: deque[str] = deque(maxlen=_QUOTED_LINES)
        self._changed = threading.Condition()

    @property
    def command(self) -> str:
        """The command line, quoted for a shell."""
        return shlex.join(self.argv)

    @property
    def stdout_text(self) -> str:
        """All that it has printed on stdout so far."""
        return "\n".join(self.stdout_lines)

    @property
    @abc.abstractmethod
    def returncode(self) -> int | None:
        """The exit status, negative for a signal, None while it runs."""

    @abc.abstractmethod
    def start(self) -> Self:
        """Starts the program.

        Raises `ProcessError` if it cannot be executed.
        """

    @abc.abstractmethod
    def cpu_seconds(self) -> float | None:
        """CPU time that it has used; None once it has ended, and where that is not known."""

    @abc.abstractmethod
    def waited_seconds(self) -> float | None:
        """Time that its threads were ready to run but had no CPU; None after its end, or if it is unknown."""

    @abc.abstractmethod
    def write(self, text: str) -> None:
        """Types `text` into the stdin of a program that was started for that.

        Raises `ProcessError` if it does not read any more.
        """

    @abc.abstractmethod
    def wait(self, timeout_s: float) -> int:
        """Waits for the program's own end and returns its status.

        Raises `ProcessError` if it still runs after `timeout_s`.
        """

    @abc.abstractmethod
    def kill(self) -> None:
        """Ends it and what it started, at once."""

    @abc.abstractmethod
    def send_signal(self, name: str) -> None:
        """Sends it a signal by its name without SIG, if it still runs."""

    @abc.abstractmethod
    def _ask_to_end(self) -> None:
        """Sends SIGTERM, if it still runs."""

    @abc.abstractmethod
    def _is_reading(self) -> bool:
        """Whether more output may come."""

    def _trouble(self) -> str | None:
        """Why nothing will be heard of it any more though it has not been seen to end."""
        return None

    def trouble(self) -> str | None:
        """Why nothing more is to be expected of it: it has ended, or cannot be heard any more. None while it runs."""
        status = self.returncode
        return self._trouble() if status is None else f"ended with {describe_status(status)}"

    def death(self) -> str | None:
        """How it has ended, once all that it has printed is known; None while it runs, and if it ended well."""
        status = self.returncode
        if status is None:
            return self._trouble()
        return None if status == 0 or self._is_reading() else f"ended with {describe_status(status)}"

    def wait_until(
        self, condition: Callable[[], T | None], what: str, timeout_s: float, peer: Watched | None = None
    ) -> T:
        """Waits until `condition` gives something other than None; it is asked again after each line of output.

        `peer` is a program without which it will never do it. Raises `ProcessError` when the program ends first, its
        peer dies, or the time is over.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            with self._changed:
                found = condition()
                if found is not None:
                    return found
                status = self.returncode
                if status is not None and not self._is_reading():
                    found = condition()
                    if found is not None:
                        return found
                    raise self.failure(f"ended with {describe_status(status)} before {what}")
                if (trouble := self._trouble()) is not None:
                    raise self.failure(trouble)
                if peer is not None and (death := peer.death()) is not None:
                    raise peer.failure(f"{death} while {self.name} waited for it")
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    raise self.failure(f"no sign of {what} within {timeout_s:g} s")
                # Output wakes this at once; the short wait is for an exit without any.
                self._changed.wait(min(left_s, 0.1))

    def wait_for_event(self, kind: str, timeout_s: float, peer: Watched | None = None) -> dict[str, Any]:
        """The first JSON object on stdout whose `type` is `kind`."""
        return self.wait_until(
            lambda: next((event for event in self.events if event.get("type") == kind), None),
            f"its '{kind}' message",
            timeout_s,
            peer,
        )

    def wait_for_line(self, part: str, timeout_s: float, peer: Watched | None = None) -> str:
        """The first line of output that contains `part`."""
        return self.wait_until(
            lambda: next((line for line in self.lines if part in line), None), f"the line '{part}'", timeout_s, peer
        )

    def stop(self, timeout_s: float = 10.0) -> int:
        """Asks it to end (SIGTERM), waits, and returns its status.

        Raises `ProcessError` if it had to be killed.
        """
        self._ask_to_end()
        return self.stopped(timeout_s, "SIGTERM")

    def stopped(self, timeout_s: float, asked: str) -> int:
        """Waits for the end of a program that was asked for it by `asked`, and returns its status.

        Raises `ProcessError` if it had to be killed.
        """
        try:
            return self.wait(timeout_s)
        except ProcessError:
            if (trouble := self._trouble()) is not None:
                raise self.failure(trouble) from None
            self.kill()
            raise self.failure(f"did not end within {timeout_s:g} s of {asked} and was killed") from None

    def failure(self, what: str) -> ProcessError:
        """An error about this program, with its last lines."""
        with self._changed:
            last = list(self._last_lines)
        quoted = "".join(f"\n    {line}" for line in last) if last else " it printed nothing"
        return ProcessError(f"{self.name}: {what}; its last lines:{quoted}")

    def _keep_command(self) -> None:
        # For the reader of the results; not being able to write it is no reason not to run.
        with contextlib.suppress(OSError):
            self.log_dir.joinpath(f"{self.name}.command").write_text(self.command + "\n")

    def _take(self, line: str, log: IO[str], is_stdout: bool) -> None:
        """A line of output, which goes into its file and wakes who waits."""
        # A full disk must not stop the reading: the program would block on a full pipe and look hung.
        with contextlib.suppress(OSError):
            log.write(line)
            log.flush()
        event = _json_object(line) if is_stdout else None
        with self._changed:
            self.lines.append(line.rstrip("\n"))
            if is_stdout:
                self.stdout_lines.append(self.lines[-1])
            if event is not None:
                self.events.append(event)
            elif line.strip():
                self._last_lines.append(line.rstrip("\n"))
            self._changed.notify_all()

    @abc.abstractmethod
    def __enter__(self) -> Self:
        """Starts it, unless that has been done."""

    def __exit__(self, *_: object) -> None:
        if self.returncode is not None:
            self.kill()
            return
        with contextlib.suppress(ProcessError):
            self.stop(timeout_s=5.0)


def describe_status(returncode: int) -> str:
    """'status 1' or 'signal SIGKILL'."""
    if returncode >= 0:
        return f"status {returncode}"
    try:
        return f"signal {signal.Signals(-returncode).name}"
    except ValueError:
        return f"signal {-returncode}"


def _json_object(line: str) -> dict[str, Any] | None:
    if not line.startswith("{"):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
