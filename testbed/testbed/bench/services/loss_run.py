# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The run of `./x bench services --loss`: progress, a table, and JSON."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Literal

from pydantic import Field
from rich.console import Console

from testbed.bench.services.contestants import Contestant
from testbed.bench.services.loss import DELAY_MS, LossPlan, LossSample, Tools, measure_loss, own_cpus
from testbed.command_line.console import say, say_warning
from testbed.command_line.options import command_words
from testbed.page.tables import Row, Table
from testbed.run.environment import Environment, record_environment
from testbed.run.lcores import plan_lcores
from testbed.run.progress import Steps
from testbed.run.results_folder import Record, Status, write_model
from testbed.run.signals import signals_as_interrupt

_PERCENTILES = {"p50": "p50", "p90": "p90", "p99": "p99", "p99_9": "p99.9"}


class LossRecord(Record):
    """What `--json` writes."""

    schema_version: int = 1
    kind: Literal["bench-services-loss"] = "bench-services-loss"
    service: str
    status: Status = Status.FAILED
    started: datetime
    command: str
    environment: Environment
    delay_ms: float = Field(DELAY_MS, description="each way")
    plan: LossPlan
    samples: list[LossSample] = Field(default_factory=list)

    def in_words(self) -> str:
        """What is asked for, and how often."""
        plan = self.plan
        return (
            f"{plan.rate} requests/s on {plan.connections} connections, for {plan.seconds:g} s in each of "
            f"{plan.rounds} rounds; a delay of {self.delay_ms:g} ms each way; latencies in ms from the planned times"
        )


def run_loss(
    service: str,
    contestants: Sequence[Contestant],
    plan: LossPlan,
    tools: Tools,
    console: Console,
    json_path: Path | None = None,
) -> Status:
    """Measures, prints and writes. It fails if answers were wrong.

    An interrupt ends it with the results so far, and so does what it raises: as `measure_loss`, and `OSError`.
    """
    lcores = plan_lcores()
    say_warning(console, *lcores.warnings)
    if not own_cpus(lcores):
        say_warning(console, "with fewer than three CPUs, load and the service take turns on one: latencies are longer")
    programs = [tools.load, tools.impair, *(one.server().program for one in contestants)]
    record = LossRecord(
        service=service,
        started=datetime.now(UTC),
        command=shlex.join(command_words("bench", "services")),
        environment=record_environment(programs, hugepages=False),
        plan=plan,
    )
    samples = record.samples
    try:
        with (
            signals_as_interrupt(),
            closing(measure_loss(service, contestants, plan, tools, lcores)) as measured,
            Steps(console, plan.rounds * len(plan.losses) * len(contestants)) as steps,
        ):
            steps.begin(service)
            for sample in measured:
                samples.append(sample)
                steps.tell(_in_words(sample))
                steps.done()
        record.status = Status.FAILED if any(one.result["wrong"] for one in samples) else Status.PASSED
    except KeyboardInterrupt:
        record.status = Status.INTERRUPTED
        say_warning(console, "interrupted: reporting the results so far")
    finally:
        _report(record, console)
        if json_path is not None:
            write_model(json_path, record)
    return record.status


def loss_table(record: LossRecord) -> Table:
    """A row for each loss and contestant."""
    columns = ["Loss", "Program", "Answered", "Requests/s", *_PERCENTILES.values(), "max", "Broken", "Valid"]
    rows = []
    for percent in record.plan.losses:
        for name in dict.fromkeys(one.contestant for one in record.samples):
            found = [one for one in record.samples if (one.contestant, one.loss_percent) == (name, percent)]
            if found:
                rows.append(Row([f"{percent:g} %", name, *_cells(found)]))
    return Table(f"{record.service}: requests over a path that loses frames both ways", columns, rows, text_columns=2)


def _cells(samples: Sequence[LossSample]) -> list[str]:
    steps = [one.step for one in samples]
    # Without an answer there is no latency.
    times = [step["latency_ns"] for step in steps if step["answered"]]
    return [
        _answered(steps),
        f"{median(step['requests_per_second'] for step in steps):.1f}",
        *(f"{median(one[key] for one in times) / 1e6:.2f}" if times else "none" for key in _PERCENTILES),
        f"{max(one['max'] for one in times) / 1e6:.2f}" if times else "none",
        f"{sum(step['broken'] for step in steps):,}",
        f"{sum(not one.reasons for one in samples)} of {len(samples)}",
    ]


def _answered(steps: Sequence[dict[str, int]]) -> str:
    return f"{100 * sum(step['answered'] for step in steps) / sum(step['planned'] for step in steps):.2f} %"


def _place(sample: LossSample) -> str:
    return f"{sample.contestant}, {sample.loss_percent:g} %, round {sample.seed + 1}"


def _in_words(sample: LossSample) -> str:
    return f"{_place(sample)}: {_answered([sample.step])} answered"


def _report(record: LossRecord, console: Console) -> None:
    samples = record.samples
    if not samples:
        return
    console.print(loss_table(record).rich(console.width))
    say(
        console,
        record.in_words(),
        "medians of the rounds; answered and broken of all rounds, and the highest max",
        *(f"invalid: {_place(one)}: {'; '.join(one.reasons)}" for one in samples if one.reasons),
    )
    answered, wrong = (sum(one.result[key] for one in samples) for key in ("answered", "wrong"))
    say(console, f"{answered + wrong:,} answers were checked: {wrong or 'none'} wrong")
