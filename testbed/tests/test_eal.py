# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Where programs run and what their EAL is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.run import eal
from testbed.run.eal import EalOptions, hugepages_wanted, unique_file_prefix
from testbed.run.environment import boot_parameters, steal_percent
from testbed.run.lcores import parse_cpu_list, plan_lcores
from testbed.run.programs import ProgramMissing, find_program
from testbed.wire.virtual_wire import VirtualWire


def apart(*cpus: int) -> dict[int, frozenset[int]]:
    return {cpu: frozenset({cpu}) for cpu in cpus}


def test_two_cpus_are_shared_out():
    plan = plan_lcores([0, 1], apart(0, 1))
    assert (plan.generator, plan.forwarder, plan.warnings) == (0, 1, ())


def test_smt_siblings_are_avoided():
    pairs = [frozenset({0, 4}), frozenset({1, 5}), frozenset({2, 6}), frozenset({3, 7})]
    siblings = {cpu: pair for pair in pairs for cpu in pair}
    plan = plan_lcores(list(range(8)), siblings)
    assert plan.forwarder == 7
    assert plan.generator not in siblings[7]
    assert not plan.warnings


def test_siblings_are_used_with_a_warning_if_there_is_nothing_else():
    plan = plan_lcores([0, 1], {0: frozenset({0, 1}), 1: frozenset({0, 1})})
    assert plan.generator != plan.forwarder
    assert "share one physical core" in plan.warnings[0]


def test_one_cpu_is_enough_with_a_warning():
    plan = plan_lcores([3], apart(3))
    assert (plan.generator, plan.forwarder) == (3, 3)
    assert "only one CPU" in plan.warnings[0]


@pytest.mark.parametrize(("text", "cpus"), [("0-2,8\n", [0, 1, 2, 8]), ("5", [5]), ("", [])])
def test_cpu_lists(text, cpus):
    assert parse_cpu_list(text) == cpus


def test_eal_arguments_with_and_without_hugepages():
    options = EalOptions(1, "unique", ("net_null0", "net_null1"), hugepages=True)
    words = options.argv()
    assert words[:2] == ["-l", "1"]
    assert {"--in-memory", "--no-pci", "--file-prefix=unique", "--vdev=net_null0", "--vdev=net_null1"} <= set(words)
    assert "--no-huge" not in words
    assert "--no-huge" in EalOptions(1, "unique", (), hugepages=False).argv()


def test_prefixes_are_unique():
    assert len({unique_file_prefix("dut") for _ in range(100)}) == 100


@pytest.mark.parametrize(("told", "wanted"), [("1", True), ("0", False)])
def test_what_x_says_about_hugepages_is_believed(monkeypatch, told, wanted):
    monkeypatch.setenv("DPDK_HUGEPAGES", told)
    assert hugepages_wanted() is wanted


def test_without_x_the_kernel_is_asked(monkeypatch):
    monkeypatch.delenv("DPDK_HUGEPAGES", raising=False)
    monkeypatch.setattr(eal, "hugepages_free", lambda: 0)
    assert hugepages_wanted() is False
    monkeypatch.setattr(eal, "hugepages_free", lambda: 512)
    monkeypatch.setattr(eal, "_mounts", lambda: [["proc", "/proc", "proc"]])
    assert hugepages_wanted() is False


def test_the_wire_links_port_by_port_and_leaves_nothing():
    with VirtualWire(2) as wire:
        assert len(wire.generator_vdevs) == len(wire.forwarder_vdevs) == 2
        assert len(set(wire.generator_vdevs + wire.forwarder_vdevs)) == 4
        folder = Path(wire.forwarder_vdevs[0].rpartition("=")[2]).parent
        assert folder.is_dir()
    assert not folder.exists()


def test_a_missing_program_says_how_to_get_it(tmp_path):
    with pytest.raises(ProgramMissing, match=r"no program 'l2fwd-rs' in .*: build it with \./x build"):
        find_program("l2fwd-rs", [tmp_path])
    (tmp_path / "l2fwd-rs").write_text("not executable")
    with pytest.raises(ProgramMissing):
        find_program("l2fwd-rs", [tmp_path])


def test_the_first_folder_with_the_program_wins(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "generator").touch(mode=0o755)
    found = find_program("generator", [tmp_path / "none", tmp_path / "b", tmp_path / "a"])
    assert found.path == tmp_path / "b" / "generator"


def test_only_telling_boot_parameters_are_recorded():
    assert boot_parameters("root=/dev/vda token=secret isolcpus=2-3 nosmt") == "isolcpus=2-3 nosmt"
    assert boot_parameters("root=/dev/vda") == "none"


def test_steal_is_a_share_of_the_time_between():
    assert steal_percent((100, 1000), (150, 2000)) == 5.0
    assert steal_percent((1, 1), (1, 1)) is None
