# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The sections of a report, for the page and for Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from testbed.campaign.compare.schedule import Figure
from testbed.campaign.compare.size_verdict import Comparison
from testbed.campaign.embedded.settings import Embedded
from testbed.campaign.folder import CampaignFolder, ComparisonFolder, Evidence
from testbed.campaign.measurements.back_to_back import BackToBack
from testbed.campaign.measurements.latency import LatencyFound
from testbed.campaign.measurements.throughput import Throughput
from testbed.campaign.report import evidence, tables
from testbed.campaign.report.acceptance import acceptance_table
from testbed.campaign.report.calibration import calibration_table
from testbed.campaign.report.campaign_verdict import absent
from testbed.campaign.report.grades import GRADES_IN_WORDS, grade_tables, wholly_met
from testbed.campaign.report.loads import ceiling_in_words, loads_in_words
from testbed.campaign.report.machine_pauses import (
    causes_in_words,
    pauses_table,
    rings_words,
    slowest_frames_words,
)
from testbed.campaign.report.overview import overview_note, overview_table
from testbed.campaign.report.pauses import pauses_in_words
from testbed.campaign.report.ranges import averages_explained, latencies_compared, resets_compared
from testbed.campaign.report.testbeds import lacking_testbeds, testbeds_table, use_of_testbeds
from testbed.campaign.scenario import Simulated
from testbed.campaign.sizes import size_in_words, sizes_in_words
from testbed.campaign.summary import Trials, count_trials, kind_in_words
from testbed.campaign.trex.settings import Trex
from testbed.page.tables import ABSENT, Row, Table, figure


@dataclass
class Section:
    """A section of the report. A section without content is left out."""

    title: str
    text: list[str] = field(default_factory=list)
    charts: list[tuple[str, str]] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    # What to know when reading the tables.
    note: str | None = None
    remarks: list[str] = field(default_factory=list)
    # Whether a single table has its title too.
    titled: bool = False
    # Whether its text alone justifies the section.
    text_alone: bool = False

    @property
    def anchor(self) -> str:
        """Its place in the page."""
        return re.sub("[^a-z0-9]+", "-", self.title.lower()).strip("-")


def campaign_sections(record: CampaignFolder) -> list[Section]:
    """The sections of a campaign: the charts by frame size, then each test, then the evidence."""
    # Importing matplotlib takes a second, which errors of the command line avoid.
    from testbed.campaign.report import charts, curves

    overview, throughput = overview_table(record), tables.throughput_table(record)
    sections = [
        Section("Overview", tables=[overview], note=overview_note(overview)),
        Section("Acceptance", tables=[acceptance_table(record)]),
    ]
    for kind in record.frame_kinds:
        drawn = charts.size_charts(record, kind)
        words = ", ".join(kind_in_words(*kind))
        text = [charts.legend_in_words(record, kind, drawn)]
        text += [*pauses_in_words(record, kind), *loads_in_words(record, kind)]
        if drawn:
            text += charts.missing_charts(record, kind, drawn)
            sections.append(Section(f"By frame size{f': {words}' if words else ''}", text, drawn))
    sizes = [finding.size for finding in record.summary.findings]
    few = curves.left_out(sizes)
    fewer = [f"No curve is drawn for {sizes_in_words(few)}; summary.csv has all points."] if few else []
    overload = [chart for kind in record.frame_kinds if (chart := charts.forwarding_chart(record, kind))]
    sections += [
        Section(
            "Throughput",
            tables=[throughput],
            note=" ".join([_throughput_note(throughput), *ceiling_in_words(record)]),
            remarks=tables.losses_verified(record, Throughput),
        ),
        Section("Forwarding rate under overload", charts=overload, tables=[tables.forwarding_table(record)]),
        Section(
            "Frame loss",
            [*fewer, *tables.lossless_curves(record)],
            curves.loss_curves(record),
            [tables.loss_table(record)],
        ),
        Section(
            "Latency",
            [*latencies_compared(record), *averages_explained(record), *fewer],
            [*curves.percentile_curves(record), *curves.load_curves(record)],
            [tables.latency_table(record), tables.percentile_table(record)],
            _latency_note(record),
            [*tables.latency_remarks(record), *slowest_frames_words(record)],
        ),
        Section(
            "Back-to-back frames",
            tables=[tables.back_to_back_table(record)],
            note=_BURST_NOTE,
            remarks=tables.losses_verified(record, BackToBack),
        ),
        Section("System recovery", tables=[tables.recovery_table(record)]),
        Section(
            "Reset",
            resets_compared(record),
            tables=[tables.reset_table(record)],
            note=_reset_note(record),
            remarks=tables.resets_left_out(record),
        ),
        Section("Soak", tables.soak_losses(record), curves.soak_curves(record), [tables.soak_table(record)]),
        Section("Not measured", remarks=absent(record.summary, record.settings.scenario.tests)),
        *_setup_sections(record),
        Section("Frame format", record.summary.frame_format, text_alone=bool(record.summary.frame_format)),
        Section("Grades", [GRADES_IN_WORDS], tables=grade_tables(record), remarks=wholly_met(record), titled=True),
        Section("Testbeds", [*lacking_testbeds(record), *use_of_testbeds(record)], tables=[testbeds_table(record)]),
        *_trial_sections(record.evidence, record.summary.trials, record.summary.devices, record.summary.seconds),
    ]
    return _kept(sections)


def _throughput_note(table: Table) -> str:
    wire = "; on the wire: with 20 bytes of preamble and gap for each" if tables.ON_THE_WIRE in table.columns else ""
    return (
        "The highest rate at which every frame came back, found by FD.io's MLRsearch: the bounds are the highest rate "
        f"that meets the goal and the lowest that does not. Frames: bits of frames with FCS{wire}."
    )


_BURST_NOTE = "The corrected buffer is that of RFC 9004, without the part of the burst that was forwarded meanwhile."


def _reset_note(record: CampaignFolder) -> str | None:
    settings = record.settings.scenario.generator
    if isinstance(settings, Trex):
        return "Gap is the time by lost frames, lost frames / load: TRex stamps no frame."
    if not isinstance(settings, Embedded):
        return None
    note = (
        "Gap is the time between the last frame before a reset and the first after it, as they came back. The time by "
        "lost frames differs from it where the generator was late in the gap, and then sent at up to twice the rate, "
        "and where frames waited in a queue. A pause of the generator for longer than a queue holds makes a reset "
        "invalid too; that it is late by several shorter ones does not, since the gap is between stamps. Pauses of the "
        "device are not recorded there: its loop ends in the reset."
    )
    if settings.wire == "virtual" and settings.guest is None:
        note += (
            " On the virtual wire, DPDK's vhost library looks once a second for a device that was started again: a gap "
            "of the process has up to 1 s of this."
        )
    return note


def _latency_note(record: CampaignFolder) -> str:
    found = [result for _, result in record.found(LatencyFound)]
    definitions = sorted({_definition(result) for result in found})
    sentences = [
        "Load [%] is relative to the throughput; ≤: of that only a lower bound is known. The average and the jitter "
        "are means over the repetitions."
    ]
    if any(result.pdv_ns for result in found):
        sentences.append(
            "Percentiles and PDV, the packet delay variation of RFC 8219, are medians over them; bars in the charts of "
            "percentiles are their ranges."
        )
    if any(result.ipdv_ns for result in found):
        sentences.append(
            "Jitter is the mean |IPDV| of RFC 5481, the difference between frames that came one after the other."
        )
    if any(result.jitter_ns for result in found):
        sentences.append("TRex's jitter is the running estimate of RFC 3550.")
    sentences.append(f"Latency is {'; and '.join(definitions)}. It is not RFC 1242's, from bit to bit at the device.")
    late = any(at.late_percent is not None for result in found for at in result.loads)
    sentences.append(
        "A frame is stamped when it leaves: what it was late by is not in its latency."
        + (" Left late: frames that left more than 0.1 ms after they were due, to make up for a pause." if late else "")
    )
    sentences.append(
        "The baseline is that of the generator connected to itself, without wire and device, at the same load: each "
        "figure includes it."
        if any(result.baseline for result in found)
        else "What the generator adds to it is not known."
    )
    return " ".join(sentences)


def _definition(result: LatencyFound) -> str:
    label = result.definition
    return f"labelled {label} by an earlier version, which measured it in software" if label in _LABELS else label


# RFC 1242's, which no generator here measures.
_LABELS = ("store-and-forward", "bit-forwarding")


_CALIBRATION_NOTE = (
    "What the generator was asked for before the first trial, per direction, and the rates among these that it did not "
    "keep, and kept: a burst that was spoilt is tried again, so a rate may be in both. The first try of a size asks "
    "for more than any generator can send."
)


_PAUSES_NOTE = (
    "Times in which a program did not look at its queues while there was load, by the TSC in its own loop: counts "
    "over all trials, then the longest one of each trial. A trial with a gap in which more frames were due than a "
    "queue holds is disturbed: invalid whatever it lost, and repeated; so is one in which the generator was late by as "
    "much, also if several shorter gaps added up. That is not so if the device's gap was longer "
    "than others had its CPU in that trial, by more than a queue holds: then it stalled by itself."
)


_EVIDENCE_NOTE = (
    "As the programs and the kernels reported it when the campaign began; of a resumed campaign, at its first start. "
    "Unknown: neither the program nor the kernel reports it, or an earlier version of the testbed did not record it."
)
_NO_EVIDENCE = "The devices are models: no NIC, no CPU and no link took part."


def _setup_sections(record: CampaignFolder | ComparisonFolder) -> list[Section]:
    """What was joined to what, and the facts of both sides."""
    from testbed.campaign.report.topology.drawing import topology_chart
    from testbed.campaign.report.topology.layout import topologies
    from testbed.campaign.report.topology.table import evidence_tables

    found = topologies(record)
    simulated = isinstance(record.settings.scenario.generator, Simulated)
    return [
        Section(
            "Topology",
            charts=[topology_chart(one, f"topology-{number}") for number, one in enumerate(found)],
            remarks=[f"{one.title}. {one.in_words}" for one in found],
        ),
        Section(
            "Evidence",
            [_NO_EVIDENCE] if simulated else [],
            tables=[] if simulated else evidence_tables(found),
            note=None if simulated else _EVIDENCE_NOTE,
            text_alone=simulated,
        ),
    ]


def _trial_sections(found: Evidence, trials: Trials, devices: list[str], seconds: float | None) -> list[Section]:
    reasons = evidence.reasons_table(trials.reasons)
    lost = evidence.loss_places_table(found, devices)
    ran = (
        [f"The campaign ran for {evidence.in_words(seconds)}, with calibration, pauses and starts."] if seconds else []
    )
    return [
        Section(
            "Validity of the trials",
            evidence.validity_lines(found),
            tables=[reasons, lost],
            text_alone=True,
        ),
        Section("Calibration", tables=[calibration_table(found)], note=_CALIBRATION_NOTE),
        Section(
            "Pauses of the machine",
            [*rings_words(found), *causes_in_words(found, devices)],
            tables=[pauses_table(found, devices)],
            note=_PAUSES_NOTE,
        ),
        Section("Time", ran, tables=[evidence.time_table(found)]),
    ]


def comparison_sections(record: ComparisonFolder) -> list[Section]:
    """The sections of a comparison: for each figure the ratios over the noise floor."""
    from testbed.campaign.report import charts

    found, told = record.verdict.comparison, record.settings.compare
    trials = count_trials(record.evidence.trials)
    behind = [*_setup_sections(record), *_trial_sections(record.evidence, trials, [], None)]
    if found is None:
        return _kept(behind)
    sections = []
    for one in told.figures:
        chart = charts.ratio_chart(found, one)
        text = [
            f"Ratios of {told.a} to {told.b}, above 1 where {told.a} is better: medians of {told.blocks} interleaved "
            f"blocks with 95 % intervals. The noise is the apparent difference of {told.a} from itself in as many "
            "blocks; dotted lines mark the range that counts as equal."
        ]
        title = one.replace("_", " ").capitalize()
        sections.append(Section(title, text, [chart] if chart else [], [_ratio_table(record, found, one)]))
    missing = [line[0].upper() + line[1:] for line in found.not_measured]
    return _kept([*sections, Section("Not measured", remarks=missing), *behind])


def _ratio_table(record: ComparisonFolder, comparison: Comparison, figure_name: Figure) -> Table:
    told, testbeds = record.settings.compare, record.settings.testbeds
    unit, scale = ("µs", 1e3) if figure_name is Figure.LATENCY else ("Mpps", 1e6)
    # The verdict comes first: on a phone the columns on the right are out of view.
    columns = ["Frames", "Verdict", f"{told.a} [{unit}]", f"{told.b} [{unit}]", "Ratio", "Interval", "p, corrected"]
    columns += ["Noise floor [%]", "Blocks", *(["Testbed"] if testbeds else [])]
    table = Table("Ratios", columns, text_columns=2)
    for found in comparison.verdicts:
        if found.figure is figure_name:
            ratio = found.ratio
            cells = [
                size_in_words(found.size),
                str(found.verdict),
                *(figure(value / scale if value is not None else None, ".4f") for value in (found.a, found.b)),
                figure(ratio.median if ratio else None, ".4f"),
                f"{ratio.ci95[0]:.4f} to {ratio.ci95[1]:.4f}" if ratio and ratio.ci95 else ABSENT,
                figure(found.corrected_p, ".4f"),
                figure(100 * found.noise if found.noise is not None else None, ".2f"),
                str(len(ratio.samples)) if ratio else "0",
                *([testbeds[found.size]] if testbeds else []),
            ]
            table.rows.append(Row(cells, kind=str(found.verdict)))
    return table


def _kept(sections: list[Section]) -> list[Section]:
    """The sections with content, without their empty tables."""
    for section in sections:
        section.tables = [table for table in section.tables if table.rows]
    return [one for one in sections if one.charts or one.tables or one.remarks or one.text_alone]
