# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Gives each idle testbed the next job, and keeps what comes back."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from distributed import Future
from rich.console import Console

from testbed.campaign.journal import JournalError
from testbed.campaign.testbeds.cluster import Cluster, cluster, result_of
from testbed.campaign.testbeds.inventory import Inventory
from testbed.campaign.testbeds.job import Job, JobResult
from testbed.campaign.testbeds.merge import AGAIN, keep, kept
from testbed.command_line.console import say
from testbed.run.process import ProcessError
from testbed.run.results_folder import ResultsError, Status, write_atomically
from testbed.run.signals import signals_as_interrupt


class Dispatcher:
    """The jobs of one campaign or comparison, in its results folder."""

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
        # The job of a testbed for these frames.
        self._job = job
        self._console = console
        self._results = {one: result for one in frames if (result := kept(folder, one)) is not None}
        # Of frames that were measured: the places that are measured again, on the same testbed.
        self._retries = {one: places for one, places in (retries or {}).items() if one in self._results}
        # Why a testbed is given nothing more.
        self._broken: dict[str, str] = {}

    @property
    def missing(self) -> list[str]:
        """What no testbed has measured yet."""
        return [frames for frames in self._frames if frames not in self._results]

    def ordered(self) -> dict[str, JobResult]:
        """What there is, in the campaign's order."""
        return {frames: self._results[frames] for frames in self._frames if frames in self._results}

    def run(
        self, inventory: Inventory, bin_dirs: list[Path], then: Callable[[Cluster], None] = lambda _: None
    ) -> tuple[Status, str]:
        """Measures on the testbeds of the inventory what is missing, `then` what comes last.

        Returns what a campaign is that still lacks something, and why.
        """
        try:
            with signals_as_interrupt(), cluster(inventory, bin_dirs, self._folder / "raw") as testbeds:
                self.measure(testbeds)
                then(testbeds)
        except KeyboardInterrupt:
            self.tell("interrupted: the jobs that are done are kept")
        except (ProcessError, ResultsError, JournalError) as error:
            return Status.FAILED, str(error)
        else:
            if self.missing:
                return Status.FAILED, self.why_missing()
        return Status.INTERRUPTED, "interrupted"

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
                    if not self.take(job, result_of(future, job)):
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
            name = self._results[frames].testbed
            self.tell(f"{frames}: what has failed stays so: testbed '{name}', which has the rest of it, is not there")

    def _next(self, testbed: str, waiting: deque[str]) -> Job | None:
        """The next job of an idle testbed: one that failed there, or else one that no testbed has measured."""
        for frames, places in self._retries.items():
            result = self._results[frames]
            if result.testbed == testbed:
                del self._retries[frames]
                return self._job(testbed, frames).model_copy(update={"earlier": result.journal, "retry": places})
        return self._job(testbed, waiting.popleft()) if waiting else None

    def _give_back(self, job: Job, waiting: deque[str]) -> None:
        if job.retry:
            self._retries[job.frames] = job.retry
        else:
            waiting.appendleft(job.frames)

    def take(self, job: Job, result: JobResult | None) -> bool:
        """Keeps a result; whether it is there and has what it should.

        Raises `ResultsError`.
        """
        if result is None:
            self.tell(f"{job.testbed}: {job.frames} was measured, but is lost with its worker")
            return False
        if result.error is not None:
            self._broken[job.testbed] = result.error
            self.tell(f"{job.testbed}: {job.frames}: {result.error}: it is given nothing more")
            return False
        keep(self._folder, AGAIN if job.again else job.frames, result)
        if job.again is None:
            self._results[job.frames] = result
        left = f", {len(self.missing)} to go" if self.missing else ""
        how = " again" if job.again else " once more" if job.retry else ""
        self.tell(f"{job.testbed}: {job.frames}{how} done{left}")
        return True

    def write_environments(self) -> None:
        """What each testbed is that has measured something.

        Raises `ResultsError`.
        """
        for result in self.ordered().values():
            file = self._folder / f"environment-{result.testbed}.json"
            write_atomically(file, json.dumps(result.environment, indent=2) + "\n")

    def why_missing(self) -> str:
        """What is missing, and why no testbed measures it."""
        broken = "; ".join(f"{name}: {why}" for name, why in self._broken.items())
        return f"no testbed is left for {', '.join(self.missing)}" + (f" ({broken})" if broken else "")

    def tell(self, text: str) -> None:
        """Something that the user should know."""
        say(self._console, text)
