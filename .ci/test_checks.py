# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Which checks `./x lint` runs, and that all of them run."""
# ruff: noqa: D103

import subprocess
import sys
from pathlib import Path

CI = Path(__file__).parent
sys.path.insert(0, str(CI))

import checks  # noqa: E402


def test_every_rule_in_its_folder_is_a_check():
    told = [" ".join(command) for command in checks.lint()]
    rules = [path for path in (CI / "lint").glob("*.py") if not path.name.startswith("test_")]
    assert rules
    assert all(f"{checks.PYTHON} .ci/lint/{rule.name}" in told for rule in rules)
    assert not any("test_" in command for command in told if ".ci/lint/" in command)


def test_shell_scripts_are_known_by_their_first_line():
    scripts = checks.shell_scripts()
    assert {"x", ".ci/run", ".ci/needs.sh", ".ci/house", ".ci/debian-root-enter"} <= set(scripts)
    assert not any(script.endswith((".py", ".supp")) for script in scripts)


def test_a_complaint_is_named_and_the_other_checks_still_run(tmp_path, monkeypatch, capsys):
    ran = tmp_path / "ran"
    monkeypatch.setattr(checks, "lint", lambda: [("sh", "-c", "exit 3"), ("touch", str(ran))])
    monkeypatch.setattr(checks.os, "chdir", lambda _: None)
    assert checks.main(["lint"]) == 1
    assert ran.exists()
    assert "these checks failed:\n    sh -c 'exit 3'\n" in capsys.readouterr().err
    monkeypatch.setattr(checks, "lint", lambda: [("true",)])
    assert checks.main(["lint"]) == 0


def test_usage():
    done = subprocess.run([sys.executable, CI / "checks.py", "frob"], capture_output=True, check=False)
    assert done.returncode == 2
