# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Act b's judgement: which trials count, what is read from them, what is said of all together."""

from __future__ import annotations

from typing import Any

import pytest
import stand_in
from pydantic import ValidationError

from testbed.demo.summary import WireTrial
from testbed.demo.virtual_wire import faults, fill_in, loaded_window
from testbed.run import cpu_share
from testbed.run.cpu_share import CpuUsage, Waiting
from testbed.wire.forwarder import Final, Period
from testbed.wire.generator import Load, Result

LOAD = Load((0,), 64, 5.0, "0a:00:00:00:00:00", "02:00:00:00:00:00")
SENT, FORWARDED = 1000, 900


def result(**changes: Any) -> Result:
    counters = {
        "sent": SENT,
        "tx_failed": 7,
        "received": FORWARDED,
        "lost": SENT - FORWARDED,
        "duplicated": 0,
        "reordered": 0,
        "corrupted": 0,
        "wrong_mac": 0,
        "late": 0,
        "tx_pps": 200.0,
        "rx_pps": 180.0,
    }
    counters |= {key: value for key, value in changes.items() if key in counters}
    whole = {
        "type": "result",
        "size": 64,
        "rate_asked_pps": None,
        "rate_reached_pps": 200.0,
        "rate_ok": None,
        "duration_s": 5.0,
        "cpu_share": 1.0,
        "interrupted": False,
        "streams": [{"stream": 0, "tx_port": 0, "rx_port": 0, **counters, "latency_ns": None}],
        "foreign": 0,
        "probes": {"sent": 0, "received": 0},
        "total": counters,
    }
    whole |= {key: value for key, value in changes.items() if key in whole}
    return Result.model_validate(whole)


def final(rx: int = SENT, tx: int = FORWARDED, polls: int = 100, empty: int = 0, **changes: Any) -> Final:
    return Final.model_validate({**stand_in.statistics("final", 1, rx, tx, polls, empty), "balanced": True, **changes})


@pytest.mark.parametrize(
    "change", [{"duration_s": float("inf")}, {"sent": -1}, {"received": 2**64}, {"tx_pps": float("nan")}]
)
def test_numbers_that_no_program_counts_to_are_refused(change: dict[str, Any]):
    with pytest.raises(ValidationError):
        result(**change)


def period(rx: int, polls: int, empty: int) -> Period:
    return Period.model_validate(stand_in.statistics("period", 1, rx, rx, polls, empty))


def filled(found: Result, end: Final, periods: list[Period] | None = None) -> WireTrial:
    trial = WireTrial(program="l2fwd-c", language="C")
    fill_in(trial, LOAD, found, periods or [], end)
    return trial


def test_a_good_trial():
    trial = filled(result(), final())
    assert trial.valid
    assert trial.generator.tx_retries == 7
    assert trial.drops.model_dump() == {
        "wire_to_forwarder": 0,
        "forwarder_short": 0,
        "forwarder_tx_queue": 100,
        "wire_to_generator": 0,
    }


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"corrupted": 3}, "3 frames came back corrupted"),
        ({"wrong_mac": 1}, "1 frame came back with wrong MAC addresses"),
        ({"wrong_mac": None}, "the generator did not check the MAC addresses"),
        ({"duplicated": 2}, "2 frames came back twice"),
        ({"reordered": 2}, "2 frames came back out of order"),
        ({"foreign": 9}, "9 frames came back that the generator did not send (foreign)"),
        ({"interrupted": True}, "the generator was interrupted"),
        ({"duration_s": 4.8}, "the generator ran 4.80 s instead of 5 s"),
        ({"received": FORWARDED + 1}, "1 more frames came back than the forwarder sent"),
        ({"sent": SENT - 1}, "the forwarder received 1 more frames than were sent"),
    ],
)
def test_a_generator_that_saw_something_wrong(changes, reason):
    assert filled(result(**changes), final()).reasons == [reason]


def test_a_generator_that_was_held_up_is_a_remark():
    trial = filled(result(duration_s=5.2), final())
    assert trial.reasons == []
    assert "disturbed: the generator ran 5.20 s instead of 5 s" in trial.notes


def test_a_trial_without_traffic():
    nothing = result(sent=0, received=0, lost=0)
    assert filled(nothing, final(0, 0)).reasons == ["the generator sent nothing"]
    assert filled(result(received=0, lost=SENT), final(SENT, 0)).reasons == ["the forwarder sent nothing"]


def test_counters_that_do_not_balance():
    (reason,) = filled(result(), final(balanced=False)).reasons
    assert reason.startswith("the forwarder's counters do not balance: received 1000, sent 900, dropped 100")


def test_a_small_deviation_in_time_is_no_fault():
    assert filled(result(duration_s=5.05), final()).valid
    assert faults(LOAD, result(), final(), filled(result(), final()).drops) == []


def test_the_burst_average_is_taken_under_load_only():
    # received, polls, empty polls: idle, begins, loaded, loaded, ends, idle.
    periods = [
        period(0, 10_000, 10_000),
        period(100, 15_000, 14_990),
        period(3_300, 15_100, 14_990),
        period(6_400, 15_200, 15_000),
        period(6_500, 20_000, 19_790),
    ]
    window = loaded_window(periods, final(6_500, 6_500, 30_000, 29_790))
    assert window.whole
    assert window.rx_burst_avg == pytest.approx((6_400 - 100) / 200)
    assert window.empty_poll_share == pytest.approx(10 / 200)


def test_a_load_too_short_for_a_whole_period_is_diluted_and_said_to_be():
    periods = [period(0, 10_000, 10_000), period(1_000, 20_000, 19_900)]
    trial = filled(result(), final(1000, 900, 30_000, 29_900), periods)
    assert trial.forwarder.rx_burst_avg == pytest.approx(0.1)
    assert any("too short for a statistics period" in note for note in trial.notes)


class Clock:
    """A process that used so much CPU time at each look."""

    def __init__(self, *readings: float | None) -> None:
        self.readings = list(readings)

    def cpu_seconds(self) -> float | None:
        return self.readings.pop(0)

    waited_seconds = cpu_seconds


def test_cpu_shares(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cpu_share.time, "monotonic", iter([100.0, 105.0]).__next__)
    usage = CpuUsage(forwarder=Clock(1.0, 5.5), generator=Clock(0.5, None))
    assert usage.shares() == {"forwarder": pytest.approx(0.9)}


@pytest.mark.parametrize(("readings", "share"), [((1.0, 2.5), 0.3), ((1.0, None), None), ((None, None), None)])
def test_the_share_of_waiting(readings: tuple[float | None, ...], share: float | None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cpu_share.time, "monotonic", iter([100.0, 105.0]).__next__)
    found = Waiting(Clock(*readings)).share()
    assert found == (None if share is None else pytest.approx(share))


def test_no_load_at_all():
    window = loaded_window([], final(0, 0, 0, 0))
    assert (window.rx_burst_avg, window.empty_poll_share, window.whole) == (0.0, 1.0, False)


def test_only_ports_that_received_count():
    two = stand_in.statistics("final", 2, 1000, 1000, 50, 0)  # port 1 polled 5 million times in vain
    assert loaded_window([], Final.model_validate({**two, "balanced": True})).rx_burst_avg == 20.0
