# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The load of a trial, as the generator's command line has it."""

from __future__ import annotations

from testbed.campaign.devices.device import Macs
from testbed.campaign.embedded.setup import EmbeddedSetup
from testbed.campaign.sizes import in_runs
from testbed.campaign.trial import Stream
from testbed.wire.generator import Load
from testbed.wire.virtual_wire import Wire


def trial_load(
    setup: EmbeddedSetup,
    wire: Wire,
    stream: Stream,
    rate_fps: float,
    seconds: float,
    frames: int | None = None,
    each_second: bool = False,
) -> Load:
    """This stream at this rate, for so long or for so many frames; perhaps each second is reported meanwhile."""
    ports = tuple(range(setup.ports))
    fields = setup.headers.options(stream.flows)
    pauses = setup.pauses
    fields += (f"--before={pauses.before_s:g}",) if pauses.before_s else ()
    fields += () if each_second else ("--quiet",)
    return Load(
        ports=ports,
        size=in_runs(stream.size),
        seconds=seconds,
        **_expected_macs(setup.kind.macs, wire, ports),
        residual_wait_s=pauses.residual_s,
        rate_pps=rate_fps,
        frames=frames,
        queues=setup.queues,
        more=(*fields, *_ways(stream)),
    )


def _ways(stream: Stream) -> tuple[str, ...]:
    if stream.directions == 1:
        return ()
    share = stream.reverse_share
    return ("--bidirectional", *((f"--reverse-share={share!r}",) if share < 1 else ()))


def _expected_macs(macs: Macs, wire: Wire, ports: tuple[int, ...]) -> dict[str, str | None]:
    """The addresses that frames must come back with at each port; None where nothing is checked."""
    # What the generator sends to, from the port at the other end.
    others = ports if len(ports) == 1 else [port ^ 1 for port in ports]
    sent_to = ",".join(f"02:00:00:00:01:{port:02x}" for port in others)
    match macs:
        case Macs.L2FWD:
            sources = ",".join(wire.forwarder_mac(port) for port in ports)
            return {"expect_src": sources, "expect_dst": ",".join(f"02:00:00:00:00:{port:02x}" for port in ports)}
        case Macs.SWAPPED:
            return {"expect_src": sent_to, "expect_dst": None}
        case Macs.KEPT:
            return {"expect_src": None, "expect_dst": sent_to}
        case _:
            return {"expect_src": None, "expect_dst": None}
