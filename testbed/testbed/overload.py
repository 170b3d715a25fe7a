# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Act a: the generator on one core drives each forwarder in turn on another, as fast as it can."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from testbed import environment, statistics
from testbed.eal import EalOptions, unique_file_prefix
from testbed.forwarder import Final, Forwarder, Period, PortCounters, imbalance
from testbed.generator import Generator, Load, Result
from testbed.lcores import LcorePlan
from testbed.process import Process, ProcessError
from testbed.programs import Program
from testbed.results import Drops, ForwarderFrames, GeneratorFrames, OverloadAct, OverloadRow, OverloadTrial, Status
from testbed.wire import VirtualWire

# A trial that ran shorter than asked by more than this share did not do what it intended. One that ran longer was held
# up by the machine: its rates are over the time that it took, and a note says so.
_DURATION_TOLERANCE = 0.02
# With less than this share of its CPU, a program that never sleeps was held up by others.
OWN_CPU_SHARE = 0.9
# Above this share of polls that found nothing, the forwarder waited for the generator: it was not overloaded.
IDLE_SHARE = 0.05

_LINK = {1: "one interface, there and back", 2: "two interfaces, in at the first and out at the second"}


@dataclass(frozen=True)
class OverloadPlan:
    """What act a is to do."""

    size: int
    seconds: float
    rounds: int
    seed: int
    hugepages: bool
    lcores: LcorePlan
    ports: int = 1


def new_act(plan: OverloadPlan) -> OverloadAct:
    """The act before its first trial."""
    return OverloadAct(
        status=Status.INTERRUPTED,
        size=plan.size,
        seconds=plan.seconds,
        rounds=plan.rounds,
        seed=plan.seed,
        device=f"{VirtualWire.DEVICE}, {_LINK[plan.ports]}",
        lcores={"generator": plan.lcores.generator, "forwarder": plan.lcores.forwarder},
    )


def run(
    plan: OverloadPlan, programs: list[Program], generator: Program, raw: Path, on_step: Callable[[str], None]
) -> Iterator[OverloadTrial]:
    """Runs the rounds and yields each trial as it is done. A trial that fails is invalid and the next one follows."""
    by_name = {program.name: program for program in programs}
    for number, order in enumerate(statistics.balanced_order(sorted(by_name), plan.rounds, plan.seed), start=1):
        for name in order:
            on_step(f"round {number} of {plan.rounds}: {name}")
            yield run_trial(plan, by_name[name], generator, number, raw, on_step)


def run_trial(
    plan: OverloadPlan,
    program: Program,
    generator_program: Program,
    number: int,
    raw: Path,
    on_step: Callable[[str], None] = lambda _: None,
) -> OverloadTrial:
    """One forwarder under load for once."""
    trial = OverloadTrial(program=program.name, language=program.language, round=number)
    name = f"a-round{number}-{program.name}"
    try:
        with VirtualWire(plan.ports) as wire:
            eal = EalOptions(plan.lcores.forwarder, unique_file_prefix("dut"), wire.forwarder_vdevs, plan.hugepages)
            mask = (1 << plan.ports) - 1
            options = ["-p", f"{mask:#x}", "-q", str(plan.ports), f"--portmap=({0},{plan.ports - 1})"]
            last = plan.ports - 1
            load = Load(
                ports=tuple(range(plan.ports)),
                size=plan.size,
                seconds=plan.seconds,
                expect_src=wire.forwarder_mac(last),
                expect_dst=f"02:00:00:00:00:{last:02x}",
            )
            with Forwarder(program, eal, options, raw, name) as forwarder:
                # It waits for its peer before it begins; the generator waits for the link before it sends.
                forwarder.process.start()
                eal = EalOptions(plan.lcores.generator, unique_file_prefix("gen"), wire.generator_vdevs, plan.hugepages)
                before = environment.steal_ticks()
                with Generator(generator_program, eal, load, raw, f"{name}-generator") as generator:
                    forwarder.started(peer=generator)
                    usage = CpuUsage(generator=generator, forwarder=forwarder.process)
                    generator.wait_for_result()
                    trial.cpu_share = usage.shares()
                    result = generator.result()
                trial.steal_percent = environment.steal_percent(before, environment.steal_ticks())
                final = forwarder.stop()
                fill_in(trial, load, result, forwarder.periods, final)
    except ProcessError as error:
        trial.reasons.append(str(error))
    on_step(f"round {number} of {plan.rounds}: {program.name} {'done' if trial.valid else 'invalid'}")
    return trial


def fill_in(trial: OverloadTrial, load: Load, result: Result, periods: list[Period], final: Final) -> None:
    """Puts the two accounts of a trial side by side and judges them."""
    counters = final.total
    trial.generator = GeneratorFrames(
        duration_s=result.duration_s,
        sent=result.total.sent,
        received=result.total.received,
        tx_retries=result.total.tx_failed,
        lost=result.total.lost,
    )
    latencies = [stream.latency_ns for stream in result.streams if stream.latency_ns and stream.latency_ns.count]
    if len(latencies) == 1:
        trial.generator.latency_p50_ns = latencies[0].p50
        trial.generator.latency_p99_ns = latencies[0].p99
    window = loaded_window(periods, final)
    trial.forwarder = ForwarderFrames(
        rx_packets=counters.rx_packets,
        tx_packets=counters.tx_packets,
        tx_dropped=counters.tx_dropped,
        rx_short=counters.rx_short,
        rx_burst_avg=window.rx_burst_avg,
        empty_poll_share=window.empty_poll_share,
    )
    trial.drops = Drops(
        wire_to_forwarder=result.total.sent + result.probes.sent - counters.rx_packets,
        forwarder_short=counters.rx_short,
        forwarder_tx_queue=counters.tx_dropped,
        wire_to_generator=counters.tx_packets - result.total.received - result.probes.received,
    )
    trial.forwarded_pps = counters.tx_packets / result.duration_s if result.duration_s > 0 else None
    trial.reasons += faults(load, result, final, trial.drops)
    if any(share < OWN_CPU_SHARE for share in trial.cpu_share.values()):
        trial.notes.append(
            f"disturbed: the generator or the forwarder had less than {100 * OWN_CPU_SHARE:.0f} % of its CPU, other "
            "programs the rest; rates are lower for it, and burstier"
        )
    if window.empty_poll_share > IDLE_SHARE:
        trial.notes.append(
            f"not overloaded: more than {100 * IDLE_SHARE:.0f} % of its polls found nothing, so its rate is what the "
            "generator could send rather than what the forwarder could do"
        )
    if result.duration_s > (1 + _DURATION_TOLERANCE) * load.seconds:
        trial.notes.append(f"disturbed: the generator ran {result.duration_s:.2f} s instead of {load.seconds:g} s")
    if not window.whole:
        trial.notes.append("too short for a statistics period wholly under load: the average RX burst is diluted")


def faults(load: Load, result: Result, final: Final, drops: Drops) -> list[str]:
    """Why a trial does not count; empty if it does."""
    total = result.total
    found = [
        f"{count} frame{'' if count == 1 else 's'} came back {what}"
        for count, what in (
            (total.corrupted, "corrupted"),
            (total.wrong_mac or 0, "with wrong MAC addresses"),
            (total.duplicated, "twice"),
            (total.reordered, "out of order"),
            (result.foreign, "that the generator had not sent (foreign)"),
        )
        if count > 0
    ]
    if total.wrong_mac is None:
        found.append("the generator did not check the MAC addresses")
    if total.sent == 0:
        found.append("the generator sent nothing")
    elif final.total.tx_packets == 0:
        found.append("the forwarder sent nothing")
    if result.interrupted:
        found.append("the generator was interrupted")
    if result.duration_s < (1 - _DURATION_TOLERANCE) * load.seconds:
        found.append(f"the generator ran {result.duration_s:.2f} s instead of {load.seconds:g} s")
    if not final.balanced:
        found.append(imbalance(final))
    if drops.wire_to_forwarder < 0:
        found.append(f"the forwarder received {-drops.wire_to_forwarder} more frames than were sent")
    if drops.wire_to_generator < 0:
        found.append(f"{-drops.wire_to_generator} more frames came back than the forwarder sent")
    return found


class CpuUsage:
    """How much CPU time busy processes get from now on."""

    def __init__(self, **processes: Process) -> None:
        self._processes = processes
        self._before = {name: process.cpu_seconds() for name, process in processes.items()}
        self._begin = time.monotonic()

    def shares(self) -> dict[str, float]:
        """CPU time / time since the beginning; those that have ended meanwhile are absent."""
        elapsed = time.monotonic() - self._begin
        after = {name: process.cpu_seconds() for name, process in self._processes.items()}
        return {
            name: (used - self._before[name]) / elapsed
            for name, used in after.items()
            if used is not None and self._before[name] is not None and elapsed > 0
        }


class Waiting:
    """How long a process is kept from a CPU from now on, whether or not it always wants one."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._before = process.waited_seconds()
        self._begin = time.monotonic()

    def share(self) -> float | None:
        """Time that it waited / time since the beginning; None if it has ended or the kernel does not count."""
        elapsed = time.monotonic() - self._begin
        after = self._process.waited_seconds()
        return None if self._before is None or after is None or elapsed <= 0 else (after - self._before) / elapsed


@dataclass(frozen=True)
class Window:
    """The part of a run under full load."""

    rx_burst_avg: float
    empty_poll_share: float
    whole: bool


def loaded_window(periods: list[Period], final: Final) -> Window:
    """The receiving ports' polls while traffic ran, without the idle time before and after it.

    A forwarder polls millions of times a second while it waits for the generator to start; counted in, these empty
    polls would say more about the waiting than about the load. The first and the last period with traffic are
    partly idle and left out too, unless there are no others.
    """
    busy = {port.port for port in final.ports if port.rx_packets > 0}
    readings = [(0, 0, 0), *(_polls(period.ports, busy) for period in periods), _polls(final.ports, busy)]
    steps = [
        tuple(later - earlier for earlier, later in zip(first, second, strict=True))
        for first, second in itertools.pairwise(readings)
    ]
    loaded = [index for index, step in enumerate(steps) if step[0] > 0]
    if not loaded:
        return Window(0.0, 1.0, whole=False)
    inner = steps[loaded[0] + 1 : loaded[-1]]
    counted = inner or [steps[index] for index in loaded]
    received, polls, empty = (sum(column) for column in zip(*counted, strict=True))
    return Window(received / polls if polls else 0.0, empty / polls if polls else 1.0, whole=bool(inner))


def _polls(ports: list[PortCounters], busy: set[int]) -> tuple[int, int, int]:
    chosen = [port for port in ports if port.port in busy]
    return (
        sum(port.rx_packets for port in chosen),
        sum(port.rx_polls for port in chosen),
        sum(port.rx_empty_polls for port in chosen),
    )


def conclude(act: OverloadAct) -> None:
    """Fills in the table's rows, the ratio and the status from the trials so far."""
    valid = [trial for trial in act.trials if trial.valid and trial.forwarder and trial.generator]
    act.rows = [
        _row([trial for trial in valid if trial.program == name]) for name in sorted({t.program for t in valid})
    ]
    sent = {(trial.round, trial.language): trial.forwarder.tx_packets for trial in valid if trial.forwarder}
    act.ratio = statistics.paired_ratio(
        [
            (number, sent[number, "C"], sent[number, "Rust"])
            for number in range(1, act.rounds + 1)
            if (number, "C") in sent and (number, "Rust") in sent
        ]
    )
    invalid = len(act.trials) - len(valid)
    if invalid:
        act.status = Status.FAILED
        act.reason = f"{invalid} of {len(act.trials)} trials invalid"
    elif len(act.trials) < 2 * act.rounds:
        act.status = Status.INTERRUPTED
        act.reason = f"{len(act.trials)} of {2 * act.rounds} trials done"
    else:
        act.status, act.reason = Status.PASSED, None


def _row(trials: list[OverloadTrial]) -> OverloadRow:
    def over(figure: Callable[[OverloadTrial], float]) -> statistics.Spread:
        found = statistics.spread([figure(trial) for trial in trials])
        assert found is not None
        return found

    return OverloadRow(
        program=trials[0].program,
        language=trials[0].language,
        rounds=len(trials),
        generator_tx=over(lambda trial: trial.generator.sent),
        generator_rx=over(lambda trial: trial.generator.received),
        forwarder_tx=over(lambda trial: trial.forwarder.tx_packets),
        forwarder_rx=over(lambda trial: trial.forwarder.rx_packets),
        forwarder_drops=over(lambda trial: trial.forwarder.tx_dropped),
        rx_burst_avg=over(lambda trial: trial.forwarder.rx_burst_avg),
        forwarded_pps=over(lambda trial: trial.forwarded_pps or 0.0),
    )
