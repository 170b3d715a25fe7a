# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A testbed's worker: it waits for the scheduler of Dask to give it jobs, and does one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from distributed import Worker, get_worker
from distributed.security import Security

from testbed.campaign.recorder import Watcher
from testbed.campaign.testbeds.address import NOWHERE
from testbed.campaign.testbeds.job import Job, run_job
from testbed.campaign.trial import AnyPlan, planned_s
from testbed.run.process import ProcessError

# One trial at a time, whoever asks: each job takes the token.
RESOURCE = "testbed"


class TestbedWorker(Worker):
    """A worker that knows where its programs are."""

    # pytest would take it for a test.
    __test__ = False

    bin_dirs: list[Path]


def work(scheduler: str, name: str, bin_dirs: list[Path], wait_s: float, security: Security | None = None) -> None:
    """Works until the scheduler says that it is over, or is gone.

    Raises `OSError` or `TimeoutError` if the scheduler cannot be reached within `wait_s` seconds.
    """
    asyncio.run(_work(scheduler, name, bin_dirs, wait_s, security))


async def _work(scheduler: str, name: str, bin_dirs: list[Path], wait_s: float, security: Security | None) -> None:
    async with new_worker(scheduler, name, bin_dirs, wait_s, security) as worker:
        print(f"testbed {name} is ready", flush=True)
        await worker.finished()


def new_worker(
    scheduler: str, name: str, bin_dirs: list[Path], wait_s: float, security: Security | None
) -> TestbedWorker:
    """A worker that connects when it is entered."""
    worker = TestbedWorker(
        scheduler,
        name=name,
        nthreads=1,
        resources={RESOURCE: 1},
        dashboard=False,
        dashboard_address=NOWHERE,
        death_timeout=wait_s,
        security=security,
    )
    worker.bin_dirs = bin_dirs
    return worker


def topic(campaign: str) -> str:
    """Under this name the scheduler passes on the journals of a campaign's jobs, line by line."""
    return f"journal-{campaign}"


def do(job_json: str) -> str:
    """What a worker is asked for: a `Job` becomes a `JobResult`, both as JSON."""
    worker, job = get_worker(), Job.model_validate_json(job_json)
    bin_dirs = worker.bin_dirs if isinstance(worker, TestbedWorker) else []

    def tell(text: str, whole: bool, busy_s: float = 0.0) -> None:
        word = {"number": job.number, "text": text, "whole": whole, "busy_s": busy_s}
        worker.log_event(topic(job.campaign), word)

    return run_job(job, bin_dirs, follower=tell, watcher=_Announcer(worker, job, tell)).model_dump_json()


class _Announcer(Watcher):
    """Says how long the next trial takes before it begins, and ends the job if nobody waits for it any more."""

    def __init__(self, worker: Worker, job: Job, tell: Callable[[str, bool, float], None]) -> None:
        self._worker = worker
        self._key = worker.get_current_task()
        self._pauses_s = job.scenario.pauses_around_trials.total_s
        self._tell = tell

    def trial_begins(self, place: str, plan: AnyPlan) -> None:
        """Until it has ended nothing else is heard of the job.

        Raises `ProcessError` if the job was taken back, or whoever gave it is gone: the testbed is free for the next.
        """
        task = self._worker.state.tasks.get(self._key)
        if task is None or task.state != "executing":
            raise ProcessError("nobody waits for the job any more")
        self._tell("", False, planned_s(plan) + self._pauses_s)
