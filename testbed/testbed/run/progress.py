# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What is being done right now: a moving line on a terminal, plain lines in a log."""

from __future__ import annotations

from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


class Steps:
    """Progress over a known number of trials."""

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        # Twice a second: the machine may have no core to spare for drawing.
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            refresh_per_second=2,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("", total=total)
        self._act = ""

    def begin(self, act: str) -> None:
        """An act begins."""
        self._act = act
        self.tell("…")

    def tell(self, what: str) -> None:
        """Something begins or ends within the act."""
        self._progress.update(self._task, description=f"{self._act}: {what}")
        if not self._console.is_terminal and what != "…":
            self._console.print(f"{self._act}: {what}", highlight=False, markup=False)

    def done(self) -> None:
        """A trial is done."""
        self._progress.advance(self._task)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()
