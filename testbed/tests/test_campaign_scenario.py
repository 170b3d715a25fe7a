# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Scenarios are read exactly, and errors say where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.campaign.measurements.recovery import measure_recovery
from testbed.campaign.points import measurements_at, ordered_points, planned
from testbed.campaign.presets import PRESETS
from testbed.campaign.scenario import RFC_MEASUREMENTS, Measurement, Preset
from testbed.campaign.scenario_error import ScenarioError
from testbed.campaign.scenario_file import find_scenario, parse_scenario, read_scenario, scenarios_folder
from testbed.campaign.simulated import DeviceModel, SimulatedGenerator
from testbed.campaign.sizes import ARTICLE_SIZES, RFC_SIZES
from testbed.campaign.trial import Stream
from testbed.campaign.validity import NotMeasured, Trials

SHORT = "name: short\ngenerator: {kind: embedded}\ndevices:\n  - name: l2fwd-c\n"


def test_the_ready_ones_are_good() -> None:
    files = sorted(scenarios_folder().glob("*.yaml"))
    assert {"simulated", "virtual-wire"} <= {file.stem for file in files}
    for file in files:
        assert read_scenario(file).name == file.stem


def test_a_ready_one_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_scenario(Path("simulated")) == scenarios_folder() / "simulated.yaml"
    # A file of the user's goes before it.
    (tmp_path / "simulated").write_text(SHORT)
    assert read_scenario(find_scenario(Path("simulated"))).name == "short"


def test_what_is_not_said_is_rfc_2544() -> None:
    scenario = parse_scenario(SHORT, "short.yaml")
    assert tuple(scenario.frames.sizes) == RFC_SIZES
    assert tuple(scenario.tests) == RFC_MEASUREMENTS
    assert scenario.preset is Preset.RFC2544
    pauses = scenario.pauses_around_trials
    assert (pauses.before_s, pauses.residual_s, pauses.settle_s) == (2, 2, 5)
    assert scenario.changed(preset="quick").pauses_around_trials == PRESETS["quick"].pauses


def test_sets_and_mixtures_stand_among_sizes() -> None:
    scenario = parse_scenario(SHORT + "frames: {sizes: [rfc2544, 9000, imix, 'imix:3afd']}\n", "short.yaml")
    assert tuple(scenario.frames.sizes) == (*RFC_SIZES, 9000, "imix", "imix:3afd")
    assert parse_scenario(SHORT + "frames: {sizes: imix}\n", "short.yaml").frames.sizes == ["imix"]
    points = ordered_points(scenario.changed(frames={"sizes": ["imix", "64"]}))
    assert [point.place for point in points] == ["l2fwd-c/imix/1way/1flows", "l2fwd-c/64B/1way/1flows"]
    # Resets are with the smallest frames.
    assert [Measurement.RESET in measurements_at(scenario, point) for point in points] == [False, True]


def test_settings_of_measurements_are_the_preset_s_but_for_those_that_are_given() -> None:
    text = SHORT + "preset: quick\nsettings:\n  recovery: {most_relief_s: 600}\n  soak: {hours: 8}\n"
    scenario, quick = parse_scenario(text, "short.yaml"), PRESETS["quick"]
    told = scenario.measured_with
    assert told.recovery == quick.recovery.model_copy(update={"most_relief_s": 600})
    assert (told.soak.hours, told.soak.survey, told.latency) == (8, True, quick.latency)
    assert scenario.changed(preset="csit").measured_with.recovery.repeats == PRESETS["csit"].recovery.repeats


def test_a_quick_look_with_trex_has_trials_whose_load_can_be_known() -> None:
    scenario = read_scenario(scenarios_folder() / "trex-memif.yaml")
    (goal,) = scenario.measured_with.throughput.goals
    assert (goal.initial_trial_s, goal.final_trial_s, goal.duration_sum_s) == (2, 2, 2)
    assert scenario.measured_with.frame_loss.trial_s == 2
    assert scenario.changed(preset="csit").measured_with == PRESETS["csit"]
    # What the scenario says counts.
    short = {"throughput": {"goals": [{"initial_trial_s": 0.5}]}}
    assert scenario.changed(settings=short).measured_with.throughput.goals[0].initial_trial_s == 0.5


def test_what_the_recovery_test_gives_up_with_can_be_set() -> None:
    slow = SimulatedGenerator(DeviceModel(throughput_fps={64: 5e6}, recovery_s=200))
    scenario = parse_scenario(SHORT, "short.yaml")
    with pytest.raises(NotMeasured, match=r"160 s after the overload: .* raise settings\.recovery\.most_relief_s"):
        measure_recovery(Trials(slow), Stream(size=64), 5e6, scenario.measured_with.recovery)
    longer = scenario.changed(settings={"recovery": {"most_relief_s": 600}}).measured_with.recovery
    assert measure_recovery(Trials(slow), Stream(size=64), 5e6, longer).recovery_s.mean == pytest.approx(200)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            SHORT + "settings:\n  recovery:\n    most_relief_s: 0\n",
            "s.yaml:7: settings.recovery.most_relief_s: Input should be greater than 0",
        ),
        (
            SHORT + "settings:\n  soak:\n    days: 1\n",
            "s.yaml:7: settings.soak.days: unknown setting: choose from hours, trial_s, share",
        ),
        # Else a quick look could be called RFC 2544.
        (SHORT + "settings:\n  soak:\n    survey: false\n", "s.yaml:7: settings.soak.survey: unknown setting"),
        (SHORT + "settings:\n  speed: {}\n", "s.yaml:6: settings.speed"),
        ("", "s.yaml:1: a scenario is a mapping"),
        ("- a\n", "s.yaml:1: a scenario is a mapping"),
        ("name: [\n", "s.yaml:2: "),
        ("name: *there\n", "s.yaml:1: found undefined alias 'there'"),
        (SHORT + "name: again\n", "s.yaml:5: found duplicate key"),
        (SHORT + "sizes: [64]\n", "s.yaml:5: sizes: is not known: mind the spelling"),
        (SHORT + "frames:\n  sizes:\n  - 64\n  - 63\n", "s.yaml:8: frames.sizes.1: .*64 to 9216.*, not 63"),
        (SHORT + "frames:\n  sizes: [64, 64]\n", "s.yaml:5: frames: sizes has 64 twice"),
        (SHORT + "frames:\n  directions: [3]\n", "s.yaml:6: frames.directions.0: .*1 or 2, not 3"),
        (SHORT + "frames:\n  sizes: []\n", "s.yaml:6: frames.sizes: .*at least 1 item"),
        (
            SHORT + "frames:\n  sizes: [9001]\n",
            "s.yaml:6: frames.sizes.0: the embedded generator has 9000 at most, not 9001",
        ),
        (SHORT + "frames:\n  flows: [1, 1048577]\n", "s.yaml:6: frames.flows.1: .*less than or equal to 1048576"),
        (SHORT + "frames:\n  vxlan: 16777216\n", "s.yaml:6: frames.vxlan: .*less than 16777216, not 16777216"),
        (
            SHORT + "frames:\n  sizes: [83]\n  ipv6: true\n",
            "s.yaml:6: frames.sizes.0: frames of 83 bytes are too short for IPv6 and .* give 84 or more",
        ),
        (
            SHORT + "frames:\n  sizes: [137]\n  ipv6: true\n  vxlan: 0\n  vlan: [1]\n",
            "s.yaml:6: frames.sizes.0: .* too short for VLAN 1 and VXLAN 0 and IPv6 and .* give 138 or more",
        ),
        (
            SHORT + "frames:\n  sizes: [64, 'imix:ai:z=9018', 'imix:az:z=9018']\n",
            "s.yaml:6: frames.sizes.2: the embedded generator has 9000 at most, not 9018",
        ),
        (SHORT + "frames:\n  sizes: [imix:ay]\n", "s.yaml:6: frames.sizes.0: .*letter 'y', which stands for no size"),
        (SHORT + "frames:\n  sizes: [imux]\n", "s.yaml:6: frames.sizes: no set of frame sizes is called 'imux'"),
        (SHORT + "frames:\n  vlan: [0]\n", "s.yaml:6: frames.vlan.0: .*greater than or equal to 1, not 0"),
        (SHORT + "frames:\n  vlan: [4095]\n", "s.yaml:6: frames.vlan.0: .*less than or equal to 4094, not 4095"),
        (SHORT + "frames:\n  vlan: [1, 2, 3]\n", "s.yaml:6: frames.vlan: .*at most 2 items"),
        (
            SHORT + "frames:\n  vlan: [7]\n  sizes: [128, imix]\n",
            "s.yaml:7: frames.sizes.1: frames of 64 bytes are too short for VLAN 7 and what identifies a frame: give",
        ),
        (
            SHORT + "frames:\n  sizes: [71]\n  vlan: [7, 8]\n",
            "s.yaml:6: frames.sizes.0: frames of 71 bytes are too short for QinQ 7, 8 and .* give 72 or more",
        ),
        (SHORT + "preset: fast\n", "s.yaml:5: preset: .*'csit', 'quick' or 'rehearsal', not 'fast'"),
        (SHORT + "tests: [throughput, latency, jumps]\n", "s.yaml:5: tests.2: .*not 'jumps'"),
        (SHORT + "  - name: l2fwd-c\n", "s.yaml:5: devices.1: device 'l2fwd-c': there is another of that name"),
        (SHORT + "  - name: mine\n", "s.yaml:5: devices.1: device 'mine': it needs a program, of l2fwd-c, l2fwd-rs"),
        (SHORT + "  - name: a/b\n", "s.yaml:5: devices.1: name 'a/b': use letters"),
        (SHORT + "  - program: l2fwd-c\n", "s.yaml:5: devices.1.name: is missing"),
        (SHORT.replace("embedded", "embeded"), "s.yaml:2: generator: .*'embeded'"),
        (
            SHORT.replace("{kind: embedded}", "{kind: embedded, lcore: 1}"),
            "s.yaml:2: generator.embedded: give lcore and",
        ),
        (SHORT.replace("embedded", "simulated"), "s.yaml:4: devices.0: device 'l2fwd-c': it needs a model"),
        (
            SHORT + "    model:\n      throughput_fps:\n        64: fast\n",
            "s.yaml:7: devices.0.model.throughput_fps.64: .*not 'fast'",
        ),
        (SHORT + "    model: {throughput_fps: {64: 1}}\n", "s.yaml:4: devices.0: device 'l2fwd-c': it has a model"),
    ],
)
def test_an_error_names_file_line_and_field(text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message.replace(".*", "§").replace(".", r"\.").replace("§", ".*")):
        parse_scenario(text, "s.yaml")


TREX = "name: short\ngenerator:\n  kind: trex\ndevices:\n  - name: l2fwd-c\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TREX.replace("trex\n", "trex\n  ports: [0, 0]\n"), "s.yaml:2: generator.trex: ports has 0 twice"),
        (TREX.replace("trex\n", "trex\n  port: 1\n"), "s.yaml:4: generator.trex.port: is not known"),
        (
            TREX.replace("trex\n", "trex\n  sync_port: 70000\n"),
            "s.yaml:4: generator.trex.sync_port: .*65535, not 70000",
        ),
        (
            TREX.replace("trex\n", "trex\n  ports: [0]\n") + "frames: {directions: [1, 2]}\n",
            "s.yaml:7: frames.directions: traffic in both directions needs two ports of TRex",
        ),
        (
            TREX.replace("trex\n", "trex\n  forwarder: {lcore: 1, nics: ['0000:18:00.0']}\n"),
            "s.yaml:2: generator.trex: the forwarder has 1 ports, but the generator 2",
        ),
        (
            TREX.replace("trex\n", "trex\n  forwarder: {lcore: 1}\n"),
            "s.yaml:4: generator.trex.forwarder: give nics",
        ),
        (TREX.replace("trex\n", "trex\n  launch: {cores: 0}\n"), "s.yaml:4: generator.trex.launch.config: is missing"),
    ],
)
def test_what_trex_is_told_fits(text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message.replace(".*", "§").replace(".", r"\.").replace("§", ".*")):
        parse_scenario(text, "s.yaml")


def test_a_device_that_somebody_else_runs_may_be_any() -> None:
    other = TREX.replace("l2fwd-c", "router")
    assert parse_scenario(other, "s.yaml").devices[0].name == "router"
    joined = "trex\n  ports: [0]\n  forwarder: {lcore: 1, nics: ['0000:18:00.0']}\n"
    with pytest.raises(ScenarioError, match="it needs a program"):
        parse_scenario(other.replace("trex\n", joined), "s.yaml")


def test_sizes_have_names() -> None:
    scenario = parse_scenario(SHORT + "frames: {sizes: article}\n", "s.yaml")
    assert tuple(scenario.frames.sizes) == ARTICLE_SIZES
    with pytest.raises(ScenarioError, match=r"frames.sizes: no set of frame sizes is called 'huge'.*article"):
        parse_scenario(SHORT + "frames: {sizes: huge}\n", "s.yaml")


def test_every_error_is_told() -> None:
    with pytest.raises(ScenarioError) as told:
        parse_scenario(SHORT + "preset: fast\nsizes: 1\n", "s.yaml")
    assert [line.split(":")[1] for line in str(told.value).splitlines()] == ["5", "6"]


def test_a_file_that_cannot_be_read_names_the_ready_ones(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"No such file.*simulated, trex-memif, veth, virtio, virtual-wire"):
        read_scenario(tmp_path / "none.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"name: \xff\n")
    with pytest.raises(ScenarioError, match="UTF-8"):
        read_scenario(tmp_path / "bytes.yaml")


def test_changes_are_checked_like_the_file() -> None:
    with pytest.raises(ScenarioError, match="preset"):
        parse_scenario(SHORT, "s.yaml").changed(preset="fast")


def test_devices_take_turns_and_the_one_at_a_turn_stays() -> None:
    scenario = parse_scenario(SHORT + "  - name: l2fwd-rs\nframes:\n  sizes: [64, 128, 256]\n", "s.yaml")
    points = ordered_points(scenario)
    assert [point.size for point in points] == [64, 64, 128, 128, 256, 256]
    first, second = points[0].device, points[1].device
    assert {first, second} == {"l2fwd-c", "l2fwd-rs"}
    assert [point.device for point in points] == [first, second, second, first, first, second]
    orders = {ordered_points(scenario.changed(seed=seed))[0].device for seed in range(20)}
    assert orders == {"l2fwd-c", "l2fwd-rs"}
    assert len({point.place for point in points}) == 6


def test_resets_are_measured_with_the_smallest_frames_only() -> None:
    scenario = parse_scenario(SHORT + "frames: {sizes: [128, 64]}\ntests: [throughput, reset]\n", "s.yaml")
    assert [(point.size, str(one)) for point, one in planned(scenario)] == [
        (128, "throughput"),
        (64, "throughput"),
        (64, "reset"),
    ]
