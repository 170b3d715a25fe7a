# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Act c: two hosts ping each other and move data over TCP through each forwarder."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from testbed.demo.summary import HostsTrial, Ping, TcpTransfer
from testbed.run.eal import EalOptions, unique_file_prefix
from testbed.run.namespaces import Host, NamespacesUnavailable, TwoHosts, check_available, inside, remove_stale
from testbed.run.process import Process, ProcessError, describe_status
from testbed.run.programs import Program
from testbed.wire.forwarder import Forwarder, imbalance

_TOOLS = {"ping": "iputils-ping", "iperf3": "iperf3", "tcpdump": "tcpdump"}
_READY_S = 15.0
# The device's own default of 512 overflows while the kernel runs the hosts on the forwarder's core: TCP then sends
# several per cent of its segments twice.
_RING_FRAMES = 4096


@dataclass(frozen=True)
class HostsPlan:
    """What act c is to do."""

    pings: int
    tcp_seconds: int
    capture_frames: int
    hugepages: bool
    lcore: int


def check() -> None:
    """Raises `NamespacesUnavailable` if the act cannot run here."""
    check_available()
    for tool, package in _TOOLS.items():
        if shutil.which(tool) is None:
            raise NamespacesUnavailable(f"'{tool}' is not in PATH: install the package {package}")
    remove_stale()


def run(
    plan: HostsPlan, programs: list[Program], raw: Path, on_step: Callable[[str], None]
) -> Iterator[tuple[HostsTrial, Path]]:
    """Yields each forwarder's trial with the capture of its traffic.

    Raises `NamespacesUnavailable` if the hosts cannot be made.
    """
    for program in programs:
        yield run_trial(plan, program, raw, on_step)


def run_trial(
    plan: HostsPlan, program: Program, raw: Path, on_step: Callable[[str], None] = lambda _: None
) -> tuple[HostsTrial, Path]:
    """One forwarder between the two hosts."""
    trial = HostsTrial(program=program.name, language=program.language)
    name = f"c-{program.name}"
    capture = raw / f"{name}.pcap"
    with TwoHosts() as hosts:
        vdevs = tuple(
            f"net_af_packet{number},iface={interface},framecnt={_RING_FRAMES}"
            for number, interface in enumerate(TwoHosts.DUT_INTERFACES)
        )
        eal = EalOptions(plan.lcore, unique_file_prefix("dut"), vdevs, plan.hugepages)
        options = ["-p", "0x3", "-q", "2"]
        try:
            with Forwarder(program, eal, options, raw, name, launcher=inside(hosts.dut)) as forwarder:
                forwarder.start()
                with _tcpdump(plan, hosts.left, capture, raw, name) as tcpdump:
                    tcpdump.wait_for_line("listening on", _READY_S)
                    on_step(f"{program.name}: ping")
                    trial.ping = _ping(plan, hosts, raw, name)
                    on_step(f"{program.name}: TCP for {plan.tcp_seconds} s")
                    trial.tcp = _transfer(plan, hosts, raw, name)
                    tcpdump.stop()
                final = forwarder.stop()
        except ProcessError as error:
            trial.reasons.append(str(error))
            return trial, capture
    trial.rx_packets = final.total.rx_packets
    trial.tx_packets = final.total.tx_packets
    trial.tx_dropped = final.total.tx_dropped
    if not final.balanced:
        trial.reasons.append(imbalance(final))
    if trial.ping.received == 0:
        trial.reasons.append("no ping was answered")
    if trial.tcp.bytes == 0:
        trial.reasons.append("TCP transferred no data")
    return trial, capture


def _tcpdump(plan: HostsPlan, host: Host, file: Path, raw: Path, name: str) -> Process:
    argv = ["tcpdump", "-n", "-U", "-Z", "root", "-s", "0", "-B", "16384", "-c", str(plan.capture_frames)]
    return Process(f"{name}-tcpdump", host.command(*argv, "-i", host.interface, "-w", str(file)), raw)


def _ping(plan: HostsPlan, hosts: TwoHosts, raw: Path, name: str) -> Ping:
    argv = ["ping", "-n", "-q", "-c", str(plan.pings), "-i", "0.01", "-W", "1", hosts.right.address]
    with Process(f"{name}-ping", hosts.left.command(*argv), raw) as ping:
        # Status 1 means that answers were missing: a result, not a fault of ping.
        status = ping.wait(plan.pings * 0.1 + _READY_S)
        found = parse_ping(ping.stdout_text)
        if status not in (0, 1) or found is None:
            raise ping.failure(f"ended with {describe_status(status)}")
        return found


def parse_ping(text: str) -> Ping | None:
    """Reads the summary of iputils' ping."""
    counts = re.search(r"(\d{1,18}) packets transmitted, (\d{1,18}) received", text)
    if counts is None:
        return None
    sent, received = int(counts[1]), int(counts[2])
    times = re.search(r"min/avg/max\S* = (\d+\.\d+)/(\d+\.\d+)/(\d+\.\d+)", text)
    low, average, high = (float(value) for value in times.groups()) if times else (None, None, None)
    return Ping(
        sent=sent,
        received=received,
        loss_percent=100.0 * (sent - received) / sent if sent else 0.0,
        rtt_min_ms=low,
        rtt_avg_ms=average,
        rtt_max_ms=high,
    )


def _transfer(plan: HostsPlan, hosts: TwoHosts, raw: Path, name: str) -> TcpTransfer:
    server_argv = ["iperf3", "--server", "--one-off", "--forceflush"]
    client_argv = ["iperf3", "--client", hosts.right.address, "--time", str(plan.tcp_seconds), "--json"]
    client_argv += ["--connect-timeout", "5000"]
    with Process(f"{name}-iperf3-server", hosts.right.command(*server_argv), raw) as server:
        server.wait_for_line("Server listening", _READY_S)
        with Process(f"{name}-iperf3", hosts.left.command(*client_argv), raw) as client:
            status = client.wait(plan.tcp_seconds + 30)
            report = _json(client.stdout_text)
            transfer = parse_iperf(report)
            if status != 0 or transfer is None:
                raise client.failure(str(report.get("error", f"ended with {describe_status(status)}")))
        return transfer


def parse_iperf(report: dict[str, Any]) -> TcpTransfer | None:
    """Reads iperf3's report: what the receiver got counts, since what the sender wrote may lie in its buffers.

    None if it is that of a transfer that did not take place: `end` is there even so, and empty.
    """
    with contextlib.suppress(KeyError, TypeError, AttributeError, ValidationError):
        received, sent = report["end"]["sum_received"], report["end"]["sum_sent"]
        return TcpTransfer(
            seconds=received["seconds"],
            bytes=received["bytes"],
            bits_per_second=received["bits_per_second"],
            retransmits=sent.get("retransmits", 0),
        )
    return None


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
