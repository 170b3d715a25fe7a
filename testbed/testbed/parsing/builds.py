# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The programs of a run, built one after the other while those before them are looked at.

What is looked at meanwhile is counted, which a busy machine does not change. Nothing is timed before all are built.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from testbed.parsing.build import Built, Watch
from testbed.run.process import Process


class Builds:
    """Programs by name, in the order in which they will be wanted."""

    def __init__(self, wanted: Mapping[str, Callable[[Watch], Built]], ahead: bool) -> None:
        self._wanted = dict(wanted)
        # Or each when it is asked for, so that nothing else runs meanwhile.
        self._ahead = ahead
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="build")
        self._futures: dict[str, Future[Built]] = {}
        self._lock = threading.Lock()
        self._running: Process | None = None
        self._over = False

    def get(self, name: str) -> Built:
        """A program, once it is built.

        Raises what its building has raised.
        """
        self._begin(name)
        return self._futures[name].result()

    def is_ready(self, name: str) -> bool:
        """Whether it has ended."""
        return name in self._futures and self._futures[name].done()

    def _begin(self, name: str) -> None:
        if name not in self._futures:
            self._futures[name] = self._worker.submit(self._wanted[name], self._watch)

    def _watch(self, process: Process) -> None:
        """A compiler has been started, by the thread that waits for it."""
        with self._lock:
            self._running = process
            over = self._over
        if over:
            process.kill()

    def __enter__(self) -> Self:
        if self._ahead:
            for name in self._wanted:
                self._begin(name)
        return self

    def __exit__(self, *_: object) -> None:
        """Ends what is still being built."""
        with self._lock:
            self._over = True
            running = self._running
        self._worker.shutdown(wait=False, cancel_futures=True)
        if running is not None:
            running.kill()
        self._worker.shutdown()
