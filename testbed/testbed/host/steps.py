# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The changes that are made to a machine, each with what it records beforehand and how it is undone.

Undoing looks at what is there now: it may be done twice, and for a change that was never made.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

from testbed.host import interfaces, pci
from testbed.host.files import Host
from testbed.host.hugepages import mounts
from testbed.host.journal import Entry

# What vfio-pci brings along.
_VFIO_MODULES = ("vfio", "irqbypass", "iommufd")
_PROBE_TIMEOUT_S = 5.0


class StepError(Exception):
    """A change could not be made or undone; the message says which, why, and what to do."""


class Step(Protocol):
    """One change."""

    @property
    def title(self) -> str:
        """What it does, for the plan."""

    def before(self, host: Host) -> Entry:
        """What is there, to be recorded."""

    def do(self, host: Host) -> list[str]:
        """Makes the change; returns what the user should know.

        Raises `StepError`.
        """


@dataclass(frozen=True)
class LoadModules:
    """Loads modules of the kernel."""

    names: tuple[str, ...]

    @property
    def title(self) -> str:
        """See `Step`."""
        return f"load {', '.join(self.names)}"

    def before(self, host: Host) -> Entry:
        """See `Step`."""
        return {"kind": "modules", "loaded": host.loaded_modules()}

    def do(self, host: Host) -> list[str]:
        """See `Step`."""
        for name in self.names:
            run(host, "modprobe", name)
        return []


@dataclass(frozen=True)
class SetValue:
    """Writes a file of the kernel."""

    path: str
    value: str
    what: str
    # Whether the kernel may refuse.
    optional: bool = False

    @property
    def title(self) -> str:
        """See `Step`."""
        return f"{self.what}: {self.value}"

    def before(self, host: Host) -> Entry:
        """See `Step`."""
        now = host.text(self.path)
        return {"kind": "value", "path": self.path, "before": now, "what": self.what, "optional": self.optional}

    def do(self, host: Host) -> list[str]:
        """See `Step`."""
        try:
            host.write(self.path, self.value)
        except OSError as error:
            if self.optional:
                return [f"{self.what}: the kernel refuses ({error.strerror}); left as it is"]
            raise StepError(f"{self.what}: cannot write '{self.value}' to {self.path}: {error.strerror}") from error
        return []


@dataclass(frozen=True)
class ReserveHugepages:
    """Sets the number of pages of a pool."""

    folder: str
    pages: int
    what: str

    @property
    def title(self) -> str:
        """See `Step`."""
        return f"reserve {self.what}: {self.pages} pages"

    @property
    def _file(self) -> str:
        return f"{self.folder}/nr_hugepages"

    def before(self, host: Host) -> Entry:
        """See `Step`."""
        return {"kind": "value", "path": self._file, "before": host.text(self._file), "what": self.what}

    def do(self, host: Host) -> list[str]:
        """See `Step`."""
        SetValue(self._file, str(self.pages), self.what).do(host)
        got = host.number(self._file)
        if got is None or got < self.pages:
            raise StepError(
                f"{self.what}: the kernel found {got} of {self.pages} pages, its memory is in use or in pieces: ask "
                "for fewer, or reserve them at boot (hugepagesz=1G hugepages=4)"
            )
        return []


@dataclass(frozen=True)
class MountHugepages:
    """Mounts a hugetlbfs."""

    place: str

    @property
    def title(self) -> str:
        """See `Step`."""
        return f"mount a hugetlbfs at {self.place}"

    def before(self, host: Host) -> Entry:
        """See `Step`."""
        return {"kind": "mount", "place": self.place, "folder": host.exists(self.place)}

    def do(self, host: Host) -> list[str]:
        """See `Step`."""
        host.path(self.place).mkdir(parents=True, exist_ok=True)
        run(host, "mount", "-t", "hugetlbfs", "none", self.place)
        return []


@dataclass(frozen=True)
class Bind:
    """Binds a NIC to another driver of the kernel."""

    address: str
    driver: str
    title_now: str

    @property
    def title(self) -> str:
        """See `Step`."""
        return f"bind {self.address} to {self.driver} ({self.title_now})"

    def before(self, host: Host) -> Entry:
        """See `Step`."""
        nic = pci.device(host, self.address)
        return {
            "kind": "driver",
            "address": self.address,
            "before": nic.driver if nic else None,
            "override": _override(host, self.address),
            "interfaces": [interfaces.state(host, name) for name in nic.interfaces] if nic else [],
        }

    def do(self, host: Host) -> list[str]:
        """See `Step`."""
        _rebind(host, self.address, self.driver, override=self.driver)
        return []


def undo(host: Host, entry: Entry) -> list[str]:
    """Puts back what was there before a change; returns what was done and what the user should know.

    Raises `StepError`.
    """
    return {"modules": _unload, "value": _put_back, "mount": _unmount, "driver": _bind_back}[entry["kind"]](host, entry)


def run(host: Host, *argv: str) -> None:
    """Runs a command on the machine.

    Raises `StepError` with what it said.
    """
    fault = host.run(*argv)
    if fault is not None:
        raise StepError(f"'{' '.join(argv)}' failed: {fault}")


def _unload(host: Host, entry: Entry) -> list[str]:
    there = host.loaded_modules()
    new = [name for name in there if name not in entry["loaded"] and name.startswith(_VFIO_MODULES)]
    kept = [name for name in new if host.run("rmmod", name) is not None]
    told = [f"unloaded {', '.join(name for name in new if name not in kept)}"] if len(new) > len(kept) else []
    return told + [f"module {name} is in use, and stays loaded" for name in kept]


def _put_back(host: Host, entry: Entry) -> list[str]:
    path, before, what = entry["path"], entry["before"], entry["what"]
    if before is None or host.text(path) in (before, None):
        return []
    try:
        host.write(path, before)
    except OSError as error:
        if entry.get("optional"):
            return [f"{what}: the kernel refuses '{before}' ({error.strerror}); left as it is"]
        raise StepError(f"{what}: cannot write '{before}' to {path}: {error.strerror}") from error
    now = host.text(path)
    if now != before:
        raise StepError(f"{what}: is {now} and was {before}: it is in use, end the programs that have it")
    return [f"{what}: {before} again"]


def _unmount(host: Host, entry: Entry) -> list[str]:
    place, told = entry["place"], []
    if place in mounts(host):
        run(host, "umount", place)
        told = [f"unmounted {place}"]
    if not entry["folder"] and host.path(place).is_dir() and not host.names(place):
        host.path(place).rmdir()
    return told


def _bind_back(host: Host, entry: Entry) -> list[str]:
    address, before = entry["address"], entry["before"]
    nic = pci.device(host, address)
    if nic is None:
        return [f"{address} no longer exists: nothing to restore"]
    told = []
    if nic.driver != before or _override(host, address) != entry["override"]:
        _rebind(host, address, before, override=entry["override"])
        told = [f"{address}: {before or 'no driver'} again"]
    for state, name in zip(entry["interfaces"], _await_interfaces(host, address, entry["interfaces"]), strict=False):
        told += interfaces.put_back(host, name, state)
    return told


def _await_interfaces(host: Host, address: str, wanted: list[Entry]) -> list[str]:
    """The interfaces of a NIC, in the order of those wanted where the names are the same.

    A name that udev gives comes a moment after the driver.
    """
    names = [state["name"] for state in wanted]
    host.run("udevadm", "settle", f"--timeout={_PROBE_TIMEOUT_S:.0f}")
    deadline = time.monotonic() + _PROBE_TIMEOUT_S
    while True:
        nic = pci.device(host, address)
        found = list(nic.interfaces) if nic else []
        if len(found) >= len(names) or time.monotonic() > deadline:
            break
        time.sleep(0.05)
    same = [name for name in names if name in found]
    others = iter([name for name in found if name not in same])
    return [name for name in (wish if wish in same else next(others, None) for wish in names) if name is not None]


def _override(host: Host, address: str) -> str:
    """The driver that the device is reserved for; empty if for none."""
    text = host.text(f"{pci.DEVICES}/{address}/driver_override") or ""
    return "" if text == "(null)" else text


def _rebind(host: Host, address: str, driver: str | None, *, override: str) -> None:
    nic = pci.device(host, address)
    if nic is None:
        raise StepError(f"{address}: no such device")
    holder = process_with(host, nic)
    if holder is not None:
        raise StepError(f"{address} is in use by process {holder}: end it first")
    try:
        # A line break alone takes the reservation away.
        host.write(f"{nic.folder}/driver_override", f"{override}\n")
        if nic.driver is not None and nic.driver != driver:
            host.write(f"{pci.DRIVERS}/{nic.driver}/unbind", address)
        if driver is not None and nic.driver != driver:
            host.write("/sys/bus/pci/drivers_probe", address)
            if host.link(f"{nic.folder}/driver") is None:
                host.write(f"{pci.DRIVERS}/{driver}/bind", address)
    except OSError as error:
        raise StepError(
            f"{address}: cannot be bound to {driver}: {error.strerror}; the kernel's log (dmesg) has details"
        ) from error
    now = host.link(f"{nic.folder}/driver")
    if now != driver:
        raise StepError(
            f"{address}: is bound to {now or 'no driver'} instead of {driver}; the kernel's log (dmesg) has the reason"
        )


def process_with(host: Host, nic: pci.Device) -> str | None:
    """Which process has a NIC in VFIO's hands open: its number and name."""
    if not nic.is_vfio or nic.group is None:
        return None
    files = {f"/dev/vfio/{nic.group}", f"/dev/vfio/noiommu-{nic.group}"}
    for pid in (name for name in host.names("/proc") if name.isdecimal()):
        for number in host.names(f"/proc/{pid}/fd"):
            try:
                if str(host.path(f"/proc/{pid}/fd/{number}").readlink()) in files:
                    return f"{pid} ({host.text(f'/proc/{pid}/comm') or 'unknown'})"
            except OSError:
                continue
    return None
