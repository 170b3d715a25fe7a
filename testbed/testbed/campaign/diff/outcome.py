# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Compares two finished folders: what differed around them, then figure by figure.

Each figure says whether the ranges that the two folders record are apart: the bounds of their searches
or the ranges of their repetitions, widened by what each machine drifted. That is no noise and no test: how a device
differs from start to start, and one machine from another, two folders do not tell.
"""

from __future__ import annotations

import math
from collections import Counter
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from pydantic import Field

from testbed.campaign.diff.surroundings import Difference, between_folders
from testbed.campaign.diff.values import Key, Unit, Value, drift_of, values_of
from testbed.campaign.folder import CampaignFolder, ComparisonFolder, read_finished_folder
from testbed.campaign.trial import Record
from testbed.run.results_folder import ResultsError

SCHEMA_VERSION = 2
CAUTION = (
    "Two runs are no paired comparison, and on two machines still less: what differs may be the machine, the time or "
    "the start as well as the device. For that, measure both in one run: ./x testbed compare."
)
# Loads that are further apart than this share are not the same load.
_SAME_LOAD = 0.005


class Outcome(StrEnum):
    """What a difference amounts to."""

    APART = "ranges apart"
    OVERLAP = "ranges overlap"
    # Neither repeated nor bounded, and no drift check.
    UNKNOWN = "without a known range"
    OTHER_LOAD = "at other loads"


class Side(Record):
    """One of the two folders."""

    folder: str
    kind: str
    started: datetime | None
    scenario: str
    preset: str
    command: str
    machine: str
    drift: float | None = Field(description="of its first rate until its end, as a share; None if not measured")
    note: str | None = Field(description="why it did not pass")


class Line(Record):
    """One figure of both."""

    test: str
    figure: str
    frames: str
    device: str
    unit: Unit
    a: Value
    b: Value
    ratio: float | None = Field(description="B / A; None of an A of nothing")
    outcome: Outcome


class Diff(Record):
    """The whole: what `diff --json` prints."""

    schema_version: int = SCHEMA_VERSION
    a: Side
    b: Side
    caution: str = CAUTION
    environment: list[Difference]
    lines: list[Line]
    only_a: list[str] = Field(description="figures that B has not")
    only_b: list[str]

    @property
    def sentence(self) -> str:
        """The sum."""
        counts = Counter(line.outcome for line in self.lines)
        ranged = (Outcome.APART, Outcome.OVERLAP)
        parts = [f"{counts[one]} {'with ' if one in ranged else ''}{one}" for one in Outcome if counts[one]]
        differ = f"{len(self.environment)} things around them differed"
        return f"Of {len(self.lines)} figures that both have, {', '.join(parts)}; {differ}."


def compare_folders(a: Path, b: Path) -> Diff:
    """Reads both and holds them against each other.

    Raises `ResultsError` if one is no campaign, of another schema version or unfinished, or if they have nothing in
    common.
    """
    first, second = read_finished_folder(a), read_finished_folder(b)
    if first.identity == second.identity:
        raise ResultsError(f"'{a}' and '{b}' are the same run: give the folders of two")
    left, right = values_of(first), values_of(second)
    common = [key for key in left if key in right]
    if not common:
        raise ResultsError(
            f"'{a}' and '{b}' have nothing in common: {_contents(left)} against {_contents(right)}: give two runs with "
            "a device of the same name, the same frames and the same test"
        )
    return Diff(
        a=_side(a, first),
        b=_side(b, second),
        environment=between_folders(first, second),
        lines=[_line(key, left[key], right[key]) for key in common],
        only_a=[", ".join(key) for key in left if key not in right],
        only_b=[", ".join(key) for key in right if key not in left],
    )


def outcome(a: Value, b: Value) -> Outcome:
    """Apart if the two ranges have nothing in common."""
    if a.load_fps and b.load_fps and abs(a.load_fps / b.load_fps - 1) > _SAME_LOAD:
        return Outcome.OTHER_LOAD
    if a.value == b.value:
        return Outcome.OVERLAP
    ranges = [_range(value) for value in (a, b)]
    if ranges[0] is None or ranges[1] is None:
        return Outcome.UNKNOWN
    (low, high), (other_low, other_high) = ranges
    return Outcome.APART if low > other_high or high < other_low else Outcome.OVERLAP


def _range(value: Value) -> tuple[float, float] | None:
    """Where the value may lie: its range, or the value alone, widened by the drift; None if both are unknown."""
    if value.low is None and value.noise is None:
        return None
    low = value.value if value.low is None else value.low
    # A low without a high is a least.
    high = value.high if value.high is not None else math.inf if value.low is not None else value.value
    wider = value.noise or 0.0
    return low * (1 - wider), high * (1 + wider)


def _line(key: Key, a: Value, b: Value) -> Line:
    ratio = b.value / a.value if a.value else None
    return Line(**key._asdict(), unit=a.unit, a=a, b=b, ratio=ratio, outcome=outcome(a, b))


def _side(folder: Path, record: CampaignFolder | ComparisonFolder) -> Side:
    told = record.summary if isinstance(record, CampaignFolder) else record.verdict
    return Side(
        folder=str(folder),
        kind=record.summary.kind if isinstance(record, CampaignFolder) else "compare",
        started=record.settings.runs[0] if record.settings.runs else None,
        scenario=told.scenario,
        preset=told.preset,
        command=told.command,
        machine=record.evidence.environment.cpu.model,
        drift=drift_of(record),
        note=told.reason,
    )


def _contents(values: dict[Key, Value]) -> str:
    """'throughput of one at 64 bytes' in short: the names that both sides lack in each other."""
    if not values:
        return "no figures"
    # As both list them: 64 bytes before 512.
    parts = [dict.fromkeys(getattr(key, name) for key in values) for name in ("test", "device", "frames")]
    return " of ".join([", ".join(parts[0]), ", ".join(parts[1])]) + f" at {', '.join(parts[2])}"
