# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The forwarders with DPDK linked in: no library of DPDK at run time, every driver there, each registered once."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import dpkt.pcap
import pytest

from testbed.run.eal import EalOptions, unique_file_prefix
from testbed.run.programs import Program, ProgramMissing, find_program, repository_root
from testbed.wire.forwarder import Forwarder
from testbed.wire.frames import read_frames

pytestmark = pytest.mark.e2e

FOLDERS = {"l2fwd-c": "build-static/l2fwd-c", "l2fwd-rs": "target/static/dist"}
# A list of folders as in PATH, in place of those.
TOLD = os.environ.get("TESTBED_STATIC_BIN_DIRS")


@pytest.fixture(params=sorted(FOLDERS))
def static_program(request: pytest.FixtureRequest) -> Program:
    try:
        folders = TOLD.split(os.pathsep) if TOLD else [FOLDERS[request.param]]
        return find_program(request.param, [repository_root() / folder for folder in folders], for_figures=False)
    except ProgramMissing as error:
        pytest.skip(f"{error} --static")


def libraries(program: Path, *inside: str) -> list[Path]:
    """The shared libraries that a program is loaded with, by the word of `ldd`, run by the command `inside`."""
    listed = subprocess.run([*inside, "ldd", program], capture_output=True, text=True, check=True).stdout
    assert "not found" not in listed
    return [Path(word) for word in listed.split() if word.startswith("/")]


def test_no_library_of_dpdk_is_needed(static_program: Program) -> None:
    names = [path.name for path in libraries(static_program.path)]
    assert "libc.so.6" in names
    assert not [name for name in names if name.startswith("librte")]


@pytest.mark.parametrize(
    "device", ["net_null0", "net_ring0", "net_pcap0", "net_vhost0,iface={}/socket", "net_memif0,socket={}/memif"]
)
def test_a_driver_is_there_once(static_program: Program, tmp_path: Path, hugepages: bool, device: str) -> None:
    if device == "net_pcap0":
        with (tmp_path / "in.pcap").open("wb") as file:
            dpkt.pcap.Writer(file).writepkt(bytes(60), ts=0)
        device += f",rx_pcap={tmp_path}/in.pcap,tx_pcap={tmp_path}/out.pcap"
    role = ",role=server,socket-abstract=no" if "memif" in device else ""
    eal = EalOptions(0, unique_file_prefix("static"), (device.format(tmp_path) + role,), hugepages)
    with Forwarder(static_program, eal, ["-p", "1"], tmp_path, "dut") as forwarder:
        start = forwarder.start()
        if "pcap" in device:
            forwarder.wait_for_received(1, 30)
        final = forwarder.stop()
    assert start.ports[0].name == device.partition(",")[0]
    assert final.balanced
    if "pcap" in device:
        assert len(list(read_frames(tmp_path / "out.pcap"))) == 1
    log = (tmp_path / "dut.stderr").read_text()
    assert "already registered" not in log
    assert "Detected static linkage of DPDK" in log


# Becomes the program in another root, with the scratch folder at the same place in there.
ENTER = """\
#!/bin/sh
exec unshare --mount /bin/sh -ec '
    root=$1 scratch=$2 program=$3
    shift 3
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/run"
    mount -t tmpfs tmpfs "$root/tmp"
    mkdir -p "$root$scratch"
    mount --bind "$scratch" "$root$scratch"
    exec chroot "$root" "$program" "$@"
' sh {words} "$@"
"""


def bare_root(folder: Path, program: Path) -> Path:
    """A machine that has the program's own libraries and nothing else: no shell, no package, no plug-in of DPDK."""
    for name in ("dev", "proc", "run", "sys", "tmp", "var"):
        (folder / name).mkdir(parents=True)
    (folder / "var/run").symlink_to("../run")
    wanted = libraries(program)
    # glibc itself loads this one when a thread is cancelled.
    gcc = [path.with_name("libgcc_s.so.1") for path in wanted if path.name == "libc.so.6"]
    for library in {*wanted, *gcc}:
        target = folder / str(library)[1:]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, target)
    return folder


def forward_in(root: Path, program: Program, scratch: Path, frames: Sequence[bytes]) -> list[bytes]:
    """Lets the program forward these frames from one pcap device to another, inside `root`."""
    path = scratch / program.name
    shutil.copy(program.path, path)
    door = scratch / "enter"
    door.write_text(ENTER.format(words=shlex.join(map(str, (root, scratch, path)))))
    door.chmod(0o755)
    with (scratch / "in.pcap").open("wb") as file:
        writer = dpkt.pcap.Writer(file)
        for frame in frames:
            writer.writepkt(frame, ts=0)
    with (scratch / "none.pcap").open("wb") as file:
        dpkt.pcap.Writer(file)
    devices = (
        f"net_pcap0,rx_pcap={scratch}/in.pcap,tx_pcap={scratch}/out0.pcap",
        f"net_pcap1,rx_pcap={scratch}/none.pcap,tx_pcap={scratch}/out1.pcap",
    )
    eal = EalOptions(0, unique_file_prefix("bare"), devices, hugepages=False)
    inside = Program(program.name, program.language, door)
    with Forwarder(inside, eal, ["-p", "3", "-q", "2", "--no-mac-updating"], scratch, "dut") as forwarder:
        forwarder.start()
        forwarder.wait_for_received(len(frames), 30)
        final = forwarder.stop()
    assert final.balanced
    assert "Detected static linkage of DPDK" in (scratch / "dut.stderr").read_text()
    return list(read_frames(scratch / "out1.pcap"))


# `x test --builds` makes a Debian for this, and names it here.
DEBIAN = os.environ.get("TESTBED_DEBIAN")


@pytest.mark.parametrize("machine", ["its libraries alone", *(["a Debian without DPDK"] if DEBIAN else [])])
def test_it_forwards_where_no_dpdk_is(static_program: Program, tmp_path: Path, need_root: None, machine: str) -> None:
    root = bare_root(tmp_path / "root", static_program.path)
    if machine != "its libraries alone":
        root = Path(DEBIAN or "/")
    assert not list(root.rglob("librte_*"))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    frames = [bytes([number]) * (60 + number) for number in range(200)]
    assert forward_in(root, static_program, scratch, frames) == frames
