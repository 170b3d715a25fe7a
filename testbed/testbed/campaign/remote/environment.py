# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a host is, this machine or another one: recorded beside the figures that were measured there."""

from __future__ import annotations

import re

from pydantic import BaseModel, Field

from testbed.host.processors import cpu_list
from testbed.run.environment import boot_parameters

_UNKNOWN = "unknown"
_SMT = {"0": "off", "1": "on"}


class Pool(BaseModel):
    """Hugepages of one size."""

    size: str
    total: int
    free: int


class CpuGroup(BaseModel):
    """CPUs of one NUMA node and with the same settings of their frequency."""

    name: str = Field(description="the CPUs: '0-3,8'")
    node: str
    governor: str
    least_mhz: str
    most_mhz: str
    mhz: list[str] = Field(description="of each CPU, when it was recorded")


class Nic(BaseModel):
    """A network controller."""

    slot: str
    device: str = Field(description="vendor:device")
    driver: str
    interface: str
    firmware: str
    link_speed: str = Field(description="of the PCI slot")
    link_width: str
    numa_node: str
    # Those that the device could do.
    most_link_speed: str = _UNKNOWN
    most_link_width: str = _UNKNOWN
    model: str = _UNKNOWN
    mac: str = _UNKNOWN
    mtu: str = _UNKNOWN
    port_mbps: str = _UNKNOWN


class HostEnvironment(BaseModel):
    """A host; values that it does not report are 'unknown'."""

    host: str
    system: str
    kernel: str
    boot_parameters: str
    cpu: str
    microcode: str
    logical: int | None
    governor: str
    smt: str
    isolated: str
    memory_mb: int | None
    iommu: str
    dpdk: str
    hugepages: list[Pool]
    nics: list[Nic]
    cpus: list[CpuGroup] = Field(default_factory=list)


def parse_environment(host: str, text: str) -> HostEnvironment:
    """Reads what `environment.sh` prints; a line that is not as agreed is left out."""
    values: dict[str, str] = {}
    pools, nics = [], []
    for line in text.splitlines():
        name, *fields = line.split("\t")
        if name == "hugepages" and len(fields) == 3:
            pools.append(Pool(size=fields[0], total=_number(fields[1]) or 0, free=_number(fields[2]) or 0))
        elif name == "nic" and len(fields) == len(Nic.model_fields):
            nics.append(Nic(**dict(zip(Nic.model_fields, (field or _UNKNOWN for field in fields), strict=True))))
        elif len(fields) == 1:
            values.setdefault(name, fields[0])
    memory_kb, groups = _number(values.get("memory_kb")), values.get("iommu_groups")
    return HostEnvironment(
        host=host,
        system=values.get("system", _UNKNOWN),
        kernel=values.get("kernel", _UNKNOWN),
        boot_parameters=boot_parameters(values.get("command_line", "")),
        cpu=values.get("cpu", _UNKNOWN),
        microcode=values.get("microcode", _UNKNOWN),
        logical=_number(values.get("logical")),
        governor=values.get("governor", _UNKNOWN),
        smt=_SMT.get(values.get("smt", ""), _UNKNOWN),
        isolated=values.get("isolated", "none"),
        memory_mb=None if memory_kb is None else memory_kb // 1024,
        iommu=_UNKNOWN if groups is None else "off" if groups == "0" else f"on, {groups} groups",
        dpdk=values.get("dpdk", _UNKNOWN),
        hugepages=pools,
        nics=nics,
        cpus=_cpus(text),
    )


def _cpus(text: str) -> list[CpuGroup]:
    """The CPUs by what they have in common."""
    groups: dict[tuple[str, ...], dict[int, str]] = {}
    clocks = _clocks(text)
    for name, *fields in (line.split("\t") for line in text.splitlines()):
        if name == "core" and len(fields) == 6 and fields[0].isdecimal():
            cpu, node, governor, now, least, most = fields
            alike = (node or _UNKNOWN, governor or _UNKNOWN, _mhz(least), _mhz(most))
            clock = _mhz(now) if now else clocks.get(cpu, _UNKNOWN)
            groups.setdefault(alike, {})[int(cpu)] = clock
    return [
        CpuGroup(
            name=cpu_list(found),
            node=node,
            governor=governor,
            least_mhz=least,
            most_mhz=most,
            mhz=[found[cpu] for cpu in sorted(found)],
        )
        for (node, governor, least, most), found in groups.items()
    ]


def _clocks(text: str) -> dict[str, str]:
    """MHz of each CPU, as /proc/cpuinfo has them."""
    cpu, found = "", {}
    for name, *fields in (line.split("\t") for line in text.splitlines()):
        if name == "clock_of" and fields:
            cpu = fields[0]
        elif name == "clock_mhz" and fields and re.fullmatch(r"\d+(\.\d+)?", fields[0]):
            found[cpu] = f"{float(fields[0]):.0f}"
    return found


def _mhz(khz: str) -> str:
    """'2100000' → '2100'."""
    number = _number(khz)
    return _UNKNOWN if number is None else str(round(number / 1000))


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() and len(text) <= 18 else None
