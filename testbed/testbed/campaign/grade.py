# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""How far a result may be called a result of the RFC, clause by clause (RFC 2544, section 5).

Unconditional: every MUST and every SHOULD is met. Conditional: every MUST, but not every SHOULD. Else non-compliant.
What a procedure of section 26 prescribes with neither word counts as MUST, general advice without one as SHOULD.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from testbed.campaign.backend import Capabilities
from testbed.campaign.sizes import RFC_SIZES
from testbed.campaign.trial import Record

# RFC 2544, section 23.
_LEARNED_S, _RESIDUAL_S, _SETTLED_S = 2.0, 2.0, 5.0


class Level(StrEnum):
    """How strong the RFC's word is."""

    MUST = "MUST"
    SHOULD = "SHOULD"


class Clause(Record):
    """What a document asks for, in this project's words."""

    document: str
    section: str
    level: Level
    text: str

    def found(self, met: bool, seen: str) -> Finding:
        """What was seen of it."""
        return Finding(clause=self, met=met, seen=seen)


class Finding(Record):
    """Whether a clause is met."""

    clause: Clause
    met: bool
    seen: str

    def __str__(self) -> str:
        clause = self.clause
        return f"{clause.document}, section {clause.section}: {clause.text} ({clause.level}): {self.seen}"


class Grade(StrEnum):
    """The word for the whole."""

    UNCONDITIONAL = "unconditional"
    CONDITIONAL = "conditional"
    NON_COMPLIANT = "non-compliant"


class Graded(Record):
    """A grade, and why."""

    grade: Grade
    findings: list[Finding]

    @property
    def missing(self) -> list[Finding]:
        """The clauses that are not met, the stronger ones first."""
        unmet = [finding for finding in self.findings if not finding.met]
        return sorted(unmet, key=lambda finding: finding.clause.level is not Level.MUST)


def grade(findings: Iterable[Finding]) -> Graded:
    """The grade that the findings make."""
    listed = list(findings)
    unmet = {finding.clause.level for finding in listed if not finding.met}
    if Level.MUST in unmet:
        found = Grade.NON_COMPLIANT
    elif unmet:
        found = Grade.CONDITIONAL
    else:
        found = Grade.UNCONDITIONAL
    return Graded(grade=found, findings=listed)


def _rfc2544(section: str, level: Level, text: str) -> Clause:
    return Clause(document="RFC 2544", section=section, level=level, text=text)


# A preset that only looks around does not call its figures RFC 2544, whatever clauses they happen to meet.
MEANT = Clause(document="this tool", section="presets", level=Level.MUST, text="the settings are meant for RFC 2544")
SIZES = _rfc2544("9.1", Level.SHOULD, "64, 128, 256, 512, 1024, 1280 and 1518 bytes are tested")
FRAMES_CHECKED = _rfc2544("10", Level.SHOULD, "lengths and sequence numbers of received frames are checked")
ONE_PAIR_FIRST = _rfc2544("12", Level.SHOULD, "first one pair of addresses, then 256 networks at random")
BOTH_DIRECTIONS = _rfc2544("14", Level.SHOULD, "traffic in both directions is tested")
PAUSES = _rfc2544("23", Level.SHOULD, "2 s to learn, 2 s for residual frames, 5 s to settle")
FULL_LENGTH = _rfc2544("24", Level.SHOULD, "the trials that determine the result last 60 s")

EVERY_RESULT = (MEANT, FRAMES_CHECKED, PAUSES)
WHOLE_CAMPAIGN = (SIZES, ONE_PAIR_FIRST, BOTH_DIRECTIONS)
TRIAL_S = 60.0
_NETWORKS = 256


def of_every_result(capabilities: Capabilities, survey: bool) -> list[Finding]:
    """What holds for a result whatever was measured."""
    pauses = capabilities.pauses
    kept = pauses.before_s >= _LEARNED_S and pauses.residual_s >= _RESIDUAL_S and pauses.settle_s >= _SETTLED_S
    proves = capabilities.proves_frames
    return [
        MEANT.found(not survey, "not RFC 2544: a quick look" if survey else "yes"),
        FRAMES_CHECKED.found(proves, "every frame" if proves else "frames are only counted"),
        PAUSES.found(kept, f"{pauses.before_s:g} s, {pauses.residual_s:g} s, {pauses.settle_s:g} s"),
    ]


def of_the_campaign(sizes: Sequence[int], directions: Sequence[int], flows: Sequence[int]) -> Graded:
    """What holds for a set of results together: which frames were sent."""
    lacking = [size for size in RFC_SIZES if size not in sizes]
    networks = 1 in flows and any(count >= _NETWORKS for count in flows)
    return grade(
        [
            SIZES.found(not lacking, f"without {', '.join(map(str, lacking))}" if lacking else "all of them"),
            ONE_PAIR_FIRST.found(networks, f"flows: {', '.join(map(str, flows)) or 'none'}"),
            BOTH_DIRECTIONS.found(2 in directions, "yes" if 2 in directions else "only one direction"),
        ]
    )


def at_least(clause: Clause, value: float, least: float, unit: str) -> Finding:
    """Met by a value that is large enough."""
    return clause.found(value >= least, f"{value:g} {unit}")
