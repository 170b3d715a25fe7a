# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The inventory: a YAML file that says which testbeds there are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from testbed.campaign.devices.settings import Device
from testbed.campaign.scenario import Scenario
from testbed.campaign.scenario_error import ScenarioError
from testbed.campaign.scenario_file import parse_model, read_text
from testbed.campaign.testbeds.address import check_address, has_tls
from testbed.campaign.trial import Record

INVENTORY = "inventory.json"
# The folder of certificates of the machine that runs campaigns.
COORDINATOR = "coordinator"
# A generator may take minutes to start.
PATIENCE_S = 300.0
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Testbed(Record):
    """A generator and the devices that are joined to it; without a word those of the scenario."""

    # pytest would take it for a test.
    __test__ = False

    name: str
    # In place of the scenario's.
    generator: dict[str, Any] | None = None
    # In place of the scenario's of the same names: where they run here, for example.
    devices: list[Device] = Field(default_factory=list)

    @model_validator(mode="after")
    def _named(self) -> Self:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"name '{self.name}': use letters, digits, '.', '_' and '-'")
        return self

    def scenario(self, scenario: Scenario) -> Scenario:
        """What the scenario is on this testbed.

        Raises `ScenarioError`.
        """
        own = {device.name: device for device in self.devices}
        known = [device.name for device in scenario.devices]
        if strange := [name for name in own if name not in known]:
            raise ScenarioError(
                f"testbed '{self.name}': the scenario has no device '{strange[0]}': choose from {', '.join(known)}"
            )
        changes: dict[str, Any] = {}
        changes |= {"generator": self.generator} if self.generator is not None else {}
        if own:
            changes["devices"] = [own.get(device.name, device).model_dump() for device in scenario.devices]
        try:
            return scenario.changed(**changes) if changes else scenario
        except ScenarioError as error:
            raise ScenarioError(f"testbed '{self.name}': {error}") from error


class Inventory(Record):
    """A whole inventory."""

    testbeds: list[Testbed] = Field(min_length=1)
    # Of Dask: 'tls://lab:8786', to which each testbed's worker has connected. Without one a scheduler and the workers
    # are started on this machine.
    scheduler: str | None = None
    # The folder of `./x testbed certificates`; in the file, from the file's folder on.
    certificates: Path = Path("certificates")
    # Everybody on the network may run programs on the testbeds: only then does a scheduler elsewhere need no TLS.
    trusted_network: bool = False
    # How long a testbed may give no word, beyond the time of its trial, before it is taken to hang.
    patience_s: float = Field(PATIENCE_S, gt=0)

    @model_validator(mode="after")
    def _safe(self) -> Self:
        if self.scheduler is not None:
            check_address(self.scheduler, self.trusted_network, "write 'trusted_network: yes'")
        return self

    @property
    def own_certificate(self) -> Path | None:
        """The folder with which this machine connects to the scheduler; None without TLS."""
        return self.certificates / COORDINATOR if self.scheduler and has_tls(self.scheduler) else None

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        names = [testbed.name for testbed in self.testbeds]
        if twice := [name for number, name in enumerate(names) if name in names[:number]]:
            raise ValueError(f"two testbeds have the name '{twice[0]}'")
        return self


class InventoryRecord(Record):
    """`inventory.json`."""

    schema_version: int = 1
    inventory: Inventory


def is_spread(folder: Path) -> bool:
    """Whether a results folder is that of a campaign over several testbeds."""
    return (folder / INVENTORY).exists()


def read_inventory(path: Path) -> Inventory:
    """Reads an inventory.

    Raises `ScenarioError`.
    """
    read = parse_model(read_text(path), str(path), Inventory, "an inventory is a mapping with testbeds")
    return read.model_copy(update={"certificates": (path.parent / read.certificates).absolute()})
