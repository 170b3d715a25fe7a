# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the doctor found, for people and for programs."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from testbed.doctor.check import Check, Verdict
from testbed.doctor.examination import exit_status

SCHEMA = 1
_STYLES = {Verdict.OK: "green", Verdict.WARN: "yellow", Verdict.FAIL: "bold red"}


def as_json(checks: list[Check]) -> str:
    """One object with a schema version, the exit status and every check."""
    return json.dumps(
        {"schema": SCHEMA, "exit_status": exit_status(checks), "checks": [asdict(check) for check in checks]},
        ensure_ascii=False,
        indent=2,
    )


def show(checks: list[Check], console: Console) -> None:
    """A table; below what was read stand why it matters, and the remedy unless all is well."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_header=True)
    table.add_column("")
    table.add_column("Check", overflow="fold")
    table.add_column("Found", overflow="fold", ratio=1)
    group = ""
    for check in checks:
        if check.group != group:
            group = check.group
            table.add_section()
            table.add_row("", Text(group, style="bold"), "")
        # Text, not str: rich would take brackets for markup.
        found = Text(check.found)
        found.append(f"\n{check.why}", style="dim")
        if check.remedy:
            found.append(f"\nremedy: {check.remedy}", style="bold")
        table.add_row(Text(check.verdict, style=_STYLES[check.verdict]), Text(check.name), found)
    console.print(table)
    counts = Counter(check.verdict for check in checks)
    console.print(", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict), highlight=False)
