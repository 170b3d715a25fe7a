# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x testbed compare` on the simulated device: its verdict, and that it is the same after any cut."""

from __future__ import annotations

import io
import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from campaign_models import Tape
from rich.console import Console
from typer.testing import CliRunner

from testbed.campaign.compare.run import ComparisonRun
from testbed.campaign.compare.schedule import CompareSettings, Figure
from testbed.campaign.compare.settings import SETTINGS, ComparisonSettings, is_comparison
from testbed.campaign.compare.verdict_file import VERDICT, ComparisonVerdict
from testbed.campaign.journal import JOURNAL, read_journal
from testbed.campaign.real_equipment import Programs, real_equipment
from testbed.campaign.scenario import Scenario
from testbed.campaign.scenario_file import parse_scenario
from testbed.campaign.traffic_generator import GeneratorError
from testbed.cli import app
from testbed.comparison.pair_verdict import Verdict
from testbed.run.results_folder import Status

TEXT = """\
name: comparison
generator: {kind: simulated}
devices:
  - name: one
    model: &one
      throughput_fps: {64: 12.4e+6, 512: 5.1e+6}
      latency_base_ns: 5000
      seed: 3
      noise: 0.003
      shortfalls: 0.05
  - name: two
    model:
      <<: *one
      throughput_fps: {64: 11.8e+6, 512: 5.1e+6}
      latency_base_ns: 6000
      seed: 4
frames: {sizes: [64, 512]}
preset: quick
"""
EQUIPMENT = real_equipment(Programs({}, None))


def scenario() -> Scenario:
    return parse_scenario(TEXT, "comparison.yaml")


def begin(parent: Path, **told: object) -> ComparisonRun:
    settings = ComparisonSettings(
        command="a test",
        scenario=scenario(),
        compare=CompareSettings(a="one", b="two", **{"sizes": (64, 512), "blocks": 7, **told}),
    )
    return ComparisonRun.create(parent, settings, TEXT, EQUIPMENT)


def console() -> Console:
    return Console(file=io.StringIO(), width=200)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = begin(tmp_path_factory.mktemp("undisturbed"))
    assert run.run(console()).status is Status.PASSED
    return run.folder


def read_verdict(folder: Path) -> ComparisonVerdict:
    return ComparisonVerdict.model_validate_json((folder / VERDICT).read_text())


def test_the_faster_one_is_told_where_it_is_faster(undisturbed: Path) -> None:
    found = read_verdict(undisturbed)
    small, large = found.comparison.verdicts
    assert (small.size, small.verdict) == (64, Verdict.FASTER)
    assert small.ratio.median == pytest.approx(12.4 / 11.8, rel=0.003)
    assert (large.size, large.verdict) == (512, Verdict.EQUIVALENT)
    assert 0 < large.noise < 0.01
    assert not found.comparison.unfair
    text = (undisturbed / "verdict.md").read_text()
    assert "one is better than two at 64 bytes" in text
    assert "one and two are equal within 1 % at 512 bytes" in text


def test_both_devices_get_the_same_load(tmp_path: Path) -> None:
    """Though the generator could send more to the one than to the other."""
    rates = iter(range(20_000_000, 40_000_000, 1_000))

    def start(*arguments) -> Tape:
        return Tape(EQUIPMENT.start(*arguments), max_fps_by_size={64: float(next(rates))})

    run = begin(tmp_path, sizes=(64,))
    assert (
        ComparisonRun(run.folder, run.settings, run._journal, replace(EQUIPMENT, start=start)).run(console()).status
        is Status.PASSED
    )
    trials = read_journal(run.folder / JOURNAL)
    assert {place.split("-")[-1].split("/")[0] for place, _ in trials} == {"one", "two"}
    assert {result.plan.load_fps for _, result in trials} == {20e6}


def test_two_devices_that_the_generator_cannot_saturate_are_not_called_equal(tmp_path: Path) -> None:
    def start(*arguments) -> Tape:
        return Tape(EQUIPMENT.start(*arguments), max_fps_by_size={64: 4e6})

    run = begin(tmp_path, sizes=(64,), figures=(Figure.FORWARDING_RATE, Figure.THROUGHPUT))
    verdict = ComparisonRun(run.folder, run.settings, run._journal, replace(EQUIPMENT, start=start)).run(console())
    assert {one.verdict for one in verdict.comparison.verdicts} == {Verdict.GENERATOR_LIMIT}
    text = (run.folder / "verdict.md").read_text()
    assert "cannot be compared, since the generator was the limit, at all sizes" in text
    assert "≥ 4.0000 Mpps" in text


def test_a_cut_at_any_place_changes_nothing(undisturbed: Path, tmp_path: Path) -> None:
    lines = (undisturbed / JOURNAL).read_text().splitlines(keepends=True)
    chance = random.Random(1)
    for number, cut in enumerate([1, 2, len(lines) - 1, *chance.sample(range(3, len(lines) - 1), 4)]):
        folder = tmp_path / str(number)
        shutil.copytree(undisturbed, folder)
        (folder / VERDICT).unlink()
        # The last line as a crash may leave it.
        half = lines[cut][: len(lines[cut]) // 2] if cut < len(lines) else ""
        (folder / JOURNAL).write_text("".join(lines[:cut]) + half)
        assert ComparisonRun.resume(folder, EQUIPMENT).run(console()).status is Status.PASSED
        assert read_verdict(folder).comparison == read_verdict(undisturbed).comparison, f"cut behind line {cut}"
        assert [result for _, result in read_journal(folder / JOURNAL)] == [
            result for _, result in read_journal(undisturbed / JOURNAL)
        ]


def test_throughput_and_latency_can_be_compared(tmp_path: Path) -> None:
    found = begin(tmp_path, figures=(Figure.THROUGHPUT, Figure.LATENCY), blocks=8).run(console())
    verdicts = {(one.figure, one.size): one for one in found.comparison.verdicts}
    assert verdicts[Figure.THROUGHPUT, 64].verdict is Verdict.FASTER
    latency = verdicts[Figure.LATENCY, 512]
    assert latency.verdict is Verdict.FASTER
    # With the mean of the exponential rest, 1 µs.
    assert latency.ratio.median == pytest.approx(7 / 6, rel=0.01)


def test_latency_at_a_load_with_loss_is_not_compared(tmp_path: Path) -> None:
    found = begin(tmp_path, figures=(Figure.LATENCY,), latency_share=0.99).run(console())
    assert {one.verdict for one in found.comparison.verdicts} == {Verdict.INCONCLUSIVE}
    # 7 blocks of 6 turns.
    (small, large) = found.comparison.not_measured
    assert small.startswith("latency at 64 bytes, in 42 of 42 runs, the first block1/turn1-")
    assert large.endswith("compare latency with a lower --latency-share")


def test_a_generator_that_is_gone_ends_it_and_the_message_says_how_to_go_on(tmp_path: Path) -> None:
    starts = []

    def fails_at_the_fifth(*arguments):
        starts.append(arguments)
        if len(starts) == 5:
            raise GeneratorError("the generator is gone")
        return EQUIPMENT.start(*arguments)

    run = begin(tmp_path)
    broken = ComparisonRun(run.folder, run.settings, run._journal, replace(EQUIPMENT, start=fails_at_the_fifth))
    shown = console()
    found = broken.run(shown)
    assert found.status is Status.FAILED
    assert "forwarding_rate: failed: the generator is gone" in shown.file.getvalue()
    assert found.reason.startswith(
        "the generator is gone; all results so far are kept: continue with ./x testbed resume "
    )
    assert ComparisonRun.resume(run.folder, EQUIPMENT).run(console()).status is Status.PASSED


def command(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.output


def test_from_the_command_line_and_resumed(tmp_path: Path) -> None:
    file = tmp_path / "comparison.yaml"
    file.write_text(TEXT)
    # Without --b it is the next one.
    options = ["--scenario", str(file), "--a", "two", "--sizes", "64", "--blocks", "6"]
    status, output = command("compare", *options, "--out", str(tmp_path))
    assert status == 0, output
    assert "two is worse than one at all sizes" in output
    (folder,) = tmp_path.glob("compare-*")
    assert is_comparison(folder)
    assert (folder / SETTINGS).exists()
    assert "two is worse than one at all sizes" in (folder / "report.html").read_text()
    status, output = command("resume", str(folder))
    assert status == 0, output
    assert "two is worse than one at all sizes" in output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--a", "one", "--b", "three"], "no device 'three': choose from one, two"),
        (["--a", "one", "--b", "one"], "a and b are both 'one'"),
        (["--a", "one", "--b", "two", "--blocks", "3"], "blocks: Input should be greater than or equal to 6"),
        (["--a", "one", "--b", "two", "--blocks", "6"], "6 blocks cannot tell any difference at 2 sizes"),
        (
            ["--a", "one", "--b", "two", "--latency-share", "1.5"],
            "latency_share: Input should be less than or equal to 1",
        ),
        (["--a", "one", "--b", "two", "--figure", "speed"], "figures.0: Input should be 'throughput'"),
    ],
)
def test_what_cannot_be_compared_is_told_before_it_begins(tmp_path: Path, options: list[str], message: str) -> None:
    file = tmp_path / "comparison.yaml"
    file.write_text(TEXT)
    status, output = command("compare", "--scenario", str(file), "--out", str(tmp_path), *options)
    assert status == 1
    assert message in output
    assert not list(tmp_path.glob("compare-*"))
