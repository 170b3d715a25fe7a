# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`report.html`: one file that needs nothing else, made from what lies in the results folder."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment as Templates
from jinja2 import PackageLoader, StrictUndefined
from pydantic import ValidationError

from testbed import __version__, tables
from testbed.environment import Environment
from testbed.results import ResultsError, Status, Summary, read_summary, write_atomically
from testbed.statistics import Spread


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
    from testbed import charts

    overload, hosts, capture = summary.overload, summary.hosts, summary.capture
    measured = overload is not None and bool(overload.trials)
    return (
        page_templates()
        .get_template("report.html")
        .render(
            summary=summary,
            environment=environment,
            version=__version__,
            Status=Status,
            cards=_cards(summary),
            is_doubtful=measured and tables.doubtful_trials(overload) > 0,
            overload_medians=_only(tables.overload_table(overload), "median") if measured else None,
            overload_rounds=_without(tables.overload_table(overload), "median") if measured else None,
            ratio_sentences=tables.ratio_sentences(overload) if measured else None,
            charts=[
                (title, chart)
                for title, draw in (
                    (charts.RATE_TITLE, charts.rate_chart),
                    (charts.RATIO_TITLE, charts.ratio_chart),
                    (charts.DROPS_TITLE, charts.drops_chart),
                )
                if measured and (chart := draw(overload))
            ],
            overload_remarks=tables.remarks(overload.trials) if measured else [],
            hosts_table=tables.hosts_table(hosts) if hosts and hosts.trials else None,
            hosts_remarks=tables.remarks(hosts.trials) if hosts else [],
            capture_table=tables.capture_table(capture) if capture and capture.trials else None,
            raw_files=sorted(file.name for file in (folder / "raw").glob("*")),
        )
    )


def page_templates() -> Templates:
    """The templates of all pages."""
    return Templates(
        loader=PackageLoader("testbed"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def read_environment(folder: Path) -> Environment:
    """Reads `environment.json`.

    Raises `ResultsError`.
    """
    path = folder / "environment.json"
    try:
        return Environment.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultsError(f"cannot read '{path}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ResultsError(f"'{path}' is not a record of an environment: {error}") from error
    except ValidationError as error:
        raise ResultsError(f"'{path}' is not a record of an environment: {error.errors()[0]['msg']}") from error


def _only(table: tables.Table, kind: str) -> tables.Table:
    rows = [row for row in table.rows if row.kind == kind]
    return tables.Table(table.title, table.columns, rows, table.text_columns)


def _without(table: tables.Table, kind: str) -> tables.Table:
    rows = [row for row in table.rows if row.kind != kind]
    return tables.Table(table.title, table.columns, rows, table.text_columns)


def _cards(summary: Summary) -> list[tuple[str, str, str]]:
    """(label, figure, detail) of the results to be seen first."""
    cards: list[tuple[str, str, str]] = []
    overload = summary.overload
    if overload and overload.ratio:
        ratio = overload.ratio
        detail = _range(ratio.spread, 1, ".3f")
        detail += "; see the remarks" if tables.doubtful_trials(overload) else ""
        cards.append(("Rust / C, forwarded frames", f"{ratio.spread.median:.3f}", detail))
    for row in overload.rows if overload else []:
        rate = row.forwarded_pps
        cards.append((f"{row.language} under overload", f"{rate.median / 1e6:.2f} Mpps", _range(rate, 1e6, ".2f")))
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


def _range(spread: Spread, unit: float, pattern: str) -> str:
    """'1.020 to 1.060 in 3 rounds'."""
    if spread.count == 1:
        return "1 round"
    return f"{spread.low / unit:{pattern}} to {spread.high / unit:{pattern}} in {spread.count} rounds"
