# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A comparison over several testbeds: its sizes go to idle ones, each size with all its blocks to the same one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from testbed.campaign.compare.run import ComparisonRun, broken_blocks
from testbed.campaign.compare.schedule import at_size
from testbed.campaign.compare.settings import ComparisonSettings
from testbed.campaign.compare.verdict_file import ComparisonVerdict
from testbed.campaign.equipment import Equipment
from testbed.campaign.journal import JOURNAL
from testbed.campaign.points import Point
from testbed.campaign.sizes import Size
from testbed.campaign.testbeds.campaign import nothing_starts
from testbed.campaign.testbeds.dispatch import Dispatcher
from testbed.campaign.testbeds.inventory import INVENTORY, Inventory, InventoryRecord
from testbed.campaign.testbeds.job import Job
from testbed.campaign.testbeds.merge import merged
from testbed.run.results_folder import Status, read_record, write_atomically, write_model


class SpreadComparison:
    """One comparison over several testbeds, in one results folder."""

    def __init__(
        self,
        folder: Path,
        settings: ComparisonSettings,
        inventory: Inventory,
        equipment: Equipment,
        console: Console,
        retry_failed: bool = False,
    ) -> None:
        self.folder = folder
        self.settings = settings
        self._inventory = inventory
        self._equipment = equipment
        self._sizes = {self._frames(size): size for size in settings.compare.sizes}
        self._scenarios = {testbed.name: testbed.scenario(settings.scenario) for testbed in inventory.testbeds}
        broken = broken_blocks(folder, settings) if retry_failed else {}
        retries = {self._frames(size): places for size, places in broken.items()}
        self._dispatcher = Dispatcher(
            folder, list(self._sizes), self._scenarios, self._job, console, retries, inventory.patience_s
        )

    @classmethod
    def create(
        cls, comparison: ComparisonRun, inventory: Inventory, equipment: Equipment, console: Console
    ) -> SpreadComparison:
        """Spreads a comparison whose folder was just made.

        Raises `ResultsError`.
        """
        record = InventoryRecord(inventory=inventory)
        write_model(comparison.folder / INVENTORY, record)
        # From now on the testbeds' results count, of which the journal is made.
        comparison.close()
        return cls(comparison.folder, comparison.settings, inventory, equipment, console)

    @classmethod
    def resume(
        cls,
        folder: Path,
        settings: ComparisonSettings,
        equipment: Equipment,
        console: Console,
        retry_failed: bool = False,
    ) -> SpreadComparison:
        """Resumes the comparison of a folder. Incomplete blocks can be repeated, each on its testbed.

        Raises `ResultsError`.
        """
        record = read_record(folder / INVENTORY, InventoryRecord, "an inventory", "a comparison over several testbeds")
        settings.runs.append(datetime.now(UTC))
        return cls(folder, settings, record.inventory, equipment, console, retry_failed)

    def run(self) -> ComparisonVerdict:
        """Measures what is missing, and judges if all is there.

        Raises `ResultsError`, `JournalError`.
        """
        status, reason = self._dispatcher.run(self.settings.comparison, self._inventory, self.settings.bin_dirs)
        return self._gathered(status, reason)

    def _frames(self, size: Size) -> str:
        return Point("", self.settings.scenario.frames.first_stream(size)).frames

    def _job(self, testbed: str, frames: str) -> Job:
        return Job(
            campaign=self.settings.comparison,
            testbed=testbed,
            scenario=self._scenarios[testbed],
            frames=frames,
            programs=self.settings.programs,
            compare=at_size(self.settings.compare, self._sizes[frames]),
        )

    def _gathered(self, status: Status, reason: str) -> ComparisonVerdict:
        """One comparison: its journal put together of the testbeds' results, and its figures found again from that."""
        results, settings = self._dispatcher.ordered(), self.settings
        settings.testbeds = {self._sizes[frames]: result.testbed for frames, result in results.items()}
        self._dispatcher.write_environments()
        write_atomically(self.folder / JOURNAL, merged(settings.comparison, settings.runs[0], results))
        comparison = ComparisonRun.gather(self.folder, settings, replace(self._equipment, start=nothing_starts))
        # All figures were measured elsewhere: only the verdict is new.
        quiet = Console(quiet=True)
        return comparison.ends(quiet, status, reason) if self._dispatcher.missing else comparison.run(quiet)
