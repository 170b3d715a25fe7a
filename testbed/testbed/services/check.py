# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Runs all cases against a service.

python -m testbed.services.check SERVICE ADDRESS PORT: prints what went wrong, and 'N passed, N failed'.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence

from testbed.services import adder, echo
from testbed.services.exchange import Case, Exchange, Unexpected

SERVICES: dict[str, Callable[[], Iterator[Case]]] = {"adder": adder.cases, "echo": echo.cases}


def check(cases: Sequence[Case], address: str, port: int) -> dict[str, str]:
    """What went wrong, by the names of the cases."""
    wrong = {}
    for case in cases:
        try:
            case.run(address, port)
        except (Unexpected, OSError) as error:
            wrong[case.name] = str(error)
    return wrong


def main() -> int:
    """0 if all cases have passed, 1 if one has not, 2 if there is no server."""
    parser = argparse.ArgumentParser(description="Check whether a service does what it should.", prog="check")
    parser.add_argument("service", choices=SERVICES)
    parser.add_argument("address")
    parser.add_argument("port", type=int)
    words = parser.parse_args()
    cases = list(SERVICES[words.service]())
    try:
        Exchange(words.address, words.port).reset()
    except OSError as error:
        print(f"check: cannot connect to {words.address} port {words.port}: {error}: start the service first")
        return 2
    wrong = check(cases, words.address, words.port)
    for name, what in wrong.items():
        print(f"FAILED {name}: {what}")
    print(f"{len(cases) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
