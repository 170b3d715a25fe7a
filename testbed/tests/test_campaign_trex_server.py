# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A TRex server that the campaign starts: here, on another host, killed, cut off; and the machine left as it was."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trex_stand_in
from ssh_server import PATIENCE_S, SshServer
from trex_setup import PLAN, Make, maker

from testbed.campaign.remote.host import GENERATOR, record_hosts
from testbed.campaign.scenario import Scenario
from testbed.campaign.traffic_generator import GeneratorError
from testbed.campaign.trex.bridge import trex_folder


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    return maker(tmp_path, monkeypatch)


def until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {PATIENCE_S} s"
        time.sleep(0.02)


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
    with pytest.raises(GeneratorError, match=r"server is gone|trex-server: ended with status 139 in the middle"):
        generator.run(PLAN)
    generator.close()


def test_a_server_that_does_not_start_is_quoted(make: Make) -> None:
    # Behind the cause it prints how it is to be called.
    told = "\n".join(["ERROR: Could not find NUMA node 3.", *(f" --option-{number}" for number in range(50))])
    said = (
        r"trex-server: ended with status 1 .*\(ERROR: Could not find NUMA node 3\); its last lines:(?s:.*)--option-49"
    )
    with pytest.raises(GeneratorError, match=said):
        make(LAUNCH | {"sync_port": free_port()}, runs=False, refuse=told)


def test_no_second_server(make: Make) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(GeneratorError, match=r"listens on TCP port \d+ of 127.0.0.1 already.*leave launch out"):
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


STARTS = """
import sys, time
from pathlib import Path
from testbed.campaign.trex.server import start_server
from testbed.campaign.trex.settings import Trex
home = Path(sys.argv[1])
words = {"kind": "trex", "sync_port": int(sys.argv[2]), "launch": {"config": "memif.cfg.yaml"}}
server = start_server(home, Trex.model_validate(words), home)
time.sleep(600)
"""


def test_the_server_of_a_killed_testbed_ends(tmp_path: Path) -> None:
    home = trex_stand_in.install(tmp_path / "trex")
    ready = home / trex_stand_in.READY
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen([sys.executable, "-c", STARTS, str(home), str(free_port())], env=environment) as testbed:
        try:
            until(ready.exists, "the server runs")
        finally:
            testbed.send_signal(signal.SIGKILL)
    until(lambda: not ready.exists(), "the server has ended")


NIC, OTHER = "0000:18:00.0", "0000:18:00.1"


class Machine:
    """A machine's files, and a TRex whose script changes them as the real one does."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = trex_stand_in.install(root / "trex")
        self.pool = self.file("sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages", "256")
        for address, kind in ((NIC, "0x020000"), (OTHER, "0x020000"), ("0000:00:1f.0", "0x060100")):
            self.file(f"sys/bus/pci/devices/{address}/class", kind)
            self.file(f"sys/bus/pci/devices/{address}/driver_override", "(null)")
            self.driver(address, "i40e")
        self.file("proc/mounts", "proc /proc proc rw 0 0")
        for driver in ("i40e", "vfio-pci"):
            self.file(f"sys/bus/pci/drivers/{driver}/bind", "")
            self.file(f"sys/bus/pci/drivers/{driver}/unbind", "")
        script = self.home / "trex-cfg"
        vfio = f"{root}/sys/bus/pci/drivers/vfio-pci"
        script.write_text(
            f"#!/bin/sh\necho 2048 >{self.pool}\nln -sfn {vfio} {root}/sys/bus/pci/devices/{NIC}/driver\n"
            f"mkdir -p {root}/mnt/huge {root}/tmp/trex-bird\n"
        )
        script.chmod(0o755)

    def file(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n" if text else "")
        return path

    def driver(self, address: str, name: str) -> None:
        (self.root / f"sys/bus/pci/drivers/{name}").mkdir(parents=True, exist_ok=True)
        link = self.root / f"sys/bus/pci/devices/{address}/driver"
        link.symlink_to(self.root / f"sys/bus/pci/drivers/{name}")

    def serve(self, meanwhile: Callable[[], object] = lambda: None) -> subprocess.CompletedProcess[str]:
        """Starts the server, does something, and tells it to end."""
        argv = ["sh", str(trex_folder() / "server.sh"), str(self.home), "-i"]
        environment = {**os.environ, "TESTBED_ROOT": str(self.root)}
        process = subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            until((self.home / trex_stand_in.READY).exists, "the server runs")
            meanwhile()
        finally:
            process.terminate()
        said = process.communicate()[0]
        return subprocess.CompletedProcess(argv, process.returncode, said)

    def told(self, driver: str, what: str) -> str:
        return (self.root / f"sys/bus/pci/drivers/{driver}/{what}").read_text().strip()


def test_what_trex_changes_is_put_back(tmp_path: Path) -> None:
    machine = Machine(tmp_path)

    def somebody_takes_hugepages() -> None:
        assert machine.pool.read_text() == "2048\n"
        machine.pool.write_text("2058\n")

    done = machine.serve(somebody_takes_hugepages)
    assert done.returncode == 0, done.stdout
    assert machine.pool.read_text() == "266\n"
    assert (machine.told("vfio-pci", "unbind"), machine.told("i40e", "bind")) == (NIC, NIC)
    # The other one has its driver.
    assert machine.told("i40e", "unbind") == ""
    assert (tmp_path / f"sys/bus/pci/devices/{NIC}/driver_override").read_text().strip() == ""
    assert (tmp_path / f"sys/bus/pci/devices/{OTHER}/driver_override").read_text() == "(null)\n"
    assert not (tmp_path / "mnt/huge").exists()
    assert not (tmp_path / "tmp/trex-bird").exists()


def test_what_cannot_be_put_back_is_told(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(tmp_path / "machine")
    bind = machine.root / "sys/bus/pci/drivers/i40e/bind"
    bind.unlink()
    bind.mkdir()
    monkeypatch.setenv("TESTBED_ROOT", str(machine.root))
    generator = make(LAUNCH | {"sync_port": free_port()}, {"home": machine.home}, runs=False)
    with pytest.raises(GeneratorError, match=f"TRex has changed the machine.*not put back: NIC {NIC}.*'i40e'.*by hand"):
        generator.close()


def test_one_that_hears_nothing_is_killed(tmp_path: Path) -> None:
    deaf = tmp_path / "t-rex-64"
    # Its child, like TRex's server proper, is no better.
    deaf.write_text("#!/bin/sh\ntrap '' TERM\n(trap '' TERM; while :; do sleep 0.1; done) &\necho $! >child\nwait\n")
    deaf.chmod(0o755)
    script = tmp_path / "server.sh"
    script.write_text((trex_folder() / "server.sh").read_text().replace("grace=200", "grace=2"))
    process = subprocess.Popen(["sh", str(script), str(tmp_path)])
    child = tmp_path / "child"
    until(lambda: child.exists() and child.read_text().strip(), "it runs")
    process.terminate()
    assert process.wait(PATIENCE_S) == 128 + signal.SIGKILL
    until(lambda: not Path("/proc", child.read_text().strip()).exists(), "its child has ended")


@pytest.fixture(scope="module")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    with SshServer(tmp_path_factory.mktemp("ssh") / "server") as running:
        yield running


def there(ssh: SshServer, tmp_path: Path, **changes: object) -> dict:
    """A server on another host, where TRex's folder has another path."""
    home = tmp_path / "elsewhere"
    if not home.exists():
        home.symlink_to(tmp_path / "trex")
    launch = {"config": "memif.cfg.yaml", "host": ssh.host().model_dump(), "home": str(home)}
    return {"sync_port": free_port(), "launch": launch | changes}


def folder_there(tmp_path: Path) -> Path:
    """The folder on the host, which the configuration was copied to."""
    words = (tmp_path / "logs" / "trex-server.command").read_text().split()
    return Path(words[words.index("--cfg") + 1]).parent


def test_a_server_on_another_host_is_started_and_ended(make: Make, ssh: SshServer, tmp_path: Path) -> None:
    generator = make(there(ssh, tmp_path), runs=False)
    folder = folder_there(tmp_path)
    assert (folder / "1-memif.cfg.yaml").read_text() == (trex_folder() / "memif.cfg.yaml").read_text()
    assert generator.run(PLAN).valid
    generator.close()
    assert not (tmp_path / "trex" / trex_stand_in.READY).exists()
    assert not folder.exists()


def test_a_lost_connection_ends_the_server_too(make: Make, ssh: SshServer, tmp_path: Path) -> None:
    generator = make(there(ssh, tmp_path), runs=False)
    folder = folder_there(tmp_path)
    server = generator._server
    assert server is not None
    ssh.cut()
    until(lambda: server._process.trouble(), "the loss is noticed")
    with pytest.raises(GeneratorError, match=r"trex-server: the SSH connection to .* is lost"):
        generator.run(PLAN)
    until(lambda: not folder.exists(), "the host is left")
    assert not (tmp_path / "trex" / trex_stand_in.READY).exists()
    generator.close()


def test_no_trex_on_the_other_host(make: Make, ssh: SshServer, tmp_path: Path) -> None:
    with pytest.raises(GeneratorError, match=r"ended with status 1(?s:.*)no program 't-rex-64' in '/nowhere'"):
        make(there(ssh, tmp_path, home="/nowhere"), runs=False)


def test_a_host_that_cannot_be_reached(make: Make, ssh: SshServer, tmp_path: Path) -> None:
    nobody = ssh.host(port=1).model_dump()
    with pytest.raises(GeneratorError, match=r"cannot reach .*port 1 over SSH"):
        make(there(ssh, tmp_path, host=nobody), runs=False)


def test_the_environment_of_the_generators_host_is_recorded(ssh: SshServer) -> None:
    launch = {"config": "memif.cfg.yaml", "host": ssh.host().model_dump()}
    words = {"name": "s", "generator": {"kind": "trex", "launch": launch}, "devices": [{"name": "x"}]}
    hosts = record_hosts(Scenario.model_validate(words))
    assert [(name, found.host) for name, found in hosts.items()] == [(GENERATOR, "127.0.0.1")]
