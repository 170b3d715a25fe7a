# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of `./x bench overload`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from testbed.bench.count.binary import BinaryError
from testbed.bench.count.command import CHECKED_IN_BURSTS, CountOptions, run_count
from testbed.bench.count.command import CONTESTANTS as COUNTED
from testbed.bench.count.gate import FiguresError
from testbed.bench.count.instructions import CountError
from testbed.bench.count.loop_command import run_loop
from testbed.command_line.console import fail, new_console
from testbed.command_line.options import (
    BinDirOption,
    HugepagesOption,
    JsonOption,
    OutOption,
    PerCpuSecondOption,
    SeedOption,
    absolute,
    command_words,
    drawn,
    end_with,
    generator_program,
    json_file,
    results_parent,
    use_hugepages,
)
from testbed.comparison.blocks import Protocol
from testbed.comparison.condition import NET_NULL, NET_PCAP, SWEEPS, VIRTUAL, Condition, ConditionError, sweep
from testbed.comparison.contestants import (
    PLACEHOLDERS,
    Contestant,
    ContestantError,
    Setup,
    external,
    find_contestant,
    known_names,
)
from testbed.run.eal import EalOptions
from testbed.run.lcores import plan_lcores
from testbed.run.process import ProcessError
from testbed.run.results_folder import ResultsError

DEFAULT_CONTESTANTS = ("l2fwd-rs", "l2fwd-c", "testpmd-mac")


def overload(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="CONTESTANT…", help=f"At least two of {', '.join(known_names())}.", show_default=False),
    ] = None,
    externals: Annotated[
        list[str] | None,
        typer.Option(
            "--external",
            metavar="NAME=COMMAND",
            help=f"Another DPDK forwarder. Its command needs {{eal}}; placeholders: {', '.join(PLACEHOLDERS)}.",
        ),
    ] = None,
    wires: Annotated[
        list[str] | None,
        typer.Option(
            "--wire",
            metavar="WIRE",
            help="net_null (default), net_pcap, virtual, or PCI addresses separated by commas; repeatable.",
        ),
    ] = None,
    sweeps: Annotated[
        list[str] | None,
        typer.Option("--sweep", metavar="WHAT[=VALUES]", help=f"Vary {', '.join(SWEEPS)}; for example sizes=64,1518."),
    ] = None,
    size: Annotated[int, typer.Option(min=64, max=9000, metavar="BYTES", help="Frame size with FCS.")] = 64,
    ports: Annotated[int | None, typer.Option(min=1, max=16, metavar="N", help="Ports. Default: 1.")] = None,
    queues: Annotated[int, typer.Option(min=1, max=16, metavar="N", help="Queues per port.")] = 1,
    burst: Annotated[int, typer.Option(min=1, max=512, metavar="N", help="Maximum frames per call.")] = 32,
    descriptors: Annotated[
        int, typer.Option(min=32, max=32768, metavar="N", help="Descriptors of an RX or TX queue.")
    ] = 1024,
    drops: Annotated[
        int, typer.Option(min=0, max=99, metavar="PERCENT", help="Frames that the transmit side refuses.")
    ] = 0,
    blocks: Annotated[int | None, typer.Option(min=1, max=1000, metavar="N", help="Blocks. Default: 20.")] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, max=1000, metavar="N", help="Rounds per block. Default: 5.")
    ] = None,
    slice_ms: Annotated[
        float | None, typer.Option("--slice", min=10, max=60_000, metavar="MS", help="Length of a slice. Default: 100.")
    ] = None,
    per_cpu_second: PerCpuSecondOption = False,
    one_at_a_time: Annotated[
        bool, typer.Option("--one-at-a-time", help="Never start two contestants at once. NICs need this.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Only check that everything works: 4 short blocks.")] = False,
    hugepages: HugepagesOption = None,
    json: JsonOption = None,
    out: OutOption = None,
    bin_dir: BinDirOption = None,
    seed: SeedOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the command lines and exit.")] = False,
    count: Annotated[
        bool, typer.Option("--count", help="Count instructions per packet instead, on net_null or net_pcap.")
    ] = False,
    loop: Annotated[
        bool, typer.Option("--loop", help="Show the machine code of the twins' loops instead, with execution counts.")
    ] = False,
    renew: Annotated[
        bool, typer.Option("--renew", help="Count instructions, and write the figures to testbed/counts.json.")
    ] = False,
) -> None:
    """Compare forwarders under overload.

    Prints the ratio of each pair with an interval, and the noise floor.
    """
    # These imports take a second, which --help avoids.
    from testbed.bench.overload import Overload, OverloadOptions

    folders = absolute(bin_dir)
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
    with_hugepages = use_hugepages(hugepages)
    if dry_run:
        _print_commands(contestants, conditions[0][0], with_hugepages)
        return
    generator = generator_program(folders) if any(condition.wire == VIRTUAL for condition, _ in conditions) else None
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
        seed=drawn(seed),
        hugepages=with_hugepages,
        per_cpu_second=per_cpu_second,
        quick=quick,
        lcores=lcores,
        generator=generator,
        out=results_parent(out),
        json=json_file(json),
        words=command_words("bench", "overload"),
    )
    try:
        status = Overload(options, new_console()).run()
    except (ResultsError, ProcessError) as error:
        fail(str(error))
    end_with(status, "some measurements failed: the reasons are above")


def _counted_on(wires: list[str] | None, plain: bool) -> str:
    """The wire that instructions are counted on. If `plain`, only net_null is possible."""
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
            run_loop(contestants, new_console())
        else:
            run_count(contestants, options, new_console())
    except (BinaryError, ContestantError, CountError, FiguresError, ProcessError, OSError) as error:
        fail(str(error))


def chosen(names: list[str] | None, externals: list[str] | None, folders: list[Path]) -> list[Contestant]:
    """The contestants of the command line; for `--external` alone, also the twin in Rust.

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
        raise typer.BadParameter(
            "a contestant appears twice: give each once; the noise floor already compares the first with itself"
        )
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
        raise typer.BadParameter(f"unknown sweep '{name}': choose from {', '.join(SWEEPS)}", param_hint="--sweep")
    try:
        values = [int(value) for value in listed.split(",")] if equals else None
    except ValueError:
        raise typer.BadParameter(f"'{text}': give numbers, as in {name}=1,2", param_hint="--sweep") from None
    least, most = (0, 99) if name == "drops" else (1, 65535)
    if values and not all(least <= value <= most for value in values):
        raise typer.BadParameter(f"'{text}': give numbers from {least} to {most}", param_hint="--sweep")
    return [(condition, name) for condition in sweep(base, name, values)]


def _print_commands(contestants: list[Contestant], condition: Condition, hugepages: bool) -> None:
    lcores = plan_lcores()
    eal = EalOptions(
        lcores.forwarder, "bench", condition.endless_vdevs(Path("ipv4.pcap")), hugepages, condition.nics, telemetry=True
    )
    setup = Setup.of(condition, eal, lcores)
    for contestant in contestants:
        try:
            print(f"{contestant.name}: {shlex.join(contestant.argv(setup))}")
        except ContestantError as error:
            print(error)
