# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The CPUs that testbeds use on this machine: two that share one would measure each other."""

from __future__ import annotations

from testbed.campaign.embedded.settings import Embedded
from testbed.campaign.scenario import Scenario
from testbed.campaign.scenario_error import ScenarioError
from testbed.campaign.testbeds.inventory import Inventory
from testbed.campaign.trex.settings import Trex
from testbed.run.lcores import plan_lcores


def check_cpus(inventory: Inventory, scenario: Scenario) -> None:
    """Raises `ScenarioError` if two testbeds that are started on this machine use the same CPU."""
    if inventory.scheduler is not None:
        return
    users: dict[int, str] = {}
    for testbed in inventory.testbeds:
        for cpu in sorted(_cpus(testbed.scenario(scenario))):
            if cpu in users:
                raise ScenarioError(
                    f"testbeds '{users[cpu]}' and '{testbed.name}' both use CPU {cpu} of this machine, and would "
                    "measure each other: give each a generator with an lcore and a forwarder_lcore of its own"
                )
            users[cpu] = testbed.name


def _cpus(scenario: Scenario) -> set[int]:
    """Those that the scenario uses here; TRex's own are in its configuration file."""
    generator = scenario.generator
    if isinstance(generator, Trex):
        elsewhere = any(device.host is not None for device in scenario.devices)
        return set(generator.forwarder.lcore) if generator.forwarder is not None and not elsewhere else set()
    if not isinstance(generator, Embedded):
        return set()
    planned = plan_lcores()
    return {
        planned.generator if generator.lcore is None else generator.lcore,
        *(planned.forwarders if generator.forwarder_lcore is None else generator.forwarder_lcore),
    }
