# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What another host is: recorded beside the figures that were measured there."""

from __future__ import annotations

from pydantic import BaseModel, Field

from testbed.run.environment import boot_parameters

_UNKNOWN = "unknown"
_SMT = {"0": "off", "1": "on"}


class Pool(BaseModel):
    """Hugepages of one size."""

    size: str
    total: int
    free: int


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
    )


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() and len(text) <= 18 else None
