# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Devices on a shared machine take turns trial by trial, at the same loads: what the machine does meets all of them."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from campaign_folders import EQUIPMENT, console, scenario

from testbed.campaign.campaign import Campaign
from testbed.campaign.campaign_settings import CampaignSettings
from testbed.campaign.folder import read_folder
from testbed.campaign.journal import read_journal
from testbed.campaign.points import side_by_side
from testbed.campaign.report.loads import loads_in_words, with_other_loads
from testbed.campaign.scenario import Measurement, Scenario
from testbed.campaign.simulated import DeviceModel, SimulatedGenerator
from testbed.campaign.traffic_generator import Generator, GeneratorError, NotCapable
from testbed.campaign.trial import ResetKind, ResetPlan, TrialPlan, TrialResult
from testbed.campaign.turns import in_turns

TWINS = """\
name: turns
generator: {kind: simulated}
devices:
  - {name: one, model: &one {throughput_fps: {64: 12.4e+6, 512: 5.1e+6}, seed: 3}}
  - {name: two, model: {<<: *one, seed: 4}}
frames: {sizes: [64, 512]}
tests: [throughput, latency]
preset: quick
"""


def measured(parent: Path, make: type[SimulatedGenerator], text: str = TWINS) -> Campaign:
    """A finished campaign, whose generators are of this class."""

    def start(scenario: Scenario, device: str, directions: int, raw: Path) -> SimulatedGenerator:
        model = next(one.model for one in scenario.devices if one.name == device)
        assert model is not None
        return make(model, scenario.pauses_around_trials, device)

    settings = CampaignSettings(kind="rfc2544", command="a test", scenario=scenario(text))
    campaign = Campaign.create(parent, settings, text, replace(EQUIPMENT, start=start))
    assert campaign.run(console()) == "passed", campaign.summary.reason
    return campaign


def results(campaign: Campaign, test: Measurement) -> dict[tuple[str, Any], Any]:
    return {(one.device, one.size): one.result for one in campaign.summary.findings if one.measurement is test}


def at(load_fps: float) -> TrialPlan:
    return TrialPlan(size=64, load_fps=load_fps, duration_s=1)


class Noting(SimulatedGenerator):
    """Notes whose trials were run, in their order."""

    def __init__(self, name: str, noted: list[tuple[str, float]]) -> None:
        super().__init__(DeviceModel(throughput_fps={64: 9e6}), name=name)
        self.noted = noted

    def run(self, plan: TrialPlan) -> TrialResult:
        assert threading.current_thread() is threading.main_thread()
        self.noted.append((self.name, plan.load_fps))
        return super().run(plan)


def test_each_has_one_trial_in_turn_until_it_has_ended() -> None:
    noted: list[tuple[str, float]] = []
    generators = [Noting(name, noted) for name in ("a", "b", "c")]

    def search(loads: list[float]) -> Any:
        def measure(generator: Generator) -> float:
            # Asking what it can do is no turn.
            assert generator.capabilities().latency
            return sum(generator.run(at(load)).sent for load in loads)

        return measure

    assert in_turns([search([1, 2, 3]), search([4]), search([])], generators) == [6, 4, 0]
    assert noted == [("a", 1), ("b", 4), ("a", 2), ("a", 3)]


def test_what_goes_wrong_in_a_trial_is_the_measurement_s_to_say() -> None:
    generators = [Noting(name, []) for name in "ab"]
    before = threading.active_count()

    def careful(generator: Generator) -> str:
        with pytest.raises(NotCapable, match="no reset of the host"):
            generator.reset(ResetPlan(size=64, kind=ResetKind.HOST, load_fps=1, patience_s=1))
        return "told"

    assert in_turns([careful, careful], generators) == ["told", "told"]

    def dying(generator: Generator) -> str:
        generator.run(at(1))
        raise GeneratorError("it is gone")

    def endless(generator: Generator) -> str:
        while True:
            generator.run(at(1))

    with pytest.raises(GeneratorError, match="it is gone"):
        in_turns([endless, dying], generators)

    class Interrupted(Noting):
        def run(self, plan: TrialPlan) -> TrialResult:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_turns([endless, endless], [generators[0], Interrupted("b", [])])
    # Whoever was in the middle of a search has been ended.
    assert threading.active_count() == before


def test_an_interrupt_within_a_release_leaves_no_thread_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(threading.Semaphore):
        """It counts, and once wakes nobody, as after an interrupt in the middle of an earlier release."""

        forgets = False

        def release(self, n: int = 1) -> None:
            if not Forgetful.forgets:
                return super().release(n)
            Forgetful.forgets = False
            with self._cond:
                self._value += n
            return None

    class Interrupted(Noting):
        def run(self, plan: TrialPlan) -> TrialResult:
            Forgetful.forgets = True
            raise KeyboardInterrupt

    monkeypatch.setattr(threading, "Semaphore", Forgetful)
    with pytest.raises(KeyboardInterrupt):
        in_turns([lambda generator: generator.run(at(1))] * 2, [Interrupted(name, []) for name in "ab"])


def test_a_machine_that_becomes_slower_favours_no_device(tmp_path: Path) -> None:
    """Two equal devices on a machine that loses 1 % of its speed with each trial."""
    trials = 0

    class Slower(SimulatedGenerator):
        def run(self, plan: TrialPlan) -> TrialResult:
            nonlocal trials
            trials += 1
            now = {size: fps * 0.99**trials for size, fps in self.model.throughput_fps.items()}
            return SimulatedGenerator(self.model.model_copy(update={"throughput_fps": now}), self._pauses).run(plan)

    found = results(measured(tmp_path, Slower), Measurement.THROUGHPUT)
    for size in (64, 512):
        rates = [found[device, size]["throughput_fps"] for device in ("one", "two")]
        assert rates[0] == pytest.approx(rates[1], rel=0.05)


def test_turns_are_at_the_same_loads_and_one_device_is_awake_at_a_time(tmp_path: Path) -> None:
    """The second device's link is slower: the first is offered no more than it either."""
    awake: set[str] = set()

    class Polling(SimulatedGenerator):
        """Uses a CPU whenever it is not told to rest."""

        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self.wake()

        def rest(self) -> None:
            awake.remove(self.name)

        def wake(self) -> None:
            awake.add(self.name)

        def run(self, plan: TrialPlan) -> TrialResult:
            assert awake == {self.name}
            return super().run(plan)

        def close(self) -> None:
            awake.discard(self.name)

    slower = TWINS.replace("seed: 4", "line_rate_bps: 20.0e+9, throughput_fps: {64: 12.4e+6, 512: 4.5e+6}")
    campaign = measured(tmp_path, Polling, slower)
    assert not awake
    trials = read_journal(campaign.folder / "journal.jsonl")
    first = [(place, result.plan.load_fps) for place, result in trials if "/64B/" in place and "throughput" in place]
    # Equal devices: each load is tried with both, one after the other.
    alone = [one for one in first if "again" not in one[0]]
    for (left, load), (right, other) in zip(alone[::2], alone[1::2], strict=True):
        assert left.split("/")[0] != right.split("/")[0]
        assert load == other
    again = [load for place, load in first if "again" in place]
    assert again[0] == alone[0][1] == pytest.approx(20e9 / 8 / 84)


def test_latency_is_compared_at_the_lowest_rate_of_the_devices_and_the_report_says_so(tmp_path: Path) -> None:
    one_size = TWINS.replace("[64, 512]", "[64]").replace("seed: 4", "throughput_fps: {64: 9.0e+6}")
    campaign = measured(tmp_path / "quick", SimulatedGenerator, one_size)
    rates = [one["throughput_fps"] for one in results(campaign, Measurement.THROUGHPUT).values()]
    loads = {one["load_fps"] for one in results(campaign, Measurement.LATENCY).values()}
    assert loads == {min(rates)} != {max(rates)}
    record = read_folder(campaign.folder)
    words = f"at the same load: {min(rates) / 1e6:.4f} Mpps at 64 bytes, the lowest throughput of the devices."
    assert words in loads_in_words(record, (1, 1))[0]
    # RFC 2544 asks for each device's own throughput: then they are not compared.
    own = f"{one_size}settings: {{latency: {{same_load: false}}}}\n"
    campaign = measured(tmp_path / "own", SimulatedGenerator, own)
    found = results(campaign, Measurement.LATENCY).values()
    assert sorted(one["load_fps"] for one in found) == sorted(rates)
    (line,) = loads_in_words(read_folder(campaign.folder), (1, 1))
    assert "at 64 bytes are not drawn: each device had a load of its own" in line
    assert with_other_loads(read_folder(campaign.folder), (1, 1)) == {64}


def test_devices_that_share_nics_or_a_host_are_there_one_after_the_other() -> None:
    twins = scenario(TWINS)
    assert side_by_side(twins)
    bare = {"devices": [{"name": "l2fwd-c"}, {"name": "l2fwd-rs"}]}
    assert side_by_side(twins.changed(generator={"kind": "embedded"}, **bare))
    assert not side_by_side(twins.changed(generator={"kind": "embedded", "wire": "veth"}, **bare))
    assert not side_by_side(twins.changed(generator={"kind": "trex", "server": "lab"}, **bare))
    there = {"devices": [{"name": "l2fwd-c"}, {"name": "l2fwd-rs", "host": {"name": "dut1.lab"}}]}
    assert not side_by_side(twins.changed(generator={"kind": "embedded"}, **there))
