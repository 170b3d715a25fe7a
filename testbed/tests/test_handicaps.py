# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What slows the loop down costs instructions, where they show it; and how rates are compared with the plain loop's."""

from __future__ import annotations

import json
import lzma
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache

import pytest

from testbed.bench.handicaps.measurement import (
    HANDICAPS,
    PLAIN,
    by_received,
    count_handicap,
    file_name,
    find_handicap_program,
    parts_of,
    ratio_to_plain,
)
from testbed.bench.handicaps.record import HandicapRecord, HandicapRow
from testbed.bench.handicaps.report import handicap_table, render
from testbed.comparison.pair_verdict import interval_text
from testbed.comparison.record import Block, Run, Slices
from testbed.comparison.statistics import pair_ratio
from testbed.page.tables import ABSENT
from testbed.run.environment import record_environment
from testbed.run.programs import ProgramMissing, repository_root

COSTS = {"application": 1.0, "library": 2.0, "device": 3.0, "all": 6.0}
BY_LABEL = {handicap.label: handicap for handicap in HANDICAPS}


@pytest.fixture(scope="module")
def instructions(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, float]]:
    """Counts a row, once."""
    if shutil.which("valgrind") is None:
        pytest.skip("'valgrind' is not installed")
    try:
        find_handicap_program("dist")
    except ProgramMissing as error:
        pytest.skip(str(error))

    @cache
    def one(label: str) -> dict[str, float]:
        return parts_of(count_handicap(BY_LABEL[label], tmp_path_factory.mktemp("handicap")))

    return one


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("label", "base", "part"),
    [
        # Every packet comes from and goes to the pool's ring, the one way or the other.
        ("on a thread that is no lcore", "plain", "library"),
        ("EthernetFrame::new_checked", "plain", "application"),
        ("30 % refused, freed one by one", "30 % refused, freed at once", "application"),
    ],
)
def test_a_handicap_costs_instructions(
    instructions: Callable[[str], dict[str, float]], label: str, base: str, part: str
) -> None:
    assert instructions(label)[part] > instructions(base)[part] + 1
    assert instructions(label)["all"] > instructions(base)["all"] + 1


def test_rows_have_names_of_their_own() -> None:
    assert len({handicap.label for handicap in HANDICAPS}) == len({file_name(h) for h in HANDICAPS}) == len(HANDICAPS)
    assert HANDICAPS[0] is PLAIN


def block(number: int, received: int) -> Block:
    def run(label: str, received: int, sent: int) -> Run:
        slices = Slices(
            round=[1], seconds=[1], rx_packets=[received], tx_packets=[sent], cpu_seconds=[1], clock_error_s=[0]
        )
        return Run(label=label, start_s=1, rss_kb=1, hugepages_kb=0, slices=slices)

    return Block(number=number, runs=[run(PLAIN.label, 1000, 1000), run("slow", received, received // 2)])


def test_rates_are_of_received_packets() -> None:
    blocks = [block(number, 800 + number) for number in range(5)]
    ratio = ratio_to_plain(blocks, "slow", per_cpu_second=False)
    assert ratio is not None
    assert ratio.median == pytest.approx(0.802)
    assert ratio_to_plain(blocks, "no such row", per_cpu_second=False) is None
    # What was measured stays as it was.
    assert by_received(blocks[0]).runs[1].slices.tx_packets == [800]
    assert blocks[0].runs[1].slices.tx_packets == [400]


def test_the_report_has_each_row_and_says_what_does_not_count() -> None:
    plain = HandicapRow(label="plain", options=[], profile="dist", instructions_per_packet=COSTS)
    plain.empty_polls = {"virtual": 0.4}
    slow = HandicapRow(label="slow & <bare>", options=["--x"], profile="no-lto", instructions_per_packet=COSTS)
    ratio = pair_ratio([0.5, 0.55, 0.6, 0.6, 0.65, 0.7])
    assert ratio is not None
    slow.rates = {"virtual": ratio}
    record = HandicapRecord(
        started=datetime(2026, 1, 2, tzinfo=UTC),
        command="./x bench handicaps",
        versions="DPDK 1",
        quick=True,
        hugepages=False,
        per_cpu_second=True,
        seed=7,
        environment=record_environment([], hugepages=False),
        rows=[plain, slow],
        blocks={"virtual": [Block(number=3, reasons=["it ended"])]},
    )
    assert [row.cells[-2:] for row in handicap_table(record).rows] == [[ABSENT, ABSENT], ["0.600", "0.500 to 0.700"]]
    page = render(record)
    assert "slow &amp; &lt;bare&gt;" in page
    assert page.count("<svg") == 2
    assert "40 % of the plain loop" in page
    assert "block 3 is invalid: it ended" in page
    assert HandicapRecord.model_validate_json(record.model_dump_json()) == record


@pytest.mark.parametrize(("file", "wire"), [("handicaps", "net_null"), ("handicaps-virtual", "virtual")])
def test_the_document_is_what_its_raw_data_says(file: str, wire: str) -> None:
    docs = repository_root() / "testbed" / "docs"
    rows = json.loads(lzma.decompress((docs / f"{file}.json.xz").read_bytes()))["rows"]
    found = [pair_ratio(row["rates"][wire]["samples"]) for row in rows if row["label"] != PLAIN.label]
    cells = [f"| {ratio.median:.3f} | {interval_text(ratio)} |" for ratio in found if ratio is not None]
    text = (docs / "handicaps.md").read_text(encoding="utf-8")
    missing = [row for row in cells if row not in text]
    assert not missing, f"handicaps.md, {wire}: its raw data says {missing}"
