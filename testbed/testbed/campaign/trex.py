# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""TRex as the generator of a campaign: a server with its ports joined to the device, driven through its own client."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from testbed.campaign.backend import Capabilities, GeneratorError, NotCapable, Pauses
from testbed.campaign.devices.device import Counts
from testbed.campaign.sizes import Size, frames_of, is_mixture, longest, size_in_words
from testbed.campaign.trex_abilities import abilities
from testbed.campaign.trex_account import Ran, Route, account, reset_account
from testbed.campaign.trex_bridge import TrexBridge, TrexError, trex_folder
from testbed.campaign.trex_device import JoinedDevice
from testbed.campaign.trex_latency import latency
from testbed.campaign.trex_mixture import counted_out, tunable, with_sizes
from testbed.campaign.trex_server import TrexServer, start_server
from testbed.campaign.trex_settings import Trex
from testbed.campaign.trex_step import parts, sequence, step_account
from testbed.campaign.trial import (
    AnyPlan,
    ResetKind,
    ResetPlan,
    ResetResult,
    StepPlan,
    StepResult,
    Stream,
    TrialPlan,
    TrialResult,
    line_rate_fps,
)
from testbed.campaign.validity import judged
from testbed.process import ProcessError
from testbed.results import write_atomically

PROFILE = "l2fwd.py"
# Nothing is sent any faster over a link whose rate nobody knows: 100 Gbit/s.
_UNKNOWN_BPS = 100e9
_CALIBRATIONS = 8
# What it keeps up with is less than what it sends when it runs behind.
_SUSTAINED = 0.95
# A rate counts as kept if it is off by no more than this share; so much of it is asked for.
_KEPT = 0.003
_ASKED = 0.97
# How much longer than planned the server may take before its traffic is stopped, beside a share of the plan.
_LATE_S = 2.0
_LATE_SHARE = 0.1
# Beside the load and the pauses a request takes this long at most.
_TELL_S = 30.0
# Between two looks at a link that is not up yet.
_LOOK_S = 0.2
# The mark of the first frames, which the profile gives to port 0.
_FIRST_MARK = 10
# One frame there and back, before anything else.
_PROBE_FPS = 100.0
_PROBE_S = 0.5


@dataclass(frozen=True)
class TrexSetup:
    """What is joined, and how."""

    device: str
    settings: Trex
    home: Path
    # None: somebody else runs it.
    joined: JoinedDevice | None
    # Of all trials to come: their highest rates are found out before the first.
    sizes: tuple[Size, ...]
    flows: tuple[int, ...]
    directions: int
    pauses: Pauses
    # A new folder for the logs.
    logs: Path


def trex_home(settings: Trex) -> Path:
    """Where TRex lies.

    Raises `GeneratorError` if nobody says.
    """
    told = settings.trex_home or os.environ.get("TREX_HOME")
    if not told:
        raise GeneratorError(
            "where is TRex? Name its folder as trex_home in the scenario, or in the environment variable TREX_HOME"
        )
    return Path(told).expanduser().absolute()


class TrexGenerator:
    """A TRex server with the device that it is joined to."""

    def __init__(self, setup: TrexSetup) -> None:
        self._setup = setup
        self._cleanup = contextlib.ExitStack()
        self._server: TrexServer | None = None
        self._device: JoinedDevice | None = None
        self._capabilities: Capabilities | None = None
        # The device's, as they were when the last trial was over.
        self._counts: Counts | None = None
        self._cores = 1
        ports = setup.settings.ports
        self._route = Route(tx_ports=ports[: setup.directions], rx_ports=ports[::-1][: setup.directions], virtual=False)
        try:
            self._bridge = self._join()
        except BaseException as error:
            # Nobody else will end what was started.
            try:
                self._cleanup.close()
            except (GeneratorError, ProcessError) as late:
                raise GeneratorError(f"{error}; and {late}") from error
            if isinstance(error, ProcessError):
                raise GeneratorError(str(error)) from error
            raise

    def capabilities(self) -> Capabilities:
        """What it can do with this device; takes a while the first time, for the probe and the highest rates."""
        if self._capabilities is None:
            able = self._abilities(self._latency_comes_back())
            overheads: list[float] = []
            rates = {size: self._highest_rate(size, overheads) for size in self._setup.sizes}
            self._counts = self._settled()
            self._capabilities = able.model_copy(
                update={"max_fps_by_size": rates, "overhead_s": max(0.0, sum(overheads) / len(overheads))}
            )
        return self._capabilities

    def _abilities(self, latency: bool = True) -> Capabilities:
        """What is known without a frame."""
        counts = None if self._device is None else self._device.counts_frames
        no_port_reset = None if self._device is None else self._device.no_port_reset
        memif = any("memif" in (port["driver"] or "") for port in self._ports)
        return Capabilities(
            generator="trex",
            version=f"{self._version} (client API {self._api})",
            line_rate_bps=self._line_rate_bps,
            directions=self._setup.directions,
            pauses=self._setup.pauses,
            **abilities(self._setup.settings, counts, memif, latency, no_port_reset),
        )

    def run(self, plan: TrialPlan) -> TrialResult:
        """One trial. What TRex refuses makes it invalid; a server or a device that is gone ends the campaign.

        Raises `NotCapable` for frames that memif mixes up.
        """
        self._abilities().check(plan)
        try:
            result = self._trial(plan)
        except TrexError as error:
            reasons = self._refused(error)
            return TrialResult(
                plan=plan, sent=0, received=0, lost=0, offered_fps=0, duration_s=0, valid=False, reasons=reasons
            )
        time.sleep(self._setup.pauses.settle_s)
        return result

    def step(self, plan: StepPlan) -> StepResult:
        """Loads one right behind the other, the last in slices.

        Raises `NotCapable` where frames carry no marks.
        """
        capabilities = self._abilities()
        if not capabilities.step:
            raise NotCapable(capabilities.why_not("step", "cannot do it"))
        capabilities.check(plan)
        sent, seconds = parts(plan), sum(plan.durations_s)
        words = {"sequence": sequence(sent)}
        try:
            ran = self._ran(plan, words, 0.0, seconds * (1 + _LATE_SHARE) + _LATE_S)
        except TrexError as error:
            nothing = [0] * len(plan.loads_fps)
            return StepResult(
                plan=plan, sent=nothing, lost=nothing, last_loss_s=None, valid=False, reasons=self._refused(error)
            )
        self._counts = self._settled()
        time.sleep(self._setup.pauses.settle_s)
        return step_account(plan, sent, ran, self._route, _FIRST_MARK)

    def reset(self, plan: ResetPlan) -> ResetResult:
        """Ends the device under load and starts it again, or has it reset its ports; the gap is that of the lost frames
        (RFC 6201, section 1.3).

        Raises `NotCapable`.
        """
        capabilities, device = self._abilities(), self._device
        if plan.kind not in capabilities.resets or device is None:
            raise NotCapable(capabilities.why_not(plan.kind, f"does no reset of the {plan.kind}"))
        capabilities.check(plan)
        reasons: list[str] = []
        try:
            self._prepare(plan, {"pps": plan.load_fps})
            self._ask("begin", _TELL_S, self._check_server, seconds=0, cores_per_pair=self._cores)
            try:
                device.wait_for_load()
                if plan.kind is ResetKind.PORT:
                    device.reset_ports(plan.patience_s)
                else:
                    device.restart()
                device.wait_for_load()
            except ProcessError as error:
                reasons.append(str(error))
            pauses = self._setup.pauses
            ran = self._counted("end", pauses.residual_s + _TELL_S, residual_s=pauses.residual_s)
        except TrexError as error:
            return ResetResult(
                plan=plan, sent=0, lost=0, gap_s=None, valid=False, reasons=[*reasons, *self._refused(error)]
            )
        self._counts = self._settled()
        time.sleep(self._setup.pauses.settle_s)
        return reset_account(plan, ran, self._route).invalidated(reasons)

    def replayed(self, plan: AnyPlan) -> None:
        """Nothing depends on it."""

    def close(self) -> None:
        """Ends the client, the device and, if it was started here, the server. May be called again.

        Raises `GeneratorError` if the device did not end well.
        """
        device, self._device = self._device, None
        try:
            if not self._bridge_is_gone():
                with contextlib.suppress(GeneratorError):
                    self._bridge.ask("close")
            if device is not None:
                device.close()
        finally:
            self._cleanup.close()

    def _refused(self, error: TrexError) -> list[str]:
        """Why a trial does not count that TRex refused.

        Raises `GeneratorError` if there will be no other.
        """
        if error.kind != "trex":
            # It ends the campaign, which then says how to go on.
            raise GeneratorError(f"{error}: start it again") from error
        self._counts = self._settled()
        return [str(error)]

    def _join(self) -> TrexBridge:
        """Starts what is to be started here, the device first: a memif client finds its server when it starts."""
        setup, settings = self._setup, self._setup.settings
        bridge = TrexBridge(setup.home, settings.python, setup.logs)
        self._cleanup.enter_context(bridge)
        bridge.ask("load")
        joined = setup.joined
        if joined is not None:
            joined.prepare()
            if not joined.comes_second:
                self._begin_device(joined)
        if settings.launch is not None:
            self._server = start_server(setup.home, settings, setup.logs)
            self._cleanup.callback(self._server.close)
        told = self._connected(bridge)
        if joined is not None and joined.comes_second:
            self._begin_device(joined)
        self._version, self._api = told["version"]["version"], told["api"]
        self._cores = told["cores_per_pair"] or 1
        self._ports = self._acquired(bridge)
        # For whoever reads the results: what the server is, and what its ports are.
        seen = {"server": told["version"], "client_api": self._api, "cores_per_pair": self._cores, "ports": self._ports}
        write_atomically(setup.logs / "trex.json", json.dumps(seen, indent=2) + "\n")
        self._route = self._route.model_copy(update={"virtual": all(port["virtual"] for port in self._ports)})
        if self._device is not None:
            self._counts = self._device.counts()
        return bridge

    def _begin_device(self, device: JoinedDevice) -> None:
        self._device = device
        self._cleanup.callback(self._close_device, device)
        device.begin()

    @staticmethod
    def _close_device(device: JoinedDevice) -> None:
        # A second time after `close`, which has told what went wrong.
        with contextlib.suppress(GeneratorError):
            device.close()

    def _connected(self, bridge: TrexBridge) -> dict[str, Any]:
        """Connects; a server that was just started may take some time."""
        settings = self._setup.settings
        words = settings.model_dump(include={"user", "sync_port", "async_port"}) | {"server": settings.address}
        deadline = time.monotonic() + (settings.launch.patience_s if settings.launch is not None else 0.0)
        while True:
            try:
                return bridge.ask("connect", _TELL_S, self._watch, **words)
            except TrexError as error:
                if error.kind != "unreachable" or time.monotonic() >= deadline:
                    raise

    def _acquired(self, bridge: TrexBridge) -> list[dict[str, Any]]:
        """Takes the ports; a link that was just made may take a moment."""
        settings = self._setup.settings
        deadline = time.monotonic() + (settings.launch.patience_s if settings.launch is not None else 0.0)
        while True:
            try:
                asked = {"ports": settings.ports, "force": settings.force}
                return bridge.ask("acquire", _TELL_S, self._watch, **asked)["ports"]
            except TrexError as error:
                if error.kind != "link" or time.monotonic() >= deadline:
                    raise
                time.sleep(_LOOK_S)

    @property
    def _line_rate_bps(self) -> float | None:
        """As the scenario says, or else a NIC's link; a virtual device's speed is an invention."""
        if self._setup.settings.line_rate_bps is not None or self._route.virtual:
            return self._setup.settings.line_rate_bps
        speeds = [port["speed"] for port in self._ports if port["speed"]]
        return 1e9 * min(speeds) if speeds else None

    def _latency_comes_back(self) -> bool:
        """Whether one frame that measures latency, there and back, is known as such: some NICs lose each of them."""
        smallest = min(frame for size in self._setup.sizes for frame in frames_of(size))
        stream = Stream(size=smallest, directions=self._setup.directions)
        ran = self._ran(stream, {"latency_packets": 1, "latency_pps": _PROBE_FPS, "pps": 0}, _PROBE_S, _TELL_S)
        return latency(ran.latency, ran.flow_stats) is not None

    def _highest_rate(self, size: Size, overheads: list[float]) -> float:
        """The link's rate if it is kept, else a little less than a rate that it was seen to keep, found from above."""
        whole_bytes = self._abilities().one_piece_bytes
        flows = 1 if whole_bytes is not None and longest((size,)) > whole_bytes else max(self._setup.flows)
        stream = Stream(size=size, directions=self._setup.directions, flows=flows)
        line_fps = line_rate_fps(size, self._line_rate_bps or _UNKNOWN_BPS)
        rate_fps, seconds = line_fps, self._setup.settings.warm_up_s
        for _ in range(_CALIBRATIONS):
            begin = time.monotonic()
            words, for_s = self._load(stream, rate_fps, 0.0, seconds)
            ran = self._ran(stream, words, for_s, seconds + _LATE_S)
            pauses = self._setup.pauses
            overheads.append(time.monotonic() - begin - ran.measured_s - pauses.before_s - pauses.residual_s)
            sent = sum(ran.ports[port].opackets for port in self._route.tx_ports) + (ran.queue_drop or 0)
            if sent and not any(ran.ports[port].ipackets for port in self._route.rx_ports):
                raise GeneratorError(
                    f"none of {sent} frames came back through the device: look at the cables, at ports in the scenario "
                    "and at the addresses in TRex's configuration"
                )
            offered_fps = sent / ran.duration_s(seconds) / stream.directions
            # On a virtual wire a full queue is the device's.
            full = ran.whole.get("queue_full") or (ran.queue_drop and not self._route.virtual)
            if offered_fps >= (1 - _KEPT) * rate_fps and not full:
                return rate_fps if rate_fps == line_fps and self._line_rate_bps else _ASKED * rate_fps
            # As fast as it asks for, with a queue that was full at times, is a little too fast.
            rate_fps = _SUSTAINED * min(offered_fps, rate_fps)
            if rate_fps <= 0:
                break
        raise GeneratorError(
            f"TRex kept no rate in {_CALIBRATIONS} tries with {size_in_words(size)}: give it more cores (-c), or see "
            "what else its CPUs do"
        )

    def _trial(self, plan: TrialPlan) -> TrialResult:
        stamped_fps = min(self._setup.settings.latency_fps, plan.load_fps / 2) if plan.latency else 0.0
        words, seconds = self._load(plan, plan.load_fps, stamped_fps, plan.duration_s)
        if plan.burst_frames is not None:
            words, seconds = words | {"packets": plan.burst_frames}, 0.0
        ran = self._ran(plan, words, seconds, plan.duration_s * (1 + _LATE_SHARE) + _LATE_S)
        before, self._counts = self._counts, self._settled()
        result = account(plan, ran, self._route, before, self._counts)
        if is_mixture(plan.size):
            counts = words["packets"], words["latency_packets"]
            result = with_sizes(result, ran, self._route, _FIRST_MARK, counts)
        return judged(result)

    @staticmethod
    def _load(stream: Stream, fps: float, stamped_fps: float, seconds: float) -> tuple[dict[str, Any], float]:
        """What the profile is told, and how long the server is to send: 0 where the frames are counted out."""
        words: dict[str, Any] = {"pps": fps - stamped_fps, "latency_pps": stamped_fps}
        if not is_mixture(stream.size):
            return words, seconds
        plain, stamped = counted_out(fps, stamped_fps, seconds)
        return words | {"packets": plain, "latency_packets": stamped}, 0.0

    def _ran(self, stream: Stream, words: dict[str, Any], seconds: float, limit_s: float) -> Ran:
        """Loads streams, lets them run and tells what TRex counted."""
        self._prepare(stream, words)
        pauses = self._setup.pauses
        return self._counted(
            "run",
            limit_s + pauses.residual_s + _TELL_S,
            cores_per_pair=self._cores,
            seconds=seconds,
            limit_s=limit_s,
            residual_s=pauses.residual_s,
        )

    def _prepare(self, stream: Stream, words: dict[str, Any]) -> None:
        """Loads streams, and sends learning frames if the scenario says so."""
        settings, pauses = self._setup.settings, self._setup.pauses
        frames = {"mix": tunable(stream.size)} if is_mixture(stream.size) else {"size": stream.size}
        tunables = {
            **frames,
            "flows": stream.flows,
            "vary": settings.vary,
            "flow_stats": int(settings.flow_stats),
            "pg_id": _FIRST_MARK,
            **words,
        }
        self._ask(
            "prepare",
            pauses.before_s + _TELL_S,
            self._watch,
            profile=str(trex_folder() / PROFILE),
            tunables={name: f"{value:.6f}" if isinstance(value, float) else value for name, value in tunables.items()},
            rx_ports=self._route.rx_ports,
            learn=settings.learn,
            before_s=pauses.before_s,
        )
        if settings.learn:
            # The device has got them too.
            self._counts = self._settled()

    def _ask(self, action: str, takes_s: float, watch: Callable[[], None], **words: Any) -> dict[str, Any]:
        return self._bridge.ask(action, takes_s, watch, tx_ports=self._route.tx_ports, **words)

    def _counted(self, action: str, takes_s: float, **words: Any) -> Ran:
        told = self._ask(action, takes_s, self._watch, **words)
        try:
            return Ran.model_validate(told)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise GeneratorError(f"TRex's statistics are not as expected: {field}: {first['msg']}") from error

    def _settled(self) -> Counts | None:
        """The device's counters after the last frame of a trial."""
        return self._device.counts() if self._device is not None else None

    def _check_server(self) -> None:
        """Raises `GeneratorError` if it is gone."""
        if self._server is not None:
            self._server.check()

    def _watch(self) -> None:
        """Raises `GeneratorError` if the server or the device is gone."""
        self._check_server()
        if self._device is not None:
            self._device.check()

    def _bridge_is_gone(self) -> bool:
        return self._bridge.returncode is not None
