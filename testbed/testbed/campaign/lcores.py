# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The CPUs of a device, as a scenario lists them: one, or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, int) else value


def _each_once(cpus: Sequence[int]) -> Sequence[int]:
    if twice := [cpu for number, cpu in enumerate(cpus) if cpu in cpus[:number]]:
        raise ValueError(f"CPU {twice[0]} is there twice")
    return cpus


Lcores = Annotated[
    tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1), BeforeValidator(_listed), AfterValidator(_each_once)
]
