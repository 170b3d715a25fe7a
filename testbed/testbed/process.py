# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""One watched program: its output kept in files, its JSON lines read as events, its death noticed and explained.

Waiting is always for a condition (an event, a line, the exit) with a deadline. A program that ends early or hangs is
an error that quotes its last lines, so that the reader of the error need not look for the log.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self, TypeVar

T = TypeVar("T")

_QUOTED_LINES = 8


class ProcessError(Exception):
    """A program did not do what was asked of it; the message quotes its last lines."""


class Process:
    """A program started in a session of its own, so that Ctrl-C reaches only the tool, which then stops it in order.

    ``NAME.command`` in `log_dir` tells how it was started; ``NAME.stdout`` and ``NAME.stderr`` receive its output as it
    comes. Each line of stdout that is a JSON object is also an event. Start it from the main thread: the kernel ends
    the program with the thread that began it, which is what keeps a killed tool from leaving forwarders behind.
    """

    # What the kernel sends it when this process dies. No signal but KILL reaches one that is stopped (SIGSTOP).
    death_signal = "TERM"

    def __init__(
        self,
        name: str,
        argv: Sequence[str | os.PathLike[str]],
        log_dir: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        # Added to this process's own.
        self.environment = dict(environment or {})
        self.log_dir = log_dir
        self.argv = [os.fspath(word) for word in argv]
        self.stdout_path = log_dir / f"{name}.stdout"
        self.stderr_path = log_dir / f"{name}.stderr"
        self.events: list[dict[str, Any]] = []
        self.lines: list[str] = []
        self.stdout_lines: list[str] = []
        self._last_lines: deque[str] = deque(maxlen=_QUOTED_LINES)
        self._changed = threading.Condition()
        self._readers: list[threading.Thread] = []
        self._process: subprocess.Popen[str] | None = None

    @property
    def command(self) -> str:
        """The command line, quoted for a shell."""
        return shlex.join(self.argv)

    @property
    def stdout_text(self) -> str:
        """All that it has printed on stdout so far."""
        return "\n".join(self.stdout_lines)

    @property
    def pid(self) -> int:
        """The process id; the program must have been started."""
        return self._started().pid

    def cpu_seconds(self) -> float | None:
        """CPU time that it has used; None once it has ended."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        # utime and stime, counted from the state that follows the name; a zombie has none left.
        return None if fields[0] == "Z" else (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal, None while it runs."""
        return self._process.poll() if self._process else None

    def start(self) -> Self:
        """Starts the program.

        Raises `ProcessError` if it cannot be executed.
        """
        # setpriv asks the kernel to end the program when this one dies, whatever it dies of. A Python function run
        # between fork and exec could ask too, but is not safe in a process with threads.
        setpriv = shutil.which("setpriv")
        guard = [setpriv, "--pdeathsig", self.death_signal, "--"] if setpriv else []
        if shutil.which(self.argv[0]) is None:
            raise ProcessError(f"{self.name}: cannot execute '{self.argv[0]}': no such program")
        # For the reader of the results; not being able to write it is no reason not to run.
        with contextlib.suppress(OSError):
            self.log_dir.joinpath(f"{self.name}.command").write_text(self.command + "\n")
        try:
            self._process = subprocess.Popen(
                [*guard, *self.argv],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
                env={**os.environ, **self.environment},
            )
        except OSError as error:
            raise ProcessError(f"{self.name}: cannot execute '{self.argv[0]}': {error.strerror}") from error
        for stream, path, is_stdout in (
            (self._process.stdout, self.stdout_path, True),
            (self._process.stderr, self.stderr_path, False),
        ):
            reader = threading.Thread(target=self._read, args=(stream, path, is_stdout), daemon=True)
            reader.start()
            self._readers.append(reader)
        return self

    def _read(self, stream: IO[str], path: Path, is_stdout: bool) -> None:
        """Copies `stream` into `path` line by line and tells the waiting thread."""
        with path.open("w") as log, stream:
            for line in stream:
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
        with self._changed:
            self._changed.notify_all()

    def wait_until(self, condition: Callable[[], T | None], what: str, timeout_s: float) -> T:
        """Waits until `condition` gives something other than None; it is asked again after each line of output.

        Raises `ProcessError` when the program ends first or the time is over.
        """
        process = self._started()
        deadline = time.monotonic() + timeout_s
        while True:
            with self._changed:
                found = condition()
                if found is not None:
                    return found
                if process.poll() is not None and not any(reader.is_alive() for reader in self._readers):
                    found = condition()
                    if found is not None:
                        return found
                    raise self.failure(f"ended with {describe_status(process.returncode)} before {what}")
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    raise self.failure(f"no sign of {what} within {timeout_s:g} s")
                # Output wakes this at once; the short wait is for an exit without any.
                self._changed.wait(min(left_s, 0.1))

    def wait_for_event(self, kind: str, timeout_s: float) -> dict[str, Any]:
        """The first JSON object on stdout whose `type` is `kind`."""
        return self.wait_until(
            lambda: next((event for event in self.events if event.get("type") == kind), None),
            f"its '{kind}' message",
            timeout_s,
        )

    def wait_for_line(self, part: str, timeout_s: float) -> str:
        """The first line of output that contains `part`."""
        return self.wait_until(
            lambda: next((line for line in self.lines if part in line), None), f"the line '{part}'", timeout_s
        )

    def wait(self, timeout_s: float) -> int:
        """Waits for the program's own end and returns its status.

        Raises `ProcessError` if it still runs after `timeout_s`.
        """
        process = self._started()
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise self.failure(f"still running after {timeout_s:g} s") from None
        self._join_readers()
        return process.returncode

    def stop(self, timeout_s: float = 10.0) -> int:
        """Asks it to end (SIGTERM), waits, and returns its status.

        Raises `ProcessError` if it had to be killed.
        """
        process = self._started()
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
        try:
            return self.wait(timeout_s)
        except ProcessError:
            self.kill()
            raise self.failure(f"did not end within {timeout_s:g} s of SIGTERM and was killed") from None

    def kill(self) -> None:
        """Ends it and what it started, at once."""
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._join_readers()

    def failure(self, what: str) -> ProcessError:
        """An error about this program, with its last lines."""
        with self._changed:
            last = list(self._last_lines)
        quoted = "".join(f"\n    {line}" for line in last) if last else " it printed nothing"
        return ProcessError(f"{self.name}: {what}; its last lines:{quoted}")

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            raise ProcessError(f"{self.name}: not started")
        return self._process

    def _join_readers(self) -> None:
        # Bounded: a grandchild that outlives the program may hold the pipe open for ever.
        for reader in self._readers:
            reader.join(2.0)

    def __enter__(self) -> Self:
        return self if self._process else self.start()

    def __exit__(self, *_: object) -> None:
        if self._process is None or self._process.poll() is not None:
            self._join_readers()
            return
        with contextlib.suppress(ProcessError):
            self.stop(timeout_s=5.0)


def completed(
    name: str,
    argv: Sequence[str | os.PathLike[str]],
    log_dir: Path,
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
) -> Process:
    """A program that has ended by itself, and well; what interrupts the waiting ends it and all that it has started.

    Raises `ProcessError`.
    """
    process = Process(name, argv, log_dir, environment).start()
    try:
        status = process.wait(timeout_s)
    finally:
        process.kill()
    if status:
        raise process.failure(f"ended with {describe_status(status)}")
    return process


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
