# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What others see of a forwarder that runs: counters by dpdk-telemetry.py and metrics, frames by dpdk-dumpcap."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dpkt.pcap
import dpkt.pcapng
import pytest

from testbed.metrics.dpdk import DEFINITIONS, read_program
from testbed.run.eal import EalOptions
from testbed.run.process import completed
from testbed.run.programs import Program
from testbed.run.runtime_folders import runtime_folder
from testbed.run.scratch import scratch_folder
from testbed.wire.forwarder import Forwarder

pytestmark = pytest.mark.e2e

TIMEOUT_S = 60
CAPTURED = 200


@dataclass(frozen=True)
class AttachableEal(EalOptions):
    """On hugepages that another process can map."""

    def alone(self) -> list[str]:
        # Not as lcore 0, as which dpdk-dumpcap runs: the two would share a cache of its mempool.
        return ["--lcores", f"1@{self.lcore}", "--no-pci", f"--file-prefix={self.file_prefix}", "-m", "64"]


@pytest.fixture
def attachable_prefix(file_prefix: str, hugepages: bool) -> Iterator[str]:
    """A file prefix, of which nothing is left in the end."""
    if not hugepages:
        pytest.skip("needs hugepages")
    yield file_prefix
    shutil.rmtree(runtime_folder(file_prefix), ignore_errors=True)
    mounts = (line.split() for line in Path("/proc/mounts").read_text().splitlines())
    for folder in (Path(fields[1]) for fields in mounts if fields[2] == "hugetlbfs"):
        for page in folder.glob(f"{file_prefix}map_*"):
            page.unlink()


def ask(file_prefix: str, *commands: str) -> list[Any]:
    """What the tool answers to each of these commands."""
    done = subprocess.run(
        ["dpdk-telemetry.py", "-f", file_prefix],
        input="\n".join(commands) + "\n",
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [answer[command.partition(",")[0]] for answer, command in zip(answers, commands, strict=True)]


def captured(file_prefix: str, folder: Path, which: str) -> list[bytes]:
    """At least so many frames on port 0 that a filter lets pass, as the tool captures them: it ends with a burst."""
    path = folder / "captured.pcapng"
    # The tool writes over a file that is there, but does not cut it.
    path.unlink(missing_ok=True)
    options = ["-i", "net_pcap0", "-f", which, "-c", str(CAPTURED), "-q", "-w", str(path)]
    completed("dumpcap", ["dpdk-dumpcap", f"--file-prefix={file_prefix}", *options], folder, TIMEOUT_S)
    with path.open("rb") as file:
        return [bytes(frame) for _, frame in dpkt.pcapng.Reader(file)]


def test_a_forwarder_reports_what_its_ports_are(
    forwarder_program: Program, tmp_path: Path, file_prefix: str, hugepages: bool
) -> None:
    eal = EalOptions(0, file_prefix, ("net_ring0", "net_null0"), hugepages)
    with Forwarder(forwarder_program, eal, ["-p", "3", "-q", "2", "--rxd", "256"], tmp_path, "dut") as forwarder:
        start = forwarder.start()
        forwarder.stop()
    assert [one.lcore for one in start.lcores] == [0]
    for port, driver in zip(start.ports, ("net_ring", "net_null"), strict=True):
        assert (port.queues, port.rxd, port.txd) == (1, 256, 1024)
        assert (port.device.driver, port.device.mtu, port.device.link_mbps) == (driver, 1500, 10000)
        # Neither driver reports these.
        assert {port.device.firmware, port.device.rx_offloads, port.device.tx_offloads} == {None}


@pytest.mark.twins
def test_frames_and_counters_of_a_running_forwarder(
    forwarder_program: Program, tmp_path: Path, attachable_prefix: str, need_tools: Callable[..., None]
) -> None:
    """The capture begins and ends while frames go at full speed, several times."""
    need_tools("dpdk-dumpcap", "dpdk-telemetry.py")
    frames = [bytes([0x10, *([number] * (59 + 40 * number))]) for number in range(30)]
    # The tool opens the device too, and gets its path in 64 bytes: it must be short.
    with scratch_folder() as folder:
        file = folder / "in"
        with file.open("wb") as out:
            writer = dpkt.pcap.Writer(out)
            for frame in frames:
                writer.writepkt(frame, ts=0)
        eal = AttachableEal(0, attachable_prefix, (f"net_pcap0,rx_pcap={file},infinite_rx=1",), hugepages=True)
        observe(forwarder_program, eal, tmp_path, frames)


def observe(program: Program, eal: EalOptions, tmp_path: Path, frames: list[bytes]) -> None:
    """Runs the forwarder on a port that these frames come to, without end."""
    with Forwarder(program, eal, ["-p", "1", "--capture"], tmp_path, "dut") as forwarder:
        start = forwarder.start()
        # The counters come up to 100 µs after the frames.
        forwarder.wait_for_received(1, TIMEOUT_S)
        ours, ports, device_stats, later = ask(
            eal.file_prefix, "/l2fwd/stats", "/ethdev/list", "/ethdev/stats,0", "/l2fwd/stats"
        )
        exported = read_program("one", runtime_folder(eal.file_prefix) / "dpdk_telemetry.v2")
        received = captured(eal.file_prefix, tmp_path, "ether[0] == 0x10")
        sent = captured(eal.file_prefix, tmp_path, "ether dst 02:00:00:00:00:00")
        both = captured(eal.file_prefix, tmp_path, "len > 0")
        final = forwarder.stop()
    mac = bytes.fromhex(start.ports[0].mac.replace(":", ""))
    rewritten = [bytes([2, 0, 0, 0, 0, 0]) + mac + frame[12:] for frame in frames]
    assert min(len(received), len(sent), len(both)) >= CAPTURED
    assert set(received) == set(frames)
    assert set(sent) == set(rewritten)
    assert set(both) <= set(frames + rewritten)
    # In the order in which they go round: each is followed by the next, but where the tool was too slow for some.
    first = frames.index(received[0])
    assert received[:4] == [frames[(first + number) % len(frames)] for number in range(4)]

    counters = {"rx_packets", "tx_packets", "tx_dropped", "rx_short", "rx_polls", "rx_empty_polls"}
    assert ports == [0]
    assert set(ours["ports"]) == {"0"}
    assert set(ours["ports"]["0"]) == counters
    assert set(ours["total"]) == counters | {"in_flight"}
    # The device counts as frames come, the forwarder publishes every 100 µs.
    assert 0 < ours["total"]["rx_packets"] <= device_stats["ipackets"]
    assert ours["total"]["rx_packets"] <= later["total"]["rx_packets"] <= final.total.rx_packets
    assert ours["ports"]["0"]["rx_packets"] == ours["total"]["rx_packets"]
    assert final.balanced
    values = {(sample.name, *sample.labels[1:]): sample.value for sample in exported}
    # A forwarder has no sockets.
    wanted = {one.name for one in DEFINITIONS if not one.name.startswith("dpdk_sockets_")}
    assert {name for name, *_ in values} == wanted
    assert later["total"]["rx_packets"] <= values["l2fwd_rx_packets_total", "0"] <= final.total.rx_packets


def test_nobody_could_capture(forwarder_program: Program, tmp_path: Path, file_prefix: str, hugepages: bool) -> None:
    """Neither without hugepages nor with those that no other process can map."""
    eal = EalOptions(0, file_prefix, ("net_null0",), hugepages)
    argv = [str(forwarder_program.path), *eal.argv(), "--", "-p1", "--capture"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == (
        "l2fwd: packets cannot be captured: no other process can attach: "
        "leave out --no-huge, --no-shconf and --in-memory"
    )
