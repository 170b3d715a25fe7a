# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The device under test that TRex is joined to, with the ports that the scenario gives it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from testbed.campaign.backend import GeneratorError
from testbed.campaign.devices.device import START_TIMEOUT_S, Counts, DeviceKind, Joint, RunningDevice
from testbed.campaign.trex_settings import TrexForwarder
from testbed.process import ProcessError

# Forwarders print their statistics once a second.
_COUNTS_S = 10.0


class JoinedDevice:
    """A device, started when TRex is. Every method raises `GeneratorError` if it is gone."""

    def __init__(self, kind: DeviceKind, settings: TrexForwarder, hugepages: bool, longest: int, log_dir: Path) -> None:
        self._kind = kind
        self._sockets = _memif_sockets(settings.vdevs)
        self._joint = Joint(
            lcore=settings.lcore,
            hugepages=hugepages,
            vdevs=tuple(settings.vdevs),
            nics=tuple(settings.nics),
            ports=len(settings.nics or settings.vdevs),
            # Bytes of the longest frame to come, with FCS.
            longest=longest,
            log_dir=log_dir,
        )
        self._cleanup = contextlib.ExitStack()
        self._device: RunningDevice | None = None

    def begin(self) -> None:
        """Starts it, and returns when it forwards: a memif client finds its server when it starts."""
        for socket in self._sockets:
            # One that a killed device has left: a new one could not listen there.
            socket.parent.mkdir(parents=True, exist_ok=True)
            socket.unlink(missing_ok=True)
        try:
            self._cleanup.enter_context(self._kind.ground)
            self._device = self._kind.begin(self._joint, "device")
            self._cleanup.push(self._device.process.__exit__)
            self._device.ready(START_TIMEOUT_S)
        except ProcessError as error:
            raise GeneratorError(str(error)) from error

    def counts(self) -> Counts | None:
        """Its counters, all frames that it has got until now included; None of one that does not count."""
        if not self._kind.counts_frames:
            return None
        try:
            return self._running().counts(_COUNTS_S)
        except ProcessError as error:
            raise GeneratorError(str(error)) from error

    def check(self) -> None:
        """Sees that it runs."""
        process = self._running().process
        if (trouble := process.trouble()) is not None:
            raise GeneratorError(str(process.failure(f"{trouble} in the middle of the campaign")))

    def close(self) -> None:
        """Ends it, and sees that it ended well. May be called again."""
        device, self._device = self._device, None
        try:
            if device is not None and device.is_ready:
                device.stop()
        except ProcessError as error:
            raise GeneratorError(str(error)) from error
        finally:
            self._cleanup.close()
            for socket in self._sockets:
                socket.unlink(missing_ok=True)
                with contextlib.suppress(OSError):
                    socket.parent.rmdir()

    def _running(self) -> RunningDevice:
        assert self._device is not None, "it was begun"
        return self._device


def _memif_sockets(vdevs: list[str]) -> set[Path]:
    """Where memif servers among these devices will listen."""
    found = set()
    for vdev in vdevs:
        words = dict(word.partition("=")[::2] for word in vdev.split(","))
        if vdev.startswith("net_memif") and words.get("role") == "server" and words.get("socket-abstract") == "no":
            found.add(Path(words["socket"]))
    return found
