# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Builds the program of a variant. Cargo keeps what it compiles apart by profile and flags, so that no variant takes
anything from another; procedural macros and build scripts are compiled once for each kind of LTO.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from testbed.bench.count.binary import run_tool
from testbed.parsing.matrix import cargo_environment, host_triple
from testbed.parsing.record import LTO_OFF, Variant
from testbed.run.environment import sha256_of
from testbed.run.process import Process, ProcessError
from testbed.run.programs import repository_root
from testbed.run.scratch import scratch_folder

PACKAGE = "parsing-bench"
MEASURE = "measure"
GATE = "parsing-gate"
TIMER = "parsing-timer"
# A variant takes a minute on two cores; a slow machine must not be mistaken for one that hangs.
_PATIENCE_S = 1800.0
# The kernels only: what judges them, and what times them, are programs of their own.
_KERNELS = ("--no-default-features", "--features", "libraries")
# What stands around the kernels and is not measured, by package: not optimised, it is built in half the time.
_AROUND = {"itoa": 0, "lexopt": 0, "memmap2": 0, "serde_core": 0, "serde_json": 0, "zmij": 0}
# Of the timer only what criterion computes.
_TIMER = {"criterion": 1, "oorandom": 1}
# Of the gate in a check what draws frames, and the kernels, somewhat: with them come the libraries' own, as released.
_GATE_QUICK = {"getrandom": 0, "parsing-bench": 1, "proptest": 1, "regex-syntax": 0, **_AROUND}

# Is notified of a compiler that was started, so that it can be ended.
Watch = Callable[[Process], None]


class BuildError(Exception):
    """Cargo could not build a program; the message quotes it."""


@dataclass(frozen=True)
class Built:
    """A program, and what it took."""

    program: Path
    # None where it is not known how much was there already.
    seconds: float | None
    # Compiled just now or before.
    crates: int
    stripped_bytes: int
    sha256: str


def target_folder() -> Path:
    """Where cargo works."""
    return repository_root() / "target" / "parsing"


def build_variant(variant: Variant, fresh: bool, log_dir: Path, watch: Watch) -> Built:
    """Builds the program `measure` of a variant; with `fresh` from scratch, which gives the build time.

    Raises `BuildError` and `BinaryError`.
    """
    if fresh:
        shutil.rmtree(target_folder(), ignore_errors=True)
    words = ["--example", MEASURE, *_KERNELS, *_optimised(_AROUND)]
    built = _build_here(words, cargo_environment(variant), log_dir, variant.name, watch)
    return replace(built, seconds=built.seconds if fresh else None)


def build_gate(quick: bool, log_dir: Path, watch: Watch) -> Built:
    """The program `parsing-gate`, of the packages that the variant without LTO has.

    Raises `BuildError` and `BinaryError`.
    """
    words = ["--bin", GATE, *_optimised(_GATE_QUICK if quick else {})]
    return _build_here(words, cargo_environment(LTO_OFF), log_dir, "gate", watch)


def build_timer(log_dir: Path, watch: Watch) -> Built:
    """The program `parsing-timer`, one for all variants.

    Raises `BuildError` and `BinaryError`.
    """
    words = ["--bin", TIMER, "--no-default-features", "--features", "timer", *_optimised(_TIMER)]
    environment = cargo_environment(LTO_OFF) | {"CARGO_PROFILE_RELEASE_OPT_LEVEL": "0"}
    return _build_here(words, environment, log_dir, "timer", watch)


def _optimised(packages: Mapping[str, int]) -> list[str]:
    """Words that give packages a level of optimisation other than the profile's."""
    return [
        word
        for package, level in packages.items()
        for word in ("--config", f'profile.release.package."{package}".opt-level={level}')
    ]


def _build_here(words: list[str], environment: dict[str, str], log_dir: Path, name: str, watch: Watch) -> Built:
    """A program, kept in the results folder: the next build may take its place."""
    built = build_program(words, target_folder(), environment, log_dir, f"build-{name}", watch)
    kept = programs_folder(log_dir, name)
    kept.mkdir(parents=True, exist_ok=True)
    shutil.copy(built.program, kept)
    return replace(built, program=kept / built.program.name)


def programs_folder(log_dir: Path, name: str) -> Path:
    """Where the program of that name is kept."""
    return log_dir.parent / "programs" / name


def kept_program(variant: Variant, sha256: str | None, log_dir: Path) -> Built | None:
    """The program of a variant that a run before this one has left; None if it is not there as it was.

    Raises `BinaryError`.
    """
    program = programs_folder(log_dir, variant.name) / MEASURE
    if sha256 is None or not program.is_file() or sha256_of(program) != sha256:
        return None
    return Built(program, None, 0, stripped_bytes(program), sha256)


def build_program(
    which: list[str],
    folder: Path,
    environment: dict[str, str],
    log_dir: Path,
    name: str,
    watch: Watch = lambda _: None,
) -> Built:
    """The one program that `cargo build --release -p parsing-bench` makes with the words `which`.

    Raises `BuildError` and `BinaryError`.
    """
    # For a named target the flags are the program's alone, and not those of build scripts and procedural macros.
    words = [*which, "--target", host_triple(), "--target-dir", str(folder)]
    started = time.monotonic()
    program, crates = _run_cargo(words, environment, log_dir, name, watch)
    return Built(program, time.monotonic() - started, crates, stripped_bytes(program), sha256_of(program))


def release_program() -> Path:
    """Where cargo puts the program `measure` of the profile `dist`."""
    return repository_root() / "target" / "dist" / "examples" / MEASURE


def build_release(log_dir: Path) -> Path:
    """The program `measure` of the profile `dist`, where cargo builds everything else.

    Raises `BuildError`.
    """
    return _run_cargo(["--example", MEASURE], {}, log_dir, "build-dist", lambda _: None, profile="dist")[0]


def _run_cargo(
    words: list[str], environment: dict[str, str], log_dir: Path, name: str, watch: Watch, profile: str = "release"
) -> tuple[Path, int]:
    """The program that was built, and of how many crates."""
    argv = ["cargo", "build", "--profile", profile, "-p", PACKAGE, *words]
    argv += ["--manifest-path", str(repository_root() / "Cargo.toml"), "--message-format=json"]
    try:
        with Process(name, argv, log_dir, environment) as cargo:
            try:
                watch(cargo)
                status = cargo.wait(_PATIENCE_S)
            finally:
                cargo.kill()
    except ProcessError as error:
        raise BuildError(str(error)) from error
    # These are long, and say nothing of a build that went well.
    cargo.stdout_path.unlink(missing_ok=True)
    made = [event for event in cargo.events if event.get("reason") == "compiler-artifact"]
    program = next((Path(event["executable"]) for event in reversed(made) if event.get("executable")), None)
    if status or program is None:
        raise BuildError(f"{name}: {_first_error(cargo)}")
    return program, len({event["package_id"] for event in made})


def _first_error(cargo: Process) -> str:
    """What the compiler says first; else cargo's own last words."""
    for event in cargo.events:
        message = event.get("message")
        if event.get("reason") == "compiler-message" and message and message.get("level") == "error":
            return str(message.get("rendered") or message.get("message")).strip()
    return str(cargo.failure("cargo failed"))


def stripped_bytes(program: Path) -> int:
    """The size of the program without its symbols.

    Raises `BinaryError`.
    """
    with scratch_folder() as folder:
        copy = folder / program.name
        shutil.copy(program, copy)
        run_tool("strip", str(copy))
        return copy.stat().st_size
