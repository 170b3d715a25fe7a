# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The machine code of the kernels, as `objdump` shows it at their unmangled symbols."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from testbed.bench.count.binary import BinaryError, Symbol, index_at, run_tool, symbols
from testbed.bench.count.loop import PANIC, Instruction, disassemble
from testbed.parsing.record import MachineCode

# A slot of the global offset table, as `readelf --relocs --wide` lists it: what it holds is an address of this program,
# or a function of a library.
_SLOT = re.compile(
    r"([0-9a-f]+) +[0-9a-f]+ R_X86_64_(?:RELATIVE|GLOB_DAT|JUMP_SLOT) +(?:[0-9a-f]+ (\S+) \+ 0|([0-9a-f]+))$"
)
# Compilers fill the room between functions, and put a trap where nothing may come.
_PADDING = ("nop", "int3", "data16", "ud2", "xchg %ax,%ax")
_C_MEMORY = ("memcpy", "memmove", "memset", "memcmp", "bcmp", "malloc", "calloc", "realloc", "free")
# Rust's allocator, as the compiler names it, and what each function is in C.
_RUST_MEMORY = re.compile(r"(?:__rustc(?:\[\w+\])?::)?__r(?:ust|dl|g)_(alloc|alloc_zeroed|dealloc|realloc)")
_IN_C = {"alloc": "malloc", "alloc_zeroed": "calloc", "dealloc": "free", "realloc": "realloc"}


@dataclass
class _Function:
    """One function of a program, with what it calls."""

    symbol: Symbol
    code: list[Instruction]
    calls: int = 0
    panics: int = 0
    memory: Counter[str] = field(default_factory=Counter)
    # By address where it lies in this program, else None.
    others: dict[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True)
class _Target:
    """Where a call goes."""

    # None if it is not known before it is executed, or lies in a library.
    address: int | None
    name: str


class Program:
    """The functions of one program; each is looked at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._symbols = symbols(path)
        self._demangled = parse_names(run_tool("nm", "--demangle", "--defined-only", str(path)))
        self._slots = parse_slots(run_tool("readelf", "--relocs", "--wide", str(path)))
        self._by_name = {symbol.name: symbol for symbol in self._symbols}
        self._seen: dict[int, _Function] = {}

    def names(self) -> set[str]:
        """Of all functions."""
        return set(self._by_name)

    def kernel(self, name: str) -> MachineCode:
        """The machine code of a kernel by its symbol.

        Raises `BinaryError`, also if the program has no such function.
        """
        if name not in self._by_name:
            raise BinaryError(f"'{self.path}' has no function '{name}': was it stripped?")
        kernel = self._function(self._by_name[name])
        reached = self._reachable(kernel)
        return MachineCode(
            instructions=len(kernel.code),
            size_bytes=kernel.symbol.size,
            branches=sum(1 for instruction in kernel.code if _is_conditional(instruction)),
            calls=kernel.calls,
            panic_paths=kernel.panics,
            memory_calls=dict(sorted(kernel.memory.items())),
            callees=sorted(kernel.others),
            reachable_instructions=sum(len(function.code) for function in reached),
            reachable_panic_paths=sum(function.panics for function in reached),
            reachable_memory_calls=sum(function.memory.total() for function in reached),
        )

    def _reachable(self, start: _Function) -> list[_Function]:
        """The function and those below it, each once."""
        found = {start.symbol.address: start}
        waiting = [start]
        while waiting:
            for address in waiting.pop().others.values():
                index = None if address is None else index_at(self._symbols, address)
                if index is not None and self._symbols[index].address not in found:
                    function = self._function(self._symbols[index])
                    found[function.symbol.address] = function
                    waiting.append(function)
        return list(found.values())

    def _function(self, symbol: Symbol) -> _Function:
        if symbol.address not in self._seen:
            self._seen[symbol.address] = self._read(symbol)
        return self._seen[symbol.address]

    def _read(self, symbol: Symbol) -> _Function:
        end = symbol.address + symbol.size
        code = [one for one in disassemble(self.path, symbol.address, end) if not _is_padding(one)]
        function = _Function(symbol, code)
        for instruction in code:
            leaves = instruction.target is not None and not symbol.address <= instruction.target < end
            if not instruction.is_call and not (instruction.is_jump and leaves):
                continue
            function.calls += 1
            target = self._target(instruction)
            if PANIC.search(target.name):
                function.panics += 1
            elif (memory := memory_function(target.name)) is not None:
                function.memory[memory] += 1
            else:
                function.others[target.name or instruction.text] = target.address
        return function

    def _target(self, instruction: Instruction) -> _Target:
        """Also through the global offset table: 'call *0x12b4(%rip)'."""
        if "*" in instruction.operands:
            slot = self._slots.get(instruction.target or 0, "")
            if isinstance(slot, str):
                return _Target(None, slot)
            return _Target(slot, self._demangled.get(slot, ""))
        return _Target(instruction.target, _plain(instruction.target_name))


def parse_names(text: str) -> dict[int, str]:
    """The functions that `nm --demangle` lists, by address."""
    lines = (line.split(maxsplit=2) for line in text.splitlines())
    return {int(words[0], 16): words[2] for words in lines if len(words) == 3 and words[1] in "tTwWi"}


def parse_slots(text: str) -> dict[int, int | str]:
    """What the slots of the global offset table hold: an address of the program, or a library's function by name."""
    found: dict[int, int | str] = {}
    for line in text.splitlines():
        if (slot := _SLOT.match(line.strip())) is not None:
            found[int(slot[1], 16)] = int(slot[3], 16) if slot[3] else _plain(slot[2])
    return found


def _plain(name: str) -> str:
    """A function's name without where it comes from and without an offset: 'memcpy@plt', 'memcpy@GLIBC_2.14'."""
    return re.sub(r"(@.*|\+0x[0-9a-f]+)$", "", name)


def memory_function(name: str) -> str | None:
    """What a function is in C, if it moves or allocates memory: 'malloc' for Rust's allocator."""
    if name in _C_MEMORY:
        return name
    found = _RUST_MEMORY.fullmatch(name)
    return _IN_C[found[1]] if found else None


def _is_conditional(instruction: Instruction) -> bool:
    return instruction.is_jump and not instruction.mnemonic.startswith("jmp")


def _is_padding(instruction: Instruction) -> bool:
    return instruction.mnemonic.startswith(_PADDING) or instruction.text in _PADDING
