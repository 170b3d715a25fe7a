# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a generator asks of the device that it is joined to, whatever program that is."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from testbed.campaign.devices.program_host import ProgramHost
from testbed.campaign.sides import Side
from testbed.campaign.trial import Frames, Gaps, Record
from testbed.run.process import ProcessError, Watched

# Setting up without hugepages on a loaded machine takes seconds. It is only the limit of a wait.
START_TIMEOUT_S = 30.0
# Between two looks at counters that come at once.
_LOOK_S = 0.1


class Counts(Record):
    """A device's own counters at one time; counters that it lacks are absent."""

    received: Frames = 0
    sent: Frames = 0
    # Not taken by the sending queue.
    dropped: Frames = 0
    # Too short to be forwarded.
    short: Frames | None = None
    # Still in the device.
    in_flight: Frames | None = None
    # Frames that its receiving queue had no room for (imissed), and no mbufs.
    missed: Frames | None = None
    no_mbufs: Frames | None = None
    # Since the counters before these.
    gaps: Gaps | None = None


class Macs(StrEnum):
    """Which addresses frames leave a device with."""

    # From the port's address to 02:00:00:00:00:<port>.
    L2FWD = "l2fwd"
    # Source and destination exchanged.
    SWAPPED = "swapped"
    # As they came.
    KEPT = "kept"
    # Unknown: the addresses are not checked.
    ANY = "any"


@dataclass(frozen=True)
class Joint:
    """What a device is joined to, and where it runs."""

    # CPUs; each has at least one pair of queues.
    lcores: tuple[int, ...]
    hugepages: bool
    vdevs: tuple[str, ...]
    # PCI addresses.
    nics: tuple[str, ...]
    ports: int
    # Bytes of the longest frame to come, with FCS.
    longest: int
    # For its output.
    log_dir: Path
    # Of an RX and of a TX queue; None: the device's default.
    descriptors: tuple[int, int] | None = None
    # Pairs of queues of each port.
    queues: int = 1

    @property
    def lcore_words(self) -> tuple[str, ...]:
        """For the EAL, where there is more than one."""
        return ("-l", ",".join(map(str, self.lcores))) if len(self.lcores) > 1 else ()

    @property
    def port_map(self) -> str:
        """Where frames leave: '(0,1),(2,3)', or '(0,0)' with one port."""
        firsts = range(0, self.ports, 2)
        return ",".join(f"({first},{min(first + 1, self.ports - 1)})" for first in firsts)

    @property
    def queues_of_lcore(self) -> int:
        """Pairs of queues, of all ports, that an lcore serves at most."""
        return -(-self.ports * self.queues // len(self.lcores))

    @property
    def port_mask(self) -> str:
        """The first `ports` ports: '0x3'."""
        return f"{(1 << self.ports) - 1:#x}"

    def iova_words(self, hugepages: bool) -> tuple[str, ...]:
        """For the EAL: a deep queue of virtio needs more memory in one piece than a hugepage has."""
        return ("--iova-mode=va",) if hugepages and self.descriptors is not None and not self.nics else ()


class RunningDevice(Protocol):
    """A device whose process was started. Every method raises `ProcessError` if it has ended or hangs."""

    process: Watched

    @property
    def is_ready(self) -> bool:
        """Whether it was seen to forward, or be able to."""
        ...

    def ready(self, timeout_s: float, peer: Watched | None = None) -> None:
        """Waits until it forwards, as far as it reports this. Called for each trial, since the generator restarts.

        `peer` is the generator, if it waits for one.
        """
        ...

    @property
    def side(self) -> Side | None:
        """Its lcores and ports, once it is ready; None if it does not report them."""
        ...

    def counts(self, timeout_s: float) -> Counts:
        """Its counters, all frames that it has got until now included; only of a device that counts."""
        ...

    def reset_ports(self, timeout_s: float) -> float:
        """Has it stop its ports and start them again while it runs; how long that took it, in seconds.

        Only of a device that can.
        """
        ...

    def stop(self) -> None:
        """Ends it, and sees that it ended well."""
        ...


class DeviceKind(Protocol):
    """A device as a scenario describes it, to be started as often as wanted."""

    @property
    def host(self) -> ProgramHost:
        """Where it runs."""
        ...

    @property
    def macs(self) -> Macs:
        """Which addresses frames leave it with."""
        ...

    @property
    def counts_frames(self) -> bool:
        """Whether it reports its counters."""
        ...

    @property
    def no_port_reset(self) -> str | None:
        """Why its ports cannot be reset while it runs; None if they can."""
        ...

    @property
    def restart_each_trial(self) -> bool:
        """Whether it needs a fresh start for each run of the generator."""
        ...

    def begin(self, joint: Joint, name: str) -> RunningDevice:
        """Starts its process, whose output is called `name`; it may wait for the generator before it is ready.

        Raises `ProcessError`.
        """
        ...


def wait_for_load(device: RunningDevice, timeout_s: float, peer: Watched | None = None) -> None:
    """Returns when the device has received frames from one look at its counters to the next; `peer` sends them.

    Raises `ProcessError`.
    """
    deadline = time.monotonic() + timeout_s
    device.ready(timeout_s, peer)
    before = device.counts(timeout_s).received
    while time.monotonic() < deadline:
        # Some devices report once a second, others at once.
        time.sleep(_LOOK_S)
        now = device.counts(timeout_s).received
        if now > before:
            return
        before = now
        if peer is not None and (death := peer.death()) is not None:
            raise peer.failure(f"{death} while frames of it were waited for")
    raise ProcessError(str(device.process.failure(f"it received no frame within {timeout_s:g} s")))
