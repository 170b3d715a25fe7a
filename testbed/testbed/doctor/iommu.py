# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What VFIO needs before it hands out a NIC: an IOMMU, a group of its own, remapped interrupts, modules, rights."""

from __future__ import annotations

import os
from collections.abc import Iterator

from testbed.doctor.check import Check, Question, ok, vfio_candidates, warn
from testbed.host import iommu, pci
from testbed.host.files import Host

GROUP = "IOMMU and VFIO"

_MODULES = ("vfio_pci", "vfio_iommu_type1")


def checks(host: Host, question: Question) -> Iterator[Check]:
    """All checks of this group; none where no NIC wants VFIO."""
    nics = vfio_candidates(host, question)
    if not nics:
        return
    yield _iommu(host, question)
    yield from _modules(host, question)
    if iommu.is_on(host):
        yield _remapping(host, question)
        for nic in nics:
            yield _group(host, question, nic)
    if host.is_live and os.geteuid() != 0:
        yield from _rights(host, question, nics)


def _iommu(host: Host, question: Question) -> Check:
    name, why = "IOMMU", "without an IOMMU a device can write anywhere, so vfio-pci refuses NICs"
    if iommu.is_on(host):
        return ok(name, f"on, {len(host.names(iommu.GROUPS))} groups", why)
    if iommu.is_yes(host, iommu.NO_IOMMU_MODE):
        remedy = "turn the IOMMU on, if the machine has one"
        return warn(name, "off, and VFIO is set to work without it: a NIC can write anywhere", why, remedy)
    reason, remedy = iommu.why_off(host)
    if host.exists(iommu.NO_IOMMU_MODE):
        remedy += f"; to work without it, although a NIC can then write anywhere: echo 1 >{iommu.NO_IOMMU_MODE}"
    return question.judge(name, f"off: {reason}", why, remedy)


def _modules(host: Host, question: Question) -> Iterator[Check]:
    why = "vfio-pci holds the NIC, vfio_iommu_type1 lets VFIO use the IOMMU"
    missing = [name for name in _MODULES if not host.has_module(name)]
    if "vfio_iommu_type1" in missing and host.has_module("iommufd"):
        missing.remove("vfio_iommu_type1")
    if not missing:
        yield ok("modules", ", ".join(_MODULES), why)
        return
    release = host.text("/proc/sys/kernel/osrelease") or ""
    folder = f"/lib/modules/{release}"
    if host.exists(folder) and not _is_available(host, folder):
        found = f"the kernel {release} has no vfio-pci"
        yield question.judge("modules", found, why, "install a kernel for real machines, on Debian linux-image-amd64")
        return
    remedy = "modprobe -a " + " ".join(name.replace("vfio_pci", "vfio-pci") for name in missing)
    yield question.judge("modules", f"not loaded: {', '.join(missing)}", why, remedy)


def _is_available(host: Host, folder: str) -> bool:
    lists = [host.text(f"{folder}/{name}") or "" for name in ("modules.dep", "modules.builtin")]
    return any("vfio-pci.ko" in text or "vfio_pci.ko" in text for text in lists)


def _remapping(host: Host, question: Question) -> Check:
    name, why = "interrupt remapping", "without it a NIC can forge interrupts, so VFIO refuses NICs"
    if iommu.remaps_interrupts(host):
        return ok(name, "on", why)
    if iommu.is_yes(host, iommu.UNSAFE_INTERRUPTS):
        return warn(
            name,
            "off, and VFIO is set to work without it",
            why,
            "turn it on: in the firmware (x2APIC), without intremap=off",
        )
    switch = next((word for word in host.boot_parameters() if word.startswith("intremap=")), None)
    first = f"take {switch} off the kernel's command line" if switch else "turn it on in the firmware (x2APIC, VT-d)"
    remedy = f"{first}; or, if every program with a NIC is trusted: echo 1 >{iommu.UNSAFE_INTERRUPTS}"
    return question.judge(name, "off: VFIO says 'No interrupt remapping support'", why, remedy)


def _group(host: Host, question: Question, nic: pci.Device) -> Check:
    name, why = (
        f"group of {nic.address}",
        "VFIO gives a program whole groups only, and only if no kernel driver uses a device of the group",
    )
    if nic.group is None:
        return question.judge(name, "in no group", why, "use a slot behind the IOMMU")
    members = [address for address in host.names(f"{iommu.GROUPS}/{nic.group}/devices") if address != nic.address]
    there = iommu.in_the_way(host, nic)
    if not there:
        return ok(name, f"{nic.group}, viable" + (f", with {', '.join(members)}" if members else ", alone"), why)
    named = ", ".join(f"{device.address} ({device.driver})" for device in there)
    addresses = ", ".join(device.address for device in there)
    remedy = f"bind these to vfio-pci too, or to no driver: {addresses}; or use another slot"
    return question.judge(name, f"{nic.group}, not viable: {named} is in the way", why, remedy)


def _rights(host: Host, question: Question, nics: list[pci.Device]) -> Iterator[Check]:
    bound = [nic for nic in nics if nic.is_vfio and nic.group]
    files = ["/dev/vfio/vfio", *(f"/dev/vfio/{nic.group}" for nic in bound)] if bound else []
    why = "an ordinary user must be able to open the group's file"
    for file in files:
        if host.exists(file) and not os.access(host.path(file), os.R_OK | os.W_OK):
            remedy = f"as root: chown {os.geteuid()} {file}; for a permanent rule see l2fwd-rs/packaging (udev)"
            yield question.judge(file, f"user {os.geteuid()} has no permission to open it", why, remedy)
