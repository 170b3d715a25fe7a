# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Gives each idle testbed the next job, and keeps what comes back."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from distributed import Future
from rich.console import Console

from testbed.campaign.journal import JournalError, discarded
from testbed.campaign.testbeds.cluster import Cluster, cluster, how_to_come, result_of
from testbed.campaign.testbeds.inventory import PATIENCE_S, Inventory
from testbed.campaign.testbeds.job import Job, JobResult, new_number, why_none_counts
from testbed.campaign.testbeds.merge import keep, kept
from testbed.campaign.testbeds.silence import Silence
from testbed.campaign.testbeds.unfinished import UnfinishedJournals
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
        patience_s: float = PATIENCE_S,
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
        self._failed = {one: places for one, places in (retries or {}).items() if one in self._results}
        # Why a testbed is given nothing more, and its address: a worker that is started again has another one.
        self._broken: dict[str, tuple[str, str]] = {}
        # Frames of which a testbed had no valid trial: another one tells whether that is the testbed's fault.
        self._doubtful: dict[str, str] = {}
        # Those that were there at some time of this run.
        self._came: set[str] = set()
        self._unfinished = UnfinishedJournals(folder)
        self._silence = Silence(patience_s)

    @property
    def missing(self) -> list[str]:
        """What no testbed has measured yet."""
        return [frames for frames in self._frames if frames not in self._results]

    def ordered(self) -> dict[str, JobResult]:
        """What there is, in the campaign's order."""
        return {frames: self._results[frames] for frames in self._frames if frames in self._results}

    @property
    def absent(self) -> list[str]:
        """The testbeds that never came."""
        return [name for name in self._testbeds if name not in self._came]

    @property
    def came(self) -> int:
        """How many testbeds were there at some time of this run."""
        return len(self._came)

    @property
    def broken(self) -> dict[str, str]:
        """The testbeds that were given nothing more, and why."""
        return {name: why for name, (why, _) in self._broken.items()}

    def run(
        self,
        campaign: str,
        inventory: Inventory,
        bin_dirs: list[Path],
        last: Callable[[], Iterable[Job]] = list,
    ) -> tuple[Status, str]:
        """Measures on the testbeds of the inventory what is missing, and if all is there, the `last` jobs.

        Returns what a campaign is that still lacks something, and why.
        """
        try:
            with signals_as_interrupt(), cluster(inventory, bin_dirs, self._folder / "raw") as testbeds:
                testbeds.follow(campaign, self._heard)
                self._there(testbeds)
                if self.absent:
                    late = ", ".join(self.absent)
                    self.tell(f"not there yet: {late}: they get work when they come; {how_to_come(inventory)}")
                self.measure(testbeds, deque(self.missing), self._retries())
                if not self.missing:
                    self.measure(testbeds, deque(), list(last()))
        except KeyboardInterrupt:
            self.tell("interrupted: what was measured is kept")
        except (ProcessError, ResultsError, JournalError) as error:
            return Status.FAILED, str(error)
        else:
            if self.missing:
                return Status.FAILED, self.why_missing()
        finally:
            if self.absent:
                self.tell(f"did not come: {', '.join(self.absent)}")
        return Status.INTERRUPTED, "interrupted"

    def _heard(self, number: str, text: str, whole: bool, busy_s: float = 0.0) -> None:
        """A job has these lines of its journal, and perhaps begins a trial that takes so long."""
        self._silence.heard(number, busy_s)
        if text:
            self._unfinished.take(number, text, whole)

    def _there(self, testbeds: Cluster) -> dict[str, str]:
        """The addresses of the inventory's testbeds that are there now."""
        alive = {name: address for name, address in testbeds.testbeds().items() if name in self._testbeds}
        self._came |= set(alive)
        return alive

    def measure(self, testbeds: Cluster, waiting: deque[str], bound: list[Job]) -> None:
        """Until everything is measured, or no testbed is left that may do it.

        Any testbed may measure the frames that are `waiting`; each job that is `bound` belongs to its own.

        Raises `ProcessError` if the scheduler is gone; `ResultsError`, `JournalError`.
        """
        running: dict[str, tuple[Future, Job, str]] = {}
        while waiting or running or bound:
            self._unfinished.check()
            alive = self._there(testbeds)
            for name, (future, job, address) in list(running.items()):
                if future.done():
                    done = self.take(job, result_of(future, job), address, self._others(name, alive))
                elif alive.get(name) != address:
                    # It has nothing of the job.
                    future.cancel()
                    left = "is as it was" if job.is_bound else "goes to another testbed if it does not come back"
                    done = self._lost(job, f"{name} is gone: {job.part} {left}")
                elif (why := self._silence.why(job.number)) is not None:
                    future.cancel()
                    done = self._hangs(job, address, why)
                else:
                    continue
                del running[name]
                self._silence.end(job.number)
                if not done:
                    _give_back(job, waiting, bound)
            for name, address in alive.items():
                if name in running or self._is_broken(name, address):
                    continue
                if (job := self._next(name, waiting, bound, alive)) is None:
                    continue
                self.tell(f"{name}: {_named(job)} {'continues' if job.earlier and not job.is_bound else 'begins'}")
                self._unfinished.begin(job)
                self._silence.begin(job.number)
                running[name] = testbeds.submit(job, address), job, address
            if not running:
                break
            testbeds.wait_for([future for future, _, _ in running.values()])
        for job in bound:
            self.tell(self._why_not(job))

    def _others(self, testbed: str, alive: Collection[str]) -> set[str]:
        """The other testbeds that may be given something."""
        return {name for name in alive if name != testbed and name not in self._broken}

    def _is_broken(self, testbed: str, address: str) -> bool:
        """Whether it is given nothing. Somebody has seen to it if its worker was started again."""
        if testbed in self._broken and self._broken[testbed][1] != address:
            del self._broken[testbed]
            self.tell(f"{testbed}: its worker was started again: it is given work")
        return testbed in self._broken

    def _lost(self, job: Job, why: str) -> bool:
        """A job that its testbed does not end; its trials are kept. Never done."""
        self._unfinished.give_up(job)
        self.tell(why)
        return False

    def _hangs(self, job: Job, address: str, why: str) -> bool:
        self._broken[job.testbed] = why, address
        kept = f"{job.testbed}: {job.part}: {why}; it is given nothing more until its worker is started again"
        return self._lost(job, f"{kept}; its trials are kept")

    def _next(self, testbed: str, waiting: deque[str], bound: list[Job], alive: Collection[str]) -> Job | None:
        """The next job of an idle testbed."""
        mine = next((job for job in bound if job.testbed == testbed), None)
        if mine is not None:
            bound.remove(mine)
            # What came of it before it was lost.
            return mine.model_copy(
                update={"number": new_number(), "earlier": self._unfinished.text(mine.part, testbed) or mine.earlier}
            )
        begun = {frames: self._unfinished.testbeds_with(frames) for frames in waiting}
        # Those that have begun something continue it: what is compared must be from the same testbed.
        others = self._others(testbed, alive)
        choices = (
            *(frames for frames in waiting if testbed in begun[frames]),
            *(frames for frames in waiting if not begun[frames]),
            *(frames for frames in waiting if not others.intersection(begun[frames])),
        )
        if not choices:
            return None
        waiting.remove(choices[0])
        job = self._job(testbed, choices[0])
        return job.model_copy(update={"earlier": self._unfinished.text(job.part, testbed)})

    def _retries(self) -> list[Job]:
        """The jobs that repeat what failed, each on the testbed that has the rest of it."""
        found = []
        for frames, places in self._failed.items():
            result = self._results[frames]
            earlier = discarded(result.journal, frames, places)
            job = self._job(result.testbed, frames)
            found.append(job.model_copy(update={"earlier": earlier, "retry": places}))
        return found

    def _why_not(self, job: Job) -> str:
        """Why a job that belongs to a testbed was not done."""
        if job.retry:
            # Another testbed would measure other things: what is compared must be from the same one.
            return (
                f"{job.frames}: what has failed stays so: testbed '{job.testbed}', which has the rest of it, is not "
                "there"
            )
        why = "is given nothing more" if job.testbed in self._broken else "is not there"
        return f"{job.testbed} {why}: nothing is measured again, so its drift is not known"

    def take(self, job: Job, result: JobResult | None, address: str, others: Collection[str]) -> bool:
        """Keeps a result; whether it is there and has what it should.

        Raises `ResultsError`, `JournalError`.
        """
        if result is None:
            return self._lost(
                job, f"{job.testbed}: the result of {job.part} is lost with its worker, but not its trials"
            )
        if result.error is not None:
            self._broken[job.testbed] = result.error, address
            return self._lost(job, f"{job.testbed}: {job.part}: {result.error}: it is given nothing more")
        if not job.is_bound and (why := why_none_counts(result)) is not None:
            first = self._doubtful.setdefault(job.frames, job.testbed)
            if first == job.testbed and others:
                # It would fail quickly at everything, and leave nothing to those that work.
                self._unfinished.set_aside(job)
                self._broken[job.testbed] = f"no trial of {job.part} was valid: {why}", address
                return self._lost(
                    job,
                    f"{job.testbed}: no trial of {job.part} was valid: {why}: another testbed measures it; this one is "
                    "given nothing more, unless that one has no valid trial either",
                )
            if first != job.testbed and first in self._broken:
                del self._broken[first]
                self.tell(f"{first}, {job.testbed}: neither has a valid trial of {job.part}: both are given work")
        keep(self._folder, job.part, result)
        self._unfinished.end(job)
        if job.again is None:
            self._results[job.frames] = result
        left = f", {len(self.missing)} to go" if self.missing else ""
        self.tell(f"{job.testbed}: {_named(job)} done{left}")
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
        broken = "; ".join(f"{name}: {why}" for name, why in self.broken.items())
        return f"no testbed is left for {', '.join(self.missing)}" + (f" ({broken})" if broken else "")

    def tell(self, text: str) -> None:
        """Something that the user should know."""
        say(self._console, text)


def _give_back(job: Job, waiting: deque[str], bound: list[Job]) -> None:
    if job.is_bound:
        bound.append(job)
    else:
        waiting.appendleft(job.frames)


def _named(job: Job) -> str:
    return f"{job.frames}{' again' if job.again else ' once more' if job.retry else ''}"
