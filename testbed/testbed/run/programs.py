# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The programs that this project builds, and where they are found."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

# Where the two builds put their programs, relative to the top of the repository.
BUILD_FOLDERS = ("build/l2fwd-c", "target/dist", "target/codec-cpp")
# Programs of these profiles of cargo are for tests: no figure is published of them.
UNPUBLISHED = ("debug", "release")


class ProgramMissing(Exception):  # noqa: N818 (reads better where it is caught)
    """A program is not there or cannot be run; the message says what to do."""


@dataclass(frozen=True)
class Program:
    """One of the project's executables."""

    name: str
    language: str
    path: Path


LANGUAGES = {"l2fwd-c": "C", "l2fwd-rs": "Rust", "generator": "Rust"}
FORWARDERS = ("l2fwd-c", "l2fwd-rs")
GENERATOR = "generator"
# A server and its clients, and two ends of a stream, to be counted.
COSTS = "costs"
BYTE_COSTS = "byte-costs"
# Of a race: the client, and servers on our sockets and on the kernel's.
RACE_CLIENT = "race-client"
RACE_SERVER = "race-server"
RACE_TOKIO = "race-tokio"
# The example of dpdk-sockets, as testbed-load builds it.
ECHO = "echo-example"
IMPAIR = "impair"
LOAD = "load"
ORIGIN = "origin"
# Serialization libraries.
CODEC_RUST = "codec-rust"
CODEC_CPP = "codec-cpp"
LANGUAGES |= dict.fromkeys(
    (COSTS, BYTE_COSTS, RACE_CLIENT, RACE_SERVER, RACE_TOKIO, ECHO, IMPAIR, LOAD, ORIGIN, CODEC_RUST), "Rust"
)
LANGUAGES[CODEC_CPP] = "C++"


def repository_root() -> Path:
    """The top of the source tree that this package lies in."""
    return Path(__file__).resolve().parents[3]


def find_program(name: str, folders: list[Path] | None = None, *, for_figures: bool = True) -> Program:
    """Looks for `name` in `folders`, else where the builds of this tree put it.

    One that cargo built for tests only is refused, unless it is not `for_figures`.

    Raises `ProgramMissing`.
    """
    places = folders or [repository_root() / folder for folder in BUILD_FOLDERS]
    for folder in places:
        path = folder / name
        if path.is_file() and os.access(path, os.X_OK):
            profile = path.resolve().parent.name
            if for_figures and LANGUAGES[name] == "Rust" and profile in UNPUBLISHED:
                raise ProgramMissing(
                    f"'{path}' was built with cargo's profile {profile}, of which no figures are published: "
                    "run ./x build, which builds target/dist"
                )
            return Program(name, LANGUAGES[name], path.resolve())
    listed = ", ".join(str(place) for place in places)
    raise ProgramMissing(f"no program '{name}' in {listed}: build it with ./x build, or name its folder with --bin-dir")
