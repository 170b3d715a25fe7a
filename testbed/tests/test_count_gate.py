# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the forwarders execute for each packet, counted by callgrind, against each other and the figures checked in."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from testbed.bench.count.binary import Component
from testbed.bench.count.command import CONTESTANTS, call_tree, count_contestant, count_setup, rounded
from testbed.bench.count.gate import (
    GROWTH_MAX,
    RENEW,
    FiguresError,
    figures_path,
    growth,
    read_figures,
    renew_figures,
    row_name,
    versions,
)
from testbed.bench.count.instructions import Counted, CountError
from testbed.bench.count.instructions import counted as counted_run
from testbed.bench.count.loop import breaches
from testbed.comparison.contestants import Contestant, ContestantError, find_contestant
from testbed.wire.forwarder import Final

BURST = 32

e2e = pytest.mark.e2e


@pytest.fixture(scope="module")
def contestant() -> Callable[[str], Contestant]:
    """Finds a contestant, or skips the test and says what is missing."""

    def find(name: str) -> Contestant:
        if shutil.which("valgrind") is None:
            pytest.skip("'valgrind' is not installed")
        try:
            return find_contestant(name)
        except ContestantError as error:
            pytest.skip(str(error))

    return find


@pytest.fixture(scope="module")
def counted(
    contestant: Callable[[str], Contestant], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Counted]:
    """Counts a contestant, once."""

    @cache
    def one(name: str) -> Counted:
        return count_contestant(contestant(name), count_setup(BURST), tmp_path_factory.mktemp("count"))

    return one


@e2e
@pytest.mark.parametrize("name", CONTESTANTS)
def test_the_parts_are_all(counted: Callable[[str], Counted], name: str) -> None:
    row = counted(name)
    costs = row.per_packet()
    assert sum(costs.values()) == pytest.approx(row.total_per_packet, abs=0.01)
    # At least a load, a comparison and two stores for each packet; and the device hands out and frees an mbuf.
    assert costs[Component.APPLICATION] > 4
    assert costs[Component.DEVICE] > 20
    assert row.packets == BURST * row.polls
    assert str(call_tree(row, name).label).startswith(name)


@e2e
@pytest.mark.parametrize("linking", ["", ":static"], ids=["shared", "static"])
def test_rust_executes_no_more_than_c(counted: Callable[[str], Counted], linking: str) -> None:
    rust, c = (rounded(counted(name + linking))[Component.APPLICATION.value] for name in ("l2fwd-rs", "l2fwd-c"))
    assert rust <= c, f"for each packet l2fwd-rs executes {rust} instructions of its own, l2fwd-c {c}"


@e2e
@pytest.mark.parametrize("name", CONTESTANTS)
def test_it_has_not_grown(counted: Callable[[str], Counted], name: str) -> None:
    key, row = versions(), row_name(name, BURST)
    then = read_figures(figures_path()).get(key, {}).get(row)
    if then is None:
        pytest.skip(f"no figure for {row} with {key} is checked in: {RENEW}")
    share = Component.APPLICATION.value
    now = rounded(counted(name))
    assert growth(now[share], then[share]) <= GROWTH_MAX, f"{row}: {then[share]} became {now[share]}; if meant: {RENEW}"


@e2e
@pytest.mark.parametrize("name", CONTESTANTS)
def test_nothing_slow_for_each_packet(counted: Callable[[str], Counted], name: str) -> None:
    """No call, no atomic operation, no branch to a panic, as the machine code and its counts show."""
    assert [str(breach) for breach in breaches(counted(name))] == []


COUNTERS = ("tx_packets", "tx_dropped", "rx_short", "rx_empty_polls", "rx_burst_avg", "rx_pps", "tx_pps", "in_flight")


def final(packets: int, time_s: float) -> Final:
    """What a forwarder says at its end."""
    total = {**dict.fromkeys(COUNTERS, 0), "rx_packets": packets, "rx_polls": packets // BURST}
    return Final.model_validate({"type": "final", "time_s": time_s, "ports": [], "total": total, "balanced": True})


@pytest.mark.parametrize(
    ("loop", "last", "message"),
    [
        ("no_such_loop", final(64_000, 0), "no function 'no_such_loop' was executed"),
        ("loop", final(64_000, 1.5), "its clock should be stopped but shows 1.5 s: can it"),
        ("loop", final(640, 0), "received 640 packets, at least 20000 are needed"),
    ],
)
def test_what_does_not_count(tmp_path: Path, loop: str, last: Final, message: str) -> None:
    path = tmp_path / "callgrind"
    path.write_text("positions: instr line\nevents: Ir\nfn=loop\n0x10 1 5\n")
    assert counted_run("x", Path("program"), "loop", final(64_000, 0), path).total_per_packet == 5 / 64_000
    with pytest.raises(CountError, match=message):
        counted_run("x", Path("program"), loop, last, path)
    path.write_text("")
    with pytest.raises(CountError, match="no profile"):
        counted_run("x", Path("program"), "loop", final(64_000, 0), path)


def test_figures_are_renewed_beside_others(tmp_path: Path) -> None:
    path = tmp_path / "counts.json"
    assert read_figures(path) == {}
    renew_figures(path, "one", {"a": {"application": 1.5}, "b": {"application": 2.5}})
    renew_figures(path, "two", {"a": {"application": 3.5}})
    renew_figures(path, "one", {"b": {"application": 4.5}})
    assert read_figures(path) == {
        "one": {"a": {"application": 1.5}, "b": {"application": 4.5}},
        "two": {"a": {"application": 3.5}},
    }
    assert growth(20.4, 20) == pytest.approx(0.02)


def test_figures_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "counts.json"
    path.write_text("[]")
    with pytest.raises(FiguresError, match=r"counts\.json: not the figures"):
        read_figures(path)
