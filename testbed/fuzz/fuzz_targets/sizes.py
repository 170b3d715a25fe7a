# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Sizes and mixtures (IMIX genomes of RFC 6985) as users write them, up to what the generator is told."""

from __future__ import annotations

from pydantic import TypeAdapter, ValidationError

from testbed.campaign.sizes import Size, frames_of, in_runs, is_mixture, mean_bytes, size_in_words, size_order

SIZE: TypeAdapter[int | str] = TypeAdapter(Size)
LETTERS = {"a": 64, "b": 128, "c": 256, "d": 512, "e": 1024, "f": 1280, "g": 1518, "h": 2112, "i": 9000, "z": 1518}


def check(data: bytes) -> None:
    """A text is refused in words, or names frames that a trial can have: those that its letters say, one by one."""
    text = data.decode(errors="replace")
    try:
        size = SIZE.validate_python(text)
    except ValidationError as error:
        reason = error.errors()[0]["msg"]
        assert "give" in reason or "leave" in reason or "put" in reason or "repeat" in reason or "known" in reason, (
            reason
        )
        return
    frames = frames_of(size)
    assert frames
    assert all(64 <= frame <= 9216 for frame in frames), frames
    assert min(frames) <= mean_bytes(size) <= max(frames)
    assert from_runs(in_runs(size)) == frames
    assert SIZE.validate_json(SIZE.dump_json(size)) == size
    assert str(size) in size_in_words(size)
    assert size_order(size) == size_order(size)
    if is_mixture(size) and ":" in str(size):
        assert letter_by_letter(str(size)) == frames


def from_runs(runs: str) -> tuple[int, ...]:
    """The frames of `64x3,1280`."""
    frames: list[int] = []
    for run in runs.split(","):
        frame, _, count = run.partition("x")
        frames += [int(frame)] * int(count or 1)
    return tuple(frames)


def letter_by_letter(name: str) -> tuple[int, ...]:
    """The frames of `imix:3aB:B=700`."""
    _, genome, *custom = name.split(":")
    letters = {**LETTERS, **{part[0]: int(part[2:]) for part in custom}}
    frames: list[int] = []
    count = ""
    for character in genome:
        if character in letters:
            frames += [letters[character]] * int(count or 1)
            count = ""
        else:
            count += character
    return tuple(frames)
