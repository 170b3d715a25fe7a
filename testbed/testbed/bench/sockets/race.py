# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The races: servers in turn, in slices of blocks as `bench overload` does it, and then their latencies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from testbed.bench.sockets.instance import RaceInstance
from testbed.bench.sockets.loads import measure_churn, measure_cost, measure_latencies
from testbed.bench.sockets.record import Churn, Cost, Latency
from testbed.bench.sockets.servers import Server
from testbed.comparison.blocks import Entrant, Protocol, further_blocks
from testbed.comparison.condition import Condition
from testbed.comparison.noise_floor import again
from testbed.comparison.pair_verdict import Verdict
from testbed.comparison.pairs import pairs
from testbed.comparison.platform import Platform
from testbed.comparison.record import Block, Measurement, Pair
from testbed.comparison.slices import shares
from testbed.run.cpu_share import OWN_CPU_SHARE
from testbed.run.programs import Program

# Each contestant has its own.
WIRE = "virtual or veth"
# A request or its answer with all headers and FCS, and the longest packet of a stream on the wire.
_SIZE = 158
_BULK_SIZE = 1518


def requests(connections: int, per_connection: int = 0) -> Condition:
    """Connections with one request each on its way."""
    return Condition(wire=WIRE, size=_SIZE, connections=connections, per_connection=per_connection)


def streams(connections: int) -> Condition:
    """Connections that the server fills with bytes."""
    return Condition(wire=WIRE, size=_BULK_SIZE, connections=connections, streams=True)


def messages(connections: int, length: int) -> Condition:
    """Connections with messages of this length, with header, in both directions."""
    return Condition(wire=WIRE, size=_BULK_SIZE, connections=connections, message=length)


@dataclass(frozen=True)
class Race:
    """What all races of a run have in common."""

    servers: Sequence[Server]
    client: Program
    platform: Platform
    protocol: Protocol
    blocks: int
    load_s: float
    seed: int
    # Requests a second of all servers alike, where the connections end.
    ramp: Sequence[int] = ()

    def measurement(self, condition: Condition) -> tuple[Measurement, list[Server]]:
        """An empty measurement, and the servers that can take part."""
        wanted = [server for server in self.servers if server.takes_part(condition)]
        reasons = {server.name: server.refuses(condition.connections or 0) for server in wanted}
        able = [server for server in wanted if reasons[server.name] is None]
        labels = [*(server.name for server in able), *(again(server.name) for server in able[:1])]
        skipped = {name: reason for name, reason in reasons.items() if reason is not None}
        return Measurement(condition=condition, labels=labels, skipped=skipped), able

    def run_blocks(
        self, measurement: Measurement, able: Sequence[Server], on_step: Callable[[str], None]
    ) -> Iterator[Block]:
        """All blocks that are lacking; each is in the measurement when it is yielded. Errors become reasons in it."""
        polling = {label for server, label in self._labelled(measurement, able) if not server.on_kernel}

        def look(block: Block) -> None:
            if _is_disturbed(block, polling):
                block.notes.append("disturbed: other programs had more than a tenth of a CPU in most slices")

        return further_blocks(
            measurement,
            self.blocks if able else 0,
            lambda number: self._entrants(measurement, able, number),
            self.protocol,
            f"{self.seed}-{_name(measurement.condition)}",
            on_step,
            look,
        )

    def _entrants(self, measurement: Measurement, able: Sequence[Server], number: int) -> list[Entrant]:
        named = self._labelled(measurement, able)
        return [self._entrant(server, label, measurement.condition, number) for server, label in named]

    @staticmethod
    def _labelled(measurement: Measurement, able: Sequence[Server]) -> list[tuple[Server, str]]:
        return list(zip([*able, *able[:1]], measurement.labels, strict=True))

    def _entrant(self, server: Server, label: str, condition: Condition, number: int) -> Entrant:
        name = f"{_name(condition)}-block{number}-{label.replace(' (again)', '-again')}"
        return Entrant(
            label, lambda suffix: RaceInstance(server, self.client, condition, self.platform, label, name + suffix)
        )

    def loads(
        self, measurement: Measurement, able: Sequence[Server], on_step: Callable[[str], None]
    ) -> Iterator[list[Latency | Cost | Churn]]:
        """By server: what requests cost it, latencies at shares of its own rate, how many connections it can open.

        Raises `ProcessError` and `TelemetryError`.
        """
        rates = {one.label: one.rate_pps for one in measurement.figures}
        condition = measurement.condition
        for server in able:
            if server.name in rates:
                on_step(f"costs, latencies and connections of {server.name}")
                name = f"{_name(condition)}-loads-{server.name}"
                with RaceInstance(server, self.client, condition, self.platform, server.name, name) as instance:
                    instance.start()
                    ramp = self.ramp if condition.per_connection else ()
                    found: list[Latency | Cost | Churn] = [
                        measure_cost(instance, self.load_s),
                        *measure_latencies(instance, rates[server.name], self.load_s, ramp),
                    ]
                    # A proxy has 16,384 ports for its back end, each of which is in TIME-WAIT for a minute.
                    if server.work != "page":
                        found.append(measure_churn(instance, self.load_s))
                    instance.end()
                yield found


def _name(condition: Condition) -> str:
    """Of the files of a race."""
    kind = "-streams" if condition.streams else f"-{condition.message}" if condition.message else ""
    return f"{condition.connections}{kind}" + (f"-each-{condition.per_connection}" if condition.per_connection else "")


def _is_disturbed(block: Block, polling: Collection[str]) -> bool:
    """Whether others had the CPUs in most slices. What polls tells, as it never gives up its CPU itself."""
    found = [share < OWN_CPU_SHARE for run in block.runs if run.label in polling for share in shares(run)]
    return 2 * sum(found) > len(found)


def compared(measurements: Sequence[Measurement]) -> tuple[list[Pair], list[Pair]]:
    """All pairs by requests or bytes a second of CPU time, and the noise floors.

    There is no verdict where others disturbed most blocks: what they do on the server's CPU counts for the kernel.
    """
    found = [pairs(measurement, per_cpu_second=True) for measurement in measurements]
    compared, floors = ([pair for each in found for pair in each[place]] for place in (0, 1))
    disturbed = {one.condition for one in measurements if _mostly_disturbed(one)}
    for pair in (*compared, *floors):
        if pair.condition in disturbed:
            pair.disturbed, pair.verdict = True, Verdict.INCONCLUSIVE
    return compared, floors


def _mostly_disturbed(measurement: Measurement) -> bool:
    valid = [block for block in measurement.blocks if not block.reasons]
    return 2 * sum(bool(block.notes) for block in valid) > len(valid)
