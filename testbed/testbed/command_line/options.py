# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The options that several measurements have, and what becomes of their values."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from testbed.command_line.console import fail
from testbed.run.eal import hugepages_wanted
from testbed.run.programs import GENERATOR, Program, ProgramMissing, find_program, repository_root
from testbed.run.results_folder import Status

_EXIT = {Status.PASSED: 0, Status.INTERRUPTED: 130}

OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="Where to create the results folder. Default: results/ in the source tree."
    ),
]
BinDirOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--bin-dir", metavar="DIR", help="Folder with the programs; repeatable. Default: where ./x builds them."
    ),
]
HugepagesOption = Annotated[
    bool | None,
    typer.Option("--hugepages/--no-hugepages", help="Default: use hugepages if they are available."),
]
JsonOption = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Also write summary.json to this file.")
]
PerCpuSecondOption = Annotated[
    bool, typer.Option("--per-cpu-second", help="Compare frames per second of CPU time, not of wall time.")
]
SeedOption = Annotated[
    int | None, typer.Option("--seed", min=0, metavar="N", help="Seed of the random order. Default: random.")
]

ResumeOption = Annotated[
    Path | None, typer.Option("--resume", metavar="DIR", help="Continue the interrupted run of this results folder.")
]


def check_resume(folder: Path, others: Sequence[object]) -> None:
    """A run is continued with its own settings, so none of the options that change them may be given.

    Raises `typer.BadParameter`.
    """
    if not folder.is_dir():
        raise typer.BadParameter(f"the folder '{folder}' does not exist", param_hint="--resume")
    if any(others):
        raise typer.BadParameter(
            "the run continues with its own settings: omit the options that change them", param_hint="--resume"
        )


def results_parent(out: Path | None) -> Path:
    """The folder in which the results folder is made."""
    return (out or repository_root() / "results").absolute()


def absolute(folders: list[Path] | None) -> list[Path]:
    """Folders as they are from anywhere."""
    return [folder.absolute() for folder in folders or []]


def json_file(json: Path | None) -> Path | None:
    """The file, whose folder must exist.

    Raises `typer.BadParameter`.
    """
    if json is not None and not json.absolute().parent.is_dir():
        raise typer.BadParameter(f"the folder '{json.absolute().parent}' does not exist", param_hint="--json")
    return json.absolute() if json else None


def use_hugepages(hugepages: bool | None) -> bool:
    """What was asked for, or else what there is."""
    return hugepages_wanted() if hugepages is None else hugepages


def drawn(seed: int | None) -> int:
    """The seed that was given, or a random one."""
    return random.SystemRandom().randrange(2**31) if seed is None else seed


def generator_program(folders: list[Path]) -> Program:
    """The traffic generator.

    Raises `typer.BadParameter`.
    """
    try:
        return find_program(GENERATOR, folders or None)
    except ProgramMissing as error:
        raise typer.BadParameter(str(error)) from error


def command_words(group: str, command: str) -> list[str]:
    """The command line as it was given, to repeat it: ['./x', 'bench', 'overload', '--quick']."""
    given = sys.argv[sys.argv.index(command) + 1 :] if command in sys.argv else []
    return ["./x", group, command, *given]


def end_with(status: Status, why_failed: str) -> NoReturn:
    """Ends the program with a run's status."""
    if status is Status.FAILED:
        fail(why_failed)
    raise typer.Exit(_EXIT[status])
