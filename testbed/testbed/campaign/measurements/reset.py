# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Reset (RFC 2544, section 26.6, and RFC 6201): how long forwarding stops when the device is reset under load.

RFC 6201 knows two ways to take the time: from the last frame before the gap to the first behind it, or from how many
frames were lost at a known rate. The first is the result, the second stands beside it.
"""

from __future__ import annotations

from pydantic import Field

from testbed.campaign import grade
from testbed.campaign.backend import NotCapable
from testbed.campaign.grade import Clause, Level
from testbed.campaign.measurements.finding import Account, Measured, Sample, Settings, check_rate, frames
from testbed.campaign.trial import Record, ResetKind, ResetPlan, Stream
from testbed.campaign.validity import Trials

SMALLEST_FRAMES = Clause(
    document="RFC 2544", section="26.6", level=Level.MUST, text="the stream has the smallest frames of the medium"
)
AT_THROUGHPUT = Clause(
    document="RFC 2544", section="26.6", level=Level.MUST, text="the stream has the rate of their throughput"
)
CLAUSES = (SMALLEST_FRAMES, AT_THROUGHPUT)

_SMALLEST_BYTES = 64


class ResetSettings(Settings):
    """How resets are measured."""

    # Those that the generator cannot do are left out, and said so.
    kinds: tuple[ResetKind, ...] = Field(default=(ResetKind.PROCESS, ResetKind.PORT), min_length=1)
    repeats: int = Field(5, ge=1)
    patience_s: float = Field(60.0, gt=0)


class ResetTime(Record):
    """The gap that one kind of reset leaves."""

    kind: ResetKind
    gap_s: Sample
    # Frames lost / rate.
    by_loss_s: Sample


class Reset(Measured):
    """The reset times of a device."""

    load_fps: float
    times: list[ResetTime]
    left_out: list[ResetKind]

    @property
    def headline(self) -> str:
        """The averages."""
        return ", ".join(f"{time.kind}: {time.gap_s.mean:.4g} s" for time in self.times)


def measure_reset(
    trials: Trials, stream: Stream, throughput_fps: float, settings: ResetSettings | None = None
) -> Reset:
    """Resets the device under load, in each way and again and again.

    Raises `NotMeasured`, `NotCapable`.
    """
    settings = settings or ResetSettings()
    account, capabilities = Account(trials), trials.capabilities()
    able = [kind for kind in settings.kinds if kind in capabilities.resets]
    if not able:
        asked = ", ".join(settings.kinds)
        raise NotCapable(f"the generator '{capabilities.generator}' knows no reset of the {asked}")
    check_rate(throughput_fps, "at which the device is reset")
    times = []
    for kind in able:
        plan = ResetPlan(**frames(stream), kind=kind, load_fps=throughput_fps, patience_s=settings.patience_s)
        results = [trials.reset(plan) for _ in range(settings.repeats)]
        times.append(
            ResetTime(
                kind=kind,
                gap_s=Sample.of([result.gap_s for result in results if result.gap_s is not None]),
                by_loss_s=Sample.of([result.lost / throughput_fps / stream.directions for result in results]),
            )
        )
    findings = [
        *grade.of_every_result(capabilities, settings.survey),
        SMALLEST_FRAMES.found(stream.size == _SMALLEST_BYTES, f"{stream.size} bytes"),
        AT_THROUGHPUT.found(True, f"{throughput_fps:.0f} frames/s"),
    ]
    return Reset(
        stream=stream,
        **account.counts(),
        graded=grade.grade(findings),
        load_fps=throughput_fps,
        times=times,
        left_out=[kind for kind in settings.kinds if kind not in able],
    )
