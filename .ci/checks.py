# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x lint` and `./x fmt`. All checks run, so that one report shows all that is wrong.

    python3 .ci/checks.py lint|fmt

Each program .ci/lint/NAME.py is a check: it prints what breaks the rule and exits with 1.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
PYTHON = "testbed/.venv/bin/python"
KERNELS = "parsing-bench/src/impls/*.rs"
C_FOLDERS = (
    *("dpdk-rs/docs/upstream", "dpdk-sockets/c/examples", "dpdk-sockets/c/tests", "dpdk-sys/tests", "l2fwd-c"),
    *("parsing-bench/c", "parsing-bench/fuzz", "services/c"),
)
SHELL = ("x", ".ci/*.sh", "testbed/testbed/bench/scaling/scaling.sh", "testbed/testbed/campaign/remote/*.sh")
# The same for each command, or cargo builds what they share again with other features.
FEATURES = ("--features", "parsing-bench/timer")
# With an example, since cargo otherwise leaves out the features that only tests and examples ask for.
TARGETS = ("--lib", "--bins", "--example", "rx_tx")
DOCUMENTED = ("--workspace", "--exclude", "*-fuzz", "--no-deps", *FEATURES, *TARGETS)
# From above, ruff would take the package for somebody else's and sort imports differently.
RUFF = ("env", "-C", "testbed", ".venv/bin/ruff")
RUFF_WORDS = ("--config", "pyproject.toml", ".", "../.ci")


def files(*patterns: str) -> list[str]:
    """Files of the tree, as paths from its top."""
    return sorted(str(path.relative_to(TREE)) for pattern in patterns for path in TREE.glob(pattern))


def shell_scripts() -> list[str]:
    """Those in `.ci` are known by their first line."""
    ours = [path for path in sorted((TREE / ".ci").iterdir()) if path.is_file() and not path.suffix]
    return files(*SHELL) + [f".ci/{path.name}" for path in ours if path.read_bytes()[:2] == b"#!"]


def clippy(*words: str) -> list[str]:
    """A run of clippy whose warnings are errors."""
    return ["cargo", "clippy", *words, "--", "-D", "warnings"]


def lint() -> Iterator[Sequence[str]]:
    """The checks."""
    yield ("cargo", "fmt", "--all", "--check")
    # Modules that a macro declares, which cargo does not see.
    yield ("rustfmt", "--check", "--edition", "2024", *files(KERNELS))
    yield clippy("--workspace", "--all-targets", *FEATURES)
    yield clippy("--workspace", "--features", "parsing-bench/timer,l2fwd-rs/rewrite", "--bin", "l2fwd-rs", "--tests")
    # Not among all targets, since only --asan and --valgrind run it.
    yield clippy("--workspace", *FEATURES, "--test", "mistakes")
    yield ("env", "RUSTDOCFLAGS=-D warnings", "cargo", "doc", *DOCUMENTED)
    sources = files(*(f"{folder}/**/*.[ch]" for folder in C_FOLDERS))
    yield ("clang-format", "--dry-run", "-Werror", *sources)
    yield ("shellcheck", "--external-sources", *shell_scripts())
    yield (*RUFF, "check", *RUFF_WORDS)
    yield (*RUFF, "format", "--check", *RUFF_WORDS)
    yield (".ci/house",)
    yield (PYTHON, ".ci/safety_audit.py", "--check")
    for check in files(".ci/lint/*.py"):
        if not Path(check).name.startswith("test_"):
            yield (PYTHON, check)
    if shutil.which("cargo-deny"):
        yield ("cargo", "deny", "--workspace", "check", "bans", "licenses", "sources")
    else:
        print("x: cargo-deny is not installed: licences and sources of the crates were not checked")


def fmt() -> Iterator[Sequence[str]]:
    """What formats the sources."""
    yield ("cargo", "fmt", "--all")
    yield ("rustfmt", "--edition", "2024", *files(KERNELS))
    yield ("clang-format", "-i", *files(*(f"{folder}/**/*.[ch]" for folder in C_FOLDERS)))
    yield (*RUFF, "check", "--fix", *RUFF_WORDS)
    yield (*RUFF, "format", *RUFF_WORDS)


def main(arguments: list[str]) -> int:
    """Runs all of them; the exit status is 1 if one complains."""
    if arguments not in (["lint"], ["fmt"]):
        print("usage: checks.py lint|fmt", file=sys.stderr)
        return 2
    os.chdir(TREE)
    complaints = []
    for command in lint() if arguments == ["lint"] else fmt():
        sys.stdout.flush()
        if subprocess.run(command, check=False).returncode != 0:
            complaints.append(shlex.join(command)[:160])
    if complaints:
        print("x: error: these checks failed:", *complaints, sep="\n    ", file=sys.stderr)
        return 1
    if arguments == ["lint"]:
        print("x: all checks passed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
