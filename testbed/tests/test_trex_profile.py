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
from trex_stand_in import CTRexVmInsFixHwCs, STLFlowLatencyStats, STLFlowStats, STLTXCont, STLTXSingleBurst

from testbed.campaign.trex.bridge import trex_folder
from testbed.campaign.trex.generator import PROFILE

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
    assert stream.packet.vm.checksum == "IP"
    (back,) = streams("--flows", "256", direction=1)
    assert back.packet.vm.variables[0]["min_value"] == 198 << 24 | 18 << 16


def test_tags_are_between_ethernet_and_ip(streams: Streams) -> None:
    (one,) = streams("--vlan", "100", "--size", "68")
    ethernet, tag, *rest = one.packet.pkt.layers
    assert (ethernet.fields, tag.fields, len(rest), len(one.packet.pkt)) == ({}, {"vlan": 100}, 2, 64)
    # Of two the first is the service's (802.1ad).
    (two,) = streams("--vlan", "100+200", "--size", "72", "--flows", "9")
    ethernet, service, tag, *rest = two.packet.pkt.layers
    assert (ethernet.fields, service.fields, tag.fields) == ({"type": 0x88A8}, {"vlan": 100}, {"vlan": 200})
    assert (len(rest), len(two.packet.pkt)) == (2, 68)


def test_ipv6_flows_differ_by_the_end_of_the_destination(streams: Streams) -> None:
    (stream,) = streams("--ip", "6", "--size", "84", "--flows", "1000000")
    _, ip, _, *_ = stream.packet.pkt.layers
    assert (ip.fields, len(stream.packet.pkt)) == ({"src": "2001:2::1", "dst": "2001:2:0:1::1"}, 80)
    (variable,) = stream.packet.vm.variables
    assert (variable["min_value"], variable["max_value"]) == (1, 1_000_000)
    assert stream.packet.vm.places == [{"fv_name": "dst", "pkt_offset": "IPv6.dst", "offset_fixup": 12}]
    assert stream.packet.vm.checksum == ("IPv6", "UDP", CTRexVmInsFixHwCs.L4_TYPE_UDP)


def test_a_tunnel_is_around_a_frame(streams: Streams) -> None:
    (stream,) = streams("--vxlan", "7", "--vlan", "9", "--size", "118", "--flows", "9")
    _, tag, outer, udp, vxlan, inner, ip, *_ = stream.packet.pkt.layers
    assert (tag.fields, vxlan.fields) == ({"vlan": 9}, {"vni": 7})
    assert udp.fields == {"sport": 49152, "dport": 4789, "chksum": 0}
    assert inner.fields == {"src": "02:00:00:00:02:00", "dst": "02:00:00:00:03:00"}
    assert (outer.fields, len(stream.packet.pkt)) == (ip.fields, 114)
    assert (stream.packet.vm.places[0]["pkt_offset"], stream.packet.vm.checksum) == ("IP:1.dst", "IP:1")


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


IMIX = "64+594+64x2+594+64+1518+594+64x2+594+64"


def due(all_streams: list) -> list[tuple[float, int]]:
    """When each frame is due, in seconds, and its size: streams that begin by themselves, then those behind them."""
    named = {stream.name: stream for stream in all_streams if hasattr(stream, "name")}
    found = []
    for first in all_streams:
        stream, at_s = first, 0.0
        if not getattr(first, "self_start", True):
            continue
        while stream is not None:
            at_s += stream.isg / 1e6
            found += [(at_s + n / stream.mode.pps, len(stream.packet.pkt) + 4) for n in range(stream.mode.total_pkts)]
            at_s = found[-1][0]
            stream = named.get(getattr(stream, "next", None))
    return sorted(found)


def test_a_mixture_goes_out_in_its_order_at_equal_distances(streams: Streams) -> None:
    # Two rounds and a half.
    frames = due(streams("--mix", "64x3+1280+512", "--pps", "1000", "--packets", "12"))
    assert [size for _, size in frames] == [64, 64, 64, 1280, 512] * 2 + [64, 64]
    assert [at_s for at_s, _ in frames] == pytest.approx([n / 1000 for n in range(12)])


def test_a_mixture_has_a_mark_for_each_size_and_way(streams: Streams) -> None:
    marks = {
        (way, len(stream.packet.pkt) + 4): stream.flow_stats.pg_id
        for way in (0, 1)
        for stream in streams("--mix", IMIX, "--pps", "1e6", direction=way)
    }
    assert marks == {(0, 64): 10, (0, 594): 12, (0, 1518): 14, (1, 64): 11, (1, 594): 13, (1, 1518): 15}
    endless = streams("--mix", IMIX, "--pps", "1e6", "--flow_stats", "0")
    assert {type(stream.mode) for stream in endless} == {STLTXCont}
    assert {stream.flow_stats for stream in endless} == {None}
    assert sum(stream.mode.pps for stream in endless) == pytest.approx(1e6)


def test_latency_frames_of_a_mixture_are_a_stream_of_each_size(streams: Streams) -> None:
    told = streams("--mix", IMIX, "--pps", "100", "--packets", "24", "--latency_pps", "13", "--latency_packets", "15")
    stamped = [stream for stream in told if isinstance(stream.flow_stats, STLFlowLatencyStats)]
    # Of 15 frames the first twelve are a whole round.
    assert [(len(one.packet.pkt) + 4, one.mode.total_pkts, one.flow_stats.pg_id) for one in stamped] == [
        (64, 9, 16),
        (594, 5, 18),
        (1518, 1, 20),
    ]
    assert sum(one.mode.pps for one in stamped) == pytest.approx(13)


def test_fewer_frames_than_a_mixture_has_leave_streams_out(streams: Streams) -> None:
    stamped = ("--latency_pps", "9", "--latency_packets", "1")
    told = streams("--mix", "64+594+1518", "--pps", "9", "--packets", "2", *stamped)
    assert [(len(one.packet.pkt) + 4, one.mode.total_pkts) for one in told] == [(64, 1), (594, 1), (64, 1)]


def test_the_loads_of_a_mixture_follow_each_other_without_a_pause(streams: Streams) -> None:
    told = streams("--mix", "64x3+1280+512", "--sequence", "2000:10+1000:15")
    frames = due(told)
    assert [size for _, size in frames] == [64, 64, 64, 1280, 512] * 5
    # The first frame at the lower rate comes one of its own distances behind the last at the higher one.
    times = [n / 2000 for n in range(10)] + [9 / 2000 + n / 1000 for n in range(1, 16)]
    assert [at_s for at_s, _ in frames] == pytest.approx(times)
    assert {stream.flow_stats.pg_id for stream in told} == {10, 12}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--mix", "64x0+1518"), "'64x0' is no size: give bytes such as 64, or 64x7"),
        (("--mix", "64,1518"), "'64,1518' is no size"),
        (("--mix", "64+594+1518", "--sequence", "9:3+9:4"), "numbers of frames that are multiples of 3, as mix has"),
    ],
)
def test_a_mixture_that_cannot_be_read(
    streams: Streams, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    with pytest.raises(SystemExit):
        streams(*words)
    assert message in capsys.readouterr().err
