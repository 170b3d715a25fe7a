# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The device under test that TRex is joined to, with the ports that the scenario gives it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from testbed.campaign.devices.device import START_TIMEOUT_S, Counts, DeviceKind, Joint, RunningDevice, wait_for_load
from testbed.campaign.sides import Side
from testbed.campaign.traffic_generator import GeneratorError
from testbed.campaign.trex.settings import TrexForwarder
from testbed.run.process import ProcessError

# Forwarders print their statistics once a second.
_COUNTS_S = 10.0
# From the start of the load, or of the device, to its first frame: links of NICs take seconds to come up.
_TO_LOAD_S = 30.0


class JoinedDevice:
    """A device, started before TRex or, if it is the client of its memif wires, after it.

    Every method raises `GeneratorError` if it is gone.
    """

    def __init__(self, kind: DeviceKind, settings: TrexForwarder, hugepages: bool, longest: int, log_dir: Path) -> None:
        self._kind = kind
        self._sockets = _memif_sockets(settings.vdevs)
        # Those that are removed at the end.
        self._own_sockets: set[Path] = set()
        self._joint = Joint(
            lcores=settings.lcore,
            hugepages=hugepages,
            vdevs=tuple(settings.vdevs),
            nics=settings.allowed_nics,
            ports=settings.port_count,
            queues=-(-len(settings.lcore) // settings.port_count),
            # Bytes of the longest frame to come, with FCS.
            longest=longest,
            log_dir=log_dir,
            descriptors=settings.descriptors,
        )
        self._cleanup = contextlib.ExitStack()
        self._device: RunningDevice | None = None
        self._starts = 0
        # Whether it must find TRex when it starts, rather than TRex it.
        self.comes_second = settings.memif_clients

    @property
    def counts_frames(self) -> bool:
        """Whether it reports its counters."""
        return self._kind.counts_frames

    @property
    def side(self) -> Side | None:
        """Its lcores and ports; None if it does not report them."""
        return None if self._device is None else self._device.side

    def prepare(self) -> None:
        """Makes room for the sockets of memif wires: this device, or a TRex that is yet to start, will listen there."""
        self._own_sockets = self._sockets
        for socket in self._sockets:
            # One that a killed device has left: a new one could not listen there.
            socket.parent.mkdir(parents=True, exist_ok=True)
            socket.unlink(missing_ok=True)

    def begin(self) -> None:
        """Starts it, and returns when it forwards."""
        try:
            self._cleanup.enter_context(self._kind.host)
            self._cleanup.callback(self._leave)
            self._start()
        except ProcessError as error:
            raise GeneratorError(str(error)) from error

    def restart(self) -> None:
        """Ends it and starts it again, and returns when it forwards.

        Raises `ProcessError` if it does not.
        """
        self._running().stop()
        self._leave()
        self._start()

    @property
    def no_port_reset(self) -> str | None:
        """Why its ports cannot be reset while it runs; None if they can."""
        return self._kind.no_port_reset

    def reset_ports(self, patience_s: float) -> None:
        """Has it stop its ports and start them again.

        Raises `ProcessError` if it does not.
        """
        self._running().reset_ports(patience_s)

    def wait_for_load(self) -> None:
        """Returns when it has received frames.

        Raises `ProcessError`.
        """
        wait_for_load(self._running(), _TO_LOAD_S)

    def _start(self) -> None:
        self._starts += 1
        name = "device" if self._starts == 1 else f"device-{self._starts}"
        self._device = self._kind.begin(self._joint, name)
        self._device.ready(START_TIMEOUT_S)

    def _leave(self) -> None:
        """Ends it however it is."""
        device, self._device = self._device, None
        if device is not None:
            device.process.__exit__()

    def counts(self) -> Counts | None:
        """Its counters, including all frames that it has received so far; None for a device without counters."""
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
        device = self._device
        try:
            if device is not None and device.is_ready:
                device.stop()
        except ProcessError as error:
            raise GeneratorError(str(error)) from error
        finally:
            self._cleanup.close()
            for socket in self._own_sockets:
                socket.unlink(missing_ok=True)
                with contextlib.suppress(OSError):
                    socket.parent.rmdir()

    def _running(self) -> RunningDevice:
        if self._device is None:
            raise GeneratorError("the device does not run any more: it did not start again after a reset")
        return self._device


def _memif_sockets(vdevs: list[str]) -> set[Path]:
    """The files through which these devices find their other ends."""
    found = set()
    for vdev in vdevs:
        words = dict(word.partition("=")[::2] for word in vdev.split(","))
        if vdev.startswith("net_memif") and words.get("socket-abstract") == "no" and "socket" in words:
            found.add(Path(words["socket"]))
    return found
