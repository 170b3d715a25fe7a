# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A running l2fwd: its command line, its JSON messages, its start and its stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from testbed.run.eal import EalOptions
from testbed.run.process import Process, ProcessError, Watched, describe_status
from testbed.run.programs import Program

# Generous: setting up without hugepages on a loaded machine takes seconds. It is only the limit of a wait.
START_TIMEOUT_S = 30.0
# Above this share of polls that found nothing, the forwarder waited for the generator: it was not overloaded.
IDLE_SHARE = 0.05
# What a forwarder prints instead of resetting its ports.
_NOT_RESET = "no port is reset"


class Message(BaseModel):
    """A JSON message of a program: what is read is checked, what is new is kept."""

    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)


# What the programs count in 64 bits.
Count = Annotated[int, Field(ge=0, lt=2**64)]


class ReportedDevice(Message):
    """What a port's driver reports; None where it reports nothing, or the program is of before and does not say."""

    driver: str | None = None
    # The NUMA node.
    socket: int | None = None
    mtu: int | None = None
    # Of a link that was up.
    link_mbps: int | None = None
    firmware: str | None = None
    # Those enabled, by DPDK's names.
    rx_offloads: list[str] | None = None
    tx_offloads: list[str] | None = None


class ReportedPort(Message):
    """A port as a program has set it up."""

    port: int
    name: str
    mac: str
    # Of each kind; descriptors of each queue.
    queues: int | None = None
    rxd: int | None = None
    txd: int | None = None
    device: ReportedDevice = ReportedDevice()


class StartedPort(ReportedPort):
    """A port of a forwarder."""

    peer: int


class StartedLcore(Message):
    """An lcore that forwards."""

    lcore: int


class Start(Message):
    """Forwarding begins."""

    type: Literal["start"]
    program: str
    version: str
    dpdk: str
    ports: list[StartedPort]
    lcores: list[StartedLcore] = Field(default_factory=list)


class Reset(Message):
    """The ports were stopped and started again."""

    type: Literal["reset"]
    # Seconds since the start, and from the first stop to the last start.
    time_s: float
    down_s: float = Field(ge=0)


class Gaps(Message):
    """Times in which it did not poll its queues although frames came; how many lasted longer than so long."""

    # Since the last message; in the final one, over the whole run.
    longest_s: float = Field(ge=0)
    above_100us: Count
    above_1ms: Count
    above_3ms: Count
    above_10ms: Count


class Counters(Message):
    """Frames since the start; rates and bursts since the last message (in the final one, over the whole run)."""

    rx_packets: Count
    tx_packets: Count
    tx_dropped: Count
    rx_short: Count
    rx_polls: Count
    rx_empty_polls: Count
    rx_burst_avg: float
    rx_pps: float
    tx_pps: float


class PortCounters(Counters):
    """The counters of one port."""

    port: int


class TotalCounters(Counters):
    """The sums over all ports."""

    in_flight: Count
    # None for a program that does not measure them.
    gaps: Gaps | None = None


class Period(Message):
    """Statistics while it runs."""

    type: Literal["period"]
    time_s: float
    ports: list[PortCounters]
    total: TotalCounters


class Final(Message):
    """Statistics at the end."""

    type: Literal["final"]
    time_s: float
    ports: list[PortCounters]
    total: TotalCounters
    balanced: bool


def imbalance(final: Final) -> str:
    """The reason that a run whose counters do not balance is invalid."""
    total = final.total
    return (
        f"the forwarder's counters do not balance: received {total.rx_packets}, sent {total.tx_packets}, "
        f"dropped {total.tx_dropped}, short {total.rx_short}, in flight {total.in_flight}"
    )


class Forwarder:
    """One run of a forwarder; use it in a `with`, which ends it in any case."""

    def __init__(
        self,
        program: Program,
        eal: EalOptions,
        options: Sequence[str],
        log_dir: Path,
        name: str,
        launcher: Sequence[str] = (),
        path: str | None = None,
        make: Callable[[str, Sequence[str], Path], Watched] = Process,
    ) -> None:
        self.program = program
        # Another path, and a process of another kind, where it runs on another host.
        words = [path or str(program.path), *eal.argv(), "--", *options, "-T", "1", "--stats-json", "-"]
        self.process = make(name, [*launcher, *words], log_dir)

    def start(self) -> Start:
        """Starts it and returns when it forwards.

        Raises `ProcessError` if it ends or stays silent instead.
        """
        self.process.start()
        return self.started()

    def started(self, timeout_s: float = START_TIMEOUT_S, peer: Watched | None = None) -> Start:
        """Returns when a forwarder whose process was started forwards; `peer` is who it waits for.

        Raises `ProcessError` if it ends or stays silent instead, or its peer dies.
        """
        return self._checked(Start, self.process.wait_for_event("start", timeout_s, peer))

    @property
    def is_started(self) -> bool:
        """Whether it has said that it forwards."""
        return any(event.get("type") == "start" for event in list(self.process.events))

    @property
    def periods(self) -> list[Period]:
        """The statistics so far."""
        return self.periods_after(0)

    def periods_after(self, number: int) -> list[Period]:
        """The statistics so far without the first ones."""
        return [self._checked(Period, event) for event in self._period_events()[number:]]

    def wait_for_received(self, frames: int, timeout_s: float) -> None:
        """Waits until its periodic statistics show at least `frames` received frames.

        Raises `ProcessError` if it ends or the time is over.
        """

        def received() -> bool | None:
            periods = self.periods
            return True if periods and periods[-1].total.rx_packets >= frames else None

        self.process.wait_until(received, f"{frames} received frames", timeout_s)

    def next_period(self, timeout_s: float) -> Period:
        """The first statistics that it prints from now on.

        Raises `ProcessError` if it ends or the time is over.
        """
        seen = len(self._period_events())

        def printed() -> dict[str, Any] | None:
            events = self._period_events()
            return events[seen] if len(events) > seen else None

        return self._checked(Period, self.process.wait_until(printed, "its next statistics", timeout_s))

    def reset_ports(self, timeout_s: float) -> Reset:
        """Has it stop its ports and start them again; returns when it has.

        Raises `ProcessError` if it does not, or the time is over.
        """
        seen, lines = len(self._events("reset")), len(self.process.lines)

        def told() -> dict[str, Any] | None:
            events = self._events("reset")
            if len(events) > seen:
                return events[seen]
            if refused := next((line for line in self.process.lines[lines:] if _NOT_RESET in line), None):
                raise ProcessError(f"{self.process.name}: {refused}")
            return None

        self.process.send_signal("USR1")
        return self._checked(Reset, self.process.wait_until(told, "the reset of its ports", timeout_s))

    def _period_events(self) -> list[dict[str, Any]]:
        return self._events("period")

    def _events(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in list(self.process.events) if event.get("type") == kind]

    def stop(self) -> Final:
        """Stops it with SIGTERM and returns its final statistics.

        Raises `ProcessError` if it has to be killed, fails, or says nothing.
        """
        status = self.process.stop()
        if status != 0:
            raise self.process.failure(f"ended with {describe_status(status)}")
        finals = [event for event in self.process.events if event.get("type") == "final"]
        if not finals:
            raise self.process.failure("ended without its final statistics")
        return self._checked(Final, finals[-1])

    def _checked(self, model: type[Any], event: dict[str, Any]) -> Any:
        try:
            return model.model_validate(event)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise ProcessError(
                f"{self.process.name}: its '{event.get('type')}' message is malformed: {field}: {first['msg']}"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.process.__exit__(*details)
