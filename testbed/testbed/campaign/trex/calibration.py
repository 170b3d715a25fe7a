# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The load of TRex's profile, and the highest rate that TRex keeps, tried before the first trial."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

from testbed.campaign.sizes import Size, is_mixture, longest, size_in_words
from testbed.campaign.traffic_generator import Capabilities, GeneratorError
from testbed.campaign.trex.account import Ran, Route
from testbed.campaign.trex.mixture import counted_out
from testbed.campaign.trex.setup import TrexSetup
from testbed.campaign.trial import Stream, line_rate_fps

# How much longer than planned the server may take before its traffic is stopped.
LATE_S = 2.0
# The highest rate over a link of unknown rate: 100 Gbit/s.
_UNKNOWN_BPS = 100e9
_CALIBRATIONS = 8
# The rate that it can keep is lower than the rate at which it sends when it is always late.
_SUSTAINED = 0.95
# A rate counts as kept if it is off by no more than this share; so much of it is asked for.
_KEPT = 0.003
_ASKED = 0.97


class RunStream(Protocol):
    """Has the server send, and returns what it counted."""

    def __call__(self, stream: Stream, words: dict[str, Any], seconds: float, limit_s: float) -> Ran:
        """The arguments of the profile."""
        ...


def trial_load(stream: Stream, fps: float, stamped_fps: float, seconds: float) -> tuple[dict[str, Any], float]:
    """The arguments of the profile, and how long the server sends: 0 if the number of frames is given."""
    words: dict[str, Any] = {"pps": fps - stamped_fps, "latency_pps": stamped_fps}
    if not is_mixture(stream.size):
        return words, seconds
    plain, stamped = counted_out(fps, stamped_fps, seconds)
    return words | {"packets": plain, "latency_packets": stamped}, 0.0


def highest_rate(
    setup: TrexSetup,
    able: Capabilities,
    route: Route,
    size: Size,
    run: RunStream,
    overheads: list[float],
    not_fetched: Callable[[], int] = lambda: 0,
) -> float:
    """The link's rate if it is kept, else a little less than a rate that it was seen to keep, found from above.

    `not_fetched` says how many frames the device could not send since the last call, since TRex did not fetch others.
    """
    whole_bytes = able.one_piece_bytes
    flows = 1 if whole_bytes is not None and longest((size,)) > whole_bytes else max(setup.flows)
    stream = Stream(size=size, directions=setup.directions, flows=flows)
    line_fps = line_rate_fps(size, able.line_rate_bps or _UNKNOWN_BPS)
    rate_fps, seconds = line_fps, setup.settings.warm_up_s
    for _ in range(_CALIBRATIONS):
        begin = time.monotonic()
        words, for_s = trial_load(stream, rate_fps, 0.0, seconds)
        ran = run(stream, words, for_s, seconds + LATE_S)
        pauses = setup.pauses
        overheads.append(time.monotonic() - begin - ran.measured_s - pauses.before_s - pauses.residual_s)
        sent = sum(ran.ports[port].opackets for port in route.tx_ports) + (ran.queue_drop or 0)
        if sent and not any(ran.ports[port].ipackets for port in route.rx_ports):
            raise GeneratorError(
                f"none of {sent} frames came back through the device: check the cables, ports in the scenario "
                "and at the addresses in TRex's configuration"
            )
        offered_fps = sent / ran.duration_s(seconds) / stream.directions
        # On a virtual wire a full queue is the device's.
        full = ran.whole.get("queue_full") or (ran.queue_drop and not route.virtual)
        behind = not_fetched() > _KEPT * sent
        if offered_fps >= (1 - _KEPT) * rate_fps and not full and not behind:
            return rate_fps if rate_fps == line_fps and able.line_rate_bps else _ASKED * rate_fps
        # As fast as it asks for, with a queue that was full at times, is a little too fast.
        rate_fps = _SUSTAINED * min(offered_fps, rate_fps)
        if behind:
            fetched = sum(ran.ports[port].ipackets for port in route.rx_ports)
            rate_fps = min(rate_fps, _SUSTAINED * fetched / ran.duration_s(seconds) / stream.directions)
        if rate_fps <= 0:
            break
    raise GeneratorError(
        f"TRex kept no rate in {_CALIBRATIONS} tries with {size_in_words(size)}: give it more cores (-c), or see "
        "what else its CPUs do"
    )
