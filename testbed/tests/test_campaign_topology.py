# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The drawn topology and the facts of both sides, for each kind of wire; results of earlier versions have fewer."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from browser import NAMES, Browser, find_browser
from campaign_folders import TEXT, change_json, run_campaign, run_comparison

from testbed.campaign.folder import read_folder
from testbed.campaign.remote.host import GENERATOR, THIS_MACHINE
from testbed.campaign.report.document import MARKDOWN, REPORT, write_report
from testbed.campaign.report.topology.layout import Topology, topologies
from testbed.campaign.report.topology.table import evidence_tables
from testbed.nics.intel import XXV710

SMALL = TEXT.replace("tests: [", "tests: [throughput] #").replace("[64, 512, 1518]", "[64]")
OURS, THEIRS = "0000:af:00.0", "0000:18:00.0"
MEMIF = "net_memif{0},role=client,id={0},socket-abstract=no,socket=/run/x/memif.sock"
FOREIGN_CPUS = [{"name": "0-7", "node": "0", "governor": "powersave", "mhz": ["2100"] * 8}]
CPUS = [
    {"name": "0-1", "node": "0", "governor": "performance", "mhz": ["2600", "2601"]},
    {"name": "2-3", "node": "1", "governor": "unknown", "mhz": ["2700", "unknown"]},
]
LIMITS = {"least_mhz": "800", "most_mhz": "3900"}
NIC = {
    "slot": THEIRS,
    "device": "0x8086:0x158b",
    "driver": "vfio-pci",
    "interface": "unknown",
    "firmware": "unknown",
    "link_speed": "8.0 GT/s PCIe",
    "link_width": "4",
    "most_link_speed": "8.0 GT/s PCIe",
    "most_link_width": "8",
    "numa_node": "-1",
    "model": "unknown",
    "mac": "unknown",
    "mtu": "unknown",
    "port_mbps": "unknown",
}


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_campaign(tmp_path_factory.mktemp("campaign"), SMALL)


def port(name: str, **known: Any) -> dict[str, Any]:
    return {"name": name, "virtual": name.startswith(("net_", "port ")), **known}


def side(program: str, cpu: int | None, *ports: dict[str, Any]) -> dict[str, Any]:
    return {"program": program, "lcores": None if cpu is None else [cpu], "ports": list(ports)}


def measured(
    campaign: Path,
    parent: Path,
    generator: dict[str, Any],
    sides: tuple[dict[str, Any], dict[str, Any]] | None = None,
    *,
    hosts: dict[str, Any] | None = None,
    devices: list[dict[str, Any]] | None = None,
    version: str | None = None,
    **frames: Any,
) -> Path:
    """The folder of a campaign as if its devices had been joined in this way."""
    folder = shutil.copytree(campaign, parent / "copy")
    settings = json.loads((folder / "campaign.json").read_text())
    scenario = settings["scenario"]
    scenario |= {"generator": generator, "devices": devices or [{"name": "l2fwd-c"}, {"name": "l2fwd-rs"}]}
    scenario["frames"] |= frames
    change_json(folder / "campaign.json", scenario=scenario)
    if hosts is not None:
        change_json(folder / "environment.json", hosts=hosts)
    lines = []
    for line in (folder / "journal.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry["type"] == "joined" and sides is not None:
            entry["capabilities"] |= {"generator_side": sides[0], "device_side": sides[1]}
            entry["capabilities"] |= {"version": version} if version is not None else {}
            # Each device is one of the two twins.
            entry["capabilities"]["device_side"] = {**sides[1], "program": entry["rig"].partition("/")[0]}
        lines.append(json.dumps(entry))
        if entry["type"] == "joined":
            lines.append(json.dumps({**entry, "rig": entry["rig"].replace("1way", "2way")}))
    (folder / "journal.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def drawn(folder: Path) -> tuple[list[Topology], list[list[str]], str]:
    """The topologies, the words of each drawing, and the report in Markdown."""
    write_report(folder)
    page = (folder / REPORT).read_text()
    pictures = re.findall(r"<figcaption>Topology:.*?</figcaption>(<svg.*?</svg>)", page, flags=re.DOTALL)
    words = [re.findall(r"<text[^>]*>(.*?)</text>", picture, flags=re.DOTALL) for picture in pictures]
    return topologies(read_folder(folder)), words, (folder / MARKDOWN).read_text()


def facts(topology: Topology) -> dict[str, tuple[str, str]]:
    (table,) = evidence_tables([topology])
    return {row.cells[0]: (row.cells[1], row.cells[2]) for row in table.rows}


def this_machine(**nics: Any) -> dict[str, Any]:
    return {THIS_MACHINE: {"cpus": [{**group, **LIMITS} for group in CPUS], **nics}}


def test_a_virtual_wire_joins_the_devices_that_take_turns(campaign: Path, tmp_path: Path) -> None:
    rings = {"driver": "net_vhost", "rx_descriptors": 1024, "tx_descriptors": 1024}
    sides = side("generator 0.1.0", 1, port("net_vhost0", **rings)), side("l2fwd-c", 3, port("net_virtio_user0"))
    folder = measured(
        campaign, tmp_path, {"kind": "embedded"}, sides, hosts=this_machine(), vlan=[100, 200], sizes=[72]
    )
    (found,), (words,), text = drawn(folder)
    assert found.devices == ("l2fwd-c", "l2fwd-rs")
    assert [(wire.kind.partition(" (")[0], wire.there, wire.back) for wire in found.wires] == [
        ("virtual wire", True, True)
    ]
    for part in (
        "net_vhost0",
        "net_virtio_user0",
        "this machine; CPU 1, NUMA node 0",
        "this machine; CPU 3, NUMA node 1",
    ):
        assert part in words, words
    assert {"Devices: l2fwd-c and l2fwd-rs", "Ethernet, QinQ 100, 200, IPv4, UDP"} <= set(words)
    assert "Between net\\_vhost0 and net\\_virtio\\_user0: virtual wire" in text
    assert "load in one direction" in found.title
    assert ", frames to the device and back." in text
    told = facts(found)
    assert told["Frequency at the start"] == ("2,601 MHz", "unknown")
    assert told["Frequency range"] == ("800 to 3,900 MHz", "800 to 3,900 MHz")
    assert told["Frequency governor"] == ("performance", "unknown")
    assert told["Port 0: Descriptors of a queue"] == (
        "1,024 RX, 1,024 TX, without effect: the queues are those of the other end",
        "unknown",
    )
    assert told["Program"] == ("generator 0.1.0", "l2fwd-c and l2fwd-rs")
    # The rest of the environment does not list it again.
    assert "hosts.(this machine)" not in text


def test_both_directions_have_two_wires_and_share_the_evidence_of_one(campaign: Path, tmp_path: Path) -> None:
    folder = measured(campaign, tmp_path, {"kind": "embedded"}, directions=[1, 2])
    found, words, _ = drawn(folder)
    assert [len(one.wires) for one in found] == [1, 2]
    assert "net_vhost1" in words[1]
    # No port was reported: those of the scenario are all that is known, and those of one direction are among them.
    (table,) = evidence_tables(found)
    assert table.title == "l2fwd-c and l2fwd-rs, load in both directions"


# Words of the drawings that end beyond the box that they stand in, or beyond the drawing.
CUT_OFF = """[...document.querySelectorAll('svg[aria-label^="Topology"]')].flatMap(picture => {
    const boxes = [...picture.querySelectorAll('path')].map(path => path.getBBox()).filter(box => box.width > 40);
    return [...picture.querySelectorAll('text')].filter(text => {
        const mine = text.getBBox(), x = mine.x + 1, y = mine.y + mine.height / 2;
        const around = boxes.filter(box =>
            box.x <= x && x <= box.x + box.width && box.y <= y && y <= box.y + box.height);
        const ends = [picture.viewBox.baseVal.width, ...around.map(box => box.x + box.width)];
        return mine.x + mine.width > Math.min(...ends);
    }).map(text => text.textContent)})"""


@pytest.mark.skipif(find_browser() is None, reason=f"none of {', '.join(NAMES)} is installed")
def test_no_word_leaves_its_box(campaign: Path, tmp_path: Path) -> None:
    program = find_browser()
    assert program is not None
    name = "embedded generator with a long name 0.1.0 (DPDK 22.11.11)"
    sides = side(name, 1, port("net_vhost0")), side("l2fwd-c", 3, port("net_virtio_user0"))
    folder = measured(campaign, tmp_path, {"kind": "embedded"}, sides, hosts=this_machine(), version=name)
    write_report(folder)
    browser = Browser(program, tmp_path / "profile")
    try:
        browser.open(folder / REPORT, 1280)
        assert browser.evaluate(CUT_OFF) == []
    finally:
        browser.close()


def test_veth_pairs(campaign: Path, tmp_path: Path) -> None:
    (found,), (words,), _ = drawn(measured(campaign, tmp_path, {"kind": "embedded", "wire": "veth"}))
    assert [wire.kind for wire in found.wires] == ["veth pair of the kernel"]
    assert words.count("net_af_packet0") == 2


def test_two_ports_of_a_nic_each_way_on_its_cable(campaign: Path, tmp_path: Path) -> None:
    second = (OURS.replace(".0", ".1"), THEIRS.replace(".0", ".1"))
    generator = {
        "kind": "trex",
        "launch": {"config": "connectx-25g.cfg.yaml", "host": {"name": "lab"}},
        "forwarder": {"lcore": 2, "nics": [THEIRS, second[1]], "nic": "xxv710"},
    }
    driver = {"driver": "net_i40e", "firmware": "9.50", "queues": 1, "rx_descriptors": 512, "tx_descriptors": 512}
    ours = [port(name, model="XXV710", link_mbps=25000) for name in (OURS, second[0])]
    theirs = [port(name, **driver, rx_offloads=["SCATTER"], tx_offloads=[]) for name in (THEIRS, second[1])]
    sides = side("TRex v3.08", 4, *ours), side("l2fwd-c", 2, *theirs)
    trex_host = {"cpu": "Intel Xeon", "cpus": [{**group, **LIMITS} for group in FOREIGN_CPUS], "nics": []}
    hosts = {**this_machine(nics=[NIC]), GENERATOR: trex_host}
    (found,), (words,), _ = drawn(measured(campaign, tmp_path, generator, sides, hosts=hosts))
    # With one direction, frames leave on the first port and come back on the second.
    assert [(wire.kind, wire.there, wire.back) for wire in found.wires] == [
        ("NIC cable", True, False),
        ("NIC cable", False, True),
    ]
    assert {OURS, THEIRS, *second, "25 Gbit/s", "host lab; CPU 4, NUMA node 0", "Processor: Intel Xeon"} <= set(words)
    told = facts(found)
    # As its profile names it, where lspci did not.
    assert told["Port 0: NIC"] == ("XXV710", f"{XXV710.ids['8086:158b']} [8086:158b]")
    assert told["Port 0: PCI address"] == (OURS, THEIRS)
    assert told["Port 0: Kernel driver"] == ("unknown", "vfio-pci")
    assert told["Port 0: PCIe"] == ("unknown", "8.0 GT/s PCIe x4, able to do 8.0 GT/s PCIe x8")
    assert told["Port 0: Firmware"] == ("unknown", "9.50")
    assert told["Port 0: NUMA node"] == ("unknown", "unknown")
    assert told["Port 0: Link"] == ("25 Gbit/s", "unknown")
    assert told["Port 0: RX offloads"] == ("unknown", "SCATTER")
    assert told["Port 0: TX offloads"] == ("unknown", "none enabled")
    assert told["Port 0: Descriptors of a queue"] == ("unknown", "512 RX, 512 TX")
    # Of the second NIC the kernel was not asked.
    assert told["Port 1: PCIe"] == ("unknown", "unknown")


def test_trex_over_memif(campaign: Path, tmp_path: Path) -> None:
    generator = {
        "kind": "trex",
        "launch": {"config": "memif-server.cfg.yaml"},
        "forwarder": {"lcore": 1, "vdevs": [MEMIF.format(0), MEMIF.format(1)]},
    }
    ours = [port(f"port {number} (net_memif)") for number in range(2)]
    sides = side("TRex v3.08", 0, *ours), side("l2fwd-c", 1, port("net_memif0"), port("net_memif1"))
    folder = measured(campaign, tmp_path, generator, sides, hosts=this_machine())
    (found,), (words,), _ = drawn(folder)
    assert {wire.kind for wire in found.wires} == {"memif (shared memory)"}
    assert {"port 0 (net_memif)", "net_memif1", "memif (shared memory)"} <= set(words)


def test_a_device_that_somebody_else_runs_is_unknown(campaign: Path, tmp_path: Path) -> None:
    (found,), (words,), _ = drawn(measured(campaign, tmp_path, {"kind": "trex", "ports": [0], "server": "elsewhere"}))
    assert words.count("unknown: somebody else runs it; CPU unknown") == 2
    assert found.wires[0].kind == "unknown: the scenario does not describe it"


def test_a_guest_behind_an_emulated_nic(campaign: Path, tmp_path: Path) -> None:
    generator = {"kind": "embedded", "guest": {"nic": "e1000e"}}
    sides = (
        side("generator 0.1.0", 1, port("net_af_packet0")),
        side("l2fwd-c", 1, port("0000:01:00.0", driver="net_e1000_em")),
    )
    guest = {"cpu": "QEMU Virtual CPU", "cpus": [{**group, **LIMITS} for group in FOREIGN_CPUS], "nics": []}
    hosts = {**this_machine(), "l2fwd-c": guest, "l2fwd-rs": guest}
    (found,), (words,), text = drawn(measured(campaign, tmp_path, generator, sides, hosts=hosts))
    assert found.wires[0].kind == "TAP interface to the guest's NIC (e1000e, emulated by QEMU)"
    assert "guest VM (QEMU) of this machine; CPU 1, NUMA node 0" in words
    assert {"0000:01:00.0", "net_af_packet0", "Processor: QEMU Virtual CPU"} <= set(words)
    assert "guest's NIC (e1000e, emulated by QEMU)" in text


def test_a_device_on_another_host(campaign: Path, tmp_path: Path) -> None:
    devices = [{"name": "l2fwd-c", "host": {"name": "dut1"}}, {"name": "l2fwd-rs", "host": {"name": "dut2"}}]
    hosts = {"l2fwd-c": {"cpu": "One CPU"}, "l2fwd-rs": {"cpu": "Another CPU"}}
    found, words, _ = drawn(measured(campaign, tmp_path, {"kind": "embedded"}, hosts=hosts, devices=devices))
    assert [one.devices for one in found] == [("l2fwd-c",), ("l2fwd-rs",)]
    assert "host dut1; CPU unknown" in words[0]
    assert "Processor: Another CPU" in words[1]


def test_results_of_an_earlier_version_have_a_report_that_says_what_is_unknown(campaign: Path, tmp_path: Path) -> None:
    folder = measured(campaign, tmp_path, {"kind": "embedded"})
    machine = json.loads((folder / "environment.json").read_text())
    machine.pop("hosts")
    (folder / "environment.json").write_text(json.dumps(machine))
    (found,), _, text = drawn(folder)
    told = facts(found)
    for name in ("CPUs used", "Frequency governor", "Frequency at the start", "Port 0: MTU", "Port 0: RX offloads"):
        assert told[name] == ("unknown", "unknown"), name
    assert "| Port 0: Queues | unknown | unknown |" in text


def test_a_fact_of_a_nic_is_never_shown_as_zero(campaign: Path, tmp_path: Path) -> None:
    generator = {"kind": "trex", "ports": [0], "forwarder": {"lcore": 1, "nics": [THEIRS]}}
    nothing = {**NIC, "link_width": "0", "port_mbps": "0", "mtu": "", "link_speed": "Unknown"}
    (found,), _, _ = drawn(measured(campaign, tmp_path, generator, hosts=this_machine(nics=[nothing])))
    told = facts(found)
    assert {told[f"Port 0: {name}"][1] for name in ("PCIe", "Link", "MTU", "NUMA node", "Firmware")} == {"unknown"}
    assert all(value not in ("0", "", "-1") for name, pair in told.items() if "Port" in name for value in pair)


def test_models_have_a_topology_and_no_evidence(campaign: Path) -> None:
    page = (campaign / REPORT).read_text() if (campaign / REPORT).exists() else write_report(campaign).read_text()
    assert "no machine: a model" in page
    assert "The devices are models: no NIC, no CPU and no link took part." in page
    assert "CPUs used" not in page


def test_a_comparison_has_both(tmp_path: Path) -> None:
    folder = run_comparison(tmp_path, SMALL, sizes=(64,), blocks=7)
    write_report(folder)
    page = (folder / REPORT).read_text()
    assert "<figcaption>Topology: l2fwd-c and l2fwd-rs, load in one direction</figcaption>" in page
    assert '<section id="evidence">' in page


def test_a_name_cannot_break_out_of_the_drawing(campaign: Path, tmp_path: Path) -> None:
    evil = '"><script>alert(1)</script>'
    sides = side("generator", 1, port(f"net_{evil}")), side("l2fwd-c", 1, port("net_virtio_user0"))
    folder = measured(campaign, tmp_path, {"kind": "embedded"}, sides)
    write_report(folder)
    assert "<script>" not in (folder / REPORT).read_text()
