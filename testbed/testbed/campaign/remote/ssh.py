# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""An SSH connection for programs that are not asynchronous: its work is done in a thread of its own.

Host keys are checked against known_hosts, and never accepted in silence. What goes wrong is a `RemoteError` that says
what to do.
"""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import asyncssh

from testbed.campaign.remote.settings import Host
from testbed.run.supervision import ProcessError

T = TypeVar("T")

_CONNECT_S = 20.0
# A peer that answers none of so many requests is lost.
_ALIVE_EVERY_S = 10
_ALIVE_QUESTIONS = 3


class RemoteError(ProcessError):
    """Another host cannot be used, or not any more; the message says what to do."""


@dataclass(frozen=True)
class Ended:
    """A command that was run there."""

    status: int
    stdout: str
    stderr: str


class RemoteChannel:
    """A command that runs there, whose lines are handed on as they come."""

    def __init__(self, ssh: Ssh, process: asyncssh.SSHClientProcess[str]) -> None:
        self._ssh = ssh
        self._process = process
        # None until it has ended; then its status, negative for a signal, or None if the connection was lost before.
        self.ended: Future[int | None] = Future()

    def write(self, text: str) -> None:
        """Types `text` into its stdin.

        Raises `RemoteError`.
        """
        self._ssh.call(self._write(text))

    async def _write(self, text: str) -> None:
        self._process.stdin.write(text)
        await self._process.stdin.drain()

    def end_input(self) -> None:
        """Nothing more will be typed."""
        self._ssh.call(self._end_input())

    async def _end_input(self) -> None:
        self._process.stdin.write_eof()

    async def follow(self, on_line: Callable[[str, bool], None]) -> None:
        """Hands on its lines and whether they are of stdout, to the end."""
        process = self._process
        try:
            await asyncio.gather(
                self._lines(process.stdout, on_line, True), self._lines(process.stderr, on_line, False)
            )
            await self._process.wait_closed()
        finally:
            self.ended.set_result(self._process.returncode)

    @staticmethod
    async def _lines(stream: asyncssh.SSHReader[str], on_line: Callable[[str, bool], None], is_stdout: bool) -> None:
        # A lost connection ends the stream or raises an error; the missing status shows that it was lost.
        with contextlib.suppress(asyncssh.Error, OSError):
            async for line in stream:
                on_line(line, is_stdout)


class Ssh:
    """A connection to a host."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"ssh {host.name}", daemon=True)
        self._thread.start()
        self._tasks: set[asyncio.Task[None]] = set()
        try:
            self._connection = self._wait(_connected(host), _CONNECT_S + 5)
        except BaseException:
            self._end_thread()
            raise

    def run(self, command: str, timeout_s: float, stdin: bytes = b"") -> Ended:
        """Runs a command of the host's shell to its end.

        Raises `RemoteError` if the connection is lost or the time over; a status that is not 0 is a result.
        """
        done = self.call(self._connection.run(command, input=stdin, encoding=None, timeout=timeout_s), timeout_s + 5)
        if done.returncode is None:
            raise self.lost()
        stdout, stderr = ((text or b"").decode(errors="replace") for text in (done.stdout, done.stderr))
        return Ended(done.returncode, stdout, stderr)

    def start(self, command: str, on_line: Callable[[str, bool], None]) -> RemoteChannel:
        """Starts a command of the host's shell; `on_line` is called in another thread.

        Raises `RemoteError`.
        """
        return self.call(self._start(command, on_line))

    async def _start(self, command: str, on_line: Callable[[str, bool], None]) -> RemoteChannel:
        process = await self._connection.create_process(command, encoding="utf-8", errors="replace")
        channel = RemoteChannel(self, process)
        task = asyncio.get_running_loop().create_task(channel.follow(on_line))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return channel

    def call(self, work: Coroutine[Any, Any, T], timeout_s: float = _CONNECT_S) -> T:
        """Does something on the connection.

        Raises `RemoteError`.
        """
        try:
            return self._wait(work, timeout_s)
        except (asyncssh.Error, OSError, TimeoutError) as error:
            raise self.lost(str(error)) from error

    def lost(self, why: str = "") -> RemoteError:
        """The error that says that the connection is gone."""
        more = f" ({why})" if why else ""
        return RemoteError(f"the SSH connection to {self.host} is lost{more}: see that the host can be reached")

    def close(self) -> None:
        """Ends the connection and its thread. May be called again."""
        if self._loop.is_closed():
            return
        with contextlib.suppress(asyncssh.Error, OSError, TimeoutError):
            self._wait(self._close(), 5.0)
        self._end_thread()

    async def _close(self) -> None:
        self._connection.close()
        await self._connection.wait_closed()

    def _wait(self, work: Coroutine[Any, Any, T], timeout_s: float) -> T:
        if self._loop.is_closed():
            work.close()
            raise self.lost("it was closed")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(timeout_s)
        except BaseException:
            # After an interrupt, too, end processes that are no longer awaited.
            future.cancel()
            raise

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5.0)
        if not self._thread.is_alive():
            self._loop.close()


async def _connected(host: Host) -> asyncssh.SSHClientConnection:
    """A connection.

    Raises `RemoteError`.
    """
    options: dict[str, Any] = {"connect_timeout": _CONNECT_S, "login_timeout": _CONNECT_S}
    options |= {"keepalive_interval": _ALIVE_EVERY_S, "keepalive_count_max": _ALIVE_QUESTIONS}
    # Nobody can type a password.
    options |= {"preferred_auth": "publickey", "password": None}
    if host.key is not None:
        options |= {"client_keys": [str(_readable(host.key, "key"))], "agent_path": None}
    if host.known_hosts is not None:
        options["known_hosts"] = str(_readable(host.known_hosts, "known_hosts"))
    if host.user is not None:
        options["username"] = host.user
    if host.port is not None:
        options["port"] = host.port
    try:
        return await asyncssh.connect(host.name, **options)
    except asyncssh.HostKeyNotVerifiable as error:
        known = host.known_hosts or "~/.ssh/known_hosts"
        port = ["-p", str(host.port)] if host.port else []
        scan = shlex.join(["ssh-keyscan", *port, host.name])
        raise RemoteError(
            f"{host}: its host key is not in {known} ({error.reason}): compare what '{scan}' prints with the key on "
            "the host itself (/etc/ssh/ssh_host_*_key.pub), then append it"
        ) from error
    except asyncssh.PermissionDenied as error:
        key = host.key or "the keys of ~/.ssh and of the agent"
        raise RemoteError(
            f"{host}: it does not let the user in with {key}: append the public key to ~/.ssh/authorized_keys there, "
            f"or name another user or key in the scenario ({error.reason})"
        ) from error
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
        raise RemoteError(f"{host}: cannot use the key {host.key}: {error}: name one without a passphrase") from error
    except (asyncssh.Error, OSError, TimeoutError) as error:
        raise RemoteError(
            f"cannot reach {host} over SSH: {error or 'no answer'}: see that it runs, and try 'ssh' by hand"
        ) from error


def _readable(path: Path, what: str) -> Path:
    file = path.expanduser()
    try:
        file.open().close()
    except OSError as error:
        raise RemoteError(
            f"cannot read '{file}': {error.strerror}: correct {what} of the host in the scenario"
        ) from error
    return file
