# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a failed stage said of its failures, out of its log, which is thousands of lines long.

    python3 .ci/failures.py LOG

These are the failures of cargo's and pytest's tests, the errors of compilers, which tests did not come to their end,
and in any case the end of the log.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

# Of one failure: a panic and an assertion stand at its beginning or at its end.
FIRST, LAST = 15, 50
# Of the log, since the stage may have ended in a way that no runner tells.
END = 25
NAMED_BY_THE_SUM = ("not repeated:", "skipped:")

# A section starts at the first pattern, and ends where the next starts or at the second.
SECTIONS = (
    # libtest shows what failed at the end of a suite. A test that ran another one has such an end of its own in it.
    (
        re.compile(r"^(?:failures:|---- .+ ----)$"),
        re.compile(r"^(?: +(?:Running|Doc-tests) |error: (?:test|doctest) failed)"),
    ),
    (re.compile(r"^_{3,} .+ _{3,}$"), re.compile(r"^=+ .+ =+$")),
    (re.compile(r"^error(?:\[E\d+\])?: (?!(?:test|doctest) failed|\d+ targets? failed)"), re.compile(r"^$")),
)
# With `--show-output`, what passed stands above in the same form.
PASSED_FROM, PASSED_TO = re.compile(r"^successes:$"), re.compile(r"^(?:failures:$|test result: )")

# What pytest says with `-v` before and after a test of its workers, and cargo's tests after a minute and at last.
BEGUN = re.compile(r"^(\S+::.*\S) $|^test (\S+) has been running for over \d+ seconds$")
ENDED = re.compile(r"^\[gw\d+\] (?:\[ *\d+%\] )?[A-Z]+ (\S+::.*\S) *$|^test (\S+) \.\.\. ")


def not_ended(lines: list[str]) -> list[str]:
    """The tests that were begun and never came to an end."""
    begun: dict[str, None] = {}
    for line in lines:
        if told := BEGUN.match(line):
            begun[told[1] or told[2]] = None
        elif told := ENDED.match(line):
            begun.pop(told[1] or told[2], None)
    return list(begun)


def failures(lines: list[str]) -> Iterator[list[str]]:
    """The sections of `lines` that report a failure, each with its heading first."""
    section: list[str] = []
    end: re.Pattern[str] | None = None
    passed = False
    for line in lines:
        passed = not PASSED_TO.match(line) and (passed or bool(PASSED_FROM.match(line)))
        if passed or (end and end.match(line)):
            yield section
            section, end = [], None
        for start, stop in SECTIONS:
            if not passed and (end is None or end is stop) and start.match(line):
                yield section
                section, end = [], stop
        if end:
            section.append(line)
    yield section


def shortened(section: list[str]) -> list[str]:
    """A section of at most FIRST + LAST lines, and one that says how many are left out."""
    left_out = len(section) - FIRST - LAST
    if left_out <= 0:
        return section
    return [*section[:FIRST], f"[{left_out} lines left out]", *section[-LAST:]]


def main(arguments: list[str]) -> int:
    """Prints the failures in a log, then its end."""
    if len(arguments) != 1:
        print("usage: failures.py LOG", file=sys.stderr)
        return 2
    lines = Path(arguments[0]).read_text(errors="replace").splitlines()
    for section in filter(any, failures(lines)):
        print(*shortened(section), "", sep="\n")
    for name in not_ended(lines):
        print(f"not ended: {name}")
    told = [line for line in lines if not line.startswith(NAMED_BY_THE_SUM)]
    print(f"[the end of {arguments[0]}, {len(lines)} lines]", *told[-END:], sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
