# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""TRex as the generator of a campaign: a server with its ports joined to the device, driven through its own client."""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from testbed.campaign.backend import Capabilities, GeneratorError, NotCapable, Pauses
from testbed.campaign.devices.device import Counts
from testbed.campaign.trex_account import Ran, Route, account
from testbed.campaign.trex_bridge import TrexBridge, TrexError, trex_folder
from testbed.campaign.trex_device import JoinedDevice
from testbed.campaign.trex_latency import latency
from testbed.campaign.trex_server import TrexServer, start_server
from testbed.campaign.trex_settings import Trex
from testbed.campaign.trial import (
    AnyPlan,
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
# TRex makes frames up to this length (without FCS) in one piece. Longer ones with fields that change or with a stamp
# are chains of mbufs, after which DPDK 25.07's memif device, which TRex 3.08 has, mixes up frames: it leaves the mark
# of a chain in its descriptors (`eth_memif_tx`).
_ONE_PIECE_BYTES = 128
_FCS_BYTES = 4
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
    sizes: tuple[int, ...]
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
            self._cleanup.close()
            if isinstance(error, ProcessError):
                raise GeneratorError(str(error)) from error
            raise

    def capabilities(self) -> Capabilities:
        """What it can do with this device; takes a while the first time, for the probe and the highest rates."""
        if self._capabilities is None:
            measures_latency = self._latency_comes_back()
            overheads: list[float] = []
            rates = {size: self._highest_rate(size, overheads) for size in self._setup.sizes}
            self._counts = self._settled()
            self._capabilities = Capabilities(
                generator="trex",
                version=f"{self._version} (client API {self._api})",
                line_rate_bps=self._line_rate_bps,
                max_fps_by_size=rates,
                directions=self._setup.directions,
                flows=1 << 20,
                latency=measures_latency,
                burst=True,
                pauses=self._setup.pauses,
                overhead_s=max(0.0, sum(overheads) / len(overheads)),
            )
        return self._capabilities

    def run(self, plan: TrialPlan) -> TrialResult:
        """One trial. What TRex refuses makes it invalid; a server or a device that is gone ends the campaign.

        Raises `NotCapable` for frames that memif mixes up.
        """
        if self._in_pieces(plan.size) and (plan.latency or plan.flows > 1):
            what = "latency" if plan.latency else "flows"
            raise NotCapable(
                f"over memif TRex has {what} only with frames of up to {_ONE_PIECE_BYTES + _FCS_BYTES} bytes: it sends "
                "longer ones in pieces, which DPDK's memif device mixes up"
            )
        try:
            result = self._trial(plan)
        except TrexError as error:
            if error.kind != "trex":
                raise _resumable(error) from error
            self._counts = self._settled()
            return TrialResult(
                plan=plan, sent=0, received=0, lost=0, offered_fps=0, duration_s=0, valid=False, reasons=[str(error)]
            )
        time.sleep(self._setup.pauses.settle_s)
        return result

    def step(self, plan: StepPlan) -> StepResult:
        """Raises `NotCapable`: TRex does not tell when the last frame was lost."""
        raise NotCapable("TRex counts lost frames, but does not tell when the last one was lost")

    def reset(self, plan: ResetPlan) -> ResetResult:
        """Raises `NotCapable`."""
        raise NotCapable(f"no reset of the {plan.kind} is done under load from TRex")

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

    def _join(self) -> TrexBridge:
        """Starts what is to be started here, the device first: a memif client finds its server when it starts."""
        setup, settings = self._setup, self._setup.settings
        bridge = TrexBridge(setup.home, settings.python, setup.logs)
        self._cleanup.enter_context(bridge)
        bridge.ask("load")
        if setup.joined is not None:
            self._device = setup.joined
            self._cleanup.callback(self._close_device, self._device)
            self._device.begin()
        if settings.launch is not None:
            self._server = start_server(setup.home, settings, setup.logs)
            self._cleanup.push(self._server)
        told = self._connected(bridge)
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

    @staticmethod
    def _close_device(device: JoinedDevice) -> None:
        # A second time after `close`, which has told what went wrong.
        with contextlib.suppress(GeneratorError):
            device.close()

    def _connected(self, bridge: TrexBridge) -> dict[str, Any]:
        """Connects; a server that was just started may take some time."""
        settings = self._setup.settings
        words = settings.model_dump(include={"user", "server", "sync_port", "async_port"})
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

    def _in_pieces(self, size: int) -> bool:
        """Whether frames that change would be sent in pieces which the device mixes up."""
        memif = any("memif" in (port["driver"] or "") for port in self._ports)
        return memif and size - _FCS_BYTES > _ONE_PIECE_BYTES

    def _latency_comes_back(self) -> bool:
        """Whether one frame that measures latency, there and back, is known as such: some NICs lose each of them."""
        stream = Stream(size=min(self._setup.sizes), directions=self._setup.directions)
        ran = self._ran(stream, {"latency_packets": 1, "latency_pps": _PROBE_FPS, "pps": 0}, _PROBE_S, _TELL_S)
        return latency(ran.latency, ran.flow_stats) is not None

    def _highest_rate(self, size: int, overheads: list[float]) -> float:
        """The link's rate if it is kept, else a little less than a rate that it was seen to keep, found from above."""
        flows = 1 if self._in_pieces(size) else max(self._setup.flows)
        stream = Stream(size=size, directions=self._setup.directions, flows=flows)
        line_fps = line_rate_fps(size, self._line_rate_bps or _UNKNOWN_BPS)
        rate_fps, seconds = line_fps, self._setup.settings.warm_up_s
        for _ in range(_CALIBRATIONS):
            begin = time.monotonic()
            ran = self._ran(stream, {"pps": rate_fps}, seconds, seconds + _LATE_S)
            pauses = self._setup.pauses
            overheads.append(time.monotonic() - begin - ran.measured_s - pauses.before_s - pauses.residual_s)
            sent = sum(ran.ports[port].opackets for port in self._route.tx_ports) + (ran.queue_drop or 0)
            if sent and not any(ran.ports[port].ipackets for port in self._route.rx_ports):
                raise GeneratorError(
                    f"none of {sent} frames came back through the device: look at the cables, at ports in the scenario "
                    "and at the addresses in TRex's configuration"
                )
            offered_fps = sent / ran.duration_s(seconds) / stream.directions
            if offered_fps >= (1 - _KEPT) * rate_fps and not ran.whole.get("queue_full"):
                return rate_fps if rate_fps == line_fps and self._line_rate_bps else _ASKED * rate_fps
            # As fast as it asks for, with a queue that was full at times, is a little too fast.
            rate_fps = _SUSTAINED * min(offered_fps, rate_fps)
            if rate_fps <= 0:
                break
        raise GeneratorError(
            f"TRex kept no rate in {_CALIBRATIONS} tries with {size} bytes: give it more cores (-c), or see what else "
            "its CPUs do"
        )

    def _trial(self, plan: TrialPlan) -> TrialResult:
        stamped_fps = min(self._setup.settings.latency_fps, plan.load_fps / 2) if plan.latency else 0.0
        words: dict[str, Any] = {"pps": plan.load_fps - stamped_fps, "latency_pps": stamped_fps}
        words |= {"packets": plan.burst_frames} if plan.burst_frames is not None else {}
        seconds = 0.0 if plan.kind == "burst" else plan.duration_s
        ran = self._ran(plan, words, seconds, plan.duration_s * (1 + _LATE_SHARE) + _LATE_S)
        before, self._counts = self._counts, self._settled()
        return judged(account(plan, ran, self._route, before, self._counts))

    def _ran(self, stream: Stream, words: dict[str, Any], seconds: float, limit_s: float) -> Ran:
        """Loads streams, lets them run and tells what TRex counted."""
        settings, pauses = self._setup.settings, self._setup.pauses
        tunables = {
            "size": stream.size,
            "flows": stream.flows,
            "vary": settings.vary,
            "flow_stats": int(settings.flow_stats),
            **words,
        }
        ask = self._bridge.ask
        ask(
            "prepare",
            pauses.before_s + _TELL_S,
            self._watch,
            profile=str(trex_folder() / PROFILE),
            tunables={name: f"{value:.6f}" if isinstance(value, float) else value for name, value in tunables.items()},
            tx_ports=self._route.tx_ports,
            rx_ports=self._route.rx_ports,
            learn=settings.learn,
            before_s=pauses.before_s,
        )
        if settings.learn:
            # The device has got them too.
            self._counts = self._settled()
        told = ask(
            "run",
            limit_s + pauses.residual_s + _TELL_S,
            self._watch,
            tx_ports=self._route.tx_ports,
            cores_per_pair=self._cores,
            seconds=seconds,
            limit_s=limit_s,
            residual_s=pauses.residual_s,
        )
        try:
            return Ran.model_validate(told)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise GeneratorError(f"TRex's statistics are not as expected: {field}: {first['msg']}") from error

    def _settled(self) -> Counts | None:
        """The device's counters after the last frame of a trial."""
        return self._device.counts() if self._device is not None else None

    def _watch(self) -> None:
        """Raises `GeneratorError` if the server or the device is gone."""
        if self._server is not None:
            self._server.check()
        if self._device is not None:
            self._device.check()

    def _bridge_is_gone(self) -> bool:
        return self._bridge.returncode is not None


def _resumable(error: TrexError) -> GeneratorError:
    """What ends the campaign, which then says how to go on."""
    return GeneratorError(f"{error}: start it again")
