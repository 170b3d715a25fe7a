# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A real TRex server over memif with both forwarders; needs root and TREX_HOME, the folder of a TRex that was built."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from testbed.campaign.devices.l2fwd import L2fwd
from testbed.campaign.devices.program_host import LocalHost
from testbed.campaign.scenario_file import find_scenario, read_scenario
from testbed.campaign.sizes import Size
from testbed.campaign.traffic_generator import GeneratorError, NotCapable, Pauses
from testbed.campaign.trex.account import Ran
from testbed.campaign.trex.bridge import TrexBridge, TrexError, trex_folder
from testbed.campaign.trex.device import JoinedDevice
from testbed.campaign.trex.generator import TrexGenerator
from testbed.campaign.trex.mixture import composition
from testbed.campaign.trex.settings import Trex
from testbed.campaign.trex.setup import TrexSetup, trex_home
from testbed.campaign.trial import ResetKind, ResetPlan, StepPlan, StepResult, TrialPlan, TrialResult
from testbed.run.programs import Program

pytestmark = [
    pytest.mark.e2e,
    # Its server takes up to a minute to start.
    pytest.mark.timeout(600),
    pytest.mark.skipif(not os.environ.get("TREX_HOME"), reason="TREX_HOME does not name a TRex"),
    pytest.mark.skipif(os.geteuid() != 0, reason="TRex runs as root only"),
]
RATE = 20_000.0
R = TypeVar("R", TrialResult, StepResult)


# Both forwarders, with both numbers of directions, as either end of the memif wires.
ARRANGEMENTS = [
    ("l2fwd_c", 1, "server"),
    ("l2fwd_rs", 1, "server"),
    ("l2fwd_c", 2, "client"),
    ("l2fwd_rs", 2, "client"),
]


def as_servers(settings: Trex) -> Trex:
    """The scenario's, but with the forwarder as the server of the wires."""
    forwarder, launch = settings.forwarder, settings.launch
    assert forwarder is not None
    assert launch is not None
    vdevs = [vdev.replace("role=client", "role=server") for vdev in forwarder.vdevs]
    update = {
        "forwarder": forwarder.model_copy(update={"vdevs": vdevs}),
        "launch": launch.model_copy(update={"config": Path("memif.cfg.yaml")}),
    }
    return settings.model_copy(update=update)


@pytest.fixture(scope="module", params=ARRANGEMENTS, ids=lambda arrangement: "-".join(map(str, arrangement)))
def generator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrexGenerator]:
    name, directions, role = request.param
    program: Program = request.getfixturevalue(name)
    scenario = read_scenario(find_scenario(Path("trex-memif")))
    settings = scenario.generator
    assert isinstance(settings, Trex)
    assert settings.forwarder is not None
    if settings.forwarder.lcore >= (os.cpu_count() or 1):
        pytest.skip("the scenario needs two CPUs")
    if role == "server":
        settings = as_servers(settings)
    yield from running(program, settings, directions, tmp_path_factory.mktemp("trex"))


def running(program: Program, settings: Trex, directions: int, logs: Path) -> Iterator[TrexGenerator]:
    """TRex with a forwarder, until it is not needed any more."""
    assert settings.forwarder is not None
    started = TrexGenerator(
        TrexSetup(
            device=program.name,
            settings=settings,
            home=trex_home(settings),
            joined=JoinedDevice(L2fwd(program, (), LocalHost()), settings.forwarder, False, 1518, logs),
            sizes=(64, 1518),
            flows=(1,),
            directions=directions,
            pauses=Pauses(before_s=0, residual_s=0.5, settle_s=0),
            logs=logs,
        )
    )
    try:
        yield started
    finally:
        started.close()


def directions_of(generator: TrexGenerator) -> int:
    return generator._setup.directions


def lossless(trial: Callable[[], R]) -> R:
    """A trial without loss: one may lose frames while other programs have the CPUs, but not each of several."""
    for _ in range(5):
        result = trial()
        if result.valid and not any([result.lost] if isinstance(result.lost, int) else result.lost):
            return result
    pytest.fail(f"no trial of 5 was without loss: {result.reasons or result.lost}")


@pytest.mark.parametrize(("size", "flows"), [(64, 1), (64, 256), (132, 256), (1518, 1)])
def test_every_frame_comes_back(generator: TrexGenerator, size: int, flows: int) -> None:
    directions = directions_of(generator)
    result = lossless(
        lambda: generator.run(TrialPlan(size=size, flows=flows, directions=directions, load_fps=RATE, duration_s=1))
    )
    assert result.sent == pytest.approx(RATE * directions, rel=0.005)
    assert (result.lost, result.lost_at) == (0, {})


@pytest.mark.parametrize("size", ["imix", "imix:3afd"])
def test_a_mixture_has_each_size_as_often_as_it_says(generator: TrexGenerator, size: str) -> None:
    directions = directions_of(generator)
    plan = TrialPlan(size=size, directions=directions, load_fps=RATE, duration_s=1)
    result = lossless(lambda: generator.run(plan))
    assert (result.sent, result.lost, result.lost_at) == (RATE * directions, 0, {})
    told = {str(one): directions * frames for one, frames in composition(size, round(RATE)).items()}
    assert result.raw["sizes"] == {one: {"sent": frames, "received": frames} for one, frames in told.items()}
    # TRex counts bytes with FCS.
    ports = result.raw["generator"]["ports"]
    assert sum(ports[port]["ibytes"] for port in ports) == sum(int(one) * frames for one, frames in told.items())


def test_a_burst_has_its_length(generator: TrexGenerator) -> None:
    directions = directions_of(generator)
    plan = TrialPlan(size=64, directions=directions, load_fps=RATE, duration_s=0.05, kind="burst", burst_frames=1000)
    result = lossless(lambda: generator.run(plan))
    assert (result.sent, result.lost) == (1000 * directions, 0)


def test_latency_is_measured(generator: TrexGenerator) -> None:
    directions = directions_of(generator)
    result = generator.run(TrialPlan(size=64, directions=directions, load_fps=RATE, duration_s=2, latency=True))
    assert result.valid, result.reasons
    assert result.latency is not None
    assert result.latency.count == pytest.approx(2000 * directions, rel=0.02)
    assert result.latency.p50 is not None
    assert 0 < result.latency.p50 <= result.latency.p99_9


@pytest.mark.parametrize(("size", "sent"), [(64, 20_000), ("imix", 1667 * 12)])
def test_loads_follow_each_other_without_a_pause(generator: TrexGenerator, size: Size, sent: int) -> None:
    """At rates that are far from an overload: each slice has its number of frames, and none is lost."""
    directions = directions_of(generator)
    plan = StepPlan(size=size, directions=directions, loads_fps=(RATE, RATE / 2), durations_s=(1, 2))
    result = lossless(lambda: generator.step(plan))
    assert result.sent == [sent * directions, sent * directions]
    assert (result.lost, result.last_loss_s) == ([0, 0], 0.0)
    assert len(result.raw["slices"]) > 20


def test_losses_after_the_overload_are_timed(generator: TrexGenerator, monkeypatch: pytest.MonkeyPatch) -> None:
    """The forwarder stands still until the lower load has gone on for a second: its queue overflows for so long."""
    still_s, durations_s = 2.0, (1.0, 4.0)
    process = generator._device._running().process.pid
    counted = generator._counted

    def stopped(*asked: object, **words: object) -> Ran:
        os.kill(process, signal.SIGSTOP)
        goes_on = threading.Timer(still_s, os.kill, (process, signal.SIGCONT))
        goes_on.start()
        try:
            return counted(*asked, **words)
        finally:
            goes_on.join()

    monkeypatch.setattr(generator, "_counted", stopped)
    plan = StepPlan(size=64, directions=directions_of(generator), loads_fps=(RATE, RATE / 2), durations_s=durations_s)
    result = generator.step(plan)
    assert result.valid, result.reasons
    assert all(lost > 0 for lost in result.lost)
    # The slice in which it went on begins before that, and ends a seventh of its time later at most.
    recovered_s = still_s - durations_s[0]
    assert 0.8 * recovered_s < result.last_loss_s < durations_s[1]
    lossy = [one["lost"] > 0 for one in result.raw["slices"]]
    assert lossy == sorted(lossy, reverse=True)
    assert not lossy[-1]


def test_a_reset_leaves_a_gap_where_the_wire_can_be_joined_again(generator: TrexGenerator) -> None:
    plan = ResetPlan(size=64, directions=directions_of(generator), load_fps=RATE, kind=ResetKind.PROCESS, patience_s=30)
    if generator._setup.settings.forwarder.memif_clients:
        result = generator.reset(plan)
        assert result.valid, result.reasons
        # A forwarder needs some time to set itself up.
        assert 0.01 < result.gap_s < 30
    else:
        with pytest.raises(NotCapable, match="does not connect again"):
            generator.reset(plan)


def test_the_ports_are_somebodys(generator: TrexGenerator, tmp_path: Path) -> None:
    settings = Trex(kind="trex", user="another")
    with TrexBridge(trex_home(settings), None, tmp_path) as bridge:
        bridge.ask("load")
        bridge.ask("connect", user="another", server="127.0.0.1", sync_port=4501, async_port=4500)
        with pytest.raises(TrexError, match=r"port 0 to 'testbed', port 1 to 'testbed'.*force: true"):
            bridge.ask("acquire", ports=[0, 1], force=False)
        with pytest.raises(TrexError, match="no port 7"):
            bridge.ask("acquire", ports=[0, 7], force=False)


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    setup = {"home": trex_home(Trex(kind="trex")), "logs": tmp_path, "joined": None, "device": "none"}
    settings = Trex(kind="trex", sync_port=45011, async_port=45010)
    with pytest.raises(GeneratorError, match=r"start it with ./t-rex-64 -i"):
        TrexGenerator(TrexSetup(settings=settings, sizes=(64,), flows=(1,), directions=1, pauses=Pauses(), **setup))


@pytest.mark.parametrize(
    "words",
    [
        "-m 1kpps -d 2 -p 0 -t size=64,flows=1000,vary=article,latency_pps=10",
        "-d 2 -p 0 -t mix=64x7+594x4+1518,pps=1e3",
    ],
)
def test_the_profile_runs_in_trex_console(generator: TrexGenerator, tmp_path: Path, words: str) -> None:
    """As docs/trex.md tells it, in the real console on the real server."""
    profile = trex_folder() / "l2fwd.py"
    batch = tmp_path / "batch"
    batch.write_text(f"start -f {profile} -d 2 -p 0 {words}\nstats\n")
    home = trex_home(Trex(kind="trex"))
    argv = [str(home / "trex-console"), "-u", "testbed", "-f", "--batch", str(batch)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=home, timeout=120)
    told = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    assert done.returncode == 0, told + done.stderr
    assert re.search(r"Starting traffic on port\(s\).*SUCCESS", told), told
    # The ports are the testbed's again. The forwarder has counted what the console sent: the next trial is out of step.
    generator._bridge.ask("acquire", ports=[0, 1], force=True)
    plan = TrialPlan(size=64, directions=directions_of(generator), load_fps=RATE, duration_s=1)
    generator.run(plan)
    assert generator.run(plan).valid


def test_the_profile_also_loads_in_trexs_own_tools(tmp_path: Path) -> None:
    """trex-console loads it by the same function."""
    code = (
        "import json, sys; sys.path.insert(0, sys.argv[1])\n"
        "from trex.stl.api import STLProfile\n"
        "words = ['--size', '128', '--flows', '256', '--latency_pps', '10']\n"
        "streams = STLProfile.load(sys.argv[2], direction=1, port_id=1, tunables=words).get_streams()\n"
        "print(json.dumps([[len(stream.pkt), stream.get_pg_id()] for stream in streams]))\n"
    )
    home = trex_home(Trex(kind="trex"))
    client = home / "automation" / "trex_control_plane" / "interactive"
    argv = [sys.executable, "-c", code, str(client), str(trex_folder() / "l2fwd.py")]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert json.loads(done.stdout.splitlines()[-1]) == [[124, 11], [124, 75]]
