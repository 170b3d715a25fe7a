# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Devices in a virtual machine: what a scenario may say, what the device is told, and how the machine's end is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import stand_in
from typer.testing import CliRunner

from testbed.campaign.devices.l2fwd import L2fwd
from testbed.campaign.devices.program_host import LocalHost
from testbed.campaign.embedded.generator import EmbeddedGenerator
from testbed.campaign.embedded.setup import EmbeddedSetup
from testbed.campaign.guest import generator as guest_generator
from testbed.campaign.guest import machine
from testbed.campaign.guest.generator import GuestGenerator
from testbed.campaign.guest.machine import RunningGuest, guest_for
from testbed.campaign.guest.tap import Tap, TapError
from testbed.campaign.guest.wire import GuestWire
from testbed.campaign.real_equipment import Programs, generator_cpu, real_equipment
from testbed.campaign.remote.settings import Host
from testbed.campaign.scenario_error import ScenarioError
from testbed.campaign.scenario_file import find_scenario, parse_scenario, read_scenario
from testbed.campaign.traffic_generator import GeneratorError, Pauses
from testbed.campaign.trial import Place, TrialPlan
from testbed.cli import app
from testbed.run.lcores import LcorePlan
from testbed.run.process import ProcessError
from testbed.run.programs import Program, find_program
from testbed.vm.guest import VmMissing
from testbed.wire.virtual_wire import VirtualWire

SCENARIO = read_scenario(find_scenario(Path("vm-e1000e")))
HOST = Host(name="127.0.0.1", port=4022, user="root", lcore=1)


class DeadGuest:
    """A guest whose kernel has panicked."""

    console = Path("/nonexistent")

    def trouble(self) -> str:
        return "ended with status 0; its console: ['Kernel panic']"


class LivingGuest(DeadGuest):
    def trouble(self) -> str | None:  # type: ignore[override]
        return None


def running(guest: Any) -> RunningGuest:
    return RunningGuest(guest, ["testbed0", "testbed1"], ["0000:01:00.0", "0000:02:00.0"], HOST)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("nic: e1000e", "nic: ne2000", r":14: generator.embedded.guest.nic: .*'vmxnet3' or 'virtio', not 'ne2000'"),
        ("nic: e1000e", "memory_mb: 512", r":14: generator.embedded.guest.memory_mb: .*greater than or equal to 896"),
        ("1518]", "1519]", r":19: frames.sizes.2: the embedded .* with a virtual machine has 1518 at most, not 1519"),
        ("kind: embedded", "kind: embedded\n  lcore: 0\n  forwarder_lcore: 1", r"the forwarder has one of the guest's"),
        ("name: l2fwd-c", "name: l2fwd-c\n    host: {name: dut1}", r"'l2fwd-c': it has a host, but runs in the"),
        ("name: l2fwd-c", "name: x\n    program: testpmd", r"'x': the generator's guest has no such program"),
        ("name: l2fwd-c", "name: x\n    command: [forward]", r"'x': the generator's guest has no such program"),
        ("name: l2fwd-c", "name: x", r"device 'x': it needs a program"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_with_its_line(old: str, new: str, fault: str) -> None:
    text = find_scenario(Path("vm-e1000e")).read_text()
    assert old in text
    with pytest.raises(ScenarioError, match=fault):
        parse_scenario(text.replace(old, new), "vm.yaml")


def test_the_generator_may_be_given_a_cpu_alone() -> None:
    settings = SCENARIO.generator.model_dump() | {"lcore": 7}
    assert generator_cpu(SCENARIO.changed(generator=settings)) == 7


def test_devices_are_in_the_guest_and_the_scenario_stays_as_it_was() -> None:
    located = running(LivingGuest()).located(SCENARIO)
    assert {device.host for device in located.devices} == {HOST}
    assert {device.host for device in SCENARIO.devices} == {None}


def test_device_has_the_nics_and_the_generator_their_other_ends() -> None:
    one, two = (running(LivingGuest()).wire(ports) for ports in (1, 2))
    assert (one.nics, two.nics) == (("0000:01:00.0",), ("0000:01:00.0", "0000:02:00.0"))
    assert two.forwarder_vdevs == ()
    assert [vdev.split(",")[:2] for vdev in two.generator_vdevs] == [
        ["net_af_packet0", "iface=testbed0"],
        ["net_af_packet1", "iface=testbed1"],
    ]


@pytest.mark.parametrize(
    ("guest", "told"),
    [
        (DeadGuest(), "lost; the virtual machine ended with status 0; its console: ['Kernel panic']"),
        (LivingGuest(), "lost"),
    ],
)
def test_error_of_a_trial_tells_the_end_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, guest: Any, told: str
) -> None:
    class Broken:
        def __init__(self, setup: Any) -> None:
            pass

        def capabilities(self) -> None:
            raise ProcessError("lost")

        def close(self) -> None:
            pass

    class Setup:
        raw = tmp_path

    monkeypatch.setattr(guest_generator, "EmbeddedGenerator", Broken)
    generator = GuestGenerator(Setup(), running(guest))  # type: ignore[arg-type]
    with pytest.raises(GeneratorError) as error:
        generator.capabilities()
    assert str(error.value) == told
    generator.close()


def test_no_guest_is_booted_for_other_scenarios() -> None:
    other = read_scenario(find_scenario(Path("virtual-wire")))
    with guest_for(other, [], lambda: 0, pytest.fail) as guest:
        assert guest is None


def test_many_testbeds_have_no_guest(tmp_path: Path) -> None:
    programs = Programs({}, Program("generator", "Rust", tmp_path))
    with pytest.raises(GeneratorError, match="but not for many testbeds"):
        real_equipment(programs).start(SCENARIO, "l2fwd-rs", 1, tmp_path)


def test_without_root_it_says_so_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "need_tools", lambda: None)
    monkeypatch.setattr(machine, "find_kernel", lambda: None)
    monkeypatch.setattr(machine.os, "geteuid", lambda: 1000)
    with pytest.raises(VmMissing, match="TAP interface, which takes root: run it as root"):
        guest_for(SCENARIO, [], lambda: 0, pytest.fail).__enter__()


def test_without_qemu_the_command_ends_and_leaves_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def nothing() -> None:
        raise VmMissing("'qemu-system-x86_64' is not installed: install the package qemu-system-x86")

    monkeypatch.setattr(machine, "need_tools", nothing)
    for name in ("l2fwd-c", "l2fwd-rs", "generator"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    words = ["rfc2544", "--scenario", "vm-e1000e", "--bin-dir", str(tmp_path), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, "testbed: 'qemu-system-x86_64' is not installed: install the" in done.output) == (1, True)
    assert not (tmp_path / "out").exists()


def test_without_the_module_tun_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("testbed.campaign.guest.tap._TUN", tmp_path / "tun")
    with pytest.raises(
        TapError, match=r"cannot open .*tun: No such file or directory: run it as root, on a kernel with"
    ):
        Tap.open()


@pytest.mark.usefixtures("need_root")
def test_interface_says_nothing_and_goes_with_its_last_file() -> None:
    tap = Tap.open()
    place = Path("/sys/class/net", tap.name)
    try:
        ipv6 = Path("/proc/sys/net/ipv6/conf", tap.name, "disable_ipv6")
        assert not ipv6.exists() or ipv6.read_text().strip() == "1"
        # linux/if.h: up, without ARP and multicast.
        assert int((place / "flags").read_text(), 16) & 0x1081 == 0x0081
    finally:
        tap.close()
        tap.close()
    assert not place.exists()


def test_nics_addresses_are_those_that_the_generator_sends_to() -> None:
    assert [GuestWire.forwarder_mac(port) for port in range(2)] == ["02:00:00:00:01:00", "02:00:00:00:01:01"]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


class StandInWire(GuestWire):
    """Where stand-ins meet, which have no packet sockets."""

    def __init__(self, inner: VirtualWire) -> None:
        super().__init__(["testbed0"], ["0000:01:00.0"])
        self.forwarder_vdevs = inner.forwarder_vdevs
        self.inner = inner

    @property
    def generator_vdevs(self) -> tuple[str, ...]:
        return self.inner.generator_vdevs


def test_generator_asks_for_no_more_than_told_and_what_the_interface_refuses_is_lost_on_the_wire(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stack: ExitStack
) -> None:
    folder = stand_in.install(tmp_path / "bin")
    monkeypatch.setenv("STAND_IN", json.dumps({"l2fwd-c": {"every": 0.02}}))
    forwarder, program = (find_program(name, [folder]) for name in ("l2fwd-c", "generator"))
    wire = stack.enter_context(VirtualWire(1))
    setup = EmbeddedSetup(
        device="l2fwd-c",
        kind=L2fwd(forwarder, (), LocalHost()),
        generator=program,
        sizes=(64,),
        directions=1,
        lcores=LcorePlan(0, 0),
        hugepages=False,
        pauses=Pauses(before_s=0, residual_s=0, settle_s=0),
        raw=tmp_path / "raw",
        wire=StandInWire(wire),
        most_fps=1000.0,
        bursts=False,
    )
    generator = EmbeddedGenerator(setup)
    assert generator.capabilities().max_fps(64) == pytest.approx(1000.0)
    lost = generator.run(TrialPlan(size=64, load_fps=1000, duration_s=1)).lost_at
    assert (lost.get(Place.IMISSED), lost[Place.WIRE] >= 12345) == (None, True), lost
    generator.close()
    (command,) = (tmp_path / "raw").glob("*/forwarder-1.command")
    assert "--allow=0000:01:00.0" in command.read_text()
