# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of `./x bench …`. Each benchmark adds a command."""

from __future__ import annotations

from testbed.bench.handicaps.cli import handicaps
from testbed.bench.overload_cli import overload
from testbed.bench.scaling.cli import scaling
from testbed.command_line.console import new_app

bench = new_app("Run a benchmark; it writes raw data and a report.")
for command in (overload, handicaps, scaling):
    bench.command()(command)
