# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What loss costs requests of a service, on the kernel's sockets and on dpdk-sockets.

On the left host, `load` asks at planned times on the kernel's sockets, through `impair`; the service is on the right
one. Frames are lost both ways. The back end of a proxy is on the left host too, so both of its connections lose.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testbed.bench.services.contestants import DPDK, KERNEL, PROXY, Contestant, choose
from testbed.bench.sockets.lossy_path import READY_S, impaired, served_by_dpdk, served_by_kernel
from testbed.run.lcores import LcorePlan
from testbed.run.load import loaded
from testbed.run.namespaces import TwoHosts, check_available, remove_stale
from testbed.run.process import Process
from testbed.run.programs import IMPAIR, LOAD, ORIGIN, Program, ProgramMissing, find_program
from testbed.run.scratch import scratch_folder

# Those that take part.
NAMES = ("rust-kernel", "rust-dpdk", "c-kernel", "c-dpdk")
DELAY_MS = 1
WARM_UP_S = 0.1
_PORT, _BACK_END_PORT = 80, 8080
# What `load` asks for.
_ASKED = {"adder": ("adder",), "echo": ("echo", "--size", "4096"), PROXY: ("origin",)}


@dataclass(frozen=True)
class LossPlan:
    """What is to be measured."""

    # Of 100 frames, in each direction.
    losses: Sequence[float] = (0.0, 0.1, 1.0, 5.0)
    rounds: int = 3
    # Requests a second. At twice as many, `load` would poll for most of the time.
    rate: int = 200
    connections: int = 100
    seconds: float = 2.0


QUICK = LossPlan(losses=(1.0,), rounds=1, seconds=1.0)


@dataclass(frozen=True)
class Tools:
    """The programs around a service."""

    load: Program
    impair: Program
    # Behind a proxy.
    origin: Program


@dataclass(frozen=True)
class LossSample:
    """A contestant under load."""

    contestant: str
    loss_percent: float
    seed: int
    # What `load` says of its step, and of the whole run.
    step: dict[str, Any]
    result: dict[str, Any]

    @property
    def reasons(self) -> list[str]:
        """Why it is invalid."""
        return [*self.step["reasons"], *self.result["reasons"]]


def find_tools(folders: list[Path] | None) -> Tools:
    """The programs around a service.

    Raises `ProgramMissing`.
    """
    return Tools(*(find_program(name, folders) for name in (LOAD, IMPAIR, ORIGIN)))


def find_contestants(service: str, names: Sequence[str]) -> list[Contestant]:
    """Those of these names, by default all that take part.

    Raises `ProgramMissing`.
    """
    if strange := [name for name in names if name not in NAMES]:
        raise ProgramMissing(f"'{strange[0]}' does not take part with --loss: choose from {', '.join(NAMES)}")
    return choose(service, names or NAMES)[0]


def measure_loss(
    service: str, contestants: Sequence[Contestant], plan: LossPlan, tools: Tools, lcores: LcorePlan
) -> Generator[LossSample, None, None]:
    """Yields each sample. Those of a round have the same seed, and the contestants take turns.

    Raises `NamespacesUnavailable` if the hosts cannot be made, and `ProcessError` if a program fails.
    """
    check_available()
    remove_stale()
    words = [*_ASKED[service][1:], "--rate", str(plan.rate), "--connections", str(plan.connections)]
    words += ["--seconds", f"{plan.seconds:g}", "--warm-up", f"{WARM_UP_S:g}"]
    with scratch_folder() as folder:
        for seed in range(plan.rounds):
            first = seed % len(contestants)
            for percent in plan.losses:
                options = ["--seed", str(seed), "--delay", f"{DELAY_MS}ms", "--loss", f"{percent:g}%"]
                for contestant in (*contestants[first:], *contestants[:first]):
                    # The kernel remembers how a host lost segments, so each sample has new hosts.
                    with (
                        TwoHosts() as hosts,
                        impaired(tools.impair, options, hosts, lcores.generator, folder),
                        _back_end(service, tools.origin, hosts, lcores, folder),
                        _served(contestant, hosts, lcores.forwarder, folder),
                    ):
                        place = [KERNEL, _ASKED[service][0], hosts.right.address, str(_PORT)]
                        load = [str(tools.load.path), *place, *words, "--seed", str(seed)]
                        step, result = loaded(_on_the_left(hosts, lcores, *load), folder)
                    yield LossSample(contestant.name, percent, seed, step, result)


def own_cpus(lcores: LcorePlan) -> list[int]:
    """The CPUs of `load`; none if the others need all."""
    return sorted(os.sched_getaffinity(0) - {lcores.generator, lcores.forwarder})


def _on_the_left(hosts: TwoHosts, lcores: LcorePlan, *argv: str) -> list[str]:
    cpus = own_cpus(lcores)
    if cpus:
        return hosts.left.command("taskset", "-c", ",".join(map(str, cpus)), *argv)
    # On the service's they go first. `load` polls after a request while that is still on its way to the service.
    return hosts.left.command("taskset", "-c", str(lcores.forwarder), "chrt", "--fifo", "1", *argv)


@contextmanager
def _back_end(service: str, origin: Program, hosts: TwoHosts, lcores: LcorePlan, folder: Path) -> Iterator[None]:
    if service != PROXY:
        yield
        return
    argv = [str(origin.path), KERNEL, hosts.left.address, str(_BACK_END_PORT)]
    with Process("origin", _on_the_left(hosts, lcores, *argv), folder) as process:
        process.wait_for_line(f"origin: {KERNEL}", READY_S)
        yield


def _served(contestant: Contestant, hosts: TwoHosts, lcore: int, folder: Path) -> AbstractContextManager[None]:
    words = [str(_PORT), *([f"{hosts.left.address}:{_BACK_END_PORT}"] if contestant.program == PROXY else [])]
    ready = f"{contestant.program}: {contestant.stack}"
    if contestant.stack == DPDK:
        return served_by_dpdk(contestant.path, [DPDK, hosts.right.network, *words], ready, hosts, lcore, folder)
    argv = ["taskset", "-c", str(lcore), str(contestant.path), KERNEL, hosts.right.address, *words]
    return served_by_kernel(argv, ready, hosts, folder)
