# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Metrics of running DPDK programs, from their telemetry sockets: read at each scrape, over a new connection."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from testbed.comparison.telemetry import Telemetry, TelemetryError, cpu_ns
from testbed.metrics.definition import Definition, Sample, families

# One that hangs must not make the scrape of the others late: Prometheus gives up after 10 s.
_TIMEOUT_S = 2.0
_SOCKET = re.compile(r"dpdk_telemetry\.v2(:\d+)?")
_PREFIX, _PORT, _HEAP = ("file_prefix",), ("file_prefix", "port"), ("file_prefix", "heap")
_STACK = ("file_prefix", "stack")

# Of /ethdev/stats (struct rte_eth_stats).
_DEVICE = {
    "ipackets": Definition("dpdk_ethdev_rx_packets_total", "Frames that the device received.", _PORT),
    "opackets": Definition("dpdk_ethdev_tx_packets_total", "Frames that the device sent.", _PORT),
    "ibytes": Definition("dpdk_ethdev_rx_bytes_total", "Bytes that the device received.", _PORT),
    "obytes": Definition("dpdk_ethdev_tx_bytes_total", "Bytes that the device sent.", _PORT),
    "imissed": Definition("dpdk_ethdev_rx_missed_packets_total", "Frames dropped as a receive queue was full.", _PORT),
    "ierrors": Definition("dpdk_ethdev_rx_error_packets_total", "Frames received with an error.", _PORT),
    "oerrors": Definition("dpdk_ethdev_tx_error_packets_total", "Frames that the device failed to send.", _PORT),
    "rx_nombuf": Definition("dpdk_ethdev_rx_mbuf_failures_total", "Mbufs that receiving did not get.", _PORT),
}
# Of /l2fwd/stats, by port; the same in both forwarders.
_FORWARDER = {
    "rx_packets": Definition("l2fwd_rx_packets_total", "Frames that the forwarder took from the port.", _PORT),
    "tx_packets": Definition("l2fwd_tx_packets_total", "Frames that the forwarder gave to the port.", _PORT),
    "tx_dropped": Definition("l2fwd_tx_dropped_packets_total", "Frames that the port did not take.", _PORT),
    "rx_short": Definition("l2fwd_rx_short_packets_total", "Frames too short for their addresses.", _PORT),
    "rx_polls": Definition("l2fwd_rx_polls_total", "Polls of the port's receive queues.", _PORT),
    "rx_empty_polls": Definition("l2fwd_rx_empty_polls_total", "Polls that found no frame.", _PORT),
}
_HEAPS = {
    "Heap_size": Definition("dpdk_heap_size_bytes", "Size of DPDK's heap.", _HEAP),
    "Free_size": Definition("dpdk_heap_free_bytes", "Free bytes of DPDK's heap.", _HEAP),
}
_UP = Definition("dpdk_up", "Whether the program answers on its telemetry socket.", _PREFIX)
_INFO = Definition("dpdk_info", "Always 1; the version is a label.", ("file_prefix", "version"))
_CPU = Definition("dpdk_process_cpu_seconds_total", "CPU time of the process.", _PREFIX)
_LINK = Definition("dpdk_ethdev_link_up", "Whether the port has a link.", _PORT)
_IN_FLIGHT = Definition("l2fwd_in_flight_packets", "Frames received that are neither sent nor dropped.", _PREFIX)
# Of /sockets/counters: the stacks of dpdk-sockets (dpdk-sockets/docs/watch.md).
_EVENTS = Definition(
    "dpdk_sockets_events_total", "What the stack has counted, by the counter's name.", (*_STACK, "event")
)
_BYTES = Definition("dpdk_sockets_bytes_total", "Bytes of data in TCP segments.", (*_STACK, "direction"))
_CONNECTIONS = Definition("dpdk_sockets_connections", "TCP connections; those in TIME-WAIT apart.", (*_STACK, "state"))
_OF_STACKS = {
    "bytes_received": (_BYTES, "received"),
    "bytes_sent": (_BYTES, "sent"),
    "connections": (_CONNECTIONS, "open"),
    "time_waits": (_CONNECTIONS, "time_wait"),
}
_PROGRAM = (_UP, _INFO, _CPU, _LINK, *_DEVICE.values(), *_HEAPS.values())
DEFINITIONS = (*_PROGRAM, *_FORWARDER.values(), _IN_FLIGHT, _EVENTS, _BYTES, _CONNECTIONS)


class DpdkCollector(Collector):
    """Collects from the sockets that there are, by `file_prefix`."""

    def __init__(self, sockets: Callable[[], Mapping[str, Path]]) -> None:
        self._sockets = sockets

    def collect(self) -> Iterator[Metric]:
        """The metrics of all programs; of one that does not answer, that it does not."""
        samples: list[Sample] = []
        for prefix, path in self._sockets().items():
            try:
                samples += read_program(prefix, path)
            except TelemetryError:
                samples.append(Sample(_UP.name, [prefix], 0))
        return families(DEFINITIONS, samples)


def sockets_in(runtime: Path, prefixes: list[str]) -> dict[str, Path]:
    """The telemetry sockets in DPDK's folder of run-time folders: of these `--file-prefix`, or all.

    Programs with --in-memory share a folder; the sockets after the first end in a number, and so do their names here.
    """
    folders = [runtime / prefix for prefix in prefixes] or sorted(runtime.glob("*/"))
    found = {}
    for folder in folders:
        paths = [path for path in sorted(folder.glob("dpdk_telemetry.v2*")) if _SOCKET.fullmatch(path.name)]
        # One that was asked for and is not there is down.
        for path in paths or ([folder / "dpdk_telemetry.v2"] if prefixes else []):
            found[f"{folder.name}{path.name.removeprefix('dpdk_telemetry.v2')}"] = path
    return found


def read_program(prefix: str, path: Path) -> list[Sample]:
    """All samples of a program.

    Raises `TelemetryError`.
    """
    telemetry = Telemetry(path, _TIMEOUT_S)
    try:
        return list(_read(prefix, telemetry))
    finally:
        telemetry.close()


def _read(prefix: str, telemetry: Telemetry) -> Iterator[Sample]:
    yield Sample(_UP.name, [prefix], 1)
    version = _fields(telemetry.ask("/info")).get("version", "")
    yield Sample(_INFO.name, [prefix, str(version).removeprefix("DPDK ")], 1)
    # In a container of its own it has another number.
    with contextlib.suppress(OSError):
        yield Sample(_CPU.name, [prefix], cpu_ns(telemetry.pid) / 1e9)
    for port in _list(telemetry.ask("/ethdev/list")):
        yield from _samples(_DEVICE, telemetry.ask(f"/ethdev/stats,{port}"), [prefix, str(port)])
        status = _fields(telemetry.ask(f"/ethdev/link_status,{port}")).get("status")
        if status is not None:
            yield Sample(_LINK.name, [prefix, str(port)], status == "UP")
    for heap in _list(telemetry.ask("/eal/heap_list")):
        yield from _samples(_HEAPS, telemetry.ask(f"/eal/heap_info,{heap}"), [prefix, str(heap)])
    forwarder = _fields(telemetry.ask("/l2fwd/stats"))
    for port, counters in _fields(forwarder.get("ports")).items():
        yield from _samples(_FORWARDER, counters, [prefix, port])
    yield from _samples({"in_flight": _IN_FLIGHT}, forwarder.get("total"), [prefix])
    for stack in _list(_fields(telemetry.ask("/sockets/list")).get("stacks")):
        for name, value in _fields(telemetry.ask(f"/sockets/counters,{stack}")).items():
            definition, label = _OF_STACKS.get(name, (_EVENTS, name))
            if isinstance(value, int):
                yield Sample(definition.name, [prefix, str(stack), label], value)


def _samples(wanted: Mapping[str, Definition], answer: object, labels: list[str]) -> Iterator[Sample]:
    """The fields that the answer has: other versions of DPDK have others."""
    for name, value in _fields(answer).items():
        if name in wanted and isinstance(value, int):
            yield Sample(wanted[name].name, labels, value)


def _list(answer: object) -> list[Any]:
    """Empty where the program does not know the command."""
    if answer is not None and not isinstance(answer, list):
        raise TelemetryError(f"not a list: {answer!r}")
    return answer or []


def _fields(answer: object) -> dict[str, Any]:
    return answer if isinstance(answer, dict) else {}
