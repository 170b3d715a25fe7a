# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A campaign on the simulated device in a process of its own, which kills itself where it is told to.

Its search is a plain bisection: what is tested is the campaign around it. KILL_AT=number:moment ends it with SIGKILL at
the given write of the journal, at one of the moments 'before', 'half', 'unsynced' and 'after'.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from pydantic import BaseModel
from rich.console import Console

from testbed.campaign import journal
from testbed.campaign.campaign import Campaign
from testbed.campaign.campaign_settings import CampaignSettings
from testbed.campaign.equipment import Equipment
from testbed.campaign.method import Method, Task
from testbed.campaign.scenario import Measurement, Scenario
from testbed.campaign.simulated import SimulatedGenerator
from testbed.campaign.trial import TrialPlan
from testbed.campaign.validity import NotMeasured
from testbed.run.environment import record_environment

SCENARIO = {
    "name": "process",
    "generator": {"kind": "simulated"},
    "devices": [
        {
            "name": name,
            "model": {
                "throughput_fps": {64: fps, 512: fps / 2},
                "noise": 0.002,
                "seed": 5,
                "shortfalls": 0.1,
            },
        }
        for name, fps in (("one", 9e6), ("two", 8e6))
    ],
    "frames": {"sizes": [64, 512]},
    "tests": ["throughput", "forwarding_rate"],
    "preset": "quick",
}


class Found(BaseModel):
    fps: float
    trials: int


def attempt(task: Task, load_fps: float) -> tuple[int, float]:
    """A trial, repeated while it is invalid."""
    plan = TrialPlan(size=task.point.size, load_fps=load_fps, duration_s=1)
    for _ in range(20):
        result = task.generator.run(plan)
        if result.valid:
            return result.lost, result.forwarded_fps
    raise NotMeasured("twenty invalid trials")


def bisect(task: Task) -> Found:
    low, high, trials = 0.0, task.generator.capabilities().max_fps(task.point.size), 0
    while high - low > 1000:
        middle = (low + high) / 2
        lost, _ = attempt(task, middle)
        low, high = (low, middle) if lost else (middle, high)
        trials += 1
    return Found(fps=low, trials=trials)


def overload(task: Task) -> Found:
    # Depends on the earlier measurement, as latency does.
    rates = [attempt(task, task.earlier[Measurement.THROUGHPUT].fps * factor)[1] for factor in (1.05, 1.2, 1.2)]
    return Found(fps=max(rates), trials=len(rates))


METHODS = {
    Measurement.THROUGHPUT: Method(bisect, lambda found: f"{found.fps:.0f}", rate=lambda found: found["fps"]),
    Measurement.FORWARDING_RATE: Method(overload, lambda found: f"{found.fps:.0f}", (Measurement.THROUGHPUT,)),
}


def start(scenario: Scenario, device: str, directions: int, raw: Path) -> SimulatedGenerator:
    model = next(one.model for one in scenario.devices if one.name == device)
    return SimulatedGenerator(model, scenario.pauses_around_trials, device)


EQUIPMENT = Equipment(METHODS, start, lambda scenario: record_environment([], False), lambda scenario, point, test: 1.0)


def begin(parent: Path, equipment: Equipment = EQUIPMENT, **changes: object) -> Campaign:
    scenario = Scenario.model_validate({**SCENARIO, **changes})
    settings = CampaignSettings(kind="rfc2544", command="a test", scenario=scenario)
    return Campaign.create(parent, settings, "name: process\n", equipment)


def kill_at(number: int, moment: str) -> None:
    """Makes the journal's write of this number the last thing that this process does."""
    written = 0
    write, fsync = os.write, os.fsync

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def deadly_write(file: int, data: bytes) -> int:
        nonlocal written
        written += 1
        if written < number:
            return write(file, data)
        if moment == "before":
            die()
        write(file, data[: len(data) // 2] if moment == "half" else data)
        if moment != "after":
            die()
        return len(data)

    def deadly_fsync(file: int) -> None:
        fsync(file)
        if written >= number:
            die()

    class System:
        """The os module with two functions replaced."""

        def __getattr__(self, name: str) -> object:
            return {"write": deadly_write, "fsync": deadly_fsync}.get(name, getattr(os, name))

    journal.os = System()


def main() -> int:
    if told := os.environ.get("KILL_AT"):
        number, moment = told.split(":")
        kill_at(int(number), moment)
    command, folder = sys.argv[1], Path(sys.argv[2])
    campaign = begin(folder) if command == "begin" else Campaign.resume(folder, EQUIPMENT)
    return 0 if campaign.run(Console(width=200)) == "passed" else 1


if __name__ == "__main__":
    sys.exit(main())
