# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Instructions of one function with all that it calls, counted by callgrind."""

from __future__ import annotations

import re

from testbed.bench.count.binary import run_tool
from testbed.bench.count.instructions import CountError
from testbed.run.programs import Program

_COLLECTED = re.compile(r"Collected\s*:\s*(\d+)")
# Callgrind counts each byte of `rep movsb`, which is one instruction. With this, glibc copies by others.
_NO_REP = "GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=0x7fffffff:glibc.cpu.x86_rep_stosb_threshold=0x7fffffff"


def counted(function: str, program: Program, *words: str) -> str:
    """What callgrind and the program print when this function's instructions are counted.

    Raises `BinaryError` without valgrind.
    """
    tool = ("valgrind", "--tool=callgrind", "--log-fd=1", "--callgrind-out-file=/dev/null", "--collect-atstart=no")
    return run_tool("env", _NO_REP, *tool, f"--toggle-collect={function}", str(program.path), *words)


def collected(told: str, program: Program, function: str) -> int:
    """How many that were, by what `counted` returned.

    Raises `CountError`.
    """
    found = _COLLECTED.search(told)
    if found is None or not int(found[1]):
        raise CountError(f"{program.path}: no function '{function}' was executed: is it stripped, or inlined?")
    return int(found[1])
