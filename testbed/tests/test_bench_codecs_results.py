# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""codec-bench/RESULTS.md is what its raw data says."""

from __future__ import annotations

from testbed.bench.codecs.contestants import CASES
from testbed.bench.codecs.record import CodecsRecord
from testbed.bench.codecs.results import FOLDER, PAGE, choice_table, results_page
from testbed.bench.codecs.tables import of_languages, telling
from testbed.bench.quoted import claims_of
from testbed.run.programs import repository_root
from testbed.run.results_folder import read_record


def test_the_page_is_made_of_the_raw_data() -> None:
    root = repository_root()
    assert (root / PAGE).read_text() == results_page(root), "run ./x bench results"


def test_what_is_published_is_a_whole_run() -> None:
    for path in (repository_root() / FOLDER).glob("*.json.xz"):
        record = read_record(path, CodecsRecord, "a record", "a run")
        assert not record.quick
        assert all(not block.reasons for one in record.measurements for block in one.blocks)
        for case in CASES:
            # From the fastest to the slowest.
            times = [float(row.cells[1].replace(",", "")) for row in choice_table(record.measurements, case).rows]
            assert times == sorted(times) != []
        claims = claims_of({"one": record}, telling)
        both = of_languages([claim.pair for claim in claims])
        assert {(pair.a, pair.b) for pair in both} >= {("capnp-rust", "capnp-cpp"), ("plain-rust", "plain-cpp")}
