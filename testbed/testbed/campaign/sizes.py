# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Which frames are sent: sets of sizes by name, and mixtures. Sizes are bytes with FCS."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import chain

from pydantic import model_validator

from testbed.campaign.trial import WIRE_OVERHEAD_BYTES, Record, Size

# RFC 2544, section 9.1.
RFC_SIZES = (64, 128, 256, 512, 1024, 1280, 1518)
# Those of the article's tables, in its own repository.
ARTICLE_SIZES = (64, 68, 72, 128, *range(256, 377, 10), 384, 512, 640, 768, 896, 1024, 1280, 1400, 1518)
# Of the jumbo frames of RFC 8219, section 5.1.1, those from 2,048 bytes on, and what an MTU of 9,000 makes.
JUMBO_SIZES = (2048, 4096, 8192, 9018, 9216)

SIZE_SETS: dict[str, tuple[int, ...]] = {
    "rfc2544": RFC_SIZES,
    "article": ARTICLE_SIZES,
    "jumbo": JUMBO_SIZES,
}

# RFC 6985, section 4. 'z' is the size that the MTU makes; 16,000 bytes (j) are more than a trial may have.
_GENOME = {"a": 64, "b": 128, "c": 256, "d": 512, "e": 1024, "f": 1280, "g": 1518, "h": 2112, "i": 9000}
_ETHERNET_BYTES = 18
_LONGEST_SEQUENCE = 100_000


class SizeError(ValueError):
    """There is no such size or mixture; the message says what there is."""


def named_sizes(name: str) -> tuple[int, ...]:
    """The sizes of a set.

    Raises `SizeError`.
    """
    try:
        return SIZE_SETS[name]
    except KeyError:
        raise SizeError(
            f"no set of frame sizes is called '{name}': give sizes, or one of {', '.join(SIZE_SETS)}"
        ) from None


class Mixture(Record):
    """Frames of several sizes, sent again and again in this order."""

    name: str
    sequence: tuple[Size, ...]

    @model_validator(mode="after")
    def _has_frames(self) -> Mixture:
        if not self.sequence:
            raise ValueError(f"the mixture '{self.name}' has no frames")
        return self

    @property
    def mean_bytes(self) -> float:
        """Bytes of the average frame."""
        return sum(self.sequence) / len(self.sequence)

    @property
    def shares(self) -> dict[int, float]:
        """Frames of each size / all frames."""
        counts = Counter(self.sequence)
        return {size: counts[size] / len(self.sequence) for size in sorted(counts)}

    def line_rate_fps(self, bits_per_second: float) -> float:
        """How many frames a second a link carries of it each way."""
        return bits_per_second / (8 * (self.mean_bytes + WIRE_OVERHEAD_BYTES))


def simple_imix() -> Mixture:
    """Seven frames of 64 bytes, four of 594, one of 1,518, as evenly spread as the counts allow."""
    return spread("imix-simple", {64: 7, 594: 4, 1518: 1})


def spread(name: str, weights: Mapping[int, int]) -> Mixture:
    """A mixture with so many frames of each size, those of one size as far apart as can be.

    Raises `SizeError`.
    """
    if not weights or any(weight < 1 for weight in weights.values()):
        raise SizeError(f"the mixture '{name}' needs a number of at least 1 for each size")
    # The nth of k frames of a size belongs into the middle of the nth of k equal parts.
    places = (((number + 0.5) / weight, size) for size, weight in sorted(weights.items()) for number in range(weight))
    return Mixture(name=name, sequence=tuple(size for _, size in sorted(places)))


def genome(text: str, custom: Mapping[str, int] | None = None, mtu_bytes: int = 1500) -> Mixture:
    """The mixture that an IMIX genome names (RFC 6985): 'aaafd' is three frames of 64 bytes, one of 1,280, one of 512.

    A number before a letter repeats it. Capital letters are custom sizes and need to be given.

    Raises `SizeError`.
    """
    letters = {**_GENOME, "z": mtu_bytes + _ETHERNET_BYTES, **(custom or {})}
    if not re.fullmatch(r"(?:\d*[A-Za-z])+", text):
        raise SizeError(f"'{text}' is no IMIX genome: give letters, each with a number before it if it is repeated")
    parts = [(int(count or 1), letter) for count, letter in re.findall(r"(\d*)([A-Za-z])", text)]
    for count, letter in parts:
        if letter not in letters:
            known = "".join(sorted(letters))
            raise SizeError(
                f"the genome '{text}' has the letter '{letter}', which stands for no size: known are {known}"
            )
        if count == 0:
            raise SizeError(f"the genome '{text}' has 0 times '{letter}': leave it out")
    if sum(count for count, _ in parts) > _LONGEST_SEQUENCE:
        raise SizeError(f"the genome '{text[:40]}' has more than {_LONGEST_SEQUENCE} frames: repeat a shorter one")
    sequence = tuple(chain.from_iterable([letters[letter]] * count for count, letter in parts))
    return Mixture(name=f"genome-{text[:40]}", sequence=sequence)
