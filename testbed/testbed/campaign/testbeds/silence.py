# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Which jobs give no word any more: a testbed that hangs keeps its connection, and would keep its job for ever."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class _Word:
    """The last word of a job."""

    is_first: bool
    # By the clock.
    next_by: float


class Silence:
    """Until when each job may be silent. Words come from another thread."""

    def __init__(self, patience_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        # Beyond the time of a trial: to start the device, for example.
        self._patience_s = patience_s
        self._clock = clock
        self._words: dict[str, _Word] = {}

    def begin(self, number: str) -> None:
        """A job is given to a testbed."""
        self._words[number] = _Word(True, self._clock() + self._patience_s)

    def heard(self, number: str, busy_s: float) -> None:
        """A job gives a word, and perhaps begins a trial that takes so long."""
        if number in self._words:
            self._words[number] = _Word(False, self._clock() + busy_s + self._patience_s)

    def why(self, number: str) -> str | None:
        """Why the testbed is taken to hang, if the job should have given a word before now."""
        word = self._words[number]
        if self._clock() < word.next_by:
            return None
        if word.is_first:
            # Dask starts a worker's jobs one after the other, whoever gave them.
            return f"it did not begin within {self._patience_s:g} s: it is busy for somebody else, or hangs"
        return f"no word for {self._patience_s:g} s beyond the time of a trial: it hangs"

    def end(self, number: str) -> None:
        """No more is expected of the job."""
        self._words.pop(number, None)
