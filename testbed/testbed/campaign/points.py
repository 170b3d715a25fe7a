# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The points of a campaign, and the order in which they are measured."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

from testbed.campaign.embedded.settings import Embedded
from testbed.campaign.scenario import Measurement, Scenario
from testbed.campaign.sizes import Size, size_label, size_order
from testbed.campaign.trex.settings import Trex
from testbed.campaign.trial import Stream


@dataclass(frozen=True)
class Point:
    """A device and the frames that it is measured with."""

    device: str
    stream: Stream

    @property
    def size(self) -> Size:
        """Of the frames."""
        return self.stream.size

    @property
    def frames(self) -> str:
        """'64B/1way/1flows': the frames that all devices are measured with before the next ones come."""
        stream = self.stream
        words = [size_label(stream.size), f"{stream.directions}way", f"{stream.flows}flows"]
        words += [f"{stream.port_pairs}pairs"] if stream.port_pairs > 1 else []
        words += [f"{stream.reverse_share:g}back"] if stream.reverse_share < 1 else []
        return "/".join(words)

    @property
    def place(self) -> str:
        """'l2fwd-c/64B/1way/1flows': its name in the journal."""
        return f"{self.device}/{self.frames}"


def ordered_points(scenario: Scenario) -> list[Point]:
    """Device after device at each kind of frames, so that a machine that drifts favours none.

    The devices' order is drawn for the first kind of frames and turned round for each following one: A B, B A, A B. So
    the device at a turn stays as it is, and is not started anew.
    """
    names = [device.name for device in scenario.devices]
    random.Random(scenario.seed).shuffle(names)
    kinds = itertools.product(scenario.frames.directions, scenario.frames.flows, scenario.frames.sizes)
    found: list[Point] = []
    for directions, flows, size in kinds:
        stream = scenario.frames.stream(size, directions, flows)
        found += [Point(name, stream) for name in names]
        names.reverse()
    return found


def side_by_side(scenario: Scenario) -> bool:
    """Whether all devices can be there at once, each waiting while another has its turn.

    Devices that share NICs, a virtual machine or another host are started one after the other.
    """
    generator = scenario.generator
    if isinstance(generator, Trex) or any(device.host is not None for device in scenario.devices):
        return False
    return not isinstance(generator, Embedded) or (generator.wire == "virtual" and generator.guest is None)


def grouped_points(scenario: Scenario, turns: bool) -> list[list[Point]]:
    """The points in their order: with turns, those of the same frames together, else each alone."""
    points = ordered_points(scenario)
    if not turns:
        return [[point] for point in points]
    return [list(group) for _, group in itertools.groupby(points, key=lambda point: point.frames)]


def measurements_at(scenario: Scenario, point: Point) -> list[Measurement]:
    """What is measured there: resets only with the smallest frames, as RFC 2544, section 26.6, has it."""
    smallest = point.size == min(scenario.frames.sizes, key=size_order)
    return [one for one in scenario.tests if one is not Measurement.RESET or smallest]


def planned(scenario: Scenario) -> list[tuple[Point, Measurement]]:
    """All that a campaign does, in its order."""
    return [(point, one) for point in ordered_points(scenario) for one in measurements_at(scenario, point)]


def setup_name(point: Point, testbed: str | None) -> str:
    """The generator and the device that a point needs: another number of directions needs another set-up.

    Of several testbeds each finds out anew what its generator can do, for each kind of frames that it is given.
    """
    return f"{point.device}/{point.stream.directions}way" if testbed is None else f"{point.place}@{testbed}"
