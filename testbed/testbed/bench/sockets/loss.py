# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What loss costs a transfer of dpdk-sockets in time, beside the kernel's TCP on the same path.

A host of the kernel sends bytes through `impair` to a server that sends them back: the kernel's, or the example `echo`.
Frames are lost on one of the two ways, so that only the sender of that way has something to mend.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from testbed.bench.sockets import host
from testbed.bench.sockets.lossy_path import impaired, served_by_dpdk, served_by_kernel
from testbed.run.namespaces import TwoHosts, check_available, remove_stale
from testbed.run.process import Process
from testbed.run.programs import Program
from testbed.run.scratch import scratch_folder

# Of 100 frames.
LOSSES = (0.0, 0.1, 1.0, 3.0)
LENGTH_BYTES = 1_000_000
ROUNDS = 5
DELAY_MS = 5
_TRANSFER_S = 600.0
_SERVER_LCORE, _IMPAIR_LCORE = 0, 1


@dataclass(frozen=True)
class Pair:
    """Who sends on the way on which frames are lost, and who receives there."""

    sender: str
    receiver: str

    @property
    def is_kernel(self) -> bool:
        """Whether the server is the kernel's, too."""
        return self.sender == self.receiver

    def loss(self, percent: float) -> str:
        """The option of `impair`, whose first port the client's frames come to."""
        return f"{percent:g}%/" if self.sender == "Linux" else f"/{percent:g}%"


PAIRS = (Pair("Linux", "Linux"), Pair("Linux", "dpdk-sockets"), Pair("dpdk-sockets", "Linux"))


@dataclass(frozen=True)
class LossSample:
    """One transfer."""

    sender: str
    receiver: str
    loss_percent: float
    seed: int
    # From the first byte until all were back.
    seconds: float


@dataclass(frozen=True)
class LossPlan:
    """What is to be measured."""

    losses: Sequence[float] = LOSSES
    length_bytes: int = LENGTH_BYTES
    rounds: int = ROUNDS


QUICK = LossPlan(losses=(1.0,), length_bytes=100_000, rounds=1)


def measure_loss(plan: LossPlan, impair: Program, echo: Program) -> Iterator[LossSample]:
    """Yields each transfer. Those of a round have the same seed, and their pairs take turns.

    Raises `NamespacesUnavailable` if the hosts cannot be made, and `ProcessError` if a transfer fails.
    """
    check_available()
    remove_stale()
    with scratch_folder() as folder, TwoHosts() as hosts:
        for seed in range(plan.rounds):
            for percent in plan.losses:
                for pair in (*PAIRS[seed % len(PAIRS) :], *PAIRS[: seed % len(PAIRS)]):
                    options = ["--seed", str(seed), "--delay", f"{DELAY_MS}ms", "--loss", pair.loss(percent)]
                    with (
                        impaired(impair, options, hosts, _IMPAIR_LCORE, folder),
                        _served(pair, echo, hosts, folder),
                    ):
                        seconds = _transfer(plan.length_bytes, hosts, folder)
                    yield LossSample(pair.sender, pair.receiver, percent, seed, seconds)


def run_loss(plan: LossPlan, impair: Program, echo: Program, console: Console, json_path: Path | None = None) -> None:
    """Measures, prints and writes.

    Raises as `measure_loss`, and `OSError`.
    """
    samples = []
    with console.status("transfers begin") as status:
        for sample in measure_loss(plan, impair, echo):
            samples.append(sample)
            status.update(f"{sample.sender} to {sample.receiver}, {sample.loss_percent:g} %: {sample.seconds:.2f} s")
    console.print(loss_table(plan, samples))
    console.print(
        f"seconds until {plan.length_bytes:,} bytes were back, which were checked; a delay of {DELAY_MS} ms each way; "
        f"median of {plan.rounds}, lowest and highest"
    )
    if json_path is not None:
        json_path.write_text(json.dumps({"schema": 1, "transfers": [asdict(one) for one in samples]}, indent=2) + "\n")


def loss_table(plan: LossPlan, samples: Sequence[LossSample]) -> Table:
    """A row for each loss, and a column for each pair."""
    table = Table(title="Transfers over a path that loses frames")
    table.add_column("loss", justify="right")
    for pair in PAIRS:
        table.add_column(f"{pair.sender} to {pair.receiver}", justify="right")
    for percent in plan.losses:
        cells = [f"{percent:g} %"]
        for pair in PAIRS:
            found = [
                one.seconds
                for one in samples
                if (one.sender, one.receiver, one.loss_percent) == (pair.sender, pair.receiver, percent)
            ]
            cells.append(f"{statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f})" if found else "none")
        table.add_row(*cells)
    return table


def _served(pair: Pair, echo: Program, hosts: TwoHosts, folder: Path) -> AbstractContextManager[None]:
    """The server has the address: in the kernel, or in a stack of its own on the kernel's interface."""
    right = hosts.right
    if pair.is_kernel:
        return served_by_kernel([sys.executable, host.__file__, "echo", right.address], "ready", hosts, folder)
    return served_by_dpdk(echo.path, [right.network], "on TCP port", hosts, _SERVER_LCORE, folder)


def _transfer(length: int, hosts: TwoHosts, folder: Path) -> float:
    argv = [sys.executable, host.__file__, "transfer", hosts.right.address, str(length)]
    with Process("client", hosts.left.command(*argv), folder) as process:
        seconds = process.wait_for_event("transfer", _TRANSFER_S)["seconds"]
        assert isinstance(seconds, float)
        return seconds
