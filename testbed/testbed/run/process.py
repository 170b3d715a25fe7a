# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""One watched program on this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Self

from testbed.run.runtime_folders import remove_folder_of
from testbed.run.supervision import ProcessError, Watched, describe_status

__all__ = ["Process", "ProcessError", "Watched", "completed", "describe_status"]


class Process(Watched):
    """A program started in a session of its own, so that Ctrl-C reaches only the tool, which then stops it in order.

    Start it from a thread that lives as long as it: the kernel ends the program with the thread that began it, which
    is what keeps a killed tool from leaving forwarders behind.
    """

    # What the kernel sends it when this process dies. No signal but KILL reaches one that is stopped (SIGSTOP).
    death_signal = "TERM"

    def __init__(
        self,
        name: str,
        argv: Sequence[str | os.PathLike[str]],
        log_dir: Path,
        environment: Mapping[str, str] | None = None,
        interactive: bool = False,
        fds: Sequence[int] = (),
    ) -> None:
        super().__init__(name, argv, log_dir)
        # Open files that it gets, under the same numbers.
        self.fds = tuple(fds)
        # Added to this process's own.
        self.environment = dict(environment or {})
        # Whether it reads commands from its stdin, which otherwise is empty.
        self.interactive = interactive
        self._readers: list[threading.Thread] = []
        self._process: subprocess.Popen[str] | None = None

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

    def waited_seconds(self) -> float | None:
        """Time that its threads were ready to run but had no CPU; None after its end, or if the kernel has no count."""
        try:
            # Time on a CPU and waiting for one in ns, and how often.
            waits = [int(file.read_text().split()[1]) for file in Path(f"/proc/{self.pid}/task").glob("*/schedstat")]
        except (OSError, IndexError):
            return None
        return sum(waits) / 1e9 if waits else None

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal, None while it runs."""
        return self._process.poll() if self._process else None

    def start(self) -> Self:
        """Starts the program.

        Raises `ProcessError` if it cannot be executed.
        """
        setpriv = shutil.which("setpriv")
        # The shell ends where this process has died before the kernel was asked.
        alive = ("/bin/sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"', str(os.getpid()))
        # setpriv asks the kernel to end the program when this one dies, whatever it dies of. A Python function run
        # between fork and exec could ask too, but is not safe in a process with threads.
        guard = [setpriv, "--pdeathsig", self.death_signal, "--", *alive] if setpriv else []
        if shutil.which(self.argv[0]) is None:
            raise ProcessError(f"{self.name}: cannot execute '{self.argv[0]}': no such program")
        self._keep_command()
        try:
            self._process = subprocess.Popen(
                [*guard, *self.argv],
                stdin=subprocess.PIPE if self.interactive else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
                pass_fds=self.fds,
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
        """Copies `stream` into `path` line by line and notifies the waiting thread."""
        with path.open("w") as log, stream:
            for line in stream:
                self._take(line, log, is_stdout)
        with self._changed:
            self._changed.notify_all()

    def write(self, text: str) -> None:
        """Types `text` into its stdin.

        Raises `ProcessError` if it does not read any more.
        """
        stdin = self._started().stdin
        assert stdin is not None, "it was started as interactive"
        try:
            stdin.write(text)
            stdin.flush()
        except (OSError, ValueError) as error:
            raise self.failure(f"does not read its commands any more ({error})") from error

    def wait(self, timeout_s: float) -> int:
        """Waits for the program's own end and returns its status.

        Raises `ProcessError` if it still runs after `timeout_s`.
        """
        process = self._started()
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise self.failure(f"still running after {timeout_s:g} s") from None
        self._ended()
        return process.returncode

    def send_signal(self, name: str) -> None:
        """Sends it a signal by its name without SIG, if it still runs."""
        process = self._started()
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.Signals[f"SIG{name}"])

    def _ask_to_end(self) -> None:
        self.send_signal("TERM")

    def kill(self) -> None:
        """Ends it and what it started, at once."""
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._ended()

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            raise ProcessError(f"{self.name}: not started")
        return self._process

    def _trouble(self) -> str | None:
        return None if self._process else "not started"

    def _is_reading(self) -> bool:
        return any(reader.is_alive() for reader in self._readers)

    def _ended(self) -> None:
        self._join_readers()
        remove_folder_of(self.argv, {**os.environ, **self.environment})

    def _join_readers(self) -> None:
        # Bounded: a grandchild that outlives the program may hold the pipe open for ever.
        for reader in self._readers:
            reader.join(2.0)
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def __enter__(self) -> Self:
        return self if self._process else self.start()

    def __exit__(self, *details: object) -> None:
        if self._process is not None:
            super().__exit__(*details)


def completed(
    name: str,
    argv: Sequence[str | os.PathLike[str]],
    log_dir: Path,
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
) -> Process:
    """Runs a program to its successful end. An interrupt ends the program and all its children.

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
