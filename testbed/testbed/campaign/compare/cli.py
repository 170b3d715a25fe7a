# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of `./x testbed compare`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from testbed.campaign.options import (
    PresetOption,
    ScenarioOption,
    SeedOption,
    SizesOption,
    chosen_scenario,
    read_testbeds,
)
from testbed.campaign.run_and_report import (
    metrics_served,
    run_comparison,
    spread_comparison,
    started_equipment,
)
from testbed.command_line.console import fail, new_console, say
from testbed.command_line.options import BinDirOption, OutOption, absolute, command_words, results_parent
from testbed.metrics.server import MetricsError, MetricsOption


def compare(
    a: Annotated[
        str | None, typer.Option("--a", metavar="NAME", help="A device of the scenario. Default: the first one.")
    ] = None,
    b: Annotated[str | None, typer.Option("--b", metavar="NAME", help="Another device. Default: the next one.")] = None,
    scenario: ScenarioOption = Path("virtual-wire"),
    preset: PresetOption = None,
    sizes: SizesOption = None,
    figures: Annotated[
        list[str] | None,
        typer.Option(
            "--figure",
            metavar="NAME",
            help="What to compare: forwarding_rate, throughput or latency; repeatable. Default: forwarding_rate.",
        ),
    ] = None,
    blocks: Annotated[int, typer.Option(min=1, metavar="N", help="Samples of each size.")] = 10,
    latency_share: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Load of the latency trials, as a fraction of the highest rate."),
    ] = 0.1,
    inventory: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Distribute the sizes over the testbeds in this file.", dir_okay=False),
    ] = None,
    out: OutOption = None,
    bin_dir: BinDirOption = None,
    seed: SeedOption = None,
    metrics: MetricsOption = None,
) -> None:
    """Compare two forwarders at each frame size.

    Their trials are interleaved. The first forwarder is also compared with itself, which shows the noise.
    """
    from pydantic import ValidationError

    from testbed.campaign.compare.run import ComparisonRun, plan_lines
    from testbed.campaign.compare.schedule import CompareSettings
    from testbed.campaign.compare.settings import ComparisonSettings
    from testbed.campaign.journal import JournalError
    from testbed.campaign.real_equipment import find_programs, real_equipment
    from testbed.campaign.scenario_error import ScenarioError
    from testbed.run.process import ProcessError
    from testbed.run.programs import ProgramMissing
    from testbed.run.results_folder import ResultsError
    from testbed.vm.guest import VmMissing

    if inventory is not None and metrics is not None:
        fail("--metrics is for a comparison on one testbed: leave it or --inventory out")
    known = [device.name for device in chosen_scenario(scenario, preset, sizes, None, None, seed)[0].devices]
    a = a or next((name for name in known if name != b), known[0])
    b = b or next((name for name in known if name != a), a)
    chosen, text = chosen_scenario(scenario, preset, sizes, list(dict.fromkeys([a, b])), None, seed)
    folders = absolute(bin_dir)
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
            command=shlex.join(command_words("testbed", "compare")),
            scenario=chosen,
            compare=told,
            bin_dirs=folders,
            programs=programs.hashes(),
        )
        parent = results_parent(out)
        read = read_testbeds(inventory, chosen) if inventory is not None else None
        say(new_console(), *plan_lines(settings, real_equipment(programs), spread=read is not None))
        if read is not None:
            equipment = real_equipment(programs)
            spread_comparison(ComparisonRun.create(parent, settings, text, equipment), read, equipment)
        with metrics_served(metrics) as watching, started_equipment(chosen, programs) as equipment:
            run_comparison(ComparisonRun.create(parent, settings, text, equipment), watching)
    except ValidationError as error:
        first = error.errors()[0]
        fail(f"{'.'.join(map(str, first['loc'])) or 'compare'}: {first['msg']}")
    except (
        MetricsError,
        ResultsError,
        JournalError,
        ProgramMissing,
        ProcessError,
        ScenarioError,
        VmMissing,
    ) as error:
        fail(str(error))
