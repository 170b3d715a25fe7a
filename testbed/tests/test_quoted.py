# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""RESULTS.md is what its raw data says: every pair of every run, corrected over the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from test_bench_statistics import blocks_of, measurement_of

from testbed.bench.quoted import COUNTS, FOLDER, claim_table, claims_of, results_page
from testbed.bench.record import OverloadRecord, write_record
from testbed.bench.services import results as services
from testbed.bench.sockets.record import Churn, SocketsRecord
from testbed.comparison.pair_verdict import Verdict
from testbed.run.environment import record_environment
from testbed.run.programs import repository_root
from testbed.run.results_folder import ResultsError, Status


def test_the_page_is_what_the_raw_data_says():
    text = (repository_root() / "RESULTS.md").read_text(encoding="utf-8")
    assert text == results_page(repository_root()), "RESULTS.md differs from its raw data: run ./x bench results"


def test_the_page_of_services_is_what_its_raw_data_says():
    text = (repository_root() / services.PAGE).read_text(encoding="utf-8")
    expected = services.results_page(repository_root())
    assert text == expected, f"{services.PAGE} differs from its raw data: run ./x bench results"


def run_of(ratio: float, blocks: int) -> OverloadRecord:
    return OverloadRecord(
        status=Status.PASSED,
        started=datetime(2026, 1, 2, tzinfo=UTC),
        command="./x bench overload",
        quick=False,
        hugepages=False,
        per_cpu_second=False,
        blocks=blocks,
        rounds=4,
        slice_ms=100,
        seed=1,
        lcores={},
        environment=record_environment([], hugepages=False),
        measurements=[measurement_of(blocks_of(ratio, blocks))],
    )


def test_every_run_has_a_row_for_each_pair_and_its_noise_floor():
    claims = claims_of({"m/one": run_of(1.2, 12), "m/two": run_of(1.0, 12)})
    assert [(claim.run, claim.pair.b, claim.verdict) for claim in claims] == [
        ("m/one", "b", Verdict.FASTER),
        ("m/one", "a (again)", Verdict.EQUIVALENT),
        ("m/two", "b", Verdict.EQUIVALENT),
        ("m/two", "a (again)", Verdict.EQUIVALENT),
    ]
    assert [row.cells[0] for row in claim_table(claims).rows] == ["m/one", "m/one", "m/two", "m/two"]


def test_the_verdict_of_a_row_depends_on_the_number_of_rows():
    # Eight blocks that all agree have p = 2 / 2^8: enough beside one other row, not beside 13.
    (alone, _) = claims_of({"m/one": run_of(1.2, 8)})
    assert (alone.corrected_p, alone.verdict) == (pytest.approx(2 * 2 / 2**8), Verdict.FASTER)
    beside = claims_of({f"m/{number}": run_of(1.2 if number == 0 else 1.0, 8) for number in range(7)})
    assert beside[0].corrected_p == pytest.approx(14 * 2 / 2**8)
    assert beside[0].verdict is Verdict.INCONCLUSIVE


@pytest.fixture
def root(tmp_path: Path) -> Callable[[str], Path]:
    def make(name: str) -> Path:
        (tmp_path / COUNTS).parent.mkdir()
        (tmp_path / COUNTS).write_text(json.dumps({"figures": {"DPDK 1": {"b": {"application": 1.5}}}}))
        (tmp_path / FOLDER / "machine").mkdir(parents=True)
        path = tmp_path / FOLDER / "machine" / f"{name}.json.xz"
        write_record(path, run_of(1.2, 8))
        return tmp_path

    return make


def test_a_page_of_a_run(root: Callable[[str], Path]):
    page = results_page(root("virtual"))
    assert "| machine/virtual | a | b | faster | 8 | 1.200 |" in page
    assert "| DPDK 1 | b | 1.50 | – | – |" in page


def test_races_are_a_section_and_a_family_of_their_own(root: Callable[[str], Path]):
    folder = root("virtual") / FOLDER / "machine"
    raced = SocketsRecord(
        **run_of(1.2, 8).model_dump(exclude={"schema_version", "kind", "per_cpu_second", "tsc_hz"}),
        versions="DPDK 1",
        servers={"a": "", "b": ""},
        churn=[Churn(server="a", connections=1, per_second=[4.0] * 6, per_cpu_second=[5.0] * 6)],
    )
    for measurement in raced.measurements:
        measurement.condition = measurement.condition.model_copy(update={"connections": 1})
    write_record(folder / "sockets.json.xz", raced)
    page = results_page(folder.parents[2])
    before, _, after = page.partition("## Requests")
    assert "| machine/virtual | a | b | faster | 8 | 1.200 |" in before
    assert "| machine/sockets | a | b | faster | 8 | 1.200 |" in after
    assert "| 1 | a | 4 | 4 to 4 | 5 | 5 to 5 |" in after


def test_raw_data_that_no_section_shows_is_refused(root: Callable[[str], Path]):
    with pytest.raises(ResultsError, match=r"no section of RESULTS.md shows machine/other: add it to quoted_text.py"):
        results_page(root("other"))
