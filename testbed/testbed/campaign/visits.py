# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The visits of a comparison on one testbed: a device freshly started, and what measures its figures."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from testbed.campaign.backend import Generator
from testbed.campaign.campaign import Workshop
from testbed.campaign.compare import TURNS, CompareSettings, Figure, Phase, Visit
from testbed.campaign.journal import Journal
from testbed.campaign.measurements.forwarding_rate import measure_forwarding_rate
from testbed.campaign.measurements.latency import measure_latency
from testbed.campaign.measurements.throughput import measure_throughput
from testbed.campaign.recorder import RecordedGenerator, Rig, Watcher
from testbed.campaign.scenario import Device, Scenario
from testbed.campaign.sizes import Size, size_label
from testbed.campaign.trial import Stream
from testbed.campaign.validity import NotMeasured, Trials

# Of a figure at a size, at the place in the journal that it is given.
Figures = Callable[[str, Figure, int], float]


def both(scenario: Scenario) -> str:
    """The rig's one name for both devices: what the generator could do at first is the load for both, always."""
    return f"both/{scenario.frames.directions[0]}way"


def rig_at(name: str, size: Size, testbed: str) -> str:
    """The rig of one of several testbeds, each of which finds out anew what its generator can do at a size."""
    return f"{name}/{size_label(size)}@{testbed}"


def place_of(visit: Visit, figure: Figure, size: Size) -> str:
    """Where in the journal a figure's trials are."""
    return f"{visit.place}/{size_label(size)}/{figure}"


class Visits:
    """Makes the visits of a comparison, on one testbed."""

    def __init__(
        self,
        scenario: Scenario,
        told: CompareSettings,
        workshop: Workshop,
        journal: Journal,
        raw: Path,
        watcher: Watcher,
    ) -> None:
        self._scenario = scenario
        self._told = told
        self._workshop = workshop
        self._journal = journal
        self._raw = raw
        self._watcher = watcher

    @contextlib.contextmanager
    def start(self, visit: Visit, rig_name: str) -> Iterator[Figures]:
        """A freshly started device, and what measures its figures."""
        scenario, directions = self._seeded(visit), self._scenario.frames.directions[0]

        def started() -> Generator:
            return self._workshop.start(scenario, visit.device, directions, self._raw)

        rig = Rig(rig_name, started, self._journal, self._watcher)
        try:
            yield lambda place, figure, size: self._figure(rig.at(place), figure, size)
        finally:
            rig.close()

    def _seeded(self, visit: Visit) -> Scenario:
        """A simulated device has its own chance at each visit, as a real one has at each start."""
        before = list(Phase).index(visit.phase) * self._told.blocks + visit.block - 1
        number = TURNS * before + visit.turn

        def seeded(device: Device) -> Device:
            if device.model is None:
                return device
            model = device.model.model_copy(update={"seed": device.model.seed + 1_000_003 * number})
            return device.model_copy(update={"model": model})

        return self._scenario.model_copy(update={"devices": [seeded(device) for device in self._scenario.devices]})

    def _figure(self, generator: RecordedGenerator, figure: Figure, size: Size) -> float:
        frames, settings = self._scenario.frames, self._scenario.measured_with
        trials = Trials(generator)
        stream = Stream(size=size, directions=frames.directions[0], flows=frames.flows[0])
        if figure is Figure.FORWARDING_RATE:
            once = settings.forwarding_rate.model_copy(update={"repeats": 1})
            return measure_forwarding_rate(trials, stream, once).forwarded_fps.mean
        if figure is Figure.THROUGHPUT:
            return measure_throughput(trials, stream, settings.throughput).throughput_fps
        load = self._told.latency_share * trials.capabilities().max_fps(size)
        found = measure_latency(trials, stream, load, settings.latency.model_copy(update={"repeats": 1, "share": 1.0}))
        if found.lossy:
            raise NotMeasured(f"frames were lost at {load:.0f} frames/s: compare latency with a lower --latency-share")
        return found.average_ns.mean
