# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The topologies of a campaign or a comparison: generator and device, what joins them, and the facts of both.

What is joined comes from the scenario, the facts from `environment.json` and the journal. A folder of an earlier
version has fewer facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from testbed.campaign.devices.settings import Device
from testbed.campaign.embedded.settings import Embedded
from testbed.campaign.folder import CampaignFolder, ComparisonFolder
from testbed.campaign.remote.host import GENERATOR
from testbed.campaign.report.topology import machine as machines
from testbed.campaign.report.topology.facts import Fact, link_in_words, machine_facts, port_facts
from testbed.campaign.report.topology.machine import UNKNOWN, Machine
from testbed.campaign.report.topology.wires import Wire, frames_in_words, port_names, wires
from testbed.campaign.scenario import Scenario
from testbed.campaign.sides import Side, SidePort
from testbed.campaign.traffic_generator import Capabilities
from testbed.campaign.trex.settings import Trex

_LOCAL = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class End:
    """One side of a topology."""

    name: str
    where: str
    processor: str
    # 'CPU 2, NUMA node 0'.
    cpus: str
    ports: tuple[str, ...]
    # Those of its machine, then those of each port.
    facts: tuple[Fact, ...]
    port_facts: tuple[tuple[Fact, ...], ...]

    @property
    def lines(self) -> list[str]:
        """What is said of it beside its name; a model has no CPU."""
        if self.where == machines.NOWHERE:
            return [self.where]
        # The processor's name is long.
        return [f"{self.where}; {self.cpus}", f"Processor: {self.processor}"]

    @property
    def in_words(self) -> str:
        """The same in one sentence."""
        return f"{self.name} ({'; '.join(self.lines)})."


@dataclass(frozen=True)
class Topology:
    """What was joined to what, for devices that were joined alike."""

    devices: tuple[str, ...]
    directions: int
    testbed: str | None
    generator: End
    device: End
    wires: tuple[Wire, ...]
    # Of the links, where an end knows it.
    speed: str | None
    frames: str

    @property
    def title(self) -> str:
        """Its caption."""
        ways = "load in both directions" if self.directions == 2 else "load in one direction"
        return ", ".join([" and ".join(self.devices), ways, *([self.testbed] if self.testbed else [])])

    @property
    def in_words(self) -> str:
        """The same without a drawing."""
        joined = [
            f"Between {ours} and {theirs}: {wire.kind}, frames {wire.directions}."
            for ours, theirs, wire in zip(self.generator.ports, self.device.ports, self.wires, strict=True)
        ]
        speed = [f"Link: {self.speed}."] if self.speed else []
        return " ".join([self.generator.in_words, self.device.in_words, *joined, *speed, f"Frames: {self.frames}."])


def topologies(record: CampaignFolder | ComparisonFolder) -> list[Topology]:
    """One for each number of directions, and testbed; more if the devices were joined in different ways."""
    found: list[Topology] = []
    for one in _each(record):
        same = next((number for number, other in enumerate(found) if _alike(one, other)), None)
        if same is None:
            found.append(one)
        else:
            found[same] = _together(found[same], one)
    return found


def _together(one: Topology, other: Topology) -> Topology:
    """Both devices in one place, each with its program."""
    (what, program), *rest = one.device.facts
    facts = ((what, f"{program} and {other.device.facts[0][1]}"), *rest)
    devices = (*one.devices, *other.devices)
    return replace(
        one, devices=devices, device=replace(one.device, name=f"Devices: {' and '.join(devices)}", facts=facts)
    )


def _alike(one: Topology, other: Topology) -> bool:
    """Whether they differ in nothing but the program under test."""

    def compared(topology: Topology) -> Topology:
        # The first fact is the program.
        return replace(topology, devices=(), device=replace(topology.device, name="", facts=topology.device.facts[1:]))

    return compared(one) == compared(other)


def _each(record: CampaignFolder | ComparisonFolder) -> Iterator[Topology]:
    scenario, evidence = record.settings.scenario, record.evidence
    # They are measured in one direction or in both, as the scenario's first.
    compared = isinstance(record, ComparisonFolder)
    ways = scenario.frames.directions[:1] if compared else scenario.frames.directions
    told = record.settings.compare if isinstance(record, ComparisonFolder) else None
    for directions in ways:
        for testbed in dict.fromkeys(record.settings.testbeds.values()) or [None]:
            file = f"environment-{testbed}.json"
            environment = evidence.machine if testbed is None else evidence.others.get(file, {})
            for device in scenario.devices:
                if told is None or device.name in (told.a, told.b):
                    able = _joined(evidence.joined, device.name, directions, testbed)
                    yield _topology(scenario, device, directions, testbed, environment, able)


def _joined(
    joined: Mapping[str, Capabilities], device: str, directions: int, testbed: str | None
) -> Capabilities | None:
    """What is recorded of a device's setup. Both devices of a comparison have one, which is recorded with the first."""
    for name, able in joined.items():
        place, _, at = name.partition("@")
        parts = place.split("/")
        if at == (testbed or "") and parts[0] in (device, "both") and f"{directions}way" in parts:
            side = able.device_side
            if parts[0] == "both" and side is not None and side.program.partition(" ")[0] != device:
                return able.model_copy(update={"device_side": None})
            return able
    return None


def _topology(
    scenario: Scenario,
    device: Device,
    directions: int,
    testbed: str | None,
    environment: Mapping[str, Any],
    able: Capabilities | None,
) -> Topology:
    ours, theirs = port_names(scenario, directions)
    sides = able.generator_side if able else None, able.device_side if able else None
    programs = f"{able.generator} {able.version}".rstrip() if able else scenario.generator.kind, _program(device)
    hosts = _generator_machine(scenario, environment), _device_machine(scenario, device, environment)
    generator = _end("Generator", hosts[0], programs[0], sides[0], ours)
    tested = _end(device.name, hosts[1], programs[1], sides[1], theirs)
    pairs = list(zip(generator.ports, tested.ports, strict=True))
    speeds = [port.link_mbps for side in sides if side for port in side.ports if port.link_mbps]
    return Topology(
        devices=(device.name,),
        directions=directions,
        testbed=testbed,
        generator=replace(generator, name=f"Generator: {programs[0]}"),
        device=replace(tested, name=f"Device: {device.name}"),
        wires=tuple(wires(scenario, directions, pairs, elsewhere=testbed is not None)),
        speed=link_in_words(min(speeds)) if speeds else None,
        frames=frames_in_words(scenario.frames),
    )


def _end(name: str, machine: Machine, program: str, side: Side | None, planned: list[str]) -> End:
    """The ports that the program reports, or else those of the scenario."""
    reported: list[SidePort | None] = (
        [*side.ports] if side and len(side.ports) == len(planned) else [None for _ in planned]
    )
    names = [port.name if port else given for port, given in zip(reported, planned, strict=True)]
    lcores = side.lcores if side else None
    return End(
        name=name,
        where=machine.where,
        processor=machine.processor,
        cpus=_cpus(machine, lcores),
        ports=tuple(names),
        facts=tuple(machine_facts(machine, side.program if side else program, lcores)),
        port_facts=tuple(
            tuple(port_facts(machine, name, port, port.virtual if port else name.startswith("net_")))
            for name, port in zip(names, reported, strict=True)
        ),
    )


def _cpus(machine: Machine, lcores: list[int] | None) -> str:
    if not lcores:
        return f"CPU {UNKNOWN}"
    nodes = ", ".join(dict.fromkeys(machine.clock(cpu).node for cpu in lcores))
    return f"CPU {', '.join(map(str, lcores))}, NUMA node {nodes}"


def _generator_machine(scenario: Scenario, environment: Mapping[str, Any]) -> Machine:
    settings = scenario.generator
    if isinstance(settings, Embedded):
        return machines.this_machine(environment)
    if not isinstance(settings, Trex):
        return machines.unknown_machine(machines.NOWHERE)
    if settings.launch is not None and settings.launch.host is not None:
        return machines.other_host(environment, GENERATOR, f"host {settings.launch.host.name}")
    return machines.this_machine(environment) if settings.address in _LOCAL else machines.unknown_machine()


def _device_machine(scenario: Scenario, device: Device, environment: Mapping[str, Any]) -> Machine:
    settings = scenario.generator
    if device.model is not None:
        return machines.unknown_machine(machines.NOWHERE)
    if isinstance(settings, Embedded) and settings.guest is not None:
        return machines.other_host(environment, device.name, "guest VM (QEMU) of this machine")
    if device.host is not None:
        return machines.other_host(environment, device.name, f"host {device.host.name}")
    if isinstance(settings, Trex) and settings.forwarder is None:
        return machines.unknown_machine()
    return machines.this_machine(environment)


def _program(device: Device) -> str:
    if device.command is not None:
        return device.command[0].rpartition("/")[2]
    return device.program or (device.name if device.has_program else UNKNOWN)
