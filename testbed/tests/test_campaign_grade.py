# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Grades, and which clauses are missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from campaign_models import Tape

from testbed.campaign import grade, methods
from testbed.campaign.grade import Clause, Finding, Grade, Graded, Level
from testbed.campaign.measurements import (
    back_to_back,
    forwarding_rate,
    frame_loss,
    latency,
    recovery,
    reset,
    throughput,
)
from testbed.campaign.method import Task
from testbed.campaign.methods import METHODS
from testbed.campaign.points import Point
from testbed.campaign.presets import MeasurementSettings
from testbed.campaign.scenario import Measurement
from testbed.campaign.simulated import DeviceModel, SimulatedGenerator
from testbed.campaign.sizes import RFC_SIZES
from testbed.campaign.traffic_generator import Capabilities, Pauses
from testbed.campaign.trial import Stream
from testbed.campaign.validity import Trials

MUST = Clause(document="RFC 1", section="1", level=Level.MUST, text="must")
SHOULD = Clause(document="RFC 1", section="2", level=Level.SHOULD, text="should")


@pytest.mark.parametrize(
    ("must", "should", "word"),
    [
        (True, True, Grade.UNCONDITIONAL),
        (True, False, Grade.CONDITIONAL),
        (False, True, Grade.NON_COMPLIANT),
        (False, False, Grade.NON_COMPLIANT),
    ],
)
def test_the_word_follows_from_the_levels(must, should, word):
    found = grade.grade([SHOULD.found(should, "seen"), MUST.found(must, "seen")])
    assert found.grade is word
    assert [finding.clause for finding in found.missing] == [
        clause for clause, met in [(MUST, must), (SHOULD, should)] if not met
    ]


def test_a_finding_says_where_what_and_what_was_seen():
    assert str(SHOULD.found(False, "3 s")) == "RFC 1, section 2 (SHOULD): required: should; done here: 3 s"


def capabilities(**fields) -> Capabilities:
    return Capabilities(**{"generator": "g", "version": "1", "proves_frames": True, **fields})


@pytest.mark.parametrize(
    ("able", "survey", "missing"),
    [
        (capabilities(), False, []),
        (capabilities(), True, [grade.MEANT]),
        (capabilities(proves_frames=False), False, [grade.FRAMES_CHECKED]),
        (capabilities(pauses=Pauses(before_s=1.9)), False, [grade.PAUSES]),
        (capabilities(pauses=Pauses(residual_s=1.9)), False, [grade.PAUSES]),
        (capabilities(pauses=Pauses(settle_s=4.9)), False, [grade.PAUSES]),
    ],
)
def test_what_holds_for_every_result(able, survey, missing):
    found = grade.grade(grade.of_every_result(able, survey))
    assert [finding.clause for finding in found.missing] == missing


@pytest.mark.parametrize(
    ("size", "missing"),
    [("imix", [grade.MEANT, grade.MIXED_SIZES]), ("imix:abcdefg", [grade.MEANT]), (512, [])],
)
def test_a_mixture_is_never_called_rfc_2544(size, missing):
    found = grade.grade(grade.of_every_result(capabilities(), False, size))
    assert [finding.clause for finding in found.missing] == missing
    assert all("not RFC 2544" in finding.seen for finding in found.missing if finding.clause is grade.MEANT)


# No generator of this project sends these.
NEVER_SENT = [grade.FRAME_FORMAT, grade.MODIFIERS, grade.RANDOM_ADDRESSES, grade.BURSTY]


@pytest.mark.parametrize(
    ("sizes", "directions", "flows", "missing"),
    [
        (RFC_SIZES, [1, 2], [1, 256], []),
        ([*RFC_SIZES, 9018], [2], [1], []),
        (RFC_SIZES[1:], [1, 2], [1, 256], [grade.SIZES]),
        (RFC_SIZES, [1], [1, 256], [grade.BOTH_DIRECTIONS]),
        (RFC_SIZES, [2], [256], [grade.ONE_PAIR]),
    ],
)
def test_what_holds_for_a_whole_campaign(sizes, directions, flows, missing):
    found = grade.of_the_campaign(sizes, directions, flows)
    lacking = [finding.clause for finding in found.missing]
    assert [clause for clause in lacking if clause not in NEVER_SENT] == missing
    assert [clause for clause in lacking if clause in NEVER_SENT] == NEVER_SENT
    assert found.grade is Grade.CONDITIONAL


def task(loss_ratio: float) -> Task:
    """A point whose throughput was measured first, with so much loss allowed."""
    generator = SimulatedGenerator(DeviceModel(throughput_fps={64: 5e6}))
    goal = throughput.Goal(loss_ratio=loss_ratio)
    settings = throughput.ThroughputSettings(goals=(goal,))
    found = throughput.measure_throughput(Trials(generator), Stream(size=64), settings)
    return Task(generator, Point("one", Stream(size=64)), MeasurementSettings(), {Measurement.THROUGHPUT: found})


@pytest.mark.parametrize("measurement", methods.THROUGHPUT_FIRST)
def test_a_result_is_no_better_than_the_throughput_that_it_stands_on(measurement):
    clause = methods.THROUGHPUT_FIRST[measurement]
    method = METHODS[measurement]
    good, bad = (method.graded(method.measure(task(loss_ratio))) for loss_ratio in (0.0, 0.01))
    assert clause not in [finding.clause for finding in good.missing]
    assert bad.grade is Grade.NON_COMPLIANT
    finding = next(finding for finding in bad.missing if finding.clause == clause)
    assert finding.seen == f"the throughput misses the clause '{throughput.NO_LOSS.text}'"


@pytest.mark.parametrize(
    ("measurement", "clause"),
    [
        (Measurement.LATENCY, latency.AT_THROUGHPUT),
        (Measurement.LATENCY, latency.LONG_STREAM),
        (Measurement.RESET, reset.AT_THROUGHPUT),
        (Measurement.RECOVERY, recovery.OVERLOAD),
    ],
)
def test_a_clause_on_the_throughput_is_not_met_by_a_lower_bound_of_it(measurement, clause):
    def found(most_fps: float) -> Finding:
        device = SimulatedGenerator(DeviceModel(throughput_fps={64: 5e6}))
        rate = throughput.measure_throughput(Trials(Tape(device, max_fps_by_size={64: most_fps})), Stream(size=64))
        # Recovery has its 110 % in any case.
        given = Task(device, Point("one", Stream(size=64)), MeasurementSettings(), {Measurement.THROUGHPUT: rate})
        result = METHODS[measurement].measure(given)
        of_all = [*result.graded.findings, *(result.percentiles.findings if measurement is Measurement.LATENCY else [])]
        return next(finding for finding in of_all if finding.clause == clause)

    assert found(10e6).met
    capped = found(4e6)
    assert (capped.met, capped.seen.endswith(", of which only a lower bound is known")) == (False, True)


def test_what_needs_no_throughput_says_nothing_of_it():
    method = METHODS[Measurement.FRAME_LOSS]
    found = method.graded(method.measure(task(0.01)))
    # Of 10 % of the line rate nothing is lost, of 20 % something.
    assert [finding.clause for finding in found.missing] == [frame_loss.TWO_WITHOUT_LOSS]


def test_a_grade_comes_back_from_json():
    found = grade.grade([MUST.found(False, "seen")])
    assert Graded.model_validate_json(found.model_dump_json()) == found


def test_the_list_of_clauses_in_the_docs_is_that_of_the_code():
    text = (Path(__file__).parents[1] / "docs" / "clauses.md").read_text()
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in text.splitlines() if "SHOULD |" in line]
    rows += [[cell.strip() for cell in line.strip("|\n").split("|")] for line in text.splitlines() if "MUST |" in line]
    listed = {(row[0], row[1], row[2]) for row in rows}
    modules = [throughput, latency, frame_loss, back_to_back, recovery, reset, forwarding_rate]
    clauses = {*grade.EVERY_RESULT, *grade.WHOLE_CAMPAIGN, *latency.PERCENTILE_CLAUSES}
    clauses.update(methods.CLAUSES)
    clauses.update(clause for module in modules for clause in module.CLAUSES)
    assert listed == {(f"{one.document}, {one.section}", one.text, one.level) for one in clauses}
