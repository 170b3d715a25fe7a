# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What an executable is made of: its functions, and which of them are DPDK's."""

from __future__ import annotations

import subprocess
from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

# Names of libraries that drivers consist of; all others of DPDK are the library.
_DRIVERS = ("librte_net_", "librte_bus_", "librte_common_")
# So many functions before and after one are examined to find the object file that they all come from.
_NEIGHBOURS = 16


class Component(StrEnum):
    """Whose instructions they are."""

    APPLICATION = "application"
    LIBRARY = "library"
    DEVICE = "device"
    # libc and the dynamic linker: counted for whoever called them.
    SYSTEM = "system"


class BinaryError(Exception):
    """A tool that reads executables failed; the message quotes it."""


@dataclass(frozen=True)
class Symbol:
    """A function of an object file."""

    address: int
    size: int
    name: str
    is_local: bool = False


@dataclass(frozen=True)
class Member:
    """An object file in one of DPDK's static archives."""

    archive: str
    name: str


def run_tool(*argv: str) -> str:
    """What a program prints.

    Raises `BinaryError` if it is missing or fails.
    """
    try:
        return subprocess.run(argv, capture_output=True, text=True, check=True, errors="replace").stdout
    except FileNotFoundError:
        raise BinaryError(f"'{argv[0]}' is not installed: run ./x setup") from None
    except subprocess.CalledProcessError as error:
        raise BinaryError(f"'{' '.join(argv[:3])}' failed: {error.stderr.strip()}") from error


@cache
def symbols(path: Path) -> list[Symbol]:
    """The functions of an executable by address; none if it is stripped. Raises `BinaryError`."""
    return parse_symbols(run_tool("readelf", "--symbols", "--wide", str(path)))


def parse_symbols(text: str) -> list[Symbol]:
    """The functions that `readelf --symbols --wide` lists, by address."""
    found: dict[int, Symbol] = {}
    for line in text.splitlines():
        # Num: Value Size Type Bind Vis Ndx Name
        fields = line.split()
        if len(fields) >= 8 and fields[3] in ("FUNC", "IFUNC", "GNU_IFUNC") and fields[6] != "UND":
            symbol = Symbol(int(fields[1], 16), int(fields[2], 0), fields[7], fields[4] == "LOCAL")
            # Of several names of one function, a global one is more useful.
            if symbol.address not in found or found[symbol.address].is_local:
                found[symbol.address] = symbol
    return [found[address] for address in sorted(found)]


def index_at(listed: list[Symbol], address: int) -> int | None:
    """Where in `listed` the function stands that contains `address`."""
    index = bisect_right(listed, address, key=lambda symbol: symbol.address) - 1
    inside = index >= 0 and address < listed[index].address + max(listed[index].size, 1)
    return index if inside else None


@cache
def archived_functions() -> dict[str, set[Member]]:
    """The functions of DPDK's static archives by name, with where each is; of local ones many have the same name.

    Raises `BinaryError`.
    """
    folder = Path(run_tool("pkg-config", "--variable=libdir", "libdpdk").strip())
    archives = sorted(str(path) for path in folder.glob("librte_*.a"))
    return parse_archives(run_tool("nm", "-A", "--defined-only", *archives)) if archives else {}


def parse_archives(text: str) -> dict[str, set[Member]]:
    """What `nm -A --defined-only` says, as `archived_functions` gives it."""
    found: defaultdict[str, set[Member]] = defaultdict(set)
    for line in text.splitlines():
        # /lib/librte_x.a:drivers_net_x_y.c.o:0000000000000010 t name
        place, _, rest = line.rpartition(":")
        fields = rest.split()
        if len(fields) == 3 and fields[1] in "tTwWi":
            archive, _, member = place.partition(":")
            found[fields[2]].add(Member(Path(archive).name, member))
    return dict(found)


def member_of(listed: list[Symbol], index: int, archived: dict[str, set[Member]]) -> Member | None:
    """The object file in an archive that a function of a program was linked from; None for the program's own.

    A local function's name says little: many object files have one of that name. But a linker keeps those of one object
    file together, so its neighbours decide; a function without a neighbour from the same archive is the program's.
    """
    symbol = listed[index]
    candidates = archived.get(symbol.name, set())
    if not symbol.is_local and len(candidates) == 1:
        return next(iter(candidates))
    around = {neighbour.name for neighbour in listed[max(index - _NEIGHBOURS, 0) : index + _NEIGHBOURS + 1]}
    votes = Counter(
        member for name in around - {symbol.name} for member in archived.get(name, set()) if member in candidates
    )
    return max(votes, key=lambda member: (votes[member], member.archive, member.name), default=None)


def component_of_library(name: str) -> Component:
    """The component by the file name of a library of DPDK, shared or archive."""
    return Component.DEVICE if name.startswith(_DRIVERS) else Component.LIBRARY


def component_of(program: Path, object_name: str, address: int | None) -> Component:
    """Whose an executed function is: by the object file that it lies in, or by the archive that it comes from."""
    if Path(object_name).resolve() != program.resolve():
        name = Path(object_name).name
        return component_of_library(name) if name.startswith("librte_") else Component.SYSTEM
    listed = symbols(program)
    index = None if address is None else index_at(listed, address)
    member = None if index is None else member_of(listed, index, archived_functions())
    return Component.APPLICATION if member is None else component_of_library(member.archive)
