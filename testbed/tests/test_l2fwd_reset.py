# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Forwarders whose ports are stopped and started again while they run (SIGUSR1)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from testbed.run.eal import EalOptions
from testbed.run.process import ProcessError
from testbed.run.programs import Program
from testbed.wire.forwarder import Forwarder, Period
from testbed.wire.veth import VethWire

pytestmark = pytest.mark.e2e

TIMEOUT_S = 60
RESETS = 2


def wait_until_each_port_receives(forwarder: Forwarder, since: Period) -> None:
    """More than at that time, whichever lcore it is that receives there."""

    def received() -> bool | None:
        now = zip(forwarder.periods[-1].ports, since.ports, strict=True)
        return True if all(port.rx_packets > before.rx_packets for port, before in now) else None

    forwarder.process.wait_until(received, "frames on each port", TIMEOUT_S)


@pytest.mark.twins
def test_ports_are_reset_while_frames_go(
    forwarder_program: Program, tmp_path: Path, file_prefix: str, hugepages: bool
) -> None:
    """The lcores come back, a worker among them, and the counters go on."""
    vdevs = ("net_null0", "net_null1")
    eal = EalOptions(0, file_prefix, vdevs, hugepages, lcores=("--lcores=0@0,1@0",))
    with Forwarder(forwarder_program, eal, ["-p", "3", "-q", "1"], tmp_path, "dut") as forwarder:
        forwarder.start()
        forwarder.wait_for_received(1, TIMEOUT_S)
        for _ in range(RESETS):
            last = forwarder.periods[-1]
            reset = forwarder.reset_ports(TIMEOUT_S)
            assert reset.time_s >= reset.down_s
            wait_until_each_port_receives(forwarder, last)
        # Whether it comes to this reset or not, the forwarder ends.
        forwarder.process.send_signal("USR1")
        final = forwarder.stop()
    totals = [period.total for period in forwarder.periods] + [final.total]
    for counter in ("rx_packets", "tx_packets", "rx_polls"):
        counts = [getattr(total, counter) for total in totals]
        assert counts == sorted(counts), counter
    assert final.balanced
    log = (tmp_path / "dut.stderr").read_text()
    assert log.count("l2fwd: ports reset: stopped and restarted in ") - RESETS in (0, 1)


def test_a_port_that_does_not_start_again_ends_the_forwarder(
    forwarder_program: Program, tmp_path: Path, file_prefix: str, hugepages: bool
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    eal = EalOptions(0, file_prefix, (f"net_pcap0,tx_pcap={out}/file.pcap",), hugepages)
    with Forwarder(forwarder_program, eal, ["-p", "1"], tmp_path, "dut") as forwarder:
        forwarder.start()
        # The driver opens its file again, and cannot.
        shutil.rmtree(out)
        forwarder.process.send_signal("USR1")
        assert forwarder.process.wait(TIMEOUT_S) == 1
    last = (tmp_path / "dut.stderr").read_text().splitlines()[-1]
    assert last.startswith("l2fwd: port 0 (net_pcap0): cannot start the port: "), last


def test_a_port_that_would_never_work_again_is_not_stopped(
    forwarder_program: Program, tmp_path: Path, file_prefix: str, need_root: None
) -> None:
    """af_packet closes its sockets on stop, and starts without them as if all were well."""
    with VethWire(1, longest=64) as wire:
        eal = EalOptions(0, file_prefix, wire.forwarder_vdevs, hugepages=False)
        with Forwarder(forwarder_program, eal, ["-p", "1"], tmp_path, "dut") as forwarder:
            forwarder.start()
            with pytest.raises(ProcessError) as error:
                forwarder.reset_ports(TIMEOUT_S)
            forwarder.next_period(TIMEOUT_S)
            assert forwarder.stop().balanced
    assert str(error.value) == (
        "dut: l2fwd: warning: port 0 (net_af_packet0): no port is reset: net_af_packet does not work after a stop"
    )
