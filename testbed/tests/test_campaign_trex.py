# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""TRex as a generator, on a stand-in: what it can do, and every error that a real server cannot be brought to."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
import stand_in
import trex_stand_in

from testbed.campaign.backend import Generator, GeneratorError, NotCapable, Pauses
from testbed.campaign.devices.ground import Here
from testbed.campaign.devices.l2fwd import L2fwd
from testbed.campaign.trex import TrexGenerator, TrexSetup, trex_home
from testbed.campaign.trex_device import JoinedDevice
from testbed.campaign.trex_settings import Trex, TrexForwarder, TrexLaunch
from testbed.campaign.trial import Place, ResetKind, ResetPlan, StepPlan, TrialPlan
from testbed.programs import find_program

PLAN = TrialPlan(size=64, load_fps=1000, duration_s=0.2)
Make = Callable[..., TrexGenerator]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes a generator on a stand-in that behaves as asked; what is left of it is ended afterwards."""
    home = trex_stand_in.install(tmp_path / "trex")

    def build(settings: dict | None = None, setup: dict | None = None, **wishes: object) -> TrexGenerator:
        monkeypatch.setenv("TREX_STAND_IN", json.dumps({"runs": True, "rate": 1e5} | wishes))
        words = {"kind": "trex", "warm_up_s": 0.2} | (settings or {})
        logs = tmp_path / "logs"
        logs.mkdir(exist_ok=True)
        fields = {
            "device": "l2fwd-c",
            "settings": Trex(**words),
            "home": home,
            "joined": None,
            "sizes": (64,),
            "flows": (1,),
            "directions": 1,
            "pauses": Pauses(before_s=0, residual_s=0, settle_s=0),
            "logs": logs,
        }
        return TrexGenerator(TrexSetup(**fields | (setup or {})))

    return build


def test_it_says_what_it_can_do(make: Make, tmp_path: Path) -> None:
    generator = make()
    assert isinstance(generator, Generator)
    found = generator.capabilities()
    assert (found.generator, found.version) == ("trex", "v3.08 (client API 5.1)")
    assert (found.latency, found.burst, found.step, found.resets, found.proves_frames) == (True, True, False, [], False)
    # A virtual device's speed of 10 Gbit/s is an invention; what it keeps was found from above, and asked for is less.
    assert found.line_rate_bps is None
    assert 0.7e5 < found.max_fps(64) < 0.97e5
    ports = json.loads((tmp_path / "logs" / "trex.json").read_text())["ports"]
    assert [port["driver"] for port in ports] == ["net_memif", "net_memif"]
    generator.close()
    generator.close()
    assert (tmp_path / "trex" / "disconnected").exists()


def test_a_link_that_is_kept_is_the_limit(make: Make) -> None:
    generator = make({"line_rate_bps": 20e6})
    assert generator.capabilities().max_fps(64) == pytest.approx(20e6 / 672)
    generator.close()


def test_a_trial_of_each_kind(make: Make) -> None:
    generator = make(lost=3)
    result = generator.run(PLAN)
    assert result.valid, result.reasons
    assert (result.sent, result.received, result.lost_at) == (200, 197, {Place.DEVICE: 3})
    assert (result.offered_fps, result.duration_s, result.latency) == (1000, 0.2, None)
    burst = generator.run(TrialPlan(size=64, load_fps=1e6, duration_s=1e-4, kind="burst", burst_frames=100))
    assert (burst.sent, burst.lost) == (100, 3)
    stamped = generator.run(PLAN.model_copy(update={"latency": True}))
    assert stamped.valid, stamped.reasons
    # Half of so low a load.
    assert stamped.sent == 200
    assert stamped.latency is not None
    assert (stamped.latency.count, stamped.latency.avg, stamped.latency.p99) == (100, 20_500, None)
    generator.close()


def test_both_directions(make: Make) -> None:
    generator = make(setup={"directions": 2})
    assert generator.run(PLAN.model_copy(update={"directions": 2})).sent == 400
    generator.close()


@pytest.mark.parametrize(
    ("wishes", "reason"),
    [
        ({"rate": 900}, "wrong number of frames: 180 were sent instead of 200"),
        ({"queue_full": 7}, "times the generator's queue was full: 7"),
        ({"foreign": 2}, "frames came back that were not sent: 2"),
        ({"lost": -2}, "surplus frames: 202 came back of 200"),
        ({"reject": "stream rate is too high"}, "TRex refused to prepare: stream rate is too high"),
    ],
)
def test_a_trial_that_does_not_count(make: Make, wishes: dict, reason: str) -> None:
    generator = make(**wishes)
    result = generator.run(PLAN)
    assert not result.valid
    assert any(reason in found for found in result.reasons), result.reasons
    generator.close()


def test_memif_mixes_up_long_frames_that_change(make: Make) -> None:
    generator = make()
    with pytest.raises(NotCapable, match="over memif TRex has flows only with frames of up to 132 bytes"):
        generator.run(PLAN.model_copy(update={"size": 133, "flows": 2}))
    with pytest.raises(NotCapable, match="over memif TRex has latency only"):
        generator.run(PLAN.model_copy(update={"size": 1518, "latency": True}))
    assert generator.run(PLAN.model_copy(update={"size": 1518})).valid
    assert generator.run(PLAN.model_copy(update={"size": 132, "flows": 2})).valid
    generator.close()


def test_a_link_that_is_down(make: Make) -> None:
    with pytest.raises(GeneratorError, match=r"link of port 1 is down: look at the cable"):
        make(down=[1])


def test_latency_that_does_not_come_back_is_no_capability(make: Make) -> None:
    generator = make(no_latency=True)
    assert not generator.capabilities().latency
    result = generator.run(PLAN.model_copy(update={"latency": True}))
    assert "none of the frames that measure latency came back" in result.reasons
    generator.close()


def test_a_device_that_forwards_nothing_ends_the_campaign(make: Make) -> None:
    generator = make(cut_off=True)
    with pytest.raises(GeneratorError, match=r"none of \d+ frames came back through the device: look at the cables"):
        generator.capabilities()
    generator.close()


def test_what_it_cannot_do_it_says(make: Make) -> None:
    generator = make()
    with pytest.raises(NotCapable, match="when the last one was lost"):
        generator.step(StepPlan(size=64, loads_fps=(2, 1), durations_s=(1, 1)))
    with pytest.raises(NotCapable, match="port"):
        generator.reset(ResetPlan(size=64, load_fps=1, kind=ResetKind.PORT, patience_s=1))
    generator.close()


@pytest.mark.parametrize(
    ("settings", "wishes", "message"),
    [
        ({}, {"runs": False}, r"server response.*start it with ./t-rex-64 -i"),
        ({}, {"mode": "ASTF"}, r"mode ASTF: start it with -i and without --astf"),
        ({}, {"api": "Version mismatch: server 5.2"}, r"does not suit TRex server v3.08: Version mismatch.*trex_home"),
        ({}, {"owner": "ann"}, r"ports are taken: port 0 to 'ann', port 1 to 'ann': wait.*force: true"),
        ({"ports": [0, 4]}, {}, r"no port 4: look at ports in the scenario"),
        ({"python": "/no/python"}, {}, r"cannot execute '/no/python'"),
    ],
)
def test_an_error_says_what_to_do(make: Make, settings: dict, wishes: dict, message: str) -> None:
    with pytest.raises(GeneratorError, match=message):
        make(settings, **wishes)


def test_ports_of_others_can_be_taken(make: Make) -> None:
    make({"force": True}, owner="ann").close()


def test_no_tree_and_no_client_in_it(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GeneratorError, match=r"is no folder: name the folder of TRex in trex_home"):
        make(setup={"home": tmp_path / "nowhere"})
    (tmp_path / "empty").mkdir()
    with pytest.raises(GeneratorError, match=r"has no automation.*api.py: give the folder that has t-rex-64"):
        make(setup={"home": tmp_path / "empty"})
    broken = tmp_path / "trex" / "automation/trex_control_plane/interactive/trex/stl/api.py"
    broken.write_text("import imp_that_is_gone\n")
    with pytest.raises(GeneratorError, match=r"by Python 3\.\d+\.\d+: ModuleNotFoundError: .*python in the scenario"):
        make()
    monkeypatch.delenv("TREX_HOME", raising=False)
    with pytest.raises(GeneratorError, match="where is TRex"):
        trex_home(Trex(kind="trex"))
    monkeypatch.setenv("TREX_HOME", "/opt/trex")
    assert trex_home(Trex(kind="trex")) == Path("/opt/trex")


LAUNCH = {"launch": {"config": "memif.cfg.yaml", "options": ["--queue-drop"]}}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_server_is_started_and_ended(make: Make, tmp_path: Path) -> None:
    generator = make(LAUNCH | {"sync_port": free_port()}, runs=False)
    assert generator.run(PLAN).valid
    generator.close()
    assert not (tmp_path / "trex" / trex_stand_in.READY).exists()
    told = (tmp_path / "logs" / "trex-server.stdout").read_text()
    assert "-i --cfg" in told
    assert "memif.cfg.yaml -c 1 --no-scapy-server --iom 0 --queue-drop" in told


def test_a_server_that_dies_in_a_trial_ends_the_campaign(make: Make) -> None:
    generator = make(LAUNCH | {"sync_port": free_port()}, runs=False, dies=True)
    with pytest.raises(GeneratorError, match=r"server is gone|ended in the middle of the campaign"):
        generator.run(PLAN)
    generator.close()


def test_a_server_that_does_not_start_is_quoted(make: Make) -> None:
    with pytest.raises(GeneratorError, match=r"trex-server: ended(?s:.*)Could not find NUMA node 3"):
        make(LAUNCH | {"sync_port": free_port()}, runs=False, refuse="ERROR: Could not find NUMA node 3")


def test_no_second_server(make: Make) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(GeneratorError, match=r"listens on TCP port \d+ already.*leave launch out"):
            make(LAUNCH | {"sync_port": other.getsockname()[1]})


@pytest.mark.parametrize(
    ("launch", "home", "message"),
    [
        ({"config": "none.yaml"}, None, r"no TRex configuration 'none.yaml'.*25g.cfg.yaml.*memif.cfg.yaml"),
        ({"config": "memif.cfg.yaml"}, "bare", r"no program 't-rex-64' in '.*bare'"),
    ],
)
def test_what_is_started_is_there(make: Make, tmp_path: Path, launch: dict, home: str | None, message: str) -> None:
    setup = {"home": trex_stand_in.install(tmp_path / home)} if home else {}
    if home:
        (tmp_path / home / "t-rex-64").unlink()
    with pytest.raises(GeneratorError, match=message):
        make({"launch": launch, "sync_port": free_port()}, setup)


def test_the_device_is_started_counted_and_ended(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = stand_in.install(tmp_path / "bin")
    wire = tmp_path / "run" / "wire"
    memif = f"role=server,socket-abstract=no,socket={wire},path={tmp_path}/x"
    vdevs = [f"net_memif{port},id={port},{memif}" for port in (0, 1)]
    joined = TrexForwarder(lcore=0, vdevs=vdevs, hugepages=False)
    kind = L2fwd(find_program("l2fwd-c", [folder]), ("--burst", "8"), Here())
    device = JoinedDevice(kind, joined, False, 2000, tmp_path)
    monkeypatch.setenv("STAND_IN", json.dumps({"l2fwd-c": {"every": 0.02}}))
    generator = make(setup={"joined": device})
    # Its counters stand still, so that no frame came to it: all are lost on the wire, and come back from nowhere.
    result = generator.run(PLAN)
    assert result.lost_at == {Place.WIRE: 200, Place.RECEIVER: -200}
    assert not result.valid
    generator.close()
    assert not wire.parent.exists()
    told = (tmp_path / "device.command").read_text()
    assert "-p 0x3 -q 2 '--portmap=(0,1)' --mtu 1982 --burst 8" in told


def test_a_device_that_dies_ends_the_campaign(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = stand_in.install(tmp_path / "bin")
    joined = TrexForwarder(lcore=0, vdevs=["net_null0,path=/none"] * 2)
    device = JoinedDevice(L2fwd(find_program("l2fwd-c", [folder]), (), Here()), joined, False, 64, tmp_path)
    monkeypatch.setenv("STAND_IN", json.dumps({"l2fwd-c": {"die": "no such device"}}))
    with pytest.raises(GeneratorError, match="no such device"):
        make(setup={"joined": device})


def test_settings_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="ports has 1 twice"):
        Trex(kind="trex", ports=[1, 1])
    with pytest.raises(ValueError, match="give nics"):
        TrexForwarder(lcore=1)
    with pytest.raises(ValueError, match="the forwarder has 1 ports, but the generator 2"):
        Trex(kind="trex", forwarder=TrexForwarder(lcore=1, nics=["0000:18:00.0"]))
    assert TrexLaunch(config=Path("x")).cores == 1
