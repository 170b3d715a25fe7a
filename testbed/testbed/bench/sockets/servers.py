# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The servers that race: the same program, which sends back 100 bytes, on our sockets and on the kernel's."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from testbed.comparison.condition import Condition
from testbed.run.namespaces import NamespacesUnavailable, check_available
from testbed.run.programs import (
    RACE_CLIENT,
    RACE_SERVER,
    RACE_TOKIO,
    Program,
    ProgramMissing,
    find_program,
    repository_root,
)

_SOURCES = Path(__file__).parent
_LIBRARY = Path("target", "dist", "libdpdk_sockets_c.a")
PORT = 80
# Of our servers, in bytes, for each direction of a connection with requests, and of one with a stream.
BUFFER = 4096
STREAM_BUFFER = 65_535
# Files of a server on the kernel's sockets that are no connections.
_OTHER_FILES = 100


@dataclass(frozen=True)
class Server:
    """One contestant."""

    name: str
    what: str
    # Whether the kernel's TCP serves, on a veth pair; else dpdk-sockets does, on the virtual wire.
    on_kernel: bool
    program: Program
    # Its arguments, for so many connections and bytes of a buffer.
    arguments: Callable[[int, int], list[str]]
    # Whether it races with requests, with streams, or with both.
    requests: bool = True
    streams: bool = False
    # What the client's requests ask for.
    work: str = "echo"
    # The most connections, and why not more.
    most: tuple[int, str] | None = None
    # So many answers come before it is measured, or what it gives in a few seconds: it compiles what is used often.
    warm_up: int = 0
    # Of its stack on the telemetry socket, which says how long polls find nothing.
    stack_name: str | None = None

    def takes_part(self, condition: Condition) -> bool:
        """Whether this is a race of its kind."""
        if condition.message is not None:
            return self.work == "message"
        return self.streams if condition.streams else self.requests

    def refuses(self, connections: int) -> str | None:
        """Why it cannot serve so many connections, if it cannot."""
        if self.most is not None and connections > self.most[0]:
            return f"{self.most[1]}: {self.most[0]:,} at most"
        if not self.on_kernel:
            return None
        if connections > most_files() - _OTHER_FILES:
            return f"a process has at most {most_files():,} files here (ulimit -Hn)"
        try:
            check_available()
        except NamespacesUnavailable as error:
            return str(error)
        return None

    def argv(self, condition: Condition) -> list[str]:
        """Its command line without DPDK's options."""
        assert condition.connections is not None
        limit = ["prlimit", f"--nofile={most_files()}"] if self.on_kernel else []
        buffer = STREAM_BUFFER if condition.is_bulk else BUFFER
        return [*limit, str(self.program.path), *self.arguments(condition.connections, buffer)]


def most_files() -> int:
    """As many files a process may have open."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]


NAMES = ("polled", "async", "offloaded", "segmented", "polled-c", "tokio", "epoll")


def find_servers(names: Sequence[str], folders: list[Path] | None) -> list[Server]:
    """The servers of these names. Those in C are compiled now.

    Raises `ProgramMissing`.
    """
    return [_find(name, folders) for name in names]


def find_client(folders: list[Path] | None) -> Program:
    """The client of all.

    Raises `ProgramMissing`.
    """
    return find_program(RACE_CLIENT, folders)


def _find(name: str, folders: list[Path] | None) -> Server:
    def sizes(connections: int, buffer: int) -> list[str]:
        return [str(connections), str(buffer)]

    match name:
        case "polled" | "async" | "offloaded" | "segmented":
            what = {
                "polled": "the poll interface of dpdk-sockets",
                "async": "the async sockets of dpdk-sockets",
                "offloaded": "the poll interface of dpdk-sockets, on a device with the checksum offloads that it has",
                "segmented": "as offloaded, and the device cuts long segments into packets (TSO)",
            }[name]
            program = find_program(RACE_SERVER, folders)
            requests, streams = name != "segmented", name != "async"
            return Server(
                name,
                what,
                False,
                program,
                lambda *many: ["--", name, *sizes(*many)],
                requests,
                streams,
                stack_name="race",
            )
        case "polled-c":
            what = "the poll interface of dpdk-sockets in C"
            return Server(name, what, False, _build_sockets(), lambda *many: ["--", *sizes(*many)])
        case "tokio":
            return Server(name, "tokio on the kernel's sockets", True, find_program(RACE_TOKIO, folders), lambda *_: [])
        case _:
            program = _compile("epoll", ())
            return Server(name, "C with epoll on the kernel's sockets", True, program, lambda *_: [str(PORT)])


def _build_sockets() -> Program:
    library = repository_root() / _LIBRARY
    if not library.is_file():
        raise ProgramMissing(f"no library '{library}': run make -C dpdk-sockets/c")
    header = library.parents[2] / "dpdk-sockets/c/include"
    told = subprocess.run(["pkg-config", "--cflags", "--libs", "libdpdk"], capture_output=True, text=True, check=False)
    return _compile("sockets", (f"-I{header}", str(library), *told.stdout.split(), "-lgcc_s", "-lm"))


def _compile(name: str, more: Sequence[str]) -> Program:
    source = _SOURCES / f"{name}.c"
    compiler = shutil.which("cc")
    if compiler is None:
        raise ProgramMissing("no C compiler 'cc': install one (Debian and Ubuntu: build-essential)")
    path = repository_root() / "target" / "bench" / f"race-{name}"
    draft = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        words = [compiler, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(draft), str(source), *more]
        subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
        # At once: another run may be starting it.
        draft.replace(path)
    except subprocess.CalledProcessError as error:
        raise ProgramMissing(f"cannot compile '{source}': {error.stderr.strip()[-500:]}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProgramMissing(f"cannot compile '{source}': {error}") from error
    return Program(f"race-{name}", "C", path)
