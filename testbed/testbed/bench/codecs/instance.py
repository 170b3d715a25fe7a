# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""One run of a library: rounds that start and stop on command."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Self

from testbed.bench.codecs.contestants import Codec
from testbed.comparison.condition import Condition
from testbed.comparison.record import Run
from testbed.comparison.runner import Account, Memory, memory_of
from testbed.comparison.telemetry import Reading
from testbed.run.lcores import LcorePlan
from testbed.run.process import Process

# Generous for a busy machine.
_TIMEOUT_S = 30.0


class CodecInstance:
    """Use it in a `with`, which ends it in any case."""

    def __init__(
        self, codec: Codec, condition: Condition, lcores: LcorePlan, folder: Path, label: str, name: str
    ) -> None:
        self.condition = condition
        self.label = label
        self.start_s = 0.0
        pinned = ["taskset", "-c", str(lcores.forwarder)]
        words = ["serve", *codec.words(condition), "--peer-cpu", str(lcores.generator)]
        self._process = Process(name, [*pinned, str(codec.program.path), *words], folder, interactive=True)
        self._process.death_signal = "KILL"

    def start(self) -> None:
        """Returns when it takes words.

        Raises `ProcessError`.
        """
        begin = time.monotonic()
        self._process.start()
        self._process.wait_for_event("ready", _TIMEOUT_S)
        self.start_s = time.monotonic() - begin

    def pause(self) -> None:
        """Stops it after a round."""
        self._process.write("stop\n")
        self._counters()

    def resume(self) -> None:
        """Lets it go on."""
        self._process.write("go\n")

    def _counters(self) -> dict[str, Any]:
        events = self._process.events
        before = len(events)
        self._process.write("read\n")
        return self._process.wait_until(
            lambda: events[before] if len(events) > before else None, "its counters", _TIMEOUT_S
        )

    def read(self) -> Reading:
        """The counters after a round, by the program's own clocks: rounds are frames that come and go.

        Raises `ProcessError`.
        """
        told = self._counters()
        rounds = told["rounds"]
        return Reading(told["ns"], 0, told["cpu_ns"], rounds, rounds, 0, 0, 0)

    def cpu_ns(self) -> int:
        """CPU time of the program, and of its server."""
        return int(self._counters()["cpu_ns"])

    def generator_cpu_ns(self) -> int | None:
        """Nothing gives it work."""
        return None

    def count_polls(self, run: Run, seconds: float) -> None:
        """The bytes of a round, of messages that the measured process has made."""
        told = self._counters()
        run.message_bytes = told["bytes"] / max(told["rounds"], 1)

    def memory(self) -> Memory:
        """What its process holds."""
        return memory_of(self._process.pid)

    def tsc_hz(self) -> int | None:
        """Nobody asks."""
        return None

    def end(self) -> Account | None:
        """Ends it. All responses have been checked.

        Raises `ProcessError` if one was wrong.
        """
        self._counters()
        self._process.stop()
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
