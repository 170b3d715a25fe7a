# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Gives each idle testbed the next part to measure, and keeps what comes back."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from distributed import Future
from rich.console import Console

from testbed.campaign.testbeds.cluster import Cluster, part_of
from testbed.campaign.testbeds.merge import AGAIN, keep, kept
from testbed.campaign.testbeds.part import Job, Part
from testbed.results import write_atomically


class Dispatcher:
    """The parts of one campaign or comparison, in its results folder."""

    def __init__(
        self,
        folder: Path,
        frames: Sequence[str],
        testbeds: Collection[str],
        job: Callable[[str, str], Job],
        console: Console,
        retries: Mapping[str, list[str]] | None = None,
    ) -> None:
        self._folder = folder
        # In the order of the campaign.
        self._frames = frames
        self._testbeds = testbeds
        # What a testbed is told to measure these frames.
        self._job = job
        self._console = console
        self._parts = {one: part for one in frames if (part := kept(folder, one)) is not None}
        # Of frames that were measured: the places that are measured again, on the same testbed.
        self._retries = {one: places for one, places in (retries or {}).items() if one in self._parts}
        # Why a testbed is given nothing more.
        self._broken: dict[str, str] = {}

    @property
    def missing(self) -> list[str]:
        """What nobody has measured yet."""
        return [frames for frames in self._frames if frames not in self._parts]

    def ordered(self) -> dict[str, Part]:
        """What there is, in the campaign's order."""
        return {frames: self._parts[frames] for frames in self._frames if frames in self._parts}

    def measure(self, testbeds: Cluster) -> None:
        """Until everything is measured, or no testbed is left that may do it.

        Raises `ResultsError`.
        """
        waiting = deque(self.missing)
        running: dict[str, tuple[Future, Job]] = {}
        while waiting or running or self._retries:
            alive = {name: at for name, at in testbeds.testbeds().items() if name in self._testbeds}
            for name, (future, job) in list(running.items()):
                if future.done():
                    del running[name]
                    if not self.take(job, part_of(future, job)):
                        self._give_back(job, waiting)
                elif name not in alive:
                    del running[name]
                    future.cancel()
                    self._give_back(job, waiting)
                    left = "is as it was" if job.retry else "goes to another testbed"
                    self.tell(f"{name} is gone: {job.frames} {left}")
            for name, address in alive.items():
                if name in running or name in self._broken or (job := self._next(name, waiting)) is None:
                    continue
                self.tell(f"{name}: {job.frames}{' once more' if job.retry else ''} begins")
                running[name] = testbeds.submit(job, address), job
            if not running:
                break
            testbeds.wait_for([future for future, _ in running.values()])
        for frames in self._retries:
            # Another testbed would measure other things: what is compared must be from the same one.
            name = self._parts[frames].testbed
            self.tell(f"{frames}: what has failed stays so: testbed '{name}', which has the rest of it, is not there")

    def _next(self, testbed: str, waiting: deque[str]) -> Job | None:
        """What an idle testbed is given: what has failed there, or else what nobody has measured."""
        for frames, places in self._retries.items():
            part = self._parts[frames]
            if part.testbed == testbed:
                del self._retries[frames]
                return self._job(testbed, frames).model_copy(update={"earlier": part.journal, "retry": places})
        return self._job(testbed, waiting.popleft()) if waiting else None

    def _give_back(self, job: Job, waiting: deque[str]) -> None:
        if job.retry:
            self._retries[job.frames] = job.retry
        else:
            waiting.appendleft(job.frames)

    def take(self, job: Job, part: Part | None) -> bool:
        """Keeps a part; whether it is there and has what it should.

        Raises `ResultsError`.
        """
        if part is None:
            self.tell(f"{job.testbed}: {job.frames} was measured, but is lost with its worker")
            return False
        if part.error is not None:
            self._broken[job.testbed] = part.error
            self.tell(f"{job.testbed}: {job.frames}: {part.error}: it is given nothing more")
            return False
        keep(self._folder, AGAIN if job.again else job.frames, part)
        if job.again is None:
            self._parts[job.frames] = part
        left = f", {len(self.missing)} to go" if self.missing else ""
        how = " again" if job.again else " once more" if job.retry else ""
        self.tell(f"{job.testbed}: {job.frames}{how} done{left}")
        return True

    def write_environments(self) -> None:
        """What each testbed is that has measured something.

        Raises `ResultsError`.
        """
        for part in self.ordered().values():
            file = self._folder / f"environment-{part.testbed}.json"
            write_atomically(file, json.dumps(part.environment, indent=2) + "\n")

    def why_missing(self) -> str:
        """What is missing, and why no testbed measures it."""
        broken = "; ".join(f"{name}: {why}" for name, why in self._broken.items())
        return f"no testbed is left for {', '.join(self.missing)}" + (f" ({broken})" if broken else "")

    def tell(self, text: str) -> None:
        """Something that the user should know."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)
