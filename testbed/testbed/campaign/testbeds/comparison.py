# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A comparison over several testbeds: its sizes go to idle ones, each size with all its blocks to the same one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from testbed.campaign.campaign import Workshop
from testbed.campaign.compare import at_size
from testbed.campaign.comparison import ComparisonRun, ComparisonSettings, ComparisonVerdict, broken_blocks
from testbed.campaign.journal import JOURNAL, JournalError
from testbed.campaign.points import Point
from testbed.campaign.sizes import Size
from testbed.campaign.testbeds.cluster import cluster
from testbed.campaign.testbeds.controller import nothing_starts
from testbed.campaign.testbeds.dispatch import Dispatcher
from testbed.campaign.testbeds.inventory import INVENTORY, Inventory, InventoryRecord
from testbed.campaign.testbeds.merge import merged
from testbed.campaign.testbeds.part import Job
from testbed.demo import signals_as_interrupt
from testbed.process import ProcessError
from testbed.results import ResultsError, Status, read_record, write_atomically


class SpreadComparison:
    """One comparison over several testbeds, in one results folder."""

    def __init__(
        self,
        folder: Path,
        settings: ComparisonSettings,
        inventory: Inventory,
        workshop: Workshop,
        console: Console,
        retry_failed: bool = False,
    ) -> None:
        self.folder = folder
        self.settings = settings
        self._inventory = inventory
        self._workshop = workshop
        self._sizes = {self._frames(size): size for size in settings.compare.sizes}
        self._scenarios = {testbed.name: testbed.scenario(settings.scenario) for testbed in inventory.testbeds}
        broken = broken_blocks(folder, settings) if retry_failed else {}
        retries = {self._frames(size): places for size, places in broken.items()}
        self._dispatcher = Dispatcher(folder, list(self._sizes), self._scenarios, self._job, console, retries)

    @classmethod
    def create(
        cls, comparison: ComparisonRun, inventory: Inventory, workshop: Workshop, console: Console
    ) -> SpreadComparison:
        """Spreads a comparison whose folder was just made.

        Raises `ResultsError`.
        """
        record = InventoryRecord(inventory=inventory)
        write_atomically(comparison.folder / INVENTORY, record.model_dump_json(indent=2) + "\n")
        # From now on the parts count, of which the journal is made.
        comparison.close()
        return cls(comparison.folder, comparison.settings, inventory, workshop, console)

    @classmethod
    def resume(
        cls,
        folder: Path,
        settings: ComparisonSettings,
        workshop: Workshop,
        console: Console,
        retry_failed: bool = False,
    ) -> SpreadComparison:
        """Goes on with the comparison of a folder; blocks that are not whole can be measured again, each where it was.

        Raises `ResultsError`.
        """
        record = read_record(folder / INVENTORY, InventoryRecord, "an inventory", "a comparison over several testbeds")
        settings.runs.append(datetime.now(UTC))
        return cls(folder, settings, record.inventory, workshop, console, retry_failed)

    def run(self) -> ComparisonVerdict:
        """Measures what is missing, and judges if all is there.

        Raises `ResultsError`, `JournalError`.
        """
        status, reason = Status.INTERRUPTED, "interrupted"
        try:
            with (
                signals_as_interrupt(),
                cluster(self._inventory, self.settings.bin_dirs, self.folder / "raw") as testbeds,
            ):
                self._dispatcher.measure(testbeds)
        except KeyboardInterrupt:
            self._dispatcher.tell("interrupted: the sizes that are done are kept")
        except (ProcessError, ResultsError, JournalError) as error:
            status, reason = Status.FAILED, str(error)
        else:
            if self._dispatcher.missing:
                status, reason = Status.FAILED, self._dispatcher.why_missing()
        return self._gathered(status, reason)

    def _frames(self, size: Size) -> str:
        frames = self.settings.scenario.frames
        return Point("", size, frames.directions[0], frames.flows[0]).frames

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
        """One comparison: its journal put together of the parts, and its figures found again from that."""
        parts, settings = self._dispatcher.ordered(), self.settings
        settings.testbeds = {self._sizes[frames]: part.testbed for frames, part in parts.items()}
        self._dispatcher.write_environments()
        write_atomically(self.folder / JOURNAL, merged(settings.comparison, settings.runs[0], parts))
        comparison = ComparisonRun.gather(self.folder, settings, replace(self._workshop, start=nothing_starts))
        # All figures were measured elsewhere: only the verdict is new.
        quiet = Console(quiet=True)
        return comparison.ends(quiet, status, reason) if self._dispatcher.missing else comparison.run(quiet)
