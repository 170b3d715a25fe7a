# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x testbed exporter`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from testbed.command_line.console import fail, new_console, say
from testbed.metrics.server import Address, MetricsError, read_address, served


def exporter(
    metrics: Annotated[
        Address,
        typer.Option(
            "--metrics", metavar="HOST:PORT", parser=read_address, help="Where to serve them. There is no password."
        ),
    ] = "127.0.0.1:9876",  # type: ignore[assignment] # read by the parser
    file_prefix: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Of the program with this --file-prefix; repeatable. Default: of all."),
    ] = None,
    runtime: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="DPDK's folder of run-time folders. Default: that of this user, such as /var/run/dpdk."
        ),
    ] = None,
) -> None:
    """Serve metrics of running forwarders to Prometheus.

    They come from DPDK's telemetry sockets, of l2fwd-rs, l2fwd-c, or any other DPDK program. Ends with Ctrl-C.
    """
    import threading

    from testbed.metrics.dpdk import DpdkCollector, sockets_in
    from testbed.run.runtime_folders import runtime_folder
    from testbed.run.signals import signals_as_interrupt

    folder = runtime or runtime_folder("")
    collector = DpdkCollector(lambda: sockets_in(folder, file_prefix or []))
    try:
        with signals_as_interrupt(), served(metrics, collector) as at:
            say(new_console(), f"Metrics of the programs in {folder}: http://{at}/metrics")
            threading.Event().wait()
    except KeyboardInterrupt:
        pass
    except MetricsError as error:
        fail(str(error))
