# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""How thoroughly is measured: the settings of all measurements under one name. A scenario may change some.

`rfc2544` is what the RFCs ask for; its search goal is the one that RFC 9971, section 4.10.2, gives for RFC 2544. `csit`
searches as FD.io's CSIT does: 21 trials of 1 s, half of which may exceed the loss ratio, for no loss and for 0.5 %.
`quick` only looks around, `rehearsal` only whether the whole chain works, on machines as slow as emulated ones; the
results of both are never called RFC 2544.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from testbed.campaign.measurements.back_to_back import BackToBackSettings
from testbed.campaign.measurements.forwarding_rate import ForwardingRateSettings
from testbed.campaign.measurements.frame_loss import FrameLossSettings
from testbed.campaign.measurements.latency import LatencySettings
from testbed.campaign.measurements.recovery import RecoverySettings
from testbed.campaign.measurements.reset import ResetSettings
from testbed.campaign.measurements.soak import SoakSettings
from testbed.campaign.measurements.throughput import Goal, ThroughputSettings
from testbed.campaign.traffic_generator import Pauses
from testbed.campaign.trial import Record


class MeasurementSettings(Record):
    """The settings of all measurements."""

    pauses: Pauses = Pauses()
    throughput: ThroughputSettings = ThroughputSettings()
    latency: LatencySettings = LatencySettings()
    frame_loss: FrameLossSettings = FrameLossSettings()
    back_to_back: BackToBackSettings = BackToBackSettings()
    recovery: RecoverySettings = RecoverySettings()
    reset: ResetSettings = ResetSettings()
    forwarding_rate: ForwardingRateSettings = ForwardingRateSettings()
    soak: SoakSettings = SoakSettings()


class SettingsError(ValueError):
    """A setting cannot be changed so; the message names it, `place` says where it stands."""

    def __init__(self, place: tuple[str, ...], message: str) -> None:
        super().__init__(message)
        self.place = place


def changed_settings(preset: MeasurementSettings, changes: Mapping[str, Mapping[str, Any]]) -> MeasurementSettings:
    """The preset's settings with other values in place of some: `{"recovery": {"most_relief_s": 600}}`.

    Raises `SettingsError`.
    """
    merged = {}
    for test, fields in changes.items():
        of_preset = getattr(preset, test)
        # What only looks around would then be called RFC 2544.
        known = [name for name in type(of_preset).model_fields if name != "survey"]
        if strange := [name for name in fields if name not in known]:
            raise SettingsError((test, strange[0]), f"unknown setting: choose from {', '.join(known)}")
        try:
            merged[test] = type(of_preset).model_validate({**of_preset.model_dump(), **fields})
        except ValidationError as error:
            first = error.errors()[0]
            given = f", not {first['input']!r}" if isinstance(first["input"], str | int | float) else ""
            raise SettingsError((test, *map(str, first["loc"])), first["msg"] + given) from error
    return preset.model_copy(update=merged)


def _csit_goal(loss_ratio: float) -> Goal:
    return Goal(
        loss_ratio=loss_ratio,
        exceed_ratio=0.5,
        relative_width=0.005,
        initial_trial_s=1,
        final_trial_s=1,
        duration_sum_s=21,
    )


_CSIT = MeasurementSettings(
    pauses=Pauses(before_s=0, residual_s=1, settle_s=0),
    throughput=ThroughputSettings(goals=(_csit_goal(0.0), _csit_goal(0.005))),
    latency=LatencySettings(
        stream_s=5, repeats=4, share=0.9, ladder=(0.1, 0.5), ladder_stream_s=5, ladder_repeats=2, same_load=True
    ),
    frame_loss=FrameLossSettings(trial_s=5),
    back_to_back=BackToBackSettings(repeats=10),
    recovery=RecoverySettings(overload_s=10, repeats=3),
    reset=ResetSettings(repeats=3),
    forwarding_rate=ForwardingRateSettings(trial_s=1, repeats=10),
    soak=SoakSettings(hours=0.5, trial_s=60),
)

_QUICK = MeasurementSettings(
    pauses=Pauses(before_s=0, residual_s=0.5, settle_s=0),
    throughput=ThroughputSettings(
        survey=True,
        goals=(Goal(relative_width=0.02, initial_trial_s=0.5, final_trial_s=2, duration_sum_s=2, preceding_targets=1),),
    ),
    latency=LatencySettings(
        survey=True, stream_s=2, repeats=3, ladder=(), ladder_stream_s=2, ladder_repeats=1, same_load=True
    ),
    frame_loss=FrameLossSettings(survey=True, trial_s=1),
    back_to_back=BackToBackSettings(survey=True, repeats=3, limit_s=1, most_limit_s=2, relative_step=0.05),
    recovery=RecoverySettings(survey=True, overload_s=2, relief_s=2, repeats=2),
    reset=ResetSettings(survey=True, repeats=2, before_s=1),
    forwarding_rate=ForwardingRateSettings(survey=True, trial_s=2, repeats=3),
    soak=SoakSettings(survey=True, hours=1 / 60, trial_s=5),
)

_REHEARSAL = _QUICK.model_copy(
    update={
        "throughput": ThroughputSettings(
            survey=True,
            goals=(
                Goal(
                    relative_width=0.2,
                    initial_trial_s=0.5,
                    final_trial_s=0.5,
                    duration_sum_s=0.5,
                    preceding_targets=0,
                ),
            ),
        ),
        "latency": LatencySettings(
            survey=True, stream_s=1, repeats=1, ladder=(), ladder_stream_s=1, ladder_repeats=1, same_load=True
        ),
    }
)

# So long is a trial of a survey at least, with a generator that reports no times: of a shorter one the load is not well
# enough known (`trex/account.py`).
_TIMELESS_S = 2.0


def without_times(preset: MeasurementSettings) -> MeasurementSettings:
    """The preset for a generator that reports no times: the trials of a survey are longer."""
    if not preset.throughput.survey:
        return preset
    names = ("initial_trial_s", "final_trial_s", "duration_sum_s")
    goals = tuple(
        goal.model_copy(update={name: max(_TIMELESS_S, getattr(goal, name)) for name in names})
        for goal in preset.throughput.goals
    )
    trial_s = max(_TIMELESS_S, preset.frame_loss.trial_s)
    changes = {
        "throughput": preset.throughput.model_copy(update={"goals": goals}),
        "frame_loss": preset.frame_loss.model_copy(update={"trial_s": trial_s}),
    }
    return preset.model_copy(update=changes)


PRESETS: dict[str, MeasurementSettings] = {
    "rfc2544": MeasurementSettings(),
    "csit": _CSIT,
    "quick": _QUICK,
    "rehearsal": _REHEARSAL,
}
