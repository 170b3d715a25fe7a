# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What is wrong in a scenario, in the words of this project."""

from __future__ import annotations

from typing import Any


class ScenarioError(Exception):
    """A scenario cannot be used; the message names the file, the line and the field."""


def place_of(error: Any) -> tuple[int | str, ...]:
    """The field that an error of pydantic is about."""
    place = error.get("ctx", {}).get("place")
    return place if isinstance(place, tuple) else error["loc"]


def message_of(error: Any) -> str:
    """What pydantic says of one field, in the words of this project."""
    field = ".".join(str(part) for part in place_of(error))
    text = error["msg"].removeprefix("Value error, ")
    if error["type"] == "missing":
        text = "is missing"
    elif error["type"] == "extra_forbidden":
        text = "is not known: mind the spelling"
    elif isinstance(error["input"], str | int | float):
        text = f"{text}, not {error['input']!r}"
    return f"{field}: {text}" if field else text
