# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The forwarders on the virtual wire: every frame accounted for, under load, and when either side dies.

Tests that demand each frame limit how many are under way (--window): then nothing depends on how fast which side is.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from testbed.run.eal import EalOptions, unique_file_prefix
from testbed.run.process import Process
from testbed.run.programs import Program
from testbed.wire.forwarder import Final, Forwarder, Period, Start
from testbed.wire.generator import Generator, Result
from testbed.wire.virtual_wire import VirtualWire

pytestmark = pytest.mark.e2e

TIMEOUT_S = 60
# Under load when the forwarder ends: what is lost then does not come late.
ENDLESS = ("--size=64", "--duration=600", "--wait=0.5")


@dataclass(frozen=True)
class Traffic:
    """What the generator is to do; `options` is in its own spelling."""

    options: tuple[str, ...]
    ports: int
    # The limits of a run by count, and of the wait for its last frame.
    whole_seconds: float = TIMEOUT_S + 10
    residual_wait_s: float = 10

    def argv(self) -> list[str]:
        """How frames must come back follows from the forwarder's pairing: neighbours, or a port with itself."""
        peers = [1, 0] if self.ports == 2 else [0]
        receiving = peers if "--bidirectional" in self.options or self.ports == 1 else peers[:1]
        # In the order of --ports: what port 1 receives has left the forwarder's port 1.
        back = sorted(receiving)
        return [
            f"--ports={','.join(str(port) for port in range(self.ports))}",
            f"--wait={self.residual_wait_s:g}",
            f"--expect-src={','.join(VirtualWire.forwarder_mac(port) for port in back)}",
            f"--expect-dst={','.join(f'02:00:00:00:00:{port:02x}' for port in back)}",
            "--json=-",
            *self.options,
        ]


class Bench:
    """A forwarder and generators on one wire; each can be started again."""

    def __init__(self, wire: VirtualWire, folder: Path, hugepages: bool) -> None:
        self.wire = wire
        self.folder = folder
        self.hugepages = hugepages
        self._runs = 0

    def forwarder(self, program: Program, *options: str) -> Forwarder:
        """A forwarder over all ports, not started yet."""
        eal = EalOptions(0, unique_file_prefix("dut"), self.wire.forwarder_vdevs, self.hugepages)
        mask = (1 << self.wire.ports) - 1
        return Forwarder(program, eal, ["-p", f"{mask:x}", "-q", "64", *options], self.folder, self._name("dut"))

    def generator(self, program: Program, *options: str) -> Generator:
        """A generator over all ports, not started yet."""
        eal = EalOptions(1, unique_file_prefix("gen"), self.wire.generator_vdevs, self.hugepages)
        traffic = Traffic(options, self.wire.ports)
        return Generator(program, eal, traffic, self.folder, self._name("gen"))

    def _name(self, role: str) -> str:
        self._runs += 1
        return f"{role}{self._runs}"


@contextmanager
def bench(folder: Path, hugepages: bool, ports: int = 2, queues: int = 1) -> Iterator[Bench]:
    with VirtualWire(ports, queues) as wire:
        yield Bench(wire, folder, hugepages)


def transfer(
    on: Bench, forwarder_program: Program, generator_program: Program, options: list[str], traffic: list[str]
) -> tuple[Start, Final, Result]:
    """One run from start to stop."""
    with on.forwarder(forwarder_program, *options) as forwarder:
        forwarder.process.start()
        with on.generator(generator_program, *traffic) as generator:
            start = forwarder.started()
            result = generator.result()
        return start, forwarder.stop(), result


def assert_every_frame(final: Final, result: Result, sent: int) -> None:
    total = result.total
    assert (total.sent, total.received) == (sent, sent)
    assert (total.lost, total.duplicated, total.reordered, total.corrupted, total.wrong_mac) == (0, 0, 0, 0, 0)
    assert result.foreign == 0
    assert final.balanced
    # Besides the test frames there were probes, of which those before the forwarder was ready are lost anywhere.
    lost_probes = result.probes.sent - result.probes.received
    assert 0 <= final.total.rx_packets - sent - result.probes.received <= lost_probes
    assert final.total.tx_dropped <= lost_probes


def has_received(forwarder: Forwarder, frames: int) -> None:
    forwarder.wait_for_received(frames, TIMEOUT_S)


@pytest.mark.parametrize("size", [64, 65, 128, 512, 1024, 1280, 1518, 2048, 9000])
def test_every_frame_one_way(
    forwarder_program: Program, generator_program: Program, tmp_path: Path, hugepages: bool, size: int
) -> None:
    with bench(tmp_path, hugepages) as on:
        traffic = [f"--size={size}", "--count=5000", "--window=64"]
        _, final, result = transfer(on, forwarder_program, generator_program, [], traffic)
    assert_every_frame(final, result, 5000)


@pytest.mark.parametrize("size", [64, 1518, 9000])
def test_every_frame_both_ways(
    forwarder_program: Program, generator_program: Program, tmp_path: Path, hugepages: bool, size: int
) -> None:
    with bench(tmp_path, hugepages) as on:
        traffic = [f"--size={size}", "--count=5000", "--window=64", "--bidirectional"]
        options = ["--mtu", "9000"] if size == 9000 else []
        _, final, result = transfer(on, forwarder_program, generator_program, options, traffic)
    assert_every_frame(final, result, 10000)
    assert all(port.rx_packets >= 5000 for port in final.ports)


def test_every_frame_of_a_single_port(
    forwarder_program: Program, generator_program: Program, tmp_path: Path, hugepages: bool
) -> None:
    with bench(tmp_path, hugepages, ports=1) as on:
        traffic = ["--size=64", "--count=20000", "--window=256"]
        start, final, result = transfer(on, forwarder_program, generator_program, ["--burst", "1"], traffic)
    assert_every_frame(final, result, 20000)
    assert start.ports[0].mac == VirtualWire.forwarder_mac(0)


@pytest.mark.twins
@pytest.mark.parametrize("per_lcore", [1, 3, 4])
def test_every_frame_over_two_queues(
    forwarder_program: Program, generator_program: Program, tmp_path: Path, hugepages: bool, per_lcore: int
) -> None:
    """Two ports with two queues are four queue pairs: on four lcores, on two, on one. The lcores share a core here."""
    with bench(tmp_path, hugepages, queues=2) as on:
        options = ["--queues", "2", "-q", str(per_lcore)]
        traffic = ["--size=64", "--count=5000", "--window=64", "--bidirectional", "--queues=2"]
        with on.forwarder(forwarder_program, *options) as forwarder:
            argv = forwarder.process.argv
            lcores = argv.index("-l")
            argv[lcores : lcores + 2] = ["--lcores", ",".join(f"{lcore}@0" for lcore in range(4))]
            forwarder.process.start()
            with on.generator(generator_program, *traffic) as generator:
                start = forwarder.started()
                result = generator.result()
            final = forwarder.stop()
    pairs = [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert [lcore.model_dump() for lcore in start.lcores] == [
        {"lcore": lcore, "queues": pairs[lcore * per_lcore :][:per_lcore]} for lcore in range(-(-4 // per_lcore))
    ]
    total = result.total
    # Queues are not ordered among each other.
    assert (total.received, total.lost, total.duplicated, total.corrupted, total.wrong_mac) == (10000, 0, 0, 0, 0)
    assert final.balanced
    assert all(port.rx_packets >= 5000 for port in final.ports)


@pytest.mark.twins
def test_stopping_under_load_loses_no_count(
    forwarder_program: Program, generator_program: Program, tmp_path: Path, hugepages: bool
) -> None:
    with bench(tmp_path, hugepages) as on, on.forwarder(forwarder_program) as forwarder:
        forwarder.process.start()
        with on.generator(generator_program, *ENDLESS, "--bidirectional") as generator:
            has_received(forwarder, 10000)
            final = forwarder.stop()
            os.kill(generator.pid, signal.SIGINT)
            result = generator.result()
    assert final.balanced
    assert final.total.in_flight == 0
    assert result.interrupted
    # What the wire held when the forwarder stopped reading was sent, and not received.
    assert result.total.sent + result.probes.sent >= final.total.rx_packets
    assert result.total.received <= final.total.tx_packets
    assert (result.total.corrupted, result.total.wrong_mac, result.total.duplicated) == (0, 0, 0)


def test_a_killed_generator_can_come_back(
    forwarder_program: Program, generator_program: Program, tmp_path: Path, hugepages: bool
) -> None:
    with bench(tmp_path, hugepages) as on, on.forwarder(forwarder_program) as forwarder:
        forwarder.process.start()
        with on.generator(generator_program, "--size=64", "--duration=600") as generator:
            has_received(forwarder, 1000)
            generator.kill()
        with on.generator(generator_program, "--size=64", "--count=5000", "--window=64") as generator:
            result = generator.result()
        final = forwarder.stop()
    assert result.total.sent == result.total.received + result.total.lost == 5000
    # The way back may open after the way there: what is lost then, the forwarder could not send, and says so.
    assert result.total.lost <= final.total.tx_dropped
    assert result.total.received > 4000
    assert result.total.corrupted == 0
    assert final.balanced


def test_a_killed_forwarder_can_come_back(
    forwarder_program: Program, generator_program: Program, tmp_path: Path, hugepages: bool
) -> None:
    with bench(tmp_path, hugepages) as on, on.forwarder(forwarder_program) as first:
        first.process.start()
        with on.generator(generator_program, *ENDLESS) as generator:
            has_received(first, 1000)
            first.process.kill()
            on.wire.clear_sockets()
            with on.forwarder(forwarder_program) as second:
                second.process.start()
                has_received(second, 1000)
                os.kill(generator.pid, signal.SIGINT)
                result = generator.result()
                final = second.stop()
    assert final.balanced
    assert final.total.tx_packets > 0
    assert result.interrupted
    assert (result.total.corrupted, result.total.wrong_mac) == (0, 0)


def test_a_transmit_queue_that_is_full_for_ever(forwarder_program: Program, tmp_path: Path, hugepages: bool) -> None:
    """Nobody connects to the vhost device, so it takes nothing; the null device always has frames."""
    devices = ("net_null0", f"net_vhost0,iface={tmp_path}/nobody.sock")
    eal = EalOptions(0, unique_file_prefix("dut"), devices, hugepages)
    with Forwarder(forwarder_program, eal, ["-p", "3", "-q", "2"], tmp_path, "dut") as forwarder:
        forwarder.start()
        has_received(forwarder, 100_000)
        final = forwarder.stop()
    assert final.balanced
    dropping = final.ports[1]
    assert (dropping.tx_packets, dropping.tx_dropped) == (0, final.total.rx_packets)


def test_a_second_signal_and_a_closed_pipe_change_nothing(
    forwarder_program: Program, tmp_path: Path, hugepages: bool
) -> None:
    eal = EalOptions(0, unique_file_prefix("dut"), ("net_null0", "net_null1"), hugepages)
    with Forwarder(forwarder_program, eal, ["-p", "3", "-q", "2"], tmp_path, "dut") as forwarder:
        forwarder.start()
        has_received(forwarder, 1)
        os.kill(forwarder.process.pid, signal.SIGINT)
        final = forwarder.stop()
    assert final.balanced


def handles_faults(process: Process) -> bool:
    """Whether a process has a handler of its own for SIGSEGV; False once it has none, or has ended."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except FileNotFoundError:
        return False
    caught = int(next(line for line in status.splitlines() if line.startswith("SigCgt:")).split()[1], 16)
    return bool(caught >> (signal.SIGSEGV - 1) & 1)


def test_a_fault_that_is_sent_ends_the_forwarder(forwarder_program: Program, tmp_path: Path, hugepages: bool) -> None:
    """Rust's runtime takes the first SIGSEGV for a fault, puts the default action back, and waits for another."""
    eal = EalOptions(0, unique_file_prefix("dut"), ("net_null0", "net_null1"), hugepages)
    with Forwarder(forwarder_program, eal, ["-p", "3", "-q", "2"], tmp_path, "dut") as forwarder:
        forwarder.start()
        process = forwarder.process
        # No core file.
        resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))
        needs_two = handles_faults(process)
        assert needs_two == (forwarder_program.name == "l2fwd-rs")
        os.kill(process.pid, signal.SIGSEGV)
        if needs_two:
            process.wait_until(lambda: None if handles_faults(process) else True, "the default action", TIMEOUT_S)
            forwarder.next_period(TIMEOUT_S)
            os.kill(process.pid, signal.SIGSEGV)
        assert process.wait(TIMEOUT_S) == -signal.SIGSEGV


def test_duration_and_both_outputs(forwarder_program: Program, tmp_path: Path, hugepages: bool) -> None:
    file = tmp_path / "stats.json"
    eal = EalOptions(0, unique_file_prefix("dut"), ("net_null0", "net_null1"), hugepages)
    options = ["-p", "3", "-q", "2", "-T", "1", "--duration", "2", "--stats-json", str(file)]
    process = Process("dut", [str(forwarder_program.path), *eal.argv(), "--", *options], tmp_path)
    with process:
        assert process.wait(TIMEOUT_S) == 0
    lines = [line.split() for line in process.stdout_lines]
    assert process.stdout_lines[-6].startswith("l2fwd: final statistics after 2.")
    assert " ".join(lines[-5]) == "port received sent dropped short avg burst empty polls rx pps tx pps"
    total = lines[-2]
    assert (total[0], total[1], total[3:5], total[5]) == ("total", total[2], ["0", "0"], "32.00")
    kinds = [line.split('"')[3] for line in file.read_text().splitlines()]
    assert (kinds[0], kinds[-1]) == ("start", "final")
    assert set(kinds[1:-1]) == {"period"}
    final = Final.model_validate_json(file.read_text().splitlines()[-1])
    assert final.balanced
    gaps = final.total.gaps
    assert gaps is not None
    assert process.stdout_lines[-1] == (
        f"l2fwd: longest gap between polls {1000 * gaps.longest_s:.3f} ms; {gaps.above_100us} above 0.1 ms, "
        f"{gaps.above_1ms} above 1 ms, {gaps.above_3ms} above 3 ms, {gaps.above_10ms} above 10 ms"
    )
    periods = [Period.model_validate_json(line).total.gaps for line in file.read_text().splitlines()[1:-1]]
    assert gaps.longest_s >= max(period.longest_s for period in periods if period is not None)


def test_a_port_that_disappears(
    forwarder_program: Program, tmp_path: Path, hugepages: bool, need_root: None, need_tools: Callable[..., None]
) -> None:
    """The interface under one port is deleted; the other port's frames go on being received, and nothing hangs."""
    need_tools("ip")
    name = f"l2f{os.getpid() % 100000}"
    made = subprocess.run(
        ["ip", "link", "add", name, "type", "veth", "peer", "name", f"{name}p"], capture_output=True, check=False
    )
    if made.returncode != 0:
        pytest.skip(f"no veth pair can be made: {made.stderr.decode().strip()}")
    try:
        subprocess.run(["ip", "link", "set", name, "up"], check=True)
        devices = ("net_null0", f"net_af_packet0,iface={name}")
        eal = EalOptions(0, unique_file_prefix("dut"), devices, hugepages)
        with Forwarder(forwarder_program, eal, ["-p", "3", "-q", "2"], tmp_path, "dut") as forwarder:
            forwarder.start()
            has_received(forwarder, 1000)
            subprocess.run(["ip", "link", "delete", name], check=True)
            before = forwarder.periods[-1].total.rx_packets
            # Two periods later: the first may have begun before.
            has_received(forwarder, before + 1)
            has_received(forwarder, forwarder.periods[-1].total.rx_packets + 1)
            final = forwarder.stop()
    finally:
        subprocess.run(["ip", "link", "delete", name], capture_output=True, check=False)
    assert final.balanced
    assert final.total.rx_packets > before
