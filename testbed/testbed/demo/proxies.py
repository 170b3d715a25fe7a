# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Act e: a client on Linux's sockets fetches a page through each proxy, in Rust and in C, on two network stacks.

```
 client ┐                                     on Linux's sockets: ── veth ── the proxy, in a namespace of its own
 origin ┘ 192.0.2.2, Linux's sockets          on dpdk-sockets:    ── tap ─── the proxy, which polls
```

The origin, of the proxy's language, is beside the client. The load generator checks each byte that comes back.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testbed.demo.summary import Answers, ProxiesAct, ProxyTrial, Stack
from testbed.run.eal import EalOptions, unique_file_prefix
from testbed.run.lcores import LcorePlan
from testbed.run.load import loaded
from testbed.run.namespaces import (
    NamespacesUnavailable,
    check_available,
    inside,
    remove_stale,
    run_tool,
    turn_off_offloads,
)
from testbed.run.process import Process, ProcessError, describe_status
from testbed.run.programs import Program, ProgramMissing, repository_root
from testbed.run.results_folder import Status

# By language: where the programs are, and how their names end here, as those of the forwarders do.
_FOLDERS = {"C": Path("target", "services-c"), "Rust": Path("target", "dist")}
_SUFFIXES = {"C": "-c", "Rust": "-rs"}
# Of the client's interface, and the one at the other end if the kernel has that.
_NEAR, _FAR = "near0", "far0"
_CLIENT, _PROXY = "192.0.2.2", "192.0.2.1"
_ORIGIN_PORT, _PROXY_PORT = 8081, 80
_RATE, _CONNECTIONS = 500, 10
_WARM_UP_S = 0.1
_READY_S = 30.0
# Of each language: the origin without a proxy, then the proxy on each stack.
_ASKED = (None, Stack.KERNEL, Stack.DPDK)
_TUN = Path("/dev/net/tun")
# A proxy gives what is open one time-out of 10 s.
_END_S = 20.0


@dataclass(frozen=True)
class Services:
    """The programs of one language."""

    origin: Program
    proxy: Program


@dataclass(frozen=True)
class ProxiesPlan:
    """What act e is to do."""

    seconds: float
    hugepages: bool
    lcores: LcorePlan


@dataclass(frozen=True)
class ProxyPrograms:
    """All that act e runs."""

    services: list[Services]
    load: Program

    @property
    def trials(self) -> int:
        """How many there will be."""
        return len(self.services) * len(_ASKED)

    @property
    def all(self) -> list[Program]:
        """One after the other."""
        return [*(program for each in self.services for program in (each.origin, each.proxy)), self.load]


def find_programs() -> ProxyPrograms:
    """The programs, if the act can run here.

    Raises `NamespacesUnavailable`, `ProgramMissing`.
    """
    check_available()
    if not _TUN.exists():
        raise NamespacesUnavailable(f"no '{_TUN}', which makes tap interfaces: run modprobe tun")
    folders = {language: repository_root() / folder for language, folder in _FOLDERS.items()}
    services = [find_services(language, folder) for language, folder in folders.items()]
    return ProxyPrograms(services, find_load(folders["Rust"]))


def find_services(language: str, folder: Path) -> Services:
    """The programs of a language.

    Raises `ProgramMissing`.
    """
    return Services(*(_program(name, f"{name}{_SUFFIXES[language]}", language, folder) for name in ("origin", "proxy")))


def find_load(folder: Path) -> Program:
    """The load generator.

    Raises `ProgramMissing`.
    """
    return _program("load", "load", "Rust", folder)


def _program(file: str, name: str, language: str, folder: Path) -> Program:
    path = folder / file
    if not (path.is_file() and os.access(path, os.X_OK)):
        raise ProgramMissing(f"no program '{path}': run ./x demo, which builds it")
    return Program(name, language, path.resolve())


def new_act(plan: ProxiesPlan) -> ProxiesAct:
    """The act before its first trial."""
    return ProxiesAct(status=Status.INTERRUPTED, seconds=plan.seconds, rate=_RATE, connections=_CONNECTIONS)


def run(plan: ProxiesPlan, programs: ProxyPrograms, raw: Path, on_step: Callable[[str], None]) -> Iterator[ProxyTrial]:
    """Yields each trial as it is done: of each language, the origin without a proxy, then the proxy on both stacks.

    Raises `NamespacesUnavailable` if the namespaces cannot be made.
    """
    remove_stale()
    for services, stack in itertools.product(programs.services, _ASKED):
        yield run_trial(plan, services, stack, programs.load, raw, on_step)


def run_trial(
    plan: ProxiesPlan,
    services: Services,
    stack: Stack | None,
    load: Program,
    raw: Path,
    on_step: Callable[[str], None] = lambda _: None,
) -> ProxyTrial:
    """One language's proxy on one stack, or its origin without a proxy."""
    asked = services.proxy if stack else services.origin
    trial = ProxyTrial(program=asked.name, language=asked.language, stack=stack)
    on_step(f"{trial.label}: {plan.seconds:g} s")
    name = f"e-{asked.name}-{stack}" if stack else f"e-{asked.name}"
    try:
        with _namespaces() as (near, far):
            origin = inside(near, str(services.origin.path), "kernel", "0.0.0.0", str(_ORIGIN_PORT))  # noqa: S104
            with _service(f"{name}-behind" if stack else name, origin, "origin: kernel", raw):
                if stack is None:
                    _ask(trial, plan, inside(near, *_load(plan, load, "127.0.0.1", _ORIGIN_PORT)), name, raw)
                    return trial
                if stack is Stack.KERNEL:
                    _join(near, far)
                argv = _proxy(plan, services.proxy, stack, near, far)
                with _service(f"{name}-proxy", argv, f"proxy: {stack}", raw):
                    if stack is Stack.DPDK:
                        # It has made its interface.
                        _set_up(near, _NEAR, _CLIENT)
                    _ask(trial, plan, inside(near, *_load(plan, load, _PROXY, _PROXY_PORT)), name, raw)
    except ProcessError as error:
        trial.reasons.append(str(error))
    return trial


@contextlib.contextmanager
def _namespaces() -> Iterator[tuple[str, str]]:
    """That of the client and the origin, and that of a proxy on the kernel's sockets."""
    near, far = (f"testbed-{os.getpid()}-{role}" for role in ("left", "right"))
    with contextlib.ExitStack() as made:
        for namespace in (near, far):
            run_tool("ip", "netns", "add", namespace)
            made.callback(run_tool, "ip", "netns", "delete", namespace)
        run_tool("ip", "-n", near, "link", "set", "lo", "up")
        yield near, far


def _join(near: str, far: str) -> None:
    run_tool("ip", "-n", near, "link", "add", _NEAR, "type", "veth", "peer", "name", _FAR, "netns", far)
    for namespace, interface, address in ((near, _NEAR, _CLIENT), (far, _FAR, _PROXY)):
        # Otherwise a page would be one frame without a checksum.
        turn_off_offloads(namespace, interface)
        _set_up(namespace, interface, address)


def _set_up(namespace: str, interface: str, address: str) -> None:
    run_tool("ip", "-n", namespace, "address", "add", f"{address}/24", "dev", interface)
    run_tool("ip", "-n", namespace, "link", "set", interface, "addrgenmode", "none", "up")


@contextlib.contextmanager
def _service(name: str, argv: list[str], ready: str, raw: Path) -> Iterator[None]:
    """A service while the `with` lasts, which has to end well."""
    with Process(name, argv, raw) as process:
        process.wait_for_line(ready, _READY_S)
        yield
        if status := process.stop(_END_S):
            raise process.failure(f"ended with {describe_status(status)}")


def _proxy(plan: ProxiesPlan, proxy: Program, stack: Stack, near: str, far: str) -> list[str]:
    to = f"{_CLIENT}:{_ORIGIN_PORT}"
    cpu = plan.lcores.forwarder
    if stack is Stack.KERNEL:
        words = (stack, _PROXY, str(_PROXY_PORT), to)
        return inside(far, "taskset", "-c", str(cpu), str(proxy.path), *words)
    eal = EalOptions(cpu, unique_file_prefix("proxy"), (f"net_tap0,iface={_NEAR}",), plan.hugepages)
    return inside(near, str(proxy.path), *eal.argv(), "--", stack, f"{_PROXY}/24", str(_PROXY_PORT), to)


def _load(plan: ProxiesPlan, load: Program, address: str, port: int) -> list[str]:
    words = [f"--rate={_RATE}", f"--connections={_CONNECTIONS}", f"--seconds={plan.seconds:g}"]
    words += [f"--warm-up={_WARM_UP_S:g}"]
    pinned = ["taskset", "-c", str(plan.lcores.generator), str(load.path)]
    return [*pinned, "kernel", "origin", address, str(port), *words]


def _ask(trial: ProxyTrial, plan: ProxiesPlan, argv: list[str], name: str, raw: Path) -> None:
    fill_in(trial, *loaded(argv, raw, f"{name}-load", plan.seconds + _READY_S))


def fill_in(trial: ProxyTrial, step: dict[str, Any], result: dict[str, Any]) -> None:
    """Judges a trial by what the load generator says.

    The figures are those of the step; what went wrong in the warm-up counts too. A load generator that was late, as on
    a busy machine, says little about latencies, but the answers were right all the same: that is a note.
    """
    # Without an answer there is none.
    latency = step["latency_ns"]
    p50_us, p99_us = (latency[name] / 1000 if latency else None for name in ("p50", "p99"))
    trial.answers = Answers(
        sent=step["sent"],
        answered=step["answered"],
        wrong=result["wrong"],
        p50_us=p50_us,
        p99_us=p99_us,
    )
    lost = result["sent"] - result["answered"] - result["wrong"]
    trial.reasons += [
        f"{what}: {count}"
        for what, count in (
            ("wrong answers", result["wrong"]),
            ("requests without an answer", lost),
            ("broken connections", result["broken"]),
            ("failed attempts to open a connection", result["refused"]),
        )
        if count
    ]
    if not step["answered"]:
        trial.reasons.append("no request was answered")
    if step["reasons"] and not trial.reasons:
        trial.notes.append(f"disturbed: {'; '.join(step['reasons'])}")
