# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The tables of `bench codecs`, made once for the terminal and the report."""

from __future__ import annotations

from collections.abc import Sequence

from testbed.comparison.noise_floor import again
from testbed.comparison.record import Measurement, Pair
from testbed.page.tables import ABSENT, Row, Table


def telling(pairs: Sequence[Pair]) -> list[Pair]:
    """A library in two languages, and two libraries in one."""
    return [one for one in pairs if any(_same(one))]


def of_languages(pairs: Sequence[Pair]) -> list[Pair]:
    """A library in Rust and in C++."""
    return [one for one in pairs if _same(one) == [True, False]]


def _same(pair: Pair) -> list[bool]:
    """Whether library and language are."""
    names = (name.removesuffix(" (again)").rpartition("-") for name in (pair.a, pair.b))
    (library, _, language), (other, _, others) = names
    return [library == other, language == others]


def rate_table(measurements: Sequence[Measurement]) -> Table:
    """What each library did."""
    rows = []
    for measurement in measurements:
        for one in measurement.figures:
            if one.label in map(again, measurement.labels):
                continue
            size = bytes_of_round(measurement, one.label)
            per_cpu = one.rate_per_cpu_pps
            rows.append(
                Row(
                    [
                        measurement.describe(),
                        one.label,
                        f"{one.rate_pps:,.0f}",
                        f"{per_cpu:,.0f}",
                        f"{1e6 / per_cpu:,.2f}" if per_cpu else ABSENT,
                        f"{size:,.0f}" if size else ABSENT,
                        f"{per_cpu * size / 1e6:,.0f}" if size else ABSENT,
                        f"{one.rss_kb / 1024:.1f}",
                    ]
                )
            )
    columns = ["Condition", "Library", "Rounds/s", "per CPU second", "CPU of a round [µs]"]
    columns += ["Bytes of a round", "MB per CPU second", "RSS [MB]"]
    return Table("Rounds: a request, its response, and both read", columns, rows, text_columns=2)


def bytes_of_round(measurement: Measurement, label: str) -> float | None:
    """Bytes of a round, of messages that the measured process has made; None if it makes none."""
    found = [run.message_bytes for block in measurement.blocks for run in block.runs if run.label == label]
    known = [one for one in found if one]
    return sum(known) / len(known) if known else None
