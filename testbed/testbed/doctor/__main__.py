# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""``python -m testbed.doctor``: needs only typer and rich, so that it runs on any machine."""

import typer

from testbed.doctor.command import doctor

if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command()(doctor)
    app(prog_name="doctor")
