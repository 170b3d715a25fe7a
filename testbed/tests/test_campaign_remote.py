# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Devices on another host, over a real SSH server on this machine: refused, started, cut off, left as found."""

from __future__ import annotations

import io
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel
from rich.console import Console
from ssh_server import PATIENCE_S, SshServer

from testbed.campaign.campaign import Campaign
from testbed.campaign.campaign_settings import CampaignSettings
from testbed.campaign.devices.device import Counts
from testbed.campaign.devices.kinds import device_kind
from testbed.campaign.devices.settings import Device
from testbed.campaign.embedded.generator import EmbeddedGenerator
from testbed.campaign.embedded.setup import EmbeddedSetup
from testbed.campaign.equipment import Equipment
from testbed.campaign.journal import JOURNAL, read_journal
from testbed.campaign.method import Method, Task
from testbed.campaign.real_equipment import Programs, real_equipment
from testbed.campaign.remote import host as remote_host
from testbed.campaign.remote.environment import parse_environment
from testbed.campaign.remote.host import RemoteHost, record_hosts
from testbed.campaign.remote.ssh import RemoteError, Ssh
from testbed.campaign.scenario import Measurement, Scenario
from testbed.campaign.traffic_generator import Pauses
from testbed.campaign.trial import TrialPlan
from testbed.campaign.validity import judged
from testbed.run.lcores import plan_lcores
from testbed.run.process import ProcessError
from testbed.run.programs import Program
from testbed.run.results_folder import Status

KEEPER = Path(remote_host.__file__).with_name("keeper.sh")


def until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {PATIENCE_S} s"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    with SshServer(tmp_path_factory.mktemp("ssh") / "server") as running:
        yield running


def script(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "program"
    path.write_text(f"#!/bin/sh\n{text}\n")
    return path


def pids_in(folder: str) -> list[str]:
    """The processes that work there."""
    found = []
    for cwd in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if str(cwd.readlink()) == folder:
                found.append(cwd.parent.name)
        except OSError:
            continue
    return found


def test_a_program_is_copied_run_and_nothing_is_left(server: SshServer, tmp_path: Path) -> None:
    with RemoteHost(server.host()) as host:
        copied = host.install(script(tmp_path, 'echo out $1; echo aside >&2; echo "{\\"type\\": \\"start\\"}"; exit 3'))
        assert copied.startswith(host.folder)
        assert host.install(tmp_path / "program") == copied
        process = host.process("it", [copied, "one two"], tmp_path)
        with process:
            assert process.wait_for_event("start", PATIENCE_S)
            assert process.wait(PATIENCE_S) == 3
            assert process.stop() == 3
        assert Path(host.folder).is_dir()
    assert (tmp_path / "it.stdout").read_text() == 'out one two\n{"type": "start"}\n'
    assert (tmp_path / "it.stderr").read_text() == "aside\n"
    assert not Path(host.folder).exists()


def test_one_that_runs_is_stopped_by_a_signal_or_reads_its_commands(server: SshServer, tmp_path: Path) -> None:
    with RemoteHost(server.host()) as host:
        with host.process("sleeper", ["sh", "-c", "echo up; exec sleep 600"], tmp_path) as sleeper:
            sleeper.wait_for_line("up", PATIENCE_S)
            assert sleeper.returncode is None
            with pytest.raises(ProcessError, match="still running after 0 s"):
                sleeper.wait(0)
            assert sleeper.stop() == -signal.SIGTERM
        with host.process("deaf", ["sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.1; done"], tmp_path) as deaf:
            deaf.wait_for_line("up", PATIENCE_S)
            with pytest.raises(ProcessError, match="did not end within 1 s of SIGTERM and was killed"):
                deaf.stop(1)
            assert deaf.returncode == -signal.SIGKILL
        with host.process("echo", ["sh", "-c", "read word; echo got $word"], tmp_path, interactive=True) as echo:
            echo.write("this\n")
            echo.wait_for_line("got this", PATIENCE_S)
            assert echo.wait(PATIENCE_S) == 0
        with (
            host.process("none", ["/nowhere/l2fwd"], tmp_path) as none,
            pytest.raises(ProcessError, match=r"status 127 before(.|\n)*nowhere"),
        ):
            none.wait_for_event("start", PATIENCE_S)


def test_what_still_runs_at_the_end_is_ended(server: SshServer, tmp_path: Path) -> None:
    with RemoteHost(server.host()) as host:
        process = host.process("it", ["sh", "-c", "echo up; exec sleep 600"], tmp_path).start()
        process.wait_for_line("up", PATIENCE_S)
        folder = host.folder
        assert pids_in(folder)
    assert not pids_in(folder)
    assert not Path(folder).exists()


@pytest.mark.parametrize("what", ["unknown host", "wrong key", "no key", "no known_hosts", "nobody"])
def test_a_host_that_cannot_be_used_says_what_to_do(server: SshServer, tmp_path: Path, what: str) -> None:
    empty = tmp_path / "known_hosts"
    empty.write_text("")
    other_key = server.folder / "other_key"
    if not other_key.exists():
        server.new_key("other")
    changes, message = {
        "unknown host": ({"known_hosts": empty}, rf"host key is not in {empty}.*ssh-keyscan -p {server.port} 127"),
        "wrong key": ({"key": other_key}, f"does not let the user in with {other_key}.*authorized_keys"),
        "no key": ({"key": tmp_path / "none"}, "cannot read '.*none': No such file.* correct key"),
        "no known_hosts": ({"known_hosts": tmp_path / "none"}, "cannot read '.*none': No such file.* known_hosts"),
        "nobody": ({"port": 1}, "cannot reach .*port 1 over SSH"),
    }[what]
    with pytest.raises(RemoteError, match=message), RemoteHost(server.host(**changes)):
        pass
    # Nothing was accepted in silence.
    assert empty.read_text() == ""


def test_a_cut_connection_is_noticed_and_the_host_left_as_it_was(server: SshServer, tmp_path: Path) -> None:
    with RemoteHost(server.host()) as host:
        process = host.process("it", ["sh", "-c", "echo up; exec sleep 600"], tmp_path).start()
        process.wait_for_line("up", PATIENCE_S)
        folder = host.folder
        server.cut()
        with pytest.raises(ProcessError, match=r"the SSH connection to .* is lost.*see that the host can be reached"):
            process.wait_for_line("never", PATIENCE_S)
        assert process.returncode is None
        assert "is lost" in process.trouble()
        with pytest.raises(RemoteError):
            host.install(script(tmp_path, ":"))
    until(lambda: not Path(folder).exists(), "the folder is removed")
    assert not pids_in(folder)


def test_a_copy_that_does_not_fit_is_an_error(server: SshServer, tmp_path: Path) -> None:
    with RemoteHost(server.host()) as host:
        folder, host.folder = host.folder, "/nowhere/at-all"
        with pytest.raises(RemoteError, match=r"cannot copy '.*program' there: .*nowhere.*has space"):
            host.install(script(tmp_path, ":"))
        host.folder = folder


def keeper(pool: Path, pages: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["sh", str(KEEPER), str(pages)],
        env={**os.environ, "TESTBED_POOL": str(pool)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_the_keeper_gives_back_the_hugepages_that_it_took(tmp_path: Path) -> None:
    (tmp_path / "nr_hugepages").write_text("5\n")
    (tmp_path / "free_hugepages").write_text("4\n")
    process = keeper(tmp_path, 3)
    assert process.stdout.readline().split()[2:] == ["4", "3"]
    # Somebody else takes two more meanwhile.
    assert (tmp_path / "nr_hugepages").read_text() == "8\n"
    (tmp_path / "nr_hugepages").write_text("10\n")
    process.stdin.close()
    assert process.stdout.read() == "left\n"
    assert process.wait() == 0
    assert (tmp_path / "nr_hugepages").read_text() == "7\n"
    process.stdout.close()


def test_the_keeper_takes_no_hugepages_unless_asked(tmp_path: Path) -> None:
    (tmp_path / "nr_hugepages").write_text("5\n")
    process = keeper(tmp_path, 0)
    folder = Path(process.stdout.readline().split()[1])
    assert folder.is_dir()
    # A signal does not end it: the folder would stay.
    process.send_signal(signal.SIGTERM)
    process.communicate("")
    assert not folder.exists()
    assert (tmp_path / "nr_hugepages").read_text() == "5\n"


def test_hugepages_that_cannot_be_had_are_an_error(tmp_path: Path) -> None:
    # A pool that takes no number, in place of the machine's: asking the kernel for more than it has takes all memory.
    pool = tmp_path / "pool"
    (pool / "nr_hugepages").mkdir(parents=True)
    with (
        SshServer(tmp_path / "sshd", {"TESTBED_POOL": str(pool)}) as server,
        pytest.raises(RemoteError, match=r"only 0 of 1048576 hugepages could be reserved"),
    ):
        RemoteHost(server.host(hugepages=1 << 20)).__enter__()


def test_the_environment_of_the_host_is_recorded(server: SshServer) -> None:
    scenario = Scenario.model_validate(
        {
            "name": "s",
            "generator": {"kind": "embedded"},
            "devices": [{"name": "l2fwd-c", "host": server.host().model_dump()}, {"name": "l2fwd-rs"}],
        }
    )
    hosts = record_hosts(scenario)
    assert list(hosts) == ["l2fwd-c"]
    found = hosts["l2fwd-c"]
    assert (found.host, found.kernel) == ("127.0.0.1", platform.release())
    assert found.logical == os.cpu_count()
    assert found.memory_mb == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    slots = {path.name for path in Path("/sys/bus/pci/devices").glob("*") if (path / "class").read_text()[:4] == "0x02"}
    assert {nic.slot for nic in found.nics} == slots


def test_an_environment_is_read_as_far_as_it_is_told() -> None:
    text = (
        "kernel\t6.1\ncommand_line\tquiet isolcpus=2-5 root=/dev/sda1\nsmt\t0\niommu_groups\t12\nnonsense\n"
        "hugepages\t2048kB\t512\t500\nnic\t0000:3b:00.0\t0x8086:0x158b\tvfio-pci\t\t\t8.0 GT/s PCIe\t8\t0"
        "\t8.0 GT/s PCIe\t8\t\t\t\t\nnic\tx\n"
    )
    found = parse_environment("lab", text)
    assert (found.kernel, found.smt, found.iommu, found.cpu) == ("6.1", "off", "on, 12 groups", "unknown")
    # What else the machine is booted with is its own business.
    assert found.boot_parameters == "isolcpus=2-5"
    assert [(pool.size, pool.total, pool.free) for pool in found.hugepages] == [("2048kB", 512, 500)]
    (nic,) = found.nics
    assert (nic.slot, nic.driver, nic.interface, nic.link_width) == ("0000:3b:00.0", "vfio-pci", "unknown", "8")


def test_a_scenario_with_a_host_that_is_not_there_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "name: s\ngenerator: {kind: embedded}\n"
        "devices: [{name: c, command: [/bin/true], host: {name: 127.0.0.1, port: 1}}]\n"
    )
    folder = tmp_path / "bin"
    folder.mkdir()
    generator = folder / "generator"
    generator.write_text("#!/bin/sh\n")
    generator.chmod(0o755)
    argv = [sys.executable, "-m", "testbed", "rfc2544", "--scenario", "s.yaml", "--out", "out", "--bin-dir", "bin"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(argv, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "testbed: cannot reach 127.0.0.1, port 1 over SSH" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


PLAN = TrialPlan(size=64, load_fps=20_000, duration_s=0.5)


@pytest.mark.e2e
def test_a_real_forwarder_there_is_measured_from_here(
    server: SshServer, tmp_path: Path, forwarder_program: Program, generator_program: Program
) -> None:
    kind = device_kind(Device(name=forwarder_program.name, host=server.host()), forwarder_program)
    generator = EmbeddedGenerator(
        EmbeddedSetup(
            device=forwarder_program.name,
            kind=kind,
            generator=generator_program,
            sizes=(64,),
            directions=1,
            lcores=plan_lcores(),
            hugepages=False,
            pauses=Pauses(before_s=0, residual_s=0.5, settle_s=0),
            raw=tmp_path / "raw",
        )
    )
    folder = kind.host.folder
    until(lambda: pids_in(folder), "it works in its folder")
    for _ in range(2):
        result = generator.run(PLAN)
        reasons = judged(result).reasons
        assert not any("disagree" in reason or "surplus" in reason for reason in reasons), reasons
        assert not any(result.raw["checks"].values())
        assert Counts.model_validate(result.raw["forwarder"]["after"]).received >= result.received > 0
    generator.close()
    assert not Path(folder).exists()
    (log,) = (tmp_path / "raw").glob("*/forwarder-1.stdout")
    assert '"type":"final"' in log.read_text().replace(" ", "")


class Counted(BaseModel):
    received: int


def campaign_equipment(programs: Programs, before_trial: Callable[[Task], None]) -> Equipment:
    """The real things, but each measurement is one trial, however well the machine keeps its rate."""

    def measure(task: Task) -> Counted:
        before_trial(task)
        result = task.generator.run(PLAN.model_copy(update={"size": task.point.size}))
        return Counted(received=result.received)

    real = real_equipment(programs)
    methods = {Measurement.THROUGHPUT: Method(measure, lambda found: str(found.received))}
    return Equipment(methods, real.start, real.environment, lambda scenario, point, test: 1.0)


@pytest.mark.e2e
def test_cut_off_in_a_trial_the_campaign_says_how_to_go_on_and_does(
    server: SshServer, tmp_path: Path, l2fwd_c: Program, generator_program: Program
) -> None:
    scenario = Scenario.model_validate(
        {
            "name": "s",
            "generator": {"kind": "embedded", "hugepages": False},
            "devices": [{"name": "l2fwd-c", "host": server.host().model_dump()}],
            "frames": {"sizes": [64, 128]},
            "tests": ["throughput"],
            "pauses": {"before_s": 0, "residual_s": 0.5, "settle_s": 0},
        }
    )
    programs = Programs({"l2fwd-c": l2fwd_c}, generator_program)
    cutters: list[threading.Thread] = []

    def cut_during_the_second(task: Task) -> None:
        if task.point.size == 128:
            begun = len(list(tmp_path.rglob("trial-*.command")))

            def cut() -> None:
                # Once the generator of this trial has begun.
                until(lambda: len(list(tmp_path.rglob("trial-*.command"))) > begun, "the trial begins")
                server.cut()

            cutters.append(threading.Thread(target=cut))
            cutters[0].start()

    console = Console(file=io.StringIO(), width=200)
    settings = CampaignSettings(kind="rfc2544", command="a test", scenario=scenario)
    equipment = campaign_equipment(programs, cut_during_the_second)
    campaign = Campaign.create(tmp_path / "out", settings, "name: s\n", equipment)
    assert campaign.run(console) is Status.FAILED
    cutters[0].join()
    reason = campaign.summary.reason
    assert "is lost" in reason
    assert f"continue with ./x testbed resume {campaign.folder}" in reason
    before = read_journal(campaign.folder / JOURNAL)
    places = ["l2fwd-c/64B/1way/1flows/throughput", "l2fwd-c/128B/1way/1flows/throughput"]
    # The trial may have been over when the loss was noticed.
    assert [place for place, _ in before] in (places[:1], places)

    again = Campaign.resume(campaign.folder, campaign_equipment(programs, lambda task: None))
    assert again.run(console) is Status.PASSED
    after = read_journal(campaign.folder / JOURNAL)
    assert after[: len(before)] == before
    assert [place for place, _ in after] == places


def test_a_connection_is_closed_once_and_for_all(server: SshServer) -> None:
    ssh = Ssh(server.host())
    assert ssh.run("echo hello; exit 2", PATIENCE_S).stdout == "hello\n"
    ssh.close()
    ssh.close()
    with pytest.raises(RemoteError, match="it was closed"):
        ssh.run("true", 1.0)
