# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Capture files, and what became of each frame of one on its way into another.

Frames are compared by a digest of all that a forwarder may not touch, so that captures larger than the memory can be
compared; only the frames of the reported differences are read a second time.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import dpkt.pcap
from pydantic import Field

from testbed.run.results_folder import Record

ETHERNET_HEADER_LEN = 14
# Destination and source address: the part of a frame that is rewritten.
_MACS_LEN = 12
_REPORTED = 20


class FrameDifference(Record):
    """One finding of the comparison."""

    kind: str = Field(description="changed, missing, surplus, reordered or mac")
    frame: int = Field(description="number of the frame in the input (surplus: in the output), from 1")
    detail: str


class CaptureError(Exception):
    """A capture cannot be read; the message says why and what to give instead."""


@dataclass(frozen=True)
class Macs:
    """The addresses that each forwarded frame must have."""

    destination: str
    source: str

    def header(self) -> bytes:
        """The first 12 bytes of such a frame."""
        return bytes.fromhex((self.destination + self.source).replace(":", ""))


@dataclass
class Comparison:
    """What came out, set against what went in."""

    frames_in: int = 0
    frames_short: int = 0
    frames_out: int = 0
    identical: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    differences: list[FrameDifference] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Only the MACs differ, nothing is missing or surplus, order is kept."""
        return not self.counts

    def summary(self) -> str:
        """'2 frames missing, 1 frame changed'."""
        words = {"mac": "with wrong MAC addresses"}
        return ", ".join(
            f"{count} frame{'' if count == 1 else 's'} {words.get(kind, kind)}"
            for kind, count in sorted(self.counts.items())
        )


def read_frames(path: Path) -> Iterator[bytes]:
    """The Ethernet frames of a pcap or pcapng file, as captured.

    Raises `CaptureError`.
    """
    remedy = "give a pcap or pcapng file of Ethernet frames, for example one made by 'tcpdump -i INTERFACE -w FILE'"
    try:
        with path.open("rb") as file:
            reader = dpkt.pcap.UniversalReader(file)
            link = reader.datalink()
            if link != dpkt.pcap.DLT_EN10MB:
                raise CaptureError(f"'{path}' holds frames of link type {link}, not Ethernet: {remedy}")
            # libpcap, through which DPDK reads the same file, cuts every frame to the length that the file's header
            # promises; a header without a promise says 0.
            longest = reader.snaplen or None
            for _, frame in reader:
                yield bytes(frame[:longest])
    except OSError as error:
        raise CaptureError(f"cannot read '{path}': {error.strerror}: {remedy}") from error
    except (ValueError, dpkt.Error) as error:
        raise CaptureError(f"'{path}' is not a capture: {error}: {remedy}") from error


def compare(before: Path, after: Path, macs: Macs) -> Comparison:
    """Compares frame by frame.

    A frame of `before` is *missing* if nothing like it came out, *changed* if another of its length stands in its
    place, *reordered* if it came out after one that it went in before. A frame of `after` is *surplus* if nothing
    like it went in, and has a wrong *mac* if its addresses are not `macs`.
    """
    result = Comparison()
    inputs: list[bytes] = []
    numbers: list[int] = []
    for result.frames_in, frame in enumerate(read_frames(before), start=1):
        if len(frame) < ETHERNET_HEADER_LEN:
            result.frames_short += 1
        else:
            inputs.append(_untouchable(frame))
            numbers.append(result.frames_in)
    header = macs.header()
    outputs: list[bytes] = []
    wrong_macs: set[int] = set()
    for result.frames_out, frame in enumerate(read_frames(after), start=1):
        outputs.append(_untouchable(frame))
        if frame[:_MACS_LEN] != header:
            wrong_macs.add(result.frames_out - 1)

    origin = _match(inputs, outputs)
    reordered = _out_of_order(origin)
    changed, missing, surplus = _unmatched(origin, len(inputs))
    result.identical = sum(
        1
        for index, source in enumerate(origin)
        if source is not None and index not in wrong_macs and index not in reordered
    )
    _describe(result, before, after, numbers, origin, changed, missing, surplus, reordered, wrong_macs, macs)
    return result


def _untouchable(frame: bytes) -> bytes:
    return hashlib.blake2b(frame[_MACS_LEN:], digest_size=16).digest()


def _match(inputs: list[bytes], outputs: list[bytes]) -> list[int | None]:
    """For each output the input that it came from; of equal frames the first one comes out first."""
    places: dict[bytes, deque[int]] = defaultdict(deque)
    for index, digest in enumerate(inputs):
        places[digest].append(index)
    return [places[digest].popleft() if places.get(digest) else None for digest in outputs]


def _out_of_order(origin: list[int | None]) -> set[int]:
    """Outputs that come after one that should follow them (as RFC 4737 counts)."""
    late: set[int] = set()
    highest = -1
    for index, source in enumerate(origin):
        if source is None:
            continue
        if source < highest:
            late.add(index)
        highest = max(highest, source)
    return late


def _unmatched(origin: list[int | None], input_count: int) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """(changed as (input, output), missing inputs, surplus outputs).

    What is missing and what is surplus between the same two neighbours is one frame that was changed.
    """
    matched = {source for source in origin if source is not None}
    gaps: dict[int, deque[int]] = defaultdict(deque)
    neighbour = -1
    for index in range(input_count):
        if index in matched:
            neighbour = index
        else:
            gaps[neighbour].append(index)
    changed: list[tuple[int, int]] = []
    surplus: list[int] = []
    neighbour = -1
    for index, source in enumerate(origin):
        if source is not None:
            neighbour = source
        elif gaps.get(neighbour):
            changed.append((gaps[neighbour].popleft(), index))
        else:
            surplus.append(index)
    missing = sorted(index for gap in gaps.values() for index in gap)
    return changed, missing, surplus


def _describe(
    result: Comparison,
    before: Path,
    after: Path,
    numbers: list[int],
    origin: list[int | None],
    changed: list[tuple[int, int]],
    missing: list[int],
    surplus: list[int],
    reordered: set[int],
    wrong_macs: set[int],
    macs: Macs,
) -> None:
    """Counts the findings and puts the first of each kind into words."""
    altered = {index for _, index in changed} | set(surplus)
    mac_only = sorted(wrong_macs - altered)
    for kind, count in (
        ("changed", len(changed)),
        ("missing", len(missing)),
        ("surplus", len(surplus)),
        ("reordered", len(reordered)),
        ("mac", len(mac_only)),
    ):
        if count:
            result.counts[kind] = count
    sources = _pick(before, {numbers[source] for source, _ in changed[:_REPORTED]})
    outputs = _pick(after, {index + 1 for _, index in changed[:_REPORTED]} | {i + 1 for i in mac_only[:_REPORTED]})
    found = [
        FrameDifference(
            kind="changed", frame=numbers[source], detail=_first_change(sources[numbers[source]], outputs[index + 1])
        )
        for source, index in changed[:_REPORTED]
    ]
    found += [
        FrameDifference(kind="missing", frame=numbers[source], detail="did not come out")
        for source in missing[:_REPORTED]
    ]
    found += [
        FrameDifference(kind="surplus", frame=index + 1, detail="came out but had not gone in")
        for index in surplus[:_REPORTED]
    ]
    found += [
        FrameDifference(
            kind="reordered", frame=numbers[origin[index] or 0], detail=f"came out late, as number {index + 1}"
        )
        for index in sorted(reordered)[:_REPORTED]
    ]
    found += [
        FrameDifference(kind="mac", frame=numbers[origin[index] or 0], detail=_mac_detail(outputs[index + 1], macs))
        for index in mac_only[:_REPORTED]
    ]
    result.differences = sorted(found, key=lambda difference: difference.frame)[:_REPORTED]


def _pick(path: Path, wanted: set[int]) -> dict[int, bytes]:
    if not wanted:
        return {}
    return {number: frame for number, frame in enumerate(read_frames(path), start=1) if number in wanted}


def _first_change(before: bytes, after: bytes) -> str:
    if len(before) != len(after):
        return f"came out with {len(after)} bytes instead of {len(before)}"
    offset = next(i for i in range(_MACS_LEN, len(before)) if before[i] != after[i])
    return f"byte {offset} is {after[offset]:#04x} instead of {before[offset]:#04x}"


def _mac_detail(frame: bytes, macs: Macs) -> str:
    destination, source = frame[:6].hex(":"), frame[6:12].hex(":")
    return f"{source} > {destination} instead of {macs.source} > {macs.destination}"
