# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""One watched program on another host."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Self

from testbed.campaign.remote.ssh import RemoteChannel, RemoteError, Ssh
from testbed.run.process import Watched

_SIGNAL_S = 10.0
_KILLED_S = 10.0
# Writes down which process it will be, then becomes the program.
_BEGIN = 'echo $$ >"$1/pids/$2" && cd "$1" && shift 2 && exec "$@"'


class RemoteProcess(Watched):
    """A program in the folder of its host (`host.RemoteHost`). The keeper of the host ends it if nothing else does."""

    def __init__(
        self, name: str, argv: Sequence[str], log_dir: Path, interactive: bool, host: Callable[[], tuple[Ssh, str]]
    ) -> None:
        super().__init__(name, argv, log_dir)
        self.interactive = interactive
        self._host = host
        self._channel: RemoteChannel | None = None
        self._logs: list[IO[str]] = []

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal; None while it runs, and where it cannot be heard."""
        channel = self._channel
        return channel.ended.result() if channel is not None and channel.ended.done() else None

    def start(self) -> Self:
        """Starts the program.

        Raises `RemoteError`.
        """
        ssh, folder = self._host()
        self._keep_command()
        self._logs = [self.stdout_path.open("w"), self.stderr_path.open("w")]
        # DPDK's run-time files too are gone with the folder.
        program = ["env", f"RUNTIME_DIRECTORY={folder}/run", *self.argv]
        words = ["sh", "-c", _BEGIN, "sh", folder, self.name, *program]
        redirection = "" if self.interactive else " </dev/null"
        self._channel = ssh.start(f"exec {shlex.join(words)}{redirection}", self._line)
        self._channel.ended.add_done_callback(lambda _: self._has_ended())
        return self

    def _line(self, line: str, is_stdout: bool) -> None:
        self._take(line, self._logs[0 if is_stdout else 1], is_stdout)

    def _has_ended(self) -> None:
        for log in self._logs:
            with contextlib.suppress(OSError):
                log.close()
        with self._changed:
            self._changed.notify_all()

    def cpu_seconds(self) -> float | None:
        """Not known."""
        return None

    def waited_seconds(self) -> float | None:
        """Not known."""
        return None

    def write(self, text: str) -> None:
        """Types `text` into its stdin.

        Raises `RemoteError`.
        """
        self._running().write(text)

    def wait(self, timeout_s: float) -> int:
        """Waits for the program's own end and returns its status.

        Raises `ProcessError` if it still runs after `timeout_s`, or cannot be heard any more.
        """
        try:
            status = self._running().ended.result(timeout_s)
        except TimeoutError:
            raise self.failure(f"still running after {timeout_s:g} s") from None
        if status is None:
            raise self.failure(str(self._host()[0].lost()))
        return status

    def send_signal(self, name: str) -> None:
        """Sends it a signal by its name without SIG, if it still runs.

        Raises `RemoteError`.
        """
        if self._trouble() is None and self.returncode is None:
            self._signal(name)

    def _ask_to_end(self) -> None:
        self.send_signal("TERM")

    def kill(self) -> None:
        """Ends it at once."""
        channel = self._channel
        if channel is None or channel.ended.done():
            return
        # Where the host cannot be reached its keeper does it.
        with contextlib.suppress(RemoteError):
            self._signal("KILL")
            with contextlib.suppress(TimeoutError):
                channel.ended.result(_KILLED_S)

    def _signal(self, name: str) -> None:
        ssh, folder = self._host()
        # It may have ended meanwhile: whether it did is seen in its status.
        ssh.run(f'kill -{name} "$(cat {shlex.quote(f"{folder}/pids/{self.name}")})"', _SIGNAL_S)

    def _running(self) -> RemoteChannel:
        if self._channel is None:
            raise RemoteError(f"{self.name}: not started")
        return self._channel

    def _is_reading(self) -> bool:
        return False

    def _trouble(self) -> str | None:
        channel = self._channel
        if channel is None:
            return "not started"
        return str(self._host()[0].lost()) if channel.ended.done() and channel.ended.result() is None else None

    def __enter__(self) -> Self:
        return self if self._channel else self.start()

    def __exit__(self, *details: object) -> None:
        if self._channel is not None and self._trouble() is None:
            super().__exit__(*details)
