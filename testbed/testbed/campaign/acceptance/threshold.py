# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A threshold: 'throughput ≥ 20 Mpps at 64 bytes for l2fwd-rs', 'average latency at 50 % ≤ 30 µs'."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from testbed.campaign.sizes import Size

_SIZE: TypeAdapter[int | str] = TypeAdapter(Size)
_FORM = re.compile(
    r"(?P<figure>[^≥≤<>=]+?)(\s+at\s+(?P<load>\d+(\.\d+)?)\s*%)?\s*(?P<sign>≥|>=|≤|<=)\s*(?P<number>\d+(\.\d+)?)\s*(?P<unit>[^\s\d]\S*)"
    r"(\s+at\s+(?P<sizes>.+?))?(\s+for\s+(?P<device>\S+))?"
)
_EXAMPLE = "'throughput ≥ 20 Mpps at 64 bytes'"

# What a unit is in frames/s, in bits/s, in nanoseconds, in seconds, in percent or in frames.
_FRAME_RATES = {"pps": 1.0, "kpps": 1e3, "Mpps": 1e6, "Gpps": 1e9}
_BIT_RATES = {"Mbit/s": 1e6, "Gbit/s": 1e9}
_TIMES = {"ns": 1.0, "µs": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9}
_PERCENT = {"%": 1.0}
_FRAMES = {"frames": 1.0}
_RATES = {**_FRAME_RATES, **_BIT_RATES, **_PERCENT}


@dataclass(frozen=True)
class Figure:
    """A figure that can have a threshold."""

    name: str
    # The value of `Measurement` that has it.
    measurement: str
    # Whether more is better.
    at_least: bool
    units: dict[str, float]


_LATENCIES = ("average latency", "median latency", "90 % latency", "99 % latency", "99.9 % latency", "99.99 % latency")
FIGURES = {
    figure.name: figure
    for figure in (
        Figure("throughput", "throughput", True, _RATES),
        Figure("forwarding rate", "forwarding_rate", True, _RATES),
        *(Figure(name, "latency", False, _TIMES) for name in (*_LATENCIES, "highest latency", "jitter", "PDV")),
        Figure("frame loss", "frame_loss", False, _PERCENT),
        Figure("back-to-back frames", "back_to_back", True, _FRAMES),
        Figure("recovery time", "recovery", False, _TIMES),
        Figure("reset time", "reset", False, _TIMES),
        Figure("soak loss", "soak", False, _PERCENT),
    )
}


@dataclass(frozen=True)
class Threshold:
    """A threshold, as read."""

    text: str
    figure: Figure
    # In `unit`.
    number: float
    unit: str
    # None: all of the scenario.
    sizes: tuple[int | str, ...] | None
    device: str | None
    # Of a latency: the load, as a share of the throughput; None: the one that the preset has, RFC 2544's if it is that.
    share: float | None = None

    @property
    def limit(self) -> float:
        """The number in frames/s, bits/s, nanoseconds, percent or frames."""
        return self.number * self.figure.units[self.unit]

    @property
    def in_bits(self) -> bool:
        """Whether it is about bits of frames a second, without preamble and gap."""
        return self.unit in _BIT_RATES

    @property
    def of_line_rate(self) -> bool:
        """Whether a rate is in percent of the line's."""
        return self.unit in _PERCENT and self.figure.units is _RATES

    def applies(self, size: int | str, device: str) -> bool:
        """Whether it is about these frames and this device."""
        return (self.sizes is None or size in self.sizes) and self.device in (None, device)

    def written(self, value: float) -> str:
        """A figure in the threshold's unit."""
        return f"{value / self.figure.units[self.unit]:.6g} {self.unit}"


def parse_threshold(text: str) -> Threshold:
    """Reads a threshold.

    Raises `ValueError` with what is wrong and what is allowed.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"give a figure, ≥ or ≤, a number with its unit, and perhaps sizes and a device: {_EXAMPLE}")
    name = " ".join(found["figure"].split())
    figure = FIGURES.get(name)
    if figure is None:
        raise ValueError(f"no figure is called '{name}': choose from {', '.join(FIGURES)}")
    if (found["sign"] in ("≥", ">=")) != figure.at_least:
        better, sign = ("more", "≥") if figure.at_least else ("less", "≤")
        raise ValueError(f"{better} is better for '{name}': write {sign}")
    if found["load"] and figure.measurement != "latency":
        raise ValueError(f"'{name}' has no load to choose: only a latency is measured at several")
    if found["unit"] not in figure.units:
        raise ValueError(f"'{found['unit']}' is no unit of '{name}': choose from {', '.join(figure.units)}")
    return Threshold(
        text=" ".join(text.split()),
        figure=figure,
        number=float(found["number"]),
        unit=found["unit"],
        sizes=_sizes(found["sizes"]) if found["sizes"] else None,
        device=found["device"],
        share=float(found["load"]) / 100 if found["load"] else None,
    )


def _sizes(text: str) -> tuple[int | str, ...]:
    words = re.split(r",\s*|\s+and\s+", text.removesuffix("bytes").strip())
    try:
        return tuple(_SIZE.validate_python(word) for word in words)
    except ValidationError as error:
        raise ValueError(f"'{text}' are no sizes: give such as '64 bytes', or '64, 512 bytes'") from error
