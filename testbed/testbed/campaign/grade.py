# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""How far a result may be called a result of the RFC, clause by clause (RFC 2544, section 5).

Unconditional: every MUST and every SHOULD is met. Conditional: every MUST, but not every SHOULD. Else non-compliant.
What the procedure of a test prescribes with neither word counts as MUST (RFC 2544, section 26; RFC 9004, section 6; RFC
6201, section 4), general advice without one as SHOULD. Only clauses that are listed here and in `measurements/` count;
docs/clauses.md has them all, and what else the RFCs ask for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from testbed.campaign.sizes import RFC_SIZES, Size, frames_of, is_mixture, size_in_words
from testbed.campaign.traffic_generator import Capabilities
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

    @property
    def source(self) -> str:
        """'RFC 2544, section 26.1 (MUST)'."""
        section = f"section {self.section}" if self.section[0].isdigit() else self.section
        return f"{self.document}, {section} ({self.level})"

    @property
    def must(self) -> bool:
        """Whether a result without it does not comply."""
        return self.level is Level.MUST

    def found(self, met: bool, seen: str) -> Finding:
        """What was seen of it."""
        return Finding(clause=self, met=met, seen=seen)


class Finding(Record):
    """Whether a clause is met."""

    clause: Clause
    met: bool
    seen: str

    def __str__(self) -> str:
        return f"{self.clause.source}: required: {self.clause.text}; done here: {self.seen}"


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
        return sorted(unmet, key=lambda finding: not finding.clause.must)


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
FRAME_FORMAT = _rfc2544("8", Level.SHOULD, "the frames are those of Appendix C: UDP echo requests")
SIZES = _rfc2544("9.1", Level.SHOULD, "64, 128, 256, 512, 1024, 1280 and 1518 bytes are tested")
FRAMES_CHECKED = _rfc2544(
    "10", Level.SHOULD, "only test frames count, and their lengths and sequence numbers are checked"
)
MODIFIERS = _rfc2544(
    "11", Level.SHOULD, "it is repeated with broadcast frames, management queries, routing updates and filters"
)
ONE_PAIR = _rfc2544("12", Level.SHOULD, "it is done with one pair of addresses")
RANDOM_ADDRESSES = _rfc2544(
    "12", Level.SHOULD, "it is done with random destinations too: in 256 networks for a router, of any MAC for a bridge"
)
BOTH_DIRECTIONS = _rfc2544("14", Level.SHOULD, "it is done with the same rate from both directions")
MIXED_SIZES = _rfc2544("18", Level.SHOULD, "a mixture has frames of all the sizes of section 9.1")
MAXIMUM_RATE = _rfc2544("20", Level.SHOULD, "the highest rate is the theoretical one of the medium")
BURSTY = _rfc2544("21", Level.SHOULD, "some tests are done with repeated bursts of 16, 64, 256 and 1024 frames too")
PAUSES = _rfc2544("23", Level.SHOULD, "2 s to learn, 2 s for residual frames, 5 s to settle")
FULL_LENGTH = _rfc2544("24", Level.SHOULD, "the trials that determine the result last 60 s")

EVERY_RESULT = (MEANT, FRAMES_CHECKED, PAUSES, MIXED_SIZES)
WHOLE_CAMPAIGN = (FRAME_FORMAT, SIZES, MODIFIERS, ONE_PAIR, RANDOM_ADDRESSES, BOTH_DIRECTIONS, BURSTY)
TRIAL_S = 60.0


def of_every_result(capabilities: Capabilities, survey: bool, size: Size = RFC_SIZES[0]) -> list[Finding]:
    """What holds for a result whatever was measured."""
    pauses = capabilities.pauses
    kept = pauses.before_s >= _LEARNED_S and pauses.residual_s >= _RESIDUAL_S and pauses.settle_s >= _SETTLED_S
    proves = capabilities.proves_frames
    mixed = f"not RFC 2544, which has no results of mixtures: {size_in_words(size)}" if is_mixture(size) else None
    return [
        MEANT.found(not survey and mixed is None, "a quick look" if survey else mixed or "yes"),
        *([_all_listed(size)] if mixed else []),
        FRAMES_CHECKED.found(proves, "every frame" if proves else "frames are only counted"),
        PAUSES.found(kept, f"{pauses.before_s:g} s, {pauses.residual_s:g} s, {pauses.settle_s:g} s"),
    ]


def _all_listed(size: Size) -> Finding:
    lacking = [one for one in RFC_SIZES if one not in frames_of(size)]
    return MIXED_SIZES.found(not lacking, f"without {', '.join(map(str, lacking))}" if lacking else "all of them")


def _addresses(flows: Sequence[int]) -> str:
    return "their addresses follow each other" if any(count > 1 for count in flows) else "one destination"


def of_the_campaign(sizes: Sequence[Size], directions: Sequence[int], flows: Sequence[int]) -> Graded:
    """What holds for a set of results together: which frames were sent.

    No generator of this project sends what RFC 2544 asks for in sections 8, 11 and 21, nor random addresses.
    """
    lacking = [size for size in RFC_SIZES if size not in sizes]
    streams = f"flows: {', '.join(map(str, flows)) or 'none'}"
    return grade(
        [
            FRAME_FORMAT.found(False, "UDP with the generator's own ports and payload"),
            SIZES.found(not lacking, f"without {', '.join(map(str, lacking))}" if lacking else "all of them"),
            MODIFIERS.found(False, "only without them"),
            ONE_PAIR.found(1 in flows, streams),
            RANDOM_ADDRESSES.found(False, f"{streams}; {_addresses(flows)}"),
            BOTH_DIRECTIONS.found(2 in directions, "yes" if 2 in directions else "only one direction"),
            BURSTY.found(False, "at a constant rate only"),
        ]
    )


def at_maximum_rate(highest_fps: float, line_rate_fps: float | None) -> Finding:
    """Whether the highest rate that is tried is the medium's."""
    seen = f"{highest_fps:.0f} of {line_rate_fps:.0f} frames/s" if line_rate_fps else "the medium has no known rate"
    return MAXIMUM_RATE.found(line_rate_fps is not None and highest_fps >= line_rate_fps, seen)


def at_least(clause: Clause, value: float, least: float, unit: str) -> Finding:
    """Met by a value that is large enough."""
    return clause.found(value >= least, f"{value:g} {unit}")
