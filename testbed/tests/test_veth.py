# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The wire through the kernel: its devices, what it asks the kernel for, and what it leaves behind."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from testbed.campaign.devices.l2fwd import L2fwd
from testbed.campaign.devices.program_host import LocalHost
from testbed.campaign.embedded.generator import EmbeddedGenerator
from testbed.campaign.embedded.setup import EmbeddedSetup
from testbed.campaign.scenario_error import ScenarioError
from testbed.campaign.scenario_file import parse_scenario, read_scenario, scenarios_folder
from testbed.campaign.traffic_generator import Pauses
from testbed.campaign.trial import Place, TrialPlan
from testbed.run.lcores import plan_lcores
from testbed.run.namespaces import NamespacesUnavailable
from testbed.run.process import ProcessError
from testbed.run.programs import Program
from testbed.wire import veth
from testbed.wire.veth import VethWire, interface_indexes, remove_stale


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What `ip` is told, which here does nothing but keep a list of interfaces."""
    lines: list[str] = []

    def ip(*argv: str) -> str:
        lines.append(" ".join(argv))
        match argv:
            case ("ip", "link", "add", ours, *_, theirs):
                (tmp_path / ours).touch()
                (tmp_path / theirs).touch()
            case ("ip", "link", "delete", one):
                for end in "gd":
                    (tmp_path / re.sub("[gd]", end, one)).unlink()
        return ""

    monkeypatch.setattr(veth, "run_tool", ip)
    monkeypatch.setattr(veth, "_INTERFACES", tmp_path)
    return lines


def test_each_port_has_a_pair_that_goes_away(asked: list[str], tmp_path: Path) -> None:
    owner = os.getpid()
    with VethWire(2, longest=1518) as wire:
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            f"tb{owner}{end}{port}" for end in "dg" for port in (0, 1)
        ]
        assert wire.generator_vdevs[1] == f"net_af_packet1,iface=tb{owner}g1,blocksz=4096,framesz=2048,framecnt=512"
        assert wire.forwarder_vdevs[0].startswith(f"net_af_packet0,iface=tb{owner}d0,")
        assert f"ip link set tb{owner}d1 address {wire.forwarder_mac(1)}" in asked
    assert not list(tmp_path.iterdir())
    # The names are as long as the kernel allows, whatever the process.
    assert len(f"tb{4 * 1024 * 1024}g15") <= 15


@pytest.mark.parametrize("first", [1, 9780, 32_700, 4_194_000])
def test_neighbouring_processes_have_groups_of_their_own(first: int) -> None:
    # As af_packet names them: a generator, and a forwarder that was started around the same time.
    groups = [
        {
            (process ^ interface_indexes(first, port)[end]) & 0xFFFF
            for process in range(first, first + 50)
            for port in (0, 1)
        }
        for end in (0, 1)
    ]
    assert groups[0].isdisjoint(groups[1])
    indexes = [index for port in range(16) for index in interface_indexes(first, port)]
    assert len(set(indexes)) == 32
    assert 0 < min(indexes) <= max(indexes) < 2**31


def test_long_frames_have_long_slots() -> None:
    assert "framesz=2048," in VethWire(1, longest=1518).generator_vdevs[0]
    assert "blocksz=16384,framesz=16384," in VethWire(1, longest=9000).generator_vdevs[0]


def test_what_a_killed_process_has_left_goes_and_nothing_else(asked: list[str], tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    for name in (f"tb{ended.pid}g0", f"tb{ended.pid}d0", f"tb{os.getpid()}g7", "eth0"):
        (tmp_path / name).touch()
    assert remove_stale(tmp_path) == [f"tb{ended.pid}d0", f"tb{ended.pid}g0"]
    # The other end goes with it.
    assert asked == [f"ip link delete tb{ended.pid}d0"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["eth0", f"tb{os.getpid()}g7"]


def test_a_refusal_names_the_remedy_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*argv: str) -> str:
        raise NamespacesUnavailable("'ip link add' failed: RTNETLINK answers: Operation not permitted")

    monkeypatch.setattr(veth, "run_tool", refuse)
    monkeypatch.setattr(veth, "_INTERFACES", tmp_path)
    with pytest.raises(ProcessError, match=r"no veth pair can be made: .*not permitted: be root, or leave wire out"):
        VethWire(1, longest=64).__enter__()


def test_the_scenario_is_one() -> None:
    scenario = read_scenario(scenarios_folder() / "veth.yaml")
    assert scenario.generator.wire == "veth"
    text = "name: s\ngenerator: {kind: embedded, wire: radio}\ndevices: [{name: l2fwd-c}]\n"
    with pytest.raises(ScenarioError, match=r"s\.yaml:2: generator.*wire: .*'virtual' or 'veth', not 'radio'"):
        parse_scenario(text, "s.yaml")


@pytest.mark.e2e
def test_real_frames_pass_through_the_kernel(
    tmp_path: Path, forwarder_program: Program, generator_program: Program
) -> None:
    if os.geteuid() != 0:
        pytest.skip("veth pairs need root")
    setup = EmbeddedSetup(
        device=forwarder_program.name,
        kind=L2fwd(forwarder_program, (), LocalHost()),
        generator=generator_program,
        sizes=("imix",),
        directions=1,
        lcores=plan_lcores(),
        hugepages=False,
        pauses=Pauses(before_s=0, residual_s=0.5, settle_s=0),
        raw=tmp_path / "raw",
        wire=VethWire(1, longest=1518),
    )
    try:
        generator = EmbeddedGenerator(setup)
    except ProcessError as error:
        pytest.skip(str(error))
    result = generator.run(TrialPlan(size="imix", load_fps=500, duration_s=0.5))
    generator.close()
    assert result.received > 0
    # Nothing of the kernel's own comes among the frames.
    assert not any(result.raw["checks"].values())
    assert set(result.lost_at) <= {Place.WIRE}
    assert not list(Path("/sys/class/net").glob(f"tb{os.getpid()}*"))
