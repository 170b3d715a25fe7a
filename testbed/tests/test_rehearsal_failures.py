# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What goes wrong on real machines, provoked in virtual ones: the doctor names the cause and the remedy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rehearsal import AMD_IOMMU, IOMMU, Machine, boot

from testbed.vm.guest import Kernel
from testbed.vm.wire import Stream, await_forwarding, exchange, make_frames

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

# Only a hang lasts this long.
QUIET_S = 120.0


@pytest.fixture(scope="module")
def machine(
    rehearsal_kernel: Kernel, rehearsal_initramfs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Machine]:
    """One that can be prepared; each test puts back what it breaks. The other ones have Intel's IOMMU."""
    folder, nics = tmp_path_factory.mktemp("guest"), ["e1000e", "virtio-past-the-iommu"]
    with boot(rehearsal_kernel, rehearsal_initramfs, folder, nics, iommu=AMD_IOMMU, append="") as machine:
        outcome = machine.prepare(machine.addresses("e1000e"), "--hugepages", "160")
        assert outcome.status == 0, outcome.output
        yield machine


def forwarder_fails(machine: Machine, program: str, address: str) -> str:
    """The forwarder's message; it must end by itself and say something."""
    outcome = machine.guest.run(f"{program} -l 0 -a {address} --in-memory --no-telemetry -- -p 0x1", 60)
    assert outcome.status == 1, outcome.output
    assert "l2fwd: " in outcome.output
    return outcome.output


def check_fails(checks: dict[str, dict[str, Any]], name: str, found: str, remedy: str) -> None:
    check = checks[name]
    assert (check["verdict"], found in check["found"], remedy in check["remedy"]) == ("fail", True, True), check


def test_amds_iommu_is_read_and_forwards(machine: Machine) -> None:
    (nic,) = machine.pair("e1000e")
    checks = machine.doctor([nic.address])
    assert "AMD-Vi" in machine.guest.run("dmesg").output
    assert checks["IOMMU"]["found"].startswith("on, ")
    assert (checks["interrupt remapping"]["found"], checks[f"group of {nic.address}"]["verdict"]) == ("on", "ok")
    with machine.forwarding("l2fwd-rs", [nic]) as running:
        stream = Stream(nic.wire, nic.wire, make_frames(nic.wire, [60, 1514] * 100))
        await_forwarding([stream], QUIET_S)
        exchange([stream], 64, QUIET_S)
        assert running.stop().balanced
    assert len(stream.received) == len(stream.frames)
    assert "IO_PAGE_FAULT" not in machine.guest.run("dmesg").output


def test_vfio_without_its_part_for_the_iommu(machine: Machine) -> None:
    (address,) = machine.addresses("e1000e")
    machine.guest.check("rmmod vfio_iommu_type1")
    try:
        remedy = "modprobe -a vfio_iommu_type1"
        check_fails(machine.doctor([address]), "modules", "not loaded: vfio_iommu_type1", remedy)
        forwarder_fails(machine, "l2fwd-rs", address)
        machine.guest.check(remedy)
        assert machine.doctor([address])["modules"]["verdict"] == "ok"
    finally:
        machine.guest.run("modprobe vfio_iommu_type1")


def test_one_hugepage_only(machine: Machine) -> None:
    (address,) = machine.addresses("e1000e")
    before = machine.guest.check("cat /proc/sys/vm/nr_hugepages").strip()
    machine.guest.check("echo 1 >/proc/sys/vm/nr_hugepages")
    try:
        check_fails(machine.doctor([address]), "hugepages of node 0", "2 MB, at least 64 are needed", "nr_hugepages")
        forwarder_fails(machine, "l2fwd-c", address)
    finally:
        machine.guest.check(f"echo {before} >/proc/sys/vm/nr_hugepages")


def test_virtio_that_passes_the_iommu_by(machine: Machine) -> None:
    (address,) = machine.addresses("virtio-past-the-iommu")
    check_fails(machine.doctor([address]), f"trap 1 of {address}", "bypasses the IOMMU", "iommu_platform=on")


def test_interrupts_that_are_not_remapped(rehearsal_kernel: Kernel, rehearsal_initramfs: Path, tmp_path: Path) -> None:
    append = "intel_iommu=on intremap=off"
    with boot(rehearsal_kernel, rehearsal_initramfs, tmp_path, ["e1000e"], append=append) as machine:
        (address,) = machine.addresses()
        outcome = machine.prepare([address], "--hugepages", "160")
        assert (outcome.status, "interrupts are not remapped" in outcome.output) == (0, True), outcome.output
        checks = machine.doctor([address])
        check_fails(checks, "interrupt remapping", "No interrupt remapping support", "take intremap=off off")
        forwarder_fails(machine, "l2fwd-rs", address)
        machine.guest.check(checks["interrupt remapping"]["remedy"].rpartition("is trusted: ")[2])
        assert machine.doctor([address])["interrupt remapping"]["verdict"] == "warn"
        with machine.forwarding("l2fwd-rs", machine.nics) as running:
            assert running.stop().balanced


@pytest.mark.parametrize(
    ("iommu", "append", "found", "remedy"),
    [
        (
            IOMMU,
            "intel_iommu=off",
            "started with intel_iommu=off",
            "take intel_iommu=off off the kernel's command line",
        ),
        ([], "", "the firmware describes none", "VT-d or AMD-Vi"),
    ],
    ids=["off at boot", "not there, and an old CPU"],
)
def test_iommu_that_is_off(
    rehearsal_kernel: Kernel,
    rehearsal_initramfs: Path,
    tmp_path: Path,
    iommu: list[str],
    append: str,
    found: str,
    remedy: str,
) -> None:
    # The second one also has a CPU older than DPDK can use: both must be named.
    options = [] if iommu else ["-cpu", "qemu64"]
    with boot(
        rehearsal_kernel, rehearsal_initramfs, tmp_path, ["e1000e"], iommu=iommu, append=append, options=options
    ) as machine:
        (address,) = machine.addresses()
        checks = machine.doctor([address])
        check_fails(checks, "IOMMU", found, remedy)
        outcome = machine.prepare([address])
        assert (outcome.status, "no IOMMU is in use" in outcome.output) == (1, True), outcome.output
        assert checks["SIMD level"]["verdict"] == ("ok" if iommu else "fail")
        if not iommu:
            check_fails(checks, "SIMD level", "sse4_2", "DPDK needs SSE 4.2")
            outcome = machine.guest.run(
                "l2fwd-rs -l 0 --no-huge --no-pci --vdev=net_null0 --no-telemetry -- -p 0x1", 60
            )
            # 132 is SIGILL; where DPDK sees it first, it says so and ends.
            assert outcome.status in (1, 132), outcome.output


def test_nic_that_is_taken_out_while_it_forwards(
    rehearsal_kernel: Kernel, rehearsal_initramfs: Path, tmp_path: Path
) -> None:
    """VFIO keeps the NIC until the forwarder, which forwards on, ends in order; only then the NIC goes."""
    with boot(rehearsal_kernel, rehearsal_initramfs, tmp_path, ["e1000e", "e1000e"]) as machine:
        outcome = machine.prepare(machine.addresses(), "--hugepages", "160")
        assert outcome.status == 0, outcome.output
        left, right = machine.nics
        with machine.forwarding("l2fwd-rs", [left, right]) as running:
            before = Stream(left.wire, right.wire, make_frames(left.wire, [60] * 500))
            await_forwarding([before], QUIET_S)
            exchange([before], 64, QUIET_S)
            machine.qmp.ask("device_del", id=right.device)
            machine.guest.check("until dmesg | grep -q 'Relaying device request to user'; do usleep 50000; done")
            after = Stream(left.wire, right.wire, make_frames(left.wire, [60] * 500))
            exchange([after], 64, QUIET_S)
            final = running.stop()
        assert [len(before.received), len(after.received)] == [500, 500]
        assert final.balanced
        machine.qmp.wait_for("DEVICE_DELETED")
        machine.guest.check(f"until [ ! -e /sys/bus/pci/devices/{right.address} ]; do usleep 50000; done")
        outcome = machine.restore()
        assert outcome.status == 0, outcome.output
        assert f"{right.address} no longer exists: nothing to restore" in outcome.output
        assert f"{left.address}: e1000e again" in outcome.output
        assert "[DMA" not in machine.guest.run("dmesg").output
