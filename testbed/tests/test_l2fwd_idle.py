# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Forwarders that sleep while nothing comes: by their own count of polls, since time would depend on the machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_l2fwd_traffic import bench

from testbed.run.eal import EalOptions
from testbed.run.programs import Program
from testbed.wire.forwarder import Forwarder

pytestmark = pytest.mark.e2e

TIMEOUT_S = 60
# An lcore that sleeps wakes up each 10 ms, and polls each of its queues 8 times.
POLLS_A_SECOND = 100 * 8


def test_a_forwarder_sleeps_between_frames(
    forwarder_program: Program, generator_program: Program, tmp_path: Path, hugepages: bool
) -> None:
    """Two runs of the generator with a rest between them; every frame of both is forwarded."""
    with bench(tmp_path, hugepages) as on, on.forwarder(forwarder_program, "--idle-sleep") as forwarder:
        forwarder.process.start()
        before = 0
        for count in (3000, 2000):
            traffic = ["--size=64", f"--count={count}", "--window=64", "--bidirectional"]
            with on.generator(generator_program, *traffic) as generator:
                result = generator.result()
            # The first statistics after it may begin while it still polls.
            first = forwarder.next_period(TIMEOUT_S)
            second = forwarder.next_period(TIMEOUT_S)
            assert first.total.rx_packets == second.total.rx_packets >= before + 2 * count
            before = first.total.rx_packets
            polls = second.total.rx_polls - first.total.rx_polls
            assert 0 < polls <= 2 * POLLS_A_SECOND * (second.time_s - first.time_s) + 100
            assert (result.total.received, result.total.lost) == (2 * count, 0)
        final = forwarder.stop()
    assert final.balanced
    log = (tmp_path / f"{forwarder.process.name}.stderr").read_text()
    assert "does not sleep" not in log


def test_a_device_without_interrupts_is_polled(
    forwarder_program: Program, tmp_path: Path, file_prefix: str, hugepages: bool
) -> None:
    eal = EalOptions(0, file_prefix, ("net_ring0", "net_null0"), hugepages)
    with Forwarder(forwarder_program, eal, ["-p", "3", "-q", "2", "--idle-sleep"], tmp_path, "dut") as forwarder:
        forwarder.start()
        period = forwarder.next_period(TIMEOUT_S)
        final = forwarder.stop()
    assert final.total.rx_polls > period.total.rx_polls > 0
    own = [line for line in (tmp_path / "dut.stderr").read_text().splitlines() if line.startswith("l2fwd: warning")]
    assert own == [
        "l2fwd: warning: port 0 (net_ring0): cannot wait for RX queue 0: Operation not supported: "
        "lcore 0 does not sleep"
    ]
