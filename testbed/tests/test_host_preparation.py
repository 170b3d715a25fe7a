# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Preparing a machine and putting it back, on a made-up one that loses its power at every point."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from host_tree import DEVICES, NIC, SHARED, TWIN, UPLINK, Crash, SimulatedKernel, Tree, unprepared

from testbed.host import journal as journals
from testbed.host.journal import Journal, JournalError
from testbed.host.plan import Plan, PlanError, Wish, command_line, make_plan
from testbed.host.preparation import prepare, restore
from testbed.host.steps import Bind, StepError

WISH = Wish(nics=(NIC,), cores=(2, 3), hugepages_mb=256)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return unprepared(tmp_path / "machine")


@pytest.fixture
def kernel(tree: Tree) -> SimulatedKernel:
    return SimulatedKernel(tree)


@pytest.fixture
def journal(kernel: SimulatedKernel, tmp_path: Path) -> Journal:
    return Journal(tmp_path / "state/host.jsonl", kernel)


@pytest.fixture(autouse=True)
def synced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the times that the journal is synced to disk, which would take these tests most of their time."""
    files: list[int] = []
    monkeypatch.setattr(journals.os, "fsync", files.append)
    return files


def do(kernel: SimulatedKernel, journal: Journal, wish: Wish = WISH) -> list[str]:
    told: list[str] = []
    with journal.locked():
        prepare(kernel, make_plan(kernel, wish), journal, told.append)
    return told


def undo(kernel: SimulatedKernel, journal: Journal) -> list[str]:
    told: list[str] = []
    with journal.locked():
        restore(kernel, journal, told.append)
    return told


def everything(kernel: SimulatedKernel) -> tuple[dict[str, str], dict[str, list[str]]]:
    return kernel.tree.snapshot(), {name: list(found) for name, found in kernel.addresses.items()}


def test_prepared_machine_is_what_was_asked_for(kernel: SimulatedKernel, journal: Journal) -> None:
    told = do(kernel, journal)
    assert kernel.link(f"{DEVICES}/{NIC}/driver") == "vfio-pci"
    assert kernel.link(f"{DEVICES}/{TWIN}/driver") == "i40e"
    pool = "/sys/devices/system/node/node{}/hugepages/hugepages-2048kB/nr_hugepages"
    assert [kernel.number(pool.format(node)) for node in (0, 1)] == [128, 0]
    governor = "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor"
    assert [kernel.text(governor.format(cpu)) for cpu in (1, 2, 3)] == ["powersave", "performance", "performance"]
    assert [kernel.text(f"/proc/irq/{irq}/smp_affinity_list") for irq in (30, 31, 33)] == ["0-1,4-7", "0-1,4-7", "0-7"]
    assert "CPUs of IRQ 33: the kernel refuses (Input/output error); left as it is" in told
    assert "hugetlbfs" in (kernel.text("/proc/mounts") or "")
    assert make_plan(kernel, WISH).steps == [step for step in make_plan(kernel, WISH).steps if "IRQ 33" in step.title]


def test_each_change_is_on_disk_before_it_is_made(
    kernel: SimulatedKernel, journal: Journal, synced: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int]] = []
    real = kernel._change

    def change(make: Callable[[], None]) -> None:
        seen.append((len(synced), len(journal.read()[0])))
        real(make)

    monkeypatch.setattr(kernel, "_change", change)
    do(kernel, journal)
    entries = [number for _, number in seen]
    assert entries[0] == 1
    assert entries == sorted(entries)
    assert all(syncs > number for syncs, number in seen)


def test_restored_machine_is_what_it_was(kernel: SimulatedKernel, journal: Journal) -> None:
    before = everything(kernel)
    kernel.tree.file("/sys/class/net/ens1f0/mtu", "9000")
    before = everything(kernel)
    do(kernel, journal)
    assert everything(kernel) != before
    undo(kernel, journal)
    assert everything(kernel) == before
    assert not journal.path.exists()
    changes = kernel.changes
    undo(kernel, journal)
    assert kernel.changes == changes


def count_changes(tmp_path: Path) -> int:
    kernel = SimulatedKernel(unprepared(tmp_path / "trial"))
    do(kernel, Journal(tmp_path / "trial-state/host.jsonl", kernel))
    return kernel.changes


@pytest.mark.parametrize("after", [False, True], ids=["before the change", "after the change"])
def test_power_lost_at_every_change_can_be_restored(tmp_path: Path, after: bool) -> None:
    total = count_changes(tmp_path)
    assert total > 8
    for number in range(1, total + 1):
        kernel = SimulatedKernel(unprepared(tmp_path / f"machine-{number}"))
        journal = Journal(tmp_path / f"state-{number}/host.jsonl", kernel)
        before = everything(kernel)
        kernel.crash_at, kernel.crash_after = number, after
        with pytest.raises(Crash):
            do(kernel, journal)
        kernel.crash_at = None
        undo(kernel, journal)
        assert everything(kernel) == before, f"change {number} of {total}"


def test_power_lost_while_restoring_can_be_restored(tmp_path: Path) -> None:
    kernel = SimulatedKernel(unprepared(tmp_path / "counted"))
    journal = Journal(tmp_path / "counted-state/host.jsonl", kernel)
    do(kernel, journal)
    made = kernel.changes
    undo(kernel, journal)
    total = kernel.changes - made
    for number in range(1, total + 1):
        kernel = SimulatedKernel(unprepared(tmp_path / f"machine-{number}"))
        journal = Journal(tmp_path / f"state-{number}/host.jsonl", kernel)
        before = everything(kernel)
        do(kernel, journal)
        kernel.changes, kernel.crash_at = 0, number
        with pytest.raises(Crash):
            undo(kernel, journal)
        kernel.crash_at = None
        undo(kernel, journal)
        assert everything(kernel) == before, f"change {number} of {total}"


def test_failing_change_undoes_those_before(kernel: SimulatedKernel, journal: Journal) -> None:
    before = everything(kernel)
    plan = make_plan(kernel, WISH)
    kernel.refuses = "drivers_probe"
    refusal = f"{NIC}: cannot be bound to vfio-pci: Invalid argument"
    with journal.locked(), pytest.raises(StepError, match=refusal):
        prepare(kernel, plan, journal, lambda _: None)
    kernel.refuses = ""
    undo(kernel, journal)
    assert everything(kernel) == before


def test_too_few_hugepages_are_an_error_and_given_back(kernel: SimulatedKernel, journal: Journal) -> None:
    before = everything(kernel)
    kernel.pages_there = 20
    with pytest.raises(StepError, match="the kernel found 20 of 128 pages"):
        do(kernel, journal)
    assert everything(kernel) == before
    assert not journal.path.exists()


def test_second_preparation_adds_to_the_record(kernel: SimulatedKernel, journal: Journal) -> None:
    before = everything(kernel)
    do(kernel, journal)
    do(kernel, journal, Wish(nics=(NIC, TWIN), cores=(2, 3), hugepages_mb=512))
    assert kernel.link(f"{DEVICES}/{TWIN}/driver") == "vfio-pci"
    undo(kernel, journal)
    assert everything(kernel)[0].keys() == before[0].keys()
    assert everything(kernel) == before


def test_after_a_new_start_nothing_is_written(kernel: SimulatedKernel, journal: Journal, tmp_path: Path) -> None:
    do(kernel, journal)
    other = unprepared(tmp_path / "again")
    other.file("/proc/sys/kernel/random/boot_id", "99999999-0000-0000-0000-000000000000")
    started = SimulatedKernel(other)
    before = everything(started)
    told = undo(started, Journal(journal.path, started))
    assert told == ["the machine was started again since: what was changed is gone by itself"]
    assert (everything(started), started.changes, journal.path.exists()) == (before, 0, False)


def test_record_of_an_earlier_start_is_replaced(kernel: SimulatedKernel, journal: Journal, tmp_path: Path) -> None:
    do(kernel, journal)
    other = unprepared(tmp_path / "again")
    other.file("/proc/sys/kernel/random/boot_id", "99999999-0000-0000-0000-000000000000")
    started = SimulatedKernel(other)
    before = everything(started)
    do(started, Journal(journal.path, started))
    undo(started, Journal(journal.path, started))
    assert everything(started) == before


def test_cut_off_last_line_is_a_change_that_was_not_made(kernel: SimulatedKernel, journal: Journal) -> None:
    before = everything(kernel)
    do(kernel, journal)
    with journal.path.open("a") as file:
        file.write('{"kind": "value", "pa')
    assert journal.read()[0][-1]["kind"] == "value"
    undo(kernel, journal)
    assert everything(kernel) == before


def test_file_that_is_no_record_is_not_touched(kernel: SimulatedKernel, journal: Journal) -> None:
    journal.path.parent.mkdir(parents=True)
    journal.path.write_text("something else\n")
    with pytest.raises(JournalError, match="is not a record of host prepare"):
        undo(kernel, journal)
    assert journal.path.read_text() == "something else\n"


def test_two_at_once_are_kept_apart(kernel: SimulatedKernel, journal: Journal) -> None:
    with (
        journal.locked(),
        pytest.raises(JournalError, match="another prepare or restore is at work"),
        Journal(journal.path, kernel).locked(),
    ):
        pass


def test_nic_in_use_is_not_taken_away(kernel: SimulatedKernel, journal: Journal) -> None:
    do(kernel, journal)
    kernel.tree.file("/proc/4711/comm", "l2fwd-rs")
    kernel.tree.link("/proc/4711/fd/9", "/dev/vfio/20")
    with pytest.raises(StepError, match=rf"{NIC} is in use by process 4711 \(l2fwd-rs\): end it first"):
        undo(kernel, journal)
    kernel.tree.remove("/proc/4711")
    undo(kernel, journal)
    assert kernel.link(f"{DEVICES}/{NIC}/driver") == "i40e"


def test_nic_that_is_gone_does_not_stop_restoring(kernel: SimulatedKernel, journal: Journal) -> None:
    do(kernel, journal)
    kernel.tree.remove(f"{DEVICES}/{NIC}")
    assert f"{NIC} no longer exists: nothing to restore" in undo(kernel, journal)
    assert not journal.path.exists()


def refused(kernel: SimulatedKernel, **wish: object) -> str:
    with pytest.raises(PlanError) as error:
        make_plan(kernel, Wish(**{"nics": (NIC,), **wish}))  # type: ignore[arg-type]
    return str(error.value)


def test_vital_nics_are_refused(kernel: SimulatedKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    assert "carries the default route" in refused(kernel, nics=(UPLINK,))
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.9 50000 10.0.0.1 22")
    assert "carries the SSH connection from 10.0.0.9" in refused(kernel, nics=(TWIN,))
    # sudo takes the variable away; an ancestor still has it.
    monkeypatch.delenv("SSH_CONNECTION")
    kernel.tree.file("/proc/self/status", "PPid:\t50")
    kernel.tree.file("/proc/50/status", "PPid:\t1")
    kernel.tree.file("/proc/50/environ", "HOME=/\0SSH_CONNECTION=10.0.0.9 50000 10.0.0.1 22\0")
    assert "carries the SSH connection from 10.0.0.9" in refused(kernel, nics=(TWIN,))


def test_nic_below_a_bridge_with_the_default_route_is_refused(kernel: SimulatedKernel) -> None:
    kernel.tree.file("/proc/net/route", (kernel.text("/proc/net/route") or "").replace("eno1", "br0"))
    kernel.tree.folder("/sys/class/net/br0/lower_bond0")
    kernel.tree.folder("/sys/class/net/bond0/lower_ens1f0")
    assert "carries the default route" in refused(kernel)
    assert make_plan(kernel, Wish(nics=(UPLINK,))).steps


def test_default_route_of_ipv6_counts(kernel: SimulatedKernel) -> None:
    zeros = "0" * 32
    kernel.tree.file(
        "/proc/net/ipv6_route", f"{zeros} 00 {zeros} 00 {zeros} 00000400 00000001 00000000 00450003   ens1f0"
    )
    assert "carries the default route" in refused(kernel)


def test_what_is_not_there_is_refused(kernel: SimulatedKernel) -> None:
    assert refused(kernel, nics=("0000:99:00.0",)).startswith("0000:99:00.0: no such device; NICs of this")
    assert refused(kernel, cores=(2, 9)) == "CPU 9 is not there; online: 0-7"
    assert "leave at least one" in refused(kernel, cores=tuple(range(8)))
    assert "no hugepages of 4096 kB; it has: 1 GB, 2 MB" in refused(kernel, page_kb=4096)


def test_without_iommu_the_boot_parameter_is_told(kernel: SimulatedKernel) -> None:
    kernel.tree.remove("/sys/kernel/iommu_groups")
    assert "add intel_iommu=on iommu=pt to the kernel's command line" in refused(kernel)


def test_group_shared_with_another_driver_is_refused(kernel: SimulatedKernel) -> None:
    kernel.tree.remove(f"/sys/kernel/iommu_groups/21/devices/{TWIN}")
    kernel.tree.in_group(TWIN, 20)
    assert f"shares IOMMU group 20 with {TWIN} (i40e)" in refused(kernel)
    both = make_plan(kernel, Wish(nics=(NIC, TWIN)))
    assert [step.address for step in both.steps if isinstance(step, Bind)] == [NIC, TWIN]


def test_shared_driver_is_left_alone_and_told(kernel: SimulatedKernel) -> None:
    plan = make_plan(kernel, Wish(nics=(SHARED,), hugepages_mb=0))
    assert plan.steps == []
    assert plan.told == [f"{SHARED} stays with mlx5_core: DPDK shares it with the kernel"]


def test_boot_parameters_and_irqbalance_are_told(kernel: SimulatedKernel) -> None:
    kernel.tree.file("/proc/cmdline", "quiet isolcpus=2-3")
    kernel.tree.file("/proc/812/comm", "irqbalance")
    told = make_plan(kernel, WISH).told
    assert "only at boot, so not done: add nohz_full=2-3 rcu_nocbs=2-3 to the kernel's command line" in told
    assert any(line.startswith("irqbalance runs") for line in told)


def test_command_line_has_the_profiles_options(kernel: SimulatedKernel) -> None:
    assert command_line(kernel, WISH) == (
        f"target/static/dist/l2fwd-rs -l 2-3 -a {NIC} -- -p 0x1 -q 1 --rxd 2048 --txd 2048"
    )
    shared = command_line(kernel, Wish(nics=(SHARED,), cores=(4,))) or ""
    assert shared.startswith(f"target/dist/l2fwd-rs -l 4 -a {SHARED},mprq_en=1,rxqs_min_mprq=1 -- ")


def test_empty_plan_leaves_no_record(kernel: SimulatedKernel, journal: Journal) -> None:
    prepare(kernel, Plan(), journal, lambda _: None)
    assert not journal.path.exists()
