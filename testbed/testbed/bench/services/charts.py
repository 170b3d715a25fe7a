# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The charts of services."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from matplotlib.axes import Axes

from testbed.bench.services.contestants import ORIGIN
from testbed.bench.services.record import ServicesRecord
from testbed.bench.services.tables import STACKS, STATISTICS, program_of, ramp_of, stack_of
from testbed.bench.sockets.record import BULK_UNIT, Latency
from testbed.bench.sockets.tables import per_cpu_second, runs_of
from testbed.comparison.noise_floor import again
from testbed.comparison.record import Measurement
from testbed.comparison.statistics import median_interval
from testbed.page.charts import SERIES, draw, label_logarithm

_MARKERS = ("o", "D", "s")
_PERCENTILES = ("p50", "p90", "p99", "p99_9", "p99_99")


def rate_charts(record: ServicesRecord) -> list[tuple[str, str]]:
    """(title, chart) of each condition: what a second of CPU time is good for, on a logarithmic axis."""
    return [
        (f"{one.describe()}, per second of CPU time", _rate_chart(place, one))
        for place, one in enumerate(record.measurements)
        if one.figures
    ]


def _rate_chart(number: int, measurement: Measurement) -> str:
    unit = BULK_UNIT / 1e6 if measurement.condition.message else 1
    names = [one.label for one in measurement.figures if one.label != again(measurement.labels[0])]
    programs = list(dict.fromkeys(map(program_of, names)))

    def paint(axes: Axes) -> None:
        seen, ends = [], []
        for name in names:
            place = list(STACKS).index(stack_of(name))
            rates = [unit * per_cpu_second(run) for run in runs_of(measurement, name)]
            low, high = median_interval(rates) or (min(rates), max(rates))
            middle = median(rates)
            at = len(programs) - programs.index(program_of(name))
            axes.errorbar(
                [middle],
                [at],
                xerr=[[middle - low], [high - middle]],
                marker=_MARKERS[place],
                color=SERIES[place],
                capsize=3,
                linestyle="none",
                label=None if place in seen else STACKS[stack_of(name)],
            )
            seen.append(place)
            ends += [low, high]
        axes.set_xscale("log")
        label_logarithm(axes.xaxis, ends)
        axes.set_yticks(list(range(len(programs), 0, -1)), programs)
        axes.set_ylim(0.4, len(programs) + 0.6)
        axes.set_xlabel("MB" if measurement.condition.message else "requests")
        axes.grid(axis="x")
        axes.legend(frameon=False, fontsize=9.5, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)

    return draw(f"rates-{number}", 1.3 + 0.3 * len(programs), paint, measurement.describe())


def ramp_charts(latencies: Sequence[Latency]) -> list[tuple[str, str]]:
    """(title, chart) of the percentiles of pages at a rate that proxies on all stacks carry."""
    charts = []
    ramp = ramp_of(latencies)
    for each in sorted({one.per_connection for one in ramp}, reverse=True):
        mine = [one for one in ramp if one.per_connection == each]
        stacks = [
            {one.planned for one in mine if stack_of(one.server) == stack and program_of(one.server) != ORIGIN}
            for stack in {stack_of(one.server) for one in mine}
        ]
        common = set.intersection(*stacks) if stacks else set()
        if common:
            # The highest of those that most of them carry.
            rate = max(common, key=lambda rate: (sum(one.planned == rate for one in mine), rate))
            title = f"Latency at {rate:,.0f} requests/s, {each} requests each"
            charts.append((title, _ramp_chart(each, [one for one in mine if one.planned == rate])))
    return charts


def _ramp_chart(each: int, latencies: Sequence[Latency]) -> str:
    def paint(axes: Axes) -> None:
        places = range(len(_PERCENTILES))
        for number, one in enumerate(latencies):
            stack = list(STACKS).index(stack_of(one.server))
            values = [getattr(one, f"{name}_us") for name in _PERCENTILES]
            axes.plot(
                places,
                values,
                marker=_MARKERS[stack],
                color=SERIES[number % len(SERIES)],
                linestyle="dotted" if program_of(one.server) == ORIGIN else "solid",
                label=one.server,
            )
        axes.set_yscale("log")
        label_logarithm(axes.yaxis, [getattr(one, f"{name}_us") for one in latencies for name in _PERCENTILES])
        axes.set_xticks(list(places), [STATISTICS[name] for name in _PERCENTILES])
        axes.set_ylabel("µs, from the planned time")
        axes.grid(axis="y")
        axes.legend(frameon=False, fontsize=8.5, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))

    return draw(f"ramp-{each}", 3.6 + 0.11 * len(latencies), paint, "Percentiles of the latency of pages")
