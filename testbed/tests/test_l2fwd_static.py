# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The forwarders with DPDK linked in: no library of DPDK at run time, every driver there, each registered once."""

from __future__ import annotations

import subprocess
from pathlib import Path

import dpkt.pcap
import pytest

from testbed.eal import EalOptions, unique_file_prefix
from testbed.forwarder import Forwarder
from testbed.frames import read_frames
from testbed.programs import Program, ProgramMissing, find_program, repository_root

pytestmark = pytest.mark.e2e

FOLDERS = {"l2fwd-c": "build-static/l2fwd-c", "l2fwd-rs": "target/static/release"}


@pytest.fixture(params=sorted(FOLDERS))
def static_program(request: pytest.FixtureRequest) -> Program:
    try:
        return find_program(request.param, [repository_root() / FOLDERS[request.param]])
    except ProgramMissing as error:
        pytest.skip(f"{error} --static")


def test_no_library_of_dpdk_is_needed(static_program: Program) -> None:
    listed = subprocess.run(["ldd", static_program.path], capture_output=True, text=True, check=True).stdout
    assert "libc.so" in listed
    assert "librte" not in listed


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
