# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A run of the load generator (`testbed/docs/load.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from testbed.run.process import Process, describe_status

# Its exit status if something is invalid: then its result says what.
_INVALID = 3
# It waits for connections and answers, for 10 s each time.
_PATIENCE_S = 60.0


def loaded(
    argv: Sequence[str], folder: Path, name: str = "load", patience_s: float = _PATIENCE_S
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Runs `load` with one step, and returns what it says of the step, and of the whole run. Both may be invalid.

    Raises `ProcessError`.
    """
    with Process(name, argv, folder) as process:
        status = process.wait(patience_s)
        if status not in (0, _INVALID):
            raise process.failure(f"ended with {describe_status(status)}")
        return process.wait_for_event("step", 0), process.wait_for_event("result", 0)
