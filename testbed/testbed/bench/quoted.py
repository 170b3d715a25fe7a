# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`RESULTS.md`, made of the raw data in `results/quoted/`: every pair of every run, none chosen.

What the page says is computed from the slices again, not read from what a run once wrote. The tests of all rows are one
family: Holm's correction goes over the whole page.
"""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from testbed.bench import quoted_text as text
from testbed.bench.count.gate import BYTE, REQUEST
from testbed.bench.record import OverloadRecord, read_record
from testbed.bench.sockets.race import compared
from testbed.bench.sockets.record import RaceRecord
from testbed.bench.sockets.record import read_record as read_races
from testbed.bench.sockets.tables import churn_table, latency_table, rate_table, stream_table
from testbed.comparison.figures import figures
from testbed.comparison.pair_verdict import Verdict, interval_text, judge
from testbed.comparison.pairs import pairs
from testbed.comparison.record import ComparisonRecord, Pair
from testbed.comparison.statistics import PairRatio, holm
from testbed.page.tables import ABSENT, Row, Table, figure, markdown_table
from testbed.run.results_folder import ResultsError, write_atomically

PAGE = "RESULTS.md"
FOLDER = Path("results", "quoted")
COUNTS = Path("testbed", "counts.json")
_SUFFIX = ".json.xz"
_COUNTED = "-count"
_RACED = "sockets"
# Pairs of the same two programs in other runs, which the page sums up.
_TWINS = (("l2fwd-rs", "l2fwd-c"), ("l2fwd-rs:static", "l2fwd-c:static"))


@dataclass(frozen=True)
class Claim:
    """One row: a pair of a run, or its first contestant against itself."""

    run: str
    pair: Pair
    corrected_p: float | None
    verdict: Verdict


def renew_page(root: Path) -> Path:
    """Writes the page and returns its path.

    Raises `ResultsError`.
    """
    write_atomically(root / PAGE, results_page(root))
    return root / PAGE


def results_page(root: Path) -> str:
    """The page, from the files below `root`.

    Raises `ResultsError` for raw data that cannot be read or that no section shows.
    """
    files = {_name(path, root): path for path in sorted((root / FOLDER).glob(f"*/*{_SUFFIX}"))}
    counted = {name: path for name, path in files.items() if name.endswith(_COUNTED)}
    races = {name: read_races(path) for name, path in files.items() if name.rpartition("/")[2].startswith(_RACED)}
    runs = {name: read_record(path) for name, path in files.items() if name not in (*counted, *races)}
    everything = runs | races
    claims, raced = claims_of(runs), claims_of(races)
    blocks = [text.INTRODUCTION.format(rows=len(claims)), "## The runs", text.RUNS]
    blocks.append(markdown_table(run_table(everything)))
    blocks.append("```sh\n" + "\n".join(f"{run.command}    # {name}" for name, run in everything.items()) + "\n```")
    left = set(runs)
    for section in text.SECTIONS:
        mine = {name: run for name, run in runs.items() if name.rpartition("/")[2] in section.runs}
        left -= set(mine)
        rows = [claim for claim in claims if claim.run in mine]
        blocks += [f"## {section.title}", section.words, markdown_table(claim_table(rows)), *_twins_in_words(rows)]
        blocks.append(text.MEDIANS)
        blocks.append(markdown_table(_figure_table(mine)))
    if races:
        measurements = [one for run in races.values() for one in run.measurements]
        latencies = [one for run in races.values() for one in run.latencies]
        blocks += [text.RACES.format(rows=len(raced)), markdown_table(claim_table(raced))]
        blocks += [text.RACE_RATES, markdown_table(rate_table(measurements))]
        blocks += [text.RACE_LATENCIES, markdown_table(latency_table(latencies))]
        churn = [one for run in races.values() for one in run.churn]
        blocks += [text.RACE_CHURN, markdown_table(churn_table(churn))]
        if (filled := stream_table(measurements)).rows:
            blocks += [text.RACE_STREAMS, markdown_table(filled)]
    if left:
        raise ResultsError(f"no section of {PAGE} shows {', '.join(sorted(left))}: add it to quoted_text.py")
    counts = _read(root / COUNTS)
    blocks += ["## Instructions", text.INSTRUCTIONS, markdown_table(_count_table(counts))]
    blocks += [text.REQUEST_INSTRUCTIONS, markdown_table(_server_table(counts, REQUEST, ",.0f"))]
    blocks += [text.BYTE_INSTRUCTIONS, markdown_table(_server_table(counts, BYTE, ".2f"))]
    for name, path in counted.items():
        blocks += [text.REWRITE_INSTRUCTIONS.format(name=name), markdown_table(_rewrite_table(_read(path)))]
    return "\n\n".join([*blocks, text.FURTHER]) + "\n"


def claims_of(
    runs: Mapping[str, ComparisonRecord], chosen: Callable[[Sequence[Pair]], list[Pair]] = list
) -> list[Claim]:
    """All pairs, or those chosen, and noise floors of all runs, their p corrected over all of them, each with its
    verdict."""
    found: list[tuple[str, Pair, PairRatio | None]] = []
    for name, run in runs.items():
        for measurement in run.measurements:
            is_race = isinstance(run, RaceRecord)
            mine, floors = compared([measurement]) if is_race else pairs(measurement, run.per_cpu_second)
            itself = floors[0].ratio if floors else None
            found += [*((name, pair, itself) for pair in chosen(mine)), *((name, floor, None) for floor in floors)]
    tested = [place for place, (_, pair, _) in enumerate(found) if pair.ratio.p is not None]
    corrected = dict(zip(tested, holm([found[place][1].ratio.p or 0.0 for place in tested]), strict=True))
    claims = []
    for place, (name, pair, floor) in enumerate(found):
        p = corrected.get(place)
        ratio = pair.ratio.model_copy(update={"p": p})
        claims.append(Claim(name, pair, p, judge(ratio, floor, disturbed=pair.disturbed)))
    return claims


def claim_table(claims: Sequence[Claim]) -> Table:
    """One row a claim; conditions in the table only if they differ."""
    conditions = [claim.pair.describe() for claim in claims]
    several = len(set(conditions)) > 1
    columns = ["Run", *(["Condition"] if several else []), "A", "B", "Verdict: A is", "Blocks", "A / B"]
    rows = []
    for claim, condition in zip(claims, conditions, strict=True):
        pair = claim.pair
        verdict = f"{claim.verdict}, disturbed" if pair.disturbed else str(claim.verdict)
        cells = [claim.run, *([condition] if several else []), pair.a, pair.b, verdict, str(len(pair.ratio.samples))]
        cells += [f"{pair.ratio.median:.3f}", interval_text(pair.ratio) or ABSENT, figure(claim.corrected_p, ".2g")]
        rows.append(Row(cells))
    return Table("", [*columns, "95 % interval", "p, corrected"], rows, text_columns=5 if several else 4)


def _twins_in_words(claims: Sequence[Claim]) -> list[str]:
    """What all runs together say of the twins."""
    mine = [claim for claim in claims if (claim.pair.a, claim.pair.b) in _TWINS]
    if not mine:
        return []
    counts = Counter(claim.verdict for claim in mine)
    verdicts = ", ".join(f"{verdict} in {counts[verdict]}" for verdict in Verdict if counts[verdict])
    medians = [claim.pair.ratio.median for claim in mine]
    runs = f"{len(mine)} comparison{'' if len(mine) == 1 else 's'} with its twin"
    return [f"l2fwd-rs, in {runs} linked alike: {verdicts}; medians from {min(medians):.3f} to {max(medians):.3f}."]


def run_table(runs: Mapping[str, ComparisonRecord]) -> Table:
    """One row a run: the machine, the time, and the programs."""
    columns = ["Run", "Processor", "Started, UTC", "DPDK", "Commit", "Program: SHA-256", "CPUs", "Hugepages"]
    rows = []
    for name, run in runs.items():
        machine = run.environment
        programs = dict.fromkeys(f"{one.name} {one.dpdk_linking}: {one.sha256[:8]}" for one in machine.binaries)
        virtual = f", {machine.cpu.hypervisor}" if machine.is_virtual else ""
        rows.append(
            Row(
                [
                    name,
                    f"{machine.cpu.model}, {float(machine.cpu.mhz) / 1000:.2f} GHz{virtual}",
                    f"{run.started:%Y-%m-%d %H:%M}",
                    machine.dpdk,
                    (machine.commit or ABSENT)[:8],
                    ", ".join(programs),
                    str(machine.cpu.usable),
                    "yes" if machine.hugepages.used else "no",
                ]
            )
        )
    return Table("", columns, rows, text_columns=6)


def _figure_table(runs: Mapping[str, OverloadRecord]) -> Table:
    several = len({one.condition for run in runs.values() for one in run.measurements}) > 1
    columns = ["Run", *(["Condition"] if several else []), "Contestant", "Mpps", "Per CPU second [M]", "Own CPU [%]"]
    rows = []
    for name, run in runs.items():
        for measurement in run.measurements:
            for one in figures(measurement, run.tsc_hz):
                cells = [name, *([measurement.describe()] if several else []), one.label, f"{one.rate_pps / 1e6:.2f}"]
                cells += [f"{one.rate_per_cpu_pps / 1e6:.2f}", f"{100 * one.cpu_share:.1f}"]
                empty = one.empty_poll_share
                rows.append(Row([*cells, figure(None if empty is None else 100 * empty, ".1f")]))
    return Table("", [*columns, "Empty polls [%]"], rows, text_columns=3 if several else 2)


def _count_table(counts: dict) -> Table:
    parts = ("application", "library", "device")
    rows = [
        Row([versions, counted, *(f"{costs[part]:.2f}" if part in costs else ABSENT for part in parts)])
        for versions, figures_of in counts["figures"].items()
        for counted, costs in figures_of.items()
        if not {REQUEST, BYTE} & set(costs)
    ]
    return Table("", ["Versions", "Program", *(part.capitalize() for part in parts)], rows, text_columns=2)


def _server_table(counts: dict, what: str, form: str) -> Table:
    rows = [
        Row([versions, counted, f"{costs[what]:{form}}"])
        for versions, figures_of in counts["figures"].items()
        for counted, costs in figures_of.items()
        if what in costs
    ]
    return Table("", ["Versions", "Server", what.capitalize()], rows, text_columns=2)


def _rewrite_table(counts: dict) -> Table:
    costs = {one["contestant"]: one["instructions_per_packet"] for one in counts["counts"]}
    none = costs["rewrite:none"]["all"]
    rows = [
        Row(
            [
                name,
                f"{cost['application']:.1f}",
                f"{cost['device']:.1f}",
                f"{cost['all']:.1f}",
                f"{cost['all'] - none:.1f}",
            ]
        )
        for name, cost in costs.items()
    ]
    return Table("", ["Contestant", "Application", "Device", "All", "More than rewrite:none"], rows)


def _name(path: Path, root: Path) -> str:
    """'machine-a/net-null-twins'."""
    return path.relative_to(root / FOLDER).as_posix().removesuffix(_SUFFIX)


def _read(path: Path) -> dict:
    try:
        data = path.read_bytes()
        return json.loads(lzma.decompress(data) if path.suffix == ".xz" else data)
    except OSError as error:
        raise ResultsError(f"cannot read '{path}': {error.strerror}") from error
    except (ValueError, lzma.LZMAError) as error:
        raise ResultsError(f"'{path}' is not JSON: {error}") from error
