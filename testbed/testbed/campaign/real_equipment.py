# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a real campaign works with: the programs, the generators that start them, and the methods of measurement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from testbed.campaign.devices.kinds import device_kind, find_device_program
from testbed.campaign.devices.limits import check_options, ids_here, ids_there
from testbed.campaign.devices.settings import Device
from testbed.campaign.embedded.generator import EmbeddedGenerator
from testbed.campaign.embedded.rings import Rings
from testbed.campaign.embedded.settings import Embedded
from testbed.campaign.embedded.setup import EmbeddedSetup, free_folder
from testbed.campaign.equipment import Equipment
from testbed.campaign.guest.generator import GuestGenerator
from testbed.campaign.guest.machine import RunningGuest
from testbed.campaign.methods import METHODS
from testbed.campaign.remote.environment import HostEnvironment
from testbed.campaign.remote.host import THIS_MACHINE, record_hosts, record_this_machine
from testbed.campaign.scenario import Measurement, Scenario, Simulated
from testbed.campaign.simulated import SimulatedGenerator
from testbed.campaign.sizes import longest
from testbed.campaign.timeplan import expected_between_pauses_s, expected_s
from testbed.campaign.traffic_generator import Generator, GeneratorError
from testbed.campaign.trex.device import JoinedDevice
from testbed.campaign.trex.generator import TrexGenerator
from testbed.campaign.trex.settings import Trex, TrexForwarder
from testbed.campaign.trex.setup import TrexSetup, trex_home
from testbed.run.eal import hugepages_wanted
from testbed.run.environment import Environment, record_environment, sha256_of
from testbed.run.lcores import LcorePlan, plan_lcores
from testbed.run.process import ProcessError
from testbed.run.programs import GENERATOR, Program, find_program
from testbed.wire.veth import VethWire
from testbed.wire.virtual_wire import Wire


@dataclass(frozen=True)
class Programs:
    """Those that a scenario needs; none if it is simulated."""

    # By the name of the device; without those that are another host's own.
    forwarders: dict[str, Program]
    generator: Program | None

    def all(self) -> list[Program]:
        """Each once."""
        listed = [*self.forwarders.values(), *([self.generator] if self.generator else [])]
        return list({program.name: program for program in listed}.values())

    def hashes(self) -> dict[str, str]:
        """SHA-256 by name."""
        return {program.name: sha256_of(program.path) for program in self.all()}


def find_programs(scenario: Scenario, folders: list[Path]) -> Programs:
    """Looks for the programs.

    Raises `ProgramMissing`.
    """
    settings = scenario.generator
    embedded = isinstance(settings, Embedded)
    if not embedded and not (isinstance(settings, Trex) and settings.forwarder is not None):
        return Programs({}, None)
    looked_for = {device.name: find_device_program(device, folders) for device in scenario.devices}
    found = {name: program for name, program in looked_for.items() if program is not None}
    return Programs(found, find_program(GENERATOR, folders or None) if embedded else None)


def real_equipment(programs: Programs, guest: RunningGuest | None = None) -> Equipment:
    """The real things; `guest` is the virtual machine of a scenario that wants one."""

    rings: Rings | None = None

    def start(scenario: Scenario, device: str, directions: Literal[1, 2], raw: Path) -> Generator:
        nonlocal rings
        rings = rings or Rings(len(scenario.devices))
        located = scenario if guest is None else guest.located(scenario)
        chosen = next(one for one in located.devices if one.name == device)
        return _start(located, chosen, directions, raw, programs, guest, rings)

    def environment(scenario: Scenario) -> Environment:
        found = record_environment(programs.all(), _hugepages(scenario))
        hosts = record_hosts(scenario if guest is None else guest.located(scenario))
        _check_options(scenario, hosts, guest)
        described: dict[str, Any] = {device: host.model_dump() for device, host in hosts.items()}
        if not isinstance(scenario.generator, Simulated):
            described[THIS_MACHINE] = record_this_machine()
        return found.model_copy(update={"hosts": described})

    return Equipment(
        methods=METHODS,
        start=start,
        environment=environment,
        expected_s=expected_s,
        expected_between_pauses_s=expected_between_pauses_s,
    )


def _check_options(scenario: Scenario, hosts: dict[str, HostEnvironment], guest: RunningGuest | None) -> None:
    """Raises `OptionsError` if a NIC does not support an option of a device."""
    settings = scenario.generator
    nics: Sequence[str] = () if guest is None else guest.nics
    if isinstance(settings, Trex) and settings.forwarder is not None:
        nics = settings.forwarder.nics
    for device in scenario.devices:
        known = ids_there(nics, hosts[device.name]) if device.name in hosts else ids_here(nics)
        check_options(device, nics, known)


def generator_cpu(scenario: Scenario) -> int:
    """The CPU that the embedded generator gets."""
    settings = scenario.generator
    chosen = settings.lcore if isinstance(settings, Embedded) else None
    return plan_lcores().generator if chosen is None else chosen


def _start(
    scenario: Scenario,
    device: Device,
    directions: Literal[1, 2],
    raw: Path,
    programs: Programs,
    guest: RunningGuest | None,
    rings: Rings,
) -> Generator:
    settings = scenario.generator
    if isinstance(settings, Trex):
        return _start_trex(settings, scenario, device, directions, raw, programs)
    if not isinstance(settings, Embedded):
        assert device.model is not None, "the scenario was checked"
        return SimulatedGenerator(device.model, scenario.pauses_around_trials, device.name)
    assert programs.generator is not None, "the programs are those of the scenario"
    if settings.guest is not None and guest is None:
        raise GeneratorError("a virtual machine is booted for rfc2544, overload and compare, but not for many testbeds")
    if settings.lcore is not None and settings.forwarder_lcore is not None:
        lcores = _with_forwarder(LcorePlan(settings.lcore, settings.lcore), settings.forwarder_lcore)
    else:
        lcores = replace(plan_lcores(), generator=generator_cpu(scenario))
    if device.host is not None and device.host.lcore is not None:
        lcores = _with_forwarder(lcores, device.host.lcore)
    setup = EmbeddedSetup(
        device=device.name,
        kind=device_kind(device, programs.forwarders.get(device.name), len(scenario.devices) > 1),
        generator=programs.generator,
        sizes=tuple(scenario.frames.sizes),
        directions=directions,
        lcores=lcores,
        hugepages=_hugepages(scenario),
        pauses=scenario.pauses_around_trials,
        raw=raw,
        wire=_wire(scenario, settings, directions)
        if guest is None
        else guest.wire(directions * scenario.frames.port_pairs),
        most_fps=settings.most_fps,
        bursts=Measurement.BACK_TO_BACK in scenario.tests,
        rings=rings,
        headers=scenario.frames,
        port_pairs=scenario.frames.port_pairs,
        reverse_share=scenario.frames.reverse_share,
    )
    try:
        return EmbeddedGenerator(setup) if guest is None else GuestGenerator(setup, guest)
    except ProcessError as error:
        raise GeneratorError(str(error)) from error


def _wire(scenario: Scenario, settings: Embedded, directions: int) -> Wire | None:
    """What joins generator and device on this machine; None is the virtual wire."""
    ports = directions * scenario.frames.port_pairs
    return VethWire(ports, longest(scenario.frames.sizes)) if settings.wire == "veth" else None


def _with_forwarder(lcores: LcorePlan, cpus: Sequence[int]) -> LcorePlan:
    return replace(lcores, forwarder=cpus[0], further=tuple(cpus[1:]))


def _start_trex(
    settings: Trex, scenario: Scenario, device: Device, directions: int, raw: Path, programs: Programs
) -> Generator:
    logs, joined = free_folder(raw, device.name), None
    if settings.forwarder is not None:
        forwarder = settings.forwarder
        if device.host is not None and device.host.lcore is not None:
            forwarder = forwarder.model_copy(update={"lcore": device.host.lcore})
        kind = device_kind(device, programs.forwarders.get(device.name))
        joined = JoinedDevice(kind, forwarder, _hugepages(scenario), longest(scenario.frames.sizes), logs)
    return TrexGenerator(
        TrexSetup(
            device=device.name,
            settings=settings,
            home=trex_home(settings),
            joined=joined,
            sizes=tuple(scenario.frames.sizes),
            flows=tuple(scenario.frames.flows),
            directions=directions,
            pauses=scenario.pauses_around_trials,
            logs=logs,
            headers=scenario.frames,
        )
    )


def _hugepages(scenario: Scenario) -> bool:
    settings = scenario.generator.forwarder if isinstance(scenario.generator, Trex) else scenario.generator
    if not isinstance(settings, Embedded | TrexForwarder):
        return False
    return hugepages_wanted() if settings.hugepages is None else settings.hugepages
