# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""``python -m testbed.host``: needs of the package's dependencies only typer, so that it runs on any machine."""

from testbed.host.command import app

if __name__ == "__main__":
    app(prog_name="host")
