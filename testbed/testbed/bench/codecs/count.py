# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Instructions of a round, counted by callgrind, and the figures that are checked in: codec-bench/counts.json."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from testbed.bench.codecs.contestants import BYTES, CASES, OBJECT, Codec, conditions
from testbed.bench.codecs.record import Count
from testbed.bench.count.binary import run_tool
from testbed.bench.count.collect import collected, counted
from testbed.bench.count.gate import read_figures, renew_figures
from testbed.comparison.condition import Condition
from testbed.page.tables import ABSENT, Row, Table
from testbed.run.programs import CODEC_CPP, CODEC_RUST, repository_root

COUNTS = Path("codec-bench", "counts.json")
# The functions that are one round.
_ROUND = {CODEC_RUST: "codec_rust::rounds::Rounds::round", CODEC_CPP: "Rounds::round()"}
# As many as give a mean: messages have random sizes.
ROUNDS = {"carsales": 50, "catrank": 8, "eval": 500}
_CRATES = ("capnp", "postcard", "prost", "serde_json")
_LIBRARIES = ("capnp", "protobuf")
# What a row has in place of the components of a packet.
INSTRUCTIONS = "round"
RENEW = "./x bench codecs --renew"
_ABOUT = f"Instructions of a round, by versions, library, case and mode ({RENEW})"


def figures_path() -> Path:
    """The file with the figures."""
    return repository_root() / COUNTS


def counted_conditions(reuse: Sequence[bool] = (False, True)) -> list[Condition]:
    """Those without a second process."""
    return conditions(CASES, (OBJECT, BYTES), reuse)


def count_round(codec: Codec, condition: Condition) -> Count:
    """Counts rounds and divides.

    Raises `CountError`, and `BinaryError` without valgrind.
    """
    assert condition.case is not None
    function, rounds = _ROUND[codec.program.name], ROUNDS[condition.case]
    told = counted(function, codec.program, "run", *codec.words(condition), "--rounds", str(rounds))
    return Count(codec=codec.name, condition=condition, instructions=collected(told, codec.program, function) / rounds)


def count_all(codecs: Sequence[Codec], wanted: Sequence[Condition]) -> Iterator[Count]:
    """Each that can be.

    Raises as `count_round`.
    """
    for condition in wanted:
        for codec in codecs:
            if codec.takes_part(condition):
                yield count_round(codec, condition)


def row_name(count: Count) -> str:
    """Its name in the file."""
    return f"{count.codec}: {count.condition.describe()}"


def versions() -> str:
    """What figures depend on: compilers and libraries.

    Raises `BinaryError`.
    """
    rustc = run_tool("rustc", "--version").split()[1]
    cxx = run_tool("c++", "--version").splitlines()[0].split()[-1]
    versions = [f"rustc {rustc}", f"c++ {cxx}", *(f"{name} {_locked(name)}" for name in _CRATES)]
    found = [f"lib{name} {run_tool('pkg-config', '--modversion', name).strip()}" for name in _LIBRARIES]
    return ", ".join([*versions, *found])


def _locked(crate: str) -> str:
    """The version of a crate in Cargo.lock."""
    lock = (repository_root() / "Cargo.lock").read_text()
    return lock.partition(f'name = "{crate}"\nversion = "')[2].partition('"')[0]


def renew_counts(key: str, counts: Sequence[Count]) -> Path:
    """Writes them into the file.

    Raises `FiguresError`.
    """
    rows = {row_name(one): {INSTRUCTIONS: round(one.instructions, 1)} for one in counts}
    renew_figures(figures_path(), key, rows, _ABOUT)
    return figures_path()


def checked_in(key: str) -> dict[str, float]:
    """The figures for these versions, by row.

    Raises `FiguresError`.
    """
    rows = read_figures(figures_path()).get(key, {})
    return {name: row[INSTRUCTIONS] for name, row in rows.items()}


def count_table(counts: Sequence[Count]) -> Table:
    """One row a condition, a column a library, and Rust's figure over C++'s for the same library."""
    names = list(dict.fromkeys(one.codec for one in counts))
    rows = []
    for condition in dict.fromkeys(one.condition for one in counts):
        found = {one.codec: one.instructions for one in counts if one.condition == condition}
        rust, cpp = found.get("capnp-rust"), found.get("capnp-cpp")
        ratio = f"{rust / cpp:.3f}" if rust and cpp else ABSENT
        cells = [f"{found[name]:,.0f}" if name in found else ABSENT for name in names]
        rows.append(Row([condition.describe(), *cells, ratio]))
    return Table("Instructions of a round", ["Condition", *names, "capnp: Rust / C++"], rows)
