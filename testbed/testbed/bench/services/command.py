# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The run of `./x bench services`: races, tables, and summary.json in a results folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from testbed.bench.services.contestants import Contestant
from testbed.bench.services.record import ServicesRecord
from testbed.bench.services.report import write_report
from testbed.bench.services.tables import FEW, matrix_tables, overhead_table, telling
from testbed.bench.sockets.races import Presentation, RaceOptions, first_fields, run_races
from testbed.command_line.console import say_warning
from testbed.run.results_folder import Status, new_results_folder


@dataclass(frozen=True)
class ServicesOptions(RaceOptions):
    """The command line of `bench services`, checked."""

    service: str
    contestants: Sequence[Contestant]
    missing: Sequence[str]


def run_services(options: ServicesOptions, console: Console) -> Status:
    """Races and prints.

    Raises `ResultsError`.
    """
    folder = new_results_folder(options.out, "bench-services")
    record = ServicesRecord(service=options.service, missing=list(options.missing), **first_fields(options))
    say_warning(console, *options.lcores.warnings, *options.missing)
    shown = Presentation(
        on_news=lambda: record.fill(options.contestants),
        pairs=telling,
        tables=lambda: [*matrix_tables(record), overhead_table(record.latencies, FEW)],
        report=lambda: write_report(folder, record),
    )
    run_races(options, record, folder, console, shown)
    return record.status
