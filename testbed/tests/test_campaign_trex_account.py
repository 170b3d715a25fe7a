# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a real TRex server said of its trials (trex_recorded.json.xz, from v3.08 over memif), and what becomes of it."""

from __future__ import annotations

import copy
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from testbed.campaign.devices.device import Counts
from testbed.campaign.traffic_generator import Capabilities, Pauses
from testbed.campaign.trex.account import Ran, Route, account, marked_frames, reset_account
from testbed.campaign.trex.calibration import highest_rate
from testbed.campaign.trex.latency import latency
from testbed.campaign.trex.settings import Trex
from testbed.campaign.trex.setup import TrexSetup
from testbed.campaign.trial import Place, ResetKind, ResetPlan, Stream, TrialPlan, TrialResult
from testbed.campaign.validity import judged

RECORDED = json.loads(lzma.decompress((Path(__file__).parent / "trex_recorded.json.xz").read_bytes()))
ROUTE = Route(tx_ports=[0], rx_ports=[1], virtual=True)


def told(name: str, **changes: Any) -> Ran:
    """A recorded run, with other values in place of some."""
    return Ran.model_validate(copy.deepcopy(RECORDED[name]["ran"]) | changes)


def plan(name: str, **changes: Any) -> TrialPlan:
    return TrialPlan.model_validate(RECORDED[name]["plan"] | changes)


def counted(name: str) -> tuple[Counts, Counts]:
    forwarder = RECORDED[name]["forwarder"]
    return Counts.model_validate(forwarder["before"]), Counts.model_validate(forwarder["after"])


def result(name: str, **changes: Any) -> TrialResult:
    return account(plan(name), told(name, **changes), ROUTE, *counted(name))


def test_a_trial_without_loss() -> None:
    found = judged(result("lossless"))
    assert found.valid, found.reasons
    assert found.sent == found.received == RECORDED["lossless"]["ran"]["ports"]["0"]["opackets"] > 0
    assert (found.lost, found.lost_at, found.latency) == (0, {}, None)
    assert found.duration_s == plan("lossless").duration_s
    assert found.pacing.load_uncertainty == pytest.approx(0.00015, abs=1e-5)
    assert abs(found.sent - found.plan.intended_frames) <= 0.005 * found.plan.intended_frames


def test_every_frame_carries_a_mark() -> None:
    recorded = RECORDED["lossless"]["ran"]
    assert marked_frames(told("lossless"), [1]) == recorded["ports"]["1"]["ipackets"]
    assert marked_frames(told("lossless", flow_stats={"global": {}}), [1]) is None
    # With only the latency frames marked, whatever comes counts.
    assert (
        marked_frames(told("latency", flow_stats={"74": RECORDED["latency"]["ran"]["flow_stats"]["74"]}), [1]) is None
    )


def test_frames_without_a_mark_are_foreign() -> None:
    ports = copy.deepcopy(RECORDED["lossless"]["ran"]["ports"])
    ports["1"]["ipackets"] += 3
    found = judged(result("lossless", ports=ports))
    assert (found.valid, found.lost, found.raw["checks"]["foreign"]) == (True, 0, 3)
    ports["1"]["ipackets"] += 10_000
    assert judged(result("lossless", ports=ports)).reasons == ["frames came back that were not sent: 10003"]


def test_a_queue_that_was_full_lost_frames_of_the_device_on_a_virtual_wire() -> None:
    found = judged(result("overload"))
    recorded = RECORDED["overload"]["ran"]
    assert found.sent == recorded["ports"]["0"]["opackets"] + recorded["queue_drop"]
    assert found.lost > 0
    assert sum(found.lost_at.values()) == found.lost
    assert found.lost_at.get(Place.IMISSED, 0) == recorded["queue_drop"]
    # What the forwarder could not send, TRex had not fetched.
    before, after = counted("overload")
    assert found.lost_at[Place.RECEIVER] == after.dropped - before.dropped > 0
    assert any("loss that is not the device's" in reason for reason in found.reasons)


def test_a_queue_that_was_full_on_a_nic_is_the_generators_fault() -> None:
    nic = Route(tx_ports=[0], rx_ports=[1], virtual=False)
    ran = told("lossless", queue_drop=5)
    unknown = account(plan("lossless"), ran, nic, None, None)
    assert unknown.lost_at == {Place.GENERATOR: 5}
    assert "loss that is not the device's: 5 frames at 'generator'" in judged(unknown).reasons
    assert account(plan("lossless"), ran, nic, *counted("lossless")).lost_at == {Place.GENERATOR: 5}


def test_the_device_says_where_frames_were_lost() -> None:
    before, after = (
        Counts(received=100, sent=100),
        Counts(received=1090, sent=1083, dropped=4, short=3, missed=6, no_mbufs=2),
    )
    ports = {"0": {"opackets": 1000, "ipackets": 0}, "1": {"opackets": 0, "ipackets": 983}}
    ran = told("lossless", ports=ports, flow_stats={})
    found = account(plan("lossless"), ran, ROUTE, before, after)
    places = {Place.IMISSED: 6, Place.NO_MBUFS: 2, Place.WIRE: 2, Place.DEVICE: 3}
    assert found.lost_at == places | {Place.RECEIVER: 4}
    assert found.lost == 17
    # A NIC's queue is emptied by the NIC.
    nic = Route(tx_ports=[0], rx_ports=[1], virtual=False)
    assert account(plan("lossless"), ran, nic, before, after).lost_at == places | {Place.TX_QUEUE: 4}


def test_without_the_devices_counters_what_is_lost_is_lost_there() -> None:
    ports = copy.deepcopy(RECORDED["lossless"]["ran"]["ports"])
    ports["1"]["ipackets"] -= 7
    found = account(plan("lossless"), told("lossless", ports=ports, flow_stats={}), ROUTE, None, None)
    assert found.lost_at == {Place.DEVICE: 7}
    assert "forwarder" not in found.raw


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"cut": True, "measured_s": 9.0}, "TRex did not end in time: its traffic was stopped after 9.0 s"),
        ({"measured_s": 9.0}, "wrong duration: 9.000 s instead of"),
        ({"longest_s": 2.1}, "TRex's load is not verified: it may have sent for 2.100 s instead of 2 s"),
        ({"measured_s": 1.5, "longest_s": 1.6}, "wrong duration: 1.500 s instead of"),
        ({"links_down": [1]}, "links were down: 1"),
        ({"global": {"queue_full": 12}}, "times the generator's queue was full: 12"),
    ],
)
def test_a_trial_that_does_not_count(changes: dict[str, Any], reason: str) -> None:
    reasons = judged(result("lossless", **changes)).reasons
    assert any(reason in found for found in reasons), reasons


@pytest.mark.parametrize(("share", "kept"), [(1.0, True), (0.5, False), (1.5, False)])
def test_a_reset_counts_only_if_trex_kept_its_rate(share: float, kept: bool) -> None:
    ran = told("lossless", measured_s=10.0)
    load_fps = ran.ports[0].opackets / ran.measured_s / share
    reset = ResetPlan(size=64, load_fps=load_fps, kind=ResetKind.PROCESS, patience_s=5)
    found = reset_account(reset, ran, ROUTE)
    assert found.valid is kept
    assert kept or any("TRex did not keep its rate" in reason and "--queue-drop" in reason for reason in found.reasons)


def test_the_highest_rate_is_one_at_which_trex_fetches_what_comes_back(tmp_path: Path) -> None:
    """It sends up to 1 Mpps, and fetches 100,000 frames/s."""
    asked: list[float] = []

    def run(stream: Stream, words: dict[str, Any], seconds: float, limit_s: float) -> Ran:
        asked.append(min(words["pps"], 1e6))
        sent, came = (round(rate * seconds) for rate in (asked[-1], min(asked[-1], 1e5)))
        ports = {"0": {"opackets": sent, "ipackets": 0}, "1": {"opackets": 0, "ipackets": came}}
        return told("lossless", measured_s=seconds, ports=ports)

    settings = Trex.model_validate({"kind": "trex", "warm_up_s": 2})
    fields = {"device": "it", "settings": settings, "home": tmp_path, "joined": None, "sizes": (64,), "flows": (1,)}
    setup = TrexSetup(**fields, directions=1, pauses=Pauses(), logs=tmp_path)
    able = Capabilities(generator="trex", version="1")
    found = highest_rate(setup, able, ROUTE, 64, run, [], lambda: max(0, round(2 * (asked[-1] - 1e5))))
    assert 0.9e5 < found <= 1e5


def test_latency_is_that_of_the_stamped_frames_only() -> None:
    found = judged(result("latency"))
    assert found.valid, found.reasons
    assert found.latency is not None
    stamped = RECORDED["latency"]["ran"]["flow_stats"]["74"]["rx_pkts"]["total"]
    assert 0 < found.latency.count == stamped < found.received
    values = [found.latency.min, found.latency.p50, found.latency.p99_9, found.latency.max]
    assert None not in values
    assert found.latency.p50 <= found.latency.p90 <= found.latency.p99 <= found.latency.p99_9 <= found.latency.p99_99


def test_without_a_distribution_there_are_no_percentiles() -> None:
    recorded = copy.deepcopy(RECORDED["latency"]["ran"])
    told_of = recorded["latency"]["74"]["latency"]
    del told_of["hdrh"]
    found = latency(recorded["latency"], recorded["flow_stats"])
    assert found is not None
    assert (found.avg, found.jitter) == (1000 * told_of["average"], 1000 * told_of["jitter"])
    assert (found.p50, found.p99_9) == (None, None)
    # What the server did not tell is absent.
    told_of["total_min"] = None
    assert latency(recorded["latency"], recorded["flow_stats"]).min is None


def test_two_stamped_streams_are_weighted_or_the_worse() -> None:
    one = {"latency": {"total_min": 5, "total_max": 90, "average": 10, "jitter": 1}}
    two = {"latency": {"total_min": 9, "total_max": 40, "average": 40, "jitter": 7}}
    flows = {"74": {"rx_pkts": {"total": 100}}, "75": {"rx_pkts": {"total": 300}}}
    both = latency({"global": {}, "74": one, "75": two}, flows)
    assert both is not None
    assert (both.count, both.min, both.avg, both.max, both.jitter) == (400, 5000, 32500, 90000, 7000)
    assert latency({"74": one}, {"74": {"rx_pkts": {"total": 0}}}) is None
    assert latency({"global": {}}, {}) is None
