# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""DPDK's own l2fwd example, which no distribution ships as a program: built from the distribution's sources of DPDK."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from testbed.run.programs import ProgramMissing, repository_root

_NAME = "dpdk-l2fwd"
_REMEDY = f"build DPDK's examples/l2fwd yourself, and put it as '{_NAME}' into a folder of PATH"
_FETCH_TIMEOUT_S = 300
_BUILD_TIMEOUT_S = 60


def find_l2fwd_example() -> Path:
    """Where it is, built first if need be.

    Raises `ProgramMissing`.
    """
    installed = shutil.which(_NAME)
    if installed:
        return Path(installed)
    folder = repository_root() / "target" / _NAME
    built = folder / _NAME
    if not (built.is_file() and os.access(built, os.X_OK)):
        _build(folder, built)
    return built


def _build(folder: Path, program: Path) -> None:
    print("testbed: building DPDK's l2fwd from the sources of the installed DPDK, once", flush=True)
    _run(_FETCH_TIMEOUT_S, str(repository_root() / ".ci" / "dpdk-sources"), str(folder))
    sources = list(folder.glob("source/dpdk-*/examples/l2fwd/main.c"))
    if len(sources) != 1:
        raise ProgramMissing(f"the sources of DPDK in '{folder}' have no examples/l2fwd/main.c: {_REMEDY}")
    # As its own Makefile builds it: optimised, and with the flags that DPDK gives.
    flags = _run(_BUILD_TIMEOUT_S, "pkg-config", "--cflags", "--libs", "libdpdk").split()
    draft = program.with_suffix(f".{os.getpid()}")
    _run(_BUILD_TIMEOUT_S, "cc", "-O3", "-DALLOW_EXPERIMENTAL_API", str(sources[0]), "-o", str(draft), *flags)
    draft.replace(program)
    shutil.rmtree(folder / "source", ignore_errors=True)
    shutil.rmtree(folder / "apt", ignore_errors=True)


def _run(timeout_s: float, *argv: str) -> str:
    try:
        return subprocess.run(argv, capture_output=True, text=True, timeout=timeout_s, check=True).stdout
    except subprocess.CalledProcessError as error:
        raise ProgramMissing(f"'{argv[0]}' failed: {error.stderr.strip()[-500:]}: {_REMEDY}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProgramMissing(f"'{argv[0]}' failed: {error}: {_REMEDY}") from error
