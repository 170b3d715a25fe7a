# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A real TRex server over memif with both forwarders; needs root and TREX_HOME, the folder of a TRex that was built."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.campaign.backend import GeneratorError, Pauses
from testbed.campaign.devices.ground import Here
from testbed.campaign.devices.l2fwd import L2fwd
from testbed.campaign.scenario import find_scenario, read_scenario
from testbed.campaign.trex import TrexGenerator, TrexSetup, trex_home
from testbed.campaign.trex_bridge import TrexBridge, TrexError, trex_folder
from testbed.campaign.trex_device import JoinedDevice
from testbed.campaign.trex_settings import Trex
from testbed.campaign.trial import TrialPlan
from testbed.programs import Program

pytestmark = [
    pytest.mark.e2e,
    # Its server takes up to a minute to start.
    pytest.mark.timeout(600),
    pytest.mark.skipif(not os.environ.get("TREX_HOME"), reason="TREX_HOME does not name a TRex"),
    pytest.mark.skipif(os.geteuid() != 0, reason="TRex runs as root only"),
]
RATE = 20_000.0


@pytest.fixture(scope="module", params=["l2fwd_c", "l2fwd_rs"])
def generator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrexGenerator]:
    program: Program = request.getfixturevalue(request.param)
    scenario = read_scenario(find_scenario(Path("memif-trex")))
    settings = scenario.generator
    assert isinstance(settings, Trex)
    assert settings.forwarder is not None
    if settings.forwarder.lcore >= (os.cpu_count() or 1):
        pytest.skip("the scenario needs two CPUs")
    logs = tmp_path_factory.mktemp("trex")
    started = TrexGenerator(
        TrexSetup(
            device=program.name,
            settings=settings,
            home=trex_home(settings),
            joined=JoinedDevice(L2fwd(program, (), Here()), settings.forwarder, False, 1518, logs),
            sizes=(64, 1518),
            flows=(1,),
            directions=1,
            pauses=Pauses(before_s=0, residual_s=0.5, settle_s=0),
            logs=logs,
        )
    )
    try:
        yield started
    finally:
        started.close()


@pytest.mark.parametrize(("size", "flows"), [(64, 1), (64, 256), (132, 256), (1518, 1)])
def test_every_frame_comes_back(generator: TrexGenerator, size: int, flows: int) -> None:
    result = generator.run(TrialPlan(size=size, flows=flows, load_fps=RATE, duration_s=1))
    assert result.valid, result.reasons
    assert result.sent == pytest.approx(RATE, rel=0.005)
    assert (result.lost, result.lost_at) == (0, {})


def test_a_burst_has_its_length(generator: TrexGenerator) -> None:
    plan = TrialPlan(size=64, load_fps=RATE, duration_s=0.05, kind="burst", burst_frames=1000)
    result = generator.run(plan)
    assert result.valid, result.reasons
    assert (result.sent, result.lost) == (1000, 0)


def test_latency_is_measured(generator: TrexGenerator) -> None:
    result = generator.run(TrialPlan(size=64, load_fps=RATE, duration_s=2, latency=True))
    assert result.valid, result.reasons
    assert result.latency is not None
    assert result.latency.count == pytest.approx(2000, rel=0.02)
    assert result.latency.p50 is not None
    assert 0 < result.latency.p50 <= result.latency.p99_9


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
