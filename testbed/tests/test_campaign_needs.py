# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What `plan` and `doctor --scenario` say of NICs, CPUs and TRex, on machines that have and have not got them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from host_tree import DEVICES, NIC, SHARED, TWIN, Tree, server
from typer.testing import CliRunner

from testbed.campaign.needs import needs
from testbed.campaign.scenario_error import ScenarioError
from testbed.campaign.scenario_file import find_scenario, parse_scenario, read_scenario
from testbed.cli import app
from testbed.host.files import Host

CONNECTX = read_scenario(find_scenario(Path("connectx-25g")))
OTHER = "0000:af:00.1"
TREX = "name: s\ngenerator: {kind: trex, trex_home: HOME, launch: {config: CONFIG}}\ndevices: [{name: l2fwd-c}]\n"


def missing(tree: Tree, scenario=CONNECTX) -> list[str]:
    return list(needs(scenario).missing(Host(tree.root)))


def unpacked(home: Path) -> Path:
    """What a release of TRex has, of what is looked at."""
    (home / "automation/trex_control_plane/interactive/trex").mkdir(parents=True)
    (home / "t-rex-64").write_text("#!/bin/sh\n")
    (home / "t-rex-64").chmod(0o755)
    return home


def test_nics_and_cpus_are_those_of_the_scenario_and_of_trexs_configuration() -> None:
    found = needs(CONNECTX)
    assert found.nics == {NIC: "the devices", TWIN: "the devices", SHARED: "TRex", OTHER: "TRex"}
    assert found.cpus == {2: "the devices"} | dict.fromkeys(range(24, 38), "TRex")
    assert (found.trex_home, found.trex_config.name) == (Path("/opt/trex/v3.08"), "connectx-25g.cfg.yaml")
    memif = needs(read_scenario(find_scenario(Path("trex-memif"))))
    assert (memif.nics, memif.cpus) == ({}, {1: "the devices", 0: "TRex"})
    wire = parse_scenario(
        "name: s\ngenerator: {kind: embedded, lcore: 2, forwarder_lcore: 3}\ndevices: [{name: l2fwd-c}]\n", "s.yaml"
    )
    assert needs(wire).cpus == {2: "the generator", 3: "the devices"}


@pytest.mark.parametrize("name", ["xxv710-25g", "e810-25g", "connectx-25g", "trex-memif", "veth", "simulated"])
def test_every_scenario_is_read(name: str) -> None:
    found = needs(read_scenario(find_scenario(Path(name))))
    assert bool(found.nics) == name.endswith("-25g")


def test_what_is_on_another_host_is_its_matter() -> None:
    text = TREX.replace("CONFIG", "25g.cfg.yaml, host: {name: trex1}").replace("HOME", "/t")
    text = text.replace("{kind: trex,", '{kind: trex, ports: [0], forwarder: {lcore: 2, nics: ["18:00.0"]},')
    both = text.replace("{name: l2fwd-c}", "{name: l2fwd-c, host: {name: dut1}}")
    found = needs(parse_scenario(both, "s.yaml"))
    assert (found.nics, found.cpus, found.hosts) == ({}, {}, ["dut1", "trex1"])
    # One of two devices is here.
    found = needs(parse_scenario(both.replace("}]", "}, {name: l2fwd-rs}]"), "s.yaml"))
    assert (found.nics, found.hosts) == ({NIC: "the devices"}, ["dut1", "trex1"])


def test_what_a_machine_has_not_is_named(tmp_path: Path) -> None:
    tree = server(tmp_path / "machine")
    nics, cpus, trex = missing(tree)
    assert nics.startswith(f"NICs of TRex: {OTHER}; there are: ")
    assert nics.endswith(": correct interfaces of its configuration file (lspci -D)")
    assert cpus == "CPUs of TRex: 24-37; there are: 0-7 (lscpu -e=CPU,SOCKET,CORE)"
    assert trex == "TRex: no folder '/opt/trex/v3.08': unpack a release of it there, or correct trex_home"
    for address in (NIC, TWIN):
        tree.remove(f"{DEVICES}/{address}")
    tree.file("/sys/devices/system/cpu/online", "0-1")
    told = missing(tree)
    assert told[0].startswith(f"NICs of the devices: {NIC}, {TWIN}; there are: ")
    assert told[2] == "CPUs of the devices: 2; there are: 0-1 (lscpu -e=CPU,SOCKET,CORE)"


def test_nothing_is_missing_where_all_is_there(tmp_path: Path) -> None:
    tree = server(tmp_path / "machine")
    tree.nic(OTHER, "15b3:1019", "mlx5_core", group=41, node=1, interface="ens3")
    tree.file("/sys/devices/system/cpu/online", "0-63")
    home = unpacked(tmp_path / "trex")
    generator = CONNECTX.generator.model_dump() | {"trex_home": home}
    assert missing(tree, CONNECTX.changed(generator=generator)) == []
    (home / "t-rex-64").unlink()
    (told,) = missing(tree, CONNECTX.changed(generator=generator))
    assert told == f"TRex: no program 't-rex-64' in '{home}': it has to be built, or is not the whole release"


def test_without_a_folder_of_trex_the_environment_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = server(tmp_path / "machine")
    memif = read_scenario(find_scenario(Path("trex-memif")))
    monkeypatch.delenv("TREX_HOME", raising=False)
    assert missing(tree, memif) == ["TRex: its path is unknown: set trex_home in the scenario, or TREX_HOME"]
    monkeypatch.setenv("TREX_HOME", str(unpacked(tmp_path / "trex")))
    assert missing(tree, memif) == []


@pytest.mark.parametrize(
    "text", ["- version: 2\n", "interfaces: [a]\n", "- interfaces: [\n", "- interfaces: [dummy]\n  platform: 3\n", ""]
)
def test_a_configuration_that_cannot_be_read_is_an_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mine.cfg.yaml"
    file.write_text(text)
    scenario = parse_scenario(TREX.replace("HOME", "/t").replace("CONFIG", str(file)), "s.yaml")
    with pytest.raises(ScenarioError, match=r"mine\.cfg\.yaml: no configuration file of TRex: "):
        needs(scenario)
    file.unlink()
    with pytest.raises(ScenarioError, match=r"no TRex configuration '.*mine\.cfg\.yaml': give a file"):
        needs(scenario)


def test_the_doctor_takes_all_of_it_from_the_scenario(tmp_path: Path) -> None:
    tree = server(tmp_path / "machine")
    words = ["doctor", "--root", str(tree.root), "--scenario", "connectx-25g", "--cores", "3", "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["cores"]["found"] == "CPU 24-37 is not online; online: 0-7"
    assert (checks[OTHER]["verdict"], checks[OTHER]["found"]) == ("fail", "the device does not exist")
    assert f"driver of {NIC}" in checks
    assert checks["tree"]["verdict"] == "fail"


def test_the_doctor_says_of_a_scenario_that_there_is_none(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["doctor", "--scenario", str(tmp_path / "none.yaml")])
    assert done.exit_code == 2
    assert "none.yaml" in done.output


def test_the_plan_ends_with_what_is_missing() -> None:
    """Of this machine, whatever it has."""
    done = CliRunner().invoke(app, ["plan", "--scenario", "connectx-25g", "--sizes", "64", "--test", "throughput"])
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    told = list(needs(CONNECTX).missing(Host()))
    assert [line for line in lines if line.startswith("Missing here: ")] == [f"Missing here: {line}" for line in told]
    assert (lines[-1] == "All checks: ./x testbed doctor --scenario connectx-25g") is bool(told)
