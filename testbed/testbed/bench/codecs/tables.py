# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The tables of `bench codecs`, made once for the terminal and the report."""

from __future__ import annotations

from collections.abc import Sequence

from testbed.comparison.noise_floor import again
from testbed.comparison.record import Figures, Measurement, Pair
from testbed.page.tables import ABSENT, Row, Table

COST_COLUMNS = ["CPU time of a round [µs]", "Bytes of a round", "MB per CPU second"]


def telling(pairs: Sequence[Pair]) -> list[Pair]:
    """A library in two languages, and two libraries in one."""
    return [one for one in pairs if any(_same(one))]


def of_languages(pairs: Sequence[Pair]) -> list[Pair]:
    """A library in Rust and in C++."""
    return [one for one in pairs if _same(one) == [True, False]]


def of_capnp(pairs: Sequence[Pair]) -> list[Pair]:
    """Cap'n Proto in Rust and in C++, as the article compared it."""
    return [one for one in of_languages(pairs) if one.a.startswith("capnp-")]


def _same(pair: Pair) -> list[bool]:
    """Whether library and language are."""
    names = (name.removesuffix(" (again)").rpartition("-") for name in (pair.a, pair.b))
    (library, _, language), (other, _, others) = names
    return [library == other, language == others]


def rate_table(measurements: Sequence[Measurement]) -> Table:
    """What each library did."""
    rows = []
    for measurement in measurements:
        for one in without_again(measurement):
            rates = [f"{one.rate_pps:,.0f}", f"{one.rate_per_cpu_pps:,.0f}"]
            memory = f"{one.rss_kb / 1024:.1f}"
            rows.append(Row([measurement.describe(), one.label, *rates, *cost_cells(measurement, one), memory]))
    columns = ["Condition", "Library", "Rounds/s", "per CPU second", *COST_COLUMNS, "RSS [MB]"]
    return Table("Rounds: a request, its response, and both read", columns, rows, text_columns=2)


def without_again(measurement: Measurement) -> list[Figures]:
    """The figures of all libraries, without the second run of the first."""
    return [one for one in measurement.figures if one.label != again(measurement.labels[0])]


def cost_cells(measurement: Measurement, one: Figures) -> list[str]:
    """What a round takes; the bytes are those of messages that the measured process has made."""
    found = [run.message_bytes for block in measurement.blocks for run in block.runs if run.label == one.label]
    known = [size for size in found if size]
    size, per_cpu = sum(known) / len(known) if known else None, one.rate_per_cpu_pps
    return [
        f"{1e6 / per_cpu:,.2f}" if per_cpu else ABSENT,
        f"{size:,.0f}" if size else ABSENT,
        f"{per_cpu * size / 1e6:,.0f}" if size else ABSENT,
    ]
