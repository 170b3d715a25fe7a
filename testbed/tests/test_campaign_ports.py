# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Pairs of ports, directions with unequal loads, and devices on several lcores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from campaign_folders import EQUIPMENT, console, scenario

from testbed.campaign.campaign import Campaign
from testbed.campaign.campaign_settings import CampaignSettings
from testbed.campaign.devices.device import Joint, Macs
from testbed.campaign.devices.l2fwd import L2fwd
from testbed.campaign.devices.program_host import LocalHost
from testbed.campaign.embedded.baseline import baseline_load
from testbed.campaign.embedded.generator import EmbeddedGenerator
from testbed.campaign.embedded.load import trial_load
from testbed.campaign.embedded.setup import EmbeddedSetup
from testbed.campaign.measurements.throughput import Throughput
from testbed.campaign.points import ordered_points
from testbed.campaign.report.document import write_report
from testbed.campaign.scenario import Measurement
from testbed.campaign.scenario_error import ScenarioError
from testbed.campaign.simulated import DeviceModel, SimulatedGenerator
from testbed.campaign.traffic_generator import Pauses
from testbed.campaign.trial import Stream, TrialPlan
from testbed.campaign.validity import judged
from testbed.run.lcores import LcorePlan, plan_lcores
from testbed.run.programs import Program
from testbed.wire.virtual_wire import VirtualWire

UNEQUAL = {"size": 64, "directions": 2, "port_pairs": 2, "reverse_share": 0.25}
SIMULATED = """\
name: ports
generator: {kind: simulated}
devices:
  - {name: one, model: {throughput_fps: {64: 12.4e+6, 512: 5.1e+6}}}
frames: {sizes: [512], directions: [2], port_pairs: 3, reverse_share: 0.1}
tests: [throughput, latency, frame_loss, back_to_back, recovery, reset]
preset: quick
"""


def setup(tmp_path: Path, forwarder: Program, generator: Program, hugepages: bool) -> EmbeddedSetup:
    return EmbeddedSetup(
        device=forwarder.name,
        kind=L2fwd(forwarder, (), LocalHost()),
        generator=generator,
        sizes=(64,),
        directions=2,
        lcores=plan_lcores(),
        hugepages=hugepages,
        pauses=Pauses(before_s=0, residual_s=0.5, settle_s=0),
        raw=tmp_path,
        port_pairs=2,
        reverse_share=0.25,
    )


def test_all_directions_together_have_their_shares() -> None:
    stream = Stream(**UNEQUAL)
    assert (stream.shares, stream.ways) == ((1, 0.25, 1, 0.25), 2.5)
    assert (Stream(size=64).shares, Stream(size=64, directions=2).ways) == ((1.0,), 2)
    assert TrialPlan(**UNEQUAL, load_fps=1000, duration_s=2).intended_frames == 5000
    # Of a share of a burst's frames, each direction has a whole number.
    burst = TrialPlan(**UNEQUAL, load_fps=1000, duration_s=0.1, kind="burst", burst_frames=101)
    assert burst.intended_frames == 2 * 101 + 2 * 26


def test_a_campaign_finds_what_the_model_has_in_the_direction_with_more(tmp_path: Path) -> None:
    settings = CampaignSettings(kind="rfc2544", command="a test", scenario=scenario(SIMULATED))
    campaign = Campaign.create(tmp_path, settings, SIMULATED, EQUIPMENT)
    assert campaign.run(console()) == "passed", campaign.summary.reason
    found = {one.measurement: one for one in campaign.summary.findings}
    assert {one.status for one in found.values()} == {"done"}
    throughput = found[Measurement.THROUGHPUT]
    assert throughput.place == "one/512B/2way/1flows/3pairs/0.1back/throughput"
    assert Throughput.model_validate(throughput.result).throughput_fps == pytest.approx(5.1e6, rel=0.01)
    write_report(campaign.folder)
    report = (campaign.folder / "report.md").read_text()
    assert "3 pairs of ports, 10 % of the load on the way back" in report
    assert "Between port 5 and port 5" in report
    # The plan is made with the same frames.
    assert [point.place for point in ordered_points(settings.scenario)] == ["one/512B/2way/1flows/3pairs/0.1back"]


def test_only_the_direction_that_is_too_fast_loses_frames() -> None:
    model = DeviceModel(throughput_fps={64: 1e6}, buffer_frames=100)
    result = SimulatedGenerator(model).run(TrialPlan(**UNEQUAL, load_fps=2e6, duration_s=1))
    assert result.sent == 5_000_000
    # Twice a million and no more than the buffer less.
    assert result.lost == 2 * (1_000_000 - 100)
    assert result.offered_fps == 2e6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("directions: [1], port_pairs: 2", "port_pairs 2 is for traffic both ways: give directions: .2."),
        ("directions: [1, 2], reverse_share: 0.5", "reverse_share 0.5 is for traffic both ways"),
        ("directions: [2], reverse_share: 0", "greater than or equal to 0.001"),
        ("directions: [2], port_pairs: 17", "less than or equal to 16"),
    ],
)
def test_what_cannot_be_is_refused(change: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        scenario(SIMULATED.replace("directions: [2], port_pairs: 3, reverse_share: 0.1", change))


def test_trex_has_one_pair_and_equal_loads() -> None:
    trex = "generator: {kind: trex, ports: [0, 1], line_rate_bps: 1.0e+9}\ndevices: [{name: l2fwd-c}]\n"
    frames = "frames: {sizes: [64], directions: [2], reverse_share: 0.5}\n"
    with pytest.raises(ScenarioError, match=r"TRex has one pair of ports here.*, not reverse_share: 0\.5"):
        scenario(f"name: t\n{trex}{frames}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lcore: 1, forwarder_lcore: [2, 3, 2]", "CPU 2 is there twice"),
        ("lcore: 2, forwarder_lcore: [3, 2]", "CPU 2 is the generator's, and one of the forwarder's"),
        ("lcore: 1, forwarder_lcore: []", "at least 1 item"),
        ("lcore: 1, forwarder_lcore: [-1]", "greater than or equal to 0"),
    ],
)
def test_lcores_are_different_cpus(text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        scenario(f"name: t\ngenerator: {{kind: embedded, {text}}}\ndevices: [{{name: l2fwd-c}}]\n")


def test_one_lcore_or_several_can_be_listed() -> None:
    text = "name: t\ngenerator: {{kind: embedded, lcore: 1, forwarder_lcore: {}}}\ndevices: [{{name: l2fwd-c}}]\n"
    for listed, lcores in (("2", (2,)), ("[2, 3]", (2, 3))):
        assert scenario(text.format(listed)).generator.forwarder_lcore == lcores


@pytest.mark.parametrize(
    ("lcores", "ports", "queues", "port_map", "per_lcore"),
    [
        ((3,), 1, 1, "(0,0)", 1),
        ((3,), 2, 1, "(0,1)", 2),
        ((3, 5), 4, 1, "(0,1),(2,3)", 2),
        ((3, 5), 1, 2, "(0,0)", 1),
        ((3, 5, 7), 2, 2, "(0,1)", 2),
    ],
)
def test_each_lcore_has_queues(
    tmp_path: Path, lcores: tuple[int, ...], ports: int, queues: int, port_map: str, per_lcore: int
) -> None:
    joint = Joint(lcores, False, (), (), ports, 64, tmp_path, queues=queues)
    assert (joint.port_map, joint.queues_of_lcore) == (port_map, per_lcore)
    assert joint.lcore_words == (() if len(lcores) == 1 else ("-l", ",".join(map(str, lcores))))


def test_the_generator_sends_to_each_port_what_the_device_expects(tmp_path: Path) -> None:
    program = Program("l2fwd-rs", "rust", tmp_path)
    made = replace(setup(tmp_path, program, program, False), lcores=LcorePlan(1, 2, further=(3, 4, 5, 6, 7, 8)))
    assert (made.ports, made.queues) == (4, 2)
    wire = VirtualWire(made.ports, made.queues)
    with wire:
        words = trial_load(made, wire, made.stream(64), 1000, 1).argv()
        swapped = replace(made, kind=replace(made.kind, macs=Macs.SWAPPED))
        others = trial_load(swapped, wire, made.stream(64), 1000, 1).argv()
        assert all("queues=2" in device for device in (*wire.forwarder_vdevs, *wire.generator_vdevs))
        alone = baseline_load(trial_load(made, wire, made.stream(64), 1000, 1)).argv()
    assert {"--ports=0,1,2,3", "--bidirectional", "--reverse-share=0.25", "--queues=2"} <= set(words)
    sources = ",".join(f"02:00:00:00:02:{port:02x}" for port in range(4))
    assert f"--expect-src={sources}" in words
    # Where addresses are exchanged, frames come from where those of the other port of the pair go to.
    assert "--expect-src=02:00:00:00:01:01,02:00:00:00:01:00,02:00:00:00:01:03,02:00:00:00:01:02" in others
    assert not any(word.startswith(("--bidirectional", "--reverse-share")) for word in alone)


@pytest.mark.e2e
def test_real_pairs_with_unequal_loads_balance(
    tmp_path: Path, forwarder_program: Program, generator_program: Program, hugepages: bool
) -> None:
    generator = EmbeddedGenerator(setup(tmp_path, forwarder_program, generator_program, hugepages))
    continuous = generator.run(TrialPlan(**UNEQUAL, load_fps=4000, duration_s=0.5, latency=True))
    burst = generator.run(TrialPlan(**UNEQUAL, load_fps=4000, duration_s=0.1, kind="burst", burst_frames=101))
    for result in (continuous, burst):
        assert not any("disagree" in reason or "surplus" in reason for reason in judged(result).reasons)
        assert not any(result.raw["checks"].values())
        streams = result.raw["generator"]["streams"]
        assert [(one["tx_port"], one["rx_port"]) for one in streams] == [(0, 1), (1, 0), (2, 3), (3, 2)]
    assert [one["sent"] for one in burst.raw["generator"]["streams"]] == [101, 26, 101, 26]
    assert burst.sent == burst.plan.intended_frames
    generator.close()


@pytest.mark.e2e
def test_a_real_device_on_several_lcores_forwards_on_each(
    tmp_path: Path, forwarder_program: Program, generator_program: Program, hugepages: bool
) -> None:
    """One port, whose queues two lcores share; frames may come back in another order."""
    plan = plan_lcores()
    made = setup(tmp_path, forwarder_program, generator_program, hugepages)
    lcores = replace(plan, further=(plan.generator,))
    made = replace(made, directions=1, port_pairs=1, reverse_share=1.0, lcores=lcores)
    generator = EmbeddedGenerator(made)
    result = generator.run(TrialPlan(size=64, load_fps=2000, duration_s=0.5))
    assert result.received > 0
    assert sum(result.lost_at.values()) == result.lost
    assert (result.raw["checks"]["corrupted"], result.raw["checks"]["wrong_mac"]) == (0, 0)
    command = next(tmp_path.rglob("forwarder-*.command")).read_text()
    assert f"-l {plan.forwarder},{plan.generator}" in command
    assert "--queues 2" in command
    generator.close()
