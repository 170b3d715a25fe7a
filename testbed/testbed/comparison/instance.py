# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""One run of a contestant that can be stopped and continued, with a generator of its own on the virtual wire."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Self

from testbed.comparison.condition import NET_PCAP, VIRTUAL, Condition
from testbed.comparison.contestants import Contestant, Setup
from testbed.comparison.ipv4 import write_capture
from testbed.comparison.platform import Platform
from testbed.comparison.record import Run
from testbed.comparison.runner import SETTLE_S, Account, Memory, memory_of
from testbed.comparison.telemetry import Reading, Telemetry, TelemetryError, cpu_ns, socket_path
from testbed.run.eal import EalOptions, unique_file_prefix
from testbed.run.process import Process, ProcessError, describe_status
from testbed.wire.generator import Generator, Load
from testbed.wire.virtual_wire import VirtualWire

# The limits of waits, generous for a busy machine.
_START_TIMEOUT_S = 60.0
_STOP_TIMEOUT_S = 20.0
# How often to look whether it forwards. Also the resolution of the start-up time.
_LOOK_S = 0.002
# The generator's duration: until it is stopped.
_FOREVER_S = 86_400


class Instance:
    """Use it in a `with`, which ends it in any case."""

    def __init__(
        self,
        contestant: Contestant,
        condition: Condition,
        platform: Platform,
        label: str,
        name: str,
        tells_tsc: bool = False,
    ) -> None:
        self.contestant = contestant
        self.condition = condition
        self.label = label
        self.has_plugin = platform.plugin is not None and bool(contestant.is_shared)
        self.start_s = 0.0
        self._platform = platform
        self._name = name
        self._tells_tsc = tells_tsc
        self._cleanup = contextlib.ExitStack()
        self._telemetry: Telemetry | None = None
        self._process: Process | None = None
        self._generator: Generator | None = None
        self._stopped = False
        self._ports = tuple(range(condition.ports))

    def start(self) -> None:
        """Starts it and returns when it forwards.

        Raises `ProcessError`, or `ContestantError` if it cannot do what is asked.
        """
        condition, platform = self.condition, self._platform
        capture = platform.raw / f"{self._name}.pcap"
        if condition.wire == NET_PCAP:
            write_capture(capture, condition.frame_bytes)
        vdevs = () if condition.nics else condition.endless_vdevs(capture)
        wire = None
        if condition.wire == VIRTUAL:
            wire = VirtualWire(condition.ports, condition.queues, condition.descriptors)
            self._cleanup.enter_context(wire)
            vdevs = wire.forwarder_vdevs
        prefix = unique_file_prefix("bench")
        more = (
            ("-d", str(platform.plugin), "--log-level=lib.eal:debug")
            if self.has_plugin
            else ("--log-level=lib.eal:debug",)
        )
        eal = EalOptions(
            platform.lcores.forwarder, prefix, vdevs, platform.hugepages, condition.nics, telemetry=True, more=more
        )
        setup = Setup.of(condition, eal, platform.lcores)
        argv = self.contestant.argv(setup)
        self._process = Process(self._name, argv, platform.raw, {"RUNTIME_DIRECTORY": str(platform.runtime)})
        self._process.death_signal = "KILL"
        begin = time.monotonic()
        self._cleanup.enter_context(self._process)
        if wire is not None:
            self._start_generator(wire)
        self._wait_until_it_forwards(socket_path(platform.runtime, prefix))
        self.start_s = time.monotonic() - begin
        if condition.drops:
            self.ask(f"/bench/refuse,{condition.drops}")

    def _start_generator(self, wire: VirtualWire) -> None:
        platform, last = self._platform, self.condition.ports - 1
        assert platform.generator is not None
        load = Load(
            ports=self._ports,
            size=self.condition.size,
            seconds=_FOREVER_S,
            expect_src=wire.forwarder_mac(last) if self.contestant.rewrites_macs else None,
            expect_dst=f"02:00:00:00:00:{last:02x}" if self.contestant.rewrites_macs else None,
            queues=self.condition.queues,
            more=("--quiet", *self.contestant.generator_options),
        )
        eal = EalOptions(platform.lcores.generator, unique_file_prefix("gen"), wire.generator_vdevs, platform.hugepages)
        self._generator = Generator(platform.generator, eal, load, platform.raw, f"{self._name}-generator")
        self._generator.death_signal = "KILL"
        self._generator.environment["RUNTIME_DIRECTORY"] = str(platform.runtime)
        self._cleanup.enter_context(self._generator)

    def _wait_until_it_forwards(self, path: Path) -> None:
        process, deadline = self._running(), time.monotonic() + _START_TIMEOUT_S
        while True:
            for program in (process, self._generator):
                if program is not None and program.returncode is not None:
                    program.wait(_STOP_TIMEOUT_S)
                    raise program.failure(f"ended with {describe_status(program.returncode)} before it forwarded")
            with contextlib.suppress(TelemetryError):
                if self._telemetry is None:
                    self._telemetry = Telemetry(path)
                if self.read().tx_packets > 0:
                    return
            if time.monotonic() > deadline:
                remedy = ": is anything sending to its NICs?" if self.condition.nics else ""
                raise process.failure(f"forwarded nothing within {_START_TIMEOUT_S:g} s{remedy}")
            time.sleep(_LOOK_S)

    def read(self) -> Reading:
        """The counters now; it must be running.

        Raises `TelemetryError`.
        """
        if self._telemetry is None:
            raise TelemetryError(f"{self._name}: not started")
        return self._telemetry.read(self._ports)

    def ask(self, command: str) -> dict[str, int]:
        """The answer to a command of telemetry.

        Raises `TelemetryError` if there is none.
        """
        answer = self._telemetry.ask(command) if self._telemetry else None
        if not isinstance(answer, dict):
            raise TelemetryError(f"{self._name}: no answer to '{command}'")
        return answer

    def cpu_ns(self) -> int:
        """CPU time of the forwarder's process."""
        return cpu_ns(self._running().pid)

    def generator_cpu_ns(self) -> int | None:
        """CPU time of its generator; None without one."""
        return cpu_ns(self._generator.pid) if self._generator else None

    def pause(self) -> None:
        """Stops it where it is, its generator first."""
        self._send(signal.SIGSTOP, (self._generator, self._process))
        self._stopped = True

    def resume(self) -> None:
        """Resumes it, its generator last."""
        self._send(signal.SIGCONT, (self._process, self._generator))
        self._stopped = False

    def _send(self, number: signal.Signals, programs: tuple[Process | None, ...]) -> None:
        for program in programs:
            if program is None:
                continue
            if program.returncode is not None:
                raise program.failure(f"ended with {describe_status(program.returncode)} in the middle")
            os.kill(program.pid, number)

    def count_polls(self, run: Run, seconds: float) -> None:
        """Average burst and empty polls, if the plug-in is there to count them."""
        if not self.has_plugin:
            return
        time.sleep(SETTLE_S)
        self.ask("/bench/count,1")
        time.sleep(seconds)
        found = self.ask("/bench/polls")
        if found["polls"] > 0:
            run.rx_burst_avg = found["frames"] / found["polls"]
            run.empty_poll_share = found["empty"] / found["polls"]

    def memory(self) -> Memory:
        """What its process holds."""
        return memory_of(self._running().pid)

    def tsc_hz(self) -> int | None:
        """The TSC's frequency, if the EAL printed it at the start."""
        for line in self._running().lines:
            _, found, after = line.partition("TSC frequency is ~")
            if found:
                return int(after.split()[0]) * 1000
        return None

    def end(self) -> Account | None:
        """Ends both in order and returns what became of the frames, on the virtual wire.

        Raises `ProcessError` if one fails, or frames came back other than they should.
        """
        if self._stopped:
            self.resume()
        account = None
        if self._generator is not None:
            self._generator.stop(_STOP_TIMEOUT_S)
            result = self._generator.result()
            total, probes = result.total, result.probes
            wrong = total.corrupted + total.duplicated + result.foreign + (total.wrong_mac or 0)
            if wrong:
                raise self._generator.failure(f"{wrong} frames came back corrupted, repeated, astray or foreign")
            # The forwarder is still there, and has nothing left to do.
            reading = self.read()
            account = Account(
                sent=total.sent + probes.sent,
                forwarder_received=reading.rx_packets,
                forwarder_sent=reading.tx_packets,
                received=total.received + probes.received,
            )
        status = self._running().stop(_STOP_TIMEOUT_S)
        # testpmd and DPDK's examples end by the signal that stops them, or when they notify a peer that has ended.
        if status not in (0, -signal.SIGTERM, -signal.SIGPIPE):
            raise self._running().failure(f"ended with {describe_status(status)}")
        return account

    def _running(self) -> Process:
        if self._process is None:
            raise ProcessError(f"{self._name}: not started")
        return self._process

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # A stopped process does not hear SIGTERM.
        for program in (self._process, self._generator):
            if self._stopped and program is not None and program.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(program.pid, signal.SIGCONT)
        if self._telemetry is not None:
            self._telemetry.close()
        self._cleanup.close()
