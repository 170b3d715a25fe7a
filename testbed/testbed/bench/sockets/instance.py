# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""One run of a server with a client of its own, which can be stopped when every request has its answer."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from testbed.bench.sockets.kernel_host import KernelHost
from testbed.bench.sockets.servers import Server
from testbed.comparison.condition import Condition
from testbed.comparison.platform import Platform
from testbed.comparison.record import Run
from testbed.comparison.runner import SETTLE_S, Account, Memory, memory_of
from testbed.comparison.telemetry import Reading, Telemetry, TelemetryError, cpu_ns, socket_path
from testbed.run.eal import EalOptions, unique_file_prefix
from testbed.run.process import Process, ProcessError, describe_status
from testbed.run.programs import Program
from testbed.wire.virtual_wire import VirtualWire

# The limits of waits, generous for a busy machine.
_START_TIMEOUT_S = 60.0
_STOP_TIMEOUT_S = 20.0
_QUIET_TIMEOUT_S = 20.0
_LOOK_S = 0.002
# The longest warm-up.
_WARM_UP_S = 5.0
# For the client and all servers alike: glibc asks for transparent hugepages.
_HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
# More requests are not on their way at a time: queues hold them all. A page has 8 long segments.
MOST_IN_FLIGHT = 256
MOST_PAGES_IN_FLIGHT = 32
# Columns behind a CPU's name in /proc/stat: idle, iowait, steal.
_NOT_BUSY = (3, 4, 7)


class RaceInstance:
    """Use it in a `with`, which ends it in any case."""

    def __init__(
        self, server: Server, client: Program, condition: Condition, platform: Platform, label: str, name: str
    ) -> None:
        self.server = server
        self.condition = condition
        self.label = label
        self.start_s = 0.0
        self._client_program = client
        self._platform = platform
        self._name = name
        self._cleanup = contextlib.ExitStack()
        self._telemetry: dict[str, Telemetry] = {}
        self._server: Process | None = None
        self._client: Process | None = None
        self._stopped = False
        # Of the server, before it had connections.
        self._rss_kb = 0

    @property
    def connections(self) -> int:
        """How many the client opens."""
        assert self.condition.connections is not None
        return self.condition.connections

    def start(self) -> None:
        """Starts both and returns when all connections are open.

        Raises `ProcessError` and `TelemetryError`.
        """
        begin = time.monotonic()
        argv, prefixes = self._commands()
        environment = {"RUNTIME_DIRECTORY": str(self._platform.runtime), **_HUGE_PAGES}
        started = []
        for role in ("server", "client"):
            process = Process(f"{self._name}-{role}", argv[role], self._platform.raw, environment)
            # No other signal reaches one that is stopped.
            process.death_signal = "KILL"
            started.append(self._cleanup.enter_context(process))
            # As long as that is the one that a failure is about.
            self._server, self._client = started[0], started[-1]
        for role, prefix in prefixes.items():
            self._telemetry[role] = self._connect(socket_path(self._platform.runtime, prefix))
        self._rss_kb = self.memory().rss_kb
        self._wait(self._opens, _START_TIMEOUT_S, "took commands")
        self._wait(lambda: bool(self._counters()["quiet"]), _START_TIMEOUT_S, "opened all connections")
        self.start_s = time.monotonic() - begin
        if self.server.warm_up:
            self._warm_up()

    def _warm_up(self) -> None:
        self.run()
        end = time.monotonic() + _WARM_UP_S
        while self._counters()["answers"] < self.server.warm_up and time.monotonic() < end:
            time.sleep(_LOOK_S)
        self.drain()

    def _commands(self) -> tuple[dict[str, list[str]], dict[str, str]]:
        """The command lines of both, and the prefixes of those that have telemetry."""
        platform, lcores = self._platform, self._platform.lcores
        most = MOST_PAGES_IN_FLIGHT if self.server.work == "page" else MOST_IN_FLIGHT
        many, condition = str(self.connections), self.condition
        client_words = ["--", self.server.work, many, str(min(self.connections, most))]
        if self.server.work == "page":
            client_words.append(str(condition.per_connection))
        if condition.is_bulk:
            client_words = (
                ["--", "streams", many] if condition.streams else ["--", "messages", many, str(condition.message)]
            )
        server_words = self.server.argv(self.condition)
        prefix = unique_file_prefix("client")

        def client(vdev: str) -> list[str]:
            eal = EalOptions(lcores.generator, prefix, (vdev,), platform.hugepages, telemetry=True)
            return [str(self._client_program.path), *eal.argv(), *client_words]

        if self.server.on_kernel:
            host = self._cleanup.enter_context(KernelHost(lcores))
            server = host.command("taskset", "--cpu-list", str(lcores.forwarder), *server_words)
            return {"server": server, "client": host.command(*client(host.client_vdev))}, {"client": prefix}
        wire = self._cleanup.enter_context(VirtualWire(1))
        own = unique_file_prefix("server")
        eal = EalOptions(lcores.forwarder, own, wire.forwarder_vdevs, platform.hugepages, telemetry=True)
        program, *rest = server_words
        # Without this option a vhost device takes no long segments.
        more = ",tso=1" if self.condition.is_bulk else ""
        return (
            {"server": [program, *eal.argv(), *rest], "client": client(wire.generator_vdevs[0] + more)},
            {"client": prefix, "server": own},
        )

    def _connect(self, path: Path) -> Telemetry:
        found: list[Telemetry] = []

        def tried() -> bool:
            with contextlib.suppress(TelemetryError):
                found.append(Telemetry(path))
            return bool(found)

        self._wait(tried, _START_TIMEOUT_S, "had telemetry")
        return found[0]

    def _opens(self) -> bool:
        """Whether the client has its commands already, and so has begun to open connections."""
        with contextlib.suppress(TelemetryError):
            self.ask("/race/open")
            return True
        return False

    def _wait(self, is_so: Callable[[], bool], timeout_s: float, what: str) -> None:
        deadline = time.monotonic() + timeout_s
        while not is_so():
            self._check("before it " + what)
            if time.monotonic() > deadline:
                raise self._running(self._client).failure(f"not within {timeout_s:g} s: {what}: {self._told()}")
            time.sleep(_LOOK_S)

    def _told(self) -> str:
        with contextlib.suppress(TelemetryError):
            return str(self._counters())
        return "it does not answer"

    def _check(self, when: str) -> None:
        for program in (self._server, self._client):
            if program is not None and program.returncode is not None:
                program.wait(_STOP_TIMEOUT_S)
                raise program.failure(f"ended with {describe_status(program.returncode)} {when}")

    def _running(self, process: Process | None) -> Process:
        if process is None:
            raise ProcessError(f"{self._name}: not started")
        return process

    def ask(self, command: str, role: str = "client") -> dict[str, Any]:
        """The answer to a command of the client's or the server's.

        Raises `TelemetryError` if there is none.
        """
        answer = self._telemetry[role].ask(command) if role in self._telemetry else None
        if not isinstance(answer, dict):
            raise TelemetryError(f"{self._name}: no answer to '{command}'")
        return answer

    def _counters(self) -> dict[str, Any]:
        """The client's counters.

        Raises `TelemetryError` if the server has answered anything else than it should.
        """
        counters = self.ask("/race/counters")
        if counters["wrong"]:
            raise TelemetryError(f"{self._name}: {counters['wrong']} segments were wrong: {counters}")
        return counters

    def run(self) -> None:
        """Lets the client send as many requests, or ask for as many bytes, as possible."""
        self.ask("/race/run")

    def pace(self, rate: int, seconds: float) -> None:
        """Lets the client send so many requests a second, at regular times, and record latencies for so long."""
        self.ask(f"/race/pace,{rate},{round(1000 * seconds)}")

    def churn(self) -> None:
        """Lets the client open connections for one request each, as many as possible."""
        self.ask("/race/churn")

    def drain(self) -> None:
        """Returns when every request has its answer, and every answer its acknowledgment."""
        self.ask("/race/drain")
        self._wait(lambda: bool(self._counters()["quiet"]), _QUIET_TIMEOUT_S, "was quiet")

    def pause(self) -> None:
        """Stops both when nothing is on its way, so that no timer of TCP runs meanwhile."""
        self.drain()
        self._send(signal.SIGSTOP)
        self._stopped = True

    def resume(self) -> None:
        """Resumes both, and sends requests."""
        self._send(signal.SIGCONT)
        self._stopped = False
        self.run()

    def _send(self, number: signal.Signals) -> None:
        self._check("in the middle")
        for program in (self._server, self._client):
            os.kill(self._running(program).pid, number)

    def read(self) -> Reading:
        """The counters now; it must be running.

        Raises `TelemetryError`.
        """
        before = _now()
        counters = self._counters()
        after = _now()
        return Reading(
            time_ns=(before + after) // 2,
            error_ns=(after - before) // 2,
            cpu_ns=self.cpu_ns(),
            rx_packets=counters["requests"],
            tx_packets=counters["answers"],
            rx_missed=counters["resent"],
            tx_errors=counters["repeated"],
            rx_no_mbuf=0,
        )

    def cpu_ns(self) -> int:
        """CPU time of the server: of its process, or of the kernel's TCP too.

        The kernel handles packets in interrupts, which no process is charged for. So all that the server's CPU does is
        counted: the time that it was neither idle nor taken by the hypervisor, to 10 ms. Nothing else runs there, as
        far as this program decides.
        """
        if not self.server.on_kernel:
            return cpu_ns(self._running(self._server).pid)
        ticks = self._cpu_ticks()
        idle_ticks = sum(ticks[column] for column in _NOT_BUSY)
        return _now() - idle_ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")

    def cpu_times(self) -> tuple[float, float, float]:
        """Seconds that the server's CPU has spent outside of the kernel, in it, and in interrupts."""
        user, nice, system, _, _, hard, soft, *_ = self._cpu_ticks()
        hz = os.sysconf("SC_CLK_TCK")
        return (user + nice) / hz, system / hz, (hard + soft) / hz

    def _cpu_ticks(self) -> list[int]:
        name = f"cpu{self._platform.lcores.forwarder} "
        lines = Path("/proc/stat").read_text().splitlines()
        return [int(field) for field in next(line for line in lines if line.startswith(name)).split()[1:]]

    def generator_cpu_ns(self) -> int | None:
        """CPU time of the client's process."""
        return cpu_ns(self._running(self._client).pid)

    def count_polls(self, run: Run, seconds: float) -> None:
        """How long server and client find nothing to do: in polls that find nothing, or with an idle CPU. And what the
        connections have added to the server's memory."""
        # What the kernel has of a connection lies outside of the process.
        if not self.server.on_kernel:
            run.connection_bytes = (self.memory().rss_kb - self._rss_kb) * 1024 / self.connections
        time.sleep(SETTLE_S)
        first = self._counters(), self._idle_micros(), self.read()
        time.sleep(seconds)
        last = self._counters(), self._idle_micros(), self.read()
        run.client_idle_share = _share(first[0], last[0])
        if self.server.on_kernel:
            busy_ns, all_ns = last[2].cpu_ns - first[2].cpu_ns, last[2].time_ns - first[2].time_ns
            run.idle_share = max(0.0, 1 - busy_ns / all_ns)
        elif first[1] is not None and last[1] is not None:
            # The counter of a program in C is some polls old.
            run.idle_share = min(1.0, 1000 * (last[1] - first[1]) / max(last[2].time_ns - first[2].time_ns, 1))

    def _idle_micros(self) -> int | None:
        if self.server.stack_name is None:
            return None
        answer = self.ask(f"/sockets/counters,{self.server.stack_name}", "server")
        return answer.get("idle_micros")

    def memory(self) -> Memory:
        """What the server's process holds."""
        return memory_of(self._running(self._server).pid)

    def tsc_hz(self) -> int | None:
        """Nobody asks."""
        return None

    def end(self) -> Account | None:
        """Ends both in order. All answers have been checked.

        Raises `ProcessError` if one fails.
        """
        if self._stopped:
            self.resume()
        self.drain()
        if not self.condition.is_bulk:
            # A proxy lets connections end before it does.
            self.ask("/race/close")
            self._wait(lambda: bool(self._counters()["quiet"]), _QUIET_TIMEOUT_S, "closed all connections")
        status = self._running(self._client).stop(_STOP_TIMEOUT_S)
        if status != 0:
            raise self._running(self._client).failure(f"ended with {describe_status(status)}")
        server = self._running(self._server)
        status = server.stop(_STOP_TIMEOUT_S)
        # Programs in C end by the signal that stops them, or when they notify a client that has ended.
        if status not in (0, -signal.SIGTERM, -signal.SIGPIPE):
            raise server.failure(f"ended with {describe_status(status)}")
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # A stopped process does not hear SIGTERM.
        for program in (self._server, self._client):
            if self._stopped and program is not None and program.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(program.pid, signal.SIGCONT)
        for telemetry in self._telemetry.values():
            telemetry.close()
        self._cleanup.close()


def _now() -> int:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


def _share(first: dict[str, Any], last: dict[str, Any]) -> float:
    return (last["idle_ns"] - first["idle_ns"]) / max(last["ns"] - first["ns"], 1)
