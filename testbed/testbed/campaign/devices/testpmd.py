# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""DPDK's testpmd, controlled through its prompt, whose output is parsed."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from testbed.campaign.devices.device import Counts, Joint, Macs
from testbed.campaign.devices.l2fwd import STANDARD_BYTES
from testbed.campaign.devices.program_host import ProgramHost
from testbed.campaign.sides import Side
from testbed.run.eal import EalOptions, unique_file_prefix
from testbed.run.process import ProcessError, Watched, describe_status

PROGRAM = "dpdk-testpmd"
NO_PORT_RESET = "testpmd is told nothing here that resets its ports while it runs: take l2fwd-c or l2fwd-rs"
TestpmdMode = Literal["mac", "macswap", "io"]
_MACS = {"mac": Macs.L2FWD, "macswap": Macs.SWAPPED, "io": Macs.KEPT}
# As the twins size their pool (l2fwd's formula), so that testpmd gets as many mbufs.
_POOL_MIN, _POOL_CACHE, _DESCRIPTORS, _BURST = 8192, 256, 1024, 32
# A longer frame still lies in one mbuf, as those of 1,518 bytes do.
_HEADROOM_BYTES = 128
# Between two questions for its links.
_ASK_AGAIN_S = 0.2
_STOP_S = 10.0

_FORWARDING = "packet forwarding - ports="
_PORT = re.compile(r"\d+\s+(?:[0-9A-F]{2}:){5}[0-9A-F]{2}\s+\S+\s+\S+\s+(up|down)\s")
_ALL_PORTS = "Accumulated forward statistics for all ports"
_COUNT = re.compile(r"(RX-packets|RX-dropped|TX-packets|TX-dropped|RX-nombufs): (\d{1,20})")


@dataclass(frozen=True)
class Testpmd:
    """testpmd in one of its forwarding modes, taken from the PATH of the machine that it runs on."""

    # pytest would take it for a test.
    __test__ = False

    mode: TestpmdMode
    # Its own options, after those that every run has.
    options: tuple[str, ...]
    host: ProgramHost
    counts_frames: bool = True
    no_port_reset: str | None = NO_PORT_RESET
    restart_each_trial: bool = False

    @property
    def macs(self) -> Macs:
        """What the mode makes of the addresses."""
        return _MACS[self.mode]

    def begin(self, joint: Joint, name: str) -> RunningTestpmd:
        """Starts it."""
        process = self.host.process(name, self.argv(joint), joint.log_dir, interactive=True)
        process.start()
        # It reads that when it has met the generator.
        process.write("start\n")
        return RunningTestpmd(process, joint.ports, Side(program="testpmd", lcores=list(joint.lcores)))

    def argv(self, joint: Joint) -> list[str]:
        """Its command line."""
        hugepages = joint.hugepages if self.host.hugepages is None else self.host.hugepages
        # The main lcore only reads the prompt: it sleeps on the CPU where another one forwards.
        forwarding = [f"{number}@{cpu}" for number, cpu in enumerate(joint.lcores, start=1)]
        lcores = (f"--lcores={','.join([f'0@{joint.lcores[0]}', *forwarding])}",)
        prefix, iova = unique_file_prefix("dut"), joint.iova_words(hugepages)
        eal = EalOptions(joint.lcores[0], prefix, joint.vdevs, hugepages, joint.nics, lcores, more=iova)
        received, sent = joint.descriptors or (_DESCRIPTORS, _DESCRIPTORS)
        mbufs = max(_POOL_MIN, joint.ports * joint.queues * (received + sent + _BURST + _POOL_CACHE))
        words = ["-i", f"--forward-mode={self.mode}", f"--portmask={joint.port_mask}"]
        words += [f"--nb-cores={len(joint.lcores)}", f"--rxq={joint.queues}", f"--txq={joint.queues}"]
        words += [f"--burst={_BURST}", f"--rxd={received}", f"--txd={sent}"]
        words += [f"--total-num-mbufs={mbufs}", f"--mbcache={_POOL_CACHE}"]
        if joint.longest > STANDARD_BYTES:
            room = joint.longest + _HEADROOM_BYTES
            words += [f"--max-pkt-len={joint.longest}", f"--mbuf-size={room}"]
        # Without a terminal its output would come only when a buffer is full. It must not end when a peer is gone.
        return ["env", "--ignore-signal=PIPE", "stdbuf", "-oL", PROGRAM, *eal.argv(), "--", *words, *self.options]


class RunningTestpmd:
    """testpmd with its prompt."""

    def __init__(self, process: Watched, ports: int, side: Side | None = None) -> None:
        self.process = process
        # Where it was started; it is not asked for its ports.
        self.side = side
        self._ports = ports

    @property
    def is_ready(self) -> bool:
        """Whether it has said that it forwards."""
        return any(_FORWARDING in line for line in list(self.process.stdout_lines))

    def ready(self, timeout_s: float, peer: Watched | None = None) -> None:
        """Waits until it forwards and its links are up.

        Its driver of the virtual wire looks for a new peer only when somebody asks for the link.
        """
        deadline = time.monotonic() + timeout_s
        self.process.wait_for_line(_FORWARDING, timeout_s, peer)
        while True:
            states = self._links(timeout_s)
            if states.count("up") == self._ports:
                return
            if time.monotonic() > deadline:
                raise self.process.failure(f"its links are {', '.join(states)} after {timeout_s:g} s")
            time.sleep(_ASK_AGAIN_S)

    def _links(self, timeout_s: float) -> list[str]:
        """Its current port information."""
        seen = len(self.process.stdout_lines)

        def told() -> list[str] | None:
            states = [found[1] for line in self.process.stdout_lines[seen:] if (found := _PORT.match(line))]
            return states if len(states) >= self._ports else None

        self.process.write("show port summary all\n")
        return self.process.wait_until(told, "the state of its ports", timeout_s)

    def counts(self, timeout_s: float) -> Counts:
        """What it shows of all ports together."""
        seen = len(self.process.stdout_lines)
        self.process.write("show fwd stats all\n")
        return self.process.wait_until(
            lambda: parse_counts(self.process.stdout_lines[seen:]), "its forward statistics", timeout_s
        )

    def reset_ports(self, timeout_s: float) -> float:
        """It has none."""
        raise ProcessError(f"{self.process.name}: {NO_PORT_RESET}")

    def stop(self) -> None:
        """Ends it from its prompt."""
        self.process.write("stop\nquit\n")
        status = self.process.stopped(_STOP_S, "'quit'")
        if status != 0:
            raise self.process.failure(f"ended with {describe_status(status)}")


def parse_counts(lines: Sequence[str]) -> Counts | None:
    """The sums of 'show fwd stats all'; None if they are not complete yet.

    Raises `ProcessError` if a figure is missing.
    """
    begin = next((number for number, line in enumerate(lines) if _ALL_PORTS in line), None)
    if begin is None:
        return None
    block = list(lines[begin + 1 :])
    end = next((number for number, line in enumerate(block) if line.strip().startswith("+++")), None)
    if end is None:
        return None
    found = {name: int(figure) for line in block[:end] for name, figure in _COUNT.findall(line)}
    try:
        return Counts(
            received=found["RX-packets"],
            sent=found["TX-packets"],
            dropped=found["TX-dropped"],
            missed=found["RX-dropped"],
            # Only shown if there are some.
            no_mbufs=found.get("RX-nombufs", 0),
        )
    except KeyError as error:
        raise ProcessError(f"testpmd shows no {error.args[0]} among its forward statistics: {block[:end]}") from error
