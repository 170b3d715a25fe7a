# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The format of the test frames, which the report has to name (RFC 2544, section 8), by generator.

The embedded generator's is in `testbed/generator/src/frame/`, TRex's in `testbed/trex/l2fwd.py`.
"""

from __future__ import annotations

from testbed.campaign.embedded.settings import Embedded
from testbed.campaign.scenario import Frames, Scenario
from testbed.campaign.sizes import frames_of, is_mixture
from testbed.campaign.trex.settings import Trex

_FCS = "FCS: 4 bytes, which the frame sizes include."
_MIXED = "Of the mixture {name} the frames have, in this order again and again, {sizes} bytes{proof}."
_UNPROVEN = "; so they are due, each from a stream of its own, and the order in which they left is not proven"
_MOST_LISTED = 24


def frame_format(scenario: Scenario) -> list[str]:
    """A sentence for each part of the frame; of a model, which sends none, what it does not depend on."""
    generator, frames = scenario.generator, scenario.frames
    if isinstance(generator, Embedded):
        parts = _embedded(frames)
    elif isinstance(generator, Trex):
        parts = _trex(generator, frames)
    else:
        return [f"{words}: no figure of a model depends on it." for words in frames.in_words]
    mixtures = [str(size) for size in scenario.frames.sizes if is_mixture(size)]
    proof = _UNPROVEN if isinstance(generator, Trex) else ""
    told = [_MIXED.format(name=name, sizes=_listed(frames_of(name)), proof=proof) for name in mixtures]
    return [*parts, _FCS, *told]


def _ethernet(frames: Frames) -> str:
    """What is between the addresses and the end of the Ethernet header."""
    kind = "type 0x86dd" if frames.ipv6 and frames.vxlan is None else "type 0x0800"
    match frames.vlan:
        case []:
            return f"{kind}; no VLAN tag"
        case [vlan]:
            tags = f"tag 0x8100 (802.1Q) of VLAN {vlan}"
        case [service, vlan, *_]:
            tags = f"service tag 0x88a8 (802.1ad) of VLAN {service}, tag 0x8100 of VLAN {vlan}"
    return f"{tags}, priority 0, {kind}; sizes count the tags, 4 bytes each"


def _destination(ports: int) -> str:
    """As `generator/src/run.rs` has it."""
    first = "02:00:00:00:01:00"
    return first if ports == 1 else f"{first} to 02:00:00:00:01:{ports - 1:02x}, one for each port"


def _tunnel(frames: Frames) -> list[str]:
    if frames.vxlan is None:
        return []
    return [
        f"VXLAN (RFC 7348) of network {frames.vxlan} around each frame: IPv4 from 198.18.0.0 to 198.19.0.0, time to "
        "live 64, UDP from port 49152 to 4789 without checksum, one flow for a device that does not look inside. "
        "Sizes count its 50 bytes. Inside: Ethernet from 02:00:00:00:02:00 to 02:00:00:00:03:00, "
        f"type {'0x86dd' if frames.ipv6 else '0x0800'}, no VLAN tag, and:"
    ]


def _embedded(frames: Frames) -> list[str]:
    flows = max(frames.flows)
    (first, last), (port, last_port) = frames.destinations(flows), frames.source_ports(flows)
    to = f"{first} to {last}, one after another" if flows > 1 else first
    ports = f"{port} to {last_port}, {flows} flows with the addresses," if last_port > port else str(port)
    ip = (
        "IPv6: 40 bytes, no extension headers, traffic class and flow label 0, hop limit 64, of the network for "
        "benchmarks 2001:2::/48 (RFC 5180),"
        if frames.ipv6
        else "IPv4: 20 bytes, no options, not to be fragmented, time to live 64,"
    )
    return [
        f"Ethernet: from the generator's address to {_destination(frames.most_ports)}, {_ethernet(frames)}.",
        *_tunnel(frames),
        f"{ip} from {frames.source} to {to}.",
        f"UDP: from port {ports} to 10000, with checksum.",
        "Payload: magic number 0x6c32, session, stream, sequence number of 48 bits, time stamp of 64 bits; then up to "
        "the frame's size the bytes (n modulo 251) XOR 0x5a, counted from 0.",
        "ARP requests and neighbour solicitations of the device for these addresses are answered and not counted.",
    ]


def _trex(generator: Trex, frames: Frames) -> list[str]:
    flows = max(frames.flows)
    many = {
        "destination": f"the destination address is one of {flows}, one after another",
        "article": f"both addresses and both UDP ports change from frame to frame, {flows} values of each port",
    }[generator.vary]
    ip = (
        f"IPv6: 40 bytes, no extension headers, hop limit 64, from {frames.source}; UDP with a checksum, which the "
        "NIC adds where there are flows"
        if frames.ipv6
        else "IPv4: 20 bytes, no options, time to live 64; UDP with checksum"
    )
    return [
        f"Ethernet: addresses of TRex's configuration, {_ethernet(frames)}.",
        *_tunnel(frames),
        f"{ip}; as testbed/trex/l2fwd.py makes them" + (f": {many}." if flows > 1 else ", one flow."),
        "Payload: zeros; of latency frames TRex's own 16 bytes at the end.",
    ]


def _listed(sizes: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, sizes[:_MOST_LISTED]))
    return shown if len(sizes) <= _MOST_LISTED else f"{shown} … ({len(sizes)} in all)"
