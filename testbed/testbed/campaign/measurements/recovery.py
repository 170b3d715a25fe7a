# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""System recovery (RFC 2544, section 26.5): how long the device keeps losing frames after an overload.

At 110 % of the throughput, or the highest rate if that is lower, for 60 s; then at half of that rate. The time between
the change and the last frame lost is the recovery time.
"""

from __future__ import annotations

from pydantic import Field

from testbed.campaign import grade
from testbed.campaign.grade import Clause, Level
from testbed.campaign.measurements.result import Account, Measured, Sample, Settings, check_rate
from testbed.campaign.traffic_generator import NotCapable
from testbed.campaign.trial import StepPlan, Stream
from testbed.campaign.validity import NotMeasured, Trials

OVERLOAD = Clause(
    document="RFC 2544",
    section="26.5",
    level=Level.MUST,
    text="110 % of the throughput or the medium's highest rate, whichever is lower",
)
OVERLOAD_LENGTH = Clause(document="RFC 2544", section="26.5", level=Level.MUST, text="the overload lasts at least 60 s")
HALVED = Clause(document="RFC 2544", section="26.5", level=Level.MUST, text="the rate is then halved")
REPEATED = Clause(
    document="RFC 2544", section="26.5", level=Level.SHOULD, text="it is repeated, and the average reported"
)
CLAUSES = (OVERLOAD, OVERLOAD_LENGTH, HALVED, REPEATED)

_OVERLOAD_SHARE = 1.1
_RELIEF_SHARE = 0.5


class RecoverySettings(Settings):
    """How recovery is measured."""

    overload_s: float = Field(grade.TRIAL_S, gt=0)
    # How long is looked for the last loss; doubled as long as losses do not end before it does.
    relief_s: float = Field(5.0, gt=0)
    most_relief_s: float = Field(160.0, gt=0)
    repeats: int = Field(5, ge=1)


class Recovery(Measured):
    """The recovery time of one kind of frames."""

    overload_fps: float
    relief_fps: float
    # Of the throughput's rate; less than 1.1 where the medium does not carry more.
    overload_share: float
    # Whether frames were lost in every overload; else there was nothing to recover from.
    overloaded: bool
    recovery_s: Sample

    @property
    def headline(self) -> str:
        """The average."""
        return f"{self.recovery_s.mean:.4g} s{'' if self.overloaded else ' (not overloaded)'}"


def measure_recovery(
    trials: Trials, stream: Stream, throughput_fps: float, settings: RecoverySettings | None = None
) -> Recovery:
    """Overloads and relieves the device.

    Raises `NotMeasured`, `NotCapable`.
    """
    settings = settings or RecoverySettings()
    account, capabilities = Account(trials), trials.capabilities()
    if not capabilities.step:
        raise NotCapable(capabilities.why_not("step", "cannot change its rate while it sends"))
    check_rate(throughput_fps, "to which recovery relates")
    overload = min(_OVERLOAD_SHARE * throughput_fps, capabilities.max_fps(stream.size))
    relief, relief_s = _RELIEF_SHARE * overload, settings.relief_s
    times: list[float] = []
    overloaded = True
    while len(times) < settings.repeats:
        result = trials.step(
            StepPlan(**stream.frames, loads_fps=(overload, relief), durations_s=(settings.overload_s, relief_s))
        )
        if result.last_loss_s is None:
            raise NotMeasured("the generator does not tell when the last frame was lost")
        if result.last_loss_s >= relief_s * 0.99:
            if 2 * relief_s > settings.most_relief_s:
                raise NotMeasured(
                    f"the device still lost frames {relief_s:g} s after the overload: if it may take longer, raise "
                    "settings.recovery.most_relief_s in the scenario"
                )
            relief_s *= 2
            continue
        times.append(result.last_loss_s)
        overloaded = overloaded and result.lost[0] > 0
    line = capabilities.line_rate_fps(stream.size)
    as_asked = overload >= _OVERLOAD_SHARE * throughput_fps or (line is not None and overload >= line)
    findings = [
        *grade.of_every_result(capabilities, settings.survey, stream.size),
        OVERLOAD.found(as_asked, f"{100 * overload / throughput_fps:.1f} % of the throughput"),
        grade.at_least(OVERLOAD_LENGTH, settings.overload_s, grade.TRIAL_S, "s"),
        HALVED.found(True, f"{overload:.0f}, then {relief:.0f} frames/s"),
        grade.at_least(REPEATED, settings.repeats, 2, "times"),
    ]
    return Recovery(
        stream=stream,
        **account.counts(),
        graded=grade.grade(findings),
        overload_fps=overload,
        relief_fps=relief,
        overload_share=overload / throughput_fps,
        overloaded=overloaded,
        recovery_s=Sample.of(times),
    )
