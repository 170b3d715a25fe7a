# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of campaigns: `./x testbed rfc2544`, `overload`, `compare`, `plan`, `resume` and `diff`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console

from testbed.campaign.diff_command import diff
from testbed.programs import repository_root
from testbed.results import Status

# What these need takes a second to import, which --help need not.
if TYPE_CHECKING:
    from testbed.campaign.campaign import Campaign, Settings, Workshop
    from testbed.campaign.comparison import ComparisonRun, ComparisonSettings, ComparisonVerdict
    from testbed.campaign.scenario import Scenario
    from testbed.campaign.testbeds.inventory import Inventory
    from testbed.campaign.workshop import Programs

# A log file has no width to respect.
_LOG_WIDTH = 160
_EXIT = {Status.PASSED: 0, Status.INTERRUPTED: 130}

ScenarioOption = Annotated[
    Path,
    typer.Option("--scenario", metavar="FILE|NAME", help="What is measured with what: a file, or a ready scenario."),
]
PresetOption = Annotated[
    str | None, typer.Option(metavar="PRESET", help="rfc2544, csit, quick or rehearsal. Default: the scenario's.")
]
SizesOption = Annotated[
    str | None,
    typer.Option(
        metavar="BYTES,…",
        help="Frame sizes with FCS, sets of them by name, imix, or imix:GENOME (RFC 6985), joined by commas. Default: "
        "the scenario's.",
    ),
]
DevicesOption = Annotated[
    list[str] | None, typer.Option("--device", metavar="NAME", help="Only this one; may be repeated.")
]
TestsOption = Annotated[
    list[str] | None, typer.Option("--test", metavar="NAME", help="Only this one; may be repeated.")
]
ResetsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--reset",
        metavar="KIND",
        help="Only this kind of reset, process or port; may be repeated. Default: each that the device can.",
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Where the results folder is made. Default: results/ of the source tree."),
]
BinDirOption = Annotated[
    list[Path] | None,
    typer.Option(metavar="DIR", help="Folder with the programs; may be repeated. Default: where ./x builds them."),
]
SeedOption = Annotated[int | None, typer.Option(min=0, metavar="N", help="Fixes the order of the devices.")]


def add_commands(app: typer.Typer) -> None:
    """Makes the commands known."""
    for command in (rfc2544, overload, compare, plan, resume, diff):
        app.command()(command)


def rfc2544(
    scenario: ScenarioOption = Path("virtual-wire"),
    preset: PresetOption = None,
    sizes: SizesOption = None,
    devices: DevicesOption = None,
    tests: TestsOption = None,
    resets: ResetsOption = None,
    out: OutOption = None,
    bin_dir: BinDirOption = None,
    seed: SeedOption = None,
) -> None:
    """Throughput, latency, frame loss, back-to-back, recovery, reset: a campaign after RFC 2544."""
    chosen, text = _chosen(scenario, preset, sizes, devices, tests, seed, resets)
    _begin("rfc2544", chosen, text, out, bin_dir)


def overload(
    scenario: ScenarioOption = Path("virtual-wire"),
    preset: PresetOption = None,
    sizes: SizesOption = None,
    devices: DevicesOption = None,
    out: OutOption = None,
    bin_dir: BinDirOption = None,
    seed: SeedOption = None,
) -> None:
    """The forwarding rate at the highest load that can be offered (RFC 2889)."""
    chosen, text = _chosen(scenario, preset, sizes, devices, ["forwarding_rate"], seed)
    _begin("overload", chosen, text, out, bin_dir)


def compare(
    a: Annotated[
        str | None, typer.Option("--a", metavar="NAME", help="A device of the scenario. Default: the first one.")
    ] = None,
    b: Annotated[str | None, typer.Option("--b", metavar="NAME", help="Another one. Default: the next one.")] = None,
    scenario: ScenarioOption = Path("virtual-wire"),
    preset: PresetOption = None,
    sizes: SizesOption = None,
    figures: Annotated[
        list[str] | None,
        typer.Option(
            "--figure",
            metavar="NAME",
            help="forwarding_rate, throughput or latency; may be repeated. Default: forwarding_rate.",
        ),
    ] = None,
    blocks: Annotated[int, typer.Option(min=1, metavar="N", help="Samples of each size. Default: 10.")] = 10,
    latency_share: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Load of latency: of the highest rate, from 0 to 1. Default: 0.1."),
    ] = 0.1,
    inventory: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Testbeds of which each idle one is given the next size.", dir_okay=False),
    ] = None,
    out: OutOption = None,
    bin_dir: BinDirOption = None,
    seed: SeedOption = None,
) -> None:
    """Which of two forwarders is faster at which size: interleaved, the first one against itself before."""
    from pydantic import ValidationError

    from testbed.campaign.compare import CompareSettings
    from testbed.campaign.comparison import ComparisonRun, ComparisonSettings, plan_lines
    from testbed.campaign.journal import JournalError
    from testbed.campaign.scenario import ScenarioError
    from testbed.campaign.workshop import find_programs, workshop
    from testbed.process import ProcessError
    from testbed.programs import ProgramMissing
    from testbed.results import ResultsError
    from testbed.vm import VmMissing

    known = [device.name for device in _chosen(scenario, preset, sizes, None, None, seed)[0].devices]
    a = a or next((name for name in known if name != b), known[0])
    b = b or next((name for name in known if name != a), a)
    chosen, text = _chosen(scenario, preset, sizes, list(dict.fromkeys([a, b])), None, seed)
    folders = [folder.absolute() for folder in bin_dir or []]
    try:
        told = CompareSettings(
            a=a,
            b=b,
            sizes=tuple(chosen.frames.sizes),
            **({"figures": figures} if figures else {}),
            blocks=blocks,
            seed=chosen.seed,
            latency_share=latency_share,
        )
        programs = find_programs(chosen, folders)
        settings = ComparisonSettings(
            command=shlex.join(["./x", "testbed", *_words_after("compare")]),
            scenario=chosen,
            compare=told,
            bin_dirs=folders,
            programs=programs.hashes(),
        )
        parent = (out or repository_root() / "results").absolute()
        read = _read_inventory(inventory, chosen) if inventory is not None else None
        for line in plan_lines(settings, workshop(programs), spread=read is not None):
            _console().print(line, highlight=False, markup=False, soft_wrap=True)
        if read is not None:
            shop = workshop(programs)
            _spread_comparison(ComparisonRun.create(parent, settings, text, shop), read, shop)
        with _workshop(chosen, programs) as shop:
            _run_comparison(ComparisonRun.create(parent, settings, text, shop))
    except ValidationError as error:
        first = error.errors()[0]
        _fail(f"{'.'.join(map(str, first['loc'])) or 'compare'}: {first['msg']}")
    except (ResultsError, JournalError, ProgramMissing, ProcessError, ScenarioError, VmMissing) as error:
        _fail(str(error))


def plan(
    scenario: ScenarioOption = Path("virtual-wire"),
    preset: PresetOption = None,
    sizes: SizesOption = None,
    devices: DevicesOption = None,
    tests: TestsOption = None,
    resets: ResetsOption = None,
) -> None:
    """What a campaign would measure, how long that takes about, and what is missing here; measures nothing."""
    from testbed.campaign.needs import needs
    from testbed.campaign.scenario import ScenarioError
    from testbed.campaign.timeplan import print_plan
    from testbed.host.files import Host

    chosen, _ = _chosen(scenario, preset, sizes, devices, tests, None, resets)
    console = _console()
    print_plan(chosen, console)
    try:
        wanted = needs(chosen)
    except ScenarioError as error:
        _fail(str(error))
    missing = list(wanted.missing(Host()))
    for line in missing:
        console.print(f"Missing here: {line}", highlight=False, markup=False, soft_wrap=True)
    if wanted.hosts:
        console.print(f"Not looked at: {', '.join(wanted.hosts)}", highlight=False, markup=False, soft_wrap=True)
    if missing:
        name = shlex.quote(str(scenario))
        console.print(f"All of it: ./x testbed doctor --scenario {name}", highlight=False, markup=False, soft_wrap=True)


def resume(
    folder: Annotated[Path, typer.Argument(help="The folder of a campaign that was cut short.", file_okay=False)],
    changed_programs: Annotated[
        bool, typer.Option("--changed-programs", help="Go on though the programs are others than at the beginning.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Measure again what has failed, and keep all else as it is.")
    ] = False,
) -> None:
    """Goes on with a campaign where it stopped, in the middle of a search if need be."""
    from testbed.campaign.campaign import Campaign, read_settings
    from testbed.campaign.comparison import ComparisonRun, is_comparison, read_comparison_settings
    from testbed.campaign.journal import JournalError
    from testbed.campaign.testbeds.inventory import is_spread
    from testbed.campaign.workshop import find_programs, workshop
    from testbed.process import ProcessError
    from testbed.programs import ProgramMissing
    from testbed.results import ResultsError
    from testbed.vm import VmMissing

    try:
        compared = is_comparison(folder)
        settings = read_comparison_settings(folder) if compared else read_settings(folder)
        programs = find_programs(settings.scenario, settings.bin_dirs)
        if changed := [name for name, hashed in programs.hashes().items() if settings.programs.get(name) != hashed]:
            if not changed_programs:
                _fail(
                    f"{', '.join(changed)} changed since the campaign began: build what was measured then, begin a new "
                    "campaign, or go on all the same with --changed-programs"
                )
            typer.echo(f"testbed: warning: {', '.join(changed)} changed since the campaign began", err=True)
        if is_spread(folder):
            _go_on_with_testbeds(folder.absolute(), settings, workshop(programs), retry_failed)
        with _workshop(settings.scenario, programs) as shop:
            if compared:
                _run_comparison(ComparisonRun.resume(folder.absolute(), shop, retry_failed))
            _run(Campaign.resume(folder.absolute(), shop, retry_failed))
    except (ResultsError, JournalError, ProgramMissing, ProcessError, VmMissing) as error:
        _fail(str(error))


def _chosen(
    path: Path,
    preset: str | None,
    sizes: str | None,
    devices: list[str] | None,
    tests: list[str] | None,
    seed: int | None,
    resets: list[str] | None = None,
) -> tuple[Scenario, str]:
    """The scenario with what the command line says otherwise, and the text of its file."""
    from testbed.campaign.scenario import ScenarioError, find_scenario, parse_scenario, read_text

    try:
        file = find_scenario(path)
        text = read_text(file)
        scenario = parse_scenario(text, str(file))
        changes: dict[str, object] = {}
        changes |= {"preset": preset} if preset else {}
        changes |= {"tests": tests} if tests else {}
        changes |= {"seed": seed} if seed is not None else {}
        if resets:
            told = {str(test): fields for test, fields in scenario.settings.items()}
            changes["settings"] = told | {"reset": {**told.get("reset", {}), "kinds": resets}}
        if sizes:
            changes["frames"] = {**scenario.frames.model_dump(), "sizes": sizes.split(",")}
        if devices:
            known = {device.name: device for device in scenario.devices}
            if strange := [name for name in devices if name not in known]:
                raise ScenarioError(f"{file}: no device '{strange[0]}': there are {', '.join(known)}")
            changes["devices"] = [known[name].model_dump() for name in devices]
        return (scenario.changed(**changes) if changes else scenario), text
    except ScenarioError as error:
        _fail(str(error))


def _begin(kind: str, scenario: Scenario, text: str, out: Path | None, bin_dir: list[Path] | None) -> None:
    from testbed.campaign.campaign import Campaign, Settings
    from testbed.campaign.journal import JournalError
    from testbed.campaign.timeplan import print_plan
    from testbed.campaign.workshop import find_programs
    from testbed.process import ProcessError
    from testbed.programs import ProgramMissing
    from testbed.results import ResultsError
    from testbed.vm import VmMissing

    folders = [folder.absolute() for folder in bin_dir or []]
    try:
        programs = find_programs(scenario, folders)
        settings = Settings(
            kind=kind,
            command=shlex.join(["./x", "testbed", *_words_after(kind)]),
            scenario=scenario,
            bin_dirs=folders,
            programs=programs.hashes(),
        )
        print_plan(scenario, _console())
        parent = (out or repository_root() / "results").absolute()
        with _workshop(scenario, programs) as shop:
            _run(Campaign.create(parent, settings, text, shop))
    except (ResultsError, JournalError, ProgramMissing, ProcessError, VmMissing) as error:
        _fail(str(error))


@contextmanager
def _workshop(scenario: Scenario, programs: Programs) -> Iterator[Workshop]:
    """What a campaign works with, and the virtual machine of a scenario that wants one while the `with` lasts.

    Raises `VmMissing`, and `ProcessError` if the machine does not come up.
    """
    from testbed.campaign.guest.machine import guest_for
    from testbed.campaign.workshop import generator_cpu, workshop

    def tell(line: str) -> None:
        _console().print(line, highlight=False, soft_wrap=True)

    with guest_for(scenario, list(programs.forwarders.values()), lambda: generator_cpu(scenario), tell) as guest:
        yield workshop(programs, guest)


def _run(campaign: Campaign) -> None:
    """Runs it and ends the program with its status."""
    console = _console()
    console.print(f"Results: {campaign.folder}", highlight=False, soft_wrap=True)
    campaign.run(console)
    _report(campaign)


def _read_inventory(path: Path, scenario: Scenario) -> Inventory:
    """The testbeds, each of which can run the scenario.

    Raises `ScenarioError`.
    """
    from testbed.campaign.testbeds.inventory import read_inventory

    inventory = read_inventory(path)
    for testbed in inventory.testbeds:
        testbed.scenario(scenario)
    return inventory


def _spread_comparison(comparison: ComparisonRun, inventory: Inventory, shop: Workshop) -> NoReturn:
    from testbed.campaign.testbeds.comparison import SpreadComparison

    console = _console()
    console.print(f"That is on one testbed; there are {len(inventory.testbeds)}.", highlight=False)
    console.print(f"Results: {comparison.folder}", highlight=False, soft_wrap=True)
    _judge(comparison.folder, SpreadComparison.create(comparison, inventory, shop, console).run(), console)


def _go_on_with_testbeds(
    folder: Path, settings: Settings | ComparisonSettings, shop: Workshop, retry_failed: bool
) -> NoReturn:
    from testbed.campaign.comparison import ComparisonSettings
    from testbed.campaign.testbeds.comparison import SpreadComparison
    from testbed.campaign.testbeds.controller import Controller

    console = _console()
    if isinstance(settings, ComparisonSettings):
        _judge(folder, SpreadComparison.resume(folder, settings, shop, console, retry_failed).run(), console)
    _report(Controller.resume(folder, settings, shop, console, retry_failed).run())


def _report(campaign: Campaign) -> NoReturn:
    """Tells what a campaign has found, and ends the program with its status."""
    console, summary = _console(), campaign.summary
    status = summary.status
    console.print((campaign.folder / "summary.md").read_text(), highlight=False, markup=False, soft_wrap=True)
    _write_report(campaign.folder, console)
    if status is Status.FAILED:
        _fail(summary.reason or "the campaign failed")
    if status is Status.INTERRUPTED:
        typer.echo(f"testbed: {summary.reason}", err=True)
    raise typer.Exit(_EXIT[status])


def _run_comparison(comparison: ComparisonRun) -> None:
    """Runs it and ends the program with its status."""
    console = _console()
    console.print(f"Results: {comparison.folder}", highlight=False, soft_wrap=True)
    _judge(comparison.folder, comparison.run(console), console)


def _judge(folder: Path, verdict: ComparisonVerdict, console: Console) -> NoReturn:
    """Tells what a comparison has found, and ends the program with its status."""
    from testbed.campaign.campaign import retry_command
    from testbed.campaign.comparison import as_markdown

    console.print(as_markdown(verdict), highlight=False, markup=False, soft_wrap=True)
    if verdict.comparison is not None and verdict.comparison.failures:
        again = retry_command(folder)
        console.print(f"To measure blocks that are not whole again: {again}", highlight=False, soft_wrap=True)
    _write_report(folder, console)
    if verdict.status is Status.FAILED:
        _fail(verdict.reason or "the comparison failed")
    raise typer.Exit(_EXIT[verdict.status])


def _write_report(folder: Path, console: Console) -> None:
    """Writes the report, without which the campaign is as good: it can be made again at any time."""
    from testbed.campaign.report import write_report
    from testbed.results import ResultsError

    try:
        console.print(f"Report: {write_report(folder)}", highlight=False, soft_wrap=True)
    except (ResultsError, KeyboardInterrupt) as error:
        why = str(error) or "interrupted"
        again = shlex.quote(str(folder))
        typer.echo(f"testbed: warning: no report: {why}; make it with ./x testbed report {again}", err=True)
    console.print(f"Results: {folder}", highlight=False, soft_wrap=True)


def _words_after(command: str) -> list[str]:
    import sys

    return sys.argv[sys.argv.index(command) :] if command in sys.argv else [command]


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=_LOG_WIDTH)


def _fail(message: str) -> NoReturn:
    typer.echo(f"testbed: {message}", err=True)
    raise typer.Exit(1)
