# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The results folder: what `summary.json` holds, and how it is written and read."""

from __future__ import annotations

import contextlib
import os
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from testbed.statistics import Ratio, Spread

R = TypeVar("R", bound=BaseModel)

# Raised by one when a reader of the old form would misread the new one.
SCHEMA_VERSION = 1


class ResultsError(Exception):
    """A results folder cannot be written or read; the message says why."""


class Status(StrEnum):
    """How a part of the demo ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    INTERRUPTED = "interrupted"


class Record(BaseModel):
    """A part of the summary. Unknown fields are an error: the schema's version says what may be there."""

    model_config = ConfigDict(extra="forbid")


class Trial(Record):
    """One run of one forwarder. An invalid one has reasons and its figures count nowhere."""

    program: str
    language: str
    reasons: list[str] = Field(default_factory=list, description="why it is invalid; empty if it is valid")
    notes: list[str] = Field(default_factory=list, description="what to know when reading its figures")

    @property
    def valid(self) -> bool:
        """Whether its figures count."""
        return not self.reasons


class ForwarderFrames(Record):
    """The forwarder's own count."""

    rx_packets: int
    tx_packets: int
    tx_dropped: int
    rx_short: int
    rx_burst_avg: float = Field(description="received / polls, empty polls included, while it was under load")
    empty_poll_share: float = Field(description="polls that found nothing / polls, while it was under load")


class GeneratorFrames(Record):
    """The generator's own count."""

    duration_s: float
    sent: int
    received: int
    tx_retries: int = Field(description="frames that the full queue did not take at once; they were offered again")
    lost: int
    latency_p50_ns: float | None = None
    latency_p99_ns: float | None = None


class Drops(Record):
    """Where the frames that did not come back were lost."""

    wire_to_forwarder: int
    forwarder_short: int
    forwarder_tx_queue: int
    wire_to_generator: int


class OverloadTrial(Trial):
    """One round of one forwarder under all the load that the generator can make."""

    round: int
    generator: GeneratorFrames | None = None
    forwarder: ForwarderFrames | None = None
    drops: Drops | None = None
    forwarded_pps: float | None = None
    steal_percent: float | None = Field(None, description="CPU time that the hypervisor gave to others meanwhile")
    cpu_share: dict[str, float] = Field(
        default_factory=dict, description="CPU time that 'generator' and 'forwarder', which never sleep, got / time"
    )


class OverloadRow(Record):
    """The valid rounds of one forwarder together: a row of the article's table."""

    program: str
    language: str
    rounds: int
    generator_tx: Spread
    generator_rx: Spread
    forwarder_tx: Spread
    forwarder_rx: Spread
    forwarder_drops: Spread
    rx_burst_avg: Spread
    forwarded_pps: Spread


class Act(Record):
    """One of the three acts."""

    status: Status
    reason: str | None = None


class OverloadAct(Act):
    """Act a: overload on the virtual wire."""

    size: int
    seconds: float
    rounds: int
    seed: int
    device: str
    lcores: dict[str, int] = Field(default_factory=dict)
    trials: list[OverloadTrial] = Field(default_factory=list)
    rows: list[OverloadRow] = Field(default_factory=list)
    ratio: Ratio | None = Field(None, description="forwarded frames, Rust / C, in pairs of one round")


class Ping(Record):
    """What `ping` counted."""

    sent: int
    received: int
    loss_percent: float
    rtt_min_ms: float | None = None
    rtt_avg_ms: float | None = None
    rtt_max_ms: float | None = None


class TcpTransfer(Record):
    """What `iperf3` counted."""

    seconds: float
    bytes: int
    bits_per_second: float
    retransmits: int


class HostsTrial(Trial):
    """Two hosts talk through one forwarder."""

    ping: Ping | None = None
    tcp: TcpTransfer | None = None
    rx_packets: int | None = None
    tx_packets: int | None = None
    tx_dropped: int | None = None


class HostsAct(Act):
    """Act b: real hosts."""

    trials: list[HostsTrial] = Field(default_factory=list)
    capture: str | None = Field(None, description="the capture of this traffic, relative to the results folder")


class FrameDifference(Record):
    """One finding of the comparison."""

    kind: str = Field(description="changed, missing, surplus, reordered or mac")
    frame: int = Field(description="number of the frame in the input (surplus: in the output), from 1")
    detail: str


class CaptureTrial(Trial):
    """A capture went through one forwarder."""

    frames_in: int | None = None
    frames_short: int | None = Field(None, description="shorter than an Ethernet header: rightly not forwarded")
    frames_out: int | None = None
    identical: int | None = Field(None, description="frames that came out in order and unchanged but for the MACs")
    differences: list[FrameDifference] = Field(default_factory=list, description="the first of them")
    output: str | None = None


class CaptureAct(Act):
    """Act c: a capture, frame by frame."""

    source: str | None = None
    sha256: str | None = None
    frames: int | None = None
    bytes: int | None = None
    trials: list[CaptureTrial] = Field(default_factory=list)


class Summary(Record):
    """`summary.json`."""

    schema_version: int = SCHEMA_VERSION
    kind: str = "demo"
    status: Status
    reason: str | None = None
    started: datetime
    finished: datetime | None = None
    command: str
    quick: bool
    hugepages: bool
    environment: str = "environment.json"
    overload: OverloadAct | None = None
    hosts: HostsAct | None = None
    capture: CaptureAct | None = None

    @property
    def acts(self) -> list[tuple[str, Act | None]]:
        """The acts in their order, by title."""
        return [
            ("a. Overload on the virtual wire", self.overload),
            ("b. Real hosts", self.hosts),
            ("c. A capture", self.capture),
        ]


def write_atomically(path: Path, text: str) -> None:
    """Writes `text` to `path` so that a reader, or a crash, never meets half a file."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise ResultsError(
            f"cannot write '{path}': {error.strerror}: free some space or choose another --out"
        ) from error


def write_summary(folder: Path, summary: Summary) -> Path:
    """Writes `summary.json`; called again after each trial, so that nothing measured is lost."""
    path = folder / "summary.json"
    write_atomically(path, summary.model_dump_json(indent=2) + "\n")
    return path


def read_summary(folder: Path) -> Summary:
    """Reads `summary.json`.

    Raises `ResultsError` for a file that is missing, of another schema version, or broken.
    """
    return read_record(folder / "summary.json", Summary, "a summary", "a finished demo or a campaign")


def read_record(path: Path, model: type[R], what: str, whose: str, version: int = SCHEMA_VERSION) -> R:
    """Reads a JSON file with a schema version, which messages call `what` in a folder of `whose`.

    Raises `ResultsError` for a file that is missing, of another schema version, or broken.
    """
    try:
        return model.model_validate_json(_of_version(path, version))
    except OSError as error:
        raise ResultsError(f"cannot read '{path}': {error.strerror}: give the folder of {whose}") from error
    except UnicodeDecodeError as error:
        raise ResultsError(f"'{path}' is not {what}: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise ResultsError(f"'{path}' is not {what}: {field}: {first['msg']}") from error


class _Version(BaseModel):
    schema_version: int


def _of_version(path: Path, wanted: int) -> str:
    text = path.read_text(encoding="utf-8")
    version = _Version.model_validate_json(text).schema_version
    if version != wanted:
        raise ResultsError(f"'{path}' has schema version {version}, this tool reads version {wanted}")
    return text


def new_results_folder(parent: Path, kind: str, now: datetime | None = None) -> Path:
    """Makes `parent/KIND-<UTC time>/raw` and returns the folder; a second one in the same second gets a number."""
    stamp = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    try:
        for attempt in range(100):
            folder = parent / (f"{kind}-{stamp}" if attempt == 0 else f"{kind}-{stamp}-{attempt + 1}")
            try:
                folder.mkdir(parents=True)
            except FileExistsError:
                continue
            (folder / "raw").mkdir()
            return folder
    except OSError as error:
        raise ResultsError(
            f"cannot make a results folder in '{parent}': {error.strerror}: choose another --out"
        ) from error
    raise ResultsError(f"'{parent}' already has 100 folders named {kind}-{stamp}")
