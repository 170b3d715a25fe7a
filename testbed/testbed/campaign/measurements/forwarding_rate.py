# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Forwarding rate at maximum offered load (RFC 2889, sections 5.1 and 5.4; RFC 2285, section 3.6.2): the overload test.

How many frames a second come through when as many are sent as the generator can; that this may be less than the medium
carries is foreseen (RFC 2285, section 3.5.3). Unlike a throughput this is a figure with loss, and it says where the
frames were lost. Of RFC 2889's meshes, one port to one port is the smallest unidirectional one (5.4), two ports both
ways the smallest full one (5.1).
"""

from __future__ import annotations

from pydantic import Field

from testbed.campaign import grade
from testbed.campaign.grade import Clause, Level
from testbed.campaign.measurements.result import Account, Measured, Sample, Settings, continuous, is_line_rate
from testbed.campaign.trial import Place, Stream
from testbed.campaign.validity import Trials

SIGNATURE = Clause(
    document="RFC 2889", section="4", level=Level.MUST, text="a signature tells test frames, and only they count"
)
TRIAL_LENGTH = Clause(
    document="RFC 2889",
    section="5.1.2, 5.4.2",
    level=Level.SHOULD,
    text="the trial lasts 30 s, or another time from 1 to 300 s",
)
MAXIMUM_LOAD = Clause(
    document="RFC 2889",
    section="5.1.4.2, 5.4.4.2",
    level=Level.MUST,
    text="the load is the highest that the generator can offer, and is reported",
)
CLAUSES = (SIGNATURE, TRIAL_LENGTH, MAXIMUM_LOAD)

_TRIAL_S = 30.0
_LEAST_TRIAL_S, _MOST_TRIAL_S = 1.0, 300.0


class ForwardingRateSettings(Settings):
    """How the device is overloaded."""

    trial_s: float = Field(_TRIAL_S, gt=0)
    repeats: int = Field(1, ge=1)


class ForwardingRate(Measured):
    """What one kind of frames came to."""

    max_fps: float
    line_rate_fps: float | None
    # Frames a second in each direction, of each repetition.
    offered_fps: Sample
    forwarded_fps: Sample
    # Of all repetitions together.
    sent: int
    received: int
    lost_at: dict[Place, int]
    # Whether anything was lost; else the generator was the slower one.
    overloaded: bool

    @property
    def generator_was_limit(self) -> bool:
        """Whether the device may be faster: it forwarded all that the generator could send."""
        return not self.overloaded and not is_line_rate(self.max_fps, self.line_rate_fps)

    @property
    def headline(self) -> str:
        """The rate."""
        return f"{self.forwarded_fps.median / 1e6:.4f} Mpps{'' if self.overloaded else ' (not overloaded)'}"


def measure_forwarding_rate(
    trials: Trials, stream: Stream, settings: ForwardingRateSettings | None = None
) -> ForwardingRate:
    """Offers the highest load, and counts what comes back.

    Raises `NotMeasured`.
    """
    settings = settings or ForwardingRateSettings()
    account, capabilities = Account(trials), trials.capabilities()
    highest, line = capabilities.max_fps(stream.size), capabilities.line_rate_fps(stream.size)
    plan = continuous(stream, highest, settings.trial_s)
    results = [trials.run(plan) for _ in range(settings.repeats)]
    lost_at: dict[Place, int] = {}
    for result in results:
        for place, count in result.lost_at.items():
            lost_at[place] = lost_at.get(place, 0) + count
    findings = [
        *grade.of_every_result(capabilities, settings.survey, stream.size),
        SIGNATURE.found(
            capabilities.proves_frames,
            "every frame is checked" if capabilities.proves_frames else "frames are only counted",
        ),
        MAXIMUM_LOAD.found(True, f"{highest:.0f} frames/s" + (f" of the medium's {line:.0f}" if line else "")),
        TRIAL_LENGTH.found(_LEAST_TRIAL_S <= settings.trial_s <= _MOST_TRIAL_S, f"{settings.trial_s:g} s"),
    ]
    return ForwardingRate(
        stream=stream,
        **account.counts(),
        graded=grade.grade(findings),
        max_fps=highest,
        line_rate_fps=line,
        offered_fps=Sample.of([result.offered_fps for result in results]),
        forwarded_fps=Sample.of([result.forwarded_fps for result in results]),
        sent=sum(result.sent for result in results),
        received=sum(result.received for result in results),
        lost_at=lost_at,
        overloaded=any(result.lost > 0 for result in results),
    )
