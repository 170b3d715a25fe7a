# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A TRex server that the campaign starts, here or on another host: watched, ended, and the machine left as it was."""

from __future__ import annotations

import contextlib
import os
import re
import socket
from pathlib import Path

from testbed.campaign.devices.program_host import LocalHost, ProgramHost
from testbed.campaign.remote.host import RemoteHost
from testbed.campaign.traffic_generator import GeneratorError
from testbed.campaign.trex.bridge import trex_folder
from testbed.campaign.trex.settings import Trex, TrexLaunch
from testbed.run.process import ProcessError, Watched

_NAME = "trex-server"
# `testbed/trex/server.sh` gives TRex 20 s, and puts back what TRex has changed.
_STOP_S = 45.0
_NOT_PUT_BACK = "not put back: "
# What TRex and its scripts begin with where they say what is wrong.
_CAUSE = re.compile(r"\s*(?:error|critical|fatal)\b", re.IGNORECASE)


class TrexServer:
    """`t-rex-64 -i` in `testbed/trex/server.sh`, which ends it also if this program dies or the connection breaks."""

    def __init__(self, process: Watched, cleanup: contextlib.ExitStack) -> None:
        self._process = process
        self._cleanup = cleanup

    def check(self) -> None:
        """Raises `GeneratorError` if it is gone."""
        process = self._process
        if (trouble := process.trouble()) is None:
            return
        if process.returncode is not None:
            # Its last words may still be under way.
            with contextlib.suppress(ProcessError):
                process.wait(_STOP_S)
        # After the cause, TRex prints all of its options.
        cause = next((line.strip() for line in process.stdout_lines if _CAUSE.match(line)), None)
        what = f"{trouble} in the middle of the campaign"
        raise GeneratorError(str(process.failure(what if cause is None else f"{what} ({cause.rstrip('.')})")))

    def close(self) -> None:
        """Ends it, and leaves the machine. May be called again.

        Raises `GeneratorError` if the machine is not as it was found.
        """
        try:
            # How it ends says nothing about what was measured.
            with contextlib.suppress(ProcessError):
                self._process.stop(_STOP_S)
            self._cleanup.close()
        except ProcessError as error:
            raise GeneratorError(str(error)) from error
        finally:
            self._process.kill()
        if changed := [line for line in self._process.stdout_lines if line.startswith(_NOT_PUT_BACK)]:
            raise GeneratorError(f"TRex has changed the machine that it ran on: {'; '.join(changed)}: do so by hand")


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
    launch = settings.launch
    assert launch is not None, "asked for only then"
    config = config_file(launch.config)
    if launch.host is None and not os.access(home / "t-rex-64", os.X_OK):
        raise GeneratorError(f"no program 't-rex-64' in '{home}': name TRex's folder in trex_home, or in TREX_HOME")
    if _answers(settings.address, settings.sync_port):
        raise GeneratorError(
            f"something listens on TCP port {settings.sync_port} of {settings.address} already, such as another TRex "
            "server: end it, or leave launch out of the scenario to use it"
        )
    with contextlib.ExitStack() as cleanup:
        try:
            host: ProgramHost = cleanup.enter_context(LocalHost() if launch.host is None else RemoteHost(launch.host))
            script = host.install(trex_folder() / "server.sh")
            words = _words(script, launch.home or home, host.install(config), launch)
            process = cleanup.enter_context(host.process(_NAME, words, log_dir))
        except ProcessError as error:
            raise GeneratorError(str(error)) from error
        return TrexServer(process, cleanup.pop_all())


def _words(script: str, home: Path, config: str, launch: TrexLaunch) -> list[str]:
    server = ["-i", "--cfg", config, "-c", str(launch.cores)]
    # Its screen and its web page for building packets are not needed.
    return ["sh", script, str(home), *server, "--no-scapy-server", "--iom", "0", *launch.options]


def _answers(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), 1.0).close()
    except OSError:
        return False
    return True
