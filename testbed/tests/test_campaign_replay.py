# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Each measurement, cut off behind any of its trials and gone on with, ends as it does undisturbed."""

from __future__ import annotations

import pytest
from campaign_models import Tape, any_model

from testbed.campaign.measurements.back_to_back import BackToBackSettings, measure_back_to_back
from testbed.campaign.measurements.forwarding_rate import ForwardingRateSettings, measure_forwarding_rate
from testbed.campaign.measurements.frame_loss import measure_frame_loss
from testbed.campaign.measurements.latency import measure_latency
from testbed.campaign.measurements.recovery import RecoverySettings, measure_recovery
from testbed.campaign.measurements.reset import measure_reset
from testbed.campaign.measurements.soak import SoakSettings, measure_soak
from testbed.campaign.measurements.throughput import measure_throughput
from testbed.campaign.presets import PRESETS
from testbed.campaign.simulated import SimulatedGenerator
from testbed.campaign.trial import Stream
from testbed.campaign.validity import Trials

STREAM = Stream(size=64, directions=2)
# Below what every model forwards.
RATE = 1e4

MEASUREMENTS = {
    "throughput": lambda trials: measure_throughput(trials, STREAM),
    "throughput-csit": lambda trials: measure_throughput(trials, STREAM, PRESETS["csit"].throughput),
    "throughput-quick": lambda trials: measure_throughput(trials, STREAM, PRESETS["quick"].throughput),
    "latency": lambda trials: measure_latency(trials, STREAM, RATE),
    "frame-loss": lambda trials: measure_frame_loss(trials, STREAM),
    "back-to-back": lambda trials: measure_back_to_back(trials, STREAM, RATE, BackToBackSettings(repeats=5)),
    "recovery": lambda trials: measure_recovery(trials, STREAM, RATE, RecoverySettings(relief_s=1)),
    "reset": lambda trials: measure_reset(trials, STREAM, RATE),
    "forwarding-rate": lambda trials: measure_forwarding_rate(trials, STREAM, ForwardingRateSettings(repeats=4)),
    "soak": lambda trials: measure_soak(trials, STREAM, RATE, SoakSettings(hours=0.2, trial_s=60)),
}


def noisy_model(number: int):
    """A device whose results differ from trial to trial, with a generator that falls short at times."""
    return any_model(number, noise=0.01).model_copy(update={"shortfalls": 0.1})


@pytest.mark.parametrize("number", [1, 7, 12])
@pytest.mark.parametrize("name", MEASUREMENTS)
def test_a_cut_at_any_place_changes_nothing(name, number):
    measure, model = MEASUREMENTS[name], noisy_model(number)
    whole = Tape(SimulatedGenerator(model))
    undisturbed = measure(Trials(whole))
    assert undisturbed.trials == len(whole.results)
    for cut in range(len(whole.results) + 1):
        # As the journal gives them back.
        recorded = [type(result).model_validate_json(result.model_dump_json()) for result in whole.results[:cut]]
        tape = Tape(SimulatedGenerator(model), recorded)
        assert measure(Trials(tape)) == undisturbed, f"cut behind trial {cut}"
        assert tape.run_for_real == len(whole.results) - cut
        assert tape.results == whole.results


def test_another_device_has_another_result():
    """Otherwise the test above could not fail."""
    one, other = (measure_throughput(Trials(SimulatedGenerator(any_model(number))), STREAM) for number in (1, 7))
    assert one != other


def test_a_result_comes_back_from_json():
    for measure in MEASUREMENTS.values():
        found = measure(Trials(Tape(SimulatedGenerator(noisy_model(1)))))
        assert type(found).model_validate_json(found.model_dump_json()) == found
