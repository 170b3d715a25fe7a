# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A campaign over several testbeds: its frames go to idle ones, and one campaign is made of what comes back."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from testbed.campaign.campaign import Campaign, Extent, nothing_failed, to_repeat
from testbed.campaign.campaign_settings import CampaignSettings
from testbed.campaign.equipment import Equipment
from testbed.campaign.journal import JOURNAL, Joined, read_entries
from testbed.campaign.method import most_of_all
from testbed.campaign.points import Point, ordered_points, setup_name, side_by_side
from testbed.campaign.scenario import Scenario
from testbed.campaign.summary import SUMMARY, read_campaign_summary
from testbed.campaign.testbeds.dispatch import Dispatcher
from testbed.campaign.testbeds.inventory import INVENTORY, Inventory, InventoryRecord
from testbed.campaign.testbeds.job import Again, Job, JobResult, again_part
from testbed.campaign.testbeds.merge import kept, merged
from testbed.campaign.traffic_generator import Generator, GeneratorError
from testbed.run.results_folder import ResultsError, Status, read_record, write_atomically, write_model


class SpreadCampaign:
    """One campaign over several testbeds, in one results folder."""

    def __init__(
        self,
        folder: Path,
        settings: CampaignSettings,
        inventory: Inventory,
        equipment: Equipment,
        console: Console,
        retry_failed: bool = False,
    ) -> None:
        self.folder = folder
        self.settings = settings
        self._inventory = inventory
        self._equipment = equipment
        self._console = console
        frames = list(dict.fromkeys(point.frames for point in ordered_points(settings.scenario)))
        self._scenarios = {testbed.name: testbed.scenario(settings.scenario) for testbed in inventory.testbeds}
        retries = _failed(folder, frames, settings.scenario) if retry_failed else {}
        self._dispatcher = Dispatcher(
            folder, frames, self._scenarios, self._job, console, retries, inventory.patience_s
        )

    @classmethod
    def create(cls, campaign: Campaign, inventory: Inventory, equipment: Equipment, console: Console) -> SpreadCampaign:
        """Spreads a campaign whose folder was just made.

        Raises `ResultsError`.
        """
        record = InventoryRecord(inventory=inventory)
        write_model(campaign.folder / INVENTORY, record)
        # From now on the testbeds' results count, of which the journal is made.
        campaign.journal.close()
        return cls(campaign.folder, campaign.settings, inventory, equipment, console)

    @classmethod
    def resume(
        cls,
        folder: Path,
        settings: CampaignSettings,
        equipment: Equipment,
        console: Console,
        retry_failed: bool = False,
    ) -> SpreadCampaign:
        """Resumes the campaign of a folder. Failed measurements can be repeated, each on its testbed.

        Raises `ResultsError`.
        """
        record = read_record(folder / INVENTORY, InventoryRecord, "an inventory", "a campaign over several testbeds")
        settings.runs.append(datetime.now(UTC))
        return cls(folder, settings, record.inventory, equipment, console, retry_failed)

    def run(self) -> Campaign:
        """Measures what is missing, and returns the campaign with all that there is."""
        begin = time.monotonic()
        status, reason = self._dispatcher.run(
            self.settings.campaign, self._inventory, self.settings.bin_dirs, self._jobs_again
        )
        return self._gathered(time.monotonic() - begin, status, reason)

    def _job(self, testbed: str, frames: str, again: Again | None = None) -> Job:
        return Job(
            campaign=self.settings.campaign,
            testbed=testbed,
            scenario=self._scenarios[testbed],
            frames=frames,
            programs=self.settings.programs,
            again=again,
        )

    def _jobs_again(self) -> list[Job]:
        """The first rate of each testbed once more, on that testbed."""
        found: dict[str, Job] = {}
        for frames, result in self._dispatcher.ordered().items():
            job = None if result.testbed in found else self._job_again(frames, result)
            if job is not None:
                found[job.testbed] = job
        return [job for job in map(self._with_earlier, found.values()) if job is not None]

    def _job_again(self, frames: str, result: JobResult) -> Job | None:
        for finding in result.findings:
            if finding.status == "done" and self._equipment.methods[finding.measurement].rate is not None:
                point = Point(finding.device, finding.stream)
                name = setup_name(point, result.testbed)
                entries = read_entries(result.journal, frames)
                joined = {one.setup: one.capabilities for one in reversed(entries) if isinstance(one, Joined)}
                limits = joined[name]
                if side_by_side(self._scenarios[result.testbed]):
                    most = {point.size: most_of_all(point.size, joined.values())}
                    limits = limits.model_copy(update={"max_fps_by_size": {**limits.max_fps_by_size, **most}})
                again = Again(
                    place=f"{finding.place}/again",
                    device=finding.device,
                    measurement=finding.measurement,
                    capabilities=limits,
                )
                return self._job(result.testbed, frames, again)
        return None

    def _with_earlier(self, job: Job) -> Job | None:
        """The same after what was measured before for it; None if that is all."""
        earlier = kept(self.folder, job.part)
        if earlier is None or job.again is None:
            return job
        if job.again.place in [finding.place for finding in earlier.findings]:
            return None
        # Another rate is the first one now that what had failed has been measured.
        return job.model_copy(update={"earlier": earlier.journal})

    def _gathered(self, seconds: float, status: Status, reason: str) -> Campaign:
        """One campaign: its journal put together of the testbeds' results, and its findings found again from that."""
        self.settings.testbed_s += seconds * self._dispatcher.came
        if (self.folder / SUMMARY).exists():
            seconds += read_campaign_summary(self.folder).seconds
        ordered, settings = self._dispatcher.ordered(), self.settings
        settings.testbeds = {frames: result.testbed for frames, result in ordered.items()}
        settings.absent_testbeds, settings.broken_testbeds = self._dispatcher.absent, self._dispatcher.broken
        testbeds = dict.fromkeys(settings.testbeds.values())
        again = {name: result for name in testbeds if (result := kept(self.folder, again_part(name))) is not None}
        self._dispatcher.write_environments()
        results = ordered | {again_part(name): result for name, result in again.items()}
        write_atomically(self.folder / JOURNAL, merged(settings.campaign, settings.runs[0], results))
        campaign = Campaign.gather(self.folder, settings, replace(self._equipment, start=nothing_starts), seconds)
        missing = reason if self._dispatcher.missing else None
        turns = {frames: side_by_side(self._scenarios[result.testbed]) for frames, result in ordered.items()}
        extent = Extent(frozenset(ordered), frozenset(again), turns, missing, status)
        campaign.run(self._console, extent)
        return campaign


def nothing_starts(scenario: Scenario, device: str, directions: int, raw: Path) -> Generator:
    """In place of the equipment's start, where everything is in the journal.

    Raises `GeneratorError`.
    """
    raise GeneratorError(f"the results of the testbeds lack a trial with {device}")


def _failed(folder: Path, frames: list[str], scenario: Scenario) -> dict[str, list[str]]:
    """The places of the measurements to repeat, by the job that had them.

    Raises `ResultsError` if there are none.
    """
    results = {one: result for one in frames if (result := kept(folder, one)) is not None}
    found = {one: to_repeat(result.findings, scenario) for one, result in results.items()}
    if not any(found.values()):
        raise ResultsError(nothing_failed(folder))
    return {one: places for one, places in found.items() if places}
