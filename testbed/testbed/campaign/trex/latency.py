# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Latency as reported by TRex: microseconds of a side stream, as low-pass values and, with --hdrh, a distribution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hdrh.histogram import HdrHistogram

from testbed.campaign.trial import Latency

_NS = 1000.0
LATENCY_DEFINITION = (
    "software, of TRex's side stream, from its sending to its receiving function. Granularity 1 µs (with --hdrh three "
    "digits of the whole microseconds); the bias, what TRex itself takes, is included and not known, since TRex cannot "
    "be connected to itself here; without --hdrh the mean is a low-pass value"
)
# What the server records (HDR_LOWEST, HDR_HIGHEST, digits of its time_histogram): a histogram to add others to.
_LEAST_US, _MOST_US, _DIGITS = 1, 10_000_000, 3
_PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99_9": 99.9, "p99_99": 99.99}


def latency(streams: Mapping[str, Any], flow_stats: Mapping[str, Any]) -> Latency | None:
    """Latency over all stamped streams; None if no frame of them came back.

    Where there is a distribution, the figures are its own. Else the mean is TRex's low-pass value, as jitter always is,
    and the greatest leaves out the first frames; of several streams the worse counts (of the least the better), and
    means are weighted.
    """
    stamped = {name: stream["latency"] for name, stream in streams.items() if name.isdigit() and "latency" in stream}
    counts = {name: _count(told, flow_stats.get(name)) for name, told in stamped.items()}
    known = [(told, counts[name]) for name, told in stamped.items() if counts[name]]
    if not known:
        return None
    count = sum(frames for _, frames in known)
    whole = _distribution([told["hdrh"] for told, _ in known if told.get("hdrh")])
    if whole is not None:
        return Latency(
            count=count,
            min=_NS * whole.get_min_value(),
            avg=_NS * whole.get_mean_value(),
            max=_NS * whole.get_max_value(),
            jitter=_worst(known, "jitter"),
            **{name: _NS * whole.get_value_at_percentile(share) for name, share in _PERCENTILES.items()},
        )
    least = [told["total_min"] for told, _ in known if isinstance(told.get("total_min"), int | float)]
    means = [(told["average"], frames) for told, frames in known if isinstance(told.get("average"), int | float)]
    mean_us = sum(mean * frames for mean, frames in means) / count if len(means) == len(known) else None
    return Latency(
        count=count,
        min=_NS * min(least) if least else None,
        avg=None if mean_us is None else _NS * mean_us,
        max=_worst(known, "total_max"),
        jitter=_worst(known, "jitter"),
    )


def _count(told: Mapping[str, Any], flow: Mapping[str, Any] | None) -> int:
    """How many stamped frames came back."""
    received = (flow or {}).get("rx_pkts", {}).get("total")
    return received if isinstance(received, int) else sum((told.get("histogram") or {}).values())


def _worst(known: list[tuple[Mapping[str, Any], int]], name: str) -> float | None:
    values = [told.get(name) for told, _ in known]
    figures = [value for value in values if isinstance(value, int | float)]
    return _NS * max(figures) if len(figures) == len(values) else None


def _distribution(encoded: list[str]) -> HdrHistogram | None:
    if not encoded:
        return None
    whole = HdrHistogram(_LEAST_US, _MOST_US, _DIGITS)
    for one in encoded:
        whole.decode_and_add(one)
    return whole
