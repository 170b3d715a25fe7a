# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The demo's tables and sentences, made once for the terminal and the report, so that both say the same."""

from __future__ import annotations

from collections.abc import Sequence

from testbed.comparison.noise_floor import floor_in_words
from testbed.comparison.tables import figure_table, finding, pair_table
from testbed.comparison.tables import remarks as comparison_remarks
from testbed.demo.overload import TWINS
from testbed.demo.summary import CaptureAct, HostsAct, OverloadAct, ProxiesAct, Trial, WireAct
from testbed.page.tables import ABSENT, Row, Table, figure, millions, without_empty_columns

WIRE_COLUMNS = [
    "Language",
    "Frame size [B]",
    "Duration [s]",
    "Generator TX [M]",
    "Generator RX [M]",
    "Forwarder TX [M]",
    "Forwarder RX [M]",
    "Forwarder drops [M]",
    "Average RX burst",
    "Every frame as sent",
]


def answer(act: OverloadAct | None) -> str | None:
    """The verdict about the twins in one sentence: what the demo is there for; None where they were not compared."""
    pairs = [pair for pair in act.pairs if (pair.a, pair.b) == TWINS] if act else []
    return finding(pairs[0], act.noise_floor) if act and pairs else None


def overload_tables(act: OverloadAct) -> list[Table]:
    """The figures of each forwarder, then the pairs."""
    if act.measurement is None or not act.measurement.figures:
        return []
    described = act.measurement.describe()
    figures = without_empty_columns(figure_table(act.measurement))
    return [figures, pair_table(act.pairs, f"Pairs on {described}: ratio of forwarded frames a second")]


def overload_remarks(act: OverloadAct) -> list[str]:
    """What to know when reading them."""
    measured = [act.measurement] if act.measurement else []
    return [*map(floor_in_words, act.noise_floor), *act.notes, *comparison_remarks(measured)]


def wire_table(act: WireAct) -> Table:
    """The article's Table 1, with what became of each frame."""
    table = Table("Every frame checked, frames in millions", WIRE_COLUMNS)
    for trial in act.trials:
        generator, forwarder = trial.generator, trial.forwarder
        if not trial.valid or generator is None or forwarder is None:
            table.rows.append(_invalid_row(trial, len(table.columns)))
            continue
        frames = (
            generator.sent,
            generator.received,
            forwarder.tx_packets,
            forwarder.rx_packets,
            forwarder.tx_dropped,
        )
        cells = [trial.language, str(act.size), f"{generator.duration_s:.2f}", *map(millions, frames)]
        table.rows.append(Row([*cells, f"{forwarder.rx_burst_avg:.2f}", "yes"]))
    return table


def hosts_table(act: HostsAct) -> Table:
    """Act c."""
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
    """Act d."""
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


def proxies_table(act: ProxiesAct) -> Table:
    """Act e."""
    table = Table(
        "A page through each proxy, every byte checked",
        ["Language", "Asked", "Requests", "Answered", "Wrong", "p50 [µs]", "p99 [µs]"],
        text_columns=2,
    )
    for trial in act.trials:
        found = trial.answers
        if not trial.valid or found is None:
            table.rows.append(_invalid_row(trial, len(table.columns), trial.asked))
            continue
        counts = (found.sent, found.answered, found.wrong)
        times = (figure(time, ",.0f") for time in (found.p50_us, found.p99_us))
        table.rows.append(Row([trial.language, trial.asked, *(f"{count:,}" for count in counts), *times]))
    return table


def _invalid_row(trial: Trial, columns: int, *more: str) -> Row:
    """Without figures; `more` are the cells after the language that say what was tried."""
    absent = [ABSENT] * (columns - 2 - len(more))
    return Row([trial.language, *more, *absent, "invalid"], kind="invalid", reason="; ".join(trial.reasons))


def remarks(trials: Sequence[Trial]) -> list[str]:
    """What to know about trials, each remark once with the trials that it is about."""
    where: dict[str, list[str]] = {}
    for trial in sorted(trials, key=lambda trial: trial.label):
        for remark in [f"invalid: {reason}" for reason in trial.reasons] + trial.notes:
            where.setdefault(remark, []).append(trial.label)
    return [
        f"{'every trial' if len(names) == len(trials) > 1 else '; '.join(names)}: {remark}"
        for remark, names in where.items()
    ]
