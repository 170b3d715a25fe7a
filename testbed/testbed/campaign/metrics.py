# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Metrics of a campaign while it runs: what its progress view shows, for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from testbed.campaign.progress_view import View
from testbed.campaign.scenario import Scenario
from testbed.campaign.trial import TrialPlan, TrialResult
from testbed.metrics.definition import Definition, Sample, families

_INFO = Definition(
    "testbed_campaign_info", "Always 1; labels say which campaign.", ("campaign", "kind", "scenario", "preset")
)
_STARTED = Definition("testbed_campaign_start_time_seconds", "When it was started or resumed, in Unix time.")
_PLANNED = Definition("testbed_campaign_planned_measurements", "Measurements of the campaign.")
_DONE = Definition("testbed_campaign_measurements_total", "Measurements that have ended, also those that failed.")
_TRIALS = Definition("testbed_campaign_trials_total", "Trials, with those from the journal.")
_INVALID = Definition("testbed_campaign_invalid_trials_total", "Trials that do not count, with those from the journal.")
_REPLAYED = Definition(
    "testbed_campaign_replayed_trials_total", "Trials that a resumed campaign took from its journal."
)
_LEFT = Definition("testbed_campaign_remaining_seconds", "How long it will still take; missing if that is not known.")
_LOAD = Definition(
    "testbed_campaign_trial_load_frames_per_second", "Load of the trial that runs, for each direction.", ("place",)
)
_LOWER = Definition(
    "testbed_campaign_search_lower_frames_per_second", "Highest load without loss of this measurement.", ("place",)
)
_UPPER = Definition(
    "testbed_campaign_search_upper_frames_per_second", "Lowest load with loss of this measurement.", ("place",)
)
_LOSS = Definition("testbed_campaign_trial_loss_ratio", "Lost share of the frames of the last valid trial.", ("place",))
DEFINITIONS = (
    *(_INFO, _STARTED, _PLANNED, _DONE, _TRIALS, _INVALID, _REPLAYED, _LEFT),
    *(_LOAD, _LOWER, _UPPER, _LOSS),
)


class CampaignMetrics(Collector):
    """Collects from the view of a campaign, once there is one."""

    def __init__(self) -> None:
        self._started = time.time()
        self._labels: tuple[str, ...] = ()
        self._view: View | None = None

    def of(self, campaign: str, kind: str, scenario: Scenario) -> Callable[[View], None]:
        """Takes the view of this campaign."""
        self._labels = (campaign, kind, scenario.name, scenario.preset)

        def shown(view: View) -> None:
            self._view = view

        return shown

    def collect(self) -> Iterator[Metric]:
        """The metrics at this moment."""
        return families(DEFINITIONS, self._samples())

    def _samples(self) -> Iterator[Sample]:
        if self._view is None:
            return
        now = self._view.progress()
        yield Sample(_INFO.name, self._labels, 1)
        yield Sample(_STARTED.name, (), self._started)
        yield Sample(_PLANNED.name, (), now.planned)
        yield Sample(_DONE.name, (), now.done)
        yield Sample(_TRIALS.name, (), now.trials)
        yield Sample(_INVALID.name, (), now.invalid)
        yield Sample(_REPLAYED.name, (), now.replayed)
        if now.left_s is not None:
            yield Sample(_LEFT.name, (), now.left_s)
        place = [now.place]
        # Bursts and steps have no load that could be drawn.
        if isinstance(now.plan, TrialPlan) and now.plan.burst_frames is None:
            yield Sample(_LOAD.name, place, now.plan.load_fps)
        if now.interval.low is not None:
            yield Sample(_LOWER.name, place, now.interval.low)
        if now.interval.high is not None:
            yield Sample(_UPPER.name, place, now.interval.high)
        if isinstance(now.last, TrialResult) and now.last.valid:
            yield Sample(_LOSS.name, place, now.last.loss_ratio)
