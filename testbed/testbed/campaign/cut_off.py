# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What is known of soaks that did not reach their end: hours of trials are a result, whatever ended them."""

from __future__ import annotations

from testbed.campaign.campaign_settings import CampaignSettings
from testbed.campaign.journal import Journal
from testbed.campaign.measurements.soak import Soak, soak_of
from testbed.campaign.points import Point, planned, setup_name
from testbed.campaign.scenario import Measurement
from testbed.campaign.summary import Finding
from testbed.campaign.trial import TrialResult


def add_cut_off_soaks(findings: list[Finding], settings: CampaignSettings, journal: Journal, why: str) -> None:
    """Adds a finding for each soak that has trials and none, cut off for this reason.

    One that failed gets what the trials before amount to.
    """
    by_place = {finding.place: finding for finding in findings}
    for point in (point for point, test in planned(settings.scenario) if test is Measurement.SOAK):
        place = f"{point.place}/{Measurement.SOAK}"
        finding = by_place.get(place)
        if finding is None:
            finding = Finding(
                place=place,
                device=point.device,
                **point.stream.frames,
                measurement=Measurement.SOAK,
                testbed=settings.testbeds.get(point.frames),
                status="cut off",
                reason=why,
            )
        if finding.status in ("cut off", "failed") and (found := _so_far(settings, journal, point, finding)):
            finding.headline, finding.result = found.headline, found.model_dump(mode="json")
            if place not in by_place:
                findings.append(finding)


def _so_far(settings: CampaignSettings, journal: Journal, point: Point, finding: Finding) -> Soak | None:
    trials = [one for one in journal.results(finding.place) if isinstance(one, TrialResult)]
    valid = [one for one in trials if one.valid]
    capabilities = journal.capabilities(setup_name(point, finding.testbed))
    if not valid or capabilities is None:
        return None
    counts = {"trials": len(trials), "invalid_trials": len(trials) - len(valid)}
    why = (finding.reason or "").partition("\n")[0]
    return soak_of(valid, settings.scenario.measured_with.soak, capabilities, counts, cut_off=why)
