# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The plug-in that every DPDK program linked with shared libraries can load: built when it is needed."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

from testbed.run.programs import repository_root

_SOURCE = Path(__file__).with_name("plugin.c")


class PluginError(Exception):
    """It cannot be built; the message says why."""


def build_plugin() -> Path:
    """Compiles it and returns its path.

    Raises `PluginError`.
    """
    # Not into a scratch folder: DPDK loads nothing from below a folder that everybody may write to, such as /tmp.
    folder = repository_root() / "target" / "bench"
    _check_parents(folder)
    compiler = shutil.which("cc")
    if compiler is None:
        raise PluginError("no C compiler 'cc': install one (Debian and Ubuntu: build-essential)")
    flags = _run("pkg-config", "--cflags", "libdpdk").split()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "librte_testbed_bench.so"
        draft = path.with_suffix(f".{os.getpid()}")
        # DPDK's symbols come from the program that loads it.
        _run(compiler, "-shared", "-fPIC", "-O2", *flags, "-o", str(draft), str(_SOURCE))
        # At once: another run may be loading it.
        draft.replace(path)
    except OSError as error:
        raise PluginError(f"cannot write to '{folder}': {error.strerror}") from error
    return path


def _check_parents(folder: Path) -> None:
    for parent in folder.parents:
        if parent.exists() and parent.stat().st_mode & stat.S_IWOTH:
            raise PluginError(f"DPDK loads no plug-in from '{folder}', since everybody may write to '{parent}'")


def _run(*argv: str) -> str:
    try:
        return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True).stdout
    except subprocess.CalledProcessError as error:
        raise PluginError(f"'{argv[0]}' failed: {error.stderr.strip()[-500:]}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PluginError(f"'{argv[0]}' failed: {error}") from error
