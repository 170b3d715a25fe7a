# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""How act e judges what the load generator says, and where it looks for programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.demo.proxies import fill_in, find_services
from testbed.demo.summary import ProxyTrial, Stack
from testbed.run.programs import ProgramMissing

LATE = "the load generator was late: the 99th percentile of its lag is 4.858 ms, above 1 ms"


def judged(reasons: list[str] | None = None, **result: int) -> ProxyTrial:
    """A trial of 500 requests after a warm-up of 50."""
    trial = ProxyTrial(program="proxy-rs", language="Rust", stack=Stack.DPDK)
    latency = {"p50": 128_400, "p99": 2_000_000}
    step = {"sent": 500, "answered": 500, "wrong": 0, "latency_ns": latency, "reasons": reasons or []}
    whole = {"sent": 550, "answered": 550, "wrong": 0, "broken": 0, "refused": 0, **result}
    fill_in(trial, step, whole)
    return trial


def test_what_the_load_generator_counted_is_there():
    trial = judged()
    assert (trial.valid, trial.notes) == (True, [])
    assert trial.answers.model_dump() == {"sent": 500, "answered": 500, "wrong": 0, "p50_us": 128.4, "p99_us": 2000.0}


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({"answered": 547, "wrong": 3}, "wrong answers: 3"),
        ({"answered": 549}, "requests without an answer: 1"),
        ({"broken": 2}, "broken connections: 2"),
        ({"refused": 1}, "failed attempts to open a connection: 1"),
    ],
)
def test_what_went_wrong_makes_it_invalid_in_the_warm_up_too(result: dict[str, int], reason: str):
    trial = judged([LATE], **result)
    assert (trial.reasons, trial.notes) == ([reason], [])


def test_a_service_that_answers_nothing_has_no_latency():
    trial = ProxyTrial(program="proxy-c", language="C", stack=Stack.KERNEL)
    step = {"sent": 10, "answered": 0, "latency_ns": None, "reasons": ["requests without an answer: 10 of 10"]}
    fill_in(trial, step, {"sent": 10, "answered": 0, "wrong": 0, "broken": 10, "refused": 0})
    expected = ["requests without an answer: 10", "broken connections: 10", "no request was answered"]
    assert (trial.reasons, trial.notes, trial.answers.p50_us) == (expected, [], None)


def test_a_busy_machine_is_a_note():
    trial = judged([LATE, "and without a CPU"])
    assert (trial.reasons, trial.notes) == ([], [f"disturbed: {LATE}; and without a CPU"])


def test_a_missing_program_is_named_with_the_remedy(tmp_path: Path):
    (tmp_path / "origin").touch(mode=0o755)
    with pytest.raises(ProgramMissing, match=r"no program '.*/proxy': run \./x demo, which builds it"):
        find_services("Rust", tmp_path)
