# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The guest of a campaign: booted, its NICs prepared as on a real host, and reached over SSH as one."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from testbed.campaign.guest.image import Keys, build_image
from testbed.campaign.guest.settings import HUGEPAGES_MB
from testbed.campaign.guest.settings import Guest as GuestSettings
from testbed.campaign.guest.tap import Tap
from testbed.campaign.guest.wire import GuestWire
from testbed.campaign.remote.settings import Host
from testbed.run.process import ProcessError
from testbed.run.scratch import scratch_folder
from testbed.vm.guest import Guest, VmMissing, find_kernel, need_tools
from testbed.vm.nics import EmulatedNic, kernel_driver, nic_addresses, nic_devices
from testbed.vm.python import PYTHON
from testbed.vm.qmp import Qmp

if TYPE_CHECKING:
    from testbed.campaign.scenario import Scenario
    from testbed.run.programs import Program

_HERE = "127.0.0.1"
_USER = "root"
# Of the two that the guest has: the first one has the rest to do.
_FORWARDER_CPU = 1
# What QEMU's network for one gives its guest, and what it is there itself.
_ADDRESS, _GATEWAY = "10.0.2.15", "10.0.2.2"
_SSH_MAC = "52:54:00:00:00:22"
_FORWARDED = re.compile(rf"HOST_FORWARD\]\s+\d+\s+{re.escape(_HERE)}\s+(\d+)\s")
_PREPARE_S = 300.0


class RunningGuest:
    """A guest that waits for devices."""

    def __init__(self, guest: Guest, taps: list[str], nics: list[str], host: Host) -> None:
        self._guest = guest
        self._taps = taps
        # Their addresses in the guest.
        self.nics = nics
        self.host = host

    def located(self, scenario: Scenario) -> Scenario:
        """The scenario with its devices in the guest."""
        devices = [device.model_copy(update={"host": self.host}) for device in scenario.devices]
        return scenario.model_copy(update={"devices": devices})

    def wire(self, ports: int) -> GuestWire:
        """The way to its first NICs."""
        return GuestWire(self._taps[:ports], self.nics[:ports])

    def explained(self, error: Exception) -> str:
        """What went wrong, with the guest's console if that is the reason."""
        trouble = self._guest.trouble()
        return f"{error}; the virtual machine {trouble}" if trouble else str(error)

    def keep_console(self, folder: Path) -> None:
        """Puts what the kernel has said until now beside the logs."""
        if self._guest.console.exists():
            shutil.copy(self._guest.console, folder / "console.log")


@contextmanager
def guest_for(
    scenario: Scenario, programs: list[Program], generator_cpu: Callable[[], int], tell: Callable[[str], None]
) -> Iterator[RunningGuest | None]:
    """The virtual machine that a scenario wants, while the `with` lasts; None if it wants none.

    Raises `VmMissing`, and `ProcessError` with its console if it does not come up.
    """
    settings: GuestSettings | None = getattr(scenario.generator, "guest", None)
    if settings is None:
        yield None
        return
    need_tools()
    kernel = find_kernel()
    if os.geteuid() != 0:
        raise VmMissing("the way to a virtual machine's NIC is a TAP interface, which takes root: run it as root")
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder())
        # So that a port that another one has is not met: the connections are queued from the first on.
        taps = [_open_tap(stack) for _ in range(scenario.frames.most_ports)]
        tell(f"Booting a virtual machine: {kernel.release}, {len(taps)} NIC{'s'[: len(taps) > 1]} {settings.nic}")
        keys = Keys(folder)
        image = build_image(folder / "image", kernel, settings, programs, keys)
        nics = [
            EmulatedNic(settings.nic, f"nic{number}", f"wire{number}", GuestWire.forwarder_mac(number))
            for number in range(len(taps))
        ]
        qmp = Qmp(folder)
        guest = Guest(
            kernel,
            image,
            folder,
            devices=["intel-iommu,intremap=on", *nic_devices(nics), f"virtio-net-pci,netdev=ssh,mac={_SSH_MAC},addr=3"],
            append="intel_iommu=on",
            memory_mb=settings.memory_mb,
            options=[*_netdevs(taps, nics), *qmp.options],
            fds=[tap.fd for tap in taps],
            launcher=_apart_from(generator_cpu()),
        )
        stack.enter_context(guest)
        names = [tap.name for tap in taps]
        for tap in taps:
            # From now on they are there as long as QEMU.
            tap.close()
        stack.enter_context(qmp)
        addresses = _prepare(guest, nics)
        port = _forwarded_port(qmp)
        keys.know(_HERE, port)
        host = Host(
            name=_HERE, user=_USER, port=port, key=keys.user, known_hosts=keys.known_hosts, lcore=_FORWARDER_CPU
        )
        tell(f"It is up: NIC {', '.join(addresses)} at vfio-pci, SSH at port {port} of {_HERE}")
        yield RunningGuest(guest, names, addresses, host)


def _open_tap(stack: ExitStack) -> Tap:
    tap = Tap.open()
    stack.callback(tap.close)
    return tap


def _netdevs(taps: list[Tap], nics: list[EmulatedNic]) -> list[str]:
    """QEMU's back ends: a TAP interface for each NIC, and this machine alone for the NIC of SSH.

    Port 0 becomes one that is free.
    """
    words = []
    for tap, nic in zip(taps, nics, strict=True):
        words += ["-netdev", f"tap,id={nic.netdev},fd={tap.fd}"]
    return [*words, "-netdev", f"user,id=ssh,restrict=on,hostfwd=tcp:{_HERE}:0-{_ADDRESS}:22"]


def _apart_from(cpu: int) -> list[str]:
    """What keeps QEMU off the generator's CPU, where there is another."""
    others = sorted(os.sched_getaffinity(0) - {cpu})
    return ["taskset", "--cpu-list", ",".join(map(str, others))] if others else []


def _prepare(guest: Guest, nics: list[EmulatedNic]) -> list[str]:
    """Does in the guest what somebody does who readies a host; returns the NICs' addresses.

    Raises `ProcessError`.
    """
    found = nic_addresses(guest, ["virtio_net", kernel_driver(nics[0].model)])
    addresses = [found[nic.mac] for nic in nics]
    guest.check(f"""
        for interface in /sys/class/net/*; do
            [ "$(cat $interface/address)" != {_SSH_MAC} ] || name=${{interface##*/}}
        done
        ifconfig $name {_ADDRESS} netmask 255.255.255.0 up && route add default gw {_GATEWAY} || exit 1
        mkdir -p -m 755 /run/sshd && /usr/sbin/sshd -E /tmp/sshd.log || {{ cat /tmp/sshd.log; exit 1; }}""")
    named = " ".join(f"--nic {address}" for address in addresses)
    options = f"--cores {_FORWARDER_CPU} --hugepages {HUGEPAGES_MB}"
    guest.check(f"{PYTHON} -m testbed.host prepare {named} {options}", _PREPARE_S)
    return addresses


def _forwarded_port(qmp: Qmp) -> int:
    """The port of this machine that leads to the guest's SSH server."""
    told = qmp.ask("human-monitor-command", **{"command-line": "info usernet"})
    found = _FORWARDED.search(told)
    if found is None:
        raise ProcessError(f"QEMU forwards no port to the guest: it says {told!r}")
    return int(found[1])
