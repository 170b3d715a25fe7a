# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Reset (RFC 2544, section 26.6, updated by RFC 6201): how long forwarding stops when the device is reset under load.

RFC 6201, section 1.3, knows two ways to take the time: from how many frames were lost at a known rate, for a generator
that counts them and goes on sending whatever the link does; or from the last frame before the gap to the first behind
it. `gap_s` is the second, or from TRex, which stamps no frame, the first; `by_loss_s` stands beside it. Of its tests
(section 4), the reset of a process is the optional one of 4.2.2. That of the ports, which the running process stops and
starts again (`rte_eth_dev_stop`, `rte_eth_dev_start`), has no test of its own there: it is what software can do of a
line card that is taken out and put in (4.1). Those of the operating system (4.2.1) and of a power interruption of at
least 15 s (4.3.1), which are required, take hands on the device.
"""

from __future__ import annotations

from pydantic import Field, field_validator

from testbed.campaign import grade
from testbed.campaign.grade import Clause, Level
from testbed.campaign.measurements.result import Account, Measured, Sample, Settings, check_rate, continuous
from testbed.campaign.sizes import size_in_words
from testbed.campaign.traffic_generator import NotCapable
from testbed.campaign.trial import Record, ResetKind, ResetPlan, Stream
from testbed.campaign.validity import Trials

SMALLEST_FRAMES = Clause(
    document="RFC 2544", section="26.6", level=Level.MUST, text="the stream has the smallest frames of the medium"
)
AT_THROUGHPUT = Clause(
    document="RFC 2544", section="26.6", level=Level.MUST, text="the stream has the rate of their throughput"
)
KINDS = Clause(
    document="RFC 2544",
    section="26.6",
    level=Level.SHOULD,
    text="hardware and software are reset, and the power is interrupted",
)
REPEATED = Clause(
    document="RFC 6201", section="1.4", level=Level.SHOULD, text="there are several trials, of which the average counts"
)
FORWARDED_BEFORE = Clause(
    document="RFC 6201", section="4", level=Level.MUST, text="the device has forwarded for at least 15 s before"
)
SYSTEM = Clause(document="RFC 6201", section="4.2.1", level=Level.MUST, text="the operating system is reset")
POWER = Clause(document="RFC 6201", section="4.3.1", level=Level.MUST, text="the power is interrupted")
CLAUSES = (SMALLEST_FRAMES, AT_THROUGHPUT, KINDS, REPEATED, FORWARDED_BEFORE, SYSTEM, POWER)

_SMALLEST_BYTES = 64
_BEFORE_S = 15.0


class ResetSettings(Settings):
    """How resets are measured."""

    # Those that the generator cannot do with the device are left out, and said so.
    kinds: tuple[ResetKind, ...] = Field(default=(ResetKind.PROCESS, ResetKind.PORT), min_length=1)
    repeats: int = Field(5, ge=1)
    # How long it must have forwarded before it is reset.
    before_s: float = Field(_BEFORE_S, gt=0)
    patience_s: float = Field(60.0, gt=0)

    @field_validator("kinds")
    @classmethod
    def _each_once(cls, kinds: tuple[ResetKind, ...]) -> tuple[ResetKind, ...]:
        if twice := [kind for number, kind in enumerate(kinds) if kind in kinds[:number]]:
            raise ValueError(f"'{twice[0]}' stands there twice")
        return kinds


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
    # Of these; results of older versions do not say.
    why_left_out: dict[ResetKind, str] = Field(default_factory=dict)

    @property
    def headline(self) -> str:
        """The averages."""
        return ", ".join(f"{time.kind}: {1e3 * time.gap_s.mean:,.3f} ms" for time in self.times)


def measure_reset(
    trials: Trials, stream: Stream, throughput_fps: float, settings: ResetSettings | None = None
) -> Reset:
    """Resets the device under load, in each way and again and again.

    Raises `NotMeasured`, `NotCapable`.
    """
    settings = settings or ResetSettings()
    account, capabilities = Account(trials), trials.capabilities()
    able = [kind for kind in settings.kinds if kind in capabilities.resets]
    left_out = [kind for kind in settings.kinds if kind not in able]
    why = {kind: capabilities.why_not(kind, f"knows no reset of the {kind}") for kind in left_out}
    if not able:
        raise NotCapable("; ".join(dict.fromkeys(why.values())))
    check_rate(throughput_fps, "at which the device is reset")
    times = []
    for kind in able:
        plan = ResetPlan(**stream.frames, kind=kind, load_fps=throughput_fps, patience_s=settings.patience_s)
        results = []
        for _ in range(settings.repeats):
            trials.run(continuous(stream, throughput_fps, settings.before_s))
            results.append(trials.reset(plan))
        times.append(
            ResetTime(
                kind=kind,
                gap_s=Sample.of([result.gap_s for result in results if result.gap_s is not None]),
                by_loss_s=Sample.of([result.lost / throughput_fps / stream.ways for result in results]),
            )
        )
    findings = [
        *grade.of_every_result(capabilities, settings.survey, stream.size),
        SMALLEST_FRAMES.found(stream.size == _SMALLEST_BYTES, size_in_words(stream.size)),
        AT_THROUGHPUT.found(True, f"{throughput_fps:.0f} frames/s"),
        KINDS.found(False, f"only that of the {' and of the '.join(able)}"),
        grade.at_least(REPEATED, settings.repeats, 2, "times"),
        grade.at_least(FORWARDED_BEFORE, settings.before_s, _BEFORE_S, "s"),
        SYSTEM.found(ResetKind.HOST in able, "yes" if ResetKind.HOST in able else "no"),
        POWER.found(False, "it cannot be done from here"),
    ]
    return Reset(
        stream=stream,
        **account.counts(),
        graded=grade.grade(findings),
        load_fps=throughput_fps,
        times=times,
        left_out=left_out,
        why_left_out=why,
    )
