# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The programs of a service: each language's, on the kernel's sockets and on dpdk-sockets."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from testbed.bench.sockets.kernel_host import ADDRESS
from testbed.bench.sockets.servers import PORT, Server
from testbed.run.programs import Program, ProgramMissing, repository_root

KERNEL, DPDK, LWIP = "kernel", "dpdk", "lwip"
ADDER, ECHO, PROXY = "adder", "echo", "proxy"
# Beside the proxies: pages without one between.
ORIGIN = "origin"
_OF_HAPROXY, _OF_NGINX = (str(Path(__file__).with_name(name)) for name in ("haproxy.cfg", "nginx.conf"))
_POOL = "its standard library and a pool of threads"
_MOST_THREADS = 1_000, "it has a thread for each connection"
_MOST_OF_LWIP = 4_000, "with 10,000 connections lwIP resets some"
# Languages whose programs are compiled while they run, and after how many answers that is done for the most part.
_COMPILED_LATE, _WARM_UP = ("Java", "JavaScript"), 100_000
_STACKS = {DPDK: "dpdk-sockets", KERNEL: "the kernel's sockets"}
_OF_ORIGIN = ("target/dist", ORIGIN, "page")
# The client is that too.
BACK_END = "10.255.0.1:8080"
# A server that is stopped in its turn must not find its clients too slow afterwards.
_TIMEOUT = ("--timeout", "36000")


@dataclass(frozen=True)
class Contestant:
    """One program on one stack."""

    name: str
    language: str
    stack: str
    what: str
    # Below the root of the repository.
    folder: str
    program: str
    # What the client asks for.
    work: str
    # Instead of those that programs of this tree have.
    arguments: tuple[str, ...] = ()
    # Whether a thread serves one connection until it ends.
    has_threads: bool = False

    @property
    def path(self) -> Path:
        """Where the program is, if it is built."""
        return repository_root() / self.folder / self.program

    def server(self) -> Server:
        """It, as a race knows it.

        Raises `ProgramMissing`.
        """
        self._check()
        on_kernel = self.stack == KERNEL
        # Programs on lwIP have it in place of dpdk-sockets.
        place = [KERNEL, ADDRESS.split("/")[0]] if on_kernel else ["--", DPDK, ADDRESS]
        to = [BACK_END, "--limit", "200000"] if self.work == "page" and self.program != ORIGIN else []
        words = [*self.arguments] or [*place, str(PORT), *to, *_TIMEOUT]
        program = Program(self.name, self.language, self.path.resolve())

        def arguments(connections: int, _: int) -> list[str]:
            return [*words, "--threads", str(connections)] if self.has_threads else words

        most = _MOST_THREADS if self.has_threads else _MOST_OF_LWIP if self.stack == LWIP else None
        return Server(
            self.name,
            self.what,
            on_kernel,
            program,
            arguments,
            work=self.work,
            most=most,
            warm_up=_WARM_UP if self.language in _COMPILED_LATE else 0,
            stack_name="service" if self.stack == DPDK else None,
        )

    def _check(self) -> None:
        """Raises `ProgramMissing`."""
        if not (self.path.is_file() and os.access(self.path, os.X_OK)):
            remedy = f"install {self.program}" if self.arguments else "run ./x services build"
            raise ProgramMissing(f"no program '{self.path}': {remedy}")


def _twins(service: str, work: str) -> list[Contestant]:
    found = []
    for stack, sockets in _STACKS.items():
        for name, language, folder in (("rust", "Rust", "target/dist"), ("c", "C", "target/services-c")):
            found.append(
                Contestant(
                    f"{name}-{stack}", language, stack, f"{language} by hand, on {sockets}", folder, service, work
                )
            )
    of_lwip = "C by hand, on lwIP over DPDK", "target/services-c", f"{service}-lwip", work
    return [*found, Contestant(f"c-{LWIP}", "C", LWIP, *of_lwip)]


def _others(work: str, *rows: tuple[str, ...]) -> list[Contestant]:
    """Each row: name, language, what it is, folder, program, and arguments if they are of its own."""
    return [
        Contestant(
            f"{name}-{KERNEL}", language, KERNEL, f"{what}, on the kernel's sockets", folder, program, work, tuple(own)
        )
        for name, language, what, folder, program, *own in rows
    ]


# By service. The first one's noise floor is measured.
CONTESTANTS = {
    ADDER: [
        *_twins(ADDER, "adder"),
        *_others(
            "adder",
            ("hyper", "Rust", "Rust with hyper on tokio", "target/dist", "adder-hyper"),
            ("cpp", "C++", "C++ with Boost.Beast", "target/services-cpp", "adder"),
            ("go", "Go", "Go with net/http", "target/services-go", "adder"),
            ("java", "Java", "Java with Netty", "target/services-java", "adder"),
            ("node", "JavaScript", "JavaScript with Express on Node.js", "target/services-node", "adder"),
            ("python", "Python", "Python with FastAPI on uvicorn", "target/services-python", "adder"),
        ),
    ],
    ECHO: [
        *_twins(ECHO, "message"),
        *(
            replace(one, has_threads=True)
            for one in _others(
                "message",
                ("pool", "Rust", f"Rust with {_POOL}", "target/dist", "echo-pool"),
                ("cpp", "C++", f"C++ with {_POOL}", "target/services-cpp", "echo"),
            )
        ),
    ],
    PROXY: [
        *_twins(PROXY, "page"),
        *_others(
            "page",
            ("tokio", "Rust", "Rust with tokio", "target/dist", "proxy-tokio"),
            ("uring", "Rust", "Rust with io_uring", "target/dist", "proxy-uring"),
            ("splice", "C", "C with epoll and splice", "target/services-c", "proxy-splice"),
            ("cpp", "C++", "C++ with Boost.Asio", "target/services-cpp", PROXY),
            ("go", "Go", "Go with its standard library", "target/services-go", PROXY),
            ("java", "Java", "Java with Netty", "target/services-java", PROXY),
            ("python", "Python", "Python with asyncio", "target/services-python", PROXY),
            ("haproxy", "C", "HAProxy in TCP mode", "/usr/sbin", "haproxy", "-db", "-f", _OF_HAPROXY),
            ("nginx", "C", "nginx's stream proxy", "/usr/sbin", "nginx", "-c", _OF_NGINX, "-p", tempfile.gettempdir()),
        ),
        *(
            Contestant(f"{ORIGIN}-{stack}", "Rust", stack, f"no proxy: Rust's origin on {what}", *_OF_ORIGIN)
            for stack, what in _STACKS.items()
        ),
    ],
}
SERVICES = tuple(CONTESTANTS)


def choose(service: str, names: Sequence[str]) -> tuple[list[Contestant], list[str]]:
    """The programs of these names, by default all that are built; and what is left out, with the remedy.

    Raises `ProgramMissing` if one that is asked for is missing, or all are.
    """
    by_name = {one.name: one for one in CONTESTANTS[service]}
    if strange := [name for name in names if name not in by_name]:
        raise ProgramMissing(f"no program '{strange[0]}' of {service}: choose from {', '.join(by_name)}")
    wanted = [by_name[name] for name in dict.fromkeys(names)] or list(by_name.values())
    built, missing = [], []
    for one in wanted:
        try:
            one.server()
            built.append(one)
        except ProgramMissing as error:
            if names:
                raise
            missing.append(f"without {one.name}: {error}")
    if not built:
        raise ProgramMissing(f"no program of {service} is built: run ./x services build")
    return built, missing
