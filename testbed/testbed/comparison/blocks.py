# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The protocol of a block: all contestants freshly started, all but one stopped at any time, short slices in turn.

A shared machine gets slower and faster by tens of per cent within seconds. Slices of a tenth of a second, each next to
one of every other contestant, meet the same machine; starting everything anew in each block averages over what a start
decides once: the places of code and memory.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from testbed.comparison.condition import Condition
from testbed.comparison.contestants import Contestant
from testbed.comparison.figures import figures
from testbed.comparison.instance import Instance
from testbed.comparison.noise_floor import again
from testbed.comparison.order import rounds
from testbed.comparison.platform import Platform
from testbed.comparison.record import Block, Measurement, Run
from testbed.comparison.runner import SETTLE_S, Runner
from testbed.comparison.telemetry import Reading, TelemetryError
from testbed.run import environment
from testbed.run.namespaces import NamespacesUnavailable
from testbed.run.process import ProcessError

# Discarded at the beginning of a block, for each instance.
_WARM_UP_S = 0.2
# A reading that took longer than this share of a slice is tried again.
_CLOCK_ERROR_SHARE = 0.002
_CLOCK_TRIES = 5
# By CPU time, a slice lasts until it has had this share of its length, but not longer than so many lengths.
_LEAST_CPU_SHARE = 0.5
_LONGEST_SLICE = 5


@dataclass(frozen=True)
class Protocol:
    """How much is measured, and in which way."""

    rounds: int
    slice_s: float
    # One contestant at a time, as NICs need: each run starts a new process.
    one_at_a_time: bool = False
    # A slice lasts until the program has had enough CPU time, if other programs use the CPU too.
    by_cpu_time: bool = False


@dataclass(frozen=True)
class Entrant:
    """A contestant's place in a block."""

    label: str
    # What it is given sets apart the files of several starts.
    make: Callable[[str], Runner]


def run_block(
    number: int,
    contestants: Sequence[Contestant],
    condition: Condition,
    platform: Platform,
    protocol: Protocol,
    chance: random.Random,
    on_step: Callable[[str], None],
    prefix: str = "",
) -> tuple[Block, int | None]:
    """One block, and the frequency of the TSC if a program reported it. Errors become reasons in the block."""
    block = Block(number=number)
    ticks = environment.steal_ticks()
    runner = _one_at_a_time if protocol.one_at_a_time else interleaved
    tsc_hz = None
    try:
        tsc_hz = runner(block, _instances(number, contestants, condition, platform, prefix), protocol, chance, on_step)
    except (ProcessError, TelemetryError) as error:
        block.reasons.append(str(error))
    block.steal_percent = environment.steal_percent(ticks, environment.steal_ticks())
    return block, tsc_hz


def further_blocks(
    measurement: Measurement,
    blocks: int,
    entrants: Callable[[int], list[Entrant]],
    protocol: Protocol,
    seed: str,
    on_step: Callable[[str], None],
    look: Callable[[Block], None] = lambda _: None,
) -> Iterator[Block]:
    """The blocks that a measurement lacks, interleaved; each is in it when it is yielded. Errors become reasons in it.

    `entrants` makes those of a block by its number, and `look` is shown each block before its figures are.
    """
    for number in range(len(measurement.blocks) + 1, blocks + 1):
        block = Block(number=number)
        # By itself, so that a run that is resumed has the order that it would have had.
        chance = random.Random(f"{seed}-{number}")
        ticks = environment.steal_ticks()
        try:
            interleaved(
                block,
                entrants(number),
                protocol,
                chance,
                lambda step, number=number: on_step(f"block {number} of {blocks}: {step}"),
            )
        except (NamespacesUnavailable, ProcessError, TelemetryError) as error:
            block.reasons.append(str(error))
        look(block)
        block.steal_percent = environment.steal_percent(ticks, environment.steal_ticks())
        measurement.blocks.append(block)
        measurement.figures = figures(measurement, None)
        yield block


def _instances(
    number: int, contestants: Sequence[Contestant], condition: Condition, platform: Platform, prefix: str
) -> list[Entrant]:
    """All contestants, and the first one again."""
    first = contestants[0]
    named = [*((contestant, contestant.name) for contestant in contestants), (first, again(first.name))]

    def entrant(contestant: Contestant, label: str) -> Entrant:
        file = label.replace(" (again)", "-again").replace(":", "-")
        name = f"{prefix}block{number}-{file}"
        # One block is enough to learn the TSC's frequency.
        return Entrant(
            label, lambda suffix: Instance(contestant, condition, platform, label, name + suffix, number == 1)
        )

    return [entrant(contestant, label) for contestant, label in named]


def interleaved(
    block: Block,
    entrants: list[Entrant],
    protocol: Protocol,
    chance: random.Random,
    on_step: Callable[[str], None],
) -> int | None:
    """Fills `block` with a run of each entrant; returns the TSC's frequency, if a program reported it.

    Raises `ProcessError` and `TelemetryError`.
    """
    with contextlib.ExitStack() as stack:
        instances = []
        # Not all in the same order: a first one may find other memory than a last one.
        for entrant in chance.sample(entrants, len(entrants)):
            instance = stack.enter_context(entrant.make(""))
            on_step(f"starting {instance.label}")
            instance.start()
            instance.pause()
            instances.append(instance)
        runs = {instance.label: _run(instance) for instance in instances}
        on_step("warming up")
        for instance in instances:
            instance.resume()
            time.sleep(_WARM_UP_S)
            instance.pause()
        on_step("measuring")
        for turn, order in enumerate(rounds(instances, protocol.rounds, chance), start=1):
            for instance in order:
                instance.resume()
                _slice(instance, runs[instance.label], turn, protocol)
                instance.pause()
        for instance in instances:
            instance.resume()
            instance.count_polls(runs[instance.label], protocol.slice_s)
            _finish(instance, runs[instance.label])
        block.runs = [runs[entrant.label] for entrant in entrants]
        return instances[0].tsc_hz()


def _one_at_a_time(
    block: Block,
    entrants: list[Entrant],
    protocol: Protocol,
    chance: random.Random,
    on_step: Callable[[str], None],
) -> int | None:
    """ABBA of whole runs: two runs, each with half of the slices."""
    runs: dict[str, Run] = {}
    tsc_hz = None
    (order,) = rounds(entrants, 1, chance)
    for number, entrant in enumerate(order):
        second = number >= len(entrants)
        with entrant.make("-second" if second else "") as instance:
            on_step(f"{instance.label}, {'second' if second else 'first'} run")
            instance.start()
            time.sleep(_WARM_UP_S)
            run = runs.setdefault(instance.label, _run(instance))
            for turn in range(1, protocol.rounds + 1):
                _slice(instance, run, turn, protocol)
            instance.count_polls(run, protocol.slice_s)
            tsc_hz = instance.tsc_hz()
            _finish(instance, run)
    block.runs = [runs[entrant.label] for entrant in entrants]
    return tsc_hz


def _run(instance: Runner) -> Run:
    return Run(label=instance.label, start_s=instance.start_s, rss_kb=0, hugepages_kb=0)


def _slice(instance: Runner, run: Run, turn: int, protocol: Protocol) -> None:
    seconds = protocol.slice_s
    time.sleep(SETTLE_S)
    first, generator_first = _exact_reading(instance, seconds), instance.generator_cpu_ns()
    time.sleep(seconds)
    if protocol.by_cpu_time:
        deadline = time.monotonic() + (_LONGEST_SLICE - 1) * seconds
        while instance.cpu_ns() - first.cpu_ns < _LEAST_CPU_SHARE * seconds * 1e9 and time.monotonic() < deadline:
            time.sleep(seconds / 10)
    last, generator_last = _exact_reading(instance, seconds), instance.generator_cpu_ns()
    slices = run.slices
    slices.round.append(turn)
    slices.seconds.append((last.time_ns - first.time_ns) / 1e9)
    slices.rx_packets.append(last.rx_packets - first.rx_packets)
    slices.tx_packets.append(last.tx_packets - first.tx_packets)
    slices.cpu_seconds.append((last.cpu_ns - first.cpu_ns) / 1e9)
    slices.clock_error_s.append((first.error_ns + last.error_ns) / 1e9)
    if generator_first is not None and generator_last is not None:
        slices.generator_cpu_seconds.append((generator_last - generator_first) / 1e9)
    run.lost.device_rx += last.rx_missed - first.rx_missed + last.rx_no_mbuf - first.rx_no_mbuf


def _exact_reading(instance: Runner, slice_s: float) -> Reading:
    """A reading whose time is known well enough; after some tries, as it is."""
    for _ in range(_CLOCK_TRIES):
        reading = instance.read()
        if reading.error_ns / 1e9 <= _CLOCK_ERROR_SHARE * slice_s:
            break
    return reading


def _finish(instance: Runner, run: Run) -> None:
    memory = instance.memory()
    run.rss_kb, run.hugepages_kb = memory.rss_kb, memory.hugepages_kb
    last = instance.read()
    run.lost.forwarder += max(0, last.rx_packets - last.tx_packets - instance.condition.most_in_flight)
    account = instance.end()
    if account is not None:
        run.lost.wire_to_forwarder = max(0, account.sent - account.forwarder_received)
        run.lost.wire_to_generator = max(0, account.forwarder_sent - account.received)
