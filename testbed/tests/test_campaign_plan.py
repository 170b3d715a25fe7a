# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a campaign is expected to take is what it takes on the simulated device."""

from __future__ import annotations

import contextlib
import io

import pytest
from campaign_models import Tape, any_model
from rich.console import Console

from testbed.campaign.expected_trials import NOTHING, Estimate, estimate
from testbed.campaign.measurements.back_to_back import measure_back_to_back
from testbed.campaign.measurements.forwarding_rate import measure_forwarding_rate
from testbed.campaign.measurements.frame_loss import measure_frame_loss
from testbed.campaign.measurements.latency import measure_latency
from testbed.campaign.measurements.recovery import measure_recovery
from testbed.campaign.measurements.soak import measure_soak
from testbed.campaign.measurements.throughput import measure_throughput
from testbed.campaign.presets import PRESETS
from testbed.campaign.scenario import RFC_MEASUREMENTS, Measurement, Scenario
from testbed.campaign.simulated import DeviceModel, SimulatedGenerator
from testbed.campaign.sizes import RFC_SIZES
from testbed.campaign.timeplan import print_plan
from testbed.campaign.traffic_generator import Capabilities, GeneratorError
from testbed.campaign.trial import Stream, line_rate_fps
from testbed.campaign.validity import NothingToMeasure, Trials

SMALL = Stream(size=64)
MODEL = DeviceModel(throughput_fps={64: 9e6}, recovery_s=0.5)


def expected(measurement: Measurement, preset: str = "rfc2544", **options) -> Estimate:
    generator = SimulatedGenerator(MODEL, PRESETS[preset].pauses)
    capabilities = generator.capabilities().model_copy(update=options.pop("capabilities", {}))
    return estimate(measurement, SMALL, PRESETS[preset], capabilities, **options)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    ("measurement", "measure"),
    [
        (Measurement.LATENCY, lambda trials, s: measure_latency(trials, SMALL, 9e6, s.latency)),
        (Measurement.RECOVERY, lambda trials, s: measure_recovery(trials, SMALL, 9e6, s.recovery)),
        (Measurement.FORWARDING_RATE, lambda trials, s: measure_forwarding_rate(trials, SMALL, s.forwarding_rate)),
        (Measurement.SOAK, lambda trials, s: measure_soak(trials, SMALL, 9e6, s.soak)),
    ],
)
def test_what_no_device_changes_is_known_exactly(measurement, measure, preset):
    found = expected(measurement, preset)
    generator = SimulatedGenerator(MODEL, PRESETS[preset].pauses)
    result = measure(Trials(generator), PRESETS[preset])
    assert found.trials.exact
    assert found.seconds.exact
    assert found.trials.expected == result.trials
    assert found.seconds.expected == pytest.approx(generator.clock_s)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    ("measurement", "measure", "models"),
    [
        (Measurement.THROUGHPUT, lambda trials, rate, s: measure_throughput(trials, SMALL, s.throughput), 200),
        (Measurement.FRAME_LOSS, lambda trials, rate, s: measure_frame_loss(trials, SMALL, s.frame_loss), 200),
        (
            Measurement.BACK_TO_BACK,
            lambda trials, rate, s: measure_back_to_back(trials, SMALL, rate, s.back_to_back),
            20,
        ),
    ],
)
def test_searches_stay_within_their_bounds_for_any_device(measurement, measure, models, preset):
    settings = PRESETS[preset]
    for number in range(models):
        model = any_model(number)
        generator = SimulatedGenerator(model, settings.pauses)
        result = measure(Trials(generator), model.throughput(64), settings)
        bounds = estimate(measurement, SMALL, settings, generator.capabilities())
        assert bounds.trials.least <= result.trials <= bounds.trials.most, f"model {number}"
        assert bounds.seconds.least - 1 <= generator.clock_s <= bounds.seconds.most + 1, f"model {number}"


def test_a_known_throughput_makes_the_loss_curve_exact():
    found = expected(Measurement.FRAME_LOSS, throughput_fps=0.55 * line_rate_fps(64, 25e9))
    # 100 % to 60 % with loss, 50 % and 40 % without.
    assert (found.trials.least, found.trials.most) == (7, 7)


def test_each_trial_takes_the_generator_s_own_time_too():
    without = expected(Measurement.LATENCY)
    with_overhead = expected(Measurement.LATENCY, capabilities={"overhead_s": 3.0})
    assert with_overhead.seconds.expected == without.seconds.expected + (20 + 3 * 3) * 3
    assert with_overhead.rfc_s == without.rfc_s


def test_what_the_generator_cannot_do_takes_no_time():
    nothing = expected(Measurement.LATENCY, capabilities={"latency": False})
    assert nothing == NOTHING.model_copy(update={"why_not": ("the generator 'simulated' does not measure latency",)})
    assert expected(Measurement.RESET, capabilities={"resets": []}).trials == NOTHING.trials
    assert (nothing + nothing).why_not == nothing.why_not


def test_without_a_highest_rate_nothing_is_expected():
    with pytest.raises(GeneratorError, match="highest rate with 64 bytes is not known"):
        estimate(Measurement.LATENCY, SMALL, PRESETS["quick"], Capabilities(generator="g", version="1", latency=True))


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.9, 1.0])
def test_the_full_campaign_takes_a_tenth_longer_than_the_rfc_s_own_trials_at_most(share):
    """Two forwarders, seven sizes, sections 26.1 to 26.6; run to the end on the simulated device, not only expected."""
    settings = PRESETS["rfc2544"]
    whole, ran_s, trials = NOTHING, 0.0, 0
    for collapse in (0.0, 0.1):
        able = {size: share * line_rate_fps(size, 25e9) for size in RFC_SIZES}
        generator = SimulatedGenerator(DeviceModel(throughput_fps=able, collapse=collapse))
        tape = Tape(generator)
        for size in RFC_SIZES:
            stream = Stream(size=size)
            for measurement in RFC_MEASUREMENTS:
                if measurement is Measurement.RESET:
                    # Its length is the device's, whatever the RFC says.
                    continue
                whole += estimate(measurement, stream, settings, generator.capabilities(), able[size])
            rate = measure_throughput(Trials(tape), stream).throughput_fps
            measure_latency(Trials(tape), stream, rate)
            measure_frame_loss(Trials(tape), stream)
            with contextlib.suppress(NothingToMeasure):
                measure_back_to_back(Trials(tape), stream, rate)
            measure_recovery(Trials(tape), stream, rate)
        ran_s += generator.clock_s
        trials += len(tape.results)
    assert ran_s <= 1.1 * whole.rfc_s
    assert whole.beyond_rfc <= 0.1
    assert whole.trials.least <= trials <= whole.trials.most
    assert whole.seconds.least <= ran_s <= whole.seconds.most


def told(generator: dict, **frames: list[int]) -> str:
    """What `./x testbed plan` says."""
    scenario = Scenario.model_validate(
        {
            "name": "s",
            "generator": {"kind": "trex", "line_rate_bps": 1e9} | generator,
            "devices": [{"name": "l2fwd-c"}],
            "frames": {"sizes": [64]} | frames,
            "preset": "quick",
        }
    )
    return planned(scenario)


def planned(scenario: Scenario) -> str:
    """What `./x testbed plan` says of a scenario."""
    console = Console(file=io.StringIO(), width=200)
    print_plan(scenario, console)
    return console.file.getvalue()


def memif(role: str) -> dict:
    return {"forwarder": {"lcore": 1, "vdevs": [f"net_memif{port},role={role},id={port}" for port in (0, 1)]}}


@pytest.mark.parametrize(
    ("generator", "frames", "said"),
    [
        ({}, {}, "reset, 1 times skipped: the device is not started by the testbed"),
        ({"flow_stats": False}, {}, "recovery, 1 times skipped: flow_stats is false"),
        (memif("server"), {}, "reset, 1 times skipped: the device is the server of a memif wire"),
        (
            memif("client"),
            {"sizes": [64, 1518]},
            "latency, 1 times skipped: trex has latency only with frames of up to",
        ),
        (memif("client"), {"sizes": [1518], "flows": [9]}, "throughput, 1 times skipped: trex has flows only"),
    ],
)
def test_the_plan_says_what_trex_cannot_do_and_why(generator: dict, frames: dict, said: str) -> None:
    assert said in told(generator, **frames)


def test_the_plan_has_the_kinds_of_reset_that_the_device_can_do() -> None:
    """Each after a load of its own, twice."""
    told = {"name": "s", "generator": {"kind": "embedded"}, "frames": {"sizes": [64]}, "preset": "quick"}
    both = Scenario.model_validate(told | {"devices": [{"name": "l2fwd-c"}]})
    assert "reset, 1 times: 8 trials" in planned(both)
    assert "reset, 1 times: 4 trials" in planned(both.changed(settings={"reset": {"kinds": ["port"]}}))
    neither = both.changed(devices=[{"name": "mine", "command": ["l2fwd"]}])
    assert "reset, 1 times skipped: the device reports no counters" in planned(neither)
    process = both.changed(devices=[{"name": "testpmd", "program": "testpmd"}])
    assert "reset, 1 times: 4 trials" in planned(process)


def test_the_plan_counts_what_trex_can_do() -> None:
    plan = told(memif("client"))
    assert "skipped" not in plan
    assert "recovery, 1 times: 2 trials" in plan
    assert "reset, 1 times: 4 trials" in plan
