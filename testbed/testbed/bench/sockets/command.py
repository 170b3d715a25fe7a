# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The run of `./x bench sockets`: counts, races, tables, and summary.json in a results folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from testbed.bench.sockets.count import Counted, run_counts
from testbed.bench.sockets.races import Presentation, RaceOptions, first_fields, run_races
from testbed.bench.sockets.record import SocketsRecord
from testbed.command_line.console import say_warning
from testbed.run.results_folder import Status, new_results_folder


@dataclass(frozen=True)
class SocketsOptions(RaceOptions):
    """The command line of `bench sockets`, checked."""

    # What is counted before the races: the programs, if anything is, and with how many connections.
    counted: Counted | None
    counted_connections: Sequence[int]


def run_sockets(options: SocketsOptions, console: Console) -> Status:
    """Counts, races and prints.

    Raises `CountError`, `BinaryError`, `FiguresError` and `ResultsError`.
    """
    folder = new_results_folder(options.out, "bench-sockets")
    record = SocketsRecord(**first_fields(options))
    say_warning(console, *options.lcores.warnings)
    if options.counted is not None:
        record.counts, record.byte_counts = run_counts(options.counted, options.counted_connections, console)
    run_races(options, record, folder, console, Presentation())
    return record.status
