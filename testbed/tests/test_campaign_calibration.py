# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the embedded generator tries before the first trial: its highest rates, and how deep the queues must be."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import stand_in
from embedded_stand_ins import SOME_GAPS

from testbed.campaign.devices.l2fwd import L2fwd
from testbed.campaign.devices.program_host import LocalHost
from testbed.campaign.embedded import calibration
from testbed.campaign.embedded.calibration import Calibration
from testbed.campaign.embedded.generator import EmbeddedGenerator
from testbed.campaign.embedded.rings import Rings, adjustable, frames_needed
from testbed.campaign.report.calibration import calibration_table
from testbed.campaign.sizes import Size
from testbed.campaign.traffic_generator import Generator, GeneratorError, NotCapable
from testbed.campaign.trial import ResetKind, TrialPlan

PLAN = TrialPlan(size=64, load_fps=1000, duration_s=1, latency=True)


def test_the_highest_rate_is_what_it_keeps_up_with(stand_ins: Callable[..., EmbeddedGenerator]) -> None:
    generator = stand_ins()
    assert isinstance(generator, Generator)
    found = generator.capabilities()
    # The stand-in's queue did not take 12,345 frames; the duration is that of the calibration. It offers the same
    # whatever it is asked for, so that the second try, at 95 % of it, is kept; of that it is asked for 80 %, which a
    # burst keeps too.
    assert found.max_fps(64) == pytest.approx(0.8 * 0.95 * (stand_in.SENT + 12345) / 0.5)
    assert (found.step, found.resets, found.pauses.before_s) == (True, [ResetKind.PROCESS, ResetKind.PORT], 2)
    generator.close()
    generator.close()


def test_rings_hold_what_comes_in_a_pause_at_the_highest_load() -> None:
    gigabyte = 1 << 30
    assert frames_needed(0.003, 1e6, 1, gigabyte) == 4096
    assert frames_needed(0.004096, 1e6, 1, gigabyte) == 4096
    assert frames_needed(0.0041, 1e6, 1, gigabyte) == 8192
    # No less than without pauses, and no more than virtio has.
    assert frames_needed(0.0, 1e6, 1, gigabyte) == 1024
    assert frames_needed(0.5, 1e7, 1, gigabyte) == 32_768
    # A whole queue and a half one for each port, in three quarters of the memory.
    assert frames_needed(0.5, 1e7, 2, 256 << 20) == 16_384
    assert frames_needed(0.5, 1e7, 1, 168 << 20) == 16_384
    assert frames_needed(0.5, 1e7, 1, 170 << 20) == 32_768
    assert frames_needed(0.5, 1e7, 2, 0) == 1024


def test_the_rings_are_as_deep_as_the_pauses_at_calibration_need(
    stand_ins: Callable[..., EmbeddedGenerator], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For all devices of a campaign, and when it is resumed. A user who gives numbers of descriptors has these."""
    rings = Rings()
    calibrated_before: list[bool] = []
    calibrate = Calibration.run

    def run(
        calibration: Calibration, ring_frames: int | None, before: dict[Size, float] | None = None
    ) -> tuple[dict[Size, float], float]:
        calibrated_before.append(before is not None)
        return calibrate(calibration, ring_frames, before)

    monkeypatch.setattr(Calibration, "run", run)

    def started(number: int) -> list[str]:
        """The rings of a device's last start."""
        commands = sorted((tmp_path / "raw" / f"l2fwd-c-{number}").glob("forwarder-*.command"))
        return re.findall(r"queue_size=\d+|--[rt]xd \d+|--iova-mode=\w+", commands[-1].read_text())

    slow = {"generator": {"gaps": SOME_GAPS | {"longest_s": 0.08}}, "bursts": False}
    first, second = stand_ins(rings=rings, **slow), stand_ins(rings=rings, **slow)
    assert started(1) == started(2) == ["queue_size=1024"]
    found = first.capabilities()
    assert (found.ring_frames, found.pause_s) == (rings.frames, 0.08)
    assert found.ring_frames == frames_needed(0.08, found.max_fps(64), 1, 1 << 30) > 1024
    deep = [f"queue_size={rings.frames}", f"--rxd {rings.frames}", f"--txd {(rings.frames or 0) // 2}"]
    assert started(1) == deep
    assert first.run(PLAN).ring_frames == rings.frames
    first.close()
    assert second.capabilities().ring_frames == found.ring_frames
    assert started(2) == deep
    # Both alike, whichever came first: with short queues, then from these rates with deep ones.
    assert calibrated_before == [False, True, False, True]
    second.close()
    resumed = stand_ins(**slow)
    resumed.rejoin(found)
    assert (started(3), resumed.capabilities()) == (deep, found)
    resumed.close()
    assert not adjustable(L2fwd(first._setup.generator, ("--rxd=512",), LocalHost()))


def test_a_burst_keeps_the_highest_rate_too(stand_ins: Callable[..., EmbeddedGenerator]) -> None:
    limit = 0.5 * (stand_in.SENT + 12345) / 0.5
    generator = stand_ins(generator={"slowest_burst_fps": limit})
    # From 76 % of what it offers down to half of it, in steps of 10 %; 50 µs more than planned are the loop's.
    assert 0.9 * limit < generator.capabilities().max_fps(64) < 1.25 * limit
    generator.close()


def test_the_tries_of_the_calibration_are_recorded(stand_ins: Callable[..., EmbeddedGenerator]) -> None:
    generator = stand_ins(bursts=False)
    found = generator.capabilities()
    generator.close()
    beyond, kept = found.calibration
    offered_fps = (stand_in.SENT + 12345) / 0.5
    assert (beyond.size, beyond.burst_frames, beyond.ring_frames, beyond.kept) == (64, None, 1024, False)
    assert (beyond.asked_fps, beyond.offered_fps) == (1e9, pytest.approx(offered_fps))
    assert (kept.asked_fps, kept.kept) == (pytest.approx(0.95 * offered_fps), True)


def test_tries_that_others_disturb_do_not_lower_the_rate(
    stand_ins: Callable[..., EmbeddedGenerator], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as 20 are repeated; then the machine is as it is."""
    monkeypatch.setattr(calibration, "disturbance", lambda *_: "other programs took the generator's CPU")
    generator = stand_ins(bursts=False)
    found = generator.capabilities()
    generator.close()
    assert [one.asked_fps for one in found.calibration[:-1]] == [1e9] * 21
    assert found.calibration[-1].kept


def test_without_bursts_that_keep_a_rate_all_else_is_measured(stand_ins: Callable[..., EmbeddedGenerator]) -> None:
    generator = stand_ins(generator={"slowest_burst_fps": 1.0})
    # As if there were no bursts to come.
    assert generator.capabilities().max_fps(64) == pytest.approx(0.8 * 0.95 * (stand_in.SENT + 12345) / 0.5)
    burst = PLAN.model_copy(update={"kind": "burst", "burst_frames": 300})
    with pytest.raises(NotCapable, match="bursts of 300 frames of 64 bytes kept none of 12 rates: with hugepages"):
        generator.run(burst)
    generator.run(PLAN)
    generator.close()


def test_a_generator_that_keeps_no_rate_ends_the_campaign(stand_ins: Callable[..., EmbeddedGenerator]) -> None:
    generator = stand_ins(generator={"share": 0.4})
    with pytest.raises(GeneratorError, match=r"kept no rate in 6 tries with 64 bytes: other programs took .* CPU"):
        generator.capabilities()
    # A trial says so too.
    reasons = generator.run(PLAN.model_copy(update={"load_fps": 1e9})).reasons
    assert any("other programs took" in reason for reason in reasons)
    generator.close()


def test_the_report_shows_the_tries_of_the_calibration(stand_ins: Callable[..., EmbeddedGenerator]) -> None:
    generator = stand_ins()
    found = generator.capabilities()
    generator.close()
    table = calibration_table(SimpleNamespace(joined={"l2fwd-c/1way": found}))
    first, *bursts = [dict(zip(table.columns, row.cells, strict=True)) for row in table.rows]
    assert (first["Device"], first["Frames"], first["Load"]) == ("l2fwd-c", "64 bytes", "continuous")
    assert (first["A queue holds [frames]"], first["Tries"]) == ("1,024", "2")
    assert float(first["Lowest not kept [Mpps]"]) == 1000
    assert float(first["Kept [Mpps]"]) == pytest.approx(found.max_fps(64) / 0.8 / 1e6, abs=1e-4)
    assert [one["Load"] for one in bursts] == ["burst of 300", "burst of 1,000", "burst of 3,000"]
    assert calibration_table(SimpleNamespace(joined={})).rows == []
