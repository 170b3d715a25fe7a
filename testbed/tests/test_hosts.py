# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Act b's readers of ping and iperf3, and that its namespaces always go away."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.demo.hosts import parse_iperf, parse_ping
from testbed.run import namespaces
from testbed.run.namespaces import NamespacesUnavailable, TwoHosts

PING = """PING 198.18.0.2 (198.18.0.2) 56(84) bytes of data.

--- 198.18.0.2 ping statistics ---
100 packets transmitted, 98 received, 2% packet loss, time 1053ms
rtt min/avg/max/mdev = 0.021/0.164/1.190/0.170 ms, pipe 2
"""


def test_ping_is_read():
    found = parse_ping(PING)
    assert (found.sent, found.received, found.loss_percent) == (100, 98, 2.0)
    assert (found.rtt_min_ms, found.rtt_avg_ms, found.rtt_max_ms) == (0.021, 0.164, 1.19)


def test_ping_without_an_answer_has_no_times():
    text = "20 packets transmitted, 0 received, +3 errors, 100% packet loss, time 400ms\n"
    found = parse_ping(text)
    assert (found.received, found.loss_percent, found.rtt_avg_ms) == (0, 100.0, None)


def test_what_is_no_summary_of_ping_is_not_read():
    assert parse_ping("ping: connect: Network is unreachable") is None


def test_times_that_are_no_numbers_are_absent():
    found = parse_ping("3 packets transmitted, 3 received\nmin/avg/max = 1.2.3/././..")
    assert (found.received, found.rtt_min_ms) == (3, None)


@pytest.mark.parametrize("end", [{}, [], {"sum_received": {"bytes": 1}, "sum_sent": {}}, {"sum_received": 1}])
def test_a_transfer_that_did_not_take_place_has_no_figures(end):
    assert parse_iperf({"end": end, "error": "unable to connect"}) is None
    assert parse_iperf({}) is None


def test_iperf_counts_what_was_received():
    found = parse_iperf(
        {
            "end": {
                "sum_sent": {"seconds": 3.0, "bytes": 5000, "bits_per_second": 13333.3, "retransmits": 4},
                "sum_received": {"seconds": 3.1, "bytes": 4000, "bits_per_second": 10322.5},
            }
        }
    )
    assert (found.bytes, found.bits_per_second, found.seconds, found.retransmits) == (4000, 10322.5, 3.1, 4)


def exists(name: str) -> bool:
    return Path("/run/netns", name).exists()


@pytest.fixture
def with_namespaces(need_root, need_tools):
    need_tools("ip", "ethtool")
    try:
        with TwoHosts():
            pass
    except NamespacesUnavailable as error:
        pytest.skip(str(error))


def ask(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def test_the_hosts_reach_their_ports(with_namespaces):
    with TwoHosts() as hosts:
        left = ask(*hosts.left.command("ip", "address"))
        assert "198.18.0.1/24" in left
        assert "02:00:00:00:00:00" in left
        dut = ask(*namespaces.inside(hosts.dut, "ip", "link"))
        assert "port0" in dut
        assert "port1" in dut


def test_the_hosts_go_away_on_ctrl_c(with_namespaces):
    hosts = TwoHosts()

    def interrupted() -> None:
        with hosts:
            assert exists(hosts.dut)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not any(exists(name) for name in (hosts.left.namespace, hosts.dut, hosts.right.namespace))


def test_what_runs_inside_ends_with_them(with_namespaces):
    with TwoHosts() as hosts:
        inside = subprocess.Popen(hosts.right.command("sleep", "600"))
        # It counts as inside only once 'ip netns exec' has entered.
        own = Path("/proc/self/ns/net").readlink()
        while inside.poll() is None and Path(f"/proc/{inside.pid}/ns/net").readlink() == own:
            pass
    assert inside.wait(30) == -9


def test_namespaces_of_a_crashed_run_are_removed_and_others_kept(with_namespaces, monkeypatch: pytest.MonkeyPatch):
    # Under names of their own, or a forwarder's test beside this one may remove them first.
    own = "testbed-crashed"
    monkeypatch.setattr(namespaces, "_PREFIX", own)
    monkeypatch.setattr(namespaces, "_NAME", re.compile(namespaces._NAME.pattern.replace("testbed", own, 1)))
    crash = f"""
import os
from testbed.run import namespaces
namespaces._PREFIX = "{own}"
namespaces.TwoHosts().__enter__()
print(os.getpid(), flush=True)
os._exit(1)
"""
    root = str(Path(__file__).resolve().parents[1])
    done = subprocess.run(
        [sys.executable, "-c", crash],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": root},
    )
    stale = {f"{own}-{done.stdout.strip()}-{role}" for role in ("left", "dut", "right")}
    assert all(exists(name) for name in stale), done.stderr
    with TwoHosts() as mine:
        assert stale <= set(namespaces.remove_stale())
        assert exists(mine.dut)
    assert not any(exists(name) for name in stale)


def test_a_half_made_set_is_removed(with_namespaces, monkeypatch: pytest.MonkeyPatch):
    real = namespaces.run_tool

    def failing(*argv: str) -> str:
        if "ethtool" in argv:
            raise NamespacesUnavailable("'ethtool' failed: Operation not supported")
        return real(*argv)

    monkeypatch.setattr(namespaces, "run_tool", failing)
    hosts = TwoHosts()
    with pytest.raises(NamespacesUnavailable, match="Operation not supported"):
        hosts.__enter__()
    assert not exists(hosts.dut)


def test_without_root_the_reason_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(namespaces.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(namespaces.shutil, "which", lambda tool: f"/sbin/{tool}")
    with pytest.raises(NamespacesUnavailable, match="need root"):
        namespaces.check_available()
    monkeypatch.setattr(namespaces.shutil, "which", lambda tool: None)
    with pytest.raises(NamespacesUnavailable, match="'ip' is not in PATH"):
        namespaces.check_available()
