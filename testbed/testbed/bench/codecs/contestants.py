# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The libraries that are compared, and what of it each can do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from testbed.comparison.condition import Condition
from testbed.run.programs import CODEC_CPP, CODEC_RUST, Program, ProgramMissing, find_program

CASES = ("carsales", "catrank", "eval")
OBJECT, BYTES, PIPE, TCP = "object", "bytes", "pipe", "tcp"
MODES = (OBJECT, BYTES, PIPE, TCP)


@dataclass(frozen=True)
class Codec:
    """A library in a language."""

    # As on the command line: 'capnp-rust'.
    name: str
    library: str
    program_name: str
    what: str
    # Whether it makes bytes, and whether it has a packed form.
    has_bytes: bool = True
    packs: bool = False
    program: Program | None = None

    def takes_part(self, condition: Condition) -> bool:
        """Whether it can do this."""
        return (self.has_bytes or condition.wire in (OBJECT, BYTES)) and (self.packs or not condition.packed)

    def words(self, condition: Condition) -> list[str]:
        """What follows the command on its program's command line."""
        assert condition.case is not None
        found = [self.library, condition.case, condition.wire]
        return found + ["--packed"] * condition.packed + ["--reuse"] * condition.reuse


# The first one's noise floor is measured.
CODECS = (
    Codec("capnp-rust", "capnp", CODEC_RUST, "Cap'n Proto by the crate capnp", packs=True),
    Codec("capnp-cpp", "capnp", CODEC_CPP, "Cap'n Proto by libcapnp", packs=True),
    Codec("plain-rust", "plain", CODEC_RUST, "structs, copied in place of bytes", has_bytes=False),
    Codec("plain-cpp", "plain", CODEC_CPP, "structs, copied in place of bytes", has_bytes=False),
)


def choose(names: Sequence[str], folders: list[Path] | None) -> list[Codec]:
    """Those of these names, by default all.

    Raises `ProgramMissing`.
    """
    by_name = {one.name: one for one in CODECS}
    if strange := [name for name in names if name not in by_name]:
        raise ProgramMissing(f"no library '{strange[0]}': choose from {', '.join(by_name)}")
    wanted = [by_name[name] for name in dict.fromkeys(names)] or CODECS
    programs = {name: find_program(name, folders) for name in {one.program_name for one in wanted}}
    return [
        Codec(one.name, one.library, one.program_name, one.what, one.has_bytes, one.packs, programs[one.program_name])
        for one in wanted
    ]


def conditions(cases: Sequence[str], modes: Sequence[str], reuse: Sequence[bool]) -> list[Condition]:
    """All combinations; packed too where there are bytes that leave the process or could."""
    return [
        Condition(wire=mode, case=case, packed=packed, reuse=again)
        for case in cases
        for again in reuse
        for mode in modes
        for packed in ((False,) if mode == OBJECT else (False, True))
    ]
