# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""How much of a measurement a run is: what it times, for how long, and what it leaves out."""

from __future__ import annotations

from testbed.parsing.matrix import variants
from testbed.parsing.record import LTO_FAT, LTO_OFF, ParsingRecord, Residency, Variant
from testbed.parsing.timing import BRIEF, QUICK, USUAL, Protocol

# Frames that the gate draws for each workload, beside all mutants.
GATE_FRAMES = 100_000
GATE_FRAMES_QUICK = 5_000


def residencies(quick: bool, variant: Variant) -> list[Residency]:
    """All of them where it is about libraries; one where it is about what a compiler makes of them, or a check."""
    return list(Residency) if variant in (LTO_OFF, LTO_FAT) and not quick else [Residency.HOT]


def protocol(quick: bool, variant: Variant) -> Protocol:
    """How long a kernel of a variant is timed."""
    if quick:
        return QUICK
    return USUAL if variant in variants("default", quick=False) else BRIEF


def gate_frames(quick: bool) -> int:
    """How many the gate draws for each workload."""
    return GATE_FRAMES_QUICK if quick else GATE_FRAMES


def left_out(record: ParsingRecord) -> list[str]:
    """What a run without options has, and this one has not, each in a few words."""
    found = []
    if record.quick:
        usual, quick = variants("default", quick=False), variants("default", quick=True)
        missing = [variant.describe() for variant in usual if variant not in quick]
        found.append(f"{len(quick)} of {len(usual)} variants: not {'; not '.join(missing)}")
        found.append("times of hot frames only, none of frames in the L2 cache or in memory")
        found.append(f"{_words(QUICK)} for each time, instead of {_words(USUAL)}")
        found.append(
            f"{GATE_FRAMES_QUICK:,} drawn frames a workload in the gate, instead of {GATE_FRAMES:,}, and kernels that "
            "are less optimised"
        )
    if not record.times:
        found.append("no times")
    if not record.alone:
        found.append("no library built alone")
    return found


def briefly(record: ParsingRecord) -> str | None:
    """That variants which a run without options has not are timed for less long; None where there are none."""
    if record.quick or record.matrix != "full" or not record.times:
        return None
    return f"Variants that only the full matrix has: {_words(BRIEF)} for each time, instead of {_words(USUAL)}."


def _words(protocol: Protocol) -> str:
    return f"{protocol.samples} samples in {protocol.expected_s():.2g} s"
