# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`verdict.json` and `verdict.md`: what a comparison has found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field

from testbed.campaign.compare.schedule import Figure
from testbed.campaign.compare.size_verdict import Comparison, SizeVerdict
from testbed.campaign.progress_view import mega
from testbed.campaign.sizes import Size
from testbed.run.results_folder import Status

VERDICT = "verdict.json"


class ComparisonVerdict(BaseModel):
    """`verdict.json`."""

    model_config = ConfigDict(extra="forbid")

    schema_version: int = 1
    status: Status
    reason: str | None = None
    command: str
    scenario: str
    preset: str
    sentence: str | None = None
    comparison: Comparison | None = None
    testbeds: dict[Size, str] = Field(
        default_factory=dict, description="of a comparison over several testbeds, which of them measured which size"
    )


def figures_in_words(figures: Sequence[Figure]) -> str:
    """'forwarding rate and latency'."""
    return " and ".join(figure.replace("_", " ") for figure in figures)


def in_words(figure: Figure, value: float, *, at_least: bool = False) -> str:
    """'2.3457 Mpps', or '12.34 µs'; a lower bound is '≥ 2.3457 Mpps'."""
    words = f"{value / 1e3:.2f} µs" if figure is Figure.LATENCY else f"{mega(value)} Mpps"
    return f"≥ {words}" if at_least else words


def as_markdown(verdict: ComparisonVerdict) -> str:
    """The verdict for people."""
    lines = [f"# compare: {verdict.scenario}, preset {verdict.preset}", ""]
    if verdict.comparison is None:
        return "\n".join([*lines, f"{verdict.status}: {verdict.reason}", ""])
    told = verdict.comparison.settings
    lines += [verdict.sentence or "", "", f"Again with: `{verdict.command}`", ""]
    lines += [
        f"Ratios of {told.a} to {told.b}, above 1 where {told.a} is better; medians of blocks with 95 % intervals. The "
        f"noise is how far {told.a} seemed to differ from itself.",
        "",
    ]
    if any(found.a_at_least or found.b_at_least for found in verdict.comparison.verdicts):
        lines += ["≥: the generator offered no more than this, and the device forwarded it: a lower bound.", ""]
    for figure in told.figures:
        columns = ["bytes", told.a, told.b, "ratio", "interval", "p", "noise", "verdict"]
        columns += ["testbed"] if verdict.testbeds else []
        lines += [f"## {figure.replace('_', ' ')}", "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
        for found in verdict.comparison.verdicts:
            if found.figure is figure:
                lines.append(_row(found, verdict.testbeds))
        lines.append("")
    if verdict.comparison.failures:
        lines += ["## not measured", ""]
        lines += [f"- {line}" for line in verdict.comparison.not_measured]
        lines.append("")
    return "\n".join(lines)


def _row(found: SizeVerdict, testbeds: Mapping[int, str]) -> str:
    ratio = found.ratio
    cells = [
        str(found.size),
        *(
            in_words(found.figure, value, at_least=at_least) if value is not None else "–"
            for value, at_least in ((found.a, found.a_at_least), (found.b, found.b_at_least))
        ),
        f"{ratio.median:.4f}" if ratio else "–",
        f"{ratio.ci95[0]:.4f} to {ratio.ci95[1]:.4f}" if ratio and ratio.ci95 else "–",
        f"{found.corrected_p:.4f}" if found.corrected_p is not None else "–",
        f"{100 * found.noise:.2f} %" if found.noise is not None else "–",
        found.verdict,
        *([testbeds[found.size]] if testbeds else []),
    ]
    return f"| {' | '.join(cells)} |"
