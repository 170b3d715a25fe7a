# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Python for a guest: the interpreter and those modules that the given ones use, compiled, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from testbed.vm.guest import Initramfs

# Where modules lie in the guest that are not the interpreter's own.
MODULES = "/opt/testbed"
_INTERPRETER = "/usr/bin/python3"

# What a guest calls: `PYTHON -m testbed.doctor`.
PYTHON = f"PYTHONPATH={MODULES} PYTHONDONTWRITEBYTECODE=1 {_INTERPRETER} -S"

# Runs a program as a guest would, and lists the files of its modules. Encodings and a few that only an error
# needs are asked for by hand.
_ASK = """
import contextlib, importlib.util, io, json, runpy, sys
import encodings.ascii, encodings.latin_1, encodings.idna, traceback, linecache, difflib
programs = json.loads(sys.argv.pop())
for argv in programs:
    sys.argv = list(argv)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            runpy.run_module(argv[0], run_name="__main__", alter_sys=True)
        except SystemExit:
            pass
found = {}
for name, module in list(sys.modules.items()):
    spec = getattr(module, "__spec__", None)
    # Of what is frozen into the interpreter the file counts too: by some of them it finds its folder.
    file = getattr(module, "__file__", None)
    if spec is not None and file and name != "__main__":
        found[spec.name] = [file, spec.submodule_search_locations is not None]
for name in sorted({argv[0] + ".__main__" for argv in programs}):
    found[name] = [importlib.util.find_spec(name).origin, False]
print(json.dumps(found))
"""


def add_python(initramfs: Initramfs, programs: Sequence[Sequence[str]]) -> None:
    """Puts Python into a guest, with what it needs to run the programs: each a module and its arguments."""
    asked = subprocess.run(
        [sys.executable, "-c", _ASK, json.dumps([list(words) for words in programs])],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).resolve().parents[2],
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )
    own = Path(sysconfig.get_path("stdlib"))
    initramfs.add(Path(sys.executable).resolve(), _INTERPRETER)
    modules = json.loads(asked.stdout)
    for name, (origin, is_package) in modules.items():
        file = Path(origin)
        if file.is_relative_to(own):
            target = file
        else:
            parts = name.split(".")
            folder = Path(MODULES, *parts) if is_package else Path(MODULES, *parts[:-1])
            target = folder / (file.name if is_package or file.suffix != ".py" else f"{parts[-1]}.py")
        if file.suffix == ".py":
            initramfs.add_file(file, target)
        else:
            initramfs.add(file, str(target))
    initramfs.compile_python([own, Path(MODULES)])
