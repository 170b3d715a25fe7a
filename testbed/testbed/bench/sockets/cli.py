# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of `./x bench sockets`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from testbed.bench.count.binary import BinaryError
from testbed.bench.count.gate import FiguresError
from testbed.bench.count.instructions import CountError
from testbed.bench.sockets.count import CONNECTIONS, QUICK_CONNECTIONS, Counted, run_counts
from testbed.bench.sockets.loss import QUICK, LossPlan, run_loss
from testbed.bench.sockets.servers import NAMES, find_client, find_servers
from testbed.command_line.console import fail, new_console
from testbed.command_line.options import (
    BinDirOption,
    HugepagesOption,
    JsonOption,
    OutOption,
    SeedOption,
    absolute,
    command_words,
    drawn,
    end_with,
    json_file,
    results_parent,
    use_hugepages,
)
from testbed.comparison.blocks import Protocol
from testbed.run.lcores import plan_lcores
from testbed.run.namespaces import NamespacesUnavailable
from testbed.run.process import ProcessError
from testbed.run.programs import BYTE_COSTS, COSTS, ECHO, IMPAIR, ProgramMissing, find_program
from testbed.run.results_folder import ResultsError

RACED = (100, 1_000, 10_000)
QUICK_RACED = (10,)
STREAMS = (1,)


def sockets(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="SERVER…", help=f"Some of {', '.join(NAMES)}. Default: all.", show_default=False),
    ] = None,
    connections: Annotated[
        list[int] | None,
        typer.Option(
            "--connections",
            min=1,
            max=100_000,
            metavar="N",
            help=f"Connections; repeatable. Default: {', '.join(map(str, RACED))}; "
            f"for counts {', '.join(map(str, CONNECTIONS))}.",
        ),
    ] = None,
    streams: Annotated[
        list[int] | None,
        typer.Option(
            "--streams",
            min=1,
            max=100,
            metavar="N",
            help="Connections that a server fills with bytes, in races of their own; repeatable. "
            "Default: 1, or none with --connections.",
        ),
    ] = None,
    blocks: Annotated[int | None, typer.Option(min=1, max=1000, metavar="N", help="Blocks. Default: 12.")] = None,
    count: Annotated[bool, typer.Option("--count", help="Only count instructions.")] = False,
    race: Annotated[bool, typer.Option("--race", help="Only race.")] = False,
    loss: Annotated[
        bool, typer.Option("--loss", help="Instead, time transfers on paths that lose frames, beside the kernel's.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only check that everything works: few connections, 2 short blocks.")
    ] = False,
    hugepages: HugepagesOption = None,
    json: JsonOption = None,
    out: OutOption = None,
    bin_dir: BinDirOption = None,
    seed: SeedOption = None,
    renew: Annotated[
        bool, typer.Option("--renew", help="Count instructions, and write the figures to testbed/counts.json.")
    ] = False,
) -> None:
    """Measure what requests of 100 bytes cost dpdk-sockets, and race it with the kernel's sockets.

    First it counts instructions without a device: for a request, with the poll interface, the async sockets, and
    checksum offloads; and for a byte in bulk.
    Then it races servers that send requests back: on the poll interface in Rust (polled), with checksum offloads
    (offloaded), and in C (polled-c), on the async sockets (async), and on the kernel's sockets, with tokio (tokio) and
    in C with epoll (epoll). It prints the ratio of each pair by requests per second of CPU time, with an interval, the
    noise floor, latencies, and connections opened per second. The kernel's servers need root. At last, servers of ours
    send bytes in bulk; one has a device that cuts long segments into packets (segmented).
    """
    if race and (count or renew):
        raise typer.BadParameter("with --count or --renew there is no race", param_hint="--race")
    folders = absolute(bin_dir) or None
    if loss:
        try:
            programs = [find_program(name, folders) for name in (IMPAIR, ECHO)]
            run_loss(QUICK if quick else LossPlan(), *programs, new_console(), json_file(json))
        except (NamespacesUnavailable, ProcessError, ProgramMissing, OSError) as error:
            fail(str(error))
        return
    counted = sorted(set(connections or (QUICK_CONNECTIONS if quick else CONNECTIONS)))
    raced = sorted(set(connections or ([] if streams else QUICK_RACED if quick else RACED)))
    filled = sorted(set(streams or ([] if connections else STREAMS)))
    try:
        if count or renew:
            run_counts(_find_counted(folders), counted, new_console(), json_file(json), renew=renew)
            return
        from testbed.bench.sockets.command import SocketsOptions, run_sockets
        from testbed.bench.sockets.race import requests
        from testbed.bench.sockets.race import streams as streams_of

        options = SocketsOptions(
            servers=find_servers(_chosen(names), folders),
            client=find_client(folders),
            conditions=[*map(requests, raced), *map(streams_of, filled)],
            counted=None if race else _find_counted(folders),
            counted_connections=counted,
            protocol=Protocol(rounds=1 if quick else 2, slice_s=0.2 if quick else 0.5),
            blocks=blocks or (2 if quick else 12),
            load_s=0.2 if quick else 3.0,
            ramp=(),
            seed=drawn(seed),
            hugepages=use_hugepages(hugepages),
            quick=quick,
            lcores=plan_lcores(),
            out=results_parent(out),
            json=json_file(json),
            command=shlex.join(command_words("bench", "sockets")),
        )
        status = run_sockets(options, new_console())
    except (BinaryError, CountError, FiguresError, ProgramMissing, ResultsError, OSError) as error:
        fail(str(error))
    end_with(status, "some measurements failed: the reasons are above")


def _find_counted(folders: list[Path] | None) -> Counted:
    return Counted(find_program(COSTS, folders), find_program(BYTE_COSTS, folders))


def _chosen(names: Sequence[str] | None) -> list[str]:
    """The servers of the command line, each once.

    Raises `typer.BadParameter`.
    """
    if strange := [name for name in names or () if name not in NAMES]:
        raise typer.BadParameter(f"unknown server '{strange[0]}': choose from {', '.join(NAMES)}")
    return list(dict.fromkeys(names or NAMES))
