# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The process that speaks with a TRex server, and what its errors mean for the user."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from testbed.campaign.traffic_generator import GeneratorError
from testbed.run.process import Process, ProcessError
from testbed.run.programs import repository_root

# It answers within a few seconds, beside what was asked to take time; a busy server is slower.
_PATIENCE_S = 60.0

_REMEDIES = {
    "no_tree": "name the folder of TRex in trex_home of the scenario, or in the environment variable TREX_HOME",
    "no_client": "give the folder that has t-rex-64 in it, as trex_home or TREX_HOME",
    "import": "its client needs Python 3.11 or 3.12: name one as python in the scenario",
    "unreachable": "start it with ./t-rex-64 -i in its folder, have the scenario do so (launch), or look at server, "
    "sync_port and the firewall",
    "mode": "start it with -i and without --astf",
    "api": "the client comes from trex_home, which must be the tree that the server was started from",
    "no_port": "look at ports in the scenario and interfaces in TRex's configuration",
    "link": "look at the cable, and whether the device is running",
}


class TrexError(GeneratorError):
    """TRex refused what was asked; `kind` says what kind of refusal it is."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def trex_folder() -> Path:
    """The files for TRex: the stream profile, example configurations, and the program that speaks with it."""
    return repository_root() / "testbed" / "trex"


class TrexBridge(Process):
    """`testbed/trex/bridge.py` as a process, asked one thing after the other."""

    def __init__(self, home: Path, python: str | None, log_dir: Path, name: str = "trex-client") -> None:
        argv = [python or sys.executable, "-u", str(trex_folder() / "bridge.py"), str(home)]
        super().__init__(name, argv, log_dir, interactive=True)
        self._asked = 0

    def ask(
        self, action: str, takes_s: float = 0.0, watch: Callable[[], None] = lambda: None, /, **request: Any
    ) -> dict[str, Any]:
        """What it says to a request that takes `takes_s`; `watch` is called meanwhile, and may raise.

        Raises `TrexError` if TRex refuses, `GeneratorError` if there is no answer.
        """
        self._asked += 1
        number = self._asked
        try:
            self.write(json.dumps({"id": number, "do": action, **request}) + "\n")

            def answered() -> dict[str, Any] | None:
                watch()
                return next((event for event in reversed(self.events) if event.get("id") == number), None)

            answer = self.wait_until(answered, f"the answer to '{action}'", takes_s + _PATIENCE_S)
        except ProcessError as error:
            raise GeneratorError(str(error)) from error
        # They are in the journal, or of no further use.
        self.events.clear()
        if "error" in answer:
            raise refusal(answer["error"], action)
        return answer


def refusal(error: dict[str, Any], action: str) -> TrexError:
    """The error for the user: what was wrong, with which value, and what to do."""
    kind, message = error["kind"], " ".join(str(error["message"]).split())
    if kind == "owned":
        owners = ", ".join(f"port {port} to '{owner}'" for port, owner in error["owners"].items() if owner)
        text = f"TRex's ports are taken: {owners}: wait, have them released, or take them with force: true"
    elif kind == "api":
        text = f"the client does not suit TRex server {_version(error)}: {message}: {_REMEDIES[kind]}"
    elif kind == "import":
        text = f"TRex's client cannot be imported by Python {error.get('python')}: {message}: {_REMEDIES[kind]}"
    elif kind == "lost":
        text = f"the TRex server is gone: {message}"
    elif kind in _REMEDIES:
        text = f"TRex: {message}: {_REMEDIES[kind]}"
    else:
        text = f"TRex refused to {action}: {message}"
    return TrexError(kind, text)


def _version(error: dict[str, Any]) -> str:
    version = error.get("version")
    return str(version.get("version", "unknown")) if isinstance(version, dict) else "unknown"
