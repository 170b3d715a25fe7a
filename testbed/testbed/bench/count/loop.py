# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The machine code of a forwarding loop: what is executed how often, and what must not be executed for each packet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from testbed.bench.count.binary import Component, index_at, run_tool, symbols
from testbed.bench.count.callgrind import Function
from testbed.bench.count.instructions import Counted, first_address

_LINE = re.compile(r"\s*([0-9a-f]+):\t(.*?)\s*$")
_TARGET = re.compile(r"\b([0-9a-f]+) <(.+)>$")
_PREFIXES = ("addr32", "bnd", "cs", "data16", "ds", "lock", "notrack", "rep", "repnz", "repz", "xacquire", "xrelease")
# With a memory operand, these lock the bus implicitly.
_EXCHANGES = ("xchg",)
# Functions that end a program because of a mistake in it, in Rust and in C.
PANIC = re.compile(
    r"panic|unwrap_failed|expect_failed|slice_\w*fail|len_mismatch_fail|\babort\b|__stack_chk_fail|__assert_fail"
)
_ENDS = ("ret", "ud2", "hlt", "int3")

# A loop over packets that the compiler has unrolled goes round less than once a packet, but more often a poll than so.
_PER_PACKET = 1.5


class Rule(StrEnum):
    """What the part of a loop that is executed for each packet must not have."""

    CALL = "call"
    ATOMIC = "atomic operation"
    PANIC = "branch to a panic"


@dataclass(frozen=True)
class Instruction:
    """One line of `objdump`."""

    address: int
    text: str
    prefixes: tuple[str, ...]
    mnemonic: str
    operands: str
    # Of a jump or a call, if it is in the code.
    target: int | None = None
    target_name: str = ""

    @property
    def is_call(self) -> bool:
        """Whether it calls a function."""
        return self.mnemonic.startswith("call")

    @property
    def is_jump(self) -> bool:
        """Whether it jumps, on a condition or always."""
        return self.mnemonic.startswith("j")

    @property
    def is_atomic(self) -> bool:
        """Whether it locks the bus or the cache line."""
        return "lock" in self.prefixes or (self.mnemonic.startswith(_EXCHANGES) and "(" in self.operands)


@dataclass(frozen=True)
class Breach:
    """A rule that a loop breaks, and where."""

    rule: Rule
    function: str
    instruction: Instruction

    def __str__(self) -> str:
        return f"{self.rule} in {self.function} at {self.instruction.address:#x}: {self.instruction.text}"


def disassemble(path: Path, start: int, end: int) -> list[Instruction]:
    """The instructions from `start` to before `end`. Raises `BinaryError`."""
    limits = (f"--start-address={start}", f"--stop-address={end}")
    return parse_disassembly(
        run_tool("objdump", "--disassemble", "--demangle", "--no-show-raw-insn", "--wide", *limits, str(path))
    )


def parse_disassembly(text: str) -> list[Instruction]:
    """The instructions that `objdump --disassemble --no-show-raw-insn` prints."""
    return [
        parse_instruction(int(match[1], 16), match[2])
        for line in text.splitlines()
        if (match := _LINE.match(line)) is not None
    ]


def parse_instruction(address: int, text: str) -> Instruction:
    """One instruction, from the text after its address."""
    words = text.split()
    prefixes = []
    while len(words) > 1 and words[0] in _PREFIXES:
        prefixes.append(words.pop(0))
    mnemonic, operands = (words[0] if words else ""), " ".join(words[1:])
    target = _TARGET.search(operands)
    is_branch = mnemonic.startswith(("j", "call"))
    return Instruction(
        address,
        " ".join(text.split()),
        tuple(prefixes),
        mnemonic,
        operands,
        int(target[1], 16) if target and is_branch else None,
        target[2] if target and is_branch else "",
    )


def function_code(program: Path, counted: Counted, function: Function) -> list[Instruction]:
    """The whole code of an executed function of the program. Raises `BinaryError`."""
    address = first_address(counted.profile, function)
    code = [] if address is None else code_at(program, address)
    # Compilers put unlikely pieces elsewhere, under a name of their own: rewrite_macs.cold.
    known = {instruction.address for instruction in code}
    for instruction in list(code):
        target = instruction.target
        if instruction.is_jump and target is not None and target not in known and ".cold" in instruction.target_name:
            piece = code_at(program, target)
            known |= {other.address for other in piece}
            code += piece
    return code


def code_at(program: Path, address: int) -> list[Instruction]:
    """The whole function that contains `address`; nothing if there is no symbol for it. Raises `BinaryError`."""
    listed = symbols(program)
    index = index_at(listed, address)
    if index is None:
        return []
    symbol = listed[index]
    return disassemble(program, symbol.address, symbol.address + symbol.size)


def application_functions(counted: Counted) -> list[Function]:
    """The application's functions that were executed below the loop, the costliest first."""
    return [
        function
        for function, _ in counted.profile.self_cost.most_common()
        if counted.component(function) is Component.APPLICATION
    ]


def breaches(counted: Counted) -> list[Breach]:
    """Where the application's code breaks a rule for each packet. Raises `BinaryError`.

    The counts must be of bursts of several packets, since with one packet a burst all is executed per packet.
    """
    found = []
    for function in application_functions(counted):
        code = function_code(counted.program, counted, function)
        counts = counted.profile.instructions[function]
        hot = {address for address, times in counts.items() if times > _PER_PACKET * counted.polls}
        found += [
            Breach(rule, function.name, instruction) for rule, instruction in broken_rules(code, hot, set(counts))
        ]
    return found


def broken_rules(code: list[Instruction], hot: set[int], executed: set[int]) -> Iterator[tuple[Rule, Instruction]]:
    """What the `hot` instructions of a function do that they must not. `executed` are those that ran at all."""
    by_address = {instruction.address: index for index, instruction in enumerate(code)}
    for instruction in code:
        if instruction.address not in hot:
            continue
        if instruction.is_call:
            yield Rule.CALL, instruction
        if instruction.is_atomic:
            yield Rule.ATOMIC, instruction
        if (
            instruction.is_jump
            and instruction.target is not None
            and reaches_panic(code, by_address, instruction.target, executed)
        ):
            yield Rule.PANIC, instruction


def reaches_panic(code: list[Instruction], by_address: dict[int, int], start: int, executed: set[int]) -> bool:
    """Whether code that was not executed leads from `start` to a panic before anything else is called."""
    waiting, seen = [start], set()
    while waiting:
        index = by_address.get(waiting.pop())
        # One block: up to a call, a return, or code that runs anyway.
        while index is not None and index < len(code) and index not in seen:
            seen.add(index)
            instruction = code[index]
            if instruction.address in executed or instruction.mnemonic.startswith(_ENDS):
                break
            if instruction.is_call:
                # Rust puts a trap after a call that does not return.
                stops = index + 1 < len(code) and code[index + 1].mnemonic == "ud2"
                if stops or PANIC.search(instruction.target_name):
                    return True
                break
            if instruction.is_jump:
                if instruction.target is not None:
                    waiting.append(instruction.target)
                    if instruction.target not in by_address and PANIC.search(instruction.target_name):
                        return True
                if instruction.mnemonic.startswith("jmp"):
                    break
            index += 1
    return False
