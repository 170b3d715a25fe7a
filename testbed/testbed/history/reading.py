# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the store takes from a results folder: the run, and its figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from testbed.bench.record import OverloadRecord, read_record
from testbed.campaign.diff.values import Key, Unit, Value, values_of
from testbed.campaign.folder import CampaignFolder, ComparisonFolder, is_campaign_folder, read_finished_folder
from testbed.campaign.sizes import size_in_words
from testbed.campaign.summary import SUMMARY, frames_in_words
from testbed.run.environment import Binary, Environment
from testbed.run.results_folder import ResultsError, Status

_BENCH = "bench overload"


@dataclass(frozen=True)
class Run:
    """A campaign, a comparison or a run of `bench overload`."""

    campaign: str
    kind: str
    started: datetime
    commit: str
    # Whether the tree had changes beside the commit; None if that is not known.
    uncommitted: bool | None
    machine: str
    kernel: str
    scenario: str
    preset: str
    command: str
    folder: str


@dataclass(frozen=True)
class Figure:
    """One value of a run."""

    test: str
    figure: str
    frames: str
    device: str
    testbed: str
    # Of the device's program; empty where it is not known.
    version: str
    sha256: str
    dpdk: str
    unit: Unit
    value: float
    low: float | None
    high: float | None


def read_results(folder: Path, testbed: str | None = None) -> tuple[Run, list[Figure]]:
    """The run of a folder, on a testbed of this name; without one it goes by its processor.

    Raises `ResultsError` if it has no figures, is unfinished or of another schema version.
    """
    if is_campaign_folder(folder):
        record = read_finished_folder(folder)
        run, figures = _run(record), list(_of_campaign(record, testbed))
    elif (folder / SUMMARY).is_file():
        overload = read_record(folder / SUMMARY)
        if overload.status is Status.INTERRUPTED:
            raise ResultsError(f"'{folder}' is not finished, and cannot be continued: give another folder")
        run, figures = _bench_run(overload, folder), list(_of_bench(overload, testbed))
    else:
        raise ResultsError(
            f"'{folder}' is no results folder that the store takes: give one that rfc2544, overload, compare, run or "
            f"{_BENCH} made"
        )
    if not figures:
        raise ResultsError(f"'{folder}' has no figures: nothing in it was measured to its end")
    return run, figures


def _run(record: CampaignFolder | ComparisonFolder) -> Run:
    machine, told = record.evidence.environment, record.settings
    return Run(
        campaign=record.identity,
        kind=record.summary.kind if isinstance(record, CampaignFolder) else "compare",
        started=told.runs[0] if told.runs else machine.recorded,
        commit=machine.commit,
        uncommitted=machine.uncommitted_changes,
        machine=machine.cpu.model,
        kernel=machine.kernel,
        scenario=told.scenario.name,
        preset=told.scenario.preset,
        command=told.command,
        folder=str(record.folder.absolute()),
    )


def _of_campaign(record: CampaignFolder | ComparisonFolder, testbed: str | None) -> Iterator[Figure]:
    machine = record.evidence.environment
    elsewhere = _testbeds(record)
    programs = {device.name: device.program or device.name for device in record.settings.scenario.devices}
    for key, value in values_of(record).items():
        # A ratio is of two devices: each has its program.
        binaries = [_binary(machine, programs.get(name, name)) for name in key.device.split(" / ")]
        yield _figure(
            key,
            value,
            testbed=elsewhere.get((key.test, key.frames, key.device)) or testbed or machine.cpu.model,
            binaries=[one for one in binaries if one is not None],
            dpdk=str(machine.hosts.get(key.device, {}).get("dpdk") or machine.dpdk),
        )


def _testbeds(record: CampaignFolder | ComparisonFolder) -> dict[tuple[str, str, str], str]:
    """Of several testbeds, the one that measured a figure, by test, frames and device."""
    if isinstance(record, CampaignFolder):
        return {
            (finding.measurement.replace("_", " "), frames_in_words(finding), finding.device): finding.testbed
            for finding in record.summary.findings
            if finding.testbed is not None
        }
    pair = f"{record.settings.compare.a} / {record.settings.compare.b}"
    return {("compare", size_in_words(size), pair): name for size, name in record.settings.testbeds.items()}


def _bench_run(record: OverloadRecord, folder: Path) -> Run:
    machine = record.environment
    return Run(
        # It has no number of its own.
        campaign=f"{record.kind} {record.started.isoformat()} {record.seed}",
        kind=record.kind,
        started=record.started,
        commit=machine.commit,
        uncommitted=machine.uncommitted_changes,
        machine=machine.cpu.model,
        kernel=machine.kernel,
        scenario=_BENCH,
        preset="quick" if record.quick else "full",
        command=record.command,
        folder=str(folder.absolute()),
    )


def _of_bench(record: OverloadRecord, testbed: str | None) -> Iterator[Figure]:
    """Rates of the contestants and ratios of the pairs, each condition once though it be in two sweeps."""
    machine = record.environment
    found: dict[Key, Value] = {}
    for measurement in record.measurements:
        # The last is the first once more.
        for one in [one for one in measurement.figures if one.label != measurement.labels[-1]]:
            frames = measurement.condition.describe()
            rates = {"rate": one.rate_pps, "rate per CPU second": one.rate_per_cpu_pps}
            for name, rate in rates.items():
                found[Key(_BENCH, name, frames, one.label)] = Value(value=rate, unit=Unit.FRAMES_PER_SECOND)
    for pair in record.pairs:
        low, high = pair.ratio.ci95 or (None, None)
        key = Key(_BENCH, "ratio of the rates", pair.condition.describe(), f"{pair.a} / {pair.b}")
        found[key] = Value(value=pair.ratio.median, unit=Unit.RATIO, low=low, high=high)
    for key, value in found.items():
        binaries = [_binary(machine, name) for name in key.device.split(" / ")]
        yield _figure(
            key,
            value,
            testbed=testbed or machine.cpu.model,
            binaries=[one for one in binaries if one is not None],
            dpdk=machine.dpdk,
        )


def _binary(machine: Environment, program: str) -> Binary | None:
    return next((one for one in machine.binaries if one.name == program), None)


def _figure(key: Key, value: Value, testbed: str, binaries: list[Binary], dpdk: str) -> Figure:
    return Figure(
        **key._asdict(),
        testbed=testbed,
        version=" / ".join(dict.fromkeys(one.version for one in binaries)),
        sha256=" / ".join(one.sha256 for one in binaries),
        dpdk=dpdk,
        unit=value.unit,
        value=value.value,
        low=value.low,
        high=value.high,
    )
