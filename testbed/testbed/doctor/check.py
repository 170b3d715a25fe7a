# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""One check, and what the doctor is asked about."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from testbed.host import pci
from testbed.host.files import Host
from testbed.host.traffic import vital_use
from testbed.nics.table import is_bifurcated


class Verdict(StrEnum):
    """How bad it is: nothing to do, figures suffer, or it will not run."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


# The exit status of the whole is that of the worst.
EXIT_STATUS = {Verdict.OK: 0, Verdict.WARN: 1, Verdict.FAIL: 2}


@dataclass(frozen=True)
class Check:
    """What was looked at, what was read, why it matters for the figure, and the remedy unless all is well."""

    name: str
    verdict: Verdict
    found: str
    why: str
    remedy: str = ""
    # The module that made it; filled in by the examination.
    group: str = ""


def ok(name: str, found: str, why: str) -> Check:
    """Nothing to do."""
    return Check(name, Verdict.OK, found, why)


def warn(name: str, found: str, why: str, remedy: str) -> Check:
    """It runs, and the figure suffers or says less."""
    return Check(name, Verdict.WARN, found, why, remedy)


def fail(name: str, found: str, why: str, remedy: str) -> Check:
    """It will not run so."""
    return Check(name, Verdict.FAIL, found, why, remedy)


@dataclass(frozen=True)
class Question:
    """What the machine is to be used for; without NICs and cores all of them are looked at."""

    # Full PCI addresses.
    nics: tuple[str, ...] = ()
    cores: tuple[int, ...] = ()
    trex_home: Path | None = None
    # What TRex's server is started with; without it TRex looks in /etc.
    trex_config: Path | None = None
    # What the programs were compiled for, as in -march: see `testbed.doctor.builds`.
    marches: tuple[str, ...] = ()

    def judge(self, name: str, found: str, why: str, remedy: str) -> Check:
        """What stops a NIC: a failure where NICs are named, else a warning."""
        return (fail if self.nics else warn)(name, found, why, remedy)


def candidates(host: Host, question: Question) -> list[pci.Device]:
    """The NICs that the question is about: those named, or else all that carry nothing vital."""
    if question.nics:
        found = (pci.device(host, address) for address in question.nics)
        return [nic for nic in found if nic is not None]
    return [nic for nic in pci.nics(host) if vital_use(host, nic) is None]


def vfio_candidates(host: Host, question: Question) -> list[pci.Device]:
    """Those of them that DPDK wants on vfio-pci."""
    return [nic for nic in candidates(host, question) if not is_bifurcated(nic.ids)]
