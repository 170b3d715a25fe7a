# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Testbeds on a network: certificates, addresses without TLS, and what a stranger gets."""

from __future__ import annotations

import asyncio
import re
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from distributed import Client
from typer.testing import CliRunner

from testbed.campaign.options import read_testbeds
from testbed.campaign.scenario_error import ScenarioError
from testbed.campaign.scenario_file import parse_scenario
from testbed.campaign.testbeds import certificates
from testbed.campaign.testbeds.address import host_and_port
from testbed.campaign.testbeds.certificates import CertificateError, checked, make_certificates, security
from testbed.campaign.testbeds.inventory import read_inventory
from testbed.campaign.testbeds.scheduler import new_scheduler
from testbed.campaign.testbeds.worker import new_worker
from testbed.cli import app

SIMULATED = "name: s\ngenerator: {kind: simulated}\ndevices: [{name: one, model: {throughput_fps: {64: 1.0e+6}}}]\n"
# What Dask says to whoever it talks to.
GREETING = b"pickle-protocol"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab") / "certificates"
    make_certificates(folder, ["left"], days=90)
    return folder


async def answer_to(address: str, context: ssl.SSLContext | None) -> bytes:
    """The first that comes from the address, which is sent something."""
    writer = None
    try:
        reader, writer = await asyncio.open_connection(*host_and_port(address), ssl=context)
        writer.write(bytes(64))
        return await reader.read(4096)
    except OSError:
        return b""
    finally:
        if writer is not None:
            writer.transport.abort()


def context_of(folder: Path | None) -> ssl.SSLContext:
    """A client that trusts everybody, with the certificate of a folder."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if folder is not None:
        context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return context


def test_a_stranger_gets_nowhere(made: Path, tmp_path: Path) -> None:
    """Neither the scheduler nor a testbed talks to anybody without a certificate of the inventory."""
    # Of another inventory, with the same names.
    make_certificates(tmp_path / "certificates", ["left"], days=90)

    async def meet() -> None:
        own = security(made / "scheduler")
        async with (
            new_scheduler("tls://127.0.0.1:0", own) as scheduler,
            new_worker(scheduler.address, "left", [], 60, security(made / "testbeds/left")) as worker,
            Client(scheduler.address, security=security(made / "coordinator"), asynchronous=True) as client,
        ):
            for address in (scheduler.address, worker.address):
                assert address.startswith("tls://")
                assert GREETING not in await answer_to(address, None)
                assert GREETING not in await answer_to(address, context_of(None))
                assert GREETING not in await answer_to(address, context_of(tmp_path / "certificates/coordinator"))
                # It is the certificate that the others lack.
                assert GREETING in await answer_to(address, context_of(made / "coordinator"))
            # The pages, which have no TLS, are for this machine alone.
            assert {node.http_server.address for node in (scheduler, worker)} == {"127.0.0.1"}
            assert await client.submit(sum, [1, 2]) == 3

    asyncio.run(meet())


def test_keys_are_for_their_owner_alone_and_nothing_is_overwritten(made: Path) -> None:
    keys = list(made.rglob("key.pem"))
    assert len(keys) == 4
    assert {key.stat().st_mode & 0o777 for key in keys} == {0o600}
    before = {path: path.read_bytes() for path in made.rglob("*.pem")}
    again = make_certificates(made, ["left", "late"], days=1)
    assert [one.folder.name for one in again if one.is_new] == ["late"]
    assert {path: path.read_bytes() for path in before} == before
    assert again[0].expires - datetime.now(UTC) > timedelta(days=89)
    # None outlives the authority.
    assert {one.folder.name: one.expires for one in again}["left"] <= again[0].expires


def test_certificates_that_cannot_be_used_name_the_remedy(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_certificates(tmp_path / "c", ["left"], days=10)
    folder = tmp_path / "c/testbeds/left"
    key = folder / "key.pem"
    key.chmod(0o640)
    with pytest.raises(CertificateError, match=f"others can read the private key '{key}': chmod 600"):
        checked(folder)
    key.chmod(0o600)
    with pytest.raises(CertificateError, match=r"is not from the authority .*: remove the folder '.*left'"):
        checked(folder, made / "authority/certificate.pem")

    class Later(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return datetime.now(UTC) + timedelta(days=11)

    monkeypatch.setattr(certificates, "datetime", Later)
    with pytest.raises(CertificateError, match=r"left/certificate.pem' expired on 20..-..-..: remove the folder"):
        checked(folder)
    with pytest.raises(CertificateError, match=r"authority/certificate.pem' expired on"):
        make_certificates(tmp_path / "c", ["late"], days=10)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "scheduler: tcp://lab:8786",
            r"lab.yaml:1: tcp://lab:8786 has no TLS: whoever reaches the scheduler or a testbed runs programs as its "
            r"user: use tls://lab:8786 .*./x testbed certificates, or write 'trusted_network: yes'",
        ),
        ("scheduler: tcp://192.0.2.1:8786", "tcp://192.0.2.1:8786 has no TLS"),
        ("scheduler: lab:8786", "the scheduler's address 'lab:8786': write tls://HOST:PORT"),
        ("scheduler: tls://lab:8786", "cannot read '.*/certificates/coordinator/certificate.pem': .*: make cert"),
        ("scheduler: tcp://lab:8786\ntrusted_network: yes", None),
        ("scheduler: tcp://127.0.0.1:8786", None),
        ("scheduler: tcp://[::1]:8786", None),
    ],
)
def test_a_scheduler_elsewhere_needs_tls_or_a_word(tmp_path: Path, line: str, message: str | None) -> None:
    path = tmp_path / "lab.yaml"
    path.write_text(f"{line}\ntestbeds: [{{name: left}}]\n")
    scenario = parse_scenario(SIMULATED, "s.yaml")
    if message is None:
        assert read_testbeds(path, scenario).own_certificate is None
        return
    with pytest.raises(ScenarioError, match=message):
        read_testbeds(path, scenario)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--scheduler", "tcp://lab:1", "--name", "a"], "tcp://lab:1 has no TLS: .* or give --trusted-network"),
        (["--scheduler", "tls://lab:1", "--name", "a"], "tls://lab:1 needs --certificates DIR"),
        (["--scheduler", "tcp://localhost:1", "--name", "a", "--certificates", "c"], "--certificates c: use tls://"),
    ],
)
def test_a_testbed_does_not_join_just_any_scheduler(words: list[str], message: str) -> None:
    done = CliRunner().invoke(app, ["worker", *words])
    assert done.exit_code == 1
    assert re.search(message, done.stderr)


def test_one_command_makes_what_an_inventory_needs(tmp_path: Path) -> None:
    path = tmp_path / "lab.yaml"
    path.write_text("scheduler: tls://lab:8786\ntestbeds: [{name: left}, {name: right}]\n")
    done = CliRunner().invoke(app, ["certificates", "--inventory", str(path), "--days", "30"])
    assert done.exit_code == 0, done.stderr
    folder = tmp_path / "certificates"
    assert {key.parent.relative_to(folder).as_posix() for key in folder.rglob("key.pem")} == {
        *("authority", "scheduler", "coordinator", "testbeds/left", "testbeds/right")
    }
    expiry = f"{datetime.now(UTC) + timedelta(days=30):%Y-%m-%d}"
    assert f"{folder}/testbeds/left: made, valid until {expiry}" in done.stdout
    assert f"./x testbed scheduler --address tls://lab:8786 --certificates {folder}/scheduler" in done.stdout
    assert f"--name right --certificates {folder}/testbeds/right" in done.stdout
    assert read_inventory(path).own_certificate == folder / "coordinator"
