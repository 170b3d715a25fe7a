# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of `./x bench …`. Each benchmark adds a command."""

from __future__ import annotations

import random
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from testbed.bench.binary import BinaryError
from testbed.bench.blocks import Protocol
from testbed.bench.condition import NET_NULL, NET_PCAP, SWEEPS, VIRTUAL, Condition, ConditionError, sweep
from testbed.bench.contestants import (
    PLACEHOLDERS,
    Contestant,
    ContestantError,
    Setup,
    external,
    find_contestant,
    known_names,
)
from testbed.bench.count import CountError
from testbed.bench.count_command import CHECKED_IN_BURSTS, CountOptions, run_count
from testbed.bench.count_command import CONTESTANTS as COUNTED
from testbed.bench.figures import FiguresError
from testbed.bench.loop_command import run_loop
from testbed.eal import EalOptions, hugepages_wanted
from testbed.lcores import plan_lcores
from testbed.parsing.cli import parsing
from testbed.process import ProcessError
from testbed.programs import GENERATOR, Program, ProgramMissing, find_program, repository_root
from testbed.results import ResultsError, Status

bench = typer.Typer(
    help="Measurements, with raw data and a report.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

DEFAULT_CONTESTANTS = ("l2fwd-rs", "l2fwd-c", "testpmd-mac")
# Below this width the tables would be folded; a log file has no width to respect.
_LOG_WIDTH = 160
_EXIT = {Status.PASSED: 0, Status.INTERRUPTED: 130}


@bench.callback()
def _bench() -> None:
    """Measurements, with raw data and a report."""


@bench.command()
def overload(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="CONTESTANT…", help=f"Of {', '.join(known_names())}.", show_default=False),
    ] = None,
    externals: Annotated[
        list[str] | None,
        typer.Option(
            "--external",
            metavar="NAME=COMMAND",
            help=f"Another DPDK forwarder. In its command line {{eal}} is needed; there are {', '.join(PLACEHOLDERS)}.",
        ),
    ] = None,
    wires: Annotated[
        list[str] | None,
        typer.Option(
            "--wire",
            metavar="WIRE",
            help="net_null (default), net_pcap, virtual, or PCI addresses joined by commas; may be repeated.",
        ),
    ] = None,
    sweeps: Annotated[
        list[str] | None,
        typer.Option("--sweep", metavar="WHAT[=VALUES]", help=f"Of {', '.join(SWEEPS)}; for example sizes=64,1518."),
    ] = None,
    size: Annotated[int, typer.Option(min=64, max=9000, metavar="BYTES", help="Frame size, with FCS.")] = 64,
    ports: Annotated[int | None, typer.Option(min=1, max=16, metavar="N", help="Ports. Default: 1.")] = None,
    queues: Annotated[int, typer.Option(min=1, max=16, metavar="N", help="Queues of a port.")] = 1,
    burst: Annotated[int, typer.Option(min=1, max=512, metavar="N", help="Most frames a call.")] = 32,
    descriptors: Annotated[int, typer.Option(min=32, max=32768, metavar="N", help="Of an RX or TX queue.")] = 1024,
    drops: Annotated[int, typer.Option(min=0, max=99, metavar="PERCENT", help="Refused by the transmit side.")] = 0,
    blocks: Annotated[int | None, typer.Option(min=1, max=1000, metavar="N", help="Default: 20.")] = None,
    rounds: Annotated[int | None, typer.Option(min=1, max=1000, metavar="N", help="Of a block. Default: 5.")] = None,
    slice_ms: Annotated[
        float | None, typer.Option("--slice", min=10, max=60_000, metavar="MS", help="Default: 100.")
    ] = None,
    per_cpu_second: Annotated[
        bool, typer.Option("--per-cpu-second", help="Compare by the CPU time that each had, not by the clock.")
    ] = False,
    one_at_a_time: Annotated[
        bool, typer.Option("--one-at-a-time", help="Never two contestants at once, as NICs need it.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="4 short blocks: a check, no measurement.")] = False,
    hugepages: Annotated[
        bool | None,
        typer.Option("--hugepages/--no-hugepages", help="Default: use them if they are there."),
    ] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write summary.json here too.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the results folder is made. Default: results/ of the source tree."),
    ] = None,
    bin_dir: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Folder with the programs; may be repeated. Default: where ./x builds them."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, metavar="N", help="Fixes the order.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the command lines and end.")] = False,
    count: Annotated[
        bool, typer.Option("--count", help="No race: count instructions per packet, on net_null or net_pcap.")
    ] = False,
    loop: Annotated[
        bool, typer.Option("--loop", help="No race: show the machine code of the twins' loops, and how often it runs.")
    ] = False,
    renew: Annotated[
        bool, typer.Option("--renew", help="Count, and write the figures that are checked in: testbed/counts.json.")
    ] = False,
) -> None:
    """Forwarders against each other, as fast as they can: ratios in pairs, with intervals and a noise floor."""
    # Imported here: these take a second, which --help need not.
    from testbed.bench.overload import Overload, OverloadOptions

    folders = [folder.absolute() for folder in bin_dir or []]
    if count or loop or renew:
        base = Condition(burst=burst)
        bursts = [condition.burst for text in sweeps or [] for condition, _ in _swept(base, text)]
        if not bursts:
            bursts = list(CHECKED_IN_BURSTS) if renew else [burst]
        counting = CountOptions(tuple(bursts), json, renew, _counted_on(wires, loop or renew))
        _count_instructions(names, folders, loop, counting)
        return
    contestants = chosen(names, externals, folders)
    base = Condition(size=size, ports=ports or 1, queues=queues, burst=burst, descriptors=descriptors, drops=drops)
    conditions = _conditions(base, wires or ["net_null"], sweeps or [], fixed_ports=ports)
    lcores = plan_lcores()
    with_hugepages = hugepages_wanted() if hugepages is None else hugepages
    if dry_run:
        _print_commands(contestants, conditions[0][0], with_hugepages)
        return
    generator = _generator(folders) if any(condition.wire == VIRTUAL for condition, _ in conditions) else None
    if json is not None and not json.absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder '{json.absolute().parent}'", param_hint="--json")
    options = OverloadOptions(
        contestants=contestants,
        conditions=conditions,
        protocol=Protocol(
            rounds=rounds or (3 if quick else 5),
            slice_s=(slice_ms or (50 if quick else 100)) / 1000,
            one_at_a_time=one_at_a_time or any(condition.nics for condition, _ in conditions),
            by_cpu_time=per_cpu_second,
        ),
        blocks=blocks or (4 if quick else 20),
        seed=random.SystemRandom().randrange(2**31) if seed is None else seed,
        hugepages=with_hugepages,
        per_cpu_second=per_cpu_second,
        quick=quick,
        lcores=lcores,
        generator=generator,
        out=(out or repository_root() / "results").absolute(),
        json=json.absolute() if json else None,
        words=_words_after("overload"),
    )
    try:
        status = Overload(options, _console()).run()
    except (ResultsError, ProcessError) as error:
        _fail(str(error))
    if status is Status.FAILED:
        _fail("some of it could not be measured: see the reasons above")
    raise typer.Exit(_EXIT[status])


@bench.command()
def handicaps(
    wires: Annotated[
        list[str] | None,
        typer.Option("--wire", metavar="WIRE", help="net_null or virtual; may be repeated. Default: both."),
    ] = None,
    blocks: Annotated[
        int | None, typer.Option(min=0, max=1000, metavar="N", help="Default: 10. 0: count instructions only.")
    ] = None,
    per_cpu_second: Annotated[
        bool, typer.Option("--per-cpu-second", help="Compare by the CPU time that each had, not by the clock.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="4 short blocks: a check, no measurement.")] = False,
    hugepages: Annotated[
        bool | None,
        typer.Option("--hugepages/--no-hugepages", help="Default: use them if they are there."),
    ] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write summary.json here too.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the results folder is made. Default: results/ of the source tree."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, metavar="N", help="Fixes the order.")] = None,
) -> None:
    """What each of the things costs that are said to make Rust slower than C on DPDK."""
    from testbed.bench.handicaps_command import HandicapOptions, run_handicaps

    chosen_wires = tuple(dict.fromkeys(wires or (NET_NULL, VIRTUAL)))
    if strange := [wire for wire in chosen_wires if wire not in (NET_NULL, VIRTUAL)]:
        raise typer.BadParameter(f"'{strange[0]}': give {NET_NULL} or {VIRTUAL}", param_hint="--wire")
    number = (4 if quick else 10) if blocks is None else blocks
    options = HandicapOptions(
        wires=chosen_wires if number else (),
        blocks=number,
        protocol=Protocol(rounds=4 if quick else 12, slice_s=0.05 if quick else 0.1, by_cpu_time=per_cpu_second),
        seed=random.SystemRandom().randrange(2**31) if seed is None else seed,
        hugepages=hugepages_wanted() if hugepages is None else hugepages,
        per_cpu_second=per_cpu_second,
        quick=quick,
        lcores=plan_lcores(),
        generator=_generator([]) if VIRTUAL in chosen_wires and number else None,
        out=(out or repository_root() / "results").absolute(),
        json=json.absolute() if json else None,
        command=shlex.join(["./x", "bench", "handicaps", *_words_after("handicaps")]),
    )
    try:
        all_count = run_handicaps(options, _console())
    except (BinaryError, CountError, ProcessError, ProgramMissing, ResultsError, OSError) as error:
        _fail(str(error))
    if not all_count:
        _fail("some of it could not be measured: see the reasons above")


@bench.command()
def scaling(
    bundle: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Measure nothing: write a folder that does, on a machine without DPDK."),
    ] = None,
    raw: Annotated[
        Path | None, typer.Option("--from", metavar="FILE|DIR", help="Measure nothing: report what came back.")
    ] = None,
    rounds: Annotated[int | None, typer.Option(min=1, max=1000, metavar="N", help="Default: 8.")] = None,
    seconds: Annotated[int | None, typer.Option(min=1, max=3600, metavar="S", help="Of each run. Default: 3.")] = None,
    lcores: Annotated[int | None, typer.Option(min=1, metavar="N", help="Default: cores less one.")] = None,
    most: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Ports, queues of one lcore. Default: 8.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=1, metavar="N", help="Fixes the order.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="3 rounds of 1 s: a check, no measurement.")] = False,
    hugepages: Annotated[
        bool | None,
        typer.Option("--hugepages/--no-hugepages", help="Default: use them if they are there."),
    ] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write summary.json here too.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the results folder is made. Default: results/ of the source tree."),
    ] = None,
    bin_dir: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Folder with statically linked forwarders; may be repeated."),
    ] = None,
) -> None:
    """The forwarders on one to N lcores, ports and queues: rates, cycles per packet, efficiency against one lcore."""
    from testbed.bench.scaling_bundle import BundleError
    from testbed.bench.scaling_command import ScalingOptions, run_scaling

    if bundle is not None and raw is not None:
        raise typer.BadParameter("--bundle and --from exclude each other: give one of them")
    if json is not None and not json.absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder '{json.absolute().parent}'", param_hint="--json")
    given = {
        "--rounds": rounds or (3 if quick else None),
        "--seconds": seconds or (1 if quick else None),
        "--lcores": lcores,
        "--most": most,
        "--seed": seed,
    }
    words = [word for name, value in given.items() if value is not None for word in (name, str(value))]
    with_hugepages = hugepages_wanted() if hugepages is None else hugepages
    options = ScalingOptions(
        out=(out or repository_root() / "results").absolute(),
        json=json.absolute() if json else None,
        bin_dirs=[folder.absolute() for folder in bin_dir or []],
        options=[*words, *(["--hugepages"] if with_hugepages else [])],
        quick=quick,
        bundle=bundle.absolute() if bundle else None,
        raw=raw,
        command=shlex.join(["./x", "bench", "scaling", *_words_after("scaling")]),
    )
    try:
        run_scaling(options, _console())
    except (BundleError, ResultsError) as error:
        _fail(str(error))


bench.command()(parsing)


def _counted_on(wires: list[str] | None, plain: bool) -> str:
    """The wire that instructions are counted on; what is `plain` is known for net_null only."""
    wire = ",".join(wires or [NET_NULL])
    known = (NET_NULL,) if plain else (NET_NULL, NET_PCAP)
    if wire not in known:
        raise typer.BadParameter(f"'{wire}': instructions are counted on {' or '.join(known)}", param_hint="--wire")
    return wire


def _count_instructions(names: list[str] | None, folders: list[Path], loop: bool, options: CountOptions) -> None:
    """`--count`, `--loop` and `--renew`."""
    try:
        contestants = [find_contestant(name, folders) for name in names or COUNTED]
        if loop:
            run_loop(contestants, _console())
        else:
            run_count(contestants, options, _console())
    except (BinaryError, ContestantError, CountError, FiguresError, ProcessError, OSError) as error:
        _fail(str(error))


def chosen(names: list[str] | None, externals: list[str] | None, folders: list[Path]) -> list[Contestant]:
    """The contestants that the command line names; with --external alone, the twin in Rust beside it.

    Raises `typer.BadParameter`.
    """
    try:
        others = [external(text) for text in externals or []]
        usual = DEFAULT_CONTESTANTS[:1] if others else DEFAULT_CONTESTANTS
        named = [find_contestant(name, folders) for name in names or usual]
    except ContestantError as error:
        raise typer.BadParameter(str(error)) from error
    found = [*named, *others]
    if len({contestant.name for contestant in found}) < len(found):
        raise typer.BadParameter("a contestant is named twice: the noise floor compares the first with itself anyway")
    if len(found) < 2:
        raise typer.BadParameter("name at least two contestants")
    return found


def _conditions(
    base: Condition, wires: list[str], sweeps: list[str], fixed_ports: int | None
) -> list[tuple[Condition, str | None]]:
    found: list[tuple[Condition, str | None]] = []
    for wire in wires:
        on_wire = base.model_copy(update={"wire": wire})
        if on_wire.nics and fixed_ports is None:
            on_wire = on_wire.model_copy(update={"ports": len(on_wire.nics)})
        named = [_swept(on_wire, text) for text in sweeps] or [[(on_wire, None)]]
        found += [entry for entries in named for entry in entries]
    for condition, _ in found:
        try:
            condition.check()
        except ConditionError as error:
            raise typer.BadParameter(str(error)) from error
    return found


def _swept(base: Condition, text: str) -> list[tuple[Condition, str | None]]:
    """'sizes' or 'sizes=64,1518'."""
    name, equals, listed = text.partition("=")
    if name not in SWEEPS:
        raise typer.BadParameter(f"unknown sweep '{name}': there are {', '.join(SWEEPS)}", param_hint="--sweep")
    try:
        values = [int(value) for value in listed.split(",")] if equals else None
    except ValueError:
        raise typer.BadParameter(f"'{text}': give numbers, as in {name}=1,2", param_hint="--sweep") from None
    least, most = (0, 99) if name == "drops" else (1, 65535)
    if values and not all(least <= value <= most for value in values):
        raise typer.BadParameter(f"'{text}': give numbers from {least} to {most}", param_hint="--sweep")
    return [(condition, name) for condition in sweep(base, name, values)]


def _generator(folders: list[Path]) -> Program:
    try:
        return find_program(GENERATOR, folders or None)
    except ProgramMissing as error:
        raise typer.BadParameter(str(error)) from error


def _print_commands(contestants: list[Contestant], condition: Condition, hugepages: bool) -> None:
    lcores = plan_lcores()
    eal = EalOptions(
        lcores.forwarder, "bench", condition.endless_vdevs(Path("ipv4.pcap")), hugepages, condition.nics, telemetry=True
    )
    setup = Setup(
        eal,
        (lcores.forwarder,),
        lcores.generator,
        condition.ports,
        condition.queues,
        condition.burst,
        condition.descriptors,
    )
    for contestant in contestants:
        try:
            print(f"{contestant.name}: {shlex.join(contestant.argv(setup))}")
        except ContestantError as error:
            print(error)


def _words_after(command: str) -> list[str]:
    """The command line after the name of the command, for who wants to repeat it."""
    return sys.argv[sys.argv.index(command) + 1 :] if command in sys.argv else []


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=_LOG_WIDTH)


def _fail(message: str) -> None:
    typer.echo(f"testbed: {message}", err=True)
    raise typer.Exit(1)
