# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The DUT runs of a comparison on one testbed: a device freshly started, and what measures its figures."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from testbed.campaign.compare.schedule import TURNS, CompareSettings, DutRun, Figure
from testbed.campaign.compare.size_verdict import DutFigure
from testbed.campaign.devices.settings import Device
from testbed.campaign.equipment import Equipment
from testbed.campaign.journal import Journal
from testbed.campaign.measurements.forwarding_rate import measure_forwarding_rate
from testbed.campaign.measurements.latency import measure_latency
from testbed.campaign.measurements.throughput import measure_throughput
from testbed.campaign.recorder import RecordedGenerator, RecordedSetup, Watcher
from testbed.campaign.scenario import Scenario
from testbed.campaign.sizes import Size, size_label
from testbed.campaign.traffic_generator import Generator
from testbed.campaign.validity import NotMeasured, Trials

# Of a figure at a size, at the place in the journal that it is given.
Figures = Callable[[str, Figure, int], DutFigure]


def both(scenario: Scenario) -> str:
    """The setup's one name for both devices: what the generator could do at first is the load for both, always."""
    return f"both/{scenario.frames.directions[0]}way"


def setup_at(name: str, size: Size, testbed: str) -> str:
    """The setup of one of several testbeds, each of which calibrates its generator again for each size."""
    return f"{name}/{size_label(size)}@{testbed}"


def place_of(dut_run: DutRun, figure: Figure, size: Size) -> str:
    """Where in the journal a figure's trials are."""
    return f"{dut_run.place}/{size_label(size)}/{figure}"


class DutRunner:
    """Makes the DUT runs of a comparison, on one testbed."""

    def __init__(
        self,
        scenario: Scenario,
        told: CompareSettings,
        equipment: Equipment,
        journal: Journal,
        raw: Path,
        watcher: Watcher,
    ) -> None:
        self._scenario = scenario
        self._told = told
        self._equipment = equipment
        self._journal = journal
        self._raw = raw
        self._watcher = watcher

    @contextlib.contextmanager
    def start(self, dut_run: DutRun, setup_name: str) -> Iterator[Figures]:
        """A freshly started device, and what measures its figures."""
        scenario, directions = self._seeded(dut_run), self._scenario.frames.directions[0]

        def started() -> Generator:
            return self._equipment.start(scenario, dut_run.device, directions, self._raw)

        setup = RecordedSetup(setup_name, started, self._journal, self._watcher)
        try:
            yield lambda place, figure, size: self._figure(setup.at(place), figure, size)
        finally:
            setup.close()

    def _seeded(self, dut_run: DutRun) -> Scenario:
        """A simulated device has its own chance at each dut_run, as a real one has at each start."""
        number = TURNS * (dut_run.block - 1) + dut_run.turn

        def seeded(device: Device) -> Device:
            if device.model is None:
                return device
            model = device.model.model_copy(update={"seed": device.model.seed + 1_000_003 * number})
            return device.model_copy(update={"model": model})

        return self._scenario.model_copy(update={"devices": [seeded(device) for device in self._scenario.devices]})

    def _figure(self, generator: RecordedGenerator, figure: Figure, size: Size) -> DutFigure:
        settings = self._scenario.measured_with
        trials = Trials(generator)
        stream = self._scenario.frames.first_stream(size)
        if figure is Figure.FORWARDING_RATE:
            once = settings.forwarding_rate.model_copy(update={"repeats": 1})
            rate = measure_forwarding_rate(trials, stream, once)
            return DutFigure(value=rate.forwarded_fps.mean, at_least=rate.generator_was_limit)
        if figure is Figure.THROUGHPUT:
            found = measure_throughput(trials, stream, settings.throughput)
            if found.throughput_fps is None:
                raise NotMeasured(found.headline)
            return DutFigure(value=found.throughput_fps, at_least=found.generator_was_limit)
        load = self._told.latency_share * trials.capabilities().max_fps(size)
        at_load = settings.latency.model_copy(update={"repeats": 1, "share": 1.0, "ladder": ()})
        delay = measure_latency(trials, stream, load, at_load)
        if delay.lossy:
            raise NotMeasured(f"frames were lost at {load:.0f} frames/s: compare latency with a lower --latency-share")
        return DutFigure(value=delay.average_ns.mean)
