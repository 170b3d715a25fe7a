# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""l2fwd-rs as a service under a running systemd, in a virtual machine with two NICs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from rehearsal import Machine, add_static_program, boot

from testbed.run.programs import repository_root
from testbed.vm.guest import Initramfs, Kernel, VmMissing
from testbed.vm.wire import Stream, await_forwarding, exchange, make_frames

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

PACKAGING = repository_root() / "l2fwd-rs/packaging"
SYSTEMD = Path("/usr/lib/systemd/systemd")
# From version 254 on a program of its own starts the services.
EXECUTOR = SYSTEMD.with_name("systemd-executor")
MODULES = ("e1000e", "vfio-pci", "vfio_iommu_type1")
# What a service needs by default; a whole system has more behind these names.
TARGETS = ("sysinit", "basic", "multi-user", "shutdown", "network-pre")
# Only a hang lasts this long: an emulated NIC on a busy machine may be silent for more than 20 s.
QUIET_S = 120.0
# It answers only to who is in its process namespace.
CTL = "nsenter -m -p -t $(cat /tmp/systemd.pid) systemctl"


@pytest.fixture
def initramfs(rehearsal_kernel: Kernel, tmp_path: Path) -> Path:
    """The service as its README installs it, systemd, and nothing else: no journal, no udev."""
    systemctl = shutil.which("systemctl")
    if systemctl is None or not SYSTEMD.exists():
        pytest.skip("systemd is not installed")
    folder = tmp_path / "image"
    built = Initramfs(folder, rehearsal_kernel, MODULES)
    add_static_program(built, "l2fwd-rs", folder, "/usr/local/bin")
    try:
        for program in (Path(systemctl), SYSTEMD, EXECUTOR):
            if program.exists():
                built.add(program)
    except VmMissing as error:
        pytest.skip(str(error))
    built.write_file("etc/systemd/system/l2fwd-rs.service", (PACKAGING / "l2fwd-rs.service").read_text())
    built.write_file("etc/systemd/system.conf", "[Manager]\nLogTarget=kmsg\n")
    # In place of the journal.
    kept = "[Service]\nStandardOutput=append:/run/output\nStandardError=append:/run/output\n"
    built.write_file("etc/systemd/system/l2fwd-rs.service.d/output.conf", kept)
    for target in TARGETS:
        built.write_file(f"usr/lib/systemd/system/{target}.target", f"[Unit]\nDescription={target}\n")
    built.write_file("etc/passwd", "root:x:0:0::/:/bin/sh\nl2fwd:x:990:990::/:/bin/false\n")
    built.write_file("etc/group", "root:x:0:\nl2fwd:x:990:\n")
    return built.write()


def bind(machine: Machine) -> None:
    """What host prepare and the rule of udev do."""
    for address in machine.addresses():
        machine.guest.check(f"""
            modprobe -a vfio-pci vfio_iommu_type1
            device=/sys/bus/pci/devices/{address}
            echo vfio-pci >$device/driver_override
            echo {address} >$device/driver/unbind
            echo {address} >/sys/bus/pci/drivers_probe
            group=/dev/vfio/$(basename $(readlink $device/iommu_group))
            chgrp l2fwd $group && chmod 660 $group""")
    machine.guest.check("echo 80 >/proc/sys/vm/nr_hugepages")


def configuration(machine: Machine) -> str:
    """The example with this machine's CPU and NICs in it."""
    left, right = machine.addresses()
    text = (PACKAGING / "l2fwd-rs.conf").read_text()
    for old, new in (
        ("-l 2-3 ", "-l 1 "),
        ("0000:18:00.0", left),
        ("0000:18:00.1", right),
        ('-q 1 -T 60"', '-q 2 -T 60"'),
    ):
        assert old in text
        text = text.replace(old, new)
    return text


def properties(machine: Machine, *names: str) -> dict[str, str]:
    asked = " ".join(f"-p {name}" for name in names)
    lines = machine.guest.check(f"{CTL} show {asked} l2fwd-rs").splitlines()
    return dict(line.split("=", 1) for line in lines)


def forwards(machine: Machine) -> None:
    left, right = machine.nics
    stream = Stream(left.wire, right.wire, make_frames(left.wire, [60, 1514] * 100))
    await_forwarding([stream], QUIET_S)
    exchange([stream], 64, QUIET_S)
    assert len(stream.received) == len(stream.frames)


def test_service_forwards_as_its_own_user_and_again_after_a_failure(
    rehearsal_kernel: Kernel, initramfs: Path, tmp_path: Path
) -> None:
    append = "intel_iommu=on printk.devkmsg=on"
    with boot(rehearsal_kernel, initramfs, tmp_path, ["e1000e", "e1000e"], append=append) as machine:
        bind(machine)
        # Of its process namespace systemd is the first, as of a machine.
        machine.guest.check(f"""
            cat >/etc/l2fwd-rs.conf <<'END'\n{configuration(machine)}END
            mkdir -p /run/systemd && mount -t cgroup2 none /sys/fs/cgroup || exit 1
            unshare -p -f -m --mount-proc {SYSTEMD} --system --unit=multi-user.target >/tmp/systemd 2>&1 &
            until cat /proc/$!/task/$!/children >/tmp/systemd.pid && {CTL} is-active multi-user.target >/dev/null; do
                [ -e /proc/$! ] || {{ cat /tmp/systemd; dmesg | tail -n 20; exit 1; }}
                usleep 100000
            done
            {CTL} enable --now l2fwd-rs || {{ dmesg | tail -n 40; exit 1; }}""")
        forwards(machine)
        status = machine.guest.check("cat /proc/$(pidof l2fwd-rs)/status")
        assert ("\nUid:\t990\t990\t990\t990\n" in status, "\nCapEff:\t0000000000000000\n" in status) == (True, True)
        machine.guest.check(f"""
            killall -KILL l2fwd-rs
            until [ "$({CTL} show -P NRestarts l2fwd-rs) $({CTL} is-active l2fwd-rs)" = '1 active' ]; do
                usleep 100000
            done""")
        forwards(machine)
        machine.guest.check(f"{CTL} stop l2fwd-rs")
        assert properties(machine, "Result", "ExecMainStatus", "ActiveState") == {
            "Result": "success",
            "ExecMainStatus": "0",
            "ActiveState": "inactive",
        }
        output = machine.guest.check("cat /run/output")
        # The first one was killed; the second one tells at its end what it has forwarded.
        assert output.count("l2fwd: forwarding, stop with") == 2, output
        assert output.count("l2fwd: final statistics after ") == 1, output
