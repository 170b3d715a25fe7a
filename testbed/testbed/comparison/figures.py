# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What describes each contestant, over all blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy

from testbed.comparison.record import Figures, Lost, Measurement, Run


def figures(measurement: Measurement, tsc_hz: int | None) -> list[Figures]:
    """What describes each contestant."""
    valid = [block for block in measurement.blocks if not block.reasons]
    found = []
    for label in measurement.labels:
        runs = [run for block in valid for run in block.runs if run.label == label and run.slices.round]
        if runs:
            found.append(_figures(label, runs, tsc_hz))
    return found


def _figures(label: str, runs: Sequence[Run], tsc_hz: int | None) -> Figures:
    def median(figure: Callable[[Run], float | None]) -> float | None:
        values = [value for value in map(figure, runs) if value is not None]
        return float(numpy.median(values)) if values else None

    def known(figure: Callable[[Run], float | None]) -> float:
        return median(figure) or 0.0

    def generator_share(run: Run) -> float | None:
        cpu = run.slices.generator_cpu_seconds
        return sum(cpu) / sum(run.slices.seconds) if cpu else None

    def total(place: str) -> int | None:
        counts = [getattr(run.lost, place) for run in runs]
        return None if any(count is None for count in counts) else max(0, sum(counts))

    per_cpu = known(lambda run: sum(run.slices.tx_packets) / max(sum(run.slices.cpu_seconds), 1e-9))
    return Figures(
        label=label,
        blocks=len(runs),
        rate_pps=known(lambda run: sum(run.slices.tx_packets) / sum(run.slices.seconds)),
        rate_per_cpu_pps=per_cpu,
        cpu_share=known(lambda run: sum(run.slices.cpu_seconds) / sum(run.slices.seconds)),
        generator_cpu_share=median(generator_share),
        cycles_per_packet=tsc_hz / per_cpu if tsc_hz and per_cpu else None,
        rx_burst_avg=median(lambda run: run.rx_burst_avg),
        empty_poll_share=median(lambda run: run.empty_poll_share),
        lost=Lost(**{place: total(place) for place in Lost.model_fields}),
        rss_kb=round(known(lambda run: run.rss_kb)),
        hugepages_kb=round(known(lambda run: run.hugepages_kb)),
        start_s=known(lambda run: run.start_s),
    )
