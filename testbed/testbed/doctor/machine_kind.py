# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What kind of machine it is, and what can be run on it."""

from __future__ import annotations

from collections.abc import Iterator

from testbed.doctor.check import Check, Question, candidates, ok, warn
from testbed.host import pci
from testbed.host.files import Host
from testbed.host.processors import is_virtual

GROUP = "machine"

_HERE = (
    "without a NIC: ./x demo, ./x bench overload and ./x testbed rfc2544 on the virtual wire; "
    "./x test vm rehearses NICs in an emulated machine"
)


def checks(host: Host, question: Question) -> Iterator[Check]:
    """All checks of this group."""
    kernel = host.text("/proc/sys/kernel/osrelease") or "unknown"
    why = "a hypervisor interrupts the cores unseen: rates are disturbed, ratios of interleaved runs still hold"
    if is_virtual(host):
        maker = host.text("/sys/class/dmi/id/sys_vendor") or "unknown maker"
        remedy = "publish figures from a machine of your own; pin the virtual CPUs and give it a whole NIC"
        yield warn("kind", f"a virtual machine ({maker}), kernel {kernel}", why, remedy)
    else:
        yield ok("kind", f"a real machine, kernel {kernel}", why)
    there = candidates(host, question)
    if not there:
        found = "only those that carry the default route or your connection" if pci.nics(host) else "none"
        yield warn("NICs to measure with", found, "only a NIC shows what a NIC forwards", _HERE)
    else:
        yield ok(
            "NICs to measure with", ", ".join(nic.address for nic in there), "only a NIC shows what a NIC forwards"
        )
