# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""TRex as the generator of a campaign: a server with its ports joined to the device, driven through its own client."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from testbed.campaign.devices.device import Counts
from testbed.campaign.sizes import frames_of, is_mixture
from testbed.campaign.traffic_generator import Capabilities, GeneratorError, NotCapable
from testbed.campaign.trex.abilities import abilities
from testbed.campaign.trex.account import Ran, Route, account, reset_account
from testbed.campaign.trex.bridge import TrexBridge, TrexError, trex_folder
from testbed.campaign.trex.calibration import LATE_S, highest_rate, trial_load
from testbed.campaign.trex.connection import REQUEST_S, acquire, connect
from testbed.campaign.trex.device import JoinedDevice
from testbed.campaign.trex.latency import LATENCY_DEFINITION, latency
from testbed.campaign.trex.mixture import tunable, with_sizes
from testbed.campaign.trex.server import TrexServer, start_server
from testbed.campaign.trex.setup import TrexSetup
from testbed.campaign.trex.side import trex_side
from testbed.campaign.trex.step import marked_streams, sequence, step_account
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
)
from testbed.campaign.validity import judged
from testbed.run.process import ProcessError
from testbed.run.results_folder import write_atomically

PROFILE = "l2fwd.py"
# A trial may take longer than planned by `LATE_S` and by this share of the plan.
_LATE_SHARE = 0.1
# The mark of the first frames, which the profile gives to port 0.
_FIRST_MARK = 10
# One frame there and back, before anything else.
_PROBE_FPS = 100.0
_PROBE_S = 0.5


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
            # Nothing else would end the started processes.
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
            rates = {
                size: highest_rate(self._setup, able, self._route, size, self._ran, overheads, self._not_fetched)
                for size in self._setup.sizes
            }
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
            latency_definition=LATENCY_DEFINITION,
            pauses=self._setup.pauses,
            generator_side=trex_side(self._version, self._setup.settings, self._ports),
            device_side=None if self._device is None else self._device.side,
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
        """Loads back to back, the last in slices.

        Raises `NotCapable` where frames carry no marks.
        """
        capabilities = self._abilities()
        if not capabilities.step:
            raise NotCapable(capabilities.why_not("step", "cannot do it"))
        capabilities.check(plan)
        sent, seconds = marked_streams(plan), sum(plan.durations_s)
        words = {"sequence": sequence(sent)}
        try:
            ran = self._ran(plan, words, 0.0, seconds * (1 + _LATE_SHARE) + LATE_S)
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
            self._ask("begin", REQUEST_S, self._check_server, seconds=0, cores_per_pair=self._cores)
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
            ran = self._counted("end", pauses.residual_s + REQUEST_S, residual_s=pauses.residual_s)
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
            # This ends the campaign, which then prints how to resume.
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
            # On the socket of a client listens TRex; one that somebody else runs listens there already.
            if settings.launch is not None or not joined.comes_second:
                joined.prepare()
            if not joined.comes_second:
                self._begin_device(joined)
        if settings.launch is not None:
            self._server = start_server(setup.home, settings, setup.logs)
            self._cleanup.callback(self._server.close)
        told = connect(bridge, settings, self._watch)
        if joined is not None and joined.comes_second:
            self._begin_device(joined)
        self._version, self._api = told["version"]["version"], told["api"]
        self._cores = told["cores_per_pair"] or 1
        self._ports = acquire(bridge, settings, self._watch)
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
        # Called again after `close`, which has reported the error.
        with contextlib.suppress(GeneratorError):
            device.close()

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
        ran = self._ran(stream, {"latency_packets": 1, "latency_pps": _PROBE_FPS, "pps": 0}, _PROBE_S, REQUEST_S)
        return latency(ran.latency, ran.flow_stats) is not None

    def _trial(self, plan: TrialPlan) -> TrialResult:
        stamped_fps = min(self._setup.settings.latency_fps, plan.load_fps / 2) if plan.latency else 0.0
        words, seconds = trial_load(plan, plan.load_fps, stamped_fps, plan.duration_s)
        if plan.burst_frames is not None:
            words, seconds = words | {"packets": plan.burst_frames}, 0.0
        ran = self._ran(plan, words, seconds, plan.duration_s * (1 + _LATE_SHARE) + LATE_S)
        before, self._counts = self._counts, self._settled()
        result = account(plan, ran, self._route, before, self._counts)
        if is_mixture(plan.size):
            counts = words["packets"], words["latency_packets"]
            result = with_sizes(result, ran, self._route, _FIRST_MARK, counts)
        return judged(result)

    def _ran(self, stream: Stream, words: dict[str, Any], seconds: float, limit_s: float) -> Ran:
        """Loads and runs streams; returns TRex's counts."""
        self._prepare(stream, words)
        pauses = self._setup.pauses
        return self._counted(
            "run",
            limit_s + pauses.residual_s + REQUEST_S,
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
            **self._setup.headers.tunables,
            "pg_id": _FIRST_MARK,
            **words,
        }
        self._ask(
            "prepare",
            pauses.before_s + REQUEST_S,
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

    def _not_fetched(self) -> int:
        """Frames since the last call that the device's full sending queue refused, where TRex empties that queue."""
        if not self._route.virtual:
            return 0
        before, self._counts = self._counts, self._settled()
        return self._counts.dropped - before.dropped if before is not None and self._counts is not None else 0

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
