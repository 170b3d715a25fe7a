# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of `./x bench …`. Each benchmark adds a command."""

from __future__ import annotations

from testbed.bench.codecs.cli import codecs
from testbed.bench.handicaps.cli import handicaps
from testbed.bench.overload_cli import overload
from testbed.bench.scaling.cli import scaling
from testbed.bench.services.cli import services
from testbed.bench.sockets.cli import sockets
from testbed.command_line.console import fail, new_app, new_console, say

bench = new_app("Run a benchmark; it writes raw data and a report.")


def results() -> None:
    """Write RESULTS.md of the project, of services/ and of codec-bench/ from the raw data beside it."""
    from testbed.bench.codecs.results import renew_page as renew_codecs
    from testbed.bench.quoted import renew_page
    from testbed.bench.services.results import renew_page as renew_services
    from testbed.run.programs import repository_root
    from testbed.run.results_folder import ResultsError

    try:
        for renew in (renew_page, renew_services, renew_codecs):
            say(new_console(), f"Wrote {renew(repository_root())}")
    except ResultsError as error:
        fail(str(error))


for command in (overload, handicaps, scaling, sockets, services, codecs, results):
    bench.command()(command)
