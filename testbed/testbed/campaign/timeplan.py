# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a campaign is going to do, and how long that takes, before it begins."""

from __future__ import annotations

from datetime import timedelta

from rich.console import Console

from testbed.campaign.devices.resets import able_resets, lacking_resets
from testbed.campaign.embedded.settings import Embedded
from testbed.campaign.expected_trials import NOTHING, Estimate, Range, estimate, estimate_between_pauses
from testbed.campaign.points import Point, planned
from testbed.campaign.scenario import Measurement, Scenario, Simulated
from testbed.campaign.simulated import SimulatedGenerator
from testbed.campaign.sizes import sizes_in_words
from testbed.campaign.traffic_generator import Capabilities
from testbed.campaign.trex.abilities import abilities
from testbed.campaign.trex.settings import Trex, TrexForwarder
from testbed.command_line.console import say
from testbed.wire.veth import NO_PORT_RESET

# What the embedded generator does is known only when it runs. The lengths of searches hardly depend on the rate.
_NOMINAL_FPS = 4e6
# Starting it, its link, a probe, and the forwarder's statistics, which come once a second.
_EMBEDDED_OVERHEAD_S = 1.2
# Loading the streams into TRex, hearing of their end, and the forwarder's statistics.
_TREX_OVERHEAD_S = 1.5
# The first of these is measured again at the end.
_DRIFT_SHOWS_IN = (Measurement.THROUGHPUT, Measurement.FORWARDING_RATE)


def capabilities(scenario: Scenario, device: str) -> Capabilities:
    """What the generator will say that it can do, as far as that is known before it runs."""
    pauses = scenario.pauses_around_trials
    if isinstance(scenario.generator, Simulated):
        model = next(one.model for one in scenario.devices if one.name == device)
        assert model is not None, "the scenario was checked"
        return SimulatedGenerator(model, pauses, device).capabilities()
    chosen = next(one for one in scenario.devices if one.name == device)
    if isinstance(scenario.generator, Trex):
        return Capabilities(
            generator="trex",
            version="",
            line_rate_bps=scenario.generator.line_rate_bps,
            max_fps_by_size={}
            if scenario.generator.line_rate_bps
            else dict.fromkeys(scenario.frames.sizes, _NOMINAL_FPS),
            directions=2,
            pauses=pauses,
            overhead_s=_TREX_OVERHEAD_S,
            **abilities(scenario.generator, chosen.counts_frames, None, no_port_reset=chosen.no_port_reset),
        )
    over_veth = isinstance(scenario.generator, Embedded) and scenario.generator.wire == "veth"
    lacks = lacking_resets(chosen.counts_frames, chosen.no_port_reset or (NO_PORT_RESET if over_veth else None))
    return Capabilities(
        generator="embedded",
        version="",
        max_fps_by_size=dict.fromkeys(scenario.frames.sizes, _NOMINAL_FPS),
        directions=2,
        flows=1 << 20,
        latency=True,
        burst=True,
        step=True,
        resets=able_resets(lacks),
        lacks={str(kind): why for kind, why in lacks.items()},
        proves_frames=True,
        pauses=pauses,
        overhead_s=_EMBEDDED_OVERHEAD_S,
    )


def expected(scenario: Scenario, point: Point, measurement: Measurement) -> Estimate:
    """What a measurement will take."""
    return estimate(measurement, point.stream, scenario.measured_with, capabilities(scenario, point.device))


def expected_between_pauses(scenario: Scenario, point: Point) -> Estimate:
    """What the search for a throughput will take if pauses of the machine bound it; nothing if they cannot.

    TRex reports no pauses, and simulated devices pause only if they are to.
    """
    model = next(one.model for one in scenario.devices if one.name == point.device)
    told = isinstance(scenario.generator, Embedded) or (model is not None and model.pauses_per_s)
    if not told:
        return NOTHING
    return estimate_between_pauses(point.stream, scenario.measured_with, capabilities(scenario, point.device))


def expected_between_pauses_s(scenario: Scenario, point: Point) -> float:
    """How long such a search takes about."""
    return expected_between_pauses(scenario, point).seconds.expected


def expected_s(scenario: Scenario, point: Point, measurement: Measurement) -> float:
    """How long a measurement takes about."""
    return expected(scenario, point, measurement).seconds.expected


def print_plan(scenario: Scenario, console: Console) -> None:
    """Says what is measured, in how many trials, and how long it takes."""
    frames = scenario.frames
    lines = [
        f"Scenario {scenario.name}, preset {scenario.preset}: {scenario.description}".rstrip(": "),
        f"Devices: {', '.join(device.name for device in scenario.devices)}",
        f"Frames: {sizes_in_words(frames.sizes)}; directions {', '.join(map(str, frames.directions))}; "
        f"flows {', '.join(map(str, frames.flows))}"
        + "".join(f"; {words}" for words in frames.in_words + frames.ports_in_words),
    ]
    if isinstance(scenario.generator, Trex) and scenario.generator.forwarder is not None:
        lines += _nics_in_words(scenario.generator.forwarder)
    for test, fields in scenario.settings.items():
        told = ", ".join(f"{name} {value}" for name, value in fields.items())
        lines.append(f"{test.value.replace('_', ' ')} with {told}, not as preset {scenario.preset} has it")
    total = NOTHING
    for measurement in scenario.tests:
        estimates = [expected(scenario, point, one) for point, one in planned(scenario) if one is measurement]
        whole = sum(estimates, start=NOTHING)
        total += whole
        able = [one for one in estimates if one.trials.most]
        if able:
            lines.append(f"{_named(measurement)}, {len(able)} times: {_in_words(whole)}")
        if len(able) < len(estimates):
            why = "; ".join(whole.why_not) or "the generator cannot do it"
            lines.append(f"{_named(measurement)}, {len(estimates) - len(able)} times skipped: {why}")
    rates = [(point, one) for point, one in planned(scenario) if one in _DRIFT_SHOWS_IN]
    if rates and len(planned(scenario)) > 1:
        again = expected(scenario, *rates[0])
        total += again
        lines.append(f"the first {_named(rates[0][1])} again, for drift: {_in_words(again)}")
    lines.append(f"In all: {_in_words(total)}")
    lines += _between_pauses_in_words(scenario, total)
    say(console, *lines)


def _between_pauses_in_words(scenario: Scenario, total: Estimate) -> list[str]:
    """What the plan is if pauses of the machine bound each throughput."""
    searches = [point for point, one in planned(scenario) if one is Measurement.THROUGHPUT]
    if searches and len(planned(scenario)) > 1:
        # The first one again, for drift.
        searches.append(searches[0])
    paused = sum((expected_between_pauses(scenario, point) for point in searches), start=NOTHING)
    if not paused.trials.most:
        return []
    usual = sum((expected(scenario, point, Measurement.THROUGHPUT) for point in searches), start=NOTHING)
    return [
        f"If pauses of the machine bound each throughput: {_in_words(paused)} for them in place of {_in_words(usual)}; "
        f"{_in_words(total.with_other(usual, paused))} in all, and more for what else they spoil"
    ]


def _named(measurement: Measurement) -> str:
    return measurement.value.replace("_", " ")


def _nics_in_words(forwarder: TrexForwarder) -> list[str]:
    known = forwarder.profile
    if known is None:
        return []
    received, sent = forwarder.descriptors or (0, 0)
    return [
        f"NICs of the devices: {', '.join(forwarder.allowed_nics)}: {known.name}, {received} RX and {sent} TX "
        f"descriptors, {known.queues} queue pair; {len(known.traps)} things to mind: ./x testbed profile "
        f"{forwarder.nic}"
    ]


def _in_words(whole: Estimate) -> str:
    def between(figures: Range, text: str, least: str, most: str) -> str:
        return text if figures.exact else f"about {text} ({least} to {most})"

    trials, seconds = whole.trials, whole.seconds
    count = between(trials, f"{trials.expected:.0f} trials", f"{trials.least:.0f}", f"{trials.most:.0f}")
    times = [str(timedelta(seconds=round(value))) for value in (seconds.expected, seconds.least, seconds.most)]
    return f"{count}, {between(seconds, *times)}"
