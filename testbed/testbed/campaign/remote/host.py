# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A host while a device is used there: a folder with its programs, hugepages if wanted, and nothing left afterwards."""

from __future__ import annotations

import contextlib
import hashlib
import shlex
import subprocess
import threading
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Self

from testbed.campaign.remote.environment import HostEnvironment, parse_environment
from testbed.campaign.remote.process import RemoteProcess
from testbed.campaign.remote.settings import Host
from testbed.campaign.remote.ssh import RemoteChannel, RemoteError, Ssh
from testbed.campaign.trex.settings import Trex

if TYPE_CHECKING:
    from testbed.campaign.scenario import Scenario

# Of 2 MB: with fewer free ones DPDK goes without.
_HUGEPAGES_LEAST = 256
_READY_S = 20.0
# The keeper gives programs 30 s to end.
_LEAVE_S = 60.0
_COPY_S = 120.0
_BEAT_S = 5.0
_ENVIRONMENT_S = 30.0
GENERATOR = "(generator)"
# No host has this name.
THIS_MACHINE = "(this machine)"


class RemoteHost:
    """A `ProgramHost` on another host; use it in a `with`, again and again if wanted."""

    hugepages: bool | None = False

    def __init__(self, host: Host) -> None:
        self.host = host
        self.folder = ""
        self._ssh: Ssh | None = None
        self._keeper: RemoteChannel | None = None
        self._said: list[str] = []
        self._ready = threading.Event()
        self._done = threading.Event()
        self._installed: dict[str, str] = {}

    def __enter__(self) -> Self:
        self._said, self._installed = [], {}
        self._ready.clear()
        self._done.clear()
        self._ssh = Ssh(self.host)
        try:
            self._begin(self._ssh)
        except BaseException:
            self._ssh.close()
            raise
        return self

    def _begin(self, ssh: Ssh) -> None:
        words = ["sh", "-c", _script("keeper.sh"), "keeper", str(self.host.hugepages)]
        self._keeper = ssh.start(f"exec {shlex.join(words)}", self._keeper_says)
        self._keeper.ended.add_done_callback(lambda _: self._ready.set())
        if not self._ready.wait(_READY_S) or not self._said or not self._said[0].startswith("ready "):
            raise RemoteError(f"{self.host}: cannot create a folder: {'; '.join(self._said) or 'reason unknown'}")
        _, self.folder, free, taken = self._said[0].split()
        self.hugepages = int(free) >= _HUGEPAGES_LEAST
        threading.Thread(target=self._beat, args=(self._keeper,), daemon=True).start()
        if int(taken) < self.host.hugepages:
            self._leave()
            raise RemoteError(
                f"{self.host}: only {taken} of {self.host.hugepages} hugepages could be reserved: request fewer in the "
                "scenario, let the user be root, or reserve them there at boot"
            )

    def _keeper_says(self, line: str, is_stdout: bool) -> None:
        self._said.append(line.rstrip("\n"))
        if is_stdout:
            self._ready.set()

    def _beat(self, keeper: RemoteChannel) -> None:
        """Sends the keeper a sign of life at intervals."""
        with contextlib.suppress(RemoteError):
            while not self._done.wait(_BEAT_S) and not keeper.ended.done():
                keeper.write(".\n")

    def install(self, program: Path) -> str:
        """Copies a program into the folder there, and returns its path.

        Raises `RemoteError` if it does not arrive whole.
        """
        content = program.read_bytes()
        wanted = hashlib.sha256(content).hexdigest()
        if wanted in self._installed:
            return self._installed[wanted]
        path = f"{self.folder}/{len(self._installed)}-{program.name}"
        quoted = shlex.quote(path)
        done = self._connected().run(
            f"cat >{quoted} && chmod 755 {quoted} && sha256sum {quoted}", _COPY_S, stdin=content
        )
        if done.status != 0 or done.stdout.split()[:1] != [wanted]:
            why = done.stderr.strip() or "it arrived changed"
            raise RemoteError(f"{self.host}: cannot copy '{program}' there: {why}: see that {self.folder} has space")
        self._installed[wanted] = path
        return path

    def process(self, name: str, argv: Sequence[str], log_dir: Path, interactive: bool = False) -> RemoteProcess:
        """A program that is to be started in the folder there."""
        return RemoteProcess(name, argv, log_dir, interactive, lambda: (self._connected(), self.folder))

    def environment(self) -> HostEnvironment:
        """What the host is.

        Raises `RemoteError`.
        """
        return _environment(self._connected())

    def _connected(self) -> Ssh:
        if self._ssh is None:
            raise RemoteError(f"{self.host}: not connected")
        return self._ssh

    def _leave(self) -> None:
        """Lets the keeper do its work, and sees that it did.

        Raises `RemoteError`.
        """
        keeper, self._keeper = self._keeper, None
        self._done.set()
        if keeper is None or (keeper.ended.done() and keeper.ended.result() is None):
            # The connection was lost: the keeper has noticed too.
            return
        with contextlib.suppress(RemoteError):
            keeper.end_input()
        try:
            status = keeper.ended.result(_LEAVE_S)
        except TimeoutError:
            status = None
        if status != 0 or "left" not in self._said:
            raise RemoteError(
                f"{self.host}: it may not be fully restored: check there for {self.folder} and hugepages"
                + "".join(f"\n    {line}" for line in self._said[1:])
            )

    def __exit__(self, *_: object) -> None:
        ssh, self._ssh = self._ssh, None
        try:
            self._leave()
        finally:
            if ssh is not None:
                ssh.close()


def record_hosts(scenario: Scenario) -> dict[str, HostEnvironment]:
    """What the hosts of a scenario are, by the name of the device, that of TRex by `GENERATOR`.

    Raises `RemoteError`.
    """
    hosts = {device.name: device.host for device in scenario.devices}
    settings = scenario.generator
    # No device has this name.
    hosts[GENERATOR] = settings.launch.host if isinstance(settings, Trex) and settings.launch is not None else None
    found: dict[str, HostEnvironment] = {}
    for name, host in hosts.items():
        if host is not None:
            ssh = Ssh(host)
            try:
                found[name] = _environment(ssh)
            finally:
                ssh.close()
    return found


def record_this_machine(root: str = "") -> dict[str, list[dict[str, str]]]:
    """The CPUs and NICs of this machine, or of the one whose files are in a folder, as of another host."""
    words = ["sh", "-c", _script("environment.sh"), "environment", root]
    done = subprocess.run(words, capture_output=True, text=True, timeout=_ENVIRONMENT_S, check=False)
    return parse_environment(THIS_MACHINE, done.stdout).model_dump(include={"cpus", "nics"})


def _environment(ssh: Ssh) -> HostEnvironment:
    done = ssh.run(shlex.join(["sh", "-c", _script("environment.sh")]), _ENVIRONMENT_S)
    if done.status != 0:
        raise RemoteError(f"{ssh.host}: cannot examine the host: {done.stderr.strip()}")
    return parse_environment(ssh.host.name, done.stdout)


def _script(name: str) -> str:
    return resources.files("testbed.campaign.remote").joinpath(name).read_text()
