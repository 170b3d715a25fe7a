# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A campaign whose Dask scheduler runs in a process of its own and is killed; and what Dask's client answers."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from campaign_command import DEVICES, argv, environment, folder_in
from campaign_folders import EQUIPMENT, console
from campaign_lab import Testbeds
from distributed import Client, LocalCluster

from testbed.campaign.campaign_settings import read_campaign_settings
from testbed.campaign.journal import JOURNAL, Measured, read_entries, read_journal
from testbed.campaign.summary import read_campaign_summary
from testbed.campaign.testbeds import dispatch
from testbed.campaign.testbeds.address import NOWHERE
from testbed.campaign.testbeds.campaign import SpreadCampaign
from testbed.campaign.testbeds.cluster import Cluster
from testbed.run.results_folder import Status

PATIENCE_S = 120.0
SCENARIO = f"name: spread\n{DEVICES}frames: {{sizes: [64, 512]}}\ntests: [throughput, latency]\npreset: quick\n"


@pytest.fixture
def started() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts programs, and ends what is left of them."""
    with contextlib.ExitStack() as cleanup:

        def start(*words: str) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                words, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            cleanup.callback(process.stdout.close)
            cleanup.callback(process.wait)
            cleanup.callback(process.kill)
            return process

        yield start


def line_with(process: subprocess.Popen[str], part: str) -> str:
    """Reads the program's output up to a line that has this."""
    seen = []
    for line in process.stdout:
        seen.append(line)
        if part in line:
            return line
    pytest.fail(f"ended without '{part}':\n{''.join(seen)}")


def begun_part(run: subprocess.Popen[str], folder: Path, trials: int) -> Path:
    """The journal of a job that runs, when so many of its trials have reached the coordinator's disk."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and run.poll() is None:
        for path in folder.glob("parts/*.jsonl"):
            if path.read_text().count('"type":"trial"') >= trials:
                return path
        time.sleep(0.01)
    pytest.fail(f"less than {trials} trials came: {list(folder.rglob('parts/*'))}")


def test_a_testbed_that_is_there_never_looks_gone() -> None:
    """Dask's client also asks by itself, for no workers: its answer once stood for all testbeds."""
    settings = {"dashboard_address": NOWHERE}
    with (
        LocalCluster(1, processes=False, host="127.0.0.1", protocol="tcp://", scheduler_kwargs=settings) as local,
        Client(local.scheduler_address, set_as_default=False) as client,
    ):
        refresh = client._periodic_callbacks["scheduler-info"]
        refresh.callback_time = 1
        client.loop.add_callback(lambda: (refresh.stop(), refresh.start()))
        cluster = Cluster(client, local.scheduler_address)
        assert [len(cluster.testbeds()) for _ in range(200)] == [1] * 200


def test_a_lost_scheduler_ends_the_campaign_with_what_was_measured(
    tmp_path: Path, started: Callable[..., subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler = started(
        sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"
    )
    address = line_with(scheduler, "Scheduler at:").split()[-1]
    worker = started(*argv("worker", "--scheduler", address, "--name", "left"))
    (tmp_path / "lab.yaml").write_text(f"scheduler: {address}\ntestbeds: [{{name: left}}, {{name: elsewhere}}]\n")
    # Slow enough that no part ends before the scheduler does.
    (tmp_path / "spread.yaml").write_text(SCENARIO.replace("PACE", "0.1"))
    words = ["run", "--inventory", tmp_path / "lab.yaml", "--scenario", tmp_path / "spread.yaml"]
    run = started(*argv(*words, "--out", tmp_path / "out"))
    # The campaign begins with those that are there.
    missing = line_with(run, "not there yet: elsewhere")
    assert f"./x testbed worker --scheduler {address} --name NAME" in missing
    line_with(run, "left: 64B/1way/1flows begins")
    folder = folder_in(tmp_path / "out")
    part = begun_part(run, folder, 5)

    scheduler.send_signal(signal.SIGKILL)
    text, _ = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 1, text
    assert "Traceback" not in text
    assert f"the scheduler at {address} is gone" in text
    assert f"continue with ./x testbed resume {folder}" in text
    assert "did not come: elsewhere" in text
    assert worker.wait(PATIENCE_S) is not None
    assert read_campaign_summary(folder).status is Status.FAILED
    assert read_campaign_settings(folder).absent_testbeds == ["elsewhere"]

    # Nothing is measured twice.
    before = [one for one in read_entries(part.read_text(), part.name) if isinstance(one, Measured)]
    assert len(before) >= 5
    testbeds = Testbeds()
    testbeds.alive = ["left", "elsewhere"]
    monkeypatch.setattr(dispatch, "cluster", lambda *_: contextlib.nullcontext(testbeds))
    done = SpreadCampaign.resume(folder, read_campaign_settings(folder), EQUIPMENT, console()).run()
    assert done.summary.status is Status.PASSED, done.summary.reason
    entries = read_entries((folder / JOURNAL).read_text(), JOURNAL)
    after = [one for one in entries if isinstance(one, Measured)]
    # With the times at which they were measured.
    assert after[: len(before)] == before
    assert [job.testbed for job in testbeds.jobs if not job.again] == ["left", "elsewhere"]
    assert not list(folder.glob("parts/*.jsonl"))
    assert len(read_journal(folder / JOURNAL)) == len(after)
