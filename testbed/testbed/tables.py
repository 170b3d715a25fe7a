# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The demo's tables and sentences, made once for the terminal and the report, so that both say the same."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field

from rich import box
from rich.table import Table as RichTable
from rich.text import Text

from testbed.results import (
    CaptureAct,
    HostsAct,
    OverloadAct,
    OverloadRow,
    OverloadTrial,
    Trial,
)
from testbed.statistics import Spread

ABSENT = "–"
# Between two columns on the terminal: a blank and the place of a rule.
_GAP = 2


@dataclass
class Row:
    """One line of a table."""

    cells: list[str]
    # A median over rounds stands out from the rounds; an invalid trial shows its reason across the figures.
    kind: str = "plain"
    reason: str | None = None


@dataclass
class Table:
    """Columns are text on the left and figures on the right."""

    title: str
    columns: list[str]
    rows: list[Row] = field(default_factory=list)
    text_columns: int = 1
    # The last column holds sentences, which may fold anywhere.
    ends_in_text: bool = False

    def rich(self, width: int) -> RichTable:
        """For a terminal of `width` columns; turned on its side if it is too wide for it."""
        sideways = self._sideways(self.rows)
        medians = [row for row in self.rows if row.kind == "median"] or self.rows
        only_medians = self._sideways(medians)
        if len(medians) < len(self.rows):
            only_medians.title += "; each round is in the report"
        for table in (self, sideways, only_medians):
            # Headings on one line look best, but figures that fit matter more.
            for heading_lines in (1, 2, 9):
                widths = table._widths(heading_lines)
                if sum(widths) <= width:
                    return table._drawn(widths)
        return only_medians._drawn(only_medians._widths(9))

    def _widths(self, heading_lines: int) -> list[int]:
        """Of each column with its gap, for headings of at most so many lines. Figures never fold."""
        widths = []
        for index, heading in enumerate(self.columns):
            needed = max(len(word) for word in ["", *heading.split()])
            if not self._is_text(index):
                needed = max([needed, *(len(row.cells[index]) for row in self.rows)])
            while len(textwrap.wrap(heading, max(needed, 1))) > heading_lines:
                needed += 1
            widths.append(needed + _GAP)
        return widths

    def _drawn(self, widths: list[int]) -> RichTable:
        table = RichTable(
            title=self.title,
            title_justify="left",
            title_style="bold",
            box=box.SIMPLE_HEAD,
            padding=(0, 1, 0, 0),
            pad_edge=False,
        )
        for index, column in enumerate(self.columns):
            justify = "left" if index < self.text_columns else "right"
            inner = widths[index] - _GAP
            fixed = None if self._is_text(index) else inner
            # Text, not str: rich would take a unit such as [s] for markup.
            table.add_column(Text(column), justify=justify, overflow="fold", width=fixed, min_width=inner)
        for row in self.rows:
            style = {"median": "bold", "invalid": "red"}.get(row.kind)
            table.add_row(*(Text(cell) for cell in row.cells), style=style)
        return table

    def _is_text(self, index: int) -> bool:
        return self.ends_in_text and index == len(self.columns) - 1

    def _sideways(self, rows: list[Row]) -> Table:
        heads = [" ".join(row.cells[: self.text_columns]) for row in rows]
        labels = self.columns[self.text_columns :]
        turned = [
            Row([label, *(row.cells[index] for row in rows)]) for index, label in enumerate(labels, self.text_columns)
        ]
        return Table(self.title, ["", *heads], turned)


def millions(frames: float) -> str:
    """Frames in millions: '12.346'."""
    return f"{frames / 1e6:,.3f}"


def figure(value: float | None, pattern: str) -> str:
    """A figure, or the sign of an absent one."""
    return ABSENT if value is None else format(value, pattern)


def without_empty_columns(table: Table) -> Table:
    """The table without columns in which no row has anything."""
    plain = [row for row in table.rows if not row.reason]
    kept = [
        index
        for index in range(len(table.columns))
        if index < 1 or any(row.cells[index] not in (ABSENT, "") for row in plain)
    ]
    return Table(
        table.title,
        [table.columns[index] for index in kept],
        [Row([row.cells[index] for index in kept], row.kind, row.reason) for row in table.rows],
        text_columns=sum(index < table.text_columns for index in kept),
        ends_in_text=table.ends_in_text and bool(kept) and kept[-1] == len(table.columns) - 1,
    )


def markdown_table(table: Table) -> str:
    """A table in Markdown; a row without figures has its reason in the second column."""
    text = [index < table.text_columns for index in range(len(table.columns))]
    if table.ends_in_text:
        text[-1] = True
    lines = [_markdown_line(table.columns), _markdown_line(["---" if is_text else "---:" for is_text in text])]
    for row in table.rows:
        cells = row.cells
        if row.reason:
            cells = [row.cells[0], row.reason, *[""] * (len(row.cells) - 2)]
        lines.append(_markdown_line([markdown_text(cell) for cell in cells]))
    return "\n".join(lines)


def markdown_text(text: str) -> str:
    """Text that comes from a program, say, as Markdown that means just that."""
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", " ".join(text.split()))


def _markdown_line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


OVERLOAD_COLUMNS = [
    "Language",
    "Round",
    "Frame size [B]",
    "Duration [s]",
    "Generator TX [M]",
    "Generator RX [M]",
    "Forwarder TX [M]",
    "Forwarder RX [M]",
    "Forwarder drops [M]",
    "Average RX burst",
    "Forwarded [Mpps]",
]


def overload_table(act: OverloadAct) -> Table:
    """The article's Table 1: the median of each language, then every round."""
    table = Table(
        "Overload, frames in millions",
        OVERLOAD_COLUMNS,
        [_median_row(act, row) for row in act.rows],
        text_columns=2,
    )
    table.rows += [_round_row(act, trial) for trial in sorted(act.trials, key=lambda t: (t.language, t.round))]
    return table


def _median_row(act: OverloadAct, row: OverloadRow) -> Row:
    def median(spread: Spread) -> str:
        return millions(spread.median)

    cells = [
        row.language,
        f"median of {row.rounds}",
        str(act.size),
        f"{act.seconds:.2f}",
        median(row.generator_tx),
        median(row.generator_rx),
        median(row.forwarder_tx),
        median(row.forwarder_rx),
        median(row.forwarder_drops),
        f"{row.rx_burst_avg.median:.2f}",
        f"{row.forwarded_pps.median / 1e6:.3f}",
    ]
    return Row(cells, kind="median")


def _round_row(act: OverloadAct, trial: OverloadTrial) -> Row:
    cells = [trial.language, str(trial.round), str(act.size)]
    generator, forwarder = trial.generator, trial.forwarder
    if not trial.valid or generator is None or forwarder is None:
        return Row(cells + [ABSENT] * (len(OVERLOAD_COLUMNS) - 4) + ["invalid"], "invalid", "; ".join(trial.reasons))
    cells += [f"{generator.duration_s:.2f}"]
    cells += [
        millions(frames)
        for frames in (
            generator.sent,
            generator.received,
            forwarder.tx_packets,
            forwarder.rx_packets,
            forwarder.tx_dropped,
        )
    ]
    cells += [f"{forwarder.rx_burst_avg:.2f}", figure((trial.forwarded_pps or 0) / 1e6, ".3f")]
    return Row(cells)


def hosts_table(act: HostsAct) -> Table:
    """Act b."""
    table = Table(
        "Real hosts: ping and one TCP transfer through each forwarder",
        [
            "Language",
            "Pings",
            "Answered",
            "Loss [%]",
            "Round trip, avg [ms]",
            "TCP [Gbit/s]",
            "TCP data [MB]",
            "Retransmits",
            "Frames forwarded",
            "Frames dropped",
        ],
    )
    for trial in act.trials:
        ping, tcp = trial.ping, trial.tcp
        if not trial.valid or ping is None or tcp is None:
            table.rows.append(_invalid_row(trial, len(table.columns)))
            continue
        table.rows.append(
            Row(
                [
                    trial.language,
                    str(ping.sent),
                    str(ping.received),
                    f"{ping.loss_percent:.1f}",
                    figure(ping.rtt_avg_ms, ".3f"),
                    f"{tcp.bits_per_second / 1e9:.3f}",
                    f"{tcp.bytes / 1e6:,.1f}",
                    f"{tcp.retransmits:,}",
                    figure(trial.tx_packets, ",d"),
                    figure(trial.tx_dropped, ",d"),
                ]
            )
        )
    return table


def capture_table(act: CaptureAct) -> Table:
    """Act c."""
    table = Table(
        "A capture: what became of each frame",
        ["Language", "Frames in", "Frames out", "In order, only MACs differ", "Too short to forward", "Findings"],
        ends_in_text=True,
    )
    for trial in act.trials:
        if trial.frames_in is None:
            table.rows.append(_invalid_row(trial, len(table.columns)))
            continue
        cells = [
            trial.language,
            figure(trial.frames_in, ",d"),
            figure(trial.frames_out, ",d"),
            figure(trial.identical, ",d"),
            figure(trial.frames_short, ",d"),
            "; ".join(trial.reasons) or "none",
        ]
        table.rows.append(Row(cells, "plain" if trial.valid else "invalid"))
    return table


def _invalid_row(trial: Trial, columns: int) -> Row:
    return Row([trial.language, *[ABSENT] * (columns - 2), "invalid"], kind="invalid", reason="; ".join(trial.reasons))


def ratio_sentences(act: OverloadAct) -> list[str]:
    """The result of act a in words that claim no more than was measured: the finding, then how sure it is."""
    ratio = act.ratio
    if ratio is None:
        return ["No ratio: no round has a valid trial of both forwarders."]
    count = len(ratio.ratios)
    finding = f"Rust forwarded {ratio.spread.median:.3f} times the frames that C did (median of {count} round"
    finding += f"s, {ratio.spread.low:.3f} to {ratio.spread.high:.3f})" if count > 1 else ")"
    doubt = doubtful_trials(act)
    if doubt:
        finding += f", but in {doubt} of these {2 * count} trials something else than the forwarder set the rate"
    sentences = [finding + "."]
    if ratio.interval:
        interval = ratio.interval
        sentences.append(
            f"Geometric mean {ratio.mean:.3f}, {100 * interval.confidence:.0f} % bootstrap interval "
            f"{interval.low:.3f} to {interval.high:.3f}"
            + (f"; with {count} rounds it is no wider than the range." if count < 6 else ".")
        )
    if doubt:
        sentences.append("So the ratio is no comparison of what the two can do at most; the remarks say why.")
    return sentences


def doubtful_trials(act: OverloadAct) -> int:
    """How many of the trials behind the ratio have a rate that was not their forwarder's own."""
    rounds = act.ratio.rounds if act.ratio else []
    return sum(1 for trial in act.trials if trial.valid and trial.round in rounds and trial.notes)


def remarks(trials: list[Trial] | list[OverloadTrial]) -> list[str]:
    """What to know about trials, each remark once with the trials that it is about."""
    where: dict[str, list[str]] = {}
    for trial in sorted(trials, key=_label):
        for remark in [f"invalid: {reason}" for reason in trial.reasons] + trial.notes:
            where.setdefault(remark, []).append(_label(trial))
    return [
        f"{'every trial' if len(names) == len(trials) > 1 else '; '.join(names)}: {remark}"
        for remark, names in where.items()
    ]


def _label(trial: Trial) -> str:
    return f"{trial.language}, round {trial.round}" if isinstance(trial, OverloadTrial) else trial.language
