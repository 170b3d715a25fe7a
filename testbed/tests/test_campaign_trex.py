# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""TRex as a generator, on a stand-in: what it can do, and every error that a real server cannot be brought to."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import stand_in
from trex_setup import PLAN, Make, maker

from testbed.campaign.devices.l2fwd import L2fwd
from testbed.campaign.devices.program_host import LocalHost
from testbed.campaign.traffic_generator import Generator, GeneratorError, NotCapable
from testbed.campaign.trex import account as trex_account
from testbed.campaign.trex.device import JoinedDevice
from testbed.campaign.trex.settings import Trex, TrexForwarder, TrexLaunch
from testbed.campaign.trex.setup import check_trex, trex_home
from testbed.campaign.trial import Place, ResetKind, ResetPlan, StepPlan, TrialPlan
from testbed.run.programs import ProgramMissing, find_program


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    return maker(tmp_path, monkeypatch)


def test_it_says_what_it_can_do(make: Make, tmp_path: Path) -> None:
    generator = make()
    assert isinstance(generator, Generator)
    found = generator.capabilities()
    assert (found.generator, found.version) == ("trex", "v3.08 (client API 5.1)")
    assert (found.latency, found.burst, found.step, found.resets, found.proves_frames) == (True, True, True, [], False)
    assert "is not started by the testbed" in found.lacks["process"]
    # A virtual device's speed of 10 Gbit/s is an invention; what it keeps was found from above, and asked for is less.
    assert found.line_rate_bps is None
    assert 0.7e5 < found.max_fps(64) < 0.97e5
    assert found.generator_side is not None
    assert [port.driver for port in found.generator_side.ports] == ["net_memif", "net_memif"]
    assert found.device_side is None
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


@pytest.mark.parametrize("wish", ["late_s", "begins_s"])
@pytest.mark.parametrize(("seconds", "verified"), [(1, True), (0.5, False)])
def test_a_load_that_is_not_known_does_not_count(make: Make, wish: str, seconds: float, verified: bool) -> None:
    """A server that is 15 ms late sends 1.5 % slower for 1 s, and 3 % for 0.5 s; how it was late nobody knows."""
    generator = make(**{wish: 0.015})
    result = generator.run(PLAN.model_copy(update={"duration_s": seconds}))
    assert result.pacing.load_uncertainty == pytest.approx(0.015 / seconds, abs=0.002 / seconds)
    assert result.valid is verified, result.reasons
    told = (
        "TRex's load is not verified: it may have sent for 0.515 s instead of 0.5 s, by its client's clock: use trials"
    )
    assert verified or any(reason.startswith(told) for reason in result.reasons), result.reasons
    generator.close()


def test_a_trial_of_a_second_that_takes_a_tenth_more_does_not_count(make: Make) -> None:
    generator = make(late_s=0.09)
    assert not generator.run(PLAN.model_copy(update={"duration_s": 1})).valid
    # Of 60 s it is 0.15 %.
    assert generator.run(PLAN.model_copy(update={"duration_s": 60})).valid
    # The time of a burst is not known at all, and its frames are.
    assert generator.run(TrialPlan(size=64, load_fps=1e6, duration_s=1e-4, kind="burst", burst_frames=100)).valid
    assert not generator.step(STEP).valid
    generator.close()


def test_memif_mixes_up_long_frames_that_change(make: Make) -> None:
    generator = make()
    with pytest.raises(NotCapable, match="flows only with frames of up to 132 bytes: over memif"):
        generator.run(PLAN.model_copy(update={"size": 133, "flows": 2}))
    with pytest.raises(NotCapable, match="latency only with frames"):
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
    with pytest.raises(GeneratorError, match=r"none of \d+ frames came back through the device: check the cables"):
        generator.capabilities()
    generator.close()


def test_what_it_cannot_do_it_says(make: Make) -> None:
    generator = make({"flow_stats": False})
    with pytest.raises(NotCapable, match="flow_stats is false: without a mark"):
        generator.step(STEP)
    with pytest.raises(NotCapable, match="the device is not started by the testbed"):
        generator.reset(ResetPlan(size=64, load_fps=1, kind=ResetKind.PORT, patience_s=1))
    generator.close()


STEP = StepPlan(size=64, loads_fps=(20_000, 10_000), durations_s=(0.1, 1.0))


def test_the_last_loss_is_in_the_last_slice_that_has_some(make: Make) -> None:
    # The overload's mark, and those of the third and the ninth slice of what comes after.
    generator = make(lost_of={"10": 70, "16": 5, "28": 1})
    result = generator.step(STEP)
    assert result.valid, result.reasons
    assert (result.sent, result.lost) == ([2000, 10_000], [70, 6])
    ends = [one["end_s"] for one in result.raw["slices"]]
    assert (ends[0], ends[-1]) == (pytest.approx(0.007, abs=0.001), 1.0)
    assert result.last_loss_s == ends[8]
    assert [one["lost"] for one in result.raw["slices"] if one["lost"]] == [5, 1]
    generator.close()


def test_nothing_lost_after_the_overload_is_no_time_at_all(make: Make) -> None:
    generator = make({"ports": [0, 1]}, {"directions": 2}, lost_of={"10": 70, "11": 1})
    result = generator.step(STEP.model_copy(update={"directions": 2}))
    assert (result.sent, result.lost, result.last_loss_s) == ([4000, 20_000], [71, 0], 0.0)
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
    with pytest.raises(GeneratorError, match="the folder of TRex is unknown"):
        trex_home(Trex(kind="trex"))
    with pytest.raises(ProgramMissing, match="the folder of TRex is unknown"):
        check_trex(Trex(kind="trex"))
    with pytest.raises(ProgramMissing, match=r"has no automation.*trex: give the folder that has t-rex-64"):
        check_trex(Trex(kind="trex", trex_home=tmp_path / "empty"))
    check_trex(Trex(kind="trex", trex_home=tmp_path / "trex"))
    monkeypatch.setenv("TREX_HOME", "/opt/trex")
    assert trex_home(Trex(kind="trex")) == Path("/opt/trex")


def rising(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vdevs: list[str], **wish: object) -> JoinedDevice:
    """A device that goes on receiving. However long the requests take on a busy machine, the rate counts as kept."""
    monkeypatch.setattr(trex_account, "_REQUEST_S", 600.0)
    folder = stand_in.install(tmp_path / "bin")
    monkeypatch.setenv("STAND_IN", json.dumps({"l2fwd-c": {"every": 0.02, "rises": 5} | wish}))
    kind = L2fwd(find_program("l2fwd-c", [folder]), (), LocalHost())
    return JoinedDevice(kind, TrexForwarder(lcore=0, vdevs=vdevs), False, 64, tmp_path)


RESET = ResetPlan(size=64, load_fps=1000, kind=ResetKind.PROCESS, patience_s=5)
NULLS = ["net_null0", "net_null1"]


def test_a_reset_is_timed_by_what_it_loses(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"forwarder": {"lcore": 0, "vdevs": NULLS}}
    generator = make(settings, {"joined": rising(tmp_path, monkeypatch, NULLS)}, lost=50)
    result = generator.reset(RESET)
    assert result.valid, result.reasons
    assert (result.lost, result.gap_s) == (50, 0.05)
    # It really was ended and started again, and the campaign goes on with it.
    assert (tmp_path / "device-2.command").exists()
    assert generator.run(PLAN).raw["forwarder"]["after"]["received"] > 0
    generator.close()


def test_a_reset_of_the_ports_leaves_the_process(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"forwarder": {"lcore": 0, "vdevs": NULLS}}
    generator = make(settings, {"joined": rising(tmp_path, monkeypatch, NULLS)}, driver="net_i40e", lost=20)
    result = generator.reset(RESET.model_copy(update={"kind": ResetKind.PORT, "patience_s": 60}))
    assert result.valid, result.reasons
    assert (result.lost, result.gap_s) == (20, 0.02)
    assert not (tmp_path / "device-2.command").exists()
    assert '"type": "reset"' in (tmp_path / "device.stdout").read_text()
    generator.close()


@pytest.mark.parametrize(
    ("wishes", "reason"),
    [
        ({"cut_off": True}, "no frame came back"),
        ({"reject": "stream rate is too high"}, "TRex refused to prepare: stream rate is too high"),
    ],
)
def test_a_reset_that_does_not_count(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wishes: dict, reason: str
) -> None:
    settings = {"forwarder": {"lcore": 0, "vdevs": NULLS}}
    generator = make(settings, {"joined": rising(tmp_path, monkeypatch, NULLS)}, **wishes)
    result = generator.reset(RESET)
    assert any(re.search(reason, found) for found in result.reasons), result.reasons
    generator.close()


@pytest.mark.parametrize(("role", "able"), [("server", False), ("client", True)])
def test_over_memif_the_client_can_be_reset(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: str, able: bool
) -> None:
    memif = f"role={role},socket-abstract=no,socket={tmp_path}/run/wire"
    vdevs = [f"net_memif{port},id={port},{memif}" for port in (0, 1)]
    device = rising(tmp_path, monkeypatch, vdevs)
    generator = make({"forwarder": {"lcore": 0, "vdevs": vdevs}}, {"joined": device})
    if able:
        assert generator.reset(RESET).valid
        with pytest.raises(NotCapable, match="over memif, stopping a port disconnects it"):
            generator.reset(RESET.model_copy(update={"kind": ResetKind.PORT}))
    else:
        with pytest.raises(NotCapable, match="does not connect again: make the device the client"):
            generator.reset(RESET)
    generator.close()


def test_the_socket_of_a_server_that_somebody_else_runs_stays(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    socket = tmp_path / "run" / "wire"
    socket.parent.mkdir()
    socket.touch()
    vdevs = [f"net_memif{port},id={port},role=client,socket-abstract=no,socket={socket}" for port in (0, 1)]
    generator = make({"forwarder": {"lcore": 0, "vdevs": vdevs}}, {"joined": rising(tmp_path, monkeypatch, vdevs)})
    generator.close()
    assert socket.exists()


def test_the_device_is_started_counted_and_ended(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = stand_in.install(tmp_path / "bin")
    wire = tmp_path / "run" / "wire"
    memif = f"role=server,socket-abstract=no,socket={wire},path={tmp_path}/x"
    vdevs = [f"net_memif{port},id={port},{memif}" for port in (0, 1)]
    joined = TrexForwarder(lcore=0, vdevs=vdevs, hugepages=False)
    kind = L2fwd(find_program("l2fwd-c", [folder]), ("--burst", "8"), LocalHost())
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
    joined = TrexForwarder(lcore=0, vdevs=["net_null0"] * 2)
    device = JoinedDevice(L2fwd(find_program("l2fwd-c", [folder]), (), LocalHost()), joined, False, 64, tmp_path)
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
    with pytest.raises(ValueError, match="home is TRex's folder on another host"):
        TrexLaunch(config=Path("x"), home=Path("/opt/trex"))
    with pytest.raises(ValueError, match=r"host\.lcore is for a device"):
        TrexLaunch(config=Path("x"), host={"name": "lab", "lcore": 3})


def test_where_the_server_listens() -> None:
    there = {"config": "x", "host": {"name": "lab"}}
    assert Trex(kind="trex").address == "127.0.0.1"
    assert Trex(kind="trex", launch=there).address == "lab"
    assert Trex(kind="trex", launch=there, server="10.0.0.2").address == "10.0.0.2"


def test_a_nics_queue_that_drops_is_no_rate_that_is_kept(make: Make) -> None:
    settings = {"line_rate_bps": 20e6}
    generator = make(settings, virtual=False, queue_drop=1)
    with pytest.raises(GeneratorError, match="TRex kept no rate in 8 tries with 64 bytes"):
        generator.capabilities()
    generator.close()
    # On a virtual wire it is the device that does not empty its queue.
    generator = make(settings, queue_drop=1)
    assert generator.capabilities().max_fps(64) == pytest.approx(20e6 / 672)
    generator.close()
