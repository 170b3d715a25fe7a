# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of `./x bench services`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from testbed.bench.services.contestants import CONTESTANTS, ECHO, PROXY, SERVICES, choose
from testbed.bench.sockets.servers import find_client
from testbed.command_line.console import fail, new_console
from testbed.command_line.options import (
    BinDirOption,
    HugepagesOption,
    JsonOption,
    OutOption,
    ResumeOption,
    SeedOption,
    absolute,
    check_resume,
    command_words,
    drawn,
    end_with,
    json_file,
    results_parent,
    use_hugepages,
)
from testbed.comparison.blocks import Protocol
from testbed.comparison.condition import Condition
from testbed.run.lcores import plan_lcores
from testbed.run.namespaces import NamespacesUnavailable
from testbed.run.process import ProcessError
from testbed.run.programs import ProgramMissing
from testbed.run.results_folder import ResultsError

CONNECTIONS = (1, 100, 1_000, 10_000)
# Where it is not the number of connections that changes.
MANY = 100
# As article 000 has it, and other lengths.
CLIENTS, MESSAGE = 16, 4_096
MESSAGES = (64, 1_024, 65_536, 1_048_576)
LEAST_MESSAGE, MOST_MESSAGE = 64, 1 << 24
# As article 004 has it: requests on a connection, and requests a second.
PER_CONNECTION = (50, 1)
RAMP = (5_000, 10_000, 15_000, 20_000, 25_000)

_FAILED = "some measurements failed: the reasons are above"


def _names() -> list[str]:
    return list(dict.fromkeys(one.name for group in CONTESTANTS.values() for one in group))


def services(
    service: Annotated[
        str, typer.Argument(metavar="[SERVICE]", help=f"{', '.join(SERVICES)}. Default: {SERVICES[0]}.")
    ] = SERVICES[0],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PROGRAM]…",
            help=f"Some of {', '.join(_names())}. Default: all of the service that are built.",
            show_default=False,
        ),
    ] = None,
    connections: Annotated[
        list[int] | None,
        typer.Option(
            "--connections",
            min=1,
            max=100_000,
            metavar="N",
            help=f"Connections; repeatable. Default: {', '.join(map(str, CONNECTIONS))}.",
        ),
    ] = None,
    messages: Annotated[
        list[int] | None,
        typer.Option(
            "--messages",
            min=LEAST_MESSAGE,
            max=MOST_MESSAGE,
            metavar="BYTES",
            help="Of echo: messages of this length in bulk, in both directions; repeatable. "
            f"Default: {MESSAGE:,} with {CLIENTS} and with each number of connections, and "
            f"{', '.join(f'{one:,}' for one in MESSAGES)} with {CLIENTS}; none with --connections.",
        ),
    ] = None,
    per_connection: Annotated[
        list[int] | None,
        typer.Option(
            "--per-connection",
            min=0,
            max=1_000_000,
            metavar="N",
            help="Of proxy: requests on a connection, which the back end closes then; 0: it does not; repeatable. "
            f"Default: 0, and {' and '.join(map(str, PER_CONNECTION))} with {MANY} connections; 0 with --connections.",
        ),
    ] = None,
    blocks: Annotated[int | None, typer.Option(min=1, max=1000, metavar="N", help="Blocks. Default: 12.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="100 connections, and 3 short blocks: 1 to 4 minutes.")
    ] = False,
    loss: Annotated[
        bool,
        typer.Option(
            "--loss",
            help="Instead, ask the programs in Rust and C over paths that lose frames: 5 to 7 minutes, or half of one "
            "with --quick.",
        ),
    ] = False,
    sources: Annotated[
        bool, typer.Option("--sources", help="Measure nothing: print the size of the sources of all programs.")
    ] = False,
    hugepages: HugepagesOption = None,
    json: JsonOption = None,
    out: OutOption = None,
    resume: ResumeOption = None,
    bin_dir: BinDirOption = None,
    seed: SeedOption = None,
) -> None:
    """Race the programs of a service: what language and what network stack cost.

    One client asks all of them, each in turn on a CPU of its own. The programs on dpdk-sockets are on the virtual wire,
    and those on the kernel's sockets in a network namespace, on a veth pair: this needs root. It prints requests a
    second, the ratio of each pair by requests per second of CPU time, with an interval, the noise floor, the CPU time
    of a request, memory, latencies under half and most of a program's load, and, but for proxies, connections opened
    per second. Echo servers also send messages in bulk, and proxies pages on connections that end, at rates of a ramp:
    what they add to the origin's latencies is printed. report.html has all of it.
    Compare languages on one stack, and stacks in one language.
    """
    if sources:
        from testbed.bench.services.sources import print_sources

        print_sources(new_console(), json_file(json))
        return
    if resume is not None:
        others = [service != SERVICES[0], names, connections, messages, per_connection, blocks, quick, loss, out]
        check_resume(resume, [*others, hugepages is not None, seed is not None])
    if service not in CONTESTANTS:
        raise typer.BadParameter(f"unknown service '{service}': choose from {', '.join(SERVICES)}")
    if loss:
        _run_loss(service, names or [], absolute(bin_dir) or None, json_file(json), quick=quick)
    for option, given, of in (("--messages", messages, ECHO), ("--per-connection", per_connection, PROXY)):
        if given and service != of:
            raise typer.BadParameter(f"only for {of}, not for {service}", param_hint=option)
    try:
        from testbed.bench.services.command import ServicesOptions, begin, go_on, run_services

        if resume is not None:
            status = run_services(*go_on(resume.absolute(), absolute(bin_dir) or None, json_file(json)), new_console())
            end_with(status, _FAILED)
        chosen, missing = choose(service, names or [])
        options = ServicesOptions(
            service=service,
            contestants=chosen,
            missing=missing,
            servers=[one.server() for one in chosen],
            client=find_client(absolute(bin_dir) or None),
            conditions=_conditions(service, connections or [], messages or [], per_connection or [], quick),
            protocol=Protocol(rounds=1 if quick else 2, slice_s=0.3 if quick else 0.5),
            blocks=blocks or (3 if quick else 12),
            load_s=0.5 if quick else 3.0,
            ramp=RAMP,
            seed=drawn(seed),
            hugepages=use_hugepages(hugepages),
            quick=quick,
            lcores=plan_lcores(),
            out=results_parent(out),
            json=json_file(json),
            command=shlex.join(command_words("bench", "services")),
        )
        status = run_services(options, *begin(options), new_console())
    except (ProgramMissing, ResultsError, OSError) as error:
        fail(str(error))
    end_with(status, _FAILED)


def _conditions(
    service: str, connections: Sequence[int], lengths: Sequence[int], per_connection: Sequence[int], quick: bool
) -> list[Condition]:
    """What is measured, each once."""
    from testbed.bench.sockets.race import messages, requests

    if connections or lengths or per_connection:
        found = [requests(many, each) for each in per_connection or [0] for many in connections or [MANY]]
        # Without a number of connections, lengths alone.
        found = [] if lengths and not connections else found
        found += [messages(many, length) for length in lengths for many in connections or [CLIENTS]]
    else:
        if quick and service == PROXY:
            return [requests(MANY, PER_CONNECTION[0])]
        found = [requests(many) for many in ((MANY,) if quick else CONNECTIONS)]
        if service == ECHO:
            found.append(messages(CLIENTS, MESSAGE))
            found += [] if quick else [messages(many, MESSAGE) for many in CONNECTIONS]
            found += [] if quick else [messages(CLIENTS, length) for length in MESSAGES]
        if service == PROXY:
            found += [requests(MANY, each) for each in PER_CONNECTION]
    return list(dict.fromkeys(found))


def _run_loss(
    service: str, names: Sequence[str], folders: list[Path] | None, json_path: Path | None, *, quick: bool
) -> NoReturn:
    from testbed.bench.services.loss import QUICK, LossPlan, find_contestants, find_tools
    from testbed.bench.services.loss_run import run_loss

    try:
        contestants, tools = find_contestants(service, names), find_tools(folders)
        status = run_loss(service, contestants, QUICK if quick else LossPlan(), tools, new_console(), json_path)
    except (NamespacesUnavailable, ProcessError, ProgramMissing, OSError) as error:
        fail(str(error))
    end_with(status, "some answers were wrong")
