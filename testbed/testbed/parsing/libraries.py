# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The libraries that a program has kernels of, what the gate says of them, and what each costs alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testbed.parsing.build import GATE, Built, build_program, target_folder
from testbed.parsing.crate import crate_facts, locked_version
from testbed.parsing.matrix import cargo_environment
from testbed.parsing.record import LTO_FAT, Alone, GateVerdict, Library, Versions, Way, Workload
from testbed.parsing.source import kernel_lines
from testbed.run.process import Process, ProcessError, completed

# To list takes no time, the gate at most minutes.
_PATIENCE_S = 900.0
# A program as small as one that uses a library can be.
ALONE = "parsing-frame"


class LibraryError(Exception):
    """What is to be known of the libraries could not be learnt; the message says why."""


@dataclass(frozen=True)
class Listed:
    """A library of a program, and what is needed to measure it."""

    library: Library
    feature: str
    symbols: dict[Workload, str]


def list_libraries(program: Path, versions: Versions, folder: Path) -> list[Listed]:
    """Those of the program `measure`, in their order.

    Raises `LibraryError` and `SourceError`.
    """
    events = _run("list", [str(program), "list"], folder).events
    return [_listed(event, versions) for event in events if event.get("type") == "library"]


def _listed(event: dict[str, Any], versions: Versions) -> Listed:
    package, module = str(event["package"]), str(event["module"])
    cannot = {Workload(name): str(reason) for name, reason in event["cannot"].items()}
    compiler = {"c_gcc": versions.gcc, "c_clang": versions.clang}.get(module)
    lines = {workload: number for workload, number in kernel_lines(module).items() if workload not in cannot}
    # Of a package that is in Cargo.lock twice, the version that the kernels are built with.
    version = (locked_version(package) if package else compiler) or ""
    library = Library(
        name=event["name"],
        package=package,
        version=version,
        licence=event["licence"],
        no_std=event["no_std"],
        note=event["note"],
        way=Way(event["way"]),
        crate=crate_facts(package, version) if package else None,
        cannot=cannot,
        kernel_lines=lines,
    )
    symbols = {Workload(name): str(symbol) for name, symbol in event["symbols"].items()}
    return Listed(library, str(event["feature"]), symbols)


def chosen_libraries(listed: Sequence[Listed], names: Sequence[str]) -> list[Listed]:
    """Those of these names; all if none is given.

    Raises `LibraryError` for an unknown name.
    """
    known = [one.library.name for one in listed]
    if strange := [name for name in names if name not in known]:
        raise LibraryError(f"no library '{strange[0]}': choose from {', '.join(known)}")
    return [one for one in listed if not names or one.library.name in names]


def judge(libraries: Sequence[Library], workloads: Sequence[Workload], frames: int, gate: Path, folder: Path) -> None:
    """Runs the gate on all mutants and so many drawn frames a workload, and puts its verdicts into `libraries`.

    Raises `LibraryError`.
    """
    argv = [str(gate), "--json", "--libs", ",".join(library.name for library in libraries)]
    argv += [word for workload in workloads for word in ("--workload", workload)]
    take_verdicts(_run("gate", [*argv, "--frames", str(frames)], folder).stdout_text, libraries)


def take_verdicts(text: str, libraries: Sequence[Library]) -> None:
    """Puts what `parsing-gate --json` prints into `libraries`.

    Raises `LibraryError`.
    """
    by_name = {library.name: library for library in libraries}
    try:
        for name, verdicts in json.loads(text)["verdicts"].items():
            for workload, verdict in verdicts.items():
                by_name[name].gate[Workload(workload)] = GateVerdict.model_validate(verdict)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise LibraryError(f"unexpected output of {GATE} --json: {error}") from error


def weigh_alone(listed: Sequence[Listed], folder: Path, tell: Callable[[str], None], done: Callable[[], None]) -> None:
    """Builds a program with one library after the other, from nothing, and one with none to compare with. What is known
    already is kept.

    Raises `BuildError` and `BinaryError`.
    """
    features = dict.fromkeys(one.feature for one in listed if one.library.alone is None)
    if not features:
        return
    nothing = _build_alone(None, folder, tell)
    for feature in features:
        built = _build_alone(feature, folder, tell)
        alone = Alone(
            build_seconds=built.seconds or 0,
            crates=built.crates,
            binary_bytes=built.stripped_bytes,
            more_bytes=built.stripped_bytes - nothing.stripped_bytes,
            more_seconds=(built.seconds or 0) - (nothing.seconds or 0),
        )
        for one in listed:
            if one.feature == feature:
                one.library.alone = alone
        done()


def _build_alone(feature: str | None, folder: Path, tell: Callable[[str], None]) -> Built:
    where = target_folder().with_name("parsing-alone")
    shutil.rmtree(where, ignore_errors=True)
    words = ["--bin", ALONE, "--no-default-features", *(["--features", feature] if feature else [])]
    name = f"build-alone-{feature or 'nothing'}"
    tell(f"building with {feature or 'nothing'} alone")
    built = build_program(words, where, cargo_environment(LTO_FAT), folder, name)
    shutil.rmtree(where, ignore_errors=True)
    return built


def _run(name: str, argv: list[str], folder: Path) -> Process:
    """A program that has ended well, with what it has printed.

    Raises `LibraryError`.
    """
    try:
        return completed(name, argv, folder, _PATIENCE_S)
    except ProcessError as error:
        raise LibraryError(str(error)) from error
