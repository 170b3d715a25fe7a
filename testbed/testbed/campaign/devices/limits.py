# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Options of a device that its NICs refuse, known from their profiles before anything is started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from testbed.host import pci
from testbed.host.files import Host
from testbed.nics import profile_of
from testbed.run.process import ProcessError

if TYPE_CHECKING:
    from testbed.campaign.devices.settings import Device
    from testbed.campaign.remote.environment import HostEnvironment

# Options of the twins and of testpmd; and the twins' default numbers of descriptors, which testpmd gets too.
_OPTIONS = {"--rxd": 1024, "--txd": 1024}


class OptionsError(ProcessError):
    """A NIC refuses an option; the message names the limit."""


def check_options(device: Device, nics: Sequence[str], ids: Mapping[str, str]) -> None:
    """Holds a device's numbers of descriptors against the profiles of its NICs, whose ids are given by address.

    Raises `OptionsError`. NICs without a profile, and programs that are not known here, may do as they like.
    """
    if device.command is not None:
        return
    rxd, txd = (_number(device.options, name, default) for name, default in _OPTIONS.items())
    faults = []
    for address in nics:
        profile = profile_of(ids.get(address, ":"))
        if profile is not None and rxd is not None and txd is not None:
            faults += [f"NIC {address} is {fault}" for fault in profile.faults(rxd, txd)]
    if faults:
        raise OptionsError(f"device '{device.name}': {'; '.join(faults)}: correct its options in the scenario")


def ids_here(nics: Sequence[str], host: Host | None = None) -> dict[str, str]:
    """Vendor and device of this machine's NICs, such as '8086:158b', by their addresses as they are given."""
    found = {}
    for address in nics:
        device = pci.device(host or Host(), pci.full_address(address) or address)
        if device is not None:
            found[address] = device.ids
    return found


def ids_there(nics: Sequence[str], environment: HostEnvironment) -> dict[str, str]:
    """The same of another host."""
    there = {nic.slot: nic.device.replace("0x", "") for nic in environment.nics}
    wanted = {address: pci.full_address(address) or address for address in nics}
    return {address: there[full] for address, full in wanted.items() if full in there}


def _number(options: Sequence[str], name: str, default: int) -> int | None:
    """The value of an option, the last one if it repeats; None if it is not a number, which the program reports."""
    value = str(default)
    for at, word in enumerate(options):
        if word == name and at + 1 < len(options):
            value = options[at + 1]
        elif word.startswith(f"{name}="):
            value = word.partition("=")[2]
    return int(value) if value.isdecimal() else None
