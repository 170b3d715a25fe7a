# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Act b: the generator on one core drives each forwarder on another, and checks every frame that comes back.

The generator is what limits here, so the rates compare nothing: act a does that.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from testbed.demo.summary import Drops, ForwarderFrames, GeneratorFrames, WireAct, WireTrial
from testbed.run import environment
from testbed.run.cpu_share import CpuUsage
from testbed.run.eal import EalOptions, unique_file_prefix
from testbed.run.lcores import LcorePlan
from testbed.run.process import ProcessError
from testbed.run.programs import Program
from testbed.run.results_folder import Status
from testbed.wire.forwarder import Final, Forwarder, Period, PortCounters, imbalance
from testbed.wire.generator import Generator, Load, Result
from testbed.wire.virtual_wire import VirtualWire

# A trial that ran shorter than asked by more than this share did not do what it intended. One that ran longer was held
# up by the machine, and a note says so.
_DURATION_TOLERANCE = 0.02
_LINK = {1: "one interface, there and back", 2: "two interfaces, in through the first and out through the second"}


@dataclass(frozen=True)
class WirePlan:
    """What act b is to do."""

    size: int
    seconds: float
    hugepages: bool
    lcores: LcorePlan
    ports: int = 1


def new_act(plan: WirePlan) -> WireAct:
    """The act before its first trial."""
    return WireAct(
        status=Status.INTERRUPTED,
        size=plan.size,
        seconds=plan.seconds,
        device=f"{VirtualWire.DEVICE}, {_LINK[plan.ports]}",
        lcores={"generator": plan.lcores.generator, "forwarder": plan.lcores.forwarder},
    )


def run(
    plan: WirePlan, programs: list[Program], generator: Program, raw: Path, on_step: Callable[[str], None]
) -> Iterator[WireTrial]:
    """Yields each forwarder's trial as it is done. One that fails is invalid and the next one follows."""
    for program in programs:
        on_step(f"{program.name}: {plan.seconds:g} s")
        yield run_trial(plan, program, generator, raw)
        on_step(f"{program.name}: done")


def run_trial(
    plan: WirePlan,
    program: Program,
    generator_program: Program,
    raw: Path,
) -> WireTrial:
    """One trial of one forwarder under load."""
    trial = WireTrial(program=program.name, language=program.language)
    name = f"b-{program.name}"
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
    return trial


def fill_in(trial: WireTrial, load: Load, result: Result, periods: list[Period], final: Final) -> None:
    """Compares the counters of generator and forwarder, and judges the trial."""
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
    trial.reasons += faults(load, result, final, trial.drops)
    if result.duration_s > (1 + _DURATION_TOLERANCE) * load.seconds:
        trial.notes.append(f"disturbed: the generator ran {result.duration_s:.2f} s instead of {load.seconds:g} s")
    if not window.whole:
        trial.notes.append(
            "too short for a statistics period entirely under load: the average RX burst includes idle time"
        )


def faults(load: Load, result: Result, final: Final, drops: Drops) -> list[str]:
    """Why a trial is invalid; empty if it is valid."""
    total = result.total
    found = [
        f"{count} frame{'' if count == 1 else 's'} came back {what}"
        for count, what in (
            (total.corrupted, "corrupted"),
            (total.wrong_mac or 0, "with wrong MAC addresses"),
            (total.duplicated, "twice"),
            (total.reordered, "out of order"),
            (result.foreign, "that the generator did not send (foreign)"),
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
