# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Frame loss rate (RFC 2544, section 26.3): how much is lost at 100 %, 90 %, 80 % … of the highest rate.

That is the rate of the medium, if it is known and the generator reaches it; else `percent` is a share of the
generator's highest rate, and the clause about the first trial is not met. (Of the highest rate the RFC's note says to
see section 18, and means section 20.)
"""

from __future__ import annotations

from pydantic import Field

from testbed.campaign import grade
from testbed.campaign.grade import Clause, Level
from testbed.campaign.measurements.result import Account, Measured, Settings, continuous
from testbed.campaign.trial import Place, Record, Stream
from testbed.campaign.validity import Trials

FROM_THE_TOP = Clause(
    document="RFC 2544", section="26.3", level=Level.SHOULD, text="the first trial has the highest rate of the medium"
)
TWO_WITHOUT_LOSS = Clause(
    document="RFC 2544", section="26.3", level=Level.SHOULD, text="it ends with two successive trials without loss"
)
GRANULARITY = Clause(
    document="RFC 2544", section="26.3", level=Level.MUST, text="the steps are 10 % of the highest rate or less"
)
CLAUSES = (FROM_THE_TOP, TWO_WITHOUT_LOSS, GRANULARITY, grade.FULL_LENGTH)

_MOST_STEP_PERCENT = 10


class FrameLossSettings(Settings):
    """How the loss curve is measured."""

    trial_s: float = Field(grade.TRIAL_S, gt=0)
    # A whole number, so that the rates are the same on every machine.
    step_percent: int = Field(_MOST_STEP_PERCENT, ge=1, le=50)


class LossRange(Record):
    """The losses of all trials at a load."""

    trials: int
    least_percent: float
    most_percent: float

    @property
    def in_words(self) -> str:
        """'2.4 to 44.7 % in 5 trials', or nothing if all came to the same."""
        if self.least_percent == self.most_percent:
            return ""
        return f"{self.least_percent:.3g} to {self.most_percent:.3g} % in {self.trials} trials"


class LossPoint(Record):
    """A trial of the curve."""

    percent: int = Field(description="of the highest rate")
    load_fps: float
    sent: int
    lost: int
    lost_at: dict[Place, int]
    # ((sent - received) * 100) / sent, as the RFC has it.
    loss_percent: float
    forwarded_fps: float
    of_all: LossRange | None = Field(None, description="of all valid trials at this load, also of other measurements")


class FrameLoss(Measured):
    """The loss curve of one kind of frames."""

    max_fps: float
    line_rate_fps: float | None
    # From the highest rate down.
    points: list[LossPoint]

    @property
    def headline(self) -> str:
        """The loss at the top."""
        top = self.points[0]
        others = top.of_all.in_words if top.of_all else ""
        return f"{top.loss_percent:.3g} % at {top.load_fps / 1e6:.4f} Mpps" + (f" ({others})" if others else "")


def measure_frame_loss(trials: Trials, stream: Stream, settings: FrameLossSettings | None = None) -> FrameLoss:
    """Goes down in steps until nothing is lost twice in a row, or there is no step left.

    Raises `NotMeasured`.
    """
    settings = settings or FrameLossSettings()
    account, capabilities = Account(trials), trials.capabilities()
    highest, line = capabilities.max_fps(stream.size), capabilities.line_rate_fps(stream.size)
    points: list[LossPoint] = []
    for percent in range(100, 0, -settings.step_percent):
        # Rounding must not ask for more than the highest rate.
        load = min(highest, highest * percent / 100)
        result = trials.run(continuous(stream, load, settings.trial_s))
        points.append(
            LossPoint(
                percent=percent,
                load_fps=result.plan.load_fps,
                sent=result.sent,
                lost=result.lost,
                lost_at=result.lost_at,
                loss_percent=100 * result.loss_ratio,
                forwarded_fps=result.forwarded_fps,
            )
        )
        if _ended(points):
            break
    top = grade.at_maximum_rate(highest, line)
    findings = [
        *grade.of_every_result(capabilities, settings.survey, stream.size),
        FROM_THE_TOP.found(top.met, top.seen),
        TWO_WITHOUT_LOSS.found(
            _ended(points), f"{len(points)} trials, {sum(p.lost == 0 for p in points)} without loss"
        ),
        GRANULARITY.found(settings.step_percent <= _MOST_STEP_PERCENT, f"{settings.step_percent} %"),
        grade.at_least(grade.FULL_LENGTH, settings.trial_s, grade.TRIAL_S, "s"),
    ]
    return FrameLoss(
        stream=stream,
        **account.counts(),
        graded=grade.grade(findings),
        max_fps=highest,
        line_rate_fps=line,
        points=points,
    )


def _ended(points: list[LossPoint]) -> bool:
    return len(points) >= 2 and points[-1].lost == 0 and points[-2].lost == 0
