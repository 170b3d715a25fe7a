# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What is recorded of the programs that a result is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.run.environment import describe_binary
from testbed.run.programs import Program, repository_root


@pytest.mark.parametrize(
    ("prints", "version"),
    [("echo forwarder 1.2", "forwarder 1.2"), ("printf 'usage: this\\n  --help\\n'", "unknown"), ("exit 1", "unknown")],
)
def test_a_version_is_one_line(tmp_path, prints, version):
    script = tmp_path / "program"
    script.write_text(f"#!/bin/sh\n{prints}\n")
    script.chmod(0o755)
    assert describe_binary(Program("program", "none", script)).version == version


def test_paths_in_the_source_tree_do_not_tell_where_it_lies():
    inside = repository_root() / "x"
    assert describe_binary(Program("x", "sh", inside)).path == "x"
    assert describe_binary(Program("sh", "C", Path("/bin/sh"))).path == "/bin/sh"
