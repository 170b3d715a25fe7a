# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Scaling over lcores, ports and queues: what is made of raw data, and a bundle that measures."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from testbed.bench.cli import bench
from testbed.bench.scaling.bundle import SCRIPT, BundleError, static_programs, write_bundle
from testbed.bench.scaling.evaluate import Scaling, evaluate, parse_raw
from testbed.bench.scaling.report import render
from testbed.run.programs import Program
from testbed.run.results_folder import ResultsError

MACHINE: dict[str, object] = {
    "type": "machine",
    "schema_version": 1,
    "started": "2026-11-22T00:00:00Z",
    "cpu": "A CPU",
    "cores": 3,
    "cpus": [1, 2],
    "virtual": False,
    "kernel": "6.1",
    "memory_kb": 1024,
    "system": "A system",
    "hugepages": True,
    "tsc_khz": 2_000_000,
    "programs": {"l2fwd-rs": "0"},
    "rounds": 4,
    "seconds": 2,
    "seed": 7,
}


def counters(frames: int) -> dict[str, object]:
    names = ("rx_packets", "tx_packets", "tx_dropped", "rx_short", "rx_polls", "rx_empty_polls", "in_flight")
    found: dict[str, object] = dict.fromkeys(names, 0)
    return found | {"rx_packets": frames, "tx_packets": frames, "rx_burst_avg": 32.0, "rx_pps": 0, "tx_pps": 0}


def run(number: int, condition: tuple[int, int, int], rate: float, **more: object) -> dict[str, object]:
    """The first second, which is for warming up, has no frame at all; two follow."""
    lcores, ports, queues = condition
    messages = [
        {"type": "start", "program": "l2fwd-rs", "version": "1", "dpdk": "22.11", "ports": []},
        {"type": "period", "time_s": 1.0, "ports": [], "total": counters(100)},
        {"type": "period", "time_s": 2.0, "ports": [], "total": counters(100)},
        {"type": "final", "time_s": 3.0, "ports": [], "total": counters(100 + int(2 * rate)), "balanced": True},
    ]
    found = {"type": "run", "round": number, "program": "l2fwd-rs", "lcores": lcores, "ports": ports, "queues": queues}
    found |= {"status": 0, "error": "", "cpu_s": 3.0 * lcores, "stat": [[1], [2]], "messages": messages}
    return found | more


def evaluated(*runs: dict[str, object], **machine: object) -> Scaling:
    return evaluate(*parse_raw([json.dumps(line) for line in (MACHINE | machine, *runs)], "raw"), "./x", quick=False)


def test_efficiency_is_against_one_lcore_of_the_same_round() -> None:
    rates = [1e6, 2e6, 4e6, 1e6, 1e6, 2e6]
    scaling = evaluated(
        *(run(number, (1, 1, 1), rate) for number, rate in enumerate(rates)),
        *(run(number, (2, 2, 1), 1.8 * rate) for number, rate in enumerate(rates)),
        *(run(number, (1, 1, 4), 0.5 * rate) for number, rate in enumerate(rates)),
    )
    points = {(point.sweep, point.at): point for point in scaling.points}
    two = points["lcores, a port each", 2]
    assert two.efficiency is not None
    assert two.efficiency.median == pytest.approx(0.9)
    assert two.efficiency.ci95 == pytest.approx((0.9, 0.9))
    assert two.rate_pps == pytest.approx(1.8 * 1.5e6)
    queues = points["queues of one port and lcore", 4]
    assert queues.efficiency is not None
    assert queues.efficiency.median == pytest.approx(0.5)
    one = points["ports of one lcore", 1]
    assert (one.efficiency, one.rounds) == (None, 6)
    # The median of 2000, 1000, 500, 2000, 2000 and 1000 cycles.
    assert one.cycles_per_packet == pytest.approx(1500)
    assert scaling.remarks == []
    assert "0.900" in render(scaling)


def test_what_went_wrong_is_told_and_does_not_count() -> None:
    incomplete = run(2, (1, 2, 1), 1e6, messages=[])
    failed = run(1, (1, 2, 1), 1e6, status=1, error="no memory", messages=[])
    starved = run(1, (1, 1, 1), 1e6, cpu_s=1.5)
    scaling = evaluated(starved, failed, incomplete, cpus=[1], cores=2, virtual=True)
    assert {(point.ports, point.rounds) for point in scaling.points} == {(1, 1)}
    text = "\n".join(scaling.remarks)
    assert "only one lcore could be measured" in text
    assert "round 1, l2fwd-rs, 1 lcore, 2 ports, 1 queue each: no memory" in text
    assert "statistics are not complete" in text
    assert "In 1 of 1 runs" in text
    assert "virtual machine" in text
    # Half of the time, so half of the cycles.
    assert scaling.points[0].cycles_per_packet == pytest.approx(1000)
    assert "only one lcore could" in render(scaling)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "does not begin with the line about the machine"),
        ([MACHINE, MACHINE], "does not begin with the line about the machine"),
        ([run(1, (1, 1, 1), 1.0), MACHINE], "does not begin with the line about the machine"),
        ([MACHINE, {"type": "run"}], "line 2 is not raw data"),
        ([MACHINE | {"schema_version": 2}], "line 1 is not raw data: machine.schema_version"),
    ],
)
def test_what_is_no_raw_data_is_named(lines: list[dict[str, object]], message: str) -> None:
    with pytest.raises(ResultsError, match=message):
        parse_raw([json.dumps(line) for line in lines], "raw")


def test_a_bundle_has_static_programs_only(tmp_path: Path) -> None:
    for name in ("l2fwd-rs", "l2fwd-c"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    with pytest.raises(BundleError, match=r"build it with \./x build --static"):
        static_programs([tmp_path])
    with pytest.raises(BundleError, match=r"no program 'l2fwd-rs' in .* --static"):
        static_programs([tmp_path / "none"])


def test_the_command_line_is_checked(tmp_path: Path) -> None:
    both = CliRunner().invoke(bench, ["scaling", "--bundle", str(tmp_path), "--from", str(tmp_path)])
    assert both.exit_code == 2
    missing = CliRunner().invoke(bench, ["scaling", "--from", str(tmp_path / "none"), "--out", str(tmp_path)])
    assert (missing.exit_code, "cannot read" in missing.stderr) == (1, True)


def test_the_script_says_what_is_wrong(tmp_path: Path) -> None:
    write_bundle(tmp_path, [])
    for words, message in [
        (["--rounds", "0"], "--rounds takes a number from 1 on, not '0'"),
        (["--seconds"], "--seconds needs a value"),
        (["--fast"], "unknown option '--fast'"),
        ([], "no l2fwd-rs and no l2fwd-c in"),
    ]:
        done = subprocess.run([tmp_path / SCRIPT, *words], capture_output=True, text=True, timeout=30, check=False)
        assert done.returncode == 1
        assert message in done.stderr


@pytest.mark.e2e
def test_a_bundle_measures_and_its_data_comes_back(tmp_path: Path) -> None:
    try:
        programs: list[Program] = static_programs()[:1]
    except BundleError as error:
        pytest.skip(str(error))
    bundle = tmp_path / "bundle"
    write_bundle(bundle, programs)
    # Nothing of this environment is needed.
    words = [bundle / SCRIPT, "--rounds", "1", "--seconds", "1", "--lcores", "1", "--most", "1", "--seed", "5"]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=120, check=False, env={"PATH": "/usr/bin:/bin"}
    )
    assert done.returncode == 0, done.stderr
    out, summary = tmp_path / "out", tmp_path / "summary.json"
    told = CliRunner().invoke(bench, ["scaling", "--from", str(bundle), "--out", str(out), "--json", str(summary)])
    assert told.exit_code == 0, told.stdout + told.stderr
    scaling = Scaling.model_validate_json(summary.read_text())
    assert {(point.program, point.lcores, point.rounds) for point in scaling.points} == {("l2fwd-rs", 1, 1)}
    assert scaling.machine.tsc_khz > 0
    [report] = out.glob("bench-scaling-*/report.html")
    assert "Scaling: ports of one lcore" in report.read_text()
