# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Devices under test beside the twins: testpmd, and any program that is given as a command line."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from testbed.campaign.devices.command import CommandError, check_command, expand, status_number
from testbed.campaign.devices.device import Counts, DeviceKind, Joint, Macs, wait_for_load
from testbed.campaign.devices.kinds import device_kind, find_device_program
from testbed.campaign.devices.program_host import LocalHost
from testbed.campaign.devices.settings import Device
from testbed.campaign.devices.testpmd import PROGRAM, Testpmd, parse_counts
from testbed.campaign.embedded.generator import EmbeddedGenerator
from testbed.campaign.embedded.setup import EmbeddedSetup
from testbed.campaign.scenario import Scenario
from testbed.campaign.scenario_error import ScenarioError
from testbed.campaign.scenario_file import parse_scenario
from testbed.campaign.timeplan import capabilities
from testbed.campaign.traffic_generator import GeneratorError, NotCapable, Pauses
from testbed.campaign.trial import Place, ResetKind, ResetPlan, TrialPlan
from testbed.campaign.validity import judged
from testbed.run.lcores import plan_lcores
from testbed.run.process import ProcessError
from testbed.run.programs import Program, ProgramMissing

PATIENCE_S = 30.0
JOINT = Joint((3,), False, ("net_a0,x=1", "net_b0"), (), 2, 1518, Path("/nowhere"))
SCENARIO = "name: s\ngenerator: {kind: embedded}\ndevices:\n  - name: mine\n    "

SHOWN = """\
testpmd> show fwd stats all

  ---------------------- Forward statistics for port 0  ----------------------
  RX-packets: 12             RX-dropped: 1             RX-total: 13
  TX-packets: 9              TX-dropped: 3             TX-total: 12
  ----------------------------------------------------------------------------

  +++++++++++++++ Accumulated forward statistics for all ports+++++++++++++++
  RX-packets: 1200000000000  RX-dropped: 1             RX-total: 1200000000001
  TX-packets: 9              TX-dropped: 3             TX-total: 12
  ++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++
"""


def test_testpmd_shows_the_sums_of_its_ports() -> None:
    lines = SHOWN.splitlines()
    assert parse_counts(lines) == Counts(received=1_200_000_000_000, sent=9, dropped=3, missed=1, no_mbufs=0)
    # It reports neither short frames nor those that it still holds.
    assert parse_counts(lines).short is None
    assert parse_counts(lines[:-1]) is None
    assert parse_counts([]) is None
    with pytest.raises(ProcessError, match="shows no TX-dropped"):
        parse_counts([line.replace("TX-dropped", "TX-gone") for line in lines])


def test_testpmd_is_told_what_it_is_joined_to() -> None:
    argv = Testpmd("macswap", ("--rxq=1",), LocalHost()).argv(JOINT)
    assert argv[argv.index(PROGRAM) + 1 :][:1] == ["--lcores=0@3,1@3"]
    assert {"--forward-mode=macswap", "--portmask=0x3", "-i", "--rxq=1"} <= set(argv)
    assert "--vdev=net_b0" in argv
    assert not any(word.startswith("--mbuf-size") for word in argv)
    longer = Joint((3,), False, (), (), 1, 9000, Path())
    assert "--mbuf-size=9128" in Testpmd("io", (), LocalHost()).argv(longer)
    assert [Testpmd(mode, (), LocalHost()).macs for mode in ("mac", "macswap", "io")] == [
        Macs.L2FWD,
        Macs.SWAPPED,
        Macs.KEPT,
    ]


def test_placeholders_become_words() -> None:
    assert expand("{vdevs}", JOINT, False) == ["net_a0,x=1", "net_b0"]
    assert expand("{devices}", JOINT, False) == ["--vdev=net_a0,x=1", "--vdev=net_b0"]
    assert expand("--mask={portmask}", JOINT, False) == ["--mask=0x3"]
    assert expand("{{core}}", JOINT, False) == ["{core}"]
    eal = expand("{eal}", JOINT, True)
    assert eal[:2] == ["-l", "3"]
    assert "--in-memory" in eal
    assert "--vdev=net_b0" not in expand("{eal_alone}", JOINT, True)
    assert (status_number("SIGTERM"), status_number(3)) == (-15, 3)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["l2fwd", "{eel}"], r"cannot fill in '\{eel\}' .* the placeholders are \{eal\}, \{eal_alone\}"),
        (["l2fwd", "{"], "cannot fill in"),
        (["{core}"], "the program itself takes no placeholder"),
    ],
)
def test_a_command_that_cannot_be_filled_in_is_refused(words: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        check_command(words)


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("program: testpmd, mode: fast", "devices.0.mode: .*'mac', 'macswap' or 'io', not 'fast'"),
        ("program: l2fwd-c, mode: io", "devices.0: mode is for program: testpmd"),
        ("program: l2fwd-c, ready: up", "devices.0: ready is for a command"),
        ("program: testpmd, command: [a]", "devices.0: give a command, .* or a program"),
        ("command: [a, '{what}']", r"devices.0: cannot fill in '\{what\}'"),
        ("command: []", "devices.0.command: .*at least 1 item"),
        ("command: [a], ready: '('", "devices.0: ready .* is not a regular expression"),
        ("command: [a], exit_status: [SIGNONE]", "devices.0: 'SIGNONE' is not a signal"),
        ("command: [a], macs: mine", "devices.0.macs: .*not 'mine'"),
        ("options: [a]", "devices.0: device 'mine': it needs a program, of l2fwd-c, l2fwd-rs, testpmd, or a command"),
        ("program: l2fwd-c, host: {name: -oProxyCommand=x}", "devices.0.host.name: .*is not a host name"),
        ("program: l2fwd-c, host: {name: a, port: 0}", "devices.0.host.port: .*1"),
    ],
)
def test_errors_name_the_device_and_the_remedy(device: str, message: str) -> None:
    text = SCENARIO.replace("- name: mine\n    ", f"- {{name: mine, {device}}}\n")
    with pytest.raises(ScenarioError, match=message):
        parse_scenario(text, "s.yaml")


def a_device(**fields: object) -> Device:
    return Device.model_validate({"name": "mine", **fields})


def test_a_scenario_with_such_devices_survives_changes() -> None:
    text = SCENARIO + "command: [l2fwd, '{eal}']\n  - {name: t, program: testpmd, mode: io}\n"
    scenario = parse_scenario(text, "s.yaml")
    again = Scenario.model_validate_json(scenario.changed(preset="quick").model_dump_json())
    assert again.devices == scenario.devices
    # Nobody sees in its counters that it forwards again.
    assert capabilities(again, "mine").resets == []
    assert "reports no counters" in capabilities(again, "mine").lacks["port"]
    assert capabilities(again, "t").resets == [ResetKind.PROCESS]
    assert capabilities(again, "t").lacks["port"].startswith("testpmd is told nothing here that resets its ports")


@pytest.mark.parametrize("wire", ["virtual", "veth"])
def test_the_twins_ports_are_reset_where_the_wire_allows_it(wire: str) -> None:
    text = f"name: s\ngenerator: {{kind: embedded, wire: {wire}}}\ndevices: [{{name: l2fwd-rs}}]\n"
    able = capabilities(parse_scenario(text, "s.yaml"), "l2fwd-rs")
    assert (ResetKind.PORT in able.resets) == (wire == "virtual")
    assert ("af_packet closes its sockets" in able.lacks.get("port", "")) == (wire == "veth")
    assert ResetKind.PROCESS in able.resets


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(ProgramMissing, match="device 'mine': cannot execute 'no-such-forwarder'"):
        find_device_program(a_device(command=["no-such-forwarder"]), [])
    host = {"name": "lab1"}
    # On another host it is that host's.
    assert find_device_program(a_device(command=["no-such-forwarder"], host=host), []) is None
    assert find_device_program(a_device(program="testpmd", host=host), []) is None


def python_device(code: str, **fields: object) -> DeviceKind:
    device = a_device(command=[sys.executable, "-u", "-c", code.replace("{", "{{").replace("}", "}}")], **fields)
    return device_kind(device, find_device_program(device, []))


def joint(tmp_path: Path) -> Joint:
    return Joint((0,), False, (), (), 1, 64, tmp_path)


def test_a_command_is_ready_when_it_prints_its_line_and_its_end_is_checked(tmp_path: Path) -> None:
    kind = python_device("print('port 0 is up'); import time; time.sleep(600)", ready="port [0-9]+ is up")
    running = kind.begin(joint(tmp_path), "device")
    with running.process:
        assert not running.is_ready
        running.ready(PATIENCE_S)
        assert running.is_ready
        with pytest.raises(ProcessError, match=r"ended with signal SIGTERM instead of status 0 \(exit_status"):
            running.stop()
    assert (tmp_path / "device.stdout").read_text() == "port 0 is up\n"


def test_a_command_may_end_as_the_scenario_says(tmp_path: Path) -> None:
    kind = python_device("print('up'); import time; time.sleep(600)", ready="up", exit_status=[0, "SIGTERM"])
    running = kind.begin(joint(tmp_path), "device")
    with running.process:
        running.ready(PATIENCE_S)
        running.stop()
    with pytest.raises(ProcessError, match="ended by itself with signal SIGTERM"):
        running.stop()


def test_a_command_that_ends_before_its_line_is_an_error(tmp_path: Path) -> None:
    running = python_device("print('no port'); raise SystemExit(4)", ready="up").begin(joint(tmp_path), "device")
    with running.process, pytest.raises(ProcessError, match=r"status 4 before a line like 'up'(.|\n)*no port"):
        running.ready(PATIENCE_S)


def test_no_load_is_an_error_and_not_waited_for_without_end() -> None:
    class Idle:
        class process:  # noqa: N801 (stands for an attribute)
            @staticmethod
            def failure(what: str) -> str:
                return what

        is_ready = True

        def ready(self, timeout_s: float, peer: object = None) -> None:
            """It is."""

        def counts(self, timeout_s: float) -> Counts:
            return Counts(received=7)

        def stop(self) -> None:
            """Nothing runs."""

    with pytest.raises(ProcessError, match=r"it received no frame within 0\.3 s"):
        wait_for_load(Idle(), 0.3)


@pytest.fixture
def embedded(tmp_path: Path, generator_program: Program, hugepages: bool) -> Iterator[Callable[..., EmbeddedGenerator]]:
    """Joins the generator to a device."""
    joined: list[EmbeddedGenerator] = []

    def join(kind: DeviceKind, directions: int = 1, program: Program = generator_program) -> EmbeddedGenerator:
        setup = EmbeddedSetup(
            device="mine",
            kind=kind,
            generator=program,
            sizes=(64,),
            directions=directions,
            lcores=plan_lcores(),
            hugepages=hugepages,
            pauses=Pauses(before_s=0, residual_s=0.5, settle_s=0),
            raw=tmp_path / "raw",
        )
        joined.append(EmbeddedGenerator(setup))
        return joined[-1]

    yield join
    for generator in joined:
        generator.close()


PLAN = TrialPlan(size=64, load_fps=20_000, duration_s=0.3, latency=True)


def proven(result: object) -> None:
    """Every frame is accounted for; whether the machine kept the rate is its own business."""
    reasons = judged(result).reasons
    assert not any("disagree" in reason or "surplus" in reason for reason in reasons), reasons
    assert not any(value for value in result.raw["checks"].values())
    assert result.received > 0


@pytest.mark.e2e
@pytest.mark.parametrize("mode", ["mac", "macswap", "io"])
def test_real_testpmd_is_measured_again_and_again(
    embedded: Callable[..., EmbeddedGenerator], mode: str, tmp_path: Path
) -> None:
    if shutil.which(PROGRAM) is None:
        pytest.skip(f"'{PROGRAM}' is not installed")
    generator = embedded(Testpmd(mode, (), LocalHost()))
    for _ in range(2):
        result = generator.run(PLAN)
        proven(result)
        # Its addresses are checked in every mode.
        assert result.raw["checks"]["wrong_mac"] == 0
        assert result.raw["forwarder"]["after"]["received"] >= result.received
        assert Place.DEVICE not in result.lost_at
    generator.close()
    (log,) = (tmp_path / "raw").glob("mine-1/forwarder-1.stdout")
    assert "Bye..." in log.read_text()


@pytest.mark.e2e
def test_real_testpmd_forwards_both_ways(embedded: Callable[..., EmbeddedGenerator]) -> None:
    if shutil.which(PROGRAM) is None:
        pytest.skip(f"'{PROGRAM}' is not installed")
    proven(embedded(Testpmd("macswap", (), LocalHost()), 2).run(PLAN.model_copy(update={"directions": 2})))


@pytest.mark.e2e
def test_real_testpmd_is_reset(embedded: Callable[..., EmbeddedGenerator]) -> None:
    if shutil.which(PROGRAM) is None:
        pytest.skip(f"'{PROGRAM}' is not installed")
    generator = embedded(Testpmd("mac", (), LocalHost()))
    result = generator.reset(ResetPlan(size=64, load_fps=10_000, kind=ResetKind.PROCESS, patience_s=30))
    assert result.valid, result.reasons
    assert 0 < result.lost < result.sent


@pytest.mark.e2e
def test_a_real_command_is_measured_and_restarted_for_each_trial(
    embedded: Callable[..., EmbeddedGenerator], l2fwd_c: Program, tmp_path: Path
) -> None:
    words = [str(l2fwd_c.path), "{eal}", "--", "-p", "{portmask}", "-q", "{ports}", "-T", "0"]
    device = a_device(command=words, macs="l2fwd")
    generator = embedded(device_kind(device, find_device_program(device, [])))
    for _ in range(2):
        result = generator.run(PLAN)
        proven(result)
        assert "forwarder" not in result.raw
    with pytest.raises(NotCapable, match="reports no counters"):
        generator.reset(ResetPlan(size=64, load_fps=1, kind=ResetKind.PROCESS, patience_s=1))
    generator.close()
    commands = sorted((tmp_path / "raw").glob("mine-1/forwarder-*.command"))
    assert len(commands) == 2
    assert shlex.split(commands[0].read_text())[0] == os.fspath(l2fwd_c.path)


@pytest.mark.e2e
def test_a_real_command_that_dies_ends_the_campaign(embedded: Callable[..., EmbeddedGenerator]) -> None:
    generator = embedded(python_device("raise SystemExit('no port')", ready="up"))
    with pytest.raises(GeneratorError, match=r"mine: .*status 1 in the middle of the campaign(.|\n)*no port"):
        generator.run(PLAN)


@pytest.mark.e2e
def test_a_generator_that_dies_is_told_of_and_not_the_device_that_waits_for_it(
    embedded: Callable[..., EmbeddedGenerator], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # At once, however long the device would wait for it.
    monkeypatch.setattr("testbed.campaign.embedded.generator.START_TIMEOUT_S", 1e6)
    script = tmp_path / "generator"
    script.write_text("#!/bin/sh\necho no memory >&2\nexit 3\n")
    script.chmod(0o755)
    waiting = python_device("import time; time.sleep(600)", ready="up")
    generator = embedded(waiting, program=Program("generator", "sh", script))
    with pytest.raises(GeneratorError, match=r"trial-2: ended with status 3 while forwarder-1 waited(.|\n)*no memory"):
        generator.capabilities()
