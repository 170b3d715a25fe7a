# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Act a's judgement: which trials count, what is read from them, what is said of all together."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import stand_in
from pydantic import ValidationError

from testbed import overload
from testbed.forwarder import Final, Period
from testbed.generator import Load, Result
from testbed.lcores import LcorePlan
from testbed.overload import CpuUsage, OverloadPlan, Waiting, conclude, faults, fill_in, loaded_window, new_act
from testbed.results import OverloadTrial, Status

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


def filled(found: Result, end: Final, periods: list[Period] | None = None) -> OverloadTrial:
    trial = OverloadTrial(program="l2fwd-c", language="C", round=1)
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
    assert trial.forwarded_pps == FORWARDED / 5.0


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"corrupted": 3}, "3 frames came back corrupted"),
        ({"wrong_mac": 1}, "1 frame came back with wrong MAC addresses"),
        ({"wrong_mac": None}, "the generator did not check the MAC addresses"),
        ({"duplicated": 2}, "2 frames came back twice"),
        ({"reordered": 2}, "2 frames came back out of order"),
        ({"foreign": 9}, "9 frames came back that the generator had not sent (foreign)"),
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
    monkeypatch.setattr(overload.time, "monotonic", iter([100.0, 105.0]).__next__)
    usage = CpuUsage(forwarder=Clock(1.0, 5.5), generator=Clock(0.5, None))
    assert usage.shares() == {"forwarder": pytest.approx(0.9)}


@pytest.mark.parametrize(("readings", "share"), [((1.0, 2.5), 0.3), ((1.0, None), None), ((None, None), None)])
def test_the_share_of_waiting(readings: tuple[float | None, ...], share: float | None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(overload.time, "monotonic", iter([100.0, 105.0]).__next__)
    found = Waiting(Clock(*readings)).share()
    assert found == (None if share is None else pytest.approx(share))


@pytest.mark.parametrize(("share", "disturbed"), [(0.99, False), (0.5, True)])
def test_a_trial_held_up_by_other_programs_says_so(share: float, disturbed: bool):
    trial = OverloadTrial(program="l2fwd-c", language="C", round=1, cpu_share={"generator": 1.0, "forwarder": share})
    fill_in(trial, LOAD, result(), [], final())
    assert any(note.startswith("disturbed") for note in trial.notes) is disturbed
    assert trial.valid


def test_no_load_at_all():
    window = loaded_window([], final(0, 0, 0, 0))
    assert (window.rx_burst_avg, window.empty_poll_share, window.whole) == (0.0, 1.0, False)


def test_only_ports_that_received_count():
    two = stand_in.statistics("final", 2, 1000, 1000, 50, 0)  # port 1 polled 5 million times in vain
    assert loaded_window([], Final.model_validate({**two, "balanced": True})).rx_burst_avg == 20.0


def act_of(trials: list[OverloadTrial], rounds: int = 3):
    act = new_act(OverloadPlan(64, 5.0, rounds, 1, True, LcorePlan(0, 1)))
    act.trials = trials
    conclude(act)
    return act


def trial_of(language: str, number: int, tx: int) -> OverloadTrial:
    trial = copy.deepcopy(filled(result(sent=tx + 100, received=tx, lost=100), final(tx + 100, tx)))
    trial.program = {"C": "l2fwd-c", "Rust": "l2fwd-rs"}[language]
    trial.language, trial.round, trial.reasons = language, number, []
    return trial


def test_the_ratio_is_paired_by_round_and_skips_invalid_ones():
    trials = [trial_of("C", n, 500 + n) for n in (1, 2, 3)] + [trial_of("Rust", n, 2 * (500 + n)) for n in (1, 2, 3)]
    trials[1].reasons = ["2 frames came back corrupted"]
    act = act_of(trials)
    assert act.ratio.rounds == [1, 3]
    assert act.ratio.ratios == pytest.approx([2.0, 2.0])
    assert act.status is Status.FAILED
    assert act.reason == "1 of 6 trials invalid"
    assert [(row.language, row.rounds) for row in act.rows] == [("C", 2), ("Rust", 3)]
    assert act.rows[0].forwarder_tx.median == 502


def test_an_unfinished_act_is_interrupted():
    act = act_of([trial_of("C", 1, 500)])
    assert (act.status, act.reason, act.ratio) == (Status.INTERRUPTED, "1 of 6 trials done", None)


def test_a_finished_act_passes():
    act = act_of([trial_of(language, n, 500) for n in (1, 2, 3) for language in ("C", "Rust")])
    assert (act.status, act.reason) == (Status.PASSED, None)
