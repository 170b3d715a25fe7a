# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Act d: each forwarder forwards a capture through pcap devices; the output is compared frame by frame."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from testbed.demo.summary import CaptureAct, CaptureTrial
from testbed.run.eal import EalOptions, unique_file_prefix
from testbed.run.environment import sha256_of
from testbed.run.process import ProcessError
from testbed.run.programs import Program
from testbed.run.results_folder import Status
from testbed.run.scratch import scratch_folder
from testbed.wire.forwarder import Forwarder, imbalance
from testbed.wire.frames import CaptureError, Macs, compare, read_frames

# Captures above this size are compared, but not kept in the results folder.
KEPT_BYTES = 16 * 1024 * 1024
# How slowly frames may trickle through before the trial counts as hung.
_FRAMES_PER_SECOND = 5000
_PATIENCE_S = 30.0


@dataclass(frozen=True)
class CapturePlan:
    """What act d is to do."""

    source: Path
    hugepages: bool
    lcore: int


def new_act(plan: CapturePlan, label: str) -> CaptureAct:
    """The act cefore its first trial; looks at the capture.

    Raises `CaptureError` if it cannot be used.
    """
    sizes = [len(frame) for frame in read_frames(plan.source)]
    if not sizes:
        raise CaptureError(f"'{plan.source}' contains no frame: give a capture with traffic")
    return CaptureAct(
        status=Status.INTERRUPTED,
        source=label,
        sha256=sha256_of(plan.source),
        frames=len(sizes),
        bytes=sum(sizes),
    )


def run_trial(
    plan: CapturePlan, frames: int, program: Program, raw: Path, on_step: Callable[[str], None] = lambda _: None
) -> CaptureTrial:
    """Sends the capture through one forwarder and compares the output."""
    trial = CaptureTrial(program=program.name, language=program.language)
    name = f"d-{program.name}"
    on_step(f"{program.name}: {frames} frames")
    # Device arguments know no quoting: a comma in the path of the capture or of the results would split them.
    with scratch_folder() as folder:
        source, output = folder / "in.pcap", folder / "out.pcap"
        source.symlink_to(plan.source.resolve())
        eal = EalOptions(
            plan.lcore, unique_file_prefix("dut"), (f"net_pcap0,rx_pcap={source},tx_pcap={output}",), plan.hugepages
        )
        try:
            with Forwarder(program, eal, ["-p", "0x1", "--portmap=(0,0)"], raw, name) as forwarder:
                start = forwarder.start()
                try:
                    forwarder.wait_for_received(frames, _PATIENCE_S + frames / _FRAMES_PER_SECOND)
                except ProcessError:
                    # Frames are missing. If it still runs, the comparison below says which.
                    if forwarder.process.returncode is not None:
                        raise
                final = forwarder.stop()
            if not final.balanced:
                trial.reasons.append(imbalance(final))
            macs = Macs(destination="02:00:00:00:00:00", source=start.ports[0].mac)
            on_step(f"{program.name}: comparing")
            _compare(trial, source, output, macs, final.total.rx_short)
            if output.stat().st_size <= KEPT_BYTES:
                shutil.copyfile(output, raw / f"{name}.pcap")
                trial.output = f"raw/{name}.pcap"
        except (ProcessError, CaptureError) as error:
            trial.reasons.append(str(error))
    return trial


def _compare(trial: CaptureTrial, source: Path, output: Path, macs: Macs, counted_short: int) -> None:
    comparison = compare(source, output, macs)
    trial.frames_in = comparison.frames_in
    trial.frames_short = comparison.frames_short
    trial.frames_out = comparison.frames_out
    trial.identical = comparison.identical
    trial.differences = comparison.differences
    if not comparison.same:
        trial.reasons.append(comparison.summary())
    if counted_short != comparison.frames_short:
        trial.reasons.append(
            f"the forwarder counted {counted_short} frames shorter than an Ethernet header, "
            f"the capture has {comparison.frames_short}"
        )
