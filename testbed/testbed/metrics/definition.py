# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A metric by the conventions of Prometheus: base units in the name, and _total at the end of a counter's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric


@dataclass(frozen=True)
class Definition:
    """A metric as queries name it."""

    name: str
    help: str
    labels: tuple[str, ...] = ()

    @property
    def is_counter(self) -> bool:
        """Whether it only grows; otherwise it is a gauge."""
        return self.name.endswith("_total")


class Sample(NamedTuple):
    """A value of one; the labels are in the order of its definition."""

    name: str
    labels: Sequence[str]
    value: float


def families(definitions: Sequence[Definition], samples: Iterable[Sample]) -> Iterator[Metric]:
    """The samples as a scrape gives them."""
    found: dict[str, list[Sample]] = {}
    for sample in samples:
        found.setdefault(sample.name, []).append(sample)
    for one in definitions:
        family = (CounterMetricFamily if one.is_counter else GaugeMetricFamily)(one.name, one.help, labels=one.labels)
        for sample in found.get(one.name, []):
            family.add_metric(sample.labels, sample.value)
        yield family
