# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The embedded generator: a process for each trial, over the virtual wire or into a virtual machine, against a device
that goes on running."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from testbed import environment
from testbed.campaign.account import account, burst_seconds, reset_account, step_account
from testbed.campaign.backend import Capabilities, GeneratorError, NotCapable, Pauses
from testbed.campaign.devices.device import (
    START_TIMEOUT_S,
    Counts,
    DeviceKind,
    Joint,
    Macs,
    RunningDevice,
    wait_for_load,
)
from testbed.campaign.devices.resets import able_resets, lacking_resets
from testbed.campaign.guest.wire import GuestWire
from testbed.campaign.sizes import Size, in_runs, longest, size_in_words
from testbed.campaign.trial import (
    AnyPlan,
    Place,
    ResetKind,
    ResetPlan,
    ResetResult,
    StepPlan,
    StepResult,
    Stream,
    TrialPlan,
    TrialResult,
)
from testbed.campaign.validity import judged
from testbed.eal import EalOptions, unique_file_prefix
from testbed.generator import Generator, Load, Result
from testbed.lcores import LcorePlan
from testbed.overload import OWN_CPU_SHARE, CpuUsage, Waiting
from testbed.process import ProcessError
from testbed.programs import Program
from testbed.veth import VethWire
from testbed.wire import VirtualWire, Wire

# More than any loop can send: the generator falls behind, and what it has sent is the most that it can.
_BEYOND_FPS = 1e9
_CALIBRATION_S = 0.5
_CALIBRATIONS = 6
# What it keeps up with is less than what it sends when it does nothing but run behind.
_SUSTAINED = 0.95
# A rate counts as kept if it is off by no more than this share; so much of it is asked for, so that there is something
# left to make up for pauses with.
_KEPT = 0.003
_ASKED = 0.8
# Bursts must keep it too, though their first frames meet memory that no cache has yet.
_BURSTS = (300, 1000, 3000)
_BURST_CALIBRATIONS = 12
_BURST_STEP = 0.9
# The forwarder prints its statistics once a second.
_PERIOD_PATIENCE_S = 10.0
# So long it takes at most to start a generator.
_TO_LOAD_S = 30.0
# What a reset takes beside the time that the device may take: load before and after it, as the statistics show it.
_AROUND_RESET_S = 30.0
_FLOWS = 1 << 16
# Without that much of it a machine is not measured, but its neighbours.
_MOST_STOLEN_PERCENT = 5.0


@dataclass(frozen=True)
class EmbeddedSetup:
    """What is joined, and how."""

    device: str
    kind: DeviceKind
    generator: Program
    # Of all trials to come: their highest rates are found out before the first.
    sizes: tuple[Size, ...]
    directions: int
    lcores: LcorePlan
    hugepages: bool
    pauses: Pauses
    raw: Path
    # Without a word the virtual wire.
    wire: Wire | None = None
    # The highest rate to ask for, if not all that it keeps.
    most_fps: float | None = None
    # Whether bursts are to come.
    bursts: bool = True

    @property
    def ports(self) -> int:
        """One port there and back, or two with traffic both ways."""
        return self.directions


class EmbeddedGenerator:
    """The project's generator with a device under test."""

    def __init__(self, setup: EmbeddedSetup) -> None:
        self._setup = setup
        self._cleanup = contextlib.ExitStack()
        self._raw = free_folder(setup.raw, setup.device)
        self._serial = 0
        self._device: RunningDevice | None = None
        # Why there is none.
        self._gone = "it was ended"
        # Why there are no bursts of a size.
        self._no_bursts: dict[Size, str] = {}
        # As they were when the last trial was over; None of a device that does not tell them.
        self._counts: Counts | None = None
        self._capabilities: Capabilities | None = None
        try:
            self._wire = self._cleanup.enter_context(setup.wire or VirtualWire(setup.ports))
            self._cleanup.enter_context(setup.kind.ground)
            self._cleanup.callback(self._leave_device)
            self._begin_device()
        except BaseException:
            self._cleanup.close()
            raise

    def capabilities(self) -> Capabilities:
        """What it can do with this device; takes a while the first time, since it tries how fast it can send."""
        if self._capabilities is None:
            rates, overhead_s = self._calibrate()
            self._capabilities = Capabilities(
                generator="embedded",
                version=environment.describe_binary(self._setup.generator).version,
                max_fps_by_size=rates,
                directions=self._setup.directions,
                flows=_FLOWS,
                latency=True,
                burst=True,
                step=True,
                resets=able_resets(self._lacking_resets),
                lacks={str(kind): why for kind, why in self._lacking_resets.items()},
                proves_frames=True,
                pauses=self._setup.pauses,
                overhead_s=overhead_s,
            )
        return self._capabilities

    def run(self, plan: TrialPlan) -> TrialResult:
        """One trial. A generator that fails makes it invalid; a device that is gone ends the campaign.

        Raises `NotCapable` for a burst if it was seen to keep no rate in bursts.
        """
        if plan.burst_frames is not None and (why_not := self._no_bursts.get(plan.size)):
            raise NotCapable(why_not)
        load = self._load(plan, plan.load_fps, plan.duration_s, plan.burst_frames)
        try:
            result, counts, raw = self._generate(load)
        except ProcessError as error:
            self._check_device()
            return TrialResult(
                plan=plan, sent=0, received=0, lost=0, offered_fps=0, duration_s=0, valid=False, reasons=[str(error)]
            )
        outcome = account(
            plan,
            result,
            *counts,
            raw,
            macs_checked=self._setup.kind.macs is not Macs.ANY,
            # Of a veth pair and of a TAP interface the queue is the kernel's.
            refused=Place.WIRE if isinstance(self._wire, VethWire | GuestWire) else Place.IMISSED,
        )
        time.sleep(self._setup.pauses.settle_s)
        disturbances = [
            None if judged(outcome).valid else _disturbance(result, raw["steal_percent"]),
            _held_up(raw["device_waited_share"]) if outcome.lost else None,
        ]
        return outcome.invalidated([disturbance for disturbance in disturbances if disturbance])

    def step(self, plan: StepPlan) -> StepResult:
        """Two loads, one right behind the other.

        Raises `NotCapable` for more.
        """
        if len(plan.loads_fps) != 2:
            raise NotCapable(f"the embedded generator can have two loads in a run, but not {len(plan.loads_fps)}")
        load = self._load(plan, plan.loads_fps[0], plan.durations_s[0], None)
        second = f"--then={plan.loads_fps[1]:.6f}:{plan.durations_s[1]:g}"
        # The wait for the result is over both.
        load = replace(load, more=(*load.more, second), then_seconds=plan.durations_s[1])
        try:
            result, _, raw = self._generate(load)
        except ProcessError as error:
            self._check_device()
            nothing = [0] * len(plan.loads_fps)
            return StepResult(
                plan=plan, sent=nothing, lost=nothing, last_loss_s=None, valid=False, reasons=[str(error)]
            )
        time.sleep(self._setup.pauses.settle_s)
        outcome = step_account(plan, result, raw)
        disturbance = None if judged(outcome).valid else _disturbance(result, raw["steal_percent"])
        return outcome.invalidated([disturbance] if disturbance else [])

    def reset(self, plan: ResetPlan) -> ResetResult:
        """Ends the device under load and starts it again, or has it reset its ports; the gap is that of the lost frames
        (RFC 6201, section 1.3).

        Raises `NotCapable`.
        """
        if (why_not := self._lacking_resets.get(plan.kind)) is not None:
            raise NotCapable(f"{self._setup.device}: {why_not}")
        longest_s = plan.patience_s + _AROUND_RESET_S
        generator = self._generator(self._load(plan, plan.load_fps, longest_s, None))
        reasons: list[str] = []
        before, down_s = self._counts, None
        try:
            with generator:
                self._wait_for_load(generator)
                try:
                    if plan.kind is ResetKind.PORT:
                        down_s = self._running().reset_ports(plan.patience_s)
                    else:
                        self._restart_device(plan.patience_s, generator)
                    self._wait_for_load(generator)
                except ProcessError as error:
                    reasons.append(str(error))
                # It has seen enough; its result is that of an interrupted run.
                generator.stop(_PERIOD_PATIENCE_S + self._setup.pauses.residual_s)
                result = generator.result()
        except ProcessError as error:
            self._check_device()
            return ResetResult(plan=plan, sent=0, lost=0, gap_s=None, valid=False, reasons=[*reasons, str(error)])
        self._counts = self._settled()
        time.sleep(self._setup.pauses.settle_s)
        return reset_account(plan, result, before, self._counts, down_s).invalidated(reasons)

    def replayed(self, plan: AnyPlan) -> None:
        """Nothing depends on it."""

    def close(self) -> None:
        """Ends the device, and sees that it ended well. May be called again.

        Raises `GeneratorError` if it did not.
        """
        try:
            self._end_device()
        except ProcessError as error:
            raise GeneratorError(str(error)) from error
        finally:
            self._cleanup.close()

    def _end_device(self) -> None:
        device = self._device
        try:
            # One that has never met a generator still waits for it, and has nothing to say.
            if device is not None and device.is_ready:
                device.stop()
        finally:
            self._leave_device()

    def _leave_device(self) -> None:
        """Ends it however it is."""
        device, self._device = self._device, None
        if device is not None:
            device.process.__exit__()

    def _calibrate(self) -> tuple[dict[Size, float], float]:
        """The highest rate at each size, and what a trial takes beside its load and its pauses."""
        overheads: list[float] = []
        rates = {size: self._highest_rate(size, overheads) for size in self._setup.sizes}
        return rates, max(0.0, sum(overheads) / len(overheads))

    def _highest_rate(self, size: Size, overheads: list[float]) -> float:
        """A little less than a rate that it was seen to keep, found from above.

        What it offers while it runs behind is no such rate: a frame that finds the queue full costs it much less than
        one that is taken.
        """
        stream = Stream(size=size, directions=self._setup.directions)
        most_fps = self._setup.most_fps
        rate_fps, result = _BEYOND_FPS if most_fps is None else most_fps / _ASKED, None
        for _ in range(_CALIBRATIONS):
            begin = time.monotonic()
            result = self._calibrating(stream, rate_fps, _CALIBRATION_S, None)
            overheads.append(time.monotonic() - begin - result.duration_s - self._around_s)
            offered_fps = (result.total.sent + result.total.tx_failed) / result.duration_s / stream.directions
            if offered_fps >= (1 - _KEPT) * rate_fps:
                return self._kept_by_bursts(stream, _ASKED * rate_fps)
            rate_fps = _SUSTAINED * offered_fps
        raise self._keeps_none(size, _CALIBRATIONS, result)

    def _kept_by_bursts(self, stream: Stream, rate_fps: float) -> float:
        """The highest rate up to this one that bursts keep, if there are any to come and they keep one at all."""
        kept_fps = rate_fps
        for frames in _BURSTS if self._setup.bursts else ():
            found = self._kept_by_burst(stream, kept_fps, frames)
            if found is None:
                # Its memory is made as it is touched, which takes longer than a burst.
                remedy = "see what else the machine does" if self._setup.hugepages else "with hugepages it may keep one"
                self._no_bursts[stream.size] = (
                    f"bursts of {frames} frames of {size_in_words(stream.size)} kept no rate in {_BURST_CALIBRATIONS} "
                    f"tries: {remedy}"
                )
                return rate_fps
            kept_fps = found
        return kept_fps

    def _kept_by_burst(self, stream: Stream, rate_fps: float, frames: int) -> float | None:
        for _ in range(_BURST_CALIBRATIONS):
            seconds = frames / rate_fps
            result = self._calibrating(stream, rate_fps, seconds, frames)
            if burst_seconds(result.duration_s, seconds) <= seconds * (1 + _KEPT):
                return rate_fps
            rate_fps *= _BURST_STEP
        return None

    def _calibrating(self, stream: Stream, rate_fps: float, seconds: float, frames: int | None) -> Result:
        try:
            return self._generate(self._load(stream, rate_fps, seconds, frames))[0]
        except ProcessError as error:
            self._check_device()
            raise GeneratorError(f"the generator cannot be started: {error}") from error

    def _keeps_none(self, size: Size, tries: int, last: Result | None) -> GeneratorError:
        assert last is not None, "there was a try"
        why = _disturbance(last, None) or "see what else the machine does"
        return GeneratorError(f"the generator kept no rate in {tries} tries with {size_in_words(size)}: {why}")

    @property
    def _lacking_resets(self) -> dict[ResetKind, str]:
        kind = self._setup.kind
        return lacking_resets(kind.counts_frames, kind.no_port_reset or self._wire.no_port_reset)

    @property
    def _around_s(self) -> float:
        """What the generator itself waits before and after its load."""
        return self._setup.pauses.before_s + self._setup.pauses.residual_s

    def _load(self, stream: Stream, rate_fps: float, seconds: float, frames: int | None) -> Load:
        ports = tuple(range(self._setup.ports))
        # All fields but one stay as they are.
        last = stream.flows - 1
        fields = ("--src-ip=198.18.0.0", f"--dst-ip=198.19.0.0-198.19.{last // 256}.{last % 256}")
        fields += ("--src-udp=10000", "--dst-udp=10000", "--quiet")
        pauses = self._setup.pauses
        fields += (f"--before={pauses.before_s:g}",) if pauses.before_s else ()
        return Load(
            ports=ports,
            size=in_runs(stream.size),
            seconds=seconds,
            **self._expected_macs(ports),
            residual_wait_s=pauses.residual_s,
            rate_pps=rate_fps,
            frames=frames,
            more=(*fields, *(("--bidirectional",) if stream.directions == 2 else ())),
        )

    def _expected_macs(self, ports: tuple[int, ...]) -> dict[str, str | None]:
        """The addresses that frames must come back with at each port; None where nothing is checked."""
        # What the generator sends to, from the port at the other end.
        sent_to = ",".join(f"02:00:00:00:01:{port:02x}" for port in reversed(ports))
        match self._setup.kind.macs:
            case Macs.L2FWD:
                sources = ",".join(self._wire.forwarder_mac(port) for port in ports)
                return {"expect_src": sources, "expect_dst": ",".join(f"02:00:00:00:00:{port:02x}" for port in ports)}
            case Macs.SWAPPED:
                return {"expect_src": sent_to, "expect_dst": None}
            case Macs.KEPT:
                return {"expect_src": None, "expect_dst": sent_to}
            case _:
                return {"expect_src": None, "expect_dst": None}

    def _generator(self, load: Load) -> Generator:
        setup = self._setup
        self._serial += 1
        eal = EalOptions(setup.lcores.generator, unique_file_prefix("gen"), self._wire.generator_vdevs, setup.hugepages)
        return Generator(setup.generator, eal, load, self._raw, f"trial-{self._serial}")

    def _generate(self, load: Load) -> tuple[Result, tuple[Counts | None, Counts | None], dict[str, Any]]:
        """Runs the generator once; returns its result and the device's counters before and after.

        What it printed is in the result, so its logs are kept only if it fails.
        """
        if self._setup.kind.restart_each_trial and self._running().is_ready:
            self._restart_device(None)
        device = self._running()
        steal = environment.steal_ticks()
        with self._generator(load) as generator:
            device.ready(START_TIMEOUT_S, generator)
            usage = CpuUsage(generator=generator, forwarder=device.process)
            waiting = Waiting(device.process)
            generator.wait_for_result()
            cpu_share = usage.shares()
            waited = waiting.share()
            # The result comes after the last frame; what the device says from now on has counted it.
            before, self._counts = self._counts, self._settled()
            result = generator.result()
        for log in self._raw.glob(f"{generator.name}.*"):
            log.unlink()
        stolen = environment.steal_percent(steal, environment.steal_ticks())
        return (
            result,
            (before, self._counts),
            {
                "cpu_share": cpu_share,
                "device_waited_share": waited,
                "steal_percent": stolen,
            },
        )

    def _begin_device(self) -> None:
        """Starts the device, which waits for the generator before it begins."""
        setup = self._setup
        joint = Joint(
            lcore=setup.lcores.forwarder,
            hugepages=setup.hugepages,
            vdevs=self._wire.forwarder_vdevs,
            nics=self._wire.nics,
            ports=setup.ports,
            longest=longest(setup.sizes),
            log_dir=self._raw,
        )
        self._serial += 1
        self._device = setup.kind.begin(joint, f"forwarder-{self._serial}")
        self._counts = Counts() if setup.kind.counts_frames else None

    def _restart_device(self, patience_s: float | None, generator: Generator | None = None) -> None:
        """Ends it and starts it again; with a patience, returns when it forwards what the generator sends."""
        try:
            self._end_device()
            self._wire.clear_sockets()
            self._begin_device()
        except ProcessError as error:
            self._gone = str(error)
            raise
        if patience_s is not None:
            self._running().ready(patience_s, generator)

    def _wait_for_load(self, generator: Generator) -> None:
        """Returns when the device has received frames.

        Raises `ProcessError`.
        """
        wait_for_load(self._running(), _TO_LOAD_S, generator)

    def _settled(self) -> Counts | None:
        """The device's counters after the last frame of a trial."""
        if not self._setup.kind.counts_frames:
            return None
        try:
            return self._running().counts(_PERIOD_PATIENCE_S)
        except ProcessError as error:
            self._check_device()
            raise GeneratorError(str(error)) from error

    def _check_device(self) -> None:
        """Raises `GeneratorError` if the device is gone."""
        process = self._running().process
        if (trouble := process.trouble()) is not None:
            self._gone = str(process.failure(f"{trouble} in the middle of the campaign"))
            # Whoever closes this would say the same once more, in place of this.
            self._leave_device()
            raise GeneratorError(f"{self._setup.device}: {self._gone}")

    def _running(self) -> RunningDevice:
        if self._device is None:
            raise GeneratorError(f"{self._setup.device} does not run any more: {self._gone}")
        return self._device


def _disturbance(result: Result, stolen: float | None) -> str | None:
    """What kept a generator from its rate, if it was another program or another virtual machine."""
    if result.cpu_share < OWN_CPU_SHARE:
        share = f"{100 * result.cpu_share:.0f} %"
        return f"other programs took the generator's CPU, of which it had {share}: end them"
    if stolen is not None and stolen > _MOST_STOLEN_PERCENT:
        return f"the hypervisor gave {stolen:.1f} % of the CPU time to others: use a machine of your own"
    return None


def _held_up(waited: float | None) -> str | None:
    """What else than the device may have lost frames: it was ready to fetch them, but other programs had its CPU."""
    if waited is None or waited <= 1 - OWN_CPU_SHARE:
        return None
    return f"other programs took the device's CPU for {100 * waited:.0f} % of the time: end them"


def free_folder(parent: Path, name: str) -> Path:
    """A new folder for the logs of one start of a device: a resumed campaign keeps those of before."""
    number = 1
    while True:
        folder = parent / f"{name}-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return folder
