# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A run of the embedded generator: its command line and its result."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import Field, ValidationError

from testbed.run.eal import EalOptions
from testbed.run.process import Process, ProcessError, describe_status
from testbed.run.programs import Program
from testbed.wire.forwarder import Count, Gaps, Message, ReportedPort

# The line of a second, without --quiet.
_SECOND = re.compile(r" *([\d.]+) s  tx +([\d.]+) Mpps  rx +([\d.]+) Mpps  lost (\d+)")
# What a run may take beyond its load and its residual wait: EAL start, link, clean-up.
_OVERHEAD_S = 20.0


class Latency(Message):
    """Nanoseconds from the sending to the receiving call; None where nothing was measured."""

    min: float | None = None
    avg: float | None = None
    max: float | None = None
    # The mean of |IPDV| (RFC 5481) over all frames.
    ipdv: float | None = None
    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    p99_99: float | None = None
    count: Count = 0


class StreamCounters(Message):
    """What happened to the frames of one stream, or of all."""

    sent: Count
    tx_failed: Count
    received: Count
    lost: Count
    duplicated: Count
    reordered: Count
    corrupted: Count
    wrong_mac: Count | None
    late: Count
    tx_pps: float
    rx_pps: float


class Stream(StreamCounters):
    """One sending port and where its frames come back."""

    stream: int
    tx_port: int
    rx_port: int
    # The longest time between two frames that came back with others lost between them; None without loss.
    outage_s: float | None = Field(None, ge=0)
    latency_ns: Latency | None = None


class Probes(Message):
    """Frames before the run, to see that the way is open; counted nowhere else."""

    sent: Count
    received: Count


class StepLoad(Message):
    """One of two loads."""

    duration_s: float
    sent: Count
    tx_failed: Count
    lost: Count


class Steps(Message):
    """Two loads, back to back."""

    loads: tuple[StepLoad, StepLoad]
    last_loss_s: float


class Mixture(Message):
    """The sizes of a mixture, in the order in which they were sent again and again."""

    sizes: list[int]
    mean: float


class Lateness(Message):
    """How far the generator fell behind its schedule."""

    worst_lag_s: float = Field(ge=0)
    # Frames that left more than 100 µs after they were due, at up to twice the rate.
    caught_up: Count


class Result(Message):
    """The generator's account of one trial."""

    type: Literal["result"]
    program: str = "generator"
    version: str = ""
    # Of a mixture None.
    size: int | None
    mixture: Mixture | None = None
    rate_asked_pps: float | None
    rate_reached_pps: float
    rate_ok: bool | None
    # None without a rate; generators of before did not say.
    lateness: Lateness | None = None
    # While it sent.
    gaps: Gaps | None = None
    steps: Steps | None = None
    duration_s: float
    # CPU time / time while it sent.
    cpu_share: float
    interrupted: bool
    # Frames that came back before the last was sent.
    received_under_load: Count | None = None
    streams: list[Stream]
    foreign: Count
    # ARP requests and neighbour solicitations for addresses of the frames; generators of before answered none.
    answered: Count = 0
    probes: Probes
    total: StreamCounters
    # Generators of before did not say.
    ports: list[ReportedPort] = Field(default_factory=list)


@dataclass(frozen=True)
class Second:
    """What all streams together did in a second, or shortly more."""

    # From the beginning of the load.
    end_s: float
    sent_pps: float
    received_pps: float
    # Since the beginning, as far as later frames show it: those that others have overtaken are among them.
    lost: int


@dataclass(frozen=True)
class Load:
    """What to send, for how long, and how the frames must come back."""

    ports: tuple[int, ...]
    # Bytes, or those of a mixture's frames: '64x7,594x4,1518'.
    size: int | str
    seconds: float
    # None: not checked.
    expect_src: str | None
    expect_dst: str | None
    residual_wait_s: float = 0.5
    queues: int = 1
    # Frames a second on each sending port; None: as fast as it can.
    rate_pps: float | None = None
    # On each sending port, instead of for some seconds; these are then about how long it takes.
    frames: int | None = None
    # Of a second load, which `more` has.
    then_seconds: float = 0.0
    more: tuple[str, ...] = ()

    @property
    def whole_seconds(self) -> float:
        """From the first frame to the end of the wait for the last."""
        return self.seconds + self.then_seconds + self.residual_wait_s

    def argv(self) -> list[str]:
        """The generator's own arguments."""
        return [
            f"--ports={','.join(str(port) for port in self.ports)}",
            f"--size={self.size}",
            "--rate=max" if self.rate_pps is None else f"--rate={self.rate_pps:.6f}",
            f"--duration={self.seconds:g}" if self.frames is None else f"--count={self.frames}",
            f"--wait={self.residual_wait_s:g}",
            *([f"--expect-src={self.expect_src}"] if self.expect_src else []),
            *([f"--expect-dst={self.expect_dst}"] if self.expect_dst else []),
            *([f"--queues={self.queues}"] if self.queues > 1 else []),
            *self.more,
            "--json=-",
        ]


class Told(Protocol):
    """The arguments of a generator, and how long it runs."""

    @property
    def whole_seconds(self) -> float:
        """From the first frame to the end of the wait for the last."""

    def argv(self) -> list[str]:
        """The generator's own arguments."""


class Generator(Process):
    """The generator as a process that ends by itself."""

    def __init__(self, program: Program, eal: EalOptions, load: Told, log_dir: Path, name: str) -> None:
        argv: Sequence[str] = [str(program.path), *eal.argv(), "--", *load.argv()]
        super().__init__(name, argv, log_dir)
        self.load = load

    def wait_for_result(self, each_second: Callable[[Second], None] = lambda _: None) -> None:
        """Returns when it has printed its result, which is shortly before its end; tells each second until then.

        Raises `ProcessError` if it ends without, or hangs.
        """
        read = 0

        def found() -> dict[str, Any] | None:
            nonlocal read
            new, read = self.lines[read:], len(self.lines)
            for second in _seconds(new):
                each_second(second)
            return next((event for event in self.events if event.get("type") == "result"), None)

        self.wait_until(found, "its 'result' message", self.load.whole_seconds + _OVERHEAD_S)

    def seconds(self) -> list[Second]:
        """What it has printed of each second so far; nothing with --quiet."""
        return list(_seconds(self.lines))

    def result(self) -> Result:
        """Waits for its end and returns its result.

        Raises `ProcessError` if it fails, hangs or says nothing.
        """
        self.wait_for_result()
        status = self.wait(_OVERHEAD_S)
        if status != 0:
            raise self.failure(f"ended with {describe_status(status)}")
        results = [event for event in self.events if event.get("type") == "result"]
        if not results:
            raise self.failure("ended without a result")
        try:
            return Result.model_validate(results[-1])
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise ProcessError(f"{self.name}: its result does not match the schema: {field}: {first['msg']}") from error


def _seconds(lines: Sequence[str]) -> Iterator[Second]:
    for line in lines:
        if found := _SECOND.fullmatch(line):
            end_s, sent, received = (float(part) for part in found.groups()[:3])
            yield Second(end_s, 1e6 * sent, 1e6 * received, int(found[4]))
