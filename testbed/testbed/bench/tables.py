# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The tables and sentences of a comparison, made once for the terminal and the report."""

from __future__ import annotations

from rich.console import Console

from testbed.bench.evaluate import OWN_CPU_SHARE
from testbed.bench.record import Figures, Measurement, OverloadRecord, Pair
from testbed.bench.verdict import PairRatio, Verdict
from testbed.overload import IDLE_SHARE
from testbed.tables import ABSENT, Row, Table, figure

PAIR_COLUMNS = ["A", "B", "Condition", "A / B", "95 % interval", "p", "Verdict: A is"]


def interval_text(ratio: PairRatio) -> str:
    """'0.998 to 1.003'."""
    return f"{ratio.ci95[0]:.4f} to {ratio.ci95[1]:.4f}" if ratio.ci95 else ABSENT


def pair_table(pairs: list[Pair], title: str) -> Table:
    """One row a pair."""
    rows = [
        Row(
            [
                pair.a,
                pair.b,
                pair.describe(),
                f"{pair.ratio.median:.4f}",
                interval_text(pair.ratio),
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


def finding(pair: Pair) -> str:
    """A pair in words."""
    ratio = pair.ratio
    text = f"{pair.a} against {pair.b} on {pair.describe()}: {pair.verdict}, ratio {ratio.median:.4f}"
    return f"{text} (95 % interval {interval_text(ratio)}, {len(ratio.samples)} blocks)."


def floor_sentence(pair: Pair) -> str:
    """What the comparison of a program with itself says about all others."""
    ratio = pair.ratio
    text = f"Noise floor on {pair.describe()}: {pair.a} against itself {ratio.median:.4f}"
    if ratio.ci95 is None:
        return f"{text}; too few blocks for an interval."
    text += f", 95 % interval {interval_text(ratio)}, {100 * (ratio.ci95[1] - ratio.ci95[0]):.2f} % wide"
    if pair.verdict in (Verdict.FASTER, Verdict.SLOWER):
        text += ": the same program differs from itself, so differences of this size mean nothing here"
    return f"{text}."


def remarks(record: OverloadRecord) -> list[str]:
    """What to know when reading the figures."""
    found = []
    for measurement in record.measurements:
        condition = measurement.describe()
        found += [f"{condition}: without {name}: {reason}" for name, reason in measurement.skipped.items()]
        for block in measurement.blocks:
            found += [f"{condition}, block {block.number} does not count: {reason}" for reason in block.reasons]
        marked = [block for block in measurement.blocks if block.notes]
        if marked and not record.per_cpu_second:
            found.append(
                f"{condition}: {len(marked)} of {len(measurement.blocks)} blocks were disturbed: other programs had "
                f"more than {100 * (1 - OWN_CPU_SHARE):.0f} % of the CPUs in most slices; --per-cpu-second compares "
                "without that"
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


def print_record(console: Console, record: OverloadRecord) -> None:
    """All of it, on a terminal."""
    for measurement in record.measurements:
        if measurement.figures:
            console.print()
            console.print(figure_table(measurement).rich(console.width))
    if record.pairs:
        unit = "frames a second of own CPU time" if record.per_cpu_second else "frames a second"
        console.print(pair_table(record.pairs, f"Pairs: ratio of {unit}").rich(console.width))
    for line in [*map(floor_sentence, record.noise_floor), *remarks(record)]:
        console.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)
