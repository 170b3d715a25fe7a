# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Adds up what the test runners reported: failures and skips by name, then `N passed, N failed[, N skipped]`.

    python3 .ci/tally.py [--brief] DIR RUN...

RUN is NAME:KIND, and KIND is step, cargo, meson, pytest, tally or elsewhere.

DIR holds NAME.status (the exit status) and NAME.log (the output) of each run, and the runner's own record where it
has one: NAME.json (meson's testlog.json) or NAME.xml (pytest's JUnit file). A step that exits with 77 is skipped, and
the last line of its output says why. A tally is the output of another `./x test`. What is elsewhere was not run, since
it is run where DPDK has another version: it is named, as is a test of cargo's that says `not repeated: REASON`. With
--brief, the tests of one file that were left out for the same reason share a line.

No runner is believed on one account alone. One that exits non-zero without naming a failure, leaves no record, ends
in the middle of a suite or ran nothing counts as a failure, so that the sum can only be green if everything ran.
"""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Tally:
    """What one run, or all of them, came to."""

    passed: int = 0
    failures: list[str] = field(default_factory=list)
    skips: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Takes the results of `other` in."""
        self.passed += other.passed
        self.failures += other.failures
        self.skips += other.skips
        self.elsewhere += other.elsewhere

    @property
    def ran(self) -> int:
        """How many tests were looked at, skipped ones included."""
        return self.passed + len(self.failures) + len(self.skips)

    def line(self) -> str:
        """The line that everybody reads."""
        text = f"{self.passed} passed, {len(self.failures)} failed"
        return f"{text}, {len(self.skips)} skipped" if self.skips else text


# The lines of cargo and of libtest that matter. A suite is one test binary, or the documentation tests of one crate.
CARGO_SUITE = re.compile(r"^ +(?:Running (?P<binary>.+ \(.+\))|Doc-tests (?P<crate>\S+))$")
CARGO_TEST = re.compile(r"^test (?P<name>.+?) \.\.\. (?P<result>ok|FAILED|ignored)(?:, (?P<reason>.*))?(?: <.*>)?$")
CARGO_RESULT = re.compile(r"^test result: \S+ (?P<passed>\d+) passed; \d+ failed; \d+ ignored;")
# libtest cannot skip at run time: a test that finds its ground missing, or need not run again, prints this line and
# returns, and `--show-output` brings the line here under the name of the test.
CARGO_OUTPUT = re.compile(r"^---- (?P<name>.+) stdout ----$")
CARGO_SKIP = re.compile(r"^(?P<word>skipped|not repeated): (?P<reason>.+)$")


def cargo(log: str) -> Tally:
    """Reads the output of `cargo test --no-fail-fast`, best with `-- --show-output`."""
    total = Tally()
    suite = ""
    finished = True
    output_of = ""
    skipped = 0
    for line in log.splitlines():
        if found := CARGO_SUITE.match(line):
            if not finished:
                total.failures.append(f"{suite}: died without a summary")
            suite, finished, output_of = found["binary"] or f"doc-tests {found['crate']}", False, ""
            skipped = 0
        elif found := CARGO_RESULT.match(line):
            finished, output_of = True, ""
            # libtest counts what was skipped at run time as passed.
            total.passed += max(0, int(found["passed"]) - skipped)
            skipped = 0
        elif found := CARGO_TEST.match(line):
            if found["result"] == "FAILED":
                total.failures.append(f"{suite}: {found['name']}")
            elif found["result"] == "ignored":
                total.skips.append(f"{suite}: {found['name']}: {found['reason'] or 'ignored, no reason given'}")
        elif found := CARGO_OUTPUT.match(line):
            output_of = found["name"]
        elif output_of and (found := CARGO_SKIP.match(line)):
            list_of = total.skips if found["word"] == "skipped" else total.elsewhere
            list_of.append(f"{suite}: {output_of}: {found['reason']}")
            skipped += 1
            output_of = ""
    if not finished:
        total.failures.append(f"{suite}: died without a summary")
    return total


TAP_PLAN = re.compile(r"^1\.\.\d+", re.MULTILINE)
TAP_TEST = re.compile(
    r"^(?P<bad>not )?ok\b *\d* *-? *(?P<name>[^#\n]*)(?:# *(?P<word>SKIP|TODO)\S* *(?P<reason>.*))?$",
    re.IGNORECASE | re.MULTILINE,
)


def tap(test: str, text: str) -> Tally:
    """The single results of a test that speaks the Test Anything Protocol."""
    total = Tally()
    for found in TAP_TEST.finditer(text):
        name = f"{test}: {found['name'].strip()}"
        if found["word"]:
            total.skips.append(f"{name}: {found['reason'].strip() or 'no reason given'}")
        elif found["bad"]:
            total.failures.append(name)
        else:
            total.passed += 1
    return total


def meson(record: str) -> Tally:
    """Reads meson's testlog.json, one object a line. Its JUnit file does not tell a time-out from a success."""
    total = Tally()
    for line in record.splitlines():
        entry = json.loads(line)
        name, result, output = entry["name"], entry["result"], entry.get("stdout") or ""
        single = tap(name, output) if TAP_PLAN.search(output) else Tally()
        if result in ("OK", "EXPECTEDFAIL"):
            total.add(single if single.ran else Tally(passed=1))
        elif result == "SKIP":
            last = (output + (entry.get("stderr") or "")).strip().rsplit("\n", 1)[-1]
            total.add(single if single.skips else Tally(skips=[f"{name}: {last or 'no reason given'}"]))
        else:
            total.add(single)
            if not single.failures:
                total.failures.append(f"{name}: {result} (exit status {entry.get('returncode')})")
    return total


def pytest(record: str) -> Tally:
    """Reads pytest's JUnit file. A test whose clean-up fails too is listed twice by pytest and counts once here."""
    worst: dict[str, str] = {}
    skips: dict[str, str] = {}
    for case in ElementTree.fromstring(record).iter("testcase"):
        name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
        if case.find("failure") is not None or case.find("error") is not None:
            worst[name] = "failed"
        elif (skipped := case.find("skipped")) is not None:
            worst.setdefault(name, "skipped")
            skips[name] = skipped.get("message") or "no reason given"
        else:
            worst.setdefault(name, "passed")
    total = Tally()
    for name, result in worst.items():
        if result == "failed":
            total.failures.append(name)
        elif result == "skipped":
            total.skips.append(f"{name}: {skips[name]}")
        else:
            total.passed += 1
    return total


TALLY_TEXT = re.compile(r"^(?P<word>not repeated:|skipped:|FAILED: ) (?P<text>.+)$")
TALLY_SUM = re.compile(r"^(?P<passed>\d+) passed, (?P<failed>\d+) failed(?:, (?P<skipped>\d+) skipped)?$")


def tally(log: str) -> Tally:
    """Reads what this program printed at the end of another run. Raises ValueError if its sum is not the last line."""
    *lines, last = log.rstrip().splitlines() or [""]
    found = TALLY_SUM.match(last)
    if not found:
        raise ValueError(f"no sum at the end of its output, but: {last}")
    total = Tally(int(found["passed"]))
    lists = {"not repeated:": total.elsewhere, "skipped:": total.skips, "FAILED: ": total.failures}
    # Above the sum, up to the blank line, stand the names.
    while lines and lines[-1]:
        if named := TALLY_TEXT.match(lines.pop()):
            lists[named["word"]].insert(0, named["text"])
    if (len(total.failures), len(total.skips)) != (int(found["failed"]), int(found["skipped"] or 0)):
        raise ValueError(f"it names {len(total.failures)} failures and {len(total.skips)} skips, but ends with: {last}")
    return total


READERS: dict[str, tuple[str, Callable[[str], Tally]]] = {
    "cargo": (".log", cargo),
    "meson": (".json", meson),
    "pytest": (".xml", pytest),
    "tally": (".log", tally),
}


def last_line(log: Path) -> str:
    """The last words of a runner."""
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return lines[-1] if lines else "no reason given"


def run(folder: Path, name: str, kind: str) -> Tally:
    """One run, with the failures that only its exit status, or the lack of a record, gives away."""
    if kind == "elsewhere":
        return Tally(elsewhere=[name])
    status_file = folder / f"{name}.status"
    status = status_file.read_text().strip() if status_file.exists() else "none, it was killed"
    if kind == "step":
        if status == "77":
            return Tally(skips=[f"{name}: {last_line(folder / f'{name}.log')}"])
        if status == "0":
            return Tally(passed=1)
        return Tally(failures=[f"{name}: exit status {status}: {last_line(folder / f'{name}.log')}"])
    suffix, reader = READERS[kind]
    try:
        total = reader((folder / f"{name}{suffix}").read_text(errors="replace"))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, SyntaxError) as error:
        return Tally(failures=[f"{name}: no usable record ({error}), exit status {status}"])
    if status != "0" and not total.failures:
        total.failures.append(f"{name}: exit status {status} though no test failed")
    if not total.ran:
        total.failures.append(f"{name}: no test ran")
    return total


# What `run` and the readers put together: where a test is, its name, and why it was left out.
TOLD = re.compile(r"(?P<where>.*?(?:\): |::))(?P<test>[^\s\[]+)(?:\[.*?\])?: (?P<reason>.+)")


def brief(texts: list[str]) -> list[str]:
    """One line for the tests of one file that were left out for the same reason."""
    tests: dict[tuple[str, str], list[str]] = {}
    for text in texts:
        found = TOLD.fullmatch(text)
        tests.setdefault((found["where"], found["reason"]) if found else ("", text), []).append(text)
    return [
        some[0] if len(some) == 1 or not where else f"{where.rstrip(': ')}: {len(some)} tests: {reason}"
        for (where, reason), some in tests.items()
    ]


def main(arguments: list[str]) -> int:
    """Prints the tally of the named runs; the exit status is 1 if anything that counts failed."""
    in_brief = arguments[:1] == ["--brief"]
    arguments = arguments[in_brief:]
    runs = [argument.partition(":") for argument in arguments[1:]]
    if not runs or any(kind not in ("step", "elsewhere", *READERS) for _, _, kind in runs):
        print("usage: tally.py [--brief] DIR NAME:step|cargo|meson|pytest|tally|elsewhere ...", file=sys.stderr)
        return 2
    total = Tally()
    print()
    width = max(len(name) for name, _, _ in runs) + 1
    for name, _, kind in runs:
        part = run(Path(arguments[0]), name, kind)
        if kind == "tally":
            # The same tests ran elsewhere too.
            part.skips = [f"{name}: {text}" for text in part.skips]
            part.failures = [f"{name}: {text}" for text in part.failures]
            part.elsewhere = [f"{name}: {text}" for text in part.elsewhere]
        total.add(part)
        if kind != "elsewhere":
            print(f"{name + ':':<{width}} {part.line()}")
    for word, texts in (
        ("not repeated:", total.elsewhere),
        ("skipped:", total.skips),
        ("FAILED: ", total.failures),
    ):
        # One line each, whatever a runner put into it: `tally` counts them.
        lines = [" ".join(text.split()) for text in texts]
        for line in brief(lines) if in_brief and texts is not total.failures else lines:
            print(word, line)
    print(total.line())
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
