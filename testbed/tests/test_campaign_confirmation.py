# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A rate that other measurements have seen lose frames is no longer called free of loss."""

from __future__ import annotations

from pathlib import Path

import campaign_folders

from testbed.campaign.confirmation import compared, confirmed
from testbed.campaign.measurements.throughput import NO_LOSS
from testbed.campaign.scenario import Measurement
from testbed.campaign.summary import Finding, read_campaign_summary
from testbed.campaign.trial import Place, TrialPlan, TrialResult

TEXT = """\
name: confirmed
generator: {kind: simulated}
devices:
  - name: one
    model: {throughput_fps: {64: 10.0e+6}, seed: 1}
frames: {sizes: [64]}
tests: [throughput, latency]
preset: rfc2544
"""


def throughput(folder: Path) -> Finding:
    return next(one for one in read_campaign_summary(folder).findings if one.measurement is Measurement.THROUGHPUT)


def trial(load_fps: float, lost: int, valid: bool = True, size: int = 64) -> TrialResult:
    plan = TrialPlan(size=size, load_fps=load_fps, duration_s=1)
    sent = plan.intended_frames
    result = TrialResult(
        plan=plan,
        sent=sent,
        received=sent - lost,
        lost=lost,
        lost_at={Place.IMISSED: lost} if lost else {},
        offered_fps=load_fps,
        duration_s=1,
    )
    return result if valid else result.invalidated(["the generator fell short"])


def test_every_trial_at_the_rate_counts(tmp_path: Path) -> None:
    finding = throughput(campaign_folders.run_campaign(tmp_path, TEXT))
    # The search's own, and the 20 streams of latency.
    assert finding.result["at_rate"]["trials"] >= 21
    assert finding.result["at_rate"]["lossy"] == 0
    rate = finding.result["throughput_fps"]
    trials = [
        (finding.place, trial(rate, 0)),
        ("one/64/1way/latency", trial(rate, 5)),
        (finding.place.replace("throughput", "latency"), trial(rate, 5)),
        (finding.place.replace("throughput", "latency"), trial(rate, 0)),
        (finding.place, trial(1.01 * rate, 9)),
        (finding.place, trial(rate, 9, valid=False)),
        ("two" + finding.place[3:], trial(rate, 9)),
    ]
    again = confirmed(finding, trials)
    assert again.result["at_rate"] == {"trials": 3, "lossy": 1}
    assert "(1 of 3 trials at this rate lost frames)" in again.headline
    assert str(NO_LOSS.found(False, "1 of 3 trials at that rate lost frames")) in again.missing
    assert confirmed(again, trials) == again


def test_a_loss_that_differs_from_trial_to_trial_is_not_one_figure(tmp_path: Path) -> None:
    """A device whose throughput varies by 10 %, at twice its throughput and below."""
    text = TEXT.replace("seed: 1", "seed: 1, noise: 0.1").replace("throughput, latency", "throughput, frame_loss")
    folder = campaign_folders.run_campaign(tmp_path, text.replace("preset: rfc2544", "preset: quick"))
    finding = next(one for one in read_campaign_summary(folder).findings if one.measurement is Measurement.FRAME_LOSS)
    top = finding.result["points"][0]
    # The search began at the highest rate too.
    assert top["of_all"]["trials"] >= 2
    assert top["of_all"]["least_percent"] < top["of_all"]["most_percent"]
    load = top["load_fps"]
    sent = trial(load, 0).sent
    trials = [(finding.place, trial(load, round(0.024 * sent))), (finding.place, trial(load, round(0.447 * sent)))]
    trials += [(finding.place, trial(load, 0, valid=False)), ("two" + finding.place[3:], trial(load, 0))]
    again = compared(finding, trials)
    assert "(2.4 to 44.7 % in 2 trials)" in again.headline
    assert compared(again, trials) == again
    # One figure needs no range.
    assert "trials" not in compared(finding, trials[:1]).headline
