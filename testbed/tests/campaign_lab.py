# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Testbeds that are functions here, for tests of what is spread over several of them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from testbed.campaign.equipment import Equipment
from testbed.campaign.real_equipment import real_equipment
from testbed.campaign.testbeds.job import Job, run_job


class Testbeds:
    """In place of the connection to Dask's scheduler: a job is done at once, unless its testbed is lost with it."""

    __test__ = False

    def __init__(self, lost: tuple[str, ...] = (), make: Callable[..., Equipment] = real_equipment) -> None:
        self.alive = ["quick", "slow"]
        self.jobs: list[Job] = []
        self._lost = lost
        self._make = make
        self._take: Callable[[str, str, bool], None] = lambda number, text, whole: None

    def testbeds(self) -> dict[str, str]:
        return {name: name for name in self.alive}

    def follow(self, campaign: str, take: Callable[[str, str, bool], None]) -> None:
        self._take = take

    def submit(self, job: Job, address: str) -> Future:
        assert address == job.testbed
        self.jobs.append(job)
        future: Future = Future()
        if job.testbed in self._lost:
            self.alive.remove(job.testbed)
        else:
            future.set_result(run_job(job, [], self._make, partial(self._take, job.number)).model_dump_json())
        return future

    def wait_for(self, futures: list[Future]) -> None:
        """They are done, or their testbed is gone."""
