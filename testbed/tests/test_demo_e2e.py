# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The five acts in short form, with the real programs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from test_frames import HOST_HEADER, frame, write

from testbed.demo import capture, hosts, proxies, virtual_wire
from testbed.demo.summary import ProxyTrial, Stack, read_summary
from testbed.run.lcores import plan_lcores
from testbed.run.namespaces import NamespacesUnavailable, check_available
from testbed.run.programs import Program, ProgramMissing, repository_root
from testbed.run.results_folder import Status

pytestmark = pytest.mark.e2e

LCORES = plan_lcores()


def wire_trial(forwarder: Program, generator: Program, raw: Path, hugepages: bool, **changes: int):
    plan = virtual_wire.WirePlan(**{"size": 64, "seconds": 1.0, "hugepages": hugepages, "lcores": LCORES, **changes})
    return virtual_wire.run_trial(plan, forwarder, generator, raw)


@pytest.mark.parametrize("size", [64, 1518, 9000])
def test_each_frame(forwarder_program: Program, generator_program: Program, hugepages: bool, tmp_path: Path, size: int):
    trial = wire_trial(forwarder_program, generator_program, tmp_path, hugepages, size=size)
    assert trial.reasons == []
    assert trial.generator.received > 0
    assert trial.forwarder.tx_packets + trial.forwarder.tx_dropped == trial.forwarder.rx_packets


def test_every_frame_without_hugepages(forwarder_program: Program, generator_program: Program, tmp_path: Path):
    trial = wire_trial(forwarder_program, generator_program, tmp_path, hugepages=False)
    assert trial.reasons == []
    assert trial.forwarder.tx_packets > 0


def test_real_hosts(forwarder_program: Program, hugepages: bool, tmp_path: Path):
    try:
        hosts.check()
        plan = hosts.HostsPlan(20, 1, 200, hugepages, LCORES.forwarder)
        trial, file = hosts.run_trial(plan, forwarder_program, tmp_path)
    except NamespacesUnavailable as error:
        pytest.skip(str(error))
    assert trial.reasons == []
    assert trial.ping.received > 0
    assert trial.tcp.bytes > 0
    assert file.stat().st_size > 200 * 60


@pytest.fixture
def some_frames(tmp_path: Path) -> Path:
    # Shortest, runts, around a mbuf's 2,048 bytes, longest; a path that device arguments could not hold.
    lengths = [60, 14 + 4, 64, 1514, 2047, 2048, 2049, 9000]
    frames = [frame(number, lengths[number % len(lengths)]) for number in range(500)]
    frames[100] = HOST_HEADER + b"\x08"
    folder = tmp_path / "with,comma and space"
    folder.mkdir()
    return write(folder / "frames.pcap", frames)


def test_a_capture(forwarder_program: Program, hugepages: bool, tmp_path: Path, some_frames: Path):
    plan = capture.CapturePlan(some_frames, hugepages, LCORES.forwarder)
    act = capture.new_act(plan, "some frames")
    trial = capture.run_trial(plan, act.frames, forwarder_program, tmp_path)
    assert trial.reasons == []
    assert (trial.frames_in, trial.frames_short, trial.frames_out, trial.identical) == (500, 1, 499, 499)


@pytest.fixture
def proxy_programs() -> proxies.ProxyPrograms:
    """As the tests of the services build them."""
    root = repository_root()
    try:
        check_available()
        services = [
            proxies.find_services("C", root / "target/services-c"),
            proxies.find_services("Rust", root / "target/debug"),
        ]
        return proxies.ProxyPrograms(services, proxies.find_load(root / "target/debug"))
    except (NamespacesUnavailable, ProgramMissing) as error:
        pytest.skip(str(error))


def every_answer_is_right(trials: list[ProxyTrial]) -> None:
    assert [(trial.language, trial.stack) for trial in trials] == [
        (language, stack) for language in ("C", "Rust") for stack in (None, Stack.KERNEL, Stack.DPDK)
    ]
    for trial in trials:
        assert trial.reasons == []
        assert trial.answers.sent == trial.answers.answered > 0
        assert trial.answers.wrong == 0
        assert 0 < trial.answers.p50_us <= trial.answers.p99_us


def test_each_proxy_on_each_stack(proxy_programs: proxies.ProxyPrograms, hugepages: bool, tmp_path: Path):
    plan = proxies.ProxiesPlan(0.3, hugepages, LCORES)
    every_answer_is_right(list(proxies.run(plan, proxy_programs, tmp_path, lambda _: None)))
    for name in ("e-proxy-c-dpdk-proxy", "e-proxy-rs-kernel-proxy"):
        assert "proxy: 10 connections, 0 refused" in (tmp_path / f"{name}.stdout").read_text()


@pytest.mark.parametrize("stack", list(Stack))
def test_a_proxy_that_does_not_start_is_named(proxy_programs: proxies.ProxyPrograms, tmp_path: Path, stack: Stack):
    services = proxies.Services(proxy_programs.services[0].origin, Program("proxy-c", "C", Path("/bin/false")))
    plan = proxies.ProxiesPlan(0.3, hugepages=False, lcores=LCORES)
    trial = proxies.run_trial(plan, services, stack, proxy_programs.load, tmp_path)
    assert trial.answers is None
    (reason,) = trial.reasons
    assert "ended with status 1" in reason
    assert not [name for name in Path("/run/netns").iterdir() if f"-{os.getpid()}-" in name.name]


@pytest.mark.parametrize("options", [[], ["--no-hugepages"]], ids=["as it is", "no hugepages"])
def test_the_whole_demo(program: Callable[[str], Program], tmp_path: Path, options: list[str]):
    folders = sorted({str(program(name).path.parent) for name in ("l2fwd-c", "l2fwd-rs", "generator")})
    argv = [sys.executable, "-m", "testbed", "demo", "--quick", f"--out={tmp_path}", *options]
    argv += [f"--bin-dir={folder}" for folder in folders]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    done = subprocess.run(argv, capture_output=True, text=True, timeout=150, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    (folder,) = tmp_path.iterdir()
    summary = read_summary(folder)
    assert summary.status is Status.PASSED
    assert not (options and summary.hugepages)
    assert summary.overload.status is Status.PASSED
    assert ("l2fwd-rs", "l2fwd-c") in [(pair.a, pair.b) for pair in summary.overload.pairs]
    assert len(summary.overload.measurement.blocks) == 2
    assert summary.wire.status is Status.PASSED
    assert len(summary.wire.trials) == 2
    # Where namespaces are not permitted the capture of their traffic is lacking too.
    assert summary.hosts.status in (Status.PASSED, Status.SKIPPED)
    assert summary.capture.status is summary.hosts.status
    # Not every build has the services.
    if summary.proxies.status is Status.SKIPPED:
        assert summary.proxies.reason.endswith("run ./x demo, which builds it") or os.geteuid() != 0
    else:
        assert summary.proxies.status is Status.PASSED
        every_answer_is_right(summary.proxies.trials)
        assert done.stdout.count("proxy on dpdk-sockets  ") == 2
    for trial in summary.wire.trials:
        assert f"{trial.forwarder.tx_packets / 1e6:,.3f}" in done.stdout
    # Two blocks are too few, and on a busy machine they are disturbed too.
    assert ": no verdict" in done.stdout
    assert (folder / "report.html").stat().st_size > 10_000
