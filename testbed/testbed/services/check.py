# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Runs all cases against a service.

python -m testbed.services.check SERVICE ADDRESS PORT [--back-end ADDRESS:PORT]: prints what went wrong, and
 'N passed, N failed'.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence

from testbed.services import adder, echo, origin, proxy
from testbed.services.exchange import Case, Exchange, Unexpected, expect_reset

SERVICES: dict[str, Callable[[], Iterator[Case]]] = {
    "adder": adder.cases,
    "echo": echo.cases,
    "origin": origin.cases,
}


def cases_of(service: str, back_end: proxy.BackEnd | None = None) -> list[Case]:
    """All cases of a service. Those of the proxy listen at its back end."""
    return list(proxy.cases(back_end) if back_end else SERVICES[service]())


def check(cases: Sequence[Case], address: str, port: int) -> dict[str, str]:
    """What went wrong, by the names of the cases."""
    wrong = {}
    for case in cases:
        try:
            case.run(address, port)
        except (Unexpected, OSError) as error:
            wrong[case.name] = str(error)
    return wrong


def _back_end(text: str) -> proxy.BackEnd:
    address, colon, port = text.rpartition(":")
    if not colon or not port.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is no address with a port: give one such as 127.0.0.1:80")
    return proxy.BackEnd(address.strip("[]"), int(port))


def main() -> int:
    """0 if all cases have passed, 1 if one has not, 2 if there is no server."""
    parser = argparse.ArgumentParser(description="Check whether a service does what it should.", prog="check")
    parser.add_argument("service", choices=[*SERVICES, "proxy"])
    parser.add_argument("address")
    parser.add_argument("port", type=int)
    parser.add_argument(
        "--back-end",
        type=_back_end,
        metavar="ADDRESS:PORT",
        help="what the proxy was told to connect to: nobody may listen there, since the cases do",
    )
    words = parser.parse_args()
    if (words.service == "proxy") != (words.back_end is not None):
        parser.error("--back-end ADDRESS:PORT belongs to the proxy: give it with proxy, and only then")
    cases = cases_of(words.service, words.back_end)
    try:
        if words.back_end is None:
            Exchange(words.address, words.port).reset()
        else:
            # Else the first case would accept what the proxy opens for this one.
            expect_reset(words.address, words.port)
    except Unexpected as error:
        print(f"check: {words.address} port {words.port} without its back end: {error}")
        return 1
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
