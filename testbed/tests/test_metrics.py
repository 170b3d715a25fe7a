# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Metrics for Prometheus: of programs that answer as DPDK does, and of campaigns; their names, documents and errors."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from campaign_folders import begin_campaign
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector
from rich.console import Console
from typer.testing import CliRunner

from testbed.campaign.metrics import DEFINITIONS as OF_CAMPAIGNS
from testbed.campaign.metrics import CampaignMetrics
from testbed.campaign.progress_view import View
from testbed.campaign.scenario_file import parse_scenario
from testbed.campaign.trial import TrialPlan, TrialResult
from testbed.cli import app
from testbed.metrics import dpdk
from testbed.metrics.definition import Definition
from testbed.metrics.dpdk import DpdkCollector, sockets_in
from testbed.metrics.server import Address, served
from testbed.run.programs import repository_root
from testbed.run.scratch import scratch_folder

ANY = Address("127.0.0.1", 0)
ECHO = repository_root() / "target/debug/examples/echo"
DOCUMENT = Path(__file__).parents[1] / "docs" / "metrics.md"
SCENARIO = """\
name: small
generator: {kind: simulated}
devices:
  - name: one
    model: {throughput_fps: {64: 12.4e+6}, seed: 3}
frames: {sizes: [64]}
tests: [throughput]
preset: quick
"""
# As l2fwd-rs with two null ports answers on DPDK 22.11.
DEVICE = {"ipackets": 40, "opackets": 30, "ibytes": 2400, "obytes": 1800, "imissed": 3, "ierrors": 2, "oerrors": 1}
COUNTERS = {"rx_packets": 39, "tx_packets": 30, "tx_dropped": 4, "rx_short": 1, "rx_polls": 9, "rx_empty_polls": 5}
# As a stack of dpdk-sockets answers.
STACK = {"connections": 12, "time_waits": 5, "frames": 90, "bytes_received": 800, "bytes_sent": 700, "retransmits": 2}
ANSWERS = {
    "/info": {"version": "DPDK 22.11.11", "pid": 1, "max_output_len": 16384},
    "/ethdev/list": [0],
    "/ethdev/stats": {**DEVICE, "rx_nombuf": 6, "q_ipackets": [40, 0]},
    "/ethdev/link_status": {"status": "UP", "speed": 10000, "duplex": "full-duplex"},
    "/eal/heap_list": [0],
    "/eal/heap_info": {"Head_id": 0, "Name": "socket_0", "Heap_size": 67108864, "Free_size": 31812736},
    "/l2fwd/stats": {"ports": {"0": COUNTERS}, "total": {**COUNTERS, "in_flight": 7}},
    "/sockets/list": {"stacks": ["web"]},
    "/sockets/counters": STACK,
}


@contextmanager
def answering(path: Path, answers: dict[str, object]) -> Iterator[None]:
    """A program on this socket, which knows these commands; without any it takes connections and says nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(str(path))
    listening.listen()

    def answer() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                connection.send(json.dumps({"pid": os.getpid(), "max_output_len": 16384}).encode())
                while command := connection.recv(1024).decode().partition(",")[0]:
                    connection.send(json.dumps({command: answers.get(command)}).encode())

    thread = threading.Thread(target=answer)
    if answers:
        thread.start()
    try:
        yield
    finally:
        # Ends accept(), which close() alone does not.
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        if answers:
            thread.join()


def scraped(collector: Collector) -> dict[tuple[str, ...], float]:
    """What Prometheus gets, by name and labels in the order of their names."""
    with served(ANY, collector) as at, urlopen(f"http://{at}/metrics", timeout=60) as answer:
        text = answer.read().decode()
    samples = (sample for family in text_string_to_metric_families(text) for sample in family.samples)
    return {(one.name, *one.labels.values()): one.value for one in samples}


def test_a_forwarder_is_read_at_each_scrape(tmp_path: Path) -> None:
    with answering(tmp_path / "one" / "dpdk_telemetry.v2", ANSWERS):
        found = scraped(DpdkCollector(lambda: sockets_in(tmp_path, [])))
    assert {name for name, *_ in found} == {one.name for one in dpdk.DEFINITIONS}, "each metric has a sample"
    assert found["dpdk_info", "one", "22.11.11"] == 1
    assert found["dpdk_ethdev_rx_packets_total", "one", "0"] == 40
    assert found["dpdk_ethdev_rx_mbuf_failures_total", "one", "0"] == 6
    assert found["l2fwd_tx_dropped_packets_total", "one", "0"] == 4
    assert found["l2fwd_in_flight_packets", "one"] == 7
    assert found["dpdk_process_cpu_seconds_total", "one"] > 0
    assert found["dpdk_ethdev_link_up", "one", "0"] == 1
    assert found["dpdk_heap_free_bytes", "one", "0"] == 31812736
    of_stacks = {tuple(labels): value for (name, *labels), value in found.items() if name.startswith("dpdk_sockets")}
    assert of_stacks == {
        ("frames", "one", "web"): 90,
        ("retransmits", "one", "web"): 2,
        ("received", "one", "web"): 800,
        ("sent", "one", "web"): 700,
        ("one", "web", "open"): 12,
        ("one", "web", "time_wait"): 5,
    }


def test_a_stack_answers_what_is_asked_of_it() -> None:
    """The example of dpdk-sockets, on a device that gives it frames for nobody."""
    if not ECHO.is_file():
        pytest.skip(f"{ECHO} is missing: run cargo build -p dpdk-sockets --examples")
    with scratch_folder() as folder:
        command = [ECHO, "--no-huge", "-m", "128", "--no-pci", "--vdev=net_null0", "-l", "0"]
        environment = {**os.environ, "RUNTIME_DIRECTORY": str(folder)}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as echo:
            try:
                assert echo.stdout is not None
                assert "on TCP port 7" in echo.stdout.readline()
                found = scraped(DpdkCollector(lambda: sockets_in(folder / "dpdk", [])))
            finally:
                echo.terminate()
    assert found["dpdk_sockets_events_total", "ignored", "rte", "echo"] > 0
    assert found["dpdk_sockets_bytes_total", "sent", "rte", "echo"] == 0
    states = ("open", "time_wait")
    assert [found["dpdk_sockets_connections", "rte", "echo", state] for state in states] == [0, 0]


def test_a_program_without_a_forwarders_command_has_its_ports(tmp_path: Path) -> None:
    no_stack = {"/sockets/list": None, "/sockets/counters": None}
    answers = {**ANSWERS, **no_stack, "/l2fwd/stats": None, "/eal/heap_list": None, "/ethdev/stats": DEVICE}
    with answering(tmp_path / "one" / "dpdk_telemetry.v2", answers):
        found = scraped(DpdkCollector(lambda: sockets_in(tmp_path, ["one"])))
    assert found["dpdk_up", "one"] == 1
    assert found["dpdk_ethdev_tx_bytes_total", "one", "0"] == 1800
    assert not [name for name, *_ in found if name.startswith(("l2fwd", "dpdk_heap", "dpdk_sockets"))]


def test_programs_that_do_not_answer_are_down_and_spoil_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that hangs, one that was killed, one that says something else, and one that was never started."""
    monkeypatch.setattr(dpdk, "_TIMEOUT_S", 0.1)
    with answering(tmp_path / "killed" / "dpdk_telemetry.v2", {}):
        pass
    strange = {**ANSWERS, "/ethdev/list": "none", "/l2fwd/stats": [1], "/eal/heap_list": 5, "/sockets/list": [7]}
    paths = [tmp_path / name / "dpdk_telemetry.v2" for name in ("hangs", "strange")]
    with (
        answering(paths[0], {}),
        answering(paths[1], strange),
        # The second of a folder, as with --in-memory.
        answering(tmp_path / "one" / "dpdk_telemetry.v2:1", ANSWERS),
    ):
        found = scraped(DpdkCollector(lambda: sockets_in(tmp_path, [])))
        asked = scraped(DpdkCollector(lambda: sockets_in(tmp_path, ["never"])))
    up = {labels[0]: value for (name, *labels), value in found.items() if name == "dpdk_up"}
    assert up == {"hangs": 0, "killed": 0, "one:1": 1, "strange": 0}
    assert all("one:1" in labels for (name, *labels) in found if name != "dpdk_up")
    assert asked == {("dpdk_up", "never"): 0}


def test_a_campaign_is_seen_amid_its_search() -> None:
    metrics, view = CampaignMetrics(), View(Console(quiet=True), 4, 100.0)
    assert scraped(metrics) == {}, "nothing has begun"
    metrics.of("0123", "rfc2544", parse_scenario(SCENARIO, "small.yaml"))(view)
    view.measurement_begins("one/64/throughput", 25.0)
    for load, lost in ((1e6, 0), (3e6, 30)):
        plan = TrialPlan(size=64, load_fps=load, duration_s=1)
        view.trial_begins("one/64/throughput", plan)
        view.trial_ended("one/64/throughput", TrialResult(plan=plan, **outcome(int(load), lost)), replayed=False)
    view.trial_begins("one/64/throughput", TrialPlan(size=64, load_fps=2e6, duration_s=1))
    found = scraped(metrics)
    assert {name for name, *_ in found} == {one.name for one in OF_CAMPAIGNS}, "each metric has a sample"
    assert found["testbed_campaign_info", "0123", "rfc2544", "quick", "small"] == 1
    assert found[("testbed_campaign_trials_total",)] == 2
    assert found[("testbed_campaign_planned_measurements",)] == 4
    place = "one/64/throughput"
    rates = [f"testbed_campaign_{name}_frames_per_second" for name in ("search_lower", "trial_load", "search_upper")]
    assert [found[name, place] for name in rates] == [1e6, 2e6, 3e6]
    assert found["testbed_campaign_trial_loss_ratio", place] == pytest.approx(1e-5)
    assert 0 < found[("testbed_campaign_remaining_seconds",)] <= 100


def test_a_campaign_shows_its_progress(tmp_path: Path) -> None:
    campaign, metrics = begin_campaign(tmp_path, SCENARIO), CampaignMetrics()
    told = campaign.settings
    campaign.run(Console(quiet=True), shown=metrics.of(told.campaign, told.kind, told.scenario))
    found = scraped(metrics)
    assert found[("testbed_campaign_measurements_total",)] == campaign.summary.planned == 1
    assert found[("testbed_campaign_trials_total",)] > 3


def test_an_address_that_is_wrong_or_taken_is_said_before_anything_is_written(tmp_path: Path) -> None:
    scenario = tmp_path / "small.yaml"
    scenario.write_text(SCENARIO)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        campaign = ["rfc2544", "--scenario", str(scenario), "--out", str(tmp_path / "out")]
        for command in (campaign, ["exporter"]):
            done = CliRunner().invoke(app, [*command, "--metrics", f"127.0.0.1:{port}"])
            assert done.exit_code == 1
            assert f"cannot serve metrics at '127.0.0.1:{port}': Address already in use" in done.output
            for wrong in ("9876", "127.0.0.1", ":9876", "127.0.0.1:99999", "::1:9876", "a b:1"):
                done = CliRunner().invoke(app, [*command, "--metrics", wrong], terminal_width=200)
                assert done.exit_code == 2
                assert f"'{wrong}' is not HOST:PORT, such as 127.0.0.1:9876" in done.output
    assert not (tmp_path / "out").exists()


def test_a_campaign_says_where_its_metrics_are(tmp_path: Path) -> None:
    scenario = tmp_path / "small.yaml"
    scenario.write_text(SCENARIO)
    words = ["rfc2544", "--scenario", str(scenario), "--out", str(tmp_path), "--metrics", "127.0.0.1:0"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert re.search(r"^Metrics: http://127\.0\.0\.1:[1-9]\d*/metrics$", done.output, re.MULTILINE)


def test_names_follow_prometheus_and_the_document_has_each() -> None:
    definitions: list[Definition] = [*dpdk.DEFINITIONS, *OF_CAMPAIGNS]
    names = [one.name for one in definitions]
    assert len(set(names)) == len(names)
    for one in definitions:
        assert re.fullmatch(r"(dpdk|l2fwd|testbed)(_[a-z0-9]+)+", one.name)
        assert not re.search(r"_(ns|us|ms|milliseconds|kb|mb|bits|percent|count|min|max)(_|$)", one.name), "base units"
        assert one.help.endswith(".")
    rows = re.findall(r"^\| `([^`{]+)(?:\{([^}]*)\})?` \| (.*) \|$", DOCUMENT.read_text(), re.MULTILINE)
    assert rows == [(one.name, ", ".join(one.labels), one.help.removesuffix(".")) for one in definitions]


def outcome(sent: int, lost: int) -> dict[str, object]:
    return {"sent": sent, "received": sent - lost, "lost": lost, "offered_fps": sent, "duration_s": 1.0}
