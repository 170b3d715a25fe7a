# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x bench sockets --loss`: transfers on a path that loses frames."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from testbed.bench.sockets.loss import PAIRS, LossPlan, LossSample, loss_table, run_loss
from testbed.run.namespaces import NamespacesUnavailable, check_available
from testbed.run.programs import ECHO, IMPAIR, Program, ProgramMissing, find_program, repository_root

DEBUG = repository_root() / "target/debug"


def text_of(plan: LossPlan, samples: list[LossSample]) -> str:
    console = Console(record=True, width=120)
    console.print(loss_table(plan, samples))
    return console.export_text()


def test_loss_is_on_the_way_of_the_sender() -> None:
    assert [pair.loss(0.5) for pair in PAIRS] == ["0.5%/", "0.5%/", "/0.5%"]


def test_a_cell_has_the_median_of_its_own_transfers() -> None:
    ours = [LossSample("dpdk-sockets", "Linux", 1.0, seed, seconds) for seed, seconds in enumerate((3.0, 1.0, 1.5))]
    others = [LossSample("dpdk-sockets", "Linux", 0.0, 0, 7.0), LossSample("Linux", "dpdk-sockets", 1.0, 0, 9.0)]
    row = text_of(LossPlan(losses=(1.0,)), [*ours, *others]).splitlines()[-2]
    assert [cell.strip() for cell in row.strip("│").split("│")] == [
        "1 %",
        "none",
        "9.00 (9.00 to 9.00)",
        "1.50 (1.00 to 3.00)",
    ]


@pytest.mark.e2e
def test_every_pair_is_measured(tmp_path: Path) -> None:
    try:
        check_available()
        impair = find_program(IMPAIR, [DEBUG], for_figures=False)
    except (NamespacesUnavailable, ProgramMissing) as error:
        pytest.skip(str(error))
    # There it has the name of the example.
    echo = Program(ECHO, "Rust", DEBUG / "examples" / "echo")
    if not echo.path.is_file():
        pytest.skip(f"{echo.path} is missing: run cargo build -p dpdk-sockets --examples")
    plan = LossPlan(losses=(2.0,), length_bytes=20_000, rounds=1)
    console = Console(record=True, width=120)
    run_loss(plan, impair, echo, console, tmp_path / "loss.json")
    transfers = json.loads((tmp_path / "loss.json").read_text())["transfers"]
    assert [(one["sender"], one["receiver"]) for one in transfers] == [(pair.sender, pair.receiver) for pair in PAIRS]
    text = console.export_text()
    assert all(f"{one['seconds']:.2f} (" in text for one in transfers), text
