# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A real SSH server on this machine, on a port and with keys of its own, for tests about other hosts."""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import pytest

from testbed.campaign.remote.settings import Host

PATIENCE_S = 30.0
_PLACES = ("/usr/sbin", "/usr/bin", "/usr/local/sbin")


class SshServer:
    """The server while the `with` lasts; all its files are in one folder. Programs it starts find `environment`."""

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self._environment = dict(environment or {})
        self.port = _free_port()
        self._program = shutil.which("sshd", path=os.pathsep.join(_PLACES))
        if self._program is None or shutil.which("ssh-keygen") is None:
            pytest.skip("'sshd' is not installed: install openssh-server and openssh-client")
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.folder.mkdir(mode=0o700)
        host_key, key = self.new_key("host"), self.new_key("user")
        (self.folder / "authorized_keys").write_text(key.with_suffix(".pub").read_text())
        kind, code = host_key.with_suffix(".pub").read_text().split()[:2]
        (self.folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {kind} {code}\n")
        config = self.folder / "sshd_config"
        config.write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {host_key}\nPidFile none\nStrictModes no\n"
            f"AuthorizedKeysFile {self.folder}/authorized_keys\nPasswordAuthentication no\nPermitRootLogin yes\n"
            + "".join(f"SetEnv {name}={value}\n" for name, value in self._environment.items())
            + f"KbdInteractiveAuthentication no\nUsePAM {'yes' if os.geteuid() == 0 else 'no'}\n"
        )
        if os.geteuid() == 0:
            # Where it locks itself in; a distribution's own service makes it too.
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        command = [self._program, "-f", str(config)]
        # From 9.8 on it turns away, for a while, whose connections ended badly; that is what these tests do to them.
        lenient = [*command, "-o", "PerSourcePenalties=no"]
        if subprocess.run([*lenient, "-t"], capture_output=True, check=False).returncode == 0:
            command = lenient
        with (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen([*command, "-D", "-e"], stderr=log)
        self._wait_until_it_listens()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self.cut()
            self._process.terminate()
            self._process.wait()

    def new_key(self, name: str) -> Path:
        """A private key; the public one lies beside it."""
        path = self.folder / f"{name}_key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
        return path

    def host(self, **changes: object) -> Host:
        """How it is reached."""
        told = {"name": "127.0.0.1", "port": self.port, "user": getpass.getuser(), "key": self.folder / "user_key"}
        told |= {"known_hosts": self.folder / "known_hosts"}
        return Host.model_validate(told | changes)

    def connections(self) -> list[int]:
        """The processes of the server that serve a connection; from 9.8 on their children go on without them."""
        assert self._process is not None
        found: list[int] = []
        parents = [self._process.pid]
        while parents:
            parent = parents.pop()
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                children = [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
                serving = [pid for pid in children if Path(f"/proc/{pid}/comm").read_text().startswith("sshd")]
                found += serving
                parents += serving
        return found

    def cut(self) -> None:
        """Kills what serves its connections."""
        for pid in self.connections():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _wait_until_it_listens(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1.0).close()
                return
            except OSError:
                assert self._process is not None
                if self._process.poll() is not None or time.monotonic() > deadline:
                    pytest.fail(f"sshd does not run: {(self.folder / 'log').read_text()}")
                time.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
