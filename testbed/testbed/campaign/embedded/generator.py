# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The embedded generator: a process for each trial, over the virtual wire or into a virtual machine, against a device
that goes on running."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from testbed.campaign.devices.device import (
    START_TIMEOUT_S,
    Counts,
    Joint,
    Macs,
    RunningDevice,
    wait_for_load,
)
from testbed.campaign.devices.resets import able_resets, lacking_resets
from testbed.campaign.embedded.account import account, latency, reset_account, step_account
from testbed.campaign.embedded.baseline import LATENCY_DEFINITION, VDEV, baseline_load
from testbed.campaign.embedded.calibration import Calibration
from testbed.campaign.embedded.disturbance import disturbance, held_up
from testbed.campaign.embedded.load import trial_load
from testbed.campaign.embedded.rings import adjustable, descriptors, frames_needed
from testbed.campaign.embedded.setup import EmbeddedSetup, free_folder
from testbed.campaign.embedded.windows import Windows
from testbed.campaign.sides import Side, reported_ports
from testbed.campaign.sizes import longest
from testbed.campaign.traffic_generator import Capabilities, GeneratorError, NotCapable
from testbed.campaign.trial import (
    AnyPlan,
    Latency,
    ResetKind,
    ResetPlan,
    ResetResult,
    StepPlan,
    StepResult,
    Stream,
    TrialPlan,
    TrialResult,
    Window,
)
from testbed.campaign.validity import judged
from testbed.run import environment
from testbed.run.cpu_share import CpuUsage, Waiting
from testbed.run.eal import (
    MEMORY_BYTES_WITHOUT_HUGEPAGES,
    EalOptions,
    hugepages_free_bytes,
    unique_file_prefix,
)
from testbed.run.process import ProcessError
from testbed.wire.generator import Generator, Load, Result, Second
from testbed.wire.virtual_wire import VirtualWire

# The forwarder prints its statistics once a second.
_PERIOD_PATIENCE_S = 10.0
# So long it takes at most to start a generator.
_TO_LOAD_S = 30.0
# What a reset takes beside the time that the device may take: load before and after it, as the statistics show it.
_AROUND_RESET_S = 30.0
_FLOWS = 1 << 20

R = TypeVar("R", TrialResult, StepResult)


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
        # The counts at the end of the last trial; None if the device does not report them.
        self._counts: Counts | None = None
        self._capabilities: Capabilities | None = None
        self._calibration = Calibration(setup, self._calibrating)
        self._baselines: dict[TrialPlan, Latency | None] = {}
        self._longest_pause_s: float | None = None
        # As they were in the last run; None before the first.
        self._generator_side: Side | None = None
        self._device_side: Side | None = None
        self._told: Callable[[Window], None] = lambda _: None
        try:
            wire = setup.wire or VirtualWire(setup.ports, setup.queues)
            self._wire = self._cleanup.enter_context(wire)
            self._cleanup.enter_context(setup.kind.host)
            self._cleanup.callback(self._leave_device)
            self._begin_device()
        except BaseException:
            self._cleanup.close()
            raise

    def capabilities(self) -> Capabilities:
        """What it can do with this device; takes a while the first time, since it tries how fast it can send."""
        if self._capabilities is None:
            # Each device first with shorter queues, also where another one has decided: the search depends on them.
            if self._adjustable:
                self._use_rings(VirtualWire.RING_SIZE)
            rates, overhead_s = self._calibration.run(self._ring_frames)
            if self._adjustable and self._use_rings(self._setup.rings.frames or self._decided(max(rates.values()))):
                # It is another device now, whose buffers do not fit into the caches.
                rates, overhead_s = self._calibration.run(self._ring_frames, rates)
            self._capabilities = Capabilities(
                generator="embedded",
                version=environment.describe_binary(self._setup.generator).version,
                max_fps_by_size=rates,
                directions=self._setup.directions,
                flows=_FLOWS,
                latency=True,
                latency_definition=LATENCY_DEFINITION,
                burst=True,
                step=True,
                resets=able_resets(self._lacking_resets),
                lacks={str(kind): why for kind, why in self._lacking_resets.items()},
                proves_frames=True,
                pauses=self._setup.pauses,
                ring_frames=self._ring_frames,
                pause_s=self._longest_pause_s,
                calibration=self._calibration.tries,
                generator_side=self._generator_side,
                device_side=self._device_side,
                overhead_s=overhead_s,
            )
        return self._capabilities

    def rejoin(self, before: Capabilities) -> None:
        """Makes the queues as deep as they were."""
        self._capabilities = before
        if before.ring_frames is not None and self._adjustable:
            self._setup.rings.frames = before.ring_frames
            self._use_rings(before.ring_frames)

    def run(self, plan: TrialPlan) -> TrialResult:
        """One trial. A generator that fails makes it invalid; a device that is gone ends the campaign.

        Raises `NotCapable` for a burst if it was seen to keep no rate in bursts.
        """
        if plan.burst_frames is not None and (why_not := self._calibration.no_bursts.get(plan.size)):
            raise NotCapable(why_not)
        load = self._load(plan, plan.load_fps, plan.duration_s, plan.burst_frames, each_second=plan.windows)
        windows = Windows(plan, self._told)
        try:
            result, counts, raw = self._generate(load, windows.take)
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
            ring_frames=self._ring_frames,
        )
        outcome = outcome.model_copy(update={"windows": windows.found})
        if plan.latency:
            outcome = outcome.model_copy(update={"baseline": self._baseline(plan, load)})
        time.sleep(self._setup.pauses.settle_s)
        return _undisturbed(outcome, result, raw)

    def step(self, plan: StepPlan) -> StepResult:
        """Two loads, back to back.

        Raises `NotCapable` for more.
        """
        if len(plan.loads_fps) != 2:
            raise NotCapable(f"the embedded generator can have two loads in a run, but not {len(plan.loads_fps)}")
        load = self._load(plan, plan.loads_fps[0], plan.durations_s[0])
        second = f"--then={plan.loads_fps[1]:.6f}:{plan.durations_s[1]:g}"
        # The wait for the result is over both.
        load = replace(load, more=(*load.more, second), then_seconds=plan.durations_s[1])
        try:
            result, counts, raw = self._generate(load)
        except ProcessError as error:
            self._check_device()
            nothing = [0] * len(plan.loads_fps)
            return StepResult(
                plan=plan, sent=nothing, lost=nothing, last_loss_s=None, valid=False, reasons=[str(error)]
            )
        time.sleep(self._setup.pauses.settle_s)
        return _undisturbed(step_account(plan, result, raw, counts[1], self._ring_frames), result, raw)

    def reset(self, plan: ResetPlan) -> ResetResult:
        """Ends the device under load and starts it again, or has it reset its ports; the gap is between the last frame
        before and the first after it (RFC 6201, section 1.3).

        Raises `NotCapable`.
        """
        if (why_not := self._lacking_resets.get(plan.kind)) is not None:
            raise NotCapable(f"{self._setup.device}: {why_not}")
        longest_s = plan.patience_s + _AROUND_RESET_S
        generator = self._generator(self._load(plan, plan.load_fps, longest_s))
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
        return reset_account(plan, result, before, self._counts, down_s, self._ring_frames).invalidated(reasons)

    def watch(self, told: Callable[[Window], None]) -> None:
        """From now on each second of a trial with windows goes to `told`."""
        self._told = told

    def replayed(self, plan: AnyPlan) -> None:
        """Nothing depends on it."""

    def rest(self) -> None:
        """Stops the device where it is: it polls, and its CPU is needed."""
        if self._device is not None:
            self._device.process.send_signal("STOP")

    def wake(self) -> None:
        """Lets it go on, which takes no time to speak of."""
        if self._device is not None:
            self._device.process.send_signal("CONT")

    def close(self) -> None:
        """Ends the device, and sees that it ended well. May be called again.

        Raises `GeneratorError` if it did not.
        """
        # SIGTERM does not reach a device that was stopped.
        self.wake()
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

    def _calibrating(self, stream: Stream, rate_fps: float, seconds: float, frames: int | None) -> Result:
        try:
            return self._generate(self._load(stream, rate_fps, seconds, frames))[0]
        except ProcessError as error:
            self._check_device()
            raise GeneratorError(f"the generator cannot be started: {error}") from error

    @property
    def _adjustable(self) -> bool:
        """Whether the queues can be as deep as wanted: those of the virtual wire, with a device that takes part."""
        return self._setup.wire is None and adjustable(self._setup.kind)

    def _decided(self, load_fps: float) -> int:
        """How deep the queues of all devices are, by the pauses so far."""
        rings, queues = self._setup.rings, self._setup.ports * self._setup.queues
        # All devices may be there at once. Without hugepages each has its own memory.
        free = hugepages_free_bytes() / rings.devices if self._setup.hugepages else MEMORY_BYTES_WITHOUT_HUGEPAGES
        rings.frames = frames_needed(self._longest_pause_s or 0.0, load_fps, queues, free)
        return rings.frames

    def _use_rings(self, frames: int) -> bool:
        """Whether that is another depth: then the device was started again."""
        assert isinstance(self._wire, VirtualWire), "they are adjustable"
        if frames == self._wire.ring_size:
            return False
        self._wire.ring_size = frames
        self._restart_device(None)
        return True

    @property
    def _ring_frames(self) -> int | None:
        """What a queue of the virtual wire holds; None of a veth pair or a TAP interface, whose queues are the
        kernel's."""
        return self._wire.ring_size if isinstance(self._wire, VirtualWire) else None

    @property
    def _lacking_resets(self) -> dict[ResetKind, str]:
        kind = self._setup.kind
        return lacking_resets(kind.counts_frames, kind.no_port_reset or self._wire.no_port_reset)

    def _load(
        self, stream: Stream, rate_fps: float, seconds: float, frames: int | None = None, each_second: bool = False
    ) -> Load:
        return trial_load(self._setup, self._wire, stream, rate_fps, seconds, frames, each_second)

    def _baseline(self, plan: TrialPlan, load: Load) -> Latency | None:
        """Measured once for all trials of a plan; None if it cannot be, or frames were lost."""
        if plan not in self._baselines:
            found = None
            with contextlib.suppress(ProcessError), self._generator(baseline_load(load), (VDEV,)) as generator:
                result = generator.result()
                if not result.total.lost:
                    found = latency([stream.latency_ns for stream in result.streams])
                self._remove_logs(generator)
            self._baselines[plan] = found
        return self._baselines[plan]

    def _generator(self, load: Load, vdevs: tuple[str, ...] | None = None) -> Generator:
        setup = self._setup
        self._serial += 1
        vdevs = self._wire.generator_vdevs if vdevs is None else vdevs
        eal = EalOptions(setup.lcores.generator, unique_file_prefix("gen"), vdevs, setup.hugepages)
        return Generator(setup.generator, eal, load, self._raw, f"trial-{self._serial}")

    def _generate(
        self, load: Load, each_second: Callable[[Second], None] = lambda _: None
    ) -> tuple[Result, tuple[Counts | None, Counts | None], dict[str, Any]]:
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
            generator.wait_for_result(each_second)
            cpu_share = usage.shares()
            waited, taken_s = waiting.share(), waiting.taken_s()
            # The result comes after the last frame; what the device says from now on has counted it.
            before, self._counts = self._counts, self._settled()
            result = generator.result()
        told = [one.longest_s for one in (result.gaps, self._counts and self._counts.gaps) if one is not None]
        self._longest_pause_s = max([*told, self._longest_pause_s or 0.0]) if told else self._longest_pause_s
        self._generator_side = Side(
            program=f"{result.program} {result.version}".rstrip(),
            lcores=[self._setup.lcores.generator],
            ports=reported_ports(result.ports),
        )
        self._device_side = device.side
        self._remove_logs(generator)
        stolen = environment.steal_percent(steal, environment.steal_ticks())
        return (
            result,
            (before, self._counts),
            {
                "cpu_share": cpu_share,
                "device_waited_share": waited,
                "device_taken_s": taken_s,
                "steal_percent": stolen,
            },
        )

    def _remove_logs(self, generator: Generator) -> None:
        for log in self._raw.glob(f"{generator.name}.*"):
            log.unlink()

    def _begin_device(self) -> None:
        """Starts the device, which waits for the generator before it begins."""
        setup = self._setup
        joint = Joint(
            lcores=setup.lcores.forwarders,
            hugepages=setup.hugepages,
            vdevs=self._wire.forwarder_vdevs,
            nics=self._wire.nics,
            ports=setup.ports,
            queues=setup.queues,
            longest=longest(setup.sizes),
            log_dir=self._raw,
            descriptors=self._descriptors,
        )
        self._serial += 1
        self._device = setup.kind.begin(joint, f"forwarder-{self._serial}")
        self._counts = Counts() if setup.kind.counts_frames else None

    @property
    def _descriptors(self) -> tuple[int, int] | None:
        """Of the device's queues, which hold no more than it asks for; None if its default is as many."""
        frames = self._ring_frames
        deep = frames is not None and frames > VirtualWire.RING_SIZE and self._adjustable
        return descriptors(frames) if deep and frames is not None else None

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


def _undisturbed(outcome: R, result: Result, raw: dict[str, Any]) -> R:
    """The outcome, invalid if the device lacked its CPU, whatever it lost: else losses would be repeated until they are
    none. Why the generator did not do what was asked is added.
    """
    outcome = outcome.model_copy(update={"device_taken_s": raw["device_taken_s"]})
    reasons = [
        None if judged(outcome).valid else disturbance(result, raw["steal_percent"]),
        held_up(raw["device_waited_share"]),
    ]
    return outcome.invalidated([reason for reason in reasons if reason])
