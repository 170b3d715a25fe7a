# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Forwarding rate at maximum offered load (RFC 2889, term of RFC 2285, section 3.6.2): the overload test.

How many frames a second come through when as many are sent as the medium or the generator can. Unlike a throughput
this is a figure with loss, and it says where the frames were lost.
"""

from __future__ import annotations

from pydantic import Field

from testbed.campaign import grade
from testbed.campaign.grade import Clause, Level
from testbed.campaign.measurements.finding import Account, Measured, Sample, Settings, continuous
from testbed.campaign.trial import Place, Stream
from testbed.campaign.validity import Trials

MAXIMUM_LOAD = Clause(
    document="RFC 2889", section="5.1", level=Level.MUST, text="the offered load is the highest of the medium"
)
TRIAL_LENGTH = Clause(
    document="RFC 2889", section="5.1", level=Level.SHOULD, text="the trial lasts 30 s, or another time up to 300 s"
)
CLAUSES = (MAXIMUM_LOAD, TRIAL_LENGTH)

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
        *grade.of_every_result(capabilities, settings.survey),
        MAXIMUM_LOAD.found(
            line is not None and highest >= line,
            f"{highest:.0f} of {line:.0f} frames/s" if line else "the medium has no highest load",
        ),
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
