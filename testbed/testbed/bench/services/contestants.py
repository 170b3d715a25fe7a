# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The programs of a service: each language's, on the kernel's sockets and on dpdk-sockets."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from testbed.bench.sockets.kernel_host import ADDRESS
from testbed.bench.sockets.servers import PORT, Server
from testbed.run.programs import Program, ProgramMissing, repository_root

KERNEL, DPDK = "kernel", "dpdk"
PROXY = "proxy"
_CONFIGURATIONS = Path(__file__).parent
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

    @property
    def path(self) -> Path:
        """Where the program is, if it is built."""
        return repository_root() / self.folder / self.program

    def server(self) -> Server:
        """It, as a race knows it.

        Raises `ProgramMissing`.
        """
        if not (self.path.is_file() and os.access(self.path, os.X_OK)):
            remedy = f"install {self.program}" if self.arguments else "run ./x services build"
            raise ProgramMissing(f"no program '{self.path}': {remedy}")
        address = ADDRESS.split("/")[0]
        words = [KERNEL, address, str(PORT)] if self.stack == KERNEL else ["--", DPDK, ADDRESS, str(PORT)]
        if self.work == "page":
            words += [BACK_END, "--limit", "200000"]
        program = Program(self.name, self.language, self.path.resolve())
        words = [*self.arguments] or [*words, *_TIMEOUT]
        on_kernel = self.stack == KERNEL
        return Server(self.name, self.what, on_kernel, program, lambda *_: words, work=self.work)


def _twins(service: str, work: str) -> list[Contestant]:
    found = []
    for stack, sockets in ((DPDK, "dpdk-sockets"), (KERNEL, "the kernel's sockets")):
        for name, language, folder in (("rust", "Rust", "target/dist"), ("c", "C", "target/services-c")):
            found.append(
                Contestant(
                    f"{name}-{stack}", language, stack, f"{language} by hand, on {sockets}", folder, service, work
                )
            )
    return found


def _adder(name: str, language: str, what: str, folder: str, program: str = "adder") -> Contestant:
    return Contestant(
        f"{name}-{KERNEL}", language, KERNEL, f"{what}, on the kernel's sockets", folder, program, "adder"
    )


def _pool(name: str, language: str, folder: str, program: str) -> Contestant:
    what = f"{language} with its standard library and a pool of threads, on the kernel's sockets"
    return Contestant(f"{name}-{KERNEL}", language, KERNEL, what, folder, program, "message")


def _proxy(name: str, language: str, what: str, folder: str, program: str = PROXY) -> Contestant:
    return Contestant(f"{name}-{KERNEL}", language, KERNEL, f"{what}, on the kernel's sockets", folder, program, "page")


def _of_debian(name: str, what: str, folder: str, *arguments: str) -> Contestant:
    return Contestant(
        f"{name}-{KERNEL}", "C", KERNEL, f"{what}, on the kernel's sockets", folder, name, "page", arguments
    )


# By service. The first one's noise floor is measured.
CONTESTANTS = {
    "adder": [
        *_twins("adder", "adder"),
        _adder("hyper", "Rust", "Rust with hyper on tokio", "target/dist", "adder-hyper"),
        _adder("cpp", "C++", "C++ with Boost.Beast", "target/services-cpp"),
        _adder("go", "Go", "Go with net/http", "target/services-go"),
        _adder("java", "Java", "Java with Netty", "target/services-java"),
        _adder("node", "JavaScript", "JavaScript with Express on Node.js", "target/services-node"),
        _adder("python", "Python", "Python with FastAPI on uvicorn", "target/services-python"),
    ],
    "echo": [
        *_twins("echo", "message"),
        _pool("pool", "Rust", "target/dist", "echo-pool"),
        _pool("cpp", "C++", "target/services-cpp", "echo"),
    ],
    PROXY: [
        *_twins(PROXY, "page"),
        _proxy("tokio", "Rust", "Rust with tokio", "target/dist", "proxy-tokio"),
        _proxy("uring", "Rust", "Rust with io_uring", "target/dist", "proxy-uring"),
        _proxy("cpp", "C++", "C++ with Boost.Asio", "target/services-cpp"),
        _proxy("go", "Go", "Go with its standard library", "target/services-go"),
        _proxy("java", "Java", "Java with Netty", "target/services-java"),
        _proxy("python", "Python", "Python with asyncio", "target/services-python"),
        _of_debian("haproxy", "HAProxy in TCP mode", "/usr/sbin", "-db", "-f", str(_CONFIGURATIONS / "haproxy.cfg")),
        _of_debian(
            "nginx",
            "nginx's stream proxy",
            "/usr/sbin",
            "-c",
            str(_CONFIGURATIONS / "nginx.conf"),
            "-p",
            tempfile.gettempdir(),
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
