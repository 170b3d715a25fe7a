# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The folder that measures scaling on a machine without DPDK: statically linked forwarders, and a script."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from testbed.bench.scaling.evaluate import RAW_NAME
from testbed.run.environment import dpdk_linking
from testbed.run.process import describe_status
from testbed.run.programs import Program, ProgramMissing, find_program, repository_root

SCRIPT = "measure"
_FOLDERS = {"l2fwd-rs": "target/static/dist", "l2fwd-c": "build-static/l2fwd-c"}
_SCRIPT_SOURCE = Path(__file__).with_name("scaling.sh")
_README = f"""\
Measures how l2fwd-rs and l2fwd-c scale over lcores, ports and queues. Nothing needs to be installed, and root is not
needed. As nothing else runs on the machine:

    ./{SCRIPT}            # ./{SCRIPT} --help for more or fewer rounds

Then take {RAW_NAME} back to where this folder was made, and there: ./x bench scaling --from {RAW_NAME}
"""


class BundleError(Exception):
    """The folder cannot be made; the message says why."""


def static_programs(folders: Sequence[Path] = ()) -> list[Program]:
    """The statically linked forwarders, of these folders or of the two builds.

    Raises `BundleError`.
    """
    try:
        found = [find_program(name, list(folders) or [repository_root() / _FOLDERS[name]]) for name in _FOLDERS]
    except ProgramMissing as error:
        raise BundleError(f"{error} --static") from error
    for program in found:
        if dpdk_linking(program.path) != "static":
            raise BundleError(f"'{program.path}' needs DPDK's libraries: build it with ./x build --static")
    return found


def libraries(program: Path) -> list[Path]:
    """What the loader loads a program with, itself included, and what glibc loads later.

    Raises `BundleError`.
    """
    try:
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise BundleError(f"cannot list the libraries of '{program}': {error}") from error
    found = [Path(word) for word in listed.split() if word.startswith("/")]
    # For a thread that is cancelled.
    gcc = [path.with_name("libgcc_s.so.1") for path in found if path.name == "libc.so.6"]
    return [*found, *gcc]


def write_bundle(folder: Path, programs: list[Program]) -> None:
    """Puts programs, the system's libraries that they need, and the script into `folder`, which is made if there is
    none.

    Raises `BundleError`.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The loader too: a machine's own may be older than the programs.
        (folder / "lib").mkdir(exist_ok=True)
        for program in programs:
            shutil.copy(program.path, folder / program.name)
            for library in libraries(program.path):
                shutil.copy(library, folder / "lib" / library.name)
        shutil.copy(_SCRIPT_SOURCE, folder / SCRIPT)
        (folder / SCRIPT).chmod(0o755)
        (folder / "README").write_text(_README)
    except OSError as error:
        raise BundleError(f"cannot write to '{folder}': {error.strerror}") from error


def measure(folder: Path, out: Path, options: Sequence[str]) -> None:
    """Runs the script of a bundle, which reports progress on stderr; its raw data goes to `out`.

    Raises `BundleError`.
    """
    status = subprocess.run([folder / SCRIPT, "--out", out, *options], check=False).returncode
    if status != 0:
        raise BundleError(f"the measurement ended with {describe_status(status)}: the results so far are in '{out}'")
