# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a campaign found: `summary.json`, and the same as Markdown and CSV."""

from __future__ import annotations

import math
import re
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from testbed.campaign.grade import Grade, Graded
from testbed.campaign.scenario import Measurement, Preset
from testbed.campaign.sizes import Size, size_in_words
from testbed.campaign.trial import AnyResult, Stream
from testbed.run.results_folder import Status, read_record

SCHEMA_VERSION = 1
SUMMARY = "summary.json"
# A rate that is lower than the other by more than this share has drifted: searches end with bounds that are up to 2 %
# apart, by what is lost of the higher one. The rest is what numbers with a point are off by.
_DRIFT = 0.02 + 1e-9
QUICK_CAUTION = "Preset quick: a quick look, never to be called RFC 2544."
_FIGURES = re.compile(r"\d[\d.]*")


class SummaryRecord(BaseModel):
    """A part of the summary. Unknown fields are an error: the schema's version says what may be there."""

    model_config = ConfigDict(extra="forbid")


class Finding(SummaryRecord):
    """What one measurement found with one device and one kind of frames."""

    place: str = Field(description="as in the journal")
    device: str
    size: Size
    directions: Literal[1, 2]
    flows: int
    port_pairs: int = 1
    reverse_share: float = 1.0
    measurement: Measurement
    testbed: str | None = Field(None, description="of several testbeds, the one that measured it")
    status: Literal["done", "skipped", "failed", "cut off"]
    reason: str | None = None
    # The figure that the measurement is about, for tables; everything else is in the result.
    headline: str | None = None
    grade: Grade | None = None
    missing: list[str] = Field(default_factory=list, description="clauses that are not met, the stronger ones first")
    result: dict[str, Any] | None = None

    @property
    def in_words(self) -> str:
        """'l2fwd-c at 64 bytes'."""
        return f"{self.device} at {frames_in_words(self)}"

    @property
    def stream(self) -> Stream:
        """The frames."""
        return Stream(**{name: getattr(self, name) for name in Stream.model_fields})


class Trials(SummaryRecord):
    """How many there were."""

    total: int = 0
    invalid: int = 0
    reasons: dict[str, int] = Field(default_factory=dict, description="why trials were invalid, and how often")


class Drift(SummaryRecord):
    """The campaign's first rate, or a testbed's, and the same measured once more at its end."""

    place: str
    testbed: str | None = Field(None, description="of several testbeds, the one that measured both")
    first_fps: float
    again_fps: float

    @property
    def change(self) -> float | None:
        """Relative to the first; None if that was nothing."""
        return self.again_fps / self.first_fps - 1 if self.first_fps else None

    @property
    def matters(self) -> bool:
        """Whether it is more than a search's bounds may differ by: then the machine changed."""
        lower, higher = sorted((self.first_fps, self.again_fps))
        return self.change is None or lower < (1 - _DRIFT) * higher

    def in_words(self) -> str:
        """For the user."""
        change = self.change
        if change is None:
            return f"{self.again_fps:.0f} frames/s at the end, nothing at the beginning"
        text = f"{100 * change:+.1f} % from the beginning to the end"
        return f"{text}: the machine changed meanwhile, so compare with care" if self.matters else text


class Verdict(StrEnum):
    """On a threshold. Only the first is acceptance."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_TOLD = "not told"


class Judgement(SummaryRecord):
    """A threshold, judged with one device and one kind of frames."""

    threshold: str = Field(description="as in the scenario")
    place: str = Field(description="of the finding that it is about")
    device: str
    size: Size
    directions: int
    flows: int
    verdict: Verdict
    measured: str | None = Field(None, description="in the threshold's unit; of a latency with its load")
    reason: str | None = Field(None, description="why it is not told")

    def in_words(self) -> str:
        """'failed: 12.4 Mpps', 'not told: it was not measured'."""
        found = "; ".join(part for part in (self.measured, self.reason) if part)
        return f"{self.verdict}: {found}"


class CampaignSummary(SummaryRecord):
    """`summary.json`."""

    schema_version: int = SCHEMA_VERSION
    kind: Literal["rfc2544", "overload"]
    campaign: str
    status: Status
    reason: str | None = None
    started: datetime
    finished: datetime | None = None
    # Of the time since the first start, what it really ran.
    seconds: float = 0.0
    resumed: int = Field(0, description="how often it was resumed")
    command: str
    scenario: str
    preset: Preset
    devices: list[str]
    frames: Graded | None = Field(None, description="how far the frames are those that the RFC asks for")
    frame_format: list[str] = Field(
        default_factory=list, description="RFC 2544, section 8; nothing where no frames are sent"
    )
    findings: list[Finding] = Field(default_factory=list)
    planned: int = Field(description="findings when it is finished")
    drift: Drift | None = Field(None, description="of a campaign with more than one measurement, when it is finished")
    other_drifts: list[Drift] = Field(default_factory=list, description="of several testbeds, on the others")
    acceptance: list[Judgement] = Field(default_factory=list, description="of each threshold, at the end")
    trials: Trials = Field(default_factory=Trials)
    environment: str = "environment.json"
    journal: str = "journal.jsonl"

    @property
    def kind_in_words(self) -> str:
        """'RFC 2544'."""
        return "Overload" if self.kind == "overload" else "RFC 2544"

    @property
    def title(self) -> str:
        """'RFC 2544 campaign: virtual-wire'."""
        return f"{self.kind_in_words} campaign: {self.scenario}"

    @property
    def not_accepted(self) -> list[Judgement]:
        """The thresholds that were missed, or could not be told."""
        return [one for one in self.acceptance if one.verdict is not Verdict.PASSED]

    def why_not_accepted(self) -> str:
        """For the end of the command."""
        first = self.not_accepted[0]
        return (
            f"not accepted: {len(self.not_accepted)} of {len(self.acceptance)} thresholds have not passed; the first "
            f"is '{first.threshold}' with {first.device}, {frames_in_words(first)}: {first.in_words()}"
        )

    @property
    def soaks_with_loss(self) -> list[Finding]:
        """The soaks that lost frames, but for those of which a threshold says how many they may lose."""
        judged = {one.place for one in self.acceptance}
        soaks = [one for one in self.findings if one.measurement is Measurement.SOAK and one.place not in judged]
        return [one for one in soaks if one.result and one.result["lost"]]

    @property
    def drifts(self) -> list[Drift]:
        """Of each testbed; of a campaign without several at most one."""
        return [self.drift, *self.other_drifts] if self.drift is not None else []

    def drift_of_what(self, drift: Drift) -> str:
        """'throughput of l2fwd-c at 64 bytes', and where there are several its testbed."""
        found = next((one for one in self.findings if one.place == drift.place), None)
        what = drift.place if found is None else f"{found.measurement.replace('_', ' ')} of {found.in_words}"
        return what if drift.testbed is None else f"{what} on {drift.testbed}"

    def drift_in_words(self, drift: Drift) -> str:
        """For the user: unknown where both rates are the highest that was offered."""
        found = next((one.result for one in self.findings if one.place == drift.place), None) or {}
        highest = found.get("max_fps")
        if highest is not None and min(drift.first_fps, drift.again_fps) >= highest:
            return "unknown: both times no frame was lost at the highest rate offered, so a change does not show"
        return drift.in_words()

    @property
    def worst_drift(self) -> Drift | None:
        """The one that changed most."""
        return max(self.drifts, key=lambda one: math.inf if one.change is None else abs(one.change), default=None)


def count_trials(results: list[tuple[str, AnyResult]]) -> Trials:
    """The sum over a journal."""
    reasons: dict[str, int] = {}
    for _, result in results:
        for reason in result.reasons:
            # Figures make each reason another one; the words around them say what happened.
            kind = _FIGURES.sub("…", reason.partition("\n")[0])
            reasons[kind] = reasons.get(kind, 0) + 1
    invalid = sum(not result.valid for _, result in results)
    return Trials(total=len(results), invalid=invalid, reasons=reasons)


def read_campaign_summary(folder: Path) -> CampaignSummary:
    """Reads `summary.json`.

    Raises `ResultsError`.
    """
    return read_record(folder / SUMMARY, CampaignSummary, "a campaign's summary", "a campaign")


def as_markdown(summary: CampaignSummary) -> str:
    """The summary for people: one table a measurement, a row for each kind of frames, a column for each device."""
    lines = [f"# {summary.title}, preset {summary.preset}", ""]
    # A paragraph of its own: it may end in a command, to be copied, and quote a program's output.
    # That all was measured is no verdict on the devices.
    word = "complete" if summary.status is Status.PASSED else str(summary.status)
    lines += [f"{word}: {summary.reason}" if summary.reason else word, ""]
    lines += [QUICK_CAUTION, ""] if summary.preset is Preset.QUICK else []
    lines += [
        f"{len(summary.findings)} of {summary.planned} measurements, {summary.trials.total} trials, "
        f"{summary.trials.invalid} of them invalid, {summary.seconds:.0f} s.",
        "",
    ]
    lines += [f"Again with: `{summary.command}`", ""]
    if summary.frames is not None:
        lines += [f"Frames: {summary.frames.grade}", ""]
        missing = [f"- not met: {finding}" for finding in summary.frames.missing]
        lines += [*missing, ""] if missing else []
    for drift in summary.drifts:
        what = summary.drift_of_what(drift)
        lines += [f"Drift of the {what}, measured again at the end: {summary.drift_in_words(drift)}", ""]
    if summary.acceptance:
        lines += ["## thresholds", "", "| threshold | device | frames | verdict |", "|---|---|---|---|"]
        for one in summary.acceptance:
            lines.append(f"| {one.threshold} | {one.device} | {frames_in_words(one)} | {one.in_words()} |")
        lines.append("")
    for measurement in dict.fromkeys(finding.measurement for finding in summary.findings):
        mine = [finding for finding in summary.findings if finding.measurement is measurement]
        lines += [f"## {measurement.value.replace('_', ' ')}", ""]
        lines += ["| frames | " + " | ".join(summary.devices) + " |", "|---|" + "---|" * len(summary.devices)]
        for frames in dict.fromkeys(frames_in_words(finding) for finding in mine):
            cells = {finding.device: _cell(finding) for finding in mine if frames_in_words(finding) == frames}
            lines.append(f"| {frames} | " + " | ".join(cells.get(device, "–") for device in summary.devices) + " |")
        lines += ["", *_grades(mine)]
    if summary.trials.reasons:
        lines += ["## invalid trials", ""]
        lines += [f"- {count} × {reason}" for reason, count in sorted(summary.trials.reasons.items())]
        lines.append("")
    return "\n".join(lines)


def _grades(findings: list[Finding]) -> list[str]:
    """How far the results may be called the RFC's, and what is missing, each clause once."""
    graded = [finding for finding in findings if finding.grade is not None]
    if not graded:
        return []
    grades = ", ".join(dict.fromkeys(str(finding.grade) for finding in graded))
    clauses = dict.fromkeys(clause for finding in graded for clause in finding.missing)
    return [f"Grade: {grades}", "", *(f"- not met: {clause}" for clause in clauses), *([""] if clauses else [])]


def frames_in_words(finding: Finding | Judgement) -> str:
    """'64 bytes, both directions, 256 flows': the frames of a finding."""
    return ", ".join([size_in_words(finding.size), *kind_in_words(finding.directions, finding.flows)])


def kind_in_words(directions: int, flows: int) -> list[str]:
    """What is said of frames beside their size; nothing of the simplest ones."""
    words = ["both directions"] if directions == 2 else []
    return words + ([f"{flows} flows"] if flows > 1 else [])


def _cell(finding: Finding) -> str:
    text = finding.headline if finding.status == "done" else f"{finding.status}: {finding.reason}"
    return (text or "done").replace("|", "/").replace("\n", " ")
