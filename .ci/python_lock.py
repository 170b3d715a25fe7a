#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Writes testbed/requirements.lock with uv: the newest packages that testbed/pyproject.toml allows.

Of each package the hashes of its source and of the wheels that pip takes on Linux x86-64 with CPython 3.11 to 3.14:
uv itself writes those of every platform, seven times as many lines.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

TESTBED = Path(__file__).parents[1] / "testbed"
COMMAND = "uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --format pylock.toml"
HEAD = """\
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
# Made from pyproject.toml by: .ci/python_lock.py
"""
INSTALLED = re.compile(r"-(py[\d.py]*3|cp3\d+)-(none|abi3|cp31[1-4])-(any|\S*manylinux\S*_x86_64)\.whl$")
NEWER = re.compile(r"-cp31[5-9]-")


def is_installed(wheel: str) -> bool:
    """Whether pip may install a wheel of this file name."""
    return bool(INSTALLED.search(wheel)) and not NEWER.search(wheel)


def requirement(package: dict) -> str:
    """A package of pylock.toml, as pip reads it."""
    files = [wheel for wheel in package.get("wheels", []) if is_installed(wheel["url"])]
    files += [package["sdist"]] if "sdist" in package else []
    marker = f" ; {package['marker']}" if "marker" in package else ""
    hashes = (f" \\\n    --hash=sha256:{digest}" for digest in sorted(file["hashes"]["sha256"] for file in files))
    return f"{package['name']}=={package['version']}{marker}{''.join(hashes)}\n"


def main() -> int:
    """Asks uv, with more of its options if given, and writes the lock."""
    found = subprocess.run([*COMMAND.split(), *sys.argv[1:]], cwd=TESTBED, stdout=subprocess.PIPE, check=True)
    packages = tomllib.loads(found.stdout.decode())["packages"]
    (TESTBED / "requirements.lock").write_text(HEAD + "".join(map(requirement, packages)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
