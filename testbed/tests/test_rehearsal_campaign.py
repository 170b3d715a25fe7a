# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A campaign against a virtual machine: one command boots it, reaches it over SSH, measures, reports, and ends it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.run.programs import Program, repository_root
from testbed.wire.forwarder import Final

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]


def interfaces() -> list[str]:
    return sorted(folder.name for folder in Path("/sys/class/net").iterdir())


@pytest.mark.usefixtures("rehearsal_kernel", "need_root")
def test_the_throughput_of_a_forwarder_in_a_virtual_machine(
    tmp_path: Path, l2fwd_rs: Program, generator_program: Program
) -> None:
    before = interfaces()
    folders = {str(program.path.parent): None for program in (l2fwd_rs, generator_program)}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "testbed", "rfc2544", "--scenario", "vm-e1000e", "--sizes", "64"),
            *("--device", "l2fwd-rs", "--out", str(tmp_path)),
            *(word for folder in folders for word in ("--bin-dir", folder)),
        ],
        capture_output=True,
        text=True,
        cwd=repository_root() / "testbed",
        timeout=600,
        check=False,
    )
    (folder,) = tmp_path.glob("rfc2544-*")
    summary = json.loads((folder / "summary.json").read_text())
    told = f"{done.stdout}\n{done.stderr}"
    # On a machine that others keep busy the generator keeps no rate: that, and nothing else, may be in the way.
    if done.returncode == 0:
        assert summary["status"] == "passed", told
        assert summary["findings"][0]["result"]["throughput_fps"] > 0, told
    else:
        assert done.returncode == 1, told
        assert "kept no rate" in done.stderr or "were invalid" in done.stderr, told
    # Over SSH, on another kernel, behind a NIC that the IOMMU hands out.
    host = json.loads((folder / "environment.json").read_text())["hosts"]["l2fwd-rs"]
    assert (host["cpu"].startswith("QEMU"), host["logical"], host["iommu"][:3]) == (True, 2, "on,"), host
    assert [nic["device"] for nic in host["nics"] if nic["driver"] == "vfio-pci"] == ["0x8086:0x10d3"], host
    # Frames went through the NIC, and each is accounted for.
    lines = (folder / "raw/l2fwd-rs-1/forwarder-1.stdout").read_text().splitlines()
    final = Final.model_validate_json(lines[-1])
    assert final.balanced
    assert final.total.rx_packets == final.total.tx_packets + final.total.tx_dropped > 1000
    assert (folder / "report.html").exists()
    assert "Linux version" in (folder / "raw/console.log").read_text()
    # Nothing is left.
    assert interfaces() == before
