# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""``python -m testbed.doctor``: needs only typer and rich, so that it runs on any machine."""

from testbed.command_line.console import new_app
from testbed.doctor.command import doctor

if __name__ == "__main__":
    app = new_app()
    app.command()(doctor)
    app(prog_name="doctor")
