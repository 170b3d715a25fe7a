# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The run of `./x bench services`: races, tables, and summary.json in a results folder."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from testbed.bench.services.contestants import Contestant, choose
from testbed.bench.services.record import ServicesRecord
from testbed.bench.services.report import write_report
from testbed.bench.services.tables import FEW, matrix_tables, overhead_table, telling
from testbed.bench.sockets.races import Presentation, RaceOptions, first_fields, run_races
from testbed.bench.sockets.servers import find_client
from testbed.command_line.console import say_warning
from testbed.comparison.blocks import Protocol
from testbed.run.environment import Environment
from testbed.run.lcores import plan_lcores
from testbed.run.results_folder import ResultsError, Status, new_results_folder, read_record


@dataclass(frozen=True)
class ServicesOptions(RaceOptions):
    """The command line of `bench services`, checked."""

    service: str
    contestants: Sequence[Contestant]
    missing: Sequence[str]


def begin(options: ServicesOptions) -> tuple[ServicesRecord, Path]:
    """The record of a new run, and its folder.

    Raises `ResultsError`.
    """
    folder = new_results_folder(options.out, "bench-services")
    return ServicesRecord(service=options.service, missing=list(options.missing), **first_fields(options)), folder


def go_on(folder: Path, programs: list[Path] | None, json: Path | None) -> tuple[ServicesOptions, ServicesRecord, Path]:
    """What continues the run of this folder, with its own settings.

    Raises `ProgramMissing`, and `ResultsError` also if it is complete, or if something else would be measured now.
    """
    record = read_record(folder / "summary.json", ServicesRecord, "a record of 'bench services'", "a run")
    if record.load_s is None or not record.conditions:
        raise ResultsError(f"cannot continue '{folder}': it does not say what was to be measured: begin a new run")
    chosen, _ = choose(record.service, list(record.servers))
    options = ServicesOptions(
        service=record.service,
        contestants=chosen,
        missing=record.missing,
        servers=[one.server() for one in chosen],
        client=find_client(programs),
        conditions=record.conditions,
        protocol=Protocol(rounds=record.rounds, slice_s=record.slice_ms / 1000),
        blocks=record.blocks,
        load_s=record.load_s,
        ramp=record.ramp,
        seed=record.seed,
        hugepages=record.hugepages,
        quick=record.quick,
        lcores=plan_lcores(),
        out=folder.parent,
        json=json,
        command=record.command,
    )
    if reason := _refusal(record, first_fields(options)):
        raise ResultsError(f"cannot continue '{folder}': {reason}")
    record.status, record.reason = Status.INTERRUPTED, "the run did not finish"
    record.resumed.append(datetime.now(UTC))
    return options, record, folder


def _refusal(record: ServicesRecord, now: dict[str, Any]) -> str | None:
    """Why a run cannot be continued; None if it can."""
    if record.status is Status.PASSED:
        return "it is complete"
    if record.versions != now["versions"]:
        return f"it was begun with {record.versions}, and this is {now['versions']}: begin a new run"
    if record.lcores != now["lcores"]:
        return f"it was begun on the CPUs {record.lcores}, and these are {now['lcores']}: begin a new run"
    environment: Environment = now["environment"]
    for then, program in zip(record.environment.binaries, environment.binaries, strict=True):
        if then.sha256 != program.sha256:
            return f"the program '{program.path}' has changed: begin a new run"
    return None


def run_services(options: ServicesOptions, record: ServicesRecord, folder: Path, console: Console) -> Status:
    """Races and prints.

    Raises `ResultsError`.
    """
    say_warning(console, *options.lcores.warnings, *options.missing)
    shown = Presentation(
        on_news=lambda: record.fill(options.contestants),
        pairs=telling,
        tables=lambda: [*matrix_tables(record), overhead_table(record.latencies, FEW)],
        report=lambda: write_report(folder, record),
        go_on=shlex.join(["./x", "bench", "services", "--resume", str(folder)]),
    )
    run_races(options, record, folder, console, shown)
    return record.status
