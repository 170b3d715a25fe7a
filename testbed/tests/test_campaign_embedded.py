# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The embedded generator behind the interface of all generators: its accounts, its faults, and real trials."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from embedded_stand_ins import SOME_GAPS, setup

from testbed.campaign.devices.device import Counts
from testbed.campaign.devices.l2fwd import gaps_since
from testbed.campaign.embedded.account import account, latency, reset_account, step_account
from testbed.campaign.embedded.baseline import baseline_load
from testbed.campaign.embedded.generator import EmbeddedGenerator
from testbed.campaign.headers import Headers
from testbed.campaign.traffic_generator import GeneratorError, NotCapable, Pauses
from testbed.campaign.trial import (
    GAP_LIMITS_S,
    Gaps,
    Pacing,
    Place,
    ResetKind,
    ResetPlan,
    StepPlan,
    TrialPlan,
)
from testbed.campaign.validity import Trials, judged
from testbed.run.cpu_share import Waiting
from testbed.run.programs import Program
from testbed.wire.forwarder import Period, TotalCounters
from testbed.wire.generator import Latency, Load, Result, Steps

PLAN = TrialPlan(size=64, load_fps=1000, duration_s=1, latency=True)
NONE_BEFORE = Counts()
# For real trials, none of which is published.
SHORT = Pauses(before_s=0, residual_s=0.5, settle_s=0)


def told(**changes: object) -> Result:
    """A generator's result: of 1,000 frames 10 were not taken, and 5 more are lost."""
    counters = {
        "sent": 990,
        "tx_failed": 10,
        "received": 985,
        "lost": 5,
        "duplicated": 0,
        "reordered": 0,
        "corrupted": 0,
        "wrong_mac": 0,
        "late": 0,
        "tx_pps": 990.0,
        "rx_pps": 985.0,
    }
    counters |= {key: value for key, value in changes.items() if key in counters}
    stream = {"stream": 0, "tx_port": 0, "rx_port": 0, "outage_s": changes.get("outage_s"), **counters}
    stream["latency_ns"] = {"min": 1.0, "avg": 2.0, "max": 9.0, "p50": 2.0, "p99_9": 8.0, "count": 985}
    return Result.model_validate(
        {
            "type": "result",
            "size": 64,
            "rate_asked_pps": 1000.0,
            "rate_reached_pps": 990.0,
            "rate_ok": False,
            "duration_s": changes.get("duration_s", 1.0),
            "cpu_share": 1.0,
            "interrupted": changes.get("interrupted", False),
            "streams": [stream],
            "lateness": {"worst_lag_s": 0.0002, "caught_up": 400},
            "gaps": changes.get("gaps"),
            "received_under_load": 980,
            "foreign": changes.get("foreign", 0),
            "probes": {"sent": 3, "received": 2},
            "total": counters,
        }
    )


# It got 990 and the 3 probes, one of which it dropped with 4 of the frames; one frame was short.
AFTER = Counts(received=993, sent=987, dropped=5, short=1)


def test_each_lost_frame_has_its_place() -> None:
    result = account(PLAN, told(), NONE_BEFORE, AFTER, {"steal_percent": 0.5})
    assert (result.sent, result.received, result.lost) == (1000, 985, 15)
    # The probe that was dropped is no loss of the trial. On the virtual wire the generator empties the queue that was
    # full when the forwarder wanted to send.
    assert result.lost_at == {Place.IMISSED: 10, Place.RECEIVER: 4, Place.DEVICE: 1}
    assert judged(result).reasons == ["loss that is not the device's: 4 frames at 'receiver'"]
    assert (result.pacing, result.received_under_load) == (Pacing(worst_lag_s=0.0002, caught_up=400), 980)
    assert (result.offered_fps, result.duration_s) == (1000, 1)
    assert result.raw["steal_percent"] == 0.5
    assert result.raw["checks"]["foreign"] == 0
    assert result.latency is not None
    assert (result.latency.avg, result.latency.p99_9, result.latency.p90) == (2.0, 8.0, None)


def test_the_gaps_of_both_programs_are_those_of_the_trial() -> None:
    """2 ms are more than 1,024 frames at a million a second; the forwarder says nothing before its first statistics."""
    plan = PLAN.model_copy(update={"load_fps": 1e6})
    after = AFTER.model_copy(update={"gaps": Gaps(longest_s=0.003, above_1ms=1)})
    result = account(plan, told(gaps=SOME_GAPS), NONE_BEFORE, after, {})
    assert (result.generator_gaps, result.device_gaps) == (Gaps(**SOME_GAPS), after.gaps)
    assert result.ring_frames == 1024
    reasons = [reason for reason in judged(result).reasons if "disturbed" in reason]
    assert [reason.split(",")[0] for reason in reasons] == [
        "disturbed: the generator paused for 2 ms",
        "disturbed: the device paused for 3 ms",
    ]
    deep = account(plan, told(gaps=SOME_GAPS), NONE_BEFORE, after, {}, ring_frames=32_768)
    assert not any("disturbed" in reason for reason in judged(deep).reasons)
    # The queues of a veth pair are the kernel's.
    assert account(plan, told(gaps=SOME_GAPS), NONE_BEFORE, after, {}, ring_frames=None).ring_frames is None
    stepped_gaps = step_account(STEP, stepped().model_copy(update={"gaps": None}), {}, after)
    assert (stepped_gaps.generator_gaps, stepped_gaps.device_gaps) == (None, after.gaps)


def statistics(time_s: float, longest_s: float, above: int) -> Period:
    zeros = dict.fromkeys([*TotalCounters.model_fields], 0)
    gaps = {"longest_s": longest_s, **dict.fromkeys(GAP_LIMITS_S, above)}
    return Period.model_validate({"type": "period", "time_s": time_s, "ports": [], "total": {**zeros, "gaps": gaps}})


def test_a_trials_gaps_are_those_of_all_statistics_since_the_last() -> None:
    """The longest one is of the time since the line before, the others are since the start."""
    before, first, last = statistics(1, 0.5, 3), statistics(2, 0.02, 5), statistics(3, 0.001, 6)
    found = gaps_since(before, [first, last])
    assert found == Gaps(longest_s=0.02, above_100us=3, above_1ms=3, above_3ms=3, above_10ms=3)
    assert gaps_since(None, [before]) == Gaps(longest_s=0.5, above_100us=3, above_1ms=3, above_3ms=3, above_10ms=3)
    silent = last.model_copy(update={"total": last.total.model_copy(update={"gaps": None})})
    assert gaps_since(before, [silent]) is None


def test_through_the_kernel_a_full_queue_of_the_device_is_its_own() -> None:
    result = account(PLAN, told(), NONE_BEFORE, AFTER, {}, ring_frames=None)
    assert result.lost_at == {Place.WIRE: 10, Place.TX_QUEUE: 4, Place.DEVICE: 1}
    assert judged(result).valid


def test_foreign_frames_that_the_device_counted_are_no_loss() -> None:
    """Of three, one came from the device itself, and two were forwarded."""
    counts = AFTER.model_copy(update={"received": AFTER.received + 2, "sent": AFTER.sent + 3})
    result = account(PLAN, told(foreign=3), NONE_BEFORE, counts, {})
    assert result.lost_at == account(PLAN, told(), NONE_BEFORE, AFTER, {}).lost_at
    # Of 1,000 frames, 3 are more than a share that could be somebody else's.
    assert "frames came back that were not sent: 3" in judged(result).reasons


def test_only_what_happened_since_the_last_trial_counts() -> None:
    before = Counts(received=100, sent=90, dropped=8, short=2)
    after = Counts(received=1093, sent=1077, dropped=13, short=3)
    assert account(PLAN, told(), before, after, {}).lost_at == account(PLAN, told(), NONE_BEFORE, AFTER, {}).lost_at


def test_frames_that_nobody_saw_are_lost_on_the_wire_or_at_the_receiver() -> None:
    # Of the four that never came to the forwarder one is the lost probe.
    fewer = AFTER.model_copy(update={"received": 989})
    assert account(PLAN, told(), NONE_BEFORE, fewer, {}).lost_at[Place.WIRE] == 3
    more = AFTER.model_copy(update={"sent": 989})
    assert account(PLAN, told(), NONE_BEFORE, more, {}).lost_at[Place.RECEIVER] == 4 + 2
    # More came back than the forwarder sent, which what it dropped must not hide.
    less = AFTER.model_copy(update={"sent": 980})
    surplus = account(PLAN, told(), NONE_BEFORE, less, {})
    assert surplus.lost_at[Place.RECEIVER] == -7
    assert "surplus frames: 7 at 'receiver'" in judged(surplus).reasons


@pytest.mark.parametrize(
    ("changes", "in_flight", "reason"),
    [
        ({"interrupted": True}, 0, "was interrupted"),
        ({"wrong_mac": None}, 0, "did not check the MAC addresses"),
        ({}, 4, "4 frames were still in the forwarder"),
    ],
)
def test_a_trial_that_went_otherwise_is_invalid(changes: dict, in_flight: int, reason: str) -> None:
    after = AFTER.model_copy(update={"in_flight": in_flight})
    result = account(PLAN, told(**changes), NONE_BEFORE, after, {})
    assert not result.valid
    assert reason in result.reasons[0]


def test_a_device_without_counters_has_lost_what_is_missing() -> None:
    result = account(PLAN, told(wrong_mac=None), None, None, {}, macs_checked=False)
    assert judged(result).valid
    assert result.lost_at == {Place.IMISSED: 10, Place.DEVICE: 5}
    assert "forwarder" not in result.raw


def test_what_a_nic_missed_was_not_lost_on_the_wire() -> None:
    # Of the 990 and the 3 probes it saw 989, and says itself that it had no room for the others.
    missed = Counts(received=989, sent=987, dropped=2, missed=4)
    result = account(PLAN, told(), NONE_BEFORE, missed, {})
    assert result.lost_at == {Place.IMISSED: 14, Place.RECEIVER: 1}


def test_a_burst_does_not_last_as_long_as_the_loop_looks_away() -> None:
    plan = TrialPlan(size=64, load_fps=1e6, duration_s=1e-3, kind="burst", burst_frames=1000)
    assert account(plan, told(duration_s=1.03e-3), NONE_BEFORE, AFTER, {}).offered_fps == pytest.approx(1e6)
    # Longer than that is a generator that was held up.
    assert account(plan, told(duration_s=2e-3), NONE_BEFORE, AFTER, {}).offered_fps < 0.6e6


def test_latencies_of_two_directions_are_weighted_or_the_worse() -> None:
    one = Latency(min=10, avg=20, max=90, p50=20, count=100)
    two = Latency(min=5, avg=50, max=80, p50=60, count=300)
    both = latency([one, two])
    assert (both.count, both.min, both.avg, both.max, both.p50) == (400, 5, 42.5, 90, 60)
    assert both.p99 is None
    assert latency([None, Latency()]).count == 0


STEP = StepPlan(size=64, loads_fps=(1000, 500), durations_s=(1, 2))


def stepped(**changes: object) -> Result:
    loads = [
        {"duration_s": 1.0, "sent": 900, "tx_failed": 100, "lost": 40},
        {"duration_s": 2.0, "sent": 990, "tx_failed": 10, "lost": 3},
    ]
    steps = {"loads": loads, "last_loss_s": 0.25} | changes
    return told().model_copy(update={"steps": Steps.model_validate(steps)})


def test_two_loads_have_their_losses_and_the_time_of_the_last() -> None:
    result = step_account(STEP, stepped(), {})
    assert result.valid
    assert (result.sent, result.lost, result.last_loss_s) == ([1000, 1000], [140, 13], 0.25)
    assert result.pacing == Pacing(worst_lag_s=0.0002, caught_up=400)
    # The clock was looked at a little late.
    assert step_account(STEP, stepped(last_loss_s=2.001), {}).last_loss_s == 2
    assert not step_account(STEP, told(), {}).valid
    mixed = stepped()
    mixed = mixed.model_copy(update={"total": mixed.total.model_copy(update={"reordered": 2})})
    assert "another order" in step_account(STEP, mixed, {}).reasons[0]


def test_both_sides_are_recorded_as_the_programs_report_them(stand_ins: Callable[..., EmbeddedGenerator]) -> None:
    generator = stand_ins()
    found = generator.capabilities()
    ours, theirs = found.generator_side, found.device_side
    generator.close()
    assert ours is not None
    assert theirs is not None
    assert ours.lcores == [generator._setup.lcores.generator]
    # The stand-in of the generator reports no ports, that of the device neither its lcores nor its driver.
    assert (ours.ports, theirs.lcores) == ([], None)
    (port,) = theirs.ports
    assert (port.name, port.virtual, port.rx_descriptors, port.driver) == ("net_virtio_user0", True, 1024, None)


def test_the_baseline_is_that_of_the_generator_connected_to_itself() -> None:
    load = Load(
        (0, 1), 64, 60.0, "a,b", "c,d", 2.0, rate_pps=5e5, more=("--src-udp=1", "--before=2", "--bidirectional")
    )
    alone = baseline_load(load)
    assert (alone.ports, alone.rate_pps, alone.expect_src, alone.expect_dst) == ((0,), 5e5, None, None)
    assert (alone.seconds, alone.more) == (1.0, ("--src-udp=1",))


@pytest.mark.parametrize(
    ("lost", "waited", "valid"), [(1, 0.3, False), (1, 0.05, True), (0, 0.3, False), (0, 0.05, True), (1, None, True)]
)
def test_no_trial_counts_in_which_others_had_the_devices_cpu_whatever_it_lost(
    lost: int,
    waited: float | None,
    valid: bool,
    stand_ins: Callable[..., EmbeddedGenerator],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Waiting, "share", lambda self: waited)
    generator = stand_ins(generator={"sent": 1000, "tx_failed": 0, "received": 1000 - lost})
    reasons = generator.run(PLAN).reasons
    assert any("other programs took the device's CPU for 30 %" in reason for reason in reasons) is not valid
    generator.close()


def test_what_it_cannot_do_it_says(stand_ins: Callable[..., EmbeddedGenerator]) -> None:
    generator = stand_ins()
    with pytest.raises(NotCapable, match="two loads"):
        generator.step(StepPlan(size=64, loads_fps=(2, 1, 2), durations_s=(1, 1, 1)))
    with pytest.raises(NotCapable, match="l2fwd-c: nothing here resets the host"):
        generator.reset(ResetPlan(size=64, load_fps=1, kind=ResetKind.HOST, patience_s=1))
    generator.close()


PORT_RESET = ResetPlan(size=64, load_fps=1000, kind=ResetKind.PORT, patience_s=60)
# What goes on receiving, and has sent all that the generator gets.
RISING = {"every": 0.02, "rises": 1000}


def test_a_reset_of_the_ports_is_timed_by_the_frames_around_it(
    stand_ins: Callable[..., EmbeddedGenerator], tmp_path: Path
) -> None:
    wire = {"takes": 3600, "sent": 5000, "received": 4900, "tx_failed": 150, "outage_s": 0.125, "gaps": SOME_GAPS}
    generator = stand_ins(**{"l2fwd-c": RISING}, generator=wire)
    result = generator.reset(PORT_RESET)
    assert result.valid, result.reasons
    assert (result.sent, result.lost, result.gap_s) == (5150, 250, 0.125)
    assert (result.generator_gaps, result.device_gaps) == (Gaps(**SOME_GAPS), None)
    # As the device itself says; and it was not started anew.
    assert result.raw["forwarder"]["down_s"] == 0.0125
    assert len(list((tmp_path / "raw" / "l2fwd-c-1").glob("forwarder-*.command"))) == 1
    generator.close()


def test_a_reset_of_the_ports_proves_its_frames(stand_ins: Callable[..., EmbeddedGenerator]) -> None:
    wire = {"takes": 3600, "sent": 5000, "received": 4900, "tx_failed": 0, "corrupted": 3, "outage_s": 0.125}
    generator = stand_ins(**{"l2fwd-c": RISING}, generator=wire)
    assert judged(generator.reset(PORT_RESET)).reasons == ["frames came back changed: 3"]
    generator.close()


@pytest.mark.parametrize("kind", [ResetKind.PORT, ResetKind.PROCESS])
def test_only_over_a_reset_of_its_ports_the_device_goes_on_counting(kind: ResetKind) -> None:
    plan = PORT_RESET.model_copy(update={"kind": kind})
    # With the 2 probes 987 came back.
    for sent, disagrees in ((987, False), (986, kind is ResetKind.PORT)):
        after = AFTER.model_copy(update={"sent": sent})
        result = reset_account(plan, told(interrupted=True, outage_s=0.25), NONE_BEFORE, after, 0.1)
        assert (result.sent, result.lost, result.gap_s) == (1000, 15, 0.25)
        assert any("1 more frames came back than" in reason for reason in result.reasons) is disagrees


@pytest.mark.parametrize(
    ("wish", "patience_s", "reason"),
    [
        ({"not_reset": "port 0 (x): no port is reset: it is glued"}, 60, "no port is reset: it is glued"),
        ({"mute_resets": True}, 0.3, "no sign of the reset of its ports within 0.3 s"),
    ],
)
def test_a_device_that_does_not_reset_its_ports_makes_the_trial_invalid(
    stand_ins: Callable[..., EmbeddedGenerator], wish: dict, patience_s: float, reason: str
) -> None:
    generator = stand_ins(**{"l2fwd-c": RISING | wish}, generator={"takes": 3600})
    result = generator.reset(PORT_RESET.model_copy(update={"patience_s": patience_s}))
    assert any(reason in found for found in result.reasons), result.reasons
    generator.close()


def test_a_port_that_does_not_start_again_ends_the_campaign(stand_ins: Callable[..., EmbeddedGenerator]) -> None:
    breaks = "port 0 (net_x): cannot start the port: Device or resource busy"
    generator = stand_ins(**{"l2fwd-c": RISING | {"breaks": breaks}}, generator={"takes": 3600})
    with pytest.raises(GeneratorError, match=r"status 1 in the middle of the campaign(.|\n)*cannot start the port"):
        generator.reset(PORT_RESET)
    generator.close()


def test_a_generator_that_fails_makes_the_trial_invalid(
    stand_ins: Callable[..., EmbeddedGenerator], tmp_path: Path
) -> None:
    generator = stand_ins(generator={"die": "no memory for the pool"})
    result = generator.run(PLAN)
    assert not result.valid
    assert "no memory for the pool" in result.reasons[0]
    assert result.sent == 0
    # The logs of what failed are kept.
    assert list((tmp_path / "raw" / "l2fwd-c-1").glob("trial-*.stderr"))
    generator.close()


def test_a_forwarder_that_dies_ends_the_campaign(stand_ins: Callable[..., EmbeddedGenerator]) -> None:
    generator = stand_ins(**{"l2fwd-c": {"die": "port 0 is gone"}})
    with pytest.raises(GeneratorError, match="port 0 is gone"):
        generator.run(PLAN)
    generator.close()


def test_a_forwarder_that_ends_badly_is_told(stand_ins: Callable[..., EmbeddedGenerator]) -> None:
    generator = stand_ins(**{"l2fwd-c": {"every": 0.02, "status": 3}})
    generator.run(PLAN)
    with pytest.raises(GeneratorError, match="status 3"):
        generator.close()


@pytest.fixture
def real(
    tmp_path: Path, forwarder_program: Program, generator_program: Program, hugepages: bool
) -> Iterator[EmbeddedGenerator]:
    made = setup(tmp_path / "raw", forwarder_program, generator_program, hugepages)
    generator = EmbeddedGenerator(replace(made, pauses=SHORT))
    yield generator
    generator.close()


@pytest.mark.e2e
def test_real_trials_balance_and_prove_every_frame(real: EmbeddedGenerator, tmp_path: Path) -> None:
    continuous = real.run(TrialPlan(size=64, load_fps=20_000, duration_s=0.5, latency=True, flows=300))
    burst = real.run(TrialPlan(size=128, load_fps=50_000, duration_s=0.01, kind="burst", burst_frames=500))
    for result in (continuous, burst):
        # Whether it kept its rate is the machine's business, that the accounts agree is not.
        assert not any("disagree" in reason or "surplus" in reason for reason in judged(result).reasons)
        assert not any(result.raw["checks"].values())
    assert burst.sent == 500
    assert continuous.latency is not None
    assert continuous.latency.count == continuous.received
    # Connected to itself it measures its own part, and nothing without latency.
    assert continuous.baseline is not None
    assert continuous.baseline.count
    assert burst.baseline is None
    assert not list((tmp_path / "raw").glob("*/trial-*"))


@pytest.mark.e2e
@pytest.mark.parametrize("forwarder_program", ["l2fwd-rs"], indirect=True)
def test_the_rate_that_a_real_generator_keeps(real: EmbeddedGenerator) -> None:
    # On a machine that others keep busy it keeps none.
    kept, reason = 0.0, ""
    try:
        kept = real.capabilities().max_fps(64)
    except GeneratorError as error:
        reason = str(error)
    assert kept > 0 or "kept no rate" in reason


@pytest.mark.e2e
def test_real_frames_are_mixed_up_to_what_the_mtu_allows_and_go_both_ways(
    tmp_path: Path, forwarder_program: Program, generator_program: Program, hugepages: bool
) -> None:
    made = setup(tmp_path, forwarder_program, generator_program, hugepages)
    generator = EmbeddedGenerator(replace(made, sizes=("imix:2ai",), directions=2, pauses=SHORT))
    result = generator.run(TrialPlan(size="imix:2ai", load_fps=500, duration_s=0.2, directions=2))
    assert result.received > 0
    assert result.raw["generator"]["mixture"] == {"sizes": [64, 64, 9000], "mean": pytest.approx(9128 / 3)}
    assert sum(result.lost_at.values()) == result.lost
    assert not any(result.raw["checks"].values())
    generator.close()


@pytest.mark.e2e
def test_real_frames_with_more_headers_come_back_whole(
    tmp_path: Path, forwarder_program: Program, generator_program: Program, hugepages: bool
) -> None:
    """The forwarders do not look at them, and the generator finds every byte as it was."""
    headers = Headers(vlan=[100, 200], vxlan=5000, ipv6=True)
    made = setup(tmp_path, forwarder_program, generator_program, hugepages)
    generator = EmbeddedGenerator(replace(made, headers=headers, pauses=SHORT))
    result = generator.run(TrialPlan(size=headers.least_bytes, load_fps=5000, duration_s=0.1, flows=1 << 20))
    assert result.received > 0
    sent = result.raw["generator"]
    assert (sent["vlan"], sent["vxlan"], sent["ip_version"], sent["flows"]) == ([100, 200], 5000, 6, 1 << 20)
    assert sum(result.lost_at.values()) == result.lost
    assert not any(result.raw["checks"].values())
    generator.close()


@pytest.mark.e2e
def test_a_real_change_of_load_accounts_for_both(real: EmbeddedGenerator) -> None:
    result = real.step(StepPlan(size=64, loads_fps=(20_000, 10_000), durations_s=(0.5, 0.5)))
    assert len(result.sent) == len(result.lost) == 2
    assert all(0 <= lost <= sent for lost, sent in zip(result.lost, result.sent, strict=True))
    assert 0 < result.sent[1] <= 5000
    assert result.last_loss_s is not None
    assert (result.last_loss_s > 0) == (result.lost[1] > 0)


@pytest.mark.e2e
def test_real_resets_of_process_and_ports_leave_gaps(real: EmbeddedGenerator, tmp_path: Path) -> None:
    # As in a campaign, one that a busy machine has made invalid is repeated.
    tried = {kind: Trials(real) for kind in (ResetKind.PROCESS, ResetKind.PORT)}
    found = {
        kind: trials.reset(ResetPlan(size=64, load_fps=10_000, kind=kind, patience_s=30))
        for kind, trials in tried.items()
    }
    for result in found.values():
        assert result.lost < result.sent
        assert (result.gap_s or 0) > 0 or not result.lost
    assert found[ResetKind.PROCESS].lost > 0
    # It has gone on counting, every frame that came back is proven, and the forwarder says that it has sent it.
    told = found[ResetKind.PORT].raw["forwarder"]
    assert told["down_s"] > 0
    assert told["after"]["received"] > told["before"]["received"]
    real.close()
    # Another process for each reset of the process, and the last one for all of the ports.
    logs = [log.read_text() for log in tmp_path.glob("raw/*/forwarder-*.stderr")]
    resets = [log.count("l2fwd: ports reset: stopped and restarted in ") for log in logs]
    processes, ports = (trials.valid + trials.invalid for trials in tried.values())
    assert sorted(resets) == [0] * processes + [ports]
