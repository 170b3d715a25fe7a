# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`report.html` and `report.md` of a campaign or a comparison, made of what lies in its folder.

Both are made of the same sections. What was not measured is not there, and a line says so.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from testbed import __version__
from testbed.campaign.acceptance.junit import JUNIT
from testbed.campaign.diff.surroundings import Difference, between, flat
from testbed.campaign.folder import CampaignFolder, ComparisonFolder, Evidence, read_folder
from testbed.campaign.remote.host import THIS_MACHINE
from testbed.campaign.report.acceptance import accepted
from testbed.campaign.report.campaign_verdict import gravest, overall_grade, sentence
from testbed.campaign.report.evidence import waiting_caution
from testbed.campaign.report.loads import ceilings_in_words
from testbed.campaign.report.overview import overview_csv
from testbed.campaign.report.sections import Section, campaign_sections, comparison_sections
from testbed.campaign.scenario import Preset, Simulated
from testbed.campaign.summary import QUICK_CAUTION
from testbed.page.skeleton import page_templates
from testbed.page.tables import Row, Table, markdown_table, markdown_text
from testbed.run.environment import Environment
from testbed.run.results_folder import Status, write_atomically

REPORT = "report.html"
MARKDOWN = "report.md"
# The overview.
TABLE = "overview.csv"
# Fields of `environment.json` that the page has words for; the rest is listed as it is.
_WORDED = frozenset(
    {"recorded", "cpu", "memory_mb", "hugepages", "kernel", "boot_parameters", "system", "dpdk", "commit"}
    | {"uncommitted_changes", "binaries", "python"}
)


@dataclass
class Report:
    """All that both forms say."""

    title: str
    started: datetime | None
    status: Status
    reason: str | None
    verdict: str
    # Of the thresholds: whether all have passed, and how many; None if there are none.
    accepted: tuple[bool, str] | None
    # The grade, and what it lacks first.
    grade: str | None
    shortcoming: str | None
    cautions: list[str]
    sections: list[Section]
    # Who measured what, in which campaign.
    identity: list[tuple[str, str]]
    environment: Environment
    further: dict[str, str]
    others: dict[str, list[Difference]]
    command: str
    files: list[str]


def write_report(folder: Path) -> Path:
    """Writes both forms and returns the path of the page.

    Raises `ResultsError`.
    """
    record = read_folder(folder)
    if isinstance(record, CampaignFolder):
        # The report lists it.
        write_atomically(folder / TABLE, overview_csv(record))
    report = make_report(record)
    # Both are made before either is written.
    page, text = as_page(report), as_markdown(report)
    write_atomically(folder / MARKDOWN, text)
    write_atomically(folder / REPORT, page)
    return folder / REPORT


def make_report(record: CampaignFolder | ComparisonFolder) -> Report:
    """What there is to say."""
    return _of_comparison(record) if isinstance(record, ComparisonFolder) else _of_campaign(record)


def _of_campaign(record: CampaignFolder) -> Report:
    summary = record.summary
    grade = overall_grade(summary)
    kind = summary.kind_in_words
    cautions = []
    if summary.preset is Preset.QUICK:
        kind = "Quick"
        cautions.append(QUICK_CAUTION)
    if words := record.settings.scenario.frames.ports_in_words:
        cautions.append(f"{', '.join(words)}: rates are those of one direction with the whole load.")
    cautions += [
        f"Drift of the {summary.drift_of_what(one)}, measured again at the end: {summary.drift_in_words(one)}."
        for one in summary.drifts
    ]
    return Report(
        title=f"{kind} campaign: {', '.join(summary.devices)}",
        started=summary.started,
        status=summary.status,
        reason=summary.reason,
        verdict=sentence(record),
        accepted=accepted(record),
        grade=grade,
        shortcoming=gravest(record),
        cautions=[*ceilings_in_words(record), *cautions, *_cautions(record)],
        sections=campaign_sections(record),
        identity=_identity(record, summary.campaign),
        command=summary.command,
        files=_files(record.folder),
        **_surroundings(record.evidence),
    )


def _of_comparison(record: ComparisonFolder) -> Report:
    verdict, told = record.verdict, record.settings.compare
    runs = record.settings.runs
    quick = f"Preset {verdict.preset}: a quick look; the ratios count, the rates are no RFC 2544 figures."
    return Report(
        title=f"Comparison: {told.a} and {told.b}",
        started=runs[0] if runs else None,
        status=verdict.status,
        reason=verdict.reason,
        verdict=verdict.sentence or "Unfinished: there is no verdict yet.",
        accepted=None,
        grade=None,
        shortcoming=None,
        cautions=[*([quick] if verdict.preset == Preset.QUICK else []), *_cautions(record)],
        sections=comparison_sections(record),
        identity=_identity(record, record.settings.comparison),
        command=verdict.command,
        files=_files(record.folder),
        **_surroundings(record.evidence),
    )


def _cautions(record: CampaignFolder | ComparisonFolder) -> list[str]:
    machine = record.evidence.environment
    if isinstance(record.settings.scenario.generator, Simulated):
        return ["Simulated devices: the figures are those of a model, and say nothing of any machine."]
    waiting = waiting_caution(record.evidence)
    cautions = [waiting] if waiting else []
    if machine.is_virtual:
        cautions.append(
            f"Measured on a virtual machine ({machine.cpu.hypervisor}) that may share its processor with others: the "
            "absolute figures describe this machine at that time."
        )
    return cautions


def _surroundings(found: Evidence) -> dict[str, object]:
    """The fields of `Report` that say what it was measured on."""
    further = {key: value for key, value in found.machine.items() if key not in _WORDED}
    # The section of the evidence has what is recorded of this machine beside the environment.
    further["hosts"] = {name: host for name, host in (further.get("hosts") or {}).items() if name != THIS_MACHINE}
    changed = {name: between(found.machine, later) for name, later in found.others.items()}
    return {"environment": found.environment, "further": flat(further), "others": changed}


def _identity(record: CampaignFolder | ComparisonFolder, number: str) -> list[tuple[str, str]]:
    """Whose measurement it is, and of what: as the scenario says, and as the programs were found."""
    scenario = record.settings.scenario
    binaries = {binary.name: binary for binary in record.evidence.environment.binaries}
    lines = [("Campaign", number), ("Scenario", scenario.name)]
    lines += [("Description", scenario.description)] if scenario.description else []
    lines += [("Operator", scenario.operator or "not given")]
    for device in scenario.devices:
        words = [device.description] if device.description else []
        program = device.program or device.name
        if device.command is not None:
            words.append(shlex.join(device.command))
        elif program in binaries:
            version = binaries[program].version
            # Most programs begin with their name.
            words.append(version if version.startswith(program) else f"{program}, version {version}")
            words.append(f"SHA-256 {binaries[program].sha256}")
        words += [f"options {shlex.join(device.options)}"] if device.options else []
        words += [f"on {device.host.name}"] if device.host is not None else []
        words += ["simulated"] if device.model is not None else []
        lines.append((f"Device {device.name}", "; ".join(words) or "not started by this tool"))
    return [*lines, ("Tool", f"testbed {__version__}, commit {record.evidence.environment.commit}")]


def _files(folder: Path) -> list[str]:
    """What lies beside the report, for whoever wants to reckon again."""
    known = (TABLE, "summary.json", "summary.csv", "summary.md", JUNIT, "verdict.json", "verdict.csv", "verdict.md")
    settings = ("journal.jsonl", "campaign.json", "comparison.json", "scenario.yaml", "environment.json")
    # Written together with the page.
    return [MARKDOWN, *(name for name in (*known, *settings) if (folder / name).exists())]


def as_page(report: Report) -> str:
    """The HTML."""
    return page_templates().get_template("campaign.html").render(report=report, version=__version__)


def as_markdown(report: Report) -> str:
    """The same without charts."""
    when = f"{report.started:%Y-%m-%d %H:%M} UTC, " if report.started else ""
    blocks = [f"# {markdown_text(report.title)}", f"**{markdown_text(report.verdict)}**"]
    if report.accepted:
        blocks.append(markdown_text(report.accepted[1]))
    if report.grade:
        blocks.append(f"Grade: **{report.grade}**. {markdown_text(report.shortcoming or '')}".rstrip())
    word = "complete" if report.status is Status.PASSED else report.status
    blocks.append(f"{when}{word}{f': {markdown_text(report.reason)}' if report.reason else ''}")
    blocks += [markdown_text(caution) for caution in report.cautions]
    for section in report.sections:
        blocks.append(f"## {markdown_text(section.title)}")
        blocks += [markdown_text(line) for line in section.text]
        if section.charts:
            blocks.append(f"Charts in {REPORT}: {markdown_text('; '.join(caption for caption, _ in section.charts))}.")
        blocks += [_with_title(table, section.titled or len(section.tables) > 1) for table in section.tables]
        blocks += [markdown_text(section.note)] if section.note else []
        if section.remarks:
            blocks.append("\n".join(f"- {markdown_text(remark)}" for remark in section.remarks))
    blocks += ["## Identity", "\n".join(f"- {name}: {markdown_text(value)}" for name, value in report.identity)]
    blocks += _environment_blocks(report)
    blocks += ["## Repeat the measurement", f"```sh\n{report.command}\n```"]
    return "\n\n".join(blocks) + "\n"


def _with_title(table: Table, wanted: bool) -> str:
    return f"### {table.title}\n\n{markdown_table(table)}" if wanted else markdown_table(table)


def _environment_blocks(report: Report) -> list[str]:
    fields = flat(report.environment.model_dump(mode="json", include=set(_WORDED))) | report.further
    table = Table("", ["Field", "Value"], [Row([name, value]) for name, value in fields.items()], text_columns=2)
    blocks = ["## Environment", markdown_table(table)]
    for name, differences in report.others.items():
        words = "; ".join(f"{one.what}: {one.a}, there {one.b}" for one in differences) or "nothing"
        blocks.append(f"Differences in {markdown_text(name)}: {markdown_text(words)}.")
    return blocks
