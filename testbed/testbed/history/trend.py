# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Series of one figure over the runs of a store, with their changes and what changed with them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from testbed.campaign.diff.values import Unit
from testbed.history.changes import FEWEST, SIGNIFICANCE, Change, changes
from testbed.history.store import Point
from testbed.page.tables import ABSENT, Row, Table

# Divisor, unit and digits.
_SHOWN = {
    Unit.FRAMES_PER_SECOND: (1e6, "Mpps", 4),
    Unit.NANOSECONDS: (1e3, "µs", 2),
    Unit.SECONDS: (1, "s", 4),
    Unit.FRAMES: (1, "frames", 0),
    Unit.PERCENT: (1, "%", 3),
    Unit.RATIO: (1, "", 4),
}
_SHORT = 10


class Key(NamedTuple):
    """What the points of a series have in common: other presets, scenarios and testbeds give other figures."""

    test: str
    figure: str
    frames: str
    device: str
    testbed: str
    scenario: str
    preset: str

    def in_words(self) -> str:
        """'throughput, rate …: l2fwd-c, 64 bytes, on lab-1 (scenario …, preset …)'."""
        return f"{self.title}: {self.device}, {self.of_what()}"

    @property
    def title(self) -> str:
        """What is measured, without of what."""
        return f"{self.test}, {self.figure}"

    def of_what(self) -> str:
        """The part that several devices share."""
        return f"{self.frames}, on {self.testbed} (scenario {self.scenario}, preset {self.preset})"


class ChangeInWords(NamedTuple):
    """A change of level, as people read it."""

    levels: str
    ratio: str
    confidence: str
    since: str
    changed_with: str

    def __str__(self) -> str:
        """'12.4000 to 11.8000 Mpps (-4.84 %), confidence 99.9 %, since 2026-11-24 04:24 UTC; DPDK 22.11 to 24.11'."""
        return f"{self.levels} ({self.ratio}), confidence {self.confidence}, since {self.since}; {self.changed_with}"


@dataclass(frozen=True)
class Series:
    """One figure over time."""

    key: Key
    points: list[Point]
    changes: list[Change]

    @property
    def unit(self) -> Unit:
        """Of its values."""
        return self.points[0].figure.unit

    @property
    def note(self) -> str | None:
        """Why it can have no change."""
        count = len(self.points)
        return f"{count} runs: a change needs {FEWEST} or more" if count < FEWEST else None

    def words_of(self, change: Change) -> ChangeInWords:
        """A change as people read it."""
        before, after = self.points[change.at - 1], self.points[change.at]
        scale, unit, digits = shown(self.unit)
        return ChangeInWords(
            f"{change.before / scale:,.{digits}f} to {change.after / scale:,.{digits}f} {unit}".rstrip(),
            ABSENT if change.ratio is None else f"{100 * (change.ratio - 1):+.2f} %",
            f"{100 * change.confidence:.1f} %",
            f"{after.run.started:%Y-%m-%d %H:%M} UTC",
            "; ".join(changed_with(before, after)) or "nothing that is recorded changed with it",
        )

    def table(self) -> Table:
        """A row for each run."""
        scale, unit, digits = shown(self.unit)
        table = Table(
            self.key.in_words(), ["Run", "Commit", "Program", "DPDK", f"Value [{unit or '1'}]", "Range"], text_columns=4
        )
        for point in self.points:
            one = point.figure
            ends = [ABSENT if end is None else f"{end / scale:,.{digits}f}" for end in (one.low, one.high)]
            program = f"{one.version} {one.sha256[:_SHORT]}".strip() or ABSENT
            cells = [f"{point.run.started:%Y-%m-%d %H:%M}", commit_in_words(point), program, one.dpdk]
            bounds = ABSENT if ends == [ABSENT, ABSENT] else " to ".join(ends)
            table.rows.append(Row([*cells, f"{one.value / scale:,.{digits}f}", bounds]))
        return table

    def as_json(self) -> dict[str, Any]:
        """For other programs; values are in the unit that stands beside them."""
        return {
            **self.key._asdict(),
            "unit": str(self.unit),
            "points": [
                {
                    "campaign": point.run.campaign,
                    "started": point.run.started.isoformat(),
                    "commit": point.run.commit,
                    "uncommitted": point.run.uncommitted,
                    "version": point.figure.version,
                    "sha256": point.figure.sha256,
                    "dpdk": point.figure.dpdk,
                    "value": point.figure.value,
                    "low": point.figure.low,
                    "high": point.figure.high,
                }
                for point in self.points
            ],
            "changes": [
                {
                    "campaign": self.points[change.at].run.campaign,
                    "confidence": change.confidence,
                    "before": change.before,
                    "after": change.after,
                    "changed_with_it": changed_with(self.points[change.at - 1], self.points[change.at]),
                }
                for change in self.changes
            ],
        }


def shown(unit: Unit) -> tuple[float, str, int]:
    """(divisor, unit, digits) for people."""
    return _SHOWN[unit]


def series_of(points: list[Point]) -> list[Series]:
    """The points by what they are of; the smallest frames first."""
    found: dict[Key, list[Point]] = {}
    for point in points:
        one, run = point.figure, point.run
        key = Key(one.test, one.figure, one.frames, one.device, one.testbed, run.scenario, run.preset)
        found.setdefault(key, []).append(point)
    return [
        Series(key, mine, changes([one.figure.value for one in mine]))
        for key, mine in sorted(found.items(), key=_place)
    ]


def _place(item: tuple[Key, list[Point]]) -> list[list[int | str]]:
    """Sorts words by the numbers in them: 64 bytes before 1518."""
    return [[int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", words)] for words in item[0]]


def chance_in_words(series: list[Series]) -> str:
    """How many changes chance alone gives."""
    told = sum(one.note is None for one in series)
    return (
        f"Changes have a confidence of at least {100 * (1 - SIGNIFICANCE):g} %. Of {told} series that are long enough, "
        f"chance alone gives {told * SIGNIFICANCE:.2g} with a change on average."
    )


def commit_in_words(point: Point) -> str:
    """Short, with a plus for changes that were not committed."""
    return f"{point.run.commit[:_SHORT]}{'+' if point.run.uncommitted else ''}"


def changed_with(before: Point, after: Point) -> list[str]:
    """What differed between two neighbouring runs beside the figure."""
    pairs = [
        ("commit", commit_in_words(before), commit_in_words(after)),
        ("version", before.figure.version, after.figure.version),
        ("program", before.figure.sha256[:_SHORT], after.figure.sha256[:_SHORT]),
        ("DPDK", before.figure.dpdk, after.figure.dpdk),
        ("kernel", before.run.kernel, after.run.kernel),
        ("machine", before.run.machine, after.run.machine),
    ]
    return [f"{name} {one or 'unknown'} to {other or 'unknown'}" for name, one, other in pairs if one != other]
