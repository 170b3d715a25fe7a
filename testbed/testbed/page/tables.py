# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Tables, made once for the terminal, the page and Markdown, so that all say the same."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field

from rich import box
from rich.table import Table as RichTable
from rich.text import Text

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
