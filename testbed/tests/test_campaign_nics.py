# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a scenario takes from the profile of its NICs, what it refuses, and `./x testbed profile`. No NIC is needed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

from testbed.campaign.devices import l2fwd
from testbed.campaign.devices.program_host import LocalHost
from testbed.campaign.devices.testpmd import Testpmd
from testbed.campaign.scenario_error import ScenarioError
from testbed.campaign.scenario_file import parse_scenario, read_scenario, scenarios_folder
from testbed.campaign.trex.device import JoinedDevice
from testbed.cli import app
from testbed.nics.table import NAMES, PROFILES
from testbed.run.eal import EalOptions
from testbed.run.programs import Program, repository_root

TEXT = """\
name: s
generator:
  kind: trex
  line_rate_bps: 25.0e+9
  ports: [0]
  forwarder: {lcore: 2, nics: ["0000:18:00.0"], nic: xxv710}
devices:
  - name: l2fwd-c
"""


# Those that stand for themselves: E1000 and igb are what QEMU emulates, the others of NVIDIA go like the first.
SCENARIOS = {
    "xxv710-25g": "xxv710",
    "x710-10g": "x710",
    "x520-10g": "x520",
    "e810-25g": "e810",
    "connectx-25g": "connectx-5",
    "virtio": "virtio",
    "vmxnet3": "vmxnet3",
    "ena": "ena",
}
WITHOUT = {"connectx-6", "connectx-7", "e1000", "igb"}


def test_each_profile_has_a_ready_scenario_or_needs_none() -> None:
    found = {}
    for file in scenarios_folder().glob("*.yaml"):
        forwarder = getattr(read_scenario(file).generator, "forwarder", None)
        if forwarder is not None and forwarder.nic is not None:
            found[file.stem] = forwarder.nic
    assert found == SCENARIOS
    assert {*SCENARIOS.values(), *WITHOUT} == set(NAMES)


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_ready_scenarios_say_what_their_nics_are(name: str) -> None:
    generator = read_scenario(scenarios_folder() / f"{name}.yaml").generator
    known = NAMES[SCENARIOS[name]]
    assert generator.forwarder.profile is known
    # Virtual ones have the rate that the machine below gives them.
    assert (generator.line_rate_bps is None) == known.is_virtual


@pytest.mark.parametrize("name", SCENARIOS)
def test_trex_s_configuration_suits_the_scenario(name: str) -> None:
    generator = read_scenario(scenarios_folder() / f"{name}.yaml").generator
    (trex,) = YAML(typ="safe").load(repository_root() / "testbed/trex" / generator.launch.config)
    ports = [interface for interface in trex["interfaces"] if interface != "dummy"]
    assert (len(ports), len(trex["interfaces"]) % 2) == (len(generator.ports), 0)
    assert len(trex["port_info"]) == len(trex["interfaces"])
    platform = trex["platform"]
    (pair,) = platform["dual_if"]
    cores = [platform["master_thread_id"], platform["latency_thread_id"], *pair["threads"]]
    assert (len(pair["threads"]), len(set(cores))) == (generator.launch.cores, len(cores))
    if not NAMES[SCENARIOS[name]].is_virtual:
        assert 1e9 * trex["port_bandwidth_gb"] == generator.line_rate_bps


def test_device_arguments_and_descriptors_are_the_profile_s(tmp_path: Path) -> None:
    def joint(text: str):
        settings = parse_scenario(text, "s.yaml").generator.forwarder
        return JoinedDevice(Testpmd((), "mac", LocalHost()), settings, False, 64, tmp_path)._joint

    intel = joint(TEXT)
    assert (intel.nics, intel.descriptors) == (("0000:18:00.0",), (2048, 2048))
    nvidia = joint(TEXT.replace("xxv710", "connectx-6"))
    assert (nvidia.nics, nvidia.descriptors) == (("0000:18:00.0,mprq_en=1,rxqs_min_mprq=1",), (1024, 1024))
    # Arguments of one's own stay alone.
    own = joint(TEXT.replace("xxv710", "connectx-6").replace('00.0"', '00.0,mprq_en=0"'))
    assert own.nics == ("0000:18:00.0,mprq_en=0",)
    words = Testpmd((), "mac", LocalHost()).argv(intel)
    assert {"--rxd=2048", "--txd=2048", "--allow=0000:18:00.0"} <= set(words)
    assert joint(TEXT.replace(", nic: xxv710", "")).descriptors is None


def test_the_twins_are_told_the_descriptors_before_their_own_options(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = []

    class Started(SimpleNamespace):
        def __init__(self, program: Program, eal: EalOptions, options: list[str], *_: object, **__: object) -> None:
            told.append((eal.nics, options))
            super().__init__(process=SimpleNamespace(start=lambda: None))

    monkeypatch.setattr(l2fwd, "Forwarder", Started)
    settings = parse_scenario(TEXT, "s.yaml").generator.forwarder
    kind = l2fwd.L2fwd(Program("l2fwd-c", "C", Path("x")), ("--rxd", "512"), LocalHost())
    joined = JoinedDevice(kind, settings, False, 64, tmp_path)
    joined._kind.begin(joined._joint, "one")
    ((nics, options),) = told
    assert nics == ("0000:18:00.0",)
    assert options[-6:] == ["--rxd", "2048", "--txd", "2048", "--rxd", "512"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("xxv710", "xyz9"), r"s\.yaml:6: .*no profile for the NIC 'xyz9': choose from xxv710, x710, e810, "),
        (
            ("25.0e", "10.0e"),
            r"s\.yaml:4: .*1e\+10 is not a rate of Intel XXV710 .*: give one of 2\.5e\+10, or",
        ),
        (
            ("name: l2fwd-c", "{name: l2fwd-c, options: [--rxd, '100']}"),
            r"s\.yaml:8: .*device 'l2fwd-c': --rxd: 100 descriptors: the device takes 64 to 4096, a multiple of 32",
        ),
        (
            ("name: l2fwd-c", "{name: l2fwd-c, options: [--txd=64, --txd=8192]}"),
            r"--txd: 8192 descriptors: the device takes 64 to 4096",
        ),
        (
            ('nics: ["0000:18:00.0"]', "vdevs: [net_null0]"),
            r"nic describes the NICs in nics \(PCI addresses\), but nics is",
        ),
    ],
)
def test_what_the_nics_cannot_do_is_refused(change: tuple[str, str], message: str) -> None:
    old, new = change
    with pytest.raises(ScenarioError, match=message):
        parse_scenario(TEXT.replace(old, new), "s.yaml")
    assert parse_scenario(TEXT.replace("l2fwd-c", "l2fwd-c\n    options: [--rxd, '4096']"), "s.yaml")


def test_the_plan_names_the_nics(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["plan", "--scenario", "connectx-25g", "--preset", "quick", "--sizes", "64"])
    assert done.exit_code == 0
    assert "0000:18:00.0,mprq_en=1,rxqs_min_mprq=1" in done.output
    assert "1024 RX and 1024 TX descriptors, 1 queue pair; 5 things to mind: ./x testbed profile" in done.output


def test_each_profile_has_a_name_and_is_shown() -> None:
    assert set(map(id, NAMES.values())) == set(map(id, PROFILES))
    listed = CliRunner().invoke(app, ["profile"]).output
    assert all(name in listed for name in NAMES)
    for name, known in NAMES.items():
        by_name = CliRunner().invoke(app, ["profile", name])
        assert by_name.exit_code == 0
        assert [known.name in by_name.output, known.driver in by_name.output] == [True, True]
        assert all(trap.text in by_name.output for trap in known.traps)
        assert CliRunner().invoke(app, ["profile", next(iter(known.ids))]).output == by_name.output
    strange = CliRunner().invoke(app, ["profile", "rtl8139"])
    assert strange.exit_code == 1
    assert "no profile for the NIC 'rtl8139': choose from xxv710" in strange.output
