# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The libraries that are compared, and what of it each can do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from testbed.comparison.condition import Condition
from testbed.run.process import completed
from testbed.run.programs import CODEC_CPP, CODEC_RUST, Program, ProgramMissing, find_program
from testbed.run.scratch import scratch_folder

CASES = ("carsales", "catrank", "eval")
OBJECT, BYTES, PIPE, TCP = "object", "bytes", "pipe", "tcp"
MODES = (OBJECT, BYTES, PIPE, TCP)
# The programs, and how the names of their libraries end.
_PROGRAMS = ((CODEC_RUST, "rust"), (CODEC_CPP, "cpp"))
_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Codec:
    """A library in a language."""

    # As on the command line: 'capnp-rust'.
    name: str
    library: str
    program: Program
    what: str
    # Whether messages can be passed as objects, and as bytes, and whether these have a packed form.
    has_objects: bool
    has_bytes: bool
    packs: bool

    def takes_part(self, condition: Condition) -> bool:
        """Whether it can do this."""
        passes = {OBJECT: self.has_objects, BYTES: True}.get(condition.wire, self.has_bytes)
        return passes and (self.packs or not condition.packed)

    def words(self, condition: Condition) -> list[str]:
        """What follows the command on its program's command line."""
        assert condition.case is not None
        found = [self.library, condition.case, condition.wire]
        return found + ["--packed"] * condition.packed + ["--reuse"] * condition.reuse


def choose(names: Sequence[str], folders: list[Path] | None) -> list[Codec]:
    """Those of these names, by default all that the two programs have. The first one's noise floor is measured.

    Raises `ProgramMissing`, and `ProcessError` for a program that cannot be run.
    """
    found = [codec for name, language in _PROGRAMS for codec in _codecs(find_program(name, folders), language)]
    by_name = {one.name: one for one in sorted(found, key=lambda one: one.library)}
    if strange := [name for name in names if name not in by_name]:
        raise ProgramMissing(f"no library '{strange[0]}': choose from {', '.join(by_name)}")
    return [by_name[name] for name in dict.fromkeys(names)] or list(by_name.values())


def _codecs(program: Program, language: str) -> Iterator[Codec]:
    with scratch_folder() as folder:
        listed = completed(program.name, [program.path, "list"], folder, _TIMEOUT_S).events
    for row in listed:
        library = row["library"]
        yield Codec(f"{library}-{language}", library, program, row["what"], row["objects"], row["bytes"], row["packs"])


def conditions(cases: Sequence[str], modes: Sequence[str], reuse: Sequence[bool]) -> list[Condition]:
    """All combinations; packed too where there are bytes that leave the process or could."""
    return [
        Condition(wire=mode, case=case, packed=packed, reuse=again)
        for case in cases
        for again in reuse
        for mode in modes
        for packed in ((False,) if mode == OBJECT else (False, True))
    ]
