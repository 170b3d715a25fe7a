# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What each forwarder does with frames of every kind, port by port: captures in, captures out, through pcap devices."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import dpkt.pcap
import pytest

from testbed.run.eal import EalOptions, unique_file_prefix
from testbed.run.programs import Program
from testbed.wire.forwarder import Final, Forwarder, Start
from testbed.wire.frames import read_frames

pytestmark = pytest.mark.e2e

TIMEOUT_S = 60


@dataclass
class Outcome:
    """What came out of each port, and what the forwarder says of it."""

    start: Start
    final: Final
    frames: dict[int, list[bytes]]

    def mac(self, port: int) -> bytes:
        """The address of a port."""
        return next(bytes.fromhex(each.mac.replace(":", "")) for each in self.start.ports if each.port == port)


def frames_of(port: int, sizes: Sequence[int]) -> list[bytes]:
    """Frames of random bytes, of these lengths without the FCS; other ones for each port."""
    source = random.Random(f"port {port}")
    return [source.randbytes(size) for size in sizes]


def forward(
    program: Program, tmp_path: Path, inputs: Sequence[Sequence[bytes]], options: Sequence[str], hugepages: bool
) -> Outcome:
    """Runs the forwarder with one pcap device for each list of frames, until it has received them all."""
    devices = []
    for port, frames in enumerate(inputs):
        with (tmp_path / f"in{port}.pcap").open("wb") as file:
            # The usual limit would cut jumbo frames short.
            writer = dpkt.pcap.Writer(file, snaplen=262144)
            for frame in frames:
                writer.writepkt(frame, ts=0)
        devices.append(f"net_pcap{port},rx_pcap={tmp_path}/in{port}.pcap,tx_pcap={tmp_path}/out{port}.pcap")
    eal = EalOptions(0, unique_file_prefix("dut"), tuple(devices), hugepages)
    used = options[options.index("-p") + 1]
    expected = sum(len(frames) for port, frames in enumerate(inputs) if int(used, 16) >> port & 1)
    with Forwarder(program, eal, options, tmp_path, "dut") as forwarder:
        start = forwarder.start()
        forwarder.wait_for_received(expected, TIMEOUT_S)
        final = forwarder.stop()
    assert final.balanced
    assert final.total.rx_packets == expected
    outputs = {port: tmp_path / f"out{port}.pcap" for port in range(len(inputs))}
    return Outcome(start, final, {port: list(read_frames(path)) for port, path in outputs.items()})


def rewritten(frames: Sequence[bytes], outcome: Outcome, port: int) -> list[bytes]:
    """The frames as they must leave `port`."""
    return [bytes([2, 0, 0, 0, 0, port]) + outcome.mac(port) + frame[12:] for frame in frames]


EVERY_SIZE = [*range(14, 200), 508, 1020, 1276, 1500, 1514, 1515, 2048, 2049, 4000, 4097, 8996, 9000]


@pytest.mark.twins
def test_frames_of_every_size(forwarder_program: Program, tmp_path: Path, hugepages: bool) -> None:
    inputs = [frames_of(0, EVERY_SIZE), frames_of(1, EVERY_SIZE[::-1])]
    outcome = forward(forwarder_program, tmp_path, inputs, ["-p", "3", "-q", "2"], hugepages)
    assert outcome.frames[1] == rewritten(inputs[0], outcome, 1)
    assert outcome.frames[0] == rewritten(inputs[1], outcome, 0)
    assert outcome.final.total.tx_dropped == 0


@pytest.mark.parametrize("burst", ["1", "2", "31", "512"])
def test_order_is_kept_whatever_the_burst(
    forwarder_program: Program, tmp_path: Path, hugepages: bool, burst: str
) -> None:
    inputs = [frames_of(0, [60] * 5003)]
    outcome = forward(forwarder_program, tmp_path, inputs, ["-p", "1", "--burst", burst], hugepages)
    assert outcome.frames[0] == rewritten(inputs[0], outcome, 0)


def test_an_odd_port_forwards_to_itself(forwarder_program: Program, tmp_path: Path, hugepages: bool) -> None:
    inputs = [frames_of(port, [60, 61, 62]) for port in range(3)]
    outcome = forward(forwarder_program, tmp_path, inputs, ["-p", "7", "-q", "3"], hugepages)
    assert [port.peer for port in outcome.start.ports] == [1, 0, 2]
    for port, source in [(0, 1), (1, 0), (2, 2)]:
        assert outcome.frames[port] == rewritten(inputs[source], outcome, port)
    log = (tmp_path / "dut.stderr").read_text()
    assert "l2fwd: warning: odd number of ports, port 2 forwards to itself\n" in log


@pytest.mark.twins
def test_a_port_map_chooses_the_peers(forwarder_program: Program, tmp_path: Path, hugepages: bool) -> None:
    inputs = [frames_of(port, [60, 70]) for port in range(4)]
    outcome = forward(
        forwarder_program, tmp_path, inputs, ["-p", "f", "--portmap=(3,0),(1,1),(2,2)", "-q", "4"], hugepages
    )
    for port, source in [(0, 3), (1, 1), (2, 2), (3, 0)]:
        assert outcome.frames[port] == rewritten(inputs[source], outcome, port)


def test_ports_outside_the_mask_are_left_alone(forwarder_program: Program, tmp_path: Path, hugepages: bool) -> None:
    inputs = [frames_of(port, [60, 70]) for port in range(3)]
    outcome = forward(forwarder_program, tmp_path, inputs, ["-p", "0x5", "-q", "2"], hugepages)
    assert outcome.frames[0] == rewritten(inputs[2], outcome, 0)
    assert outcome.frames[1] == []
    assert outcome.frames[2] == rewritten(inputs[0], outcome, 2)


@pytest.mark.twins
def test_mac_updating_can_be_turned_off(forwarder_program: Program, tmp_path: Path, hugepages: bool) -> None:
    inputs = [frames_of(0, [60, 1514, 9000])]
    outcome = forward(forwarder_program, tmp_path, inputs, ["-p", "1", "--no-mac-updating"], hugepages)
    assert outcome.frames[0] == inputs[0]


@pytest.mark.parametrize("options", [[], ["--no-mac-updating"]], ids=["rewriting", "not rewriting"])
def test_runts_are_counted_and_dropped(
    forwarder_program: Program, tmp_path: Path, hugepages: bool, options: list[str]
) -> None:
    inputs = [frames_of(0, [1, 60, 13, 12, 14, 5, 6, 7, 64, 13])]
    outcome = forward(forwarder_program, tmp_path, inputs, ["-p", "1", *options], hugepages)
    kept = [frame for frame in inputs[0] if len(frame) >= 14]
    assert outcome.frames[0] == (kept if options else rewritten(kept, outcome, 0))
    assert outcome.final.total.rx_short == 7
    assert outcome.final.total.tx_packets == 3


@pytest.mark.twins
def test_the_statistics_add_up(forwarder_program: Program, tmp_path: Path, hugepages: bool) -> None:
    inputs = [frames_of(0, [60] * 100), frames_of(1, [60] * 37)]
    outcome = forward(forwarder_program, tmp_path, inputs, ["-p", "3", "-q", "2"], hugepages)
    first, second = outcome.final.ports
    assert (first.rx_packets, first.tx_packets) == (100, 37)
    assert (second.rx_packets, second.tx_packets) == (37, 100)
    total = outcome.final.total
    assert (total.rx_packets, total.tx_packets, total.in_flight) == (137, 137, 0)
    assert total.rx_polls > total.rx_empty_polls > 0
    assert first.model_extra is not None
    assert first.model_extra["device"]["ipackets"] == 100
    assert first.model_extra["device"]["opackets"] == 37
