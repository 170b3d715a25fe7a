# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Reads what callgrind writes: which function, and which instruction of it, was executed how often.

The format is that of Valgrind's manual, "Callgrind Format Specification", versions 1 of file and of names.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

_NAME = re.compile(r"\((\d+)\)(?: (.*))?$")
_HEADER = re.compile(r"([A-Za-z]+): ?(.*)$")
# Which of the tables of compressed names a line refers to.
_KINDS = {"ob": "object", "cob": "object", "fl": "file", "fi": "file", "fe": "file", "cfi": "file", "cfl": "file"}
_KINDS |= {"fn": "function", "cfn": "function"}
# Lines with jumps, which only --collect-jumps writes; the positions after them are relative too.
_JUMPS = ("jump", "jcnd")


class CallgrindError(Exception):
    """A file is not what callgrind writes; the message names file and line."""


@dataclass(frozen=True, order=True)
class Function:
    """A function by the object file that it lies in and its name there."""

    object: str
    name: str


@dataclass
class Call:
    """What one function has called of another: how often, and the cost of it, callees included."""

    count: int = 0
    cost: int = 0


@dataclass
class Profile:
    """Executed instructions. Addresses are those of the object file, as `objdump` shows them."""

    self_cost: Counter[Function] = field(default_factory=Counter)
    instructions: defaultdict[Function, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    calls: defaultdict[tuple[Function, Function], Call] = field(default_factory=lambda: defaultdict(Call))

    @property
    def total(self) -> int:
        """All executed instructions."""
        return self.self_cost.total()

    def find(self, name: str) -> list[Function]:
        """The functions of that name, those with the highest cost first."""
        return [function for function, _ in self.self_cost.most_common() if function.name == name]

    def callees(self, caller: Function) -> dict[Function, Call]:
        """What `caller` has called directly."""
        return {callee: call for (by, callee), call in self.calls.items() if by == caller}

    def calls_of(self, callee: Function) -> int:
        """How often `callee` was called."""
        return sum(call.count for (_, called), call in self.calls.items() if called == callee)


def read_profile(path: Path) -> Profile:
    """The profile in `path`.

    Raises `CallgrindError`, and `OSError` if it cannot be read.
    """
    with path.open(errors="replace") as lines:
        return parse_profile(lines, str(path))


def parse_profile(lines: Iterable[str], name: str = "profile") -> Profile:
    """The profile in these lines; `name` is for messages.

    Raises `CallgrindError`.
    """
    reader = _Reader()
    for number, line in enumerate(lines, start=1):
        try:
            reader.read(line.rstrip("\n"))
        except (KeyError, ValueError, IndexError) as error:
            raise CallgrindError(f"{name}, line {number}: not as callgrind writes it: {error}") from error
    if not reader.events:
        raise CallgrindError(f"{name}: no line 'events:', so not a profile of callgrind, or an empty one")
    if reader.sum is not None and reader.sum != reader.profile.total:
        raise CallgrindError(f"{name}: the instructions sum up to {reader.profile.total}, not to {reader.sum}")
    return reader.profile


class _Reader:
    """The state between lines: the present function, the call being described, the last position."""

    def __init__(self) -> None:
        self.profile = Profile()
        self.events: list[str] = []
        self.sum: int | None = None
        self.positions = ["line"]
        self.names: defaultdict[str, dict[str, str]] = defaultdict(dict)
        self.object = ""
        self.function = Function("", "")
        self.callee_object: str | None = None
        self.callee = self.function
        self.call_count: int | None = None
        self.last = [0]

    def read(self, line: str) -> None:
        if not line or line.startswith("#"):
            return
        if line[0] in "0123456789+-*":
            self.cost_line(line.split())
        elif (parts := line.partition("="))[1] and parts[0].isalpha():
            self.assignment(parts[0], parts[2])
        elif header := _HEADER.match(line):
            self.header(header[1], header[2])
        else:
            raise ValueError(f"'{line[:60]}'")

    def header(self, key: str, value: str) -> None:
        if key == "positions":
            self.positions = value.split()
            self.last = [0] * len(self.positions)
        elif key == "events":
            self.events = value.split()
            if "Ir" not in self.events:
                raise ValueError("no event 'Ir', the executed instructions")
        elif key == "totals":
            self.sum = int(value.split()[self.events.index("Ir")])

    def assignment(self, key: str, value: str) -> None:
        if key in _KINDS:
            name = self.uncompressed(_KINDS[key], value)
            if key == "ob":
                self.object = name
            elif key == "fn":
                self.function = Function(self.object, name)
            elif key == "cob":
                self.callee_object = name
            elif key == "cfn":
                # Without `cob` the callee lies in the caller's object.
                self.callee = Function(self.object if self.callee_object is None else self.callee_object, name)
        elif key == "calls":
            # The positions of the callee follow, which are not needed.
            self.call_count = int(value.split()[0], 0)
        elif key not in _JUMPS and key not in ("jfi", "jfn"):
            raise ValueError(f"'{key}='")

    def uncompressed(self, kind: str, value: str) -> str:
        compressed = _NAME.match(value)
        if compressed is None:
            return value
        number, name = compressed.groups()
        if name is not None:
            self.names[kind][number] = name
        return self.names[kind][number]

    def cost_line(self, words: list[str]) -> None:
        positions = [self.position(word, last) for word, last in zip(words, self.last, strict=False)]
        if len(positions) < len(self.positions):
            raise ValueError(f"{len(words)} numbers in place of {len(self.positions)} positions and a cost")
        self.last = positions
        # A cost of zero may be left out at the end of the line.
        costs = [int(word) for word in words[len(positions) :]]
        index = self.events.index("Ir")
        cost = costs[index] if index < len(costs) else 0
        if self.call_count is not None:
            call = self.profile.calls[self.function, self.callee]
            call.count += self.call_count
            call.cost += cost
            self.call_count = None
            self.callee_object = None
            return
        self.profile.self_cost[self.function] += cost
        if self.positions[0] == "instr":
            self.profile.instructions[self.function][positions[0]] += cost

    @staticmethod
    def position(word: str, last: int) -> int:
        if word == "*":
            return last
        if word[0] in "+-":
            return last + int(word, 0)
        return int(word, 0)
