# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What lies in the folder of a campaign or a comparison, read for the report and for `diff`; finished or not."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from testbed.campaign.campaign import resumable
from testbed.campaign.campaign_settings import SETTINGS as CAMPAIGN_SETTINGS
from testbed.campaign.campaign_settings import CampaignSettings, read_campaign_settings
from testbed.campaign.compare.settings import ComparisonSettings, is_comparison, read_comparison_settings
from testbed.campaign.compare.verdict_file import VERDICT, ComparisonVerdict
from testbed.campaign.journal import JOURNAL, JournalError, read_joined, read_journal
from testbed.campaign.measurements.back_to_back import BackToBack
from testbed.campaign.measurements.forwarding_rate import ForwardingRate
from testbed.campaign.measurements.frame_loss import FrameLoss
from testbed.campaign.measurements.latency import LatencyFound
from testbed.campaign.measurements.recovery import Recovery
from testbed.campaign.measurements.reset import Reset
from testbed.campaign.measurements.result import Measured
from testbed.campaign.measurements.soak import Soak
from testbed.campaign.measurements.throughput import Throughput
from testbed.campaign.scenario import Measurement
from testbed.campaign.sizes import size_order
from testbed.campaign.summary import CampaignSummary, Finding, read_campaign_summary
from testbed.campaign.traffic_generator import Capabilities
from testbed.campaign.trial import AnyResult
from testbed.run.environment import Environment, read_environment
from testbed.run.results_folder import ResultsError, Status, read_record

M = TypeVar("M", bound=Measured)

ENVIRONMENT = "environment.json"
# What the result of each measurement is, as `summary.json` has it.
RESULTS: dict[Measurement, type[Measured]] = {
    Measurement.THROUGHPUT: Throughput,
    Measurement.LATENCY: LatencyFound,
    Measurement.FRAME_LOSS: FrameLoss,
    Measurement.BACK_TO_BACK: BackToBack,
    Measurement.RECOVERY: Recovery,
    Measurement.RESET: Reset,
    Measurement.FORWARDING_RATE: ForwardingRate,
    Measurement.SOAK: Soak,
}


@dataclass(frozen=True)
class Evidence:
    """What stands beside the figures."""

    environment: Environment
    # All that `environment.json` has, also what this version does not know.
    machine: dict[str, Any]
    # The same, by file: when the campaign was resumed, and of other testbeds.
    others: dict[str, dict[str, Any]]
    trials: list[tuple[str, AnyResult]]
    # What the generators can do, by setup.
    joined: dict[str, Capabilities]


@dataclass(frozen=True)
class CampaignFolder:
    """The folder of `rfc2544` or `overload`."""

    folder: Path
    settings: CampaignSettings
    summary: CampaignSummary
    evidence: Evidence
    # By the place of the finding; of those that are done, or were cut off.
    results: dict[str, Measured]

    @property
    def identity(self) -> str:
        """What no other campaign has."""
        return self.summary.campaign

    @property
    def is_finished(self) -> bool:
        """Whether it has every finding, of whatever kind."""
        return self.summary.status is not Status.INTERRUPTED and len(self.summary.findings) == self.summary.planned

    def found(self, kind: type[M]) -> Iterator[tuple[Finding, M]]:
        """The findings that have such a result, in the order of devices, then of frames."""
        order = self.summary.devices
        with_results = [finding for finding in self.summary.findings if finding.place in self.results]
        with_results.sort(key=lambda one: (one.directions, one.flows, *size_order(one.size), order.index(one.device)))
        for finding in with_results:
            result = self.results[finding.place]
            if isinstance(result, kind):
                yield finding, result

    @property
    def reference(self) -> str:
        """The device that the others are compared with: the forwarder in C, or else the first."""
        names = [one.name for one in self.settings.scenario.devices if "l2fwd-c" in (one.name, one.program)]
        return next((name for name in names if name in self.summary.devices), self.summary.devices[0])

    @property
    def frame_kinds(self) -> list[tuple[int, int]]:
        """(directions, flows) of all findings, in their order."""
        return sorted({(finding.directions, finding.flows) for finding in self.summary.findings})


@dataclass(frozen=True)
class ComparisonFolder:
    """The folder of `compare`."""

    folder: Path
    settings: ComparisonSettings
    verdict: ComparisonVerdict
    evidence: Evidence

    @property
    def identity(self) -> str:
        """What no other comparison has."""
        return self.settings.comparison

    @property
    def is_finished(self) -> bool:
        """Whether there is a comparison."""
        return self.verdict.comparison is not None


def is_campaign_folder(folder: Path) -> bool:
    """Whether it is the folder of a campaign or a comparison."""
    return (folder / CAMPAIGN_SETTINGS).exists() or is_comparison(folder)


def read_folder(folder: Path) -> CampaignFolder | ComparisonFolder:
    """Reads all of it.

    Raises `ResultsError`.
    """
    if not is_campaign_folder(folder):
        raise ResultsError(
            f"'{folder}' is not the folder of a campaign: it has neither {CAMPAIGN_SETTINGS} nor a comparison's: give "
            "a folder that rfc2544, overload or compare made"
        )
    return _comparison(folder) if is_comparison(folder) else _campaign(folder)


def read_finished_folder(folder: Path) -> CampaignFolder | ComparisonFolder:
    """Reads all of one that has reached its end.

    Raises `ResultsError`.
    """
    record = read_folder(folder)
    if not record.is_finished:
        again = f"./x testbed resume {shlex.quote(str(folder))}"
        raise ResultsError(f"'{folder}' is not finished: continue it with {again}, or give another folder")
    return record


def _campaign(folder: Path) -> CampaignFolder:
    summary = read_campaign_summary(folder)
    results = {finding.place: _result(folder, finding) for finding in summary.findings if finding.result is not None}
    strange = [finding.device for finding in summary.findings if finding.device not in summary.devices]
    if strange:
        raise ResultsError(f"'{folder}': summary.json has findings of '{strange[0]}', which is not one of its devices")
    return CampaignFolder(folder, read_campaign_settings(folder), summary, _evidence(folder), results)


def _result(folder: Path, finding: Finding) -> Measured:
    try:
        return RESULTS[finding.measurement].model_validate(finding.result)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise ResultsError(f"'{folder}': summary.json: {finding.place}: {field}: {first['msg']}") from error


def _comparison(folder: Path) -> ComparisonFolder:
    settings = read_comparison_settings(folder)
    if (folder / VERDICT).exists():
        verdict = read_record(folder / VERDICT, ComparisonVerdict, "the verdict of a comparison", "a comparison")
    else:
        # It is written at the end alone.
        verdict = ComparisonVerdict(
            status=Status.INTERRUPTED,
            reason=resumable("it did not reach its end", folder),
            command=settings.command,
            scenario=settings.scenario.name,
            preset=settings.scenario.preset,
        )
    return ComparisonFolder(folder, settings, verdict, _evidence(folder))


def _evidence(folder: Path) -> Evidence:
    environment = read_environment(folder)
    later = sorted(folder.glob("environment-*.json"), key=lambda path: (len(path.name), path.name))
    journal = folder / JOURNAL
    try:
        # A campaign may be cut off before it has one.
        trials = read_journal(journal) if journal.exists() else []
        joined = read_joined(journal) if journal.exists() else {}
    except JournalError as error:
        raise ResultsError(str(error)) from error
    return Evidence(
        environment, _json(folder / ENVIRONMENT), {path.name: _json(path) for path in later}, trials, joined
    )


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultsError(f"cannot read '{path}': {error.strerror}") from error
    except ValueError as error:
        raise ResultsError(f"'{path}' is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise ResultsError(f"'{path}' is not a record of an environment")
    return content
