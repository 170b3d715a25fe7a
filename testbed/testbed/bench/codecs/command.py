# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The run of `./x bench codecs`: counts, rounds in turn, tables, report, and summary.json in a results folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from rich.console import Console

from testbed.bench.codecs.contestants import Codec
from testbed.bench.codecs.count import count_all, count_table, counted_conditions, versions
from testbed.bench.codecs.instance import CodecInstance
from testbed.bench.codecs.record import CodecsRecord
from testbed.bench.codecs.report import write_report
from testbed.bench.codecs.tables import of_languages, rate_table
from testbed.bench.record import write_record
from testbed.command_line.console import say, say_warning
from testbed.comparison.blocks import Entrant, Protocol, further_blocks
from testbed.comparison.condition import Condition
from testbed.comparison.measurement import off_the_forwarders_cpu
from testbed.comparison.noise_floor import again, floor_in_words
from testbed.comparison.pairs import pairs
from testbed.comparison.record import Measurement
from testbed.comparison.tables import pair_table
from testbed.run.environment import record_environment
from testbed.run.lcores import LcorePlan
from testbed.run.progress import Steps
from testbed.run.results_folder import Status, new_results_folder
from testbed.run.signals import signals_as_interrupt


@dataclass(frozen=True)
class CodecsOptions:
    """The command line of `bench codecs`, checked."""

    codecs: Sequence[Codec]
    conditions: Sequence[Condition]
    count: bool
    race: bool
    protocol: Protocol
    blocks: int
    seed: int
    quick: bool
    lcores: LcorePlan
    out: Path
    json: Path | None
    command: str


def run_codecs(options: CodecsOptions, console: Console) -> Status:
    """Counts, races and prints.

    Raises `BinaryError`, `CountError` and `ResultsError`.
    """
    folder = new_results_folder(options.out, "bench-codecs")
    programs = {one.program.name: one.program for one in options.codecs}
    record = CodecsRecord(
        # Interrupted until proven otherwise: this is what a reader finds if this program is killed.
        status=Status.INTERRUPTED,
        reason="the run did not finish",
        started=datetime.now(UTC),
        command=options.command,
        versions=versions(),
        quick=options.quick,
        seed=options.seed,
        blocks=options.blocks,
        rounds=options.protocol.rounds,
        slice_ms=1000 * options.protocol.slice_s,
        lcores={"client": options.lcores.forwarder, "server": options.lcores.generator},
        codecs={one.name: one.what for one in options.codecs},
        environment=record_environment(list(programs.values()), hugepages=False),
    )

    def save() -> None:
        for path in (folder / "summary.json", *([options.json] if options.json else [])):
            write_record(path, record)

    say_warning(console, *options.lcores.warnings)
    try:
        with signals_as_interrupt(), off_the_forwarders_cpu(options.lcores):
            _measure(options, record, folder / "raw", console, save)
        lost = sum(bool(block.reasons) for measurement in record.measurements for block in measurement.blocks)
        record.status = Status.FAILED if lost else Status.PASSED
        record.reason = f"{lost} blocks are invalid" if lost else None
    except KeyboardInterrupt:
        say_warning(console, "interrupted: reporting the results so far")
        record.reason = "interrupted: the results so far are below"
    record.finished = datetime.now(UTC)
    save()
    _print(record, console)
    say(console, f"\n{record.versions}\nResults: {folder}\nReport:  {write_report(folder, record)}")
    return record.status


def _measure(
    options: CodecsOptions, record: CodecsRecord, raw: Path, console: Console, save: Callable[[], None]
) -> None:
    wanted = [one for one in counted_conditions() if one in options.conditions] if options.count else []
    countable = sum(codec.takes_part(condition) for condition in wanted for codec in options.codecs)
    raced = options.conditions if options.race else []
    with Steps(console, countable + options.blocks * len(raced)) as steps:
        steps.begin("counting instructions")
        for count in count_all(options.codecs, wanted):
            record.counts.append(count)
            steps.tell(f"{count.condition.describe()}: {count.codec}")
            steps.done()
        save()
        for condition in raced:
            able = [one for one in options.codecs if one.takes_part(condition)]
            if not able:
                continue
            labels = [*(one.name for one in able), again(able[0].name)]
            measurement = Measurement(condition=condition, labels=labels)
            record.measurements.append(measurement)
            steps.begin(condition.describe())
            entrants = partial(_entrants, [*zip([*able, able[0]], labels, strict=True)], condition, options.lcores, raw)
            seed = f"{options.seed}-{condition.describe()}"
            for block in further_blocks(measurement, options.blocks, entrants, options.protocol, seed, steps.tell):
                for reason in block.reasons:
                    say_warning(console, f"{condition.describe()}: block {block.number} is invalid: {reason}")
                steps.done()
            found, floor = pairs(measurement, per_cpu_second=True)
            record.pairs += found
            record.noise_floor += floor
            save()


def _entrants(
    named: Sequence[tuple[Codec, str]], condition: Condition, lcores: LcorePlan, raw: Path, number: int
) -> list[Entrant]:
    def entrant(codec: Codec, label: str) -> Entrant:
        words = [*codec.words(condition)[1:], f"block{number}", label.replace(" (again)", "-again")]
        name = "-".join(word.removeprefix("--") for word in words)
        return Entrant(label, lambda suffix: CodecInstance(codec, condition, lcores, raw, label, name + suffix))

    return [entrant(codec, label) for codec, label in named]


def _print(record: CodecsRecord, console: Console) -> None:
    console.print()
    tables = [count_table(record.counts), rate_table(record.measurements)]
    tables.append(pair_table(of_languages(record.pairs), "Pairs: ratio of rounds per second of CPU time"))
    for table in tables:
        if table.rows:
            console.print(table.rich(console.width))
    for floor in record.noise_floor:
        say(console, f"  {floor_in_words(floor)}")
