# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The tables and sentences of a comparison, made once for the terminal and the report."""

from __future__ import annotations

from collections.abc import Sequence

from testbed.comparison.pair_verdict import NO_INTERVAL, headline, interval_text
from testbed.comparison.record import Figures, Measurement, Pair
from testbed.page.tables import ABSENT, Row, Table, figure
from testbed.run.cpu_share import OWN_CPU_SHARE
from testbed.wire.forwarder import IDLE_SHARE

PAIR_COLUMNS = ["A", "B", "Condition", "A / B", "95 % interval", "p", "Verdict: A is"]


def pair_tile(pair: Pair, digits: int, condition: str = "") -> tuple[str, str, str]:
    """(label, figure, detail) of a pair, for the top of a report."""
    label = f"{pair.a} / {pair.b}" + (f", {condition}" if condition else "")
    detail = f"{pair.verdict}; {interval_text(pair.ratio, digits) or NO_INTERVAL}"
    return label, f"{pair.ratio.median:.{digits}f}", detail


def pair_table(pairs: list[Pair], title: str) -> Table:
    """One row a pair."""
    rows = [
        Row(
            [
                pair.a,
                pair.b,
                pair.describe(),
                f"{pair.ratio.median:.4f}",
                interval_text(pair.ratio, 4) or ABSENT,
                figure(pair.ratio.p, ".3g"),
                pair.verdict,
            ],
            kind=pair.verdict,
        )
        for pair in pairs
    ]
    return Table(title, PAIR_COLUMNS, rows, text_columns=3)


FIGURE_COLUMNS = [
    "Contestant",
    "Forwarded [Mpps]",
    "Per CPU second [M]",
    "Own CPU [%]",
    "Cycles per packet",
    "Average burst",
    "Empty polls [%]",
    "Lost before / in device",
    "Dropped by forwarder",
    "Lost behind",
    "RSS [MB]",
    "Hugepages [MB]",
    "Start [s]",
]


def figure_table(measurement: Measurement) -> Table:
    """One row a contestant."""
    rows = [Row(_cells(figures)) for figures in measurement.figures]
    return Table(f"{measurement.describe()}: medians over blocks", FIGURE_COLUMNS, rows)


def _cells(figures: Figures) -> list[str]:
    def percent(share: float | None) -> str:
        return ABSENT if share is None else f"{100 * share:.1f}"

    lost = figures.lost
    before = [figure(count, ",d") for count in (lost.wire_to_forwarder, lost.device_rx)]
    return [
        figures.label,
        f"{figures.rate_pps / 1e6:.2f}",
        f"{figures.rate_per_cpu_pps / 1e6:.2f}",
        percent(figures.cpu_share),
        figure(figures.cycles_per_packet, ".1f"),
        figure(figures.rx_burst_avg, ".2f"),
        percent(figures.empty_poll_share),
        " / ".join(before),
        f"{lost.forwarder:,d}",
        figure(lost.wire_to_generator, ",d"),
        f"{figures.rss_kb / 1024:.1f}",
        f"{figures.hugepages_kb / 1024:.0f}",
        f"{figures.start_s:.2f}",
    ]


def finding(pair: Pair, floors: Sequence[Pair]) -> str:
    """A pair in words, with the noise floor of the same condition."""
    mine = [floor.ratio for floor in floors if (floor.condition, floor.sweep) == (pair.condition, pair.sweep)]
    return headline(pair.a, pair.b, pair.ratio, mine[0] if mine else None, pair.verdict, disturbed=pair.disturbed)


def remarks(measurements: Sequence[Measurement], per_cpu_second: bool = False) -> list[str]:
    """What to know when reading the figures."""
    found = []
    for measurement in measurements:
        condition = measurement.describe()
        found += [f"{condition}: without {name}: {reason}" for name, reason in measurement.skipped.items()]
        for block in measurement.blocks:
            found += [f"{condition}, block {block.number} is invalid: {reason}" for reason in block.reasons]
        marked = [block for block in measurement.blocks if block.notes]
        if marked and not per_cpu_second:
            found.append(
                f"{condition}: {len(marked)} of {len(measurement.blocks)} blocks were disturbed: other programs had "
                f"more than {100 * (1 - OWN_CPU_SHARE):.0f} % of the CPUs in most slices; `./x bench overload "
                "--per-cpu-second` compares without that"
            )
        waiting = [entry.label for entry in measurement.figures if (entry.empty_poll_share or 0) > IDLE_SHARE]
        if waiting:
            found.append(
                f"{condition}: not overloaded: more than {100 * IDLE_SHARE:.0f} % of the polls of {', '.join(waiting)} "
                "found nothing, so the ratios compare what the generator could send rather than what a forwarder can"
            )
        lacking = [entry.label for entry in measurement.figures if entry.rx_burst_avg is None]
        if lacking:
            found.append(
                f"{condition}: no average burst of {', '.join(lacking)}: the plug-in that counts needs DPDK's shared "
                "libraries"
            )
    return found
