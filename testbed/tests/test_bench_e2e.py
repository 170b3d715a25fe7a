# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`bench overload` with the real programs, as short as it can be: counters and form, no speed. Takes 15 s."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from testbed.bench.record import read_record
from testbed.comparison.plugin import PluginError, build_plugin
from testbed.comparison.slices import block_ratio
from testbed.run.programs import Program
from testbed.run.results_folder import Status

pytestmark = pytest.mark.e2e

TWINS = ["l2fwd-rs", "l2fwd-c"]


def command(program: Callable[[str], Program], out: Path, *words: str) -> list[str]:
    folders = sorted({str(program(name).path.parent) for name in (*TWINS, "generator")})
    argv = [sys.executable, "-m", "testbed", "bench", "overload", f"--out={out}", f"--json={out / 'copy.json'}"]
    return [*argv, *(f"--bin-dir={folder}" for folder in folders), *words]


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
# Long enough that each gets some of a busy CPU in each.
SHORT = ["--blocks=1", "--rounds=1", "--slice=200"]


@pytest.mark.parametrize(
    ("words", "with_generator"),
    [
        (["--drops=30", "--per-cpu-second"], False),
        (["--one-at-a-time", "--ports=2", "--queues=2"], False),
        (["--wire=virtual"], True),
    ],
    ids=["drops", "one at a time", "virtual wire"],
)
def test_a_short_run(program: Callable[[str], Program], tmp_path: Path, words: list[str], with_generator: bool):
    if "--drops=30" in words:
        try:
            build_plugin()
        except PluginError as error:
            pytest.skip(str(error))
    argv = command(program, tmp_path, *TWINS, *SHORT, *words)
    done = subprocess.run(argv, capture_output=True, text=True, timeout=170, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    record = read_record(tmp_path / "copy.json")
    assert record.status is Status.PASSED
    assert record.tsc_hz > 1e8
    for measurement in record.measurements:
        refused = measurement.condition.drops
        assert len(measurement.blocks) == 1
        for block in measurement.blocks:
            # On a busy machine a clock may be read too late to be of use.
            compared = block_ratio(block, *TWINS, record.per_cpu_second) is not None
            assert [(pair.a, pair.b) for pair in record.pairs] == [tuple(TWINS)] * compared
            assert [run.label for run in block.runs] == [*TWINS, "l2fwd-rs (again)"]
            for run in block.runs:
                slices = run.slices
                # A round has two slices; one at a time, each of two runs has one.
                assert slices.round == [1, 1]
                assert (len(slices.generator_cpu_seconds) == 2) is with_generator
                assert sum(slices.rx_packets) > 0
                assert all(seconds >= 0.19 for seconds in slices.seconds)
                assert run.rss_kb > 0
                assert run.start_s > 0
                if not with_generator:
                    assert (run.lost.forwarder > 0) is (refused > 0)
                if refused:
                    assert sum(slices.tx_packets) / sum(slices.rx_packets) == pytest.approx(1 - refused / 100, abs=0.02)
                if run.rx_burst_avg is not None and not with_generator:
                    assert (run.rx_burst_avg, run.empty_poll_share) == (32, 0)
    (page,) = tmp_path.glob("bench-overload-*/report.html")
    assert page.stat().st_size > 10_000


def test_ctrl_c_keeps_what_there_is(program: Callable[[str], Program], tmp_path: Path):
    argv = command(program, tmp_path, *TWINS, "--blocks=100", "--rounds=1", "--slice=200")
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as running:
        # The second block begins: there is a result of the first.
        for line in running.stdout:
            if "block 2 of 100: measuring" in line:
                running.send_signal(signal.SIGINT)
                break
        rest, _ = running.communicate(timeout=100)
    assert running.returncode == 130, rest
    record = read_record(tmp_path / "copy.json")
    assert record.status is Status.INTERRUPTED
    assert 1 <= len(record.measurements[0].blocks) < 100
    assert [run.label for run in record.measurements[0].blocks[0].runs] == [*TWINS, "l2fwd-rs (again)"]
    assert [figures.label for figures in record.measurements[0].figures] == [*TWINS, "l2fwd-rs (again)"]
    assert "interrupted" in rest
    assert len(list(tmp_path.glob("bench-overload-*/report.html"))) == 1


def test_a_contestant_that_ends_at_once(program: Callable[[str], Program], tmp_path: Path):
    argv = command(program, tmp_path, "l2fwd-c", "--external=broken=true {eal}", "--rounds=1", "--slice=10")
    done = subprocess.run(argv, capture_output=True, text=True, timeout=170, check=False, env=ENVIRONMENT)
    assert done.returncode == 1
    assert "broken: ended with status 0 before it forwarded" in done.stdout
    record = read_record(tmp_path / "copy.json")
    # Not 20 times the same.
    assert (record.status, len(record.measurements[0].blocks)) == (Status.FAILED, 2)
    assert record.pairs == []
