# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Which frames are sent: sizes, sets of them by name, and mixtures (IMIX). Sizes are bytes with FCS.

A mixture stands wherever a size can: `imix`, or `imix:` with a genome of RFC 6985, such as `imix:3afd`. Its figures
per byte are those of its average frame.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain, groupby
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema, model_validator

# Preamble, start delimiter and the least gap between frames, which a frame takes on the wire beside its own bytes.
WIRE_OVERHEAD_BYTES = 20

_LEAST_BYTES, _MOST_BYTES = 64, 9216

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
# More than this makes no command line for a generator, and no name for a table.
_LONGEST_SEQUENCE = 10_000
_LONGEST_NAME = 100
_IMIX = "imix"


class SizeError(ValueError):
    """The size or mixture is unknown; the message lists the known ones."""


def named_sizes(name: str) -> tuple[int, ...]:
    """The sizes of a set.

    Raises `SizeError`.
    """
    try:
        return SIZE_SETS[name]
    except KeyError:
        raise SizeError(
            f"no set of frame sizes is called '{name}': give sizes, or one of {', '.join(SIZE_SETS)}, {_IMIX}"
        ) from None


def expanded(given: Iterable[Any]) -> list[Any]:
    """Sizes, with sets of them in place of the names of sets.

    Raises `SizeError` for a name that neither a set nor a mixture has.
    """
    found: list[Any] = []
    for one in given:
        named = isinstance(one, str) and not one.isdecimal() and one.partition(":")[0] != _IMIX
        found += named_sizes(one) if named else [one]
    return found


class Mixture(BaseModel):
    """Frames of several sizes, sent again and again in this order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    sequence: tuple[Annotated[int, Field(ge=_LEAST_BYTES, le=_MOST_BYTES)], ...]

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
    return spread(_IMIX, {64: 7, 594: 4, 1518: 1})


def spread(name: str, weights: Mapping[int, int]) -> Mixture:
    """A mixture with so many frames of each size, those of one size as far apart as can be.

    Raises `SizeError`.
    """
    if not weights or any(weight < 1 for weight in weights.values()):
        raise SizeError(f"the mixture '{name}' needs a number of at least 1 for each size")
    # The nth of k frames of a size belongs in the middle of the nth of k equal parts.
    places = (((number + 0.5) / weight, size) for size, weight in sorted(weights.items()) for number in range(weight))
    return Mixture(name=name, sequence=tuple(size for _, size in sorted(places)))


def genome(text: str, custom: Mapping[str, int] | None = None, mtu_bytes: int = 1500) -> Mixture:
    """The mixture that an IMIX genome names (RFC 6985): 'aaafd' is three frames of 64 bytes, one of 1,280, one of 512.

    A number before a letter repeats it. Capital letters are custom sizes and need to be given.

    Raises `SizeError`.
    """
    letters = {**_GENOME, "z": mtu_bytes + _ETHERNET_BYTES, **(custom or {})}
    if not re.fullmatch(r"(?:\d*[A-Za-z])+", text):
        raise SizeError(f"'{text}' is not an IMIX genome: give letters, each preceded by a number if it repeats")
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
    try:
        return Mixture(name=f"{_IMIX}:{text}", sequence=sequence)
    except ValueError as error:
        wrong = next(size for size in sequence if not _LEAST_BYTES <= size <= _MOST_BYTES)
        raise SizeError(
            f"the genome '{text}' has frames of {wrong} bytes: give {_LEAST_BYTES} to {_MOST_BYTES}"
        ) from error


def _size(value: Any) -> int | str:
    """A size as a number, or the name of a mixture.

    Raises `ValueError`.
    """
    if isinstance(value, str) and not value.isdecimal():
        mixture_of(value)
        return value
    whole = not isinstance(value, bool) and isinstance(value, int | float | str) and float(value).is_integer()
    if not whole or not _LEAST_BYTES <= int(value) <= _MOST_BYTES:
        raise ValueError(f"give bytes with FCS from {_LEAST_BYTES} to {_MOST_BYTES}, or a mixture such as {_IMIX}")
    return int(value)


Size = Annotated[
    int | str,
    PlainValidator(_size),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": _LEAST_BYTES, "maximum": _MOST_BYTES},
                {"type": "string", "pattern": f"^{_IMIX}(:.+)?$"},
            ],
            "description": "bytes of a frame, with FCS; or a mixture of sizes",
        }
    ),
]


@lru_cache(maxsize=256)
def mixture_of(name: str) -> Mixture:
    """The mixture of this name: `imix`, `imix:GENOME`, or `imix:GENOME:A=700:z=9018` with sizes of one's own.

    Raises `SizeError`.
    """
    kind, *rest = name.split(":")
    if kind != _IMIX:
        raise SizeError(f"no size or mixture is called '{name}': give bytes, {_IMIX}, or {_IMIX}: with a genome")
    if not rest:
        return simple_imix()
    if len(name) > _LONGEST_NAME:
        raise SizeError(
            f"the mixture '{name[:40]}…' has a name of more than {_LONGEST_NAME} letters: put a number before a letter "
            "to repeat it"
        )
    custom = {}
    for part in rest[1:]:
        if not (found := re.fullmatch(r"([A-Z]|z)=(\d{1,5})", part)):
            raise SizeError(f"'{part}' in '{name}' is not a custom size: give a capital letter or z, such as A=700")
        custom[found[1]] = int(found[2])
    return genome(rest[0], custom).model_copy(update={"name": name})


def frames_of(size: int | str) -> tuple[int, ...]:
    """The sizes of the frames, in the order in which they are sent again and again."""
    return (size,) if isinstance(size, int) else mixture_of(size).sequence


def mean_bytes(size: int | str) -> float:
    """Bytes of the average frame."""
    return size if isinstance(size, int) else mixture_of(size).mean_bytes


def longest(sizes: Iterable[int | str]) -> int:
    """Bytes of the longest frame of all."""
    return max(max(frames_of(size)) for size in sizes)


def is_mixture(size: int | str) -> bool:
    """Whether the frames have several sizes."""
    return isinstance(size, str)


def size_order(size: int | str) -> tuple[float, str]:
    """To sort by: sizes by their bytes, a mixture at its average frame."""
    return mean_bytes(size), str(size)


def size_in_words(size: int | str) -> str:
    """'64 bytes', 'imix (361.8 bytes on average)'."""
    return f"{size} bytes" if isinstance(size, int) else f"{size} ({mean_bytes(size):.1f} bytes on average)"


def size_label(size: int | str) -> str:
    """'64B', 'imix': in the names of places."""
    return f"{size}B" if isinstance(size, int) else size


def sizes_in_words(sizes: Iterable[int | str]) -> str:
    """'64, 1518 bytes, imix (361.8 bytes on average)'."""
    listed = list(sizes)
    plain = ", ".join(str(size) for size in listed if not is_mixture(size))
    mixtures = [size_in_words(size) for size in listed if is_mixture(size)]
    return ", ".join([*([f"{plain} bytes"] if plain else []), *mixtures])


def in_runs(size: int | str) -> str:
    """'64x3,1280,512': the frames as an option of the embedded generator."""
    runs = [(frame, len(list(equal))) for frame, equal in groupby(frames_of(size))]
    return ",".join(f"{frame}x{count}" if count > 1 else str(frame) for frame, count in runs)
