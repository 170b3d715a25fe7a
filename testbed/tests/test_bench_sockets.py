# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What dpdk-sockets executes for a request or a byte, counted by callgrind, against the figures checked in."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path

import pytest
from rich.console import Console

from testbed.bench.count.binary import BinaryError
from testbed.bench.count.gate import BYTE, GROWTH_MAX, REQUEST, figures_path, growth, read_figures, versions
from testbed.bench.count.instructions import CountError
from testbed.bench.sockets.count import (
    DEVICES,
    DIRECTIONS,
    SERVERS,
    Counted,
    byte_row_name,
    count_bytes,
    count_requests,
    row_name,
    run_counts,
)
from testbed.bench.sockets.record import Count
from testbed.run.programs import BYTE_COSTS, COSTS, Program, ProgramMissing, find_program

FEW, MANY = 1, 10_000
# The cost is called flat if it stays within this share.
FLAT = 0.1

pytestmark = pytest.mark.e2e


@cache
def programs() -> Counted:
    if shutil.which("valgrind") is None:
        pytest.skip("'valgrind' is not installed")
    try:
        return Counted(find_program(COSTS), find_program(BYTE_COSTS))
    except ProgramMissing as error:
        pytest.skip(str(error))


@cache
def counted(server: str, connections: int) -> Count:
    return count_requests(programs().requests, server, connections)


@pytest.mark.parametrize(("server", "connections"), [*((server, FEW) for server in SERVERS), (SERVERS[0], MANY)])
def test_a_request_takes_no_more_instructions(server: str, connections: int) -> None:
    now = counted(server, connections)
    before = read_figures(figures_path()).get(versions(), {}).get(row_name(now))
    if before is None:
        pytest.skip(f"{figures_path().name} has no row '{row_name(now)}' for {versions()}: {now.instructions:.1f} now")
    assert growth(now.instructions, before[REQUEST]) <= GROWTH_MAX, "see ./x bench sockets"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_byte_takes_no_more_instructions(direction: str, device: str) -> None:
    now = count_bytes(programs().bytes, direction, device)
    before = read_figures(figures_path()).get(versions(), {}).get(byte_row_name(now))
    if before is None:
        pytest.skip(f"{figures_path().name} has no row '{byte_row_name(now)}' for {versions()}")
    assert growth(now.instructions, before[BYTE]) <= GROWTH_MAX, "see ./x bench sockets"


def test_a_request_costs_the_same_with_many_connections() -> None:
    few, many = counted(SERVERS[0], FEW), counted(SERVERS[0], MANY)
    assert abs(growth(many.instructions, few.instructions)) <= FLAT, f"{few.instructions} and {many.instructions}"


def test_figures_are_written_as_they_are_shown(tmp_path: Path) -> None:
    console = Console(record=True, width=120)
    counts, byte_counts = run_counts(programs(), (FEW,), console, tmp_path / "counts.json")
    written = json.loads((tmp_path / "counts.json").read_text())
    assert written["counts"] == [one.model_dump() for one in counts]
    assert written["byte_counts"] == [one.model_dump() for one in byte_counts]
    text = console.export_text()
    assert all(f"{one.instructions:,.0f}" in text for one in counts), text
    assert all(f"{one.instructions:.2f}" in text for one in byte_counts), text


def test_requests_that_are_not_answered_are_an_error() -> None:
    with pytest.raises(BinaryError, match="'neither' is no kind of server"):
        count_requests(programs().requests, "neither", 1)


def test_a_program_without_the_function_is_an_error(tmp_path: Path) -> None:
    programs()
    with pytest.raises(CountError, match="was executed"):
        count_requests(Program("costs", "Rust", Path("/bin/true")), "polled", 1)
