# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The stream profile: which streams it gives for which tunables."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from types import ModuleType

import pytest
import trex_stand_in
from trex_stand_in import STLFlowLatencyStats, STLFlowStats, STLTXCont, STLTXSingleBurst

from testbed.campaign.trex import PROFILE
from testbed.campaign.trex_bridge import trex_folder

Streams = Callable[..., list]


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> Streams:
    """The profile's streams for tunables, as TRex asks for them."""
    for name in ("trex", "trex.stl"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "trex.stl.api", trex_stand_in)
    module = runpy.run_path(str(trex_folder() / PROFILE))

    def ask(*tunables: str, port_id: int = 0, direction: int = 0) -> list:
        return module["register"]().get_streams(port_id=port_id, direction=direction, tunables=list(tunables))

    return ask


def test_without_tunables_it_is_one_marked_stream(streams: Streams) -> None:
    (stream,) = streams()
    assert len(stream.packet.pkt) == 60
    assert isinstance(stream.mode, STLTXCont)
    assert isinstance(stream.flow_stats, STLFlowStats)
    assert stream.packet.vm is None


def test_each_port_has_its_own_mark(streams: Streams) -> None:
    marks = {stream.flow_stats.pg_id for port in (0, 1) for stream in streams("--latency_pps", "9", port_id=port)}
    assert len(marks) == 4


def test_latency_frames_are_a_stream_of_their_own(streams: Streams) -> None:
    plain, stamped = streams("--pps", "1000", "--latency_pps", "10", "--packets", "5", "--size", "1518")
    assert isinstance(plain.mode, STLTXSingleBurst)
    assert (plain.mode.total_pkts, plain.mode.pps) == (5, 1000)
    assert isinstance(stamped.flow_stats, STLFlowLatencyStats)
    assert (stamped.mode.pps, len(stamped.packet.pkt)) == (10, 1514)
    (only,) = streams("--pps", "0", "--latency_pps", "10", "--latency_packets", "1")
    assert only.mode.total_pkts == 1


def test_flows_differ_by_the_destination(streams: Streams) -> None:
    (stream,) = streams("--flows", "256", "--flow_stats", "0")
    assert stream.flow_stats is None
    (variable,) = stream.packet.vm.variables
    assert variable["max_value"] - variable["min_value"] == 255
    # 198.19.0.0, of the networks for benchmarks.
    assert variable["min_value"] == 198 << 24 | 19 << 16
    assert stream.packet.vm.places[0]["pkt_offset"] == "IP.dst"
    assert stream.packet.vm.checksum
    (back,) = streams("--flows", "256", direction=1)
    assert back.packet.vm.variables[0]["min_value"] == 198 << 24 | 18 << 16


def test_the_article_changes_addresses_and_ports(streams: Streams) -> None:
    (stream,) = streams("--flows", "1000", "--vary", "article")
    assert [place["pkt_offset"] for place in stream.packet.vm.places] == ["IP.src", "IP.dst", "UDP.sport", "UDP.dport"]
    ports = stream.packet.vm.variables[2]
    assert (ports["min_value"], ports["max_value"], ports["size"]) == (10000, 10999, 2)


def test_a_sequence_goes_one_behind_the_other_with_a_mark_each(streams: Streams) -> None:
    sequence = ("--sequence", "20000.0:100+10000.0:50+10000.0:7")
    first, second, third = streams(*sequence)
    assert (first.next, second.next, third.next) == ("part1", "part2", None)
    assert (first.self_start, second.self_start, third.self_start) == (True, False, False)
    assert [(stream.mode.pps, stream.mode.total_pkts) for stream in (first, second, third)] == [
        (20_000, 100),
        (10_000, 50),
        (10_000, 7),
    ]
    # Each goes on in its own time, not at once: microseconds.
    assert [stream.isg for stream in (first, second, third)] == [0, 100, 100]
    both = [stream.flow_stats.pg_id for direction in (0, 1) for stream in streams(*sequence, direction=direction)]
    assert len(set(both)) == 6
