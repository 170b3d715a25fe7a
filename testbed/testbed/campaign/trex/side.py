# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""TRex's side of a setup: its ports as its server describes them, its CPUs as its configuration file names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from testbed.campaign.sides import Side, SidePort
from testbed.campaign.traffic_generator import GeneratorError
from testbed.campaign.trex.server import config_file
from testbed.campaign.trex.settings import Trex
from testbed.host.pci import full_address


def trex_side(version: str, settings: Trex, ports: Sequence[Mapping[str, Any]]) -> Side:
    """The side; of a server that somebody else has started the CPUs are not known."""
    cores = None if settings.launch is None else _cores(settings.launch.config, settings.launch.cores)
    return Side(program=f"TRex {version}", lcores=cores, ports=[_port(port) for port in ports])


def _port(port: Mapping[str, Any]) -> SidePort:
    virtual, speed, node = bool(port["virtual"]), port["speed"], port["numa"]
    address = full_address(str(port["pci_addr"]))
    return SidePort(
        name=address or f"port {port['port']} ({port['driver'] or 'of an unknown driver'})",
        virtual=virtual,
        driver=port["driver"],
        model=None if virtual else port["description"],
        mac=port["hw_mac"],
        node=node if isinstance(node, int) and node >= 0 else None,
        # In Gbit/s; a virtual device's is an invention.
        link_mbps=round(1000 * speed) if speed and not virtual else None,
    )


def _cores(config: Path, cores: int) -> list[int] | None:
    """The CPUs that a server takes: that of its master, of latency, and for each pair of ports as many as `-c` says."""
    try:
        read = YAML(typ="safe").load(config_file(config).read_text(encoding="utf-8"))
        told = read[0] if isinstance(read, list) else read
        if told.get("low_end"):
            return [int(told.get("low_end_core", 0))]
        platform = told["platform"]
        threads = [cpu for pair in platform["dual_if"] for cpu in pair["threads"][:cores]]
        return sorted({int(cpu) for cpu in (platform["master_thread_id"], platform["latency_thread_id"], *threads)})
    except (GeneratorError, OSError, YAMLError, AttributeError, LookupError, TypeError, ValueError):
        # TRex has a say of its own about such a file.
        return None
