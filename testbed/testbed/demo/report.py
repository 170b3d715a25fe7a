# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`report.html`: one file that needs nothing else, made from what lies in the results folder."""

from __future__ import annotations

from pathlib import Path

from testbed import __version__
from testbed.comparison.pair_verdict import interval_text
from testbed.demo import tables
from testbed.demo.overload import TWINS
from testbed.demo.summary import Summary, read_summary
from testbed.page.skeleton import page_templates
from testbed.run.environment import Environment, read_environment
from testbed.run.results_folder import write_atomically


def write_report(folder: Path) -> Path:
    """Writes the report from `summary.json` and `environment.json` and returns its path.

    Raises `ResultsError` if one of them cannot be read.
    """
    path = folder / "report.html"
    write_atomically(path, render(read_summary(folder), read_environment(folder), folder))
    return path


def render(summary: Summary, environment: Environment, folder: Path) -> str:
    """The page."""
    # Imported here: matplotlib takes a second, which the command line's own errors need not.
    from testbed.comparison.charts import PAIR_TITLE, pair_chart
    from testbed.demo import charts

    overload, wire, hosts, capture = summary.overload, summary.wire, summary.hosts, summary.capture
    proxies = summary.proxies
    drawn = [(charts.RATE_TITLE, charts.rate_chart(overload))] if overload else []
    pairs = [pair for pair in overload.pairs if pair.a == TWINS[0]] if overload else []
    if overload and (compared := pair_chart(pairs, overload.noise_floor)):
        drawn = [(PAIR_TITLE, compared), *drawn]
    return (
        page_templates()
        .get_template("demo.html")
        .render(
            summary=summary,
            environment=environment,
            version=__version__,
            answer=tables.answer(overload),
            cards=_cards(summary),
            overload_tables=tables.overload_tables(overload) if overload else [],
            overload_charts=[(title, chart) for title, chart in drawn if chart],
            overload_remarks=tables.overload_remarks(overload) if overload else [],
            wire_table=tables.wire_table(wire) if wire and wire.trials else None,
            wire_charts=[(charts.DROPS_TITLE, chart)] if wire and (chart := charts.drops_chart(wire)) else [],
            wire_remarks=tables.remarks(wire.trials) if wire else [],
            hosts_table=tables.hosts_table(hosts) if hosts and hosts.trials else None,
            hosts_remarks=tables.remarks(hosts.trials) if hosts else [],
            capture_table=tables.capture_table(capture) if capture and capture.trials else None,
            proxies_table=tables.proxies_table(proxies) if proxies and proxies.trials else None,
            proxies_remarks=tables.remarks(proxies.trials) if proxies else [],
            raw_files=sorted(file.name for file in (folder / "raw").glob("*")),
        )
    )


def _cards(summary: Summary) -> list[tuple[str, str, str]]:
    """(label, figure, detail) of the results to be seen first."""
    cards: list[tuple[str, str, str]] = []
    overload = summary.overload
    for pair in overload.pairs if overload else []:
        if (pair.a, pair.b) == TWINS:
            cards.append(
                (f"{pair.a} / {pair.b}", f"{pair.ratio.median:.3f}", interval_text(pair.ratio) or "no interval")
            )
    for figures in overload.measurement.figures if overload and overload.measurement else []:
        if figures.label in TWINS:
            cards.append((f"{figures.label} under overload", f"{figures.rate_pps / 1e6:.2f} Mpps", "on net_null"))
    for trial in summary.hosts.trials if summary.hosts else []:
        if trial.valid and trial.ping and trial.tcp:
            cards.append(
                (
                    f"TCP through {trial.language}",
                    f"{trial.tcp.bits_per_second / 1e9:.2f} Gbit/s",
                    f"{trial.ping.received} of {trial.ping.sent} pings answered",
                )
            )
    return cards
