# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The machine of one side, as `environment.json` describes it; what it does not say is 'unknown'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from testbed.campaign.remote.host import THIS_MACHINE
from testbed.host.pci import full_address
from testbed.nics.table import profile_of
from testbed.run.lcores import parse_cpu_list

UNKNOWN = "unknown"
HERE, SOMEWHERE, NOWHERE = "this machine", "unknown: somebody else runs it", "no machine: a model"


@dataclass(frozen=True)
class Clock:
    """How fast a CPU runs, in MHz, and where it is."""

    node: str = UNKNOWN
    governor: str = UNKNOWN
    mhz: str = UNKNOWN
    least_mhz: str = UNKNOWN
    most_mhz: str = UNKNOWN


@dataclass(frozen=True)
class Machine:
    """A machine and its hardware."""

    where: str
    processor: str
    clocks: Mapping[int, Clock]
    # By their full PCI addresses.
    nics: Mapping[str, Mapping[str, Any]]

    def clock(self, cpu: int) -> Clock:
        """Of a CPU."""
        return self.clocks.get(cpu, Clock())

    def nic(self, name: str) -> Mapping[str, Any] | None:
        """What is known of the NIC that a port's name gives the address of; None if it gives none."""
        address = full_address(name.partition(",")[0])
        return None if address is None else self.nics.get(address, {})


def unknown_machine(where: str = SOMEWHERE) -> Machine:
    """One that nobody has described."""
    return Machine(where, UNKNOWN, {}, {})


def this_machine(environment: Mapping[str, Any]) -> Machine:
    """The one that the campaign ran on."""
    told = {"cpu": environment.get("cpu", {}).get("model"), **_hosts(environment).get(THIS_MACHINE, {})}
    return _machine(HERE, told)


def other_host(environment: Mapping[str, Any], name: str, where: str) -> Machine:
    """The host of a device of this name, or of TRex by its own."""
    return _machine(where, _hosts(environment).get(name, {}))


def model_of(nic: Mapping[str, Any]) -> str:
    """Vendor and model: as lspci has it, or by its profile, and its number in any case."""
    ids = str(nic.get("device", UNKNOWN)).replace("0x", "")
    profile = profile_of(ids)
    name = nic.get("model", UNKNOWN)
    if name == UNKNOWN and profile is not None:
        name = profile.ids[ids]
    return ids if name == UNKNOWN else f"{name} [{ids}]"


def known(value: Any) -> str:
    """The value, or 'unknown' where there is none, or the kernel says that it knows none (-1)."""
    return UNKNOWN if value in (None, "", "-1", -1) else str(value)


def _hosts(environment: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = environment.get("hosts") or {}
    return found


def _machine(where: str, told: Mapping[str, Any]) -> Machine:
    nics = {str(nic.get("slot")): nic for nic in told.get("nics", [])}
    return Machine(where, known(told.get("cpu")), _clocks(told.get("cpus", [])), nics)


def _clocks(groups: Sequence[Mapping[str, Any]]) -> dict[int, Clock]:
    found = {}
    for group in groups:
        for cpu, mhz in zip(parse_cpu_list(group["name"]), group["mhz"], strict=False):
            found[cpu] = Clock(
                known(group["node"]), known(group["governor"]), known(mhz), group["least_mhz"], group["most_mhz"]
            )
    return found
