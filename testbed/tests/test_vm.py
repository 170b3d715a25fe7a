# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a virtual machine is made of; the machine itself is tried by the tests that use one."""

from __future__ import annotations

import lzma
import socket
import subprocess
from pathlib import Path

import pytest

from testbed.run.process import Process, ProcessError
from testbed.vm import guest as vm
from testbed.vm.guest import Guest, Initramfs, Kernel, VmMissing, find_kernel, need_tools


def make_kernel(root: Path, release: str, folder: str = "lib/modules", vfio: bool = True) -> Kernel:
    image, modules = root / f"boot/vmlinuz-{release}", root / folder / release
    for file in (image, modules / "kernel/drivers/net/e1000e.ko", modules / "kernel/drivers/ptp/ptp.ko.xz"):
        file.parent.mkdir(parents=True, exist_ok=True)
    image.write_bytes(b"kernel")
    (modules / "kernel/drivers/net/e1000e.ko").write_bytes(b"ELF\0depends=ptp\0name=e1000e\0")
    (modules / "kernel/drivers/ptp/ptp.ko.xz").write_bytes(lzma.compress(b"ELF\0depends=\0name=ptp\0"))
    if vfio:
        (modules / "kernel/drivers/vfio/pci").mkdir(parents=True)
        (modules / "kernel/drivers/vfio/pci/vfio-pci.ko").write_bytes(b"")
    return Kernel(image, modules)


def test_newest_kernel_of_the_first_place_is_taken(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    make_kernel(first, "6.1.0-9-amd64")
    newest = make_kernel(first, "6.1.0-56-amd64", "usr/lib/modules")
    make_kernel(first, "6.12.0-1-cloud-amd64", vfio=False)
    make_kernel(second, "7.0.0-1-amd64")
    assert find_kernel([first, second]) == newest
    assert newest.release == "6.1.0-56-amd64"


def test_a_kernel_that_is_unpacked_already_is_preferred(tmp_path: Path) -> None:
    packed = make_kernel(tmp_path, "6.1.0-56-amd64")
    make_kernel(tmp_path, "6.1.0-9-amd64").image.with_name("vmlinux-6.1.0-9-amd64").write_bytes(b"kernel")
    assert find_kernel([tmp_path]) == packed
    unpacked = tmp_path / "boot/vmlinux-6.1.0-56-amd64"
    unpacked.write_bytes(b"kernel")
    assert find_kernel([tmp_path]) == Kernel(unpacked, packed.modules)


def test_without_kernel_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(VmMissing, match=rf"no kernel with VFIO in {tmp_path}/boot: run .ci/guest-kernel"):
        find_kernel([tmp_path])


def test_without_qemu_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vm.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(vm.shutil, "which", lambda _: None)
    with pytest.raises(VmMissing, match="install the package qemu-system-x86"):
        need_tools()
    monkeypatch.setattr(vm.platform, "machine", lambda: "riscv64")
    with pytest.raises(VmMissing, match="and this is riscv64"):
        need_tools()


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    try:
        need_tools()
    except VmMissing as error:
        pytest.skip(str(error))
    return make_kernel(tmp_path, "6.1.0-9-amd64")


def test_initramfs_has_programs_libraries_and_modules_with_what_they_need(kernel: Kernel, tmp_path: Path) -> None:
    initramfs = Initramfs(tmp_path / "guest", kernel, ["e1000e", "built-in"])
    initramfs.add(Path("/bin/sh"), "/bin/other")
    packed = initramfs.write()
    with packed.open("rb") as file:
        listed = subprocess.run([vm.BUSYBOX, "cpio", "-t"], stdin=file, capture_output=True, text=True, check=True)
    names = set(listed.stdout.split())
    modules = "lib/modules/6.1.0-9-amd64"
    assert {"init", "bin/busybox", "bin/other", f"{modules}/e1000e.ko", f"{modules}/ptp.ko"} <= names
    assert any(name.endswith("/libc.so.6") for name in names)
    assert (tmp_path / "guest/root" / modules / "ptp.ko").read_bytes().startswith(b"ELF")


def test_guest_that_does_not_start_is_told_with_qemus_words(kernel: Kernel, tmp_path: Path) -> None:
    packed = Initramfs(tmp_path / "guest", kernel, []).write()
    with pytest.raises(ProcessError, match=r"ended before (.|\n)*qemu: linux kernel too old"):
        Guest(kernel, packed, tmp_path).__enter__()


def test_guest_that_hung_is_asked_nothing_more(kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guest = Guest(kernel, tmp_path / "initramfs", tmp_path)
    ours, guests = socket.socketpair()
    ours.settimeout(0.01)
    monkeypatch.setattr(guest, "_socket", ours, raising=False)
    with ours, guests, Process("qemu", ["sleep", "1000"], tmp_path) as process:
        monkeypatch.setattr(guest, "_process", process)
        with pytest.raises(ProcessError, match="no sign of the end of 'first'"):
            guest.run("first", 0.05)
        asked = guests.recv(4096)
        guests.sendall(b"end 1 0\n")
        for _ in range(2):
            with pytest.raises(ProcessError, match="hangs since it gave no sign of the end of 'first'"):
                guest.run("second")
        guests.setblocking(False)
        assert asked.startswith(b"1 0 ")
        with pytest.raises(BlockingIOError):
            guests.recv(4096)
