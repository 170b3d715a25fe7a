# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a scenario needs of this machine: NICs, CPUs and the tree of TRex; and what of it is not there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from testbed.campaign.embedded.settings import Embedded
from testbed.campaign.scenario import Scenario
from testbed.campaign.scenario_error import ScenarioError
from testbed.campaign.traffic_generator import GeneratorError
from testbed.campaign.trex.server import config_file
from testbed.campaign.trex.settings import Trex
from testbed.host import pci
from testbed.host.files import Host
from testbed.host.processors import cpu_list, online

_DEVICES, _TREX, _GENERATOR = "the devices", "TRex", "the generator"


class Needs(BaseModel):
    """What a scenario names; what is for another host is not this machine's matter."""

    # By its full PCI address, whose it is.
    nics: dict[str, str] = Field(default_factory=dict)
    cpus: dict[int, str] = Field(default_factory=dict)
    # TRex's folder here, needed at least for its client. None although `trex`: its path is unknown.
    trex: bool = False
    trex_home: Path | None = None
    # Whether its server is started here, and by which configuration file.
    trex_config: Path | None = None
    # Hosts on which something runs too.
    hosts: list[str] = Field(default_factory=list)

    def missing(self, host: Host) -> Iterator[str]:
        """What of it this machine has not, each with what to do."""
        there = ", ".join(nic.address for nic in pci.nics(host)) or "none"
        for whose in dict.fromkeys(self.nics.values()):
            lacking = [nic for nic, who in self.nics.items() if who == whose and pci.device(host, nic) is None]
            if lacking:
                where = "forwarder.nics" if whose == _DEVICES else "interfaces of its configuration file"
                yield f"NICs of {whose}: {', '.join(lacking)}; there are: {there}: correct {where} (lspci -D)"
        cpus = online(host)
        for whose in dict.fromkeys(self.cpus.values()):
            absent = [cpu for cpu, who in self.cpus.items() if who == whose and cpu not in cpus]
            if absent:
                yield f"CPUs of {whose}: {cpu_list(absent)}; there are: {cpu_list(cpus)} (lscpu -e=CPU,SOCKET,CORE)"
        yield from self._missing_trex()

    def _missing_trex(self) -> Iterator[str]:
        if not self.trex:
            return
        if self.trex_home is None:
            yield "TRex: its path is unknown: set trex_home in the scenario, or TREX_HOME"
        elif not self.trex_home.is_dir():
            yield f"TRex: no folder '{self.trex_home}': unpack a release of it there, or correct trex_home"
        elif self.trex_config is not None and not os.access(self.trex_home / "t-rex-64", os.X_OK):
            yield f"TRex: no program 't-rex-64' in '{self.trex_home}': it has to be built, or is not the whole release"


def needs(scenario: Scenario) -> Needs:
    """What a scenario needs of this machine.

    Raises `ScenarioError` if a file that it names cannot be read.
    """
    generator, found = scenario.generator, Needs()
    found.hosts = [device.host.name for device in scenario.devices if device.host is not None]
    # Somebody else's host has NICs and CPUs of its own.
    here = len(found.hosts) < len(scenario.devices)
    if isinstance(generator, Trex):
        _needs_of_trex(generator, found, here)
    elif isinstance(generator, Embedded):
        found.cpus = dict.fromkeys(generator.forwarder_lcore or () if here else (), _DEVICES)
        found.cpus |= {} if generator.lcore is None else {generator.lcore: _GENERATOR}
    found.hosts = list(dict.fromkeys(found.hosts))
    return found


def _needs_of_trex(generator: Trex, found: Needs, here: bool) -> None:
    found.trex = True
    home = generator.trex_home or os.environ.get("TREX_HOME")
    found.trex_home = Path(home).expanduser().absolute() if home else None
    if generator.forwarder is not None and here:
        addresses = (pci.full_address(nic.partition(",")[0]) for nic in generator.forwarder.nics)
        found.nics |= {address: _DEVICES for address in addresses if address is not None}
        found.cpus |= dict.fromkeys(generator.forwarder.lcore, _DEVICES)
    launch = generator.launch
    if launch is None:
        return
    if launch.host is not None:
        found.hosts.append(launch.host.name)
        return
    try:
        found.trex_config = config_file(launch.config)
    except GeneratorError as error:
        raise ScenarioError(str(error)) from error
    nics, cpus = _told(found.trex_config)
    found.nics |= dict.fromkeys(nics, _TREX)
    found.cpus |= dict.fromkeys(cpus, _TREX)


def _told(path: Path) -> tuple[list[str], list[int]]:
    """The NICs and CPUs of a configuration file of TRex.

    Raises `ScenarioError`.
    """
    try:
        (told,) = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
        platform: Mapping[str, Any] = told.get("platform") or {}
        words = [str(word).partition("/")[0] for word in told["interfaces"]]
        cpus = [platform.get("master_thread_id"), platform.get("latency_thread_id"), told.get("low_end_core")]
        cpus += [cpu for pair in platform.get("dual_if") or [] for cpu in pair["threads"]]
        nics = [address for word in words if (address := pci.full_address(word)) is not None]
        return nics, [int(cpu) for cpu in cpus if cpu is not None]
    except (OSError, UnicodeDecodeError, YAMLError, TypeError, KeyError, ValueError, AttributeError) as error:
        raise ScenarioError(
            f"{path}: no configuration file of TRex: {error}: it is a list with one mapping, which has interfaces"
        ) from error
