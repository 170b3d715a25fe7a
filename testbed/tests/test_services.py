# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Each service of each language passes all cases on each stack, and the cases find mistakes."""

from __future__ import annotations

import os
import re
import resource
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from testbed.run.namespaces import inside, run_tool
from testbed.run.process import Process
from testbed.run.programs import repository_root
from testbed.run.scratch import scratch_folder
from testbed.services import exchange
from testbed.services.check import SERVICES, cases_of, check
from testbed.services.exchange import Exchange, expect_reset
from testbed.services.proxy import BackEnd

# By language: where the programs are, and how to build them.
LANGUAGES = {
    "rust": ("target/debug", "cargo build -p services"),
    "c": ("target/services-c", "make -C dpdk-sockets/c, then make -C services/c all lwip"),
}
NAMES = (*SERVICES, "proxy")
# Those that have no twin, by service.
OTHERS = {
    "adder": (
        "debug/adder-hyper",
        *(f"services-{language}/adder" for language in ("cpp", "go", "java", "node", "python")),
    ),
    "echo": ("debug/echo-pool", "services-cpp/echo"),
    "proxy": (
        "debug/proxy-tokio",
        "debug/proxy-uring",
        "services-c/proxy-splice",
        *(f"services-{language}/proxy" for language in ("cpp", "go", "java", "python")),
    ),
}
# Which cases a library does not let its program pass: services/LANGUAGE/README.md says why.
_SPACES = {"two spaces before the target", "two spaces after the target"}
_HYPER = {
    "smuggled by twice the same length",
    *(f"version 1.0{more}" for more in ("", " Connection: close", ", kept alive")),
}
NOT_PASSED = {"debug/adder-hyper": _HYPER, "services-node/adder": _SPACES, "services-python/adder": _SPACES}
ADDER_CASES = cases_of("adder")
# The suite needs a file for each of its connections, and so does the server.
FILES = ("prlimit", f"--nofile={resource.getrlimit(resource.RLIMIT_NOFILE)[1]}")


@dataclass(frozen=True)
class Service:
    """One program."""

    name: str
    path: Path

    def words(self, back_end: BackEnd, timeout_s: float = 2) -> list[str]:
        """The words after its port."""
        return [
            *([f"{back_end.address}:{back_end.port}"] if self.name == "proxy" else []),
            "--timeout",
            f"{timeout_s:g}",
        ]

    def check(self, *launcher: str, address: str, port: int, back_end: BackEnd, folder: Path) -> None:
        """Runs the suite, in a process of its own."""
        to = back_end if self.name == "proxy" else None
        more = ["--back-end", f"{to.address}:{to.port}"] if to else []
        suite = [sys.executable, "-m", "testbed.services.check", self.name, address, str(port), *more]
        environment = {"PYTHONPATH": str(Path(__file__).resolve().parents[1])}
        with Process("check", [*launcher, *FILES, *suite], folder, environment) as process:
            process.wait(300)
            told = (folder / "check.stdout").read_text()
        failed = {case.name for case in cases_of(self.name, to) if f"FAILED {case.name}: " in told}
        assert re.search(r"^\d+ passed, \d+ failed", told, re.MULTILINE), told
        assert failed == NOT_PASSED.get("/".join(self.path.parts[-2:]), set()), told


@pytest.fixture(params=[(name, language) for name in NAMES for language in LANGUAGES], ids="-".join)
def service(request: pytest.FixtureRequest) -> Service:
    name, language, *program = request.param
    folder, advice = LANGUAGES[language]
    path = repository_root() / folder / "-".join([name, *program])
    if not path.is_file():
        pytest.skip(f"{path} is missing: run {advice}")
    return Service(name, path)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@contextmanager
def running(service: Service, folder: Path, *words: str) -> Iterator[tuple[Process, int]]:
    """A service on the kernel's sockets, and its port. It has to end well."""
    port = free_port()
    argv = [*FILES, str(service.path), "kernel", "127.0.0.1", str(port), *words]
    with Process(service.name, argv, folder) as process:
        process.wait_for_line(f"{service.name}: kernel", 60)
        yield process, port
        # Sanitizers find at the end what was not freed.
        assert process.stop(30) == 0, (folder / f"{service.name}.stderr").read_text()


def on_the_kernels_sockets(service: Service, folder: Path) -> None:
    back_end = BackEnd("127.0.0.1", free_port())
    with running(service, folder, *service.words(back_end)) as (_, port):
        service.check(address="127.0.0.1", port=port, back_end=back_end, folder=folder)
    told = (folder / f"{service.name}.stdout").read_text()
    assert re.search(r": [1-9]\d* (requests answered|connections)", told), told


@pytest.mark.e2e
def test_on_the_kernels_sockets(service: Service, tmp_path: Path) -> None:
    on_the_kernels_sockets(service, tmp_path)


@pytest.mark.e2e
@pytest.mark.parametrize(("name", "program"), [(name, one) for name, programs in OTHERS.items() for one in programs])
def test_other_languages_and_libraries(name: str, program: str, tmp_path: Path) -> None:
    path = repository_root() / "target" / program
    if not path.is_file():
        pytest.skip(f"{path} is missing: run ./x services build")
    on_the_kernels_sockets(Service(name, path), tmp_path)


@contextmanager
def on_a_port(service: Service, folder: Path, back_end: BackEnd) -> Iterator[tuple[str, ...]]:
    """A service on a tap interface, and what starts a program on the other end, in a network namespace."""
    namespace = f"testbed-{os.getpid()}-{service.name}"
    run_tool("ip", "netns", "add", namespace)
    try:
        with scratch_folder() as runtime:
            eal = ("--no-huge", "-m", "256", "--no-pci", "-l", "0", "--vdev=net_tap0,iface=linux0")
            words = ("dpdk", "192.0.2.1/24", "80", *service.words(back_end))
            argv = inside(namespace, *FILES, str(service.path), *eal, "--", *words)
            with Process(service.name, argv, folder, {"RUNTIME_DIRECTORY": str(runtime)}) as process:
                process.wait_for_line(f"{service.name}: dpdk", 60)
                run_tool("ip", "-n", namespace, "address", "add", "192.0.2.2/24", "dev", "linux0")
                run_tool("ip", "-n", namespace, "link", "set", "linux0", "up")
                yield inside(namespace)
                assert process.stop(30) == 0
    finally:
        run_tool("ip", "netns", "delete", namespace)


LWIP = pytest.mark.parametrize("service", [(name, "c", "lwip") for name in NAMES], indirect=True, ids="-".join)


@pytest.mark.e2e
def test_on_dpdk_sockets(service: Service, need_root: None, tmp_path: Path) -> None:
    back_end = BackEnd("192.0.2.2", 8080)
    with on_a_port(service, tmp_path, back_end) as launcher:
        service.check(*launcher, address="192.0.2.1", port=80, back_end=back_end, folder=tmp_path)


@pytest.mark.e2e
@LWIP
def test_on_lwip(service: Service, need_root: None, tmp_path: Path) -> None:
    test_on_dpdk_sockets(service, need_root, tmp_path)


# Twice from the same port. The server closes each connection first, and the client then forgets it.
_AGAIN = """
import socket

for _ in range(2):
    with socket.socket() as client:
        client.settimeout(20)
        client.bind(("192.0.2.2", 40000))
        client.connect(("192.0.2.1", 80))
        client.sendall(b"GET /add/1/2 HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n")
        while client.recv(65_536):
            pass
        client.shutdown(socket.SHUT_WR)
        while client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1) != b"\\x07":
            pass
print("served")
"""


@pytest.mark.e2e
@pytest.mark.parametrize("service", [("adder", "c"), ("adder", "c", "lwip")], indirect=True, ids="-".join)
def test_a_port_is_served_again_in_time_wait(service: Service, need_root: None, tmp_path: Path) -> None:
    with on_a_port(service, tmp_path, BackEnd("192.0.2.2", 8080)) as launcher:
        argv = [*launcher, sys.executable, "-c", _AGAIN]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
        assert done.stdout == "served\n", done.stderr


@pytest.mark.e2e
@pytest.mark.parametrize("program", [*NAMES, "proxy-splice"])
def test_c_under_sanitizers(program: str, tmp_path: Path, need_tools: Callable[..., None]) -> None:
    need_tools("make", "cc", "cargo", "pkg-config")
    library = repository_root() / "target/debug/deps/libdpdk_sockets_c.a"
    if not library.is_file():
        pytest.skip(f"{library} is missing: run cargo test -p dpdk-sockets-c")
    flags = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -std=gnu11"
    words = [f"LIBRARY={library}", f"BUILD={tmp_path}", f"CFLAGS={flags}", str(tmp_path / program)]
    argv = ["make", "-C", str(repository_root() / "services/c"), *words]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=170, check=False)
    assert done.returncode == 0, done.stderr
    on_the_kernels_sockets(Service(program.partition("-")[0], tmp_path / program), tmp_path)


@pytest.mark.e2e
@pytest.mark.parametrize("service", [("adder", language) for language in LANGUAGES], indirect=True, ids="-".join)
def test_curl_and_a_browser_are_served(need_tools: Callable[..., None], service: Service, tmp_path: Path) -> None:
    need_tools("curl", "chromium")
    port = free_port()
    page = f"http://127.0.0.1:{port}/add/40/2"
    with Process("adder", [str(service.path), "kernel", "127.0.0.1", str(port)], tmp_path) as adder:
        adder.wait_for_line("adder: kernel", 60)
        for command, wanted in (
            (["curl", "-sS", "--max-time", "60", page], "40 + 2 = 42"),
            (["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom", page], "40 + 2 = 42"),
            (["curl", "-sS", "--max-time", "60", "-d", "body", page], "The request has a body"),
        ):
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
            assert wanted in done.stdout, (command, done.stdout, done.stderr)
        assert adder.stop(30) == 0


SPLICE = ("proxy", "c", "splice")
PROXIES = pytest.mark.parametrize(
    "service", [*(("proxy", language) for language in LANGUAGES), SPLICE], indirect=True, ids="-".join
)


@contextmanager
def proxying(
    service: Service, folder: Path, wanted: str, *words: str, timeout_s: float = 2
) -> Iterator[tuple[socket.socket, Process, int]]:
    """A proxy, its port, and a listener behind it. At the end it has to say what is wanted."""
    back_end = BackEnd("127.0.0.1", free_port())
    own = (*service.words(back_end, timeout_s), *words)
    with back_end.listening() as listener, running(service, folder, *own) as (process, port):
        yield listener, process, port
    assert wanted in (folder / "proxy.stdout").read_text()


@contextmanager
def joined(listener: socket.socket, port: int) -> Iterator[tuple[Exchange, Exchange]]:
    with Exchange("127.0.0.1", port) as client, Exchange.accepted(listener) as server:
        client.send([b"question"])
        assert server.receive(8) == b"question"
        yield client, server


@pytest.mark.e2e
@PROXIES
def test_a_proxy_resets_what_is_over_its_limit(service: Service, tmp_path: Path) -> None:
    wanted = "3 connections, 0 refused, 1 over the limit"
    with proxying(service, tmp_path, wanted, "--limit", "2") as (listener, _, port):
        with joined(listener, port), joined(listener, port) as (client, server):
            expect_reset("127.0.0.1", port)
            for end, other in ((client, server), (server, client)):
                end.half_close()
                other.end()
        # There is room again, sooner or later.
        with joined(listener, port):
            pass


@pytest.mark.e2e
@PROXIES
def test_a_proxy_passes_a_reset_on_after_the_end(service: Service, tmp_path: Path) -> None:
    wanted = "1 connections, 0 refused, 0 over the limit, 1 broken"
    with proxying(service, tmp_path, wanted) as (listener, _, port), joined(listener, port) as (client, server):
        client.half_close()
        server.end()
        client.reset()
        server.is_broken()


@pytest.mark.e2e
@pytest.mark.parametrize("service", [SPLICE], indirect=True, ids="-".join)
def test_urgent_data_is_not_taken_for_the_end(service: Service, tmp_path: Path) -> None:
    """Splice returns the same for both."""
    wanted = "1 connections, 0 refused, 0 over the limit, 1 broken"
    with (
        proxying(service, tmp_path, wanted) as (listener, _, port),
        socket.create_connection(("127.0.0.1", port)) as client,
        Exchange.accepted(listener) as server,
    ):
        client.send(b"!", socket.MSG_OOB)
        client.send(b"more")
        client.shutdown(socket.SHUT_WR)
        server.is_reset()


@pytest.mark.e2e
@PROXIES
def test_a_proxy_that_is_stopped_lets_connections_end(service: Service, tmp_path: Path) -> None:
    wanted = "1 connections, 0 refused, 0 over the limit, 0 broken"
    with proxying(service, tmp_path, wanted, timeout_s=60) as (listener, process, port):
        with joined(listener, port) as (client, server):
            process.send_signal("TERM")
            while is_listening(port):
                pass
            server.send([b"answer"])
            server.half_close()
            assert client.receive(6) == b"answer"
            client.end()
            client.half_close()
            server.end()
        assert process.wait(30) == 0


@pytest.mark.e2e
@PROXIES
def test_a_proxy_resets_what_is_silent_or_open_at_the_end(service: Service, tmp_path: Path) -> None:
    wanted = "2 connections, 0 refused, 0 over the limit, 2 broken"
    with proxying(service, tmp_path, wanted, timeout_s=0.5) as (listener, process, port):
        with joined(listener, port) as (client, server):
            client.is_reset()
            server.is_reset()
        with joined(listener, port) as (client, server):
            process.send_signal("TERM")
            client.is_reset()
            server.is_reset()
        assert process.wait(30) == 0


def is_listening(port: int) -> bool:
    """By the kernel's table, since another connection would be one of the proxy's."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(line[1].endswith(f":{port:04X}") and line[3] == "0A" for line in lines)


class StandIn:
    """An adder with a mistake: it answers what a regular expression finds, and nothing else of HTTP."""

    def __init__(self, fault: str | None) -> None:
        self.fault = fault
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> StandIn:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        try:
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
        except OSError:
            # Closed.
            return

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            received = b""
            while found := connection.recv(65_536):
                received += found
                answers, received, goes_on = self._answers(received)
                connection.sendall(b"".join(reversed(answers) if self.fault == "order" else answers))
                if not goes_on:
                    if self.fault == "resets":
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        return
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65_536):
                        pass
                    return

    def _answers(self, received: bytes) -> tuple[list[bytes], bytes, bool]:
        answers: list[bytes] = []
        ends = rb"\r?\n\r?\n" if self.fault == "line feeds" else rb"\r\n\r\n"
        if self.fault != "line feeds" and re.search(rb"(?<!\r)\n", received):
            return [self._answer(400, b"No.\n", True)], b"", False
        while found := re.search(ends, received):
            head, received = received[: found.start()], received[found.end() :]
            numbers = re.match(rb"GET /add/(-?\d+)/(-?\d+) HTTP/1\.1\r?\n", head + b"\r\n")
            is_odd = re.search(rb"\r?\n(transfer-encoding|content-length)", head.lower())
            if numbers is None or (is_odd and self.fault != "lengths"):
                return [*answers, self._answer(400, b"No.\n", True)], b"", False
            a, b = (int(number) for number in numbers.groups())
            total, is_last = a + b, b"connection: close" in head.lower() and self.fault != "no close"
            if self.fault == "wraps":
                total = (total + 2**63) % 2**64 - 2**63
            if not -(2**63) <= total < 2**63:
                answers.append(self._answer(400, b"oops" if self.fault == "no sentence" else b"Too large.\n", False))
            else:
                answers.append(self._answer(200, b"%d + %d = %d\n" % (a, b, total), is_last))
            if is_last:
                return answers, b"", False
            if self.fault == "one by one":
                return answers, b"", True
        return answers, received, True

    @staticmethod
    def _answer(status: int, body: bytes, is_last: bool) -> bytes:
        more = b"Connection: close\r\n" if is_last else b""
        return b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n%s\r\n%s" % (status, len(body), more, body)


@contextmanager
def failures(fault: str | None) -> Iterator[set[str]]:
    # What a stand-in without its own mistake passes, and quickly.
    chosen = [case for case in ADDER_CASES if case.name in PASSED]
    with StandIn(fault) as server:
        yield set(check(chosen, "127.0.0.1", server.port))


PASSED = {
    "1 + 7",
    f"{2**63 - 1} + 1 is too large",
    "a line feed alone after the first line",
    "line feeds alone",
    "Connection: close",
    "smuggled by two lengths",
    "smuggled by a body",
    "several requests",
    "2 requests in one",
    "split at byte 30",
}


def test_a_stand_in_without_a_mistake_passes() -> None:
    with failures(None) as found:
        assert found == set()


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ("wraps", f"{2**63 - 1} + 1 is too large"),
        ("line feeds", "line feeds alone"),
        ("no close", "Connection: close"),
        ("lengths", "smuggled by two lengths"),
        ("one by one", "2 requests in one"),
        ("order", "2 requests in one"),
        ("resets", "smuggled by a body"),
        ("no sentence", f"{2**63 - 1} + 1 is too large"),
    ],
)
def test_mistakes_are_found(fault: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # This one answers at once, or never.
    monkeypatch.setattr(exchange, "PATIENCE_S", 1.0)
    with failures(fault) as found:
        assert name in found, found
