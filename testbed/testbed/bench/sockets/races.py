# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A run of races: measurements in a results folder, saved after each block, and its tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from testbed.bench.count.gate import versions
from testbed.bench.record import write_record
from testbed.bench.sockets.race import Race, compared
from testbed.bench.sockets.record import Churn, Cost, Latency, RaceRecord
from testbed.bench.sockets.servers import Server
from testbed.bench.sockets.tables import (
    churn_table,
    cost_table,
    latency_table,
    message_table,
    rate_table,
    remarks,
    stream_table,
)
from testbed.command_line.console import say, say_warning
from testbed.comparison.blocks import Protocol
from testbed.comparison.condition import Condition
from testbed.comparison.measurement import off_the_forwarders_cpu
from testbed.comparison.noise_floor import floor_in_words
from testbed.comparison.platform import Platform
from testbed.comparison.record import Pair
from testbed.comparison.tables import pair_table
from testbed.comparison.telemetry import TelemetryError
from testbed.page.tables import Table
from testbed.run.environment import record_environment
from testbed.run.lcores import LcorePlan
from testbed.run.namespaces import remove_stale
from testbed.run.process import ProcessError
from testbed.run.programs import Program
from testbed.run.progress import Steps
from testbed.run.results_folder import Status
from testbed.run.scratch import scratch_folder
from testbed.run.signals import signals_as_interrupt


@dataclass(frozen=True)
class RaceOptions:
    """The command line of a bench that races servers, checked."""

    servers: Sequence[Server]
    client: Program
    conditions: Sequence[Condition]
    protocol: Protocol
    blocks: int
    load_s: float
    ramp: Sequence[int]
    seed: int
    hugepages: bool
    quick: bool
    lcores: LcorePlan
    out: Path
    json: Path | None
    command: str


def first_fields(options: RaceOptions) -> dict[str, Any]:
    """What a new record says."""
    programs = {server.program.name: server.program for server in options.servers}
    # Interrupted until proven otherwise: this is what a reader finds if this program is killed.
    return {
        "status": Status.INTERRUPTED,
        "reason": "the run did not finish",
        "started": datetime.now(UTC),
        "command": options.command,
        "versions": versions(),
        "quick": options.quick,
        "hugepages": options.hugepages,
        "seed": options.seed,
        "blocks": options.blocks,
        "rounds": options.protocol.rounds,
        "slice_ms": 1000 * options.protocol.slice_s,
        "load_s": options.load_s,
        "ramp": list(options.ramp),
        "conditions": list(options.conditions),
        "lcores": {"client": options.lcores.generator, "server": options.lcores.forwarder},
        "servers": {server.name: server.what for server in options.servers},
        "environment": record_environment([options.client, *programs.values()], options.hugepages),
    }


@dataclass(frozen=True)
class Presentation:
    """What one kind of races shows otherwise than another."""

    # Called when there is something new, before it is saved.
    on_news: Callable[[], None] = lambda: None
    # Which pairs are printed.
    pairs: Callable[[Sequence[Pair]], list[Pair]] = list
    # What else is printed, and the report that is written.
    tables: Callable[[], list[Table]] = list
    report: Callable[[], Path | None] = lambda: None
    # How an interrupted run is continued, if it can be.
    go_on: str | None = None


def run_races(options: RaceOptions, record: RaceRecord, folder: Path, console: Console, shown: Presentation) -> None:
    """Races, saves and prints.

    Raises `ResultsError`.
    """

    def save() -> None:
        shown.on_news()
        for path in (folder / "summary.json", *([options.json] if options.json else [])):
            write_record(path, record)

    try:
        _race(options, record, folder, console, save)
    except KeyboardInterrupt:
        say_warning(console, "interrupted: reporting the results so far")
        record.reason = "interrupted: the results so far are below"
        if shown.go_on:
            record.reason += f"; continue with {shown.go_on}"
            say_warning(console, f"continue with {shown.go_on}")
    except (ProcessError, TelemetryError) as error:
        record.status, record.reason = Status.FAILED, str(error)
        say_warning(console, str(error))
    else:
        record.status, record.reason = _outcome(record)
    record.finished = datetime.now(UTC)
    save()
    _print(record, console, shown)
    say(console, f"\n{record.versions}\nResults: {folder}")
    if (written := shown.report()) is not None:
        say(console, f"Report:  {written}")


def _race(options: RaceOptions, record: RaceRecord, folder: Path, console: Console, save: Callable[[], None]) -> None:
    """Fills in the measurements, pairs and latencies that are lacking, and saves them after each block.

    Raises `ProcessError` and `TelemetryError`.
    """
    remove_stale()
    with signals_as_interrupt(), scratch_folder() as runtime, off_the_forwarders_cpu(options.lcores):
        platform = Platform(options.lcores, options.hugepages, runtime, folder / "raw", options.client)
        race = Race(
            options.servers,
            options.client,
            platform,
            options.protocol,
            options.blocks,
            options.load_s,
            options.seed,
            options.ramp,
        )
        with Steps(console, options.blocks * len(options.conditions)) as steps:
            for condition in options.conditions:
                measurement, able = race.measurement(condition)
                if not measurement.labels and not measurement.skipped:
                    continue
                begun = next((one for one in record.measurements if one.condition == condition), None)
                if begun is None:
                    record.measurements.append(measurement)
                elif begun.labels != measurement.labels:
                    raise ProcessError(f"{measurement.describe()}: other servers can take part than before")
                else:
                    measurement = begun
                steps.begin(measurement.describe())
                for _ in measurement.blocks:
                    steps.done()
                for block in race.run_blocks(measurement, able, steps.tell):
                    for reason in block.reasons:
                        say_warning(console, f"block {block.number} is invalid: {reason}")
                    record.pairs, record.noise_floor = compared(record.measurements)
                    save()
                    steps.done()
                lacking = [] if condition.is_bulk else _without_costs(able, condition, record.costs)
                for found in race.loads(measurement, lacking, steps.tell):
                    record.costs += [one for one in found if isinstance(one, Cost)]
                    record.latencies += [one for one in found if isinstance(one, Latency)]
                    record.churn += [one for one in found if isinstance(one, Churn)]
                    save()


def _without_costs(servers: Sequence[Server], condition: Condition, costs: Sequence[Cost]) -> list[Server]:
    """Those whose costs are lacking, and with them latencies and connections."""
    have = {(one.server, one.connections, one.per_connection) for one in costs}
    return [one for one in servers if (one.name, condition.connections, condition.per_connection) not in have]


def _outcome(record: RaceRecord) -> tuple[Status, str | None]:
    blocks = [block for measurement in record.measurements for block in measurement.blocks]
    lost = sum(1 for block in blocks if block.reasons)
    if not blocks:
        return Status.FAILED, "no server can take part"
    if lost:
        return Status.FAILED, f"{lost} of {len(blocks)} blocks are invalid"
    return Status.PASSED, None


def _print(record: RaceRecord, console: Console, shown: Presentation) -> None:
    console.print()
    for of_kind in (rate_table, message_table, stream_table):
        if (table := of_kind(record.measurements)).rows:
            console.print(table.rich(console.width))
    title = "Pairs: ratio of requests, or of bytes, per second of CPU time"
    console.print(pair_table(shown.pairs(record.pairs), title).rich(console.width))
    of_loads = (cost_table(record.costs), latency_table(record.latencies), churn_table(record.churn))
    for table in (*of_loads, *shown.tables()):
        if table.rows:
            console.print(table.rich(console.width))
    for line in [*map(floor_in_words, record.noise_floor), *remarks(record.measurements)]:
        say(console, f"  {line}")
