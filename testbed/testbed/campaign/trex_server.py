# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A TRex server as a process of this machine: started in its own folder, watched, and ended with all that it began."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from pathlib import Path

from testbed.campaign.backend import GeneratorError
from testbed.campaign.trex_bridge import trex_folder
from testbed.campaign.trex_settings import Trex, TrexLaunch
from testbed.process import Process, ProcessError

_STOP_S = 20.0


class TrexServer(Process):
    """`t-rex-64 -i`, which is a shell script: the server proper is its child."""

    def __init__(self, home: Path, launch: TrexLaunch, log_dir: Path, name: str = "trex-server") -> None:
        config = config_file(launch.config)
        words = ["env", f"--chdir={home}", "./t-rex-64", "-i", "--cfg", str(config), "-c", str(launch.cores)]
        # Nobody looks at its screen, and nobody builds packets in its web page.
        super().__init__(name, [*words, "--no-scapy-server", "--iom", "0", *launch.options], log_dir)

    def check(self) -> None:
        """Raises `GeneratorError` if it is gone."""
        if self.returncode is not None:
            # Its last words may still be under way.
            self.wait(_STOP_S)
            raise GeneratorError(str(self.failure("ended in the middle of the campaign")))

    def stop(self, timeout_s: float = _STOP_S) -> int:
        """Asks the script and the server to end, waits, and returns the status.

        Raises `ProcessError` if it had to be killed.
        """
        self._ask_to_end()
        return self.stopped(timeout_s, "SIGINT")

    def _ask_to_end(self) -> None:
        if self.returncode is None:
            # The script itself waits for the server and hears nothing meanwhile.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGINT)

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessError):
            self.stop()


def config_file(name: Path) -> Path:
    """The configuration file of this path, or the one in testbed/trex/.

    Raises `GeneratorError`.
    """
    for path in (name, trex_folder() / name):
        if path.is_file():
            return path.resolve()
    ready = ", ".join(sorted(path.name for path in trex_folder().glob("*.cfg.yaml")))
    raise GeneratorError(f"no TRex configuration '{name}': give a file as launch.config, or one of {ready}")


def start_server(home: Path, settings: Trex, log_dir: Path) -> TrexServer:
    """Starts the server that the scenario describes; it is not ready yet.

    Raises `GeneratorError`.
    """
    assert settings.launch is not None, "asked for only then"
    if not os.access(home / "t-rex-64", os.X_OK):
        raise GeneratorError(f"no program 't-rex-64' in '{home}': name TRex's folder in trex_home, or in TREX_HOME")
    if _answers(settings.sync_port):
        raise GeneratorError(
            f"something listens on TCP port {settings.sync_port} already, such as another TRex server: end it, or "
            "leave launch out of the scenario to use it"
        )
    server = TrexServer(home, settings.launch, log_dir)
    try:
        server.start()
    except ProcessError as error:
        raise GeneratorError(str(error)) from error
    return server


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0
