# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What `bench scaling` has measured, and what it says: rates, cycles per packet, and efficiency against one lcore.

The raw data is what `scaling.sh` writes, here or on another machine.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from testbed.comparison.statistics import PairRatio, pair_ratio
from testbed.run.cpu_share import OWN_CPU_SHARE
from testbed.run.results_folder import Record, ResultsError
from testbed.wire.forwarder import Final, Message, Period

SCHEMA_VERSION = 1
KIND = "bench-scaling"
RAW_NAME = "scaling.jsonl"

SWEEPS = {
    "lcores, a port each": "lcores",
    "lcores, a queue of one port each": "lcores",
    "ports of one lcore": "ports",
    "queues of one port and lcore": "queues",
}


# Lcores, ports, queues of each port.
Condition = tuple[int, int, int]


class Machine(Message):
    """The first line: where it was measured, and how."""

    type: Literal["machine"]
    schema_version: Literal[1]
    started: datetime
    cpu: str
    cores: int
    cpus: list[int]
    virtual: bool
    kernel: str
    memory_kb: int
    system: str
    hugepages: bool
    tsc_khz: int
    programs: dict[str, str]
    rounds: int
    seconds: int
    seed: int


class Run(Message):
    """One forwarder under one condition."""

    type: Literal["run"]
    round: int
    program: str
    lcores: int = Field(ge=1)
    ports: int = Field(ge=1)
    queues: int = Field(ge=1)
    status: int
    error: str
    cpu_s: float
    # The first line of /proc/stat before and after.
    stat: tuple[list[int], list[int]]
    messages: list[dict[str, object]]

    @property
    def condition(self) -> Condition:
        """What it ran under."""
        return self.lcores, self.ports, self.queues

    def describe(self) -> str:
        """'round 2, l2fwd-c, 1 lcore, 4 ports, 1 queue each'."""
        return f"round {self.round}, {self.program}, {describe(self.condition)}"

    def fault(self) -> str | None:
        """Why it does not count; None if it does."""
        if self.status != 0:
            return self.error or f"ended with status {self.status}"
        return None if self.rate_pps() > 0 else "its statistics are not complete"

    def rate_pps(self) -> float:
        """Forwarded frames a second, after the first period; 0 if its statistics do not say."""
        try:
            found = [_MESSAGES.validate_python(message) for message in self.messages if message.get("type") != "start"]
        except ValidationError:
            return 0.0
        periods = [message for message in found if isinstance(message, Period)]
        finals = [message for message in found if isinstance(message, Final)]
        if not periods or not finals:
            return 0.0
        first, last = periods[0], finals[-1]
        seconds = last.time_s - first.time_s
        frames = last.total.tx_packets - first.total.tx_packets
        return frames / seconds if seconds > 0 else 0.0

    def cycles_per_packet(self, tsc_hz: float) -> float | None:
        """Cycles of all lcores for each forwarded frame, as long as they had their CPUs."""
        share = self.cpu_share()
        return tsc_hz * self.lcores * share / self.rate_pps() if tsc_hz and share else None

    def cpu_share(self) -> float | None:
        """CPU time that it had / time, of each lcore. Its start counts with the CPU time."""
        times = [message["time_s"] for message in self.messages if message.get("type") == "final"]
        seconds = times[-1] if times and isinstance(times[-1], float | int) else 0
        return min(1.0, self.cpu_s / seconds / self.lcores) if seconds > 0 else None


_MESSAGES: TypeAdapter[Period | Final] = TypeAdapter(Annotated[Period | Final, Field(discriminator="type")])
_LINES: TypeAdapter[Machine | Run] = TypeAdapter(Annotated[Machine | Run, Field(discriminator="type")])


class Point(Record):
    """One forwarder under one condition over all rounds."""

    program: str
    sweep: str
    lcores: int
    ports: int
    queues: int
    rounds: int
    rate_pps: float = Field(description="forwarded frames a second, the median over the rounds")
    cycles_per_packet: float | None = Field(
        description="TSC cycles of all its lcores, while they had their CPUs, for each forwarded frame; the median"
    )
    efficiency: PairRatio | None = Field(description="rate / (lcores x rate of one lcore with one port and queue)")

    @property
    def at(self) -> int:
        """Its place in the sweep."""
        return int(getattr(self, SWEEPS[self.sweep]))


class Scaling(Record):
    """`summary.json`."""

    schema_version: int = SCHEMA_VERSION
    kind: str = KIND
    command: str
    quick: bool
    machine: Machine
    points: list[Point]
    remarks: list[str]


def describe(condition: Condition) -> str:
    """'1 lcore, 4 ports, 1 queue each'."""
    lcores, ports, queues = condition
    words = [f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in ((lcores, "lcore"), (ports, "port"))]
    return f"{', '.join(words)}, {queues} queue{'' if queues == 1 else 's'} each"


def read_raw(path: Path) -> tuple[Machine, list[Run]]:
    """The raw data of a file, or of a folder that `--bundle` wrote.

    Raises `ResultsError`.
    """
    path = path / RAW_NAME if path.is_dir() else path
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ResultsError(f"cannot read '{path}': {error}: give the output of a bundle's ./measure") from error
    return parse_raw(lines, str(path))


def parse_raw(lines: Iterable[str], name: str) -> tuple[Machine, list[Run]]:
    """The machine and the runs in these lines; `name` is for messages.

    Raises `ResultsError`.
    """
    found: list[Machine | Run] = []
    for number, line in enumerate(lines, start=1):
        try:
            found.append(_LINES.validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ResultsError(f"'{name}', line {number} is not raw data: {where}: {first['msg']}") from error
    machines = [line for line in found if isinstance(line, Machine)]
    if len(machines) != 1 or found[0] is not machines[0]:
        raise ResultsError(f"'{name}' does not begin with the line about the machine: it is not raw data")
    return machines[0], [line for line in found if isinstance(line, Run)]


def evaluate(machine: Machine, runs: list[Run], command: str, quick: bool) -> Scaling:
    """What the runs say."""
    valid: dict[tuple[str, Condition], dict[int, Run]] = {}
    for run in runs:
        if run.fault() is None:
            valid.setdefault((run.program, run.condition), {})[run.round] = run
    points = [
        _point(machine, sweep, mine, valid.get((program, (1, 1, 1)), {}))
        for sweep in SWEEPS
        for (program, condition), mine in sorted(valid.items(), key=lambda entry: entry[0])
        if _belongs(sweep, condition)
    ]
    return Scaling(command=command, quick=quick, machine=machine, points=points, remarks=_remarks(machine, runs))


def _belongs(sweep: str, condition: Condition) -> bool:
    lcores, ports, queues = condition
    return {
        "lcores, a port each": ports == lcores and queues == 1,
        "lcores, a queue of one port each": ports == 1 and queues == lcores,
        "ports of one lcore": lcores == 1 and queues == 1,
        "queues of one port and lcore": lcores == 1 and ports == 1,
    }[sweep]


def _point(machine: Machine, sweep: str, mine: dict[int, Run], single: dict[int, Run]) -> Point:
    """`mine` and `single`, one lcore with one port and queue, by round."""
    run = next(iter(mine.values()))
    # Of one round, whose runs are neighbours in time.
    pairs = [(mine[number], single[number]) for number in sorted(mine.keys() & single.keys())]
    samples = [one.rate_pps() / (run.lcores * other.rate_pps()) for one, other in pairs]
    cycles = [found for one in mine.values() if (found := one.cycles_per_packet(machine.tsc_khz * 1e3))]
    return Point(
        program=run.program,
        sweep=sweep,
        lcores=run.lcores,
        ports=run.ports,
        queues=run.queues,
        rounds=len(mine),
        rate_pps=statistics.median(one.rate_pps() for one in mine.values()),
        cycles_per_packet=statistics.median(cycles) if cycles else None,
        efficiency=None if run.condition == (1, 1, 1) else pair_ratio(samples),
    )


def _remarks(machine: Machine, runs: list[Run]) -> list[str]:
    remarks = []
    lcores = len(machine.cpus)
    if lcores < 2:
        here = "one core" if machine.cores == 1 else f"{machine.cores} cores, of which one is left to the system"
        remarks.append(
            f"This machine has {here}, so only one lcore could be measured. "
            "./x bench scaling --bundle DIR creates a folder that measures on a larger machine."
        )
    if machine.virtual:
        remarks.append("Measured on a virtual machine, which may share its processor with others.")
    faults = [f"{run.describe()}: {fault}" for run in runs if (fault := run.fault())]
    remarks += [f"Invalid: {fault}" for fault in faults]
    shares = [share for run in runs if run.fault() is None and (share := run.cpu_share()) is not None]
    low = sum(share < OWN_CPU_SHARE for share in shares)
    if low:
        remarks.append(
            f"In {low} of {len(shares)} runs the forwarder had less than {OWN_CPU_SHARE:.0%} of its CPUs (minimum: "
            f"{min(shares):.0%}), since other programs ran there. This lowers the figures."
        )
    return remarks
