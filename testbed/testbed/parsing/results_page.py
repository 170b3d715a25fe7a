# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Generates `parsing-bench/RESULTS.md` with its charts and data from a record."""

from __future__ import annotations

import importlib.resources
import re
import shutil
from pathlib import Path

from testbed.page.tables import markdown_table, markdown_text
from testbed.parsing import comparison_tables as tables
from testbed.parsing.conclusion import conclusion
from testbed.parsing.matrix import variants
from testbed.parsing.matrix_tables import matrix_tables, variant_table
from testbed.parsing.record import LTO_FAT, LTO_OFF, ParsingRecord, Workload, read_record, write_record
from testbed.parsing.report import command, shown_quantity
from testbed.run.programs import repository_root
from testbed.run.results_folder import ResultsError, write_atomically

PAGE = "RESULTS.md"
# Beside the page.
FOLDER = "results"
# In this folder: the record of the full matrix, which is only counted.
MATRIX = "matrix.json.xz"
# In this folder: the record of the measurement, from which `./x bench parsing --from` makes the page with all charts.
SUMMARY = "summary.json.xz"
IN_FORWARDER = "./x bench overload --wire net_pcap rewrite:none rewrite:raw rewrite:smoltcp"
SHOW = "./x bench parsing --from parsing-bench/results"
RENEW = "./x bench parsing --renew-results"

# For charts in files of their own: the font of the page.
_FONT = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'


def renew_results(record: ParsingRecord, home: Path | None = None) -> Path:
    """Writes the page, charts and data of a measurement; returns the path of the page. A record of the full matrix
    without times is stored beside the present measurement.

    Raises `ResultsError` for a record that is neither.
    """
    if reason := refusal(record):
        raise ResultsError(f"{PAGE} is not renewed: {reason}")
    home = home or repository_root() / "parsing-bench"
    folder = home / FOLDER
    kept = folder / MATRIX
    matrix = read_record(kept) if kept.is_file() else None
    if not record.times:
        measured = folder / SUMMARY
        if not measured.is_file():
            raise ResultsError(f"{PAGE} has no measurement yet: run {RENEW} first")
        record, matrix = read_record(measured), record
    drawn = figures(record)
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    except OSError as error:
        raise ResultsError(f"cannot create '{folder}': {error.strerror}") from error
    write_record(folder / SUMMARY, record)
    if matrix is not None:
        write_atomically(kept, matrix.model_dump_json(exclude_none=True) + "\n")
    for name, (_, chart) in drawn.items():
        write_atomically(folder / name, chart)
    captions = {name: caption for name, (caption, _) in drawn.items()}
    write_atomically(home / PAGE, markdown(record, captions, matrix))
    return home / PAGE


def refusal(record: ParsingRecord) -> str | None:
    """Why a record must not be published; None if it may be."""
    if record.quick:
        return "a quick run is not a measurement: omit --quick"
    if missing := [workload for workload in Workload if workload not in record.workloads]:
        return f"it lacks {', '.join(missing)}: omit --workload"
    if record.only:
        return "it lacks some libraries: omit --libs"
    if not record.times and record.matrix != "full":
        return "it has no times: omit --no-times"
    wanted = (LTO_OFF, LTO_FAT) if record.times else variants("full", quick=False)
    for variant in wanted:
        build = record.build(variant)
        if build is None or build.reason:
            return f"{variant.describe()}: {build.reason if build else 'not measured'}"
    return None


def figures(record: ParsingRecord) -> dict[str, tuple[str, str]]:
    """Caption and chart by file name: the article's Figures 12 and 13, which show all libraries."""
    # Importing matplotlib takes a second, which errors of the command line avoid.
    from testbed.parsing import charts

    quantity = shown_quantity(record)
    found = {
        f"figure-{number}.svg": charts.all_chart(record, variant, Workload.W1, quantity)
        for variant, number in charts.ARTICLE_OF_ALL.items()
    }
    return {name: (drawn[0], stand_alone(drawn[1])) for name, drawn in found.items() if drawn}


def stand_alone(chart: str) -> str:
    """A chart of the page as a file of its own, with the light and dark colours of the page."""
    css = importlib.resources.files("testbed.page").joinpath("templates/page.css").read_text(encoding="utf-8")
    light = re.search(r"^:root \{.*?^\}", css, flags=re.DOTALL | re.MULTILINE)
    dark = re.search(r"^@media \(prefers-color-scheme: dark\) \{.*?^\}", css, flags=re.DOTALL | re.MULTILINE)
    colours = "\n".join(found[0] for found in (light, dark) if found)
    style = f"<style>{colours}\nsvg {{ color: var(--text); background: var(--card); font-family: {_FONT}; }}</style>"
    opening, rest = chart.split(">", 1)
    return f'{opening} width="540">{style}{rest}'


def markdown(record: ParsingRecord, captions: dict[str, str], matrix: ParsingRecord | None = None) -> str:
    """The page; `captions` has the captions of the charts by file name, `matrix` more variants."""
    blocks = [
        "# Results",
        f"Generated by `{RENEW}`; do not edit this page. `{SHOW}` writes the same results with all charts to "
        f"`report.html`. All figures: [{FOLDER}/{SUMMARY}]({FOLDER}/{SUMMARY}).",
        _machine(record),
    ]
    if answers := conclusion(record):
        blocks += ["## Conclusions", "\n".join(f"- **{question}.** {answer}" for question, answer in answers)]
        blocks.append(
            "Figures are instructions with fat LTO and one codegen unit, unless stated otherwise. *The limit* is "
            "unsafe Rust that checks a length and writes through a pointer. The ratio of a parser is not that of a "
            "forwarder, in which receiving and sending a frame takes more than parsing it. In a live forwarder: "
            f"`{IN_FORWARDER}`."
        )
    blocks += _figures(record, captions)
    for workload in record.workloads:
        table = tables.workload_table(record, workload)
        blocks += [f"## {table.title}", markdown_table(table)]
        blocks.append(_repeat(command(record, workload)))
    blocks.append(
        "Instructions: executed per frame, counted by callgrind. Times: median with half of its interval, in bursts of "
        "32 frames with alternating rules, including the loop around the kernel."
    )
    blocks += _code(record)
    blocks += _bad_input(record)
    blocks += ["## Ease of use", markdown_table(tables.ease_table(record)), _repeat("./x bench parsing --alone")]
    blocks += ["### The packages", markdown_table(tables.crate_table(record))]
    blocks.append(
        "Version: from Cargo.lock. Released, newest: from cargo's copy of the registry index. unsafe: how often the "
        "word occurs in the package's source, without comments, strings, tests and dependencies."
    )
    blocks += _variants(record, matrix)
    blocks += ["## Tools and caches", "\n".join(f"- {name}: {version}" for name, version in tables.tools(record))]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _variants(record: ParsingRecord, matrix: ParsingRecord | None) -> list[str]:
    shown = matrix or record
    blocks = ["## Variants"]
    if matrix is not None:
        versions = f"rustc {matrix.versions.rustc}, gcc {matrix.versions.gcc}, clang {matrix.versions.clang}"
        blocks.append(
            f"Counted separately, without times, with {versions}: {_machine(matrix)} All figures: "
            f"[{FOLDER}/{MATRIX}]({FOLDER}/{MATRIX})."
        )
    blocks.append(markdown_table(variant_table(shown)))
    for table in matrix_tables(shown):
        blocks += [f"### {table.title}", markdown_table(table)]
    blocks.append(
        "Variants: LTO and codegen units; v3: x86-64-v3; abort: panics abort; cross: C compiled by clang is linked as "
        "bitcode."
    )
    words = f"./x bench parsing --matrix {shown.matrix}" + ("" if shown.times else " --no-times")
    return [*blocks, _repeat(words)]


def _machine(record: ParsingRecord) -> str:
    environment = record.environment
    where = f", virtual ({environment.cpu.hypervisor})" if environment.is_virtual else ""
    changes = ", with uncommitted changes" if environment.uncommitted_changes else ""
    return (
        f"{record.started:%d %B %Y}, {environment.cpu.model}{where}, {environment.system}, "
        f"kernel {environment.kernel}, commit `{environment.commit}`{changes}. The command was `{record.command}`."
    )


def _figures(record: ParsingRecord, captions: dict[str, str]) -> list[str]:
    if not captions:
        return []
    quantity = shown_quantity(record)
    blocks = ["## Link-time optimisation: the article's Figures 12 and 13"]
    blocks += [f"**{caption}**\n\n![{caption}]({FOLDER}/{name})" for name, caption in captions.items()]
    for workload in record.workloads:
        table = tables.lto_table(record, workload, quantity)
        if table.rows:
            blocks += [f"### {workload}: {quantity.title}", markdown_table(table)]
    return [*blocks, _repeat(command(record))]


def _code(record: ParsingRecord) -> list[str]:
    contents = [table for workload in record.workloads if (table := tables.code_table(record, workload)).rows]
    if not contents:
        return []
    blocks = [
        "## Machine code",
        "With fat LTO: the kernel's function, and the function with everything that it may call.",
    ]
    for table in contents:
        blocks += [f"### {table.title}", markdown_table(table)]
    return [*blocks, _repeat("objdump --disassemble=pb_w2_smoltcp results/bench-parsing-*/programs/fat-1/measure")]


def _bad_input(record: ParsingRecord) -> list[str]:
    gate = tables.gate_table(record)
    if not gate.rows:
        return []
    blocks = ["## Bad input", markdown_table(gate)]
    for workload in record.workloads:
        table = tables.behaviour_table(record, workload)
        if table.rows:
            blocks += [f"### {table.title}, frames", markdown_table(table)]
    cases = tables.first_cases(record)
    if cases:
        listed = [
            f"- {library}, {workload}: {markdown_text(reason)}" + (f" `{frame}`" if frame else "")
            for library, workload, reason, frame in cases
        ]
        blocks += ["### The first case of each fault", "\n".join(listed)]
    return [*blocks, _repeat("cargo run --release -p parsing-bench --bin parsing-gate")]


def _repeat(words: str) -> str:
    return f"Repeat: `{words}`"
