# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What is recorded of both sides: the CPUs and NICs of a machine, and the ports that programs report."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import host_tree
import pytest

from testbed.campaign.remote.environment import parse_environment
from testbed.campaign.remote.host import record_this_machine
from testbed.campaign.sides import reported_ports
from testbed.campaign.trex.settings import Trex
from testbed.campaign.trex.side import trex_side
from testbed.wire.forwarder import ReportedPort, Start

CPUS = "/sys/devices/system/cpu"
PORT = {"port": 0, "name": "0000:18:00.0", "mac": "02:00:00:00:00:01", "queues": 1, "rxd": 512, "txd": 256}
DEVICE = {
    "driver": "net_i40e",
    "socket": 1,
    "mtu": 1500,
    "link_mbps": 25000,
    "firmware": "9.50 0x8000f16b",
    "rx_offloads": ["SCATTER"],
    "tx_offloads": [],
}


@pytest.fixture
def tree(tmp_path: Path) -> host_tree.Tree:
    """A machine whose CPUs 2 and 3 are faster, on node 1, and scaled by the kernel."""
    tree = host_tree.server(tmp_path / "root")
    for cpu in range(4):
        node = cpu // 2
        tree.link(f"{CPUS}/cpu{cpu}/node{node}", f"../../node/node{node}")
        for name, khz in {"cur": 2_000_000 + 1000 * cpu, "min": 800_000, "max": 3_000_000 + 900_000 * node}.items():
            tree.file(f"{CPUS}/cpu{cpu}/cpufreq/scaling_{name}_freq", str(khz))
    tree.file("/sys/class/net/ens2/address", "b8:ce:f6:00:00:01")
    tree.file("/proc/cpuinfo", "processor\t: 4\nmodel name\t: A CPU\ncpu MHz\t\t: 2596.4\n\nprocessor\t: 5")
    return tree


def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ethtool and lspci as a machine with a ConnectX has them."""
    for name, text in {
        "ethtool": "driver: mlx5_core\nfirmware-version: 16.35.2000",
        "lspci": "00:00.0 Ethernet controller: Mellanox Technologies MT27800",
    }.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\ncat <<EOF\n{text}\nEOF\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")


def test_the_cpus_of_a_machine_are_grouped_by_node_and_frequency(tree: host_tree.Tree) -> None:
    found = {group["name"]: group for group in record_this_machine(str(tree.root))["cpus"]}
    assert set(found) == {"0-1", "2-3", "4-7"}
    assert found["2-3"] == {
        "name": "2-3",
        "node": "1",
        "governor": "performance",
        "least_mhz": "800",
        "most_mhz": "3900",
        "mhz": ["2002", "2003"],
    }
    # What the kernel does not scale has the clock of /proc/cpuinfo, if that tells one.
    assert (found["4-7"]["node"], found["4-7"]["mhz"]) == ("unknown", ["2596", "unknown", "unknown", "unknown"])


def test_a_nic_is_read_with_its_interface_and_without(
    tree: host_tree.Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands(tmp_path, monkeypatch)
    tree.file(f"{host_tree.DEVICES}/{host_tree.SHARED}/current_link_width", "4")
    nics = {nic["slot"]: nic for nic in record_this_machine(str(tree.root))["nics"]}
    assert nics[host_tree.SHARED] == {
        "slot": host_tree.SHARED,
        "device": "0x15b3:0x1019",
        "driver": "mlx5_core",
        "interface": "ens2",
        "firmware": "16.35.2000",
        "link_speed": "8.0 GT/s PCIe",
        "link_width": "4",
        "numa_node": "1",
        "most_link_speed": "8.0 GT/s PCIe",
        "most_link_width": "8",
        "model": "Mellanox Technologies MT27800",
        "mac": "b8:ce:f6:00:00:01",
        "mtu": "1500",
        "port_mbps": "25000",
    }
    # Bound to vfio-pci it has no interface, which the rest would be asked of.
    bound = nics[host_tree.NIC]
    assert (bound["driver"], bound["link_width"]) == ("vfio-pci", "8")
    assert {bound[name] for name in ("interface", "firmware", "mac", "mtu", "port_mbps")} == {"unknown"}


def test_a_host_that_tells_nothing_of_its_cpus_has_none() -> None:
    assert parse_environment("lab", "core\t0\t0\ncore\tx\t0\t\t\t\t\nclock_mhz\tfast\n").cpus == []


def test_a_program_s_ports_are_recorded_as_it_reports_them() -> None:
    (port,) = reported_ports([ReportedPort.model_validate({**PORT, "device": DEVICE})])
    assert (port.name, port.virtual, port.driver, port.node) == ("0000:18:00.0", False, "net_i40e", 1)
    assert (port.link_mbps, port.firmware, port.rx_offloads, port.tx_offloads) == (
        25000,
        "9.50 0x8000f16b",
        ["SCATTER"],
        [],
    )
    assert (port.queues, port.rx_descriptors, port.tx_descriptors) == (1, 512, 256)


def test_a_virtual_device_has_no_link_speed() -> None:
    told = {**PORT, "name": "net_virtio_user0", "device": DEVICE}
    (port,) = reported_ports([ReportedPort.model_validate(told)])
    assert (port.virtual, port.link_mbps) == (True, None)


def test_a_program_of_before_reports_less() -> None:
    start = Start.model_validate(
        {
            "type": "start",
            "program": "l2fwd-c",
            "version": "0.1.0",
            "dpdk": "22.11",
            "ports": [{"port": 0, "name": "net_null0", "mac": "00:00:00:00:00:00", "peer": 0}],
        }
    )
    (port,) = reported_ports(start.ports)
    assert {port.driver, port.firmware, port.node, port.queues, port.rx_offloads} == {None}
    assert start.lcores == []


def trex(**launch: object) -> Trex:
    return Trex.model_validate({"kind": "trex", "ports": [0], **({"launch": launch} if launch else {})})


def test_trex_s_ports_are_its_server_s_and_its_cpus_those_of_its_configuration(tmp_path: Path) -> None:
    port = {"port": 0, "virtual": False, "driver": "net_i40e", "description": "XXV710", "hw_mac": "3c:fd:fe:00:00:01"}
    port |= {"pci_addr": "0000:af:00.0", "numa": 1, "speed": 25}
    side = trex_side("v3.08", trex(config="25g.cfg.yaml", cores=2), [port])
    assert side.lcores == [24, 25, 26, 27]
    (found,) = side.ports
    assert (found.name, found.model, found.node, found.link_mbps) == ("0000:af:00.0", "XXV710", 1, 25000)
    assert (found.firmware, found.rx_offloads) == (None, None)


def test_a_virtual_port_of_trex_has_no_invented_speed() -> None:
    port = {"port": 1, "virtual": True, "driver": "net_memif", "description": "Virtual", "hw_mac": None}
    port |= {"pci_addr": "N/A", "numa": -1, "speed": 10}
    (found,) = trex_side("v3.08", trex(), [port]).ports
    assert (found.name, found.node, found.link_mbps, found.model) == ("port 1 (net_memif)", None, None, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- {low_end: true, low_end_core: 3}", [3]),
        ("- {version: 2}", None),
        ("not a list", None),
        ("- {platform: {master_thread_id: a}}", None),
        ("{", None),
    ],
)
def test_cpus_of_trex_are_unknown_where_its_configuration_does_not_name_them(
    tmp_path: Path, text: str, expected: list[int] | None
) -> None:
    config = tmp_path / "trex.yaml"
    config.write_text(text)
    assert trex_side("v3.08", trex(config=str(config)), []).lcores == expected


def test_nobody_says_which_cpus_a_server_takes_that_somebody_else_has_started() -> None:
    assert trex_side("v3.08", trex(), []).lcores is None
