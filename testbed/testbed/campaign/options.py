# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The options of all campaign commands, and the scenario that they choose."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from testbed.command_line.console import fail, warn

# These imports take a second, which --help avoids.
if TYPE_CHECKING:
    from testbed.campaign.scenario import Scenario
    from testbed.campaign.testbeds.inventory import Inventory


ScenarioOption = Annotated[
    Path,
    typer.Option(
        "--scenario",
        metavar="FILE|NAME",
        help="The devices and the generator: a file, or the name of a ready scenario.",
    ),
]
PresetOption = Annotated[
    str | None, typer.Option(metavar="PRESET", help="rfc2544, csit, quick or rehearsal. Default: that of the scenario.")
]
SizesOption = Annotated[
    str | None,
    typer.Option(
        metavar="BYTES,…",
        help="Frame sizes with FCS, names of size sets, imix, or imix:GENOME (RFC 6985), separated by commas. Default: "
        "those of the scenario.",
    ),
]
DevicesOption = Annotated[
    list[str] | None, typer.Option("--device", metavar="NAME", help="Measure only this device; repeatable.")
]
TestsOption = Annotated[
    list[str] | None, typer.Option("--test", metavar="NAME", help="Run only this test; repeatable.")
]
ResetsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--reset",
        metavar="KIND",
        help="Measure only this kind of reset, process or port; repeatable. Default: all that the device supports.",
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option(min=0, metavar="N", help="Seed of the random order of the devices. Default: that of the scenario."),
]


def chosen_scenario(
    path: Path,
    preset: str | None,
    sizes: str | None,
    devices: list[str] | None,
    tests: list[str] | None,
    seed: int | None,
    resets: list[str] | None = None,
) -> tuple[Scenario, str]:
    """The scenario with the changes of the command line, and the text of its file."""
    from testbed.campaign.scenario_error import ScenarioError
    from testbed.campaign.scenario_file import find_scenario, parse_scenario, read_text

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
                raise ScenarioError(f"{file}: no device '{strange[0]}': choose from {', '.join(known)}")
            changes["devices"] = [known[name].model_dump() for name in devices]
        return (_narrowed(scenario, changes) if changes else scenario), text
    except ScenarioError as error:
        fail(str(error))


def _narrowed(scenario: Scenario, changes: dict[str, object]) -> Scenario:
    """The scenario with these changes, and without the thresholds on what it measures no more."""
    chosen = scenario.changed(**changes, thresholds=[])
    for threshold in scenario.read_thresholds:
        if fault := chosen.why_not_judged(threshold):
            warn(f"warning: the threshold '{threshold.text}' is left out: {fault}")
        else:
            chosen.thresholds.append(threshold.text)
    return chosen


def read_testbeds(path: Path, scenario: Scenario) -> Inventory:
    """Reads the testbeds, and checks that each can run the scenario.

    Raises `ScenarioError`.
    """
    from testbed.campaign.scenario_error import ScenarioError
    from testbed.campaign.testbeds.certificates import CertificateError, checked, soon
    from testbed.campaign.testbeds.cpus import check_cpus
    from testbed.campaign.testbeds.inventory import read_inventory

    inventory = read_inventory(path)
    if inventory.own_certificate is not None:
        try:
            expires = checked(inventory.own_certificate)
        except CertificateError as error:
            raise ScenarioError(f"{path}: {error}") from error
        if soon(expires):
            warn(f"warning: the certificate of '{inventory.own_certificate}' expires on {expires:%Y-%m-%d}")
    for testbed in inventory.testbeds:
        testbed.scenario(scenario)
    try:
        check_cpus(inventory, scenario)
    except ScenarioError as error:
        raise ScenarioError(f"{path}: {error}") from error
    return inventory
