# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""TRex's stream profile for a layer-2 forwarder: IPv4 or IPv6 and UDP, one size or a mixture, many flows.

In trex-console: ``start -f l2fwd.py -m 1mpps -t size=64,flows=1000`` (``-t --help`` lists the tunables). It imports
nothing but the client of the TRex tree that loads it.

A mixture has a stream for each of its frames: ``start -f l2fwd.py -t mix=64x7+594x4+1518,pps=1e6``. Each begins a frame
later than the one before, so that they take turns. With ``-m`` they would begin as far apart as at the rate of ``pps``.
"""

import argparse
import ipaddress
import re

from trex.stl import api
from trex.stl.api import (
    IP,
    STLVM,
    UDP,
    Ether,
    STLFlowLatencyStats,
    STLFlowStats,
    STLPktBuilder,
    STLStream,
    STLTXCont,
    STLTXSingleBurst,
)

# What the generator's hardware adds to a frame: the size with FCS is what RFC 2544 speaks of.
_FCS_BYTES = 4
# The networks for benchmarks (RFC 2544, appendix C.2.2): one half sends, the other receives.
_SOURCE, _DESTINATION = "198.18.0.0", "198.19.0.0"
# The same for IPv6 (RFC 5180, section 8).
_SOURCE_IPV6, _DESTINATION_IPV6 = "2001:2::1", "2001:2:0:1::1"
# Inside of a tunnel; its own ports (RFC 7348, section 5).
_INNER_SOURCE_MAC, _INNER_DESTINATION_MAC = "02:00:00:00:02:00", "02:00:00:00:03:00"
_VXLAN_SOURCE_PORT, _VXLAN_PORT = 49152, 4789
_UDP_PORT = 10000
# The addresses that the article's streams go through in each half: 10.x.y.1 to 10.x.(y + 59).254 there.
_ARTICLE_ADDRESSES = 15358
# Latency streams have numbers of their own; both are told apart by port.
_LATENCY_PG_ID = 64


class L2fwd:
    """Streams of one port."""

    def get_streams(self, port_id=0, direction=0, tunables=(), **_):
        """The streams that TRex asks for, a list of `STLStream`."""
        parser = _parser()
        asked = parser.parse_args(list(tunables))
        if asked.sequence:
            if any(frames % len(asked.mix or [0]) for _, frames in asked.sequence):
                parser.error(f"--sequence: give numbers of frames that are multiples of {len(asked.mix)}, as mix has")
            return _one_behind_the_other(asked, direction)
        if asked.mix:
            return _taking_turns(asked, direction)
        pg_id = asked.pg_id + port_id
        streams = []
        if asked.pps > 0:
            mode = STLTXCont(pps=asked.pps)
            if asked.packets:
                mode = STLTXSingleBurst(total_pkts=asked.packets, pps=asked.pps)
            counted = STLFlowStats(pg_id=pg_id) if asked.flow_stats else None
            streams.append(STLStream(packet=_packet(asked, asked.size, direction), mode=mode, flow_stats=counted))
        if asked.latency_pps > 0:
            mode = STLTXCont(pps=asked.latency_pps)
            if asked.latency_packets:
                mode = STLTXSingleBurst(total_pkts=asked.latency_packets, pps=asked.latency_pps)
            stamped = STLFlowLatencyStats(pg_id=pg_id + _LATENCY_PG_ID)
            streams.append(STLStream(packet=_packet(asked, asked.size, direction), mode=mode, flow_stats=stamped))
        return streams


def register():
    """What TRex calls."""
    return L2fwd()


def _parser():
    parser = argparse.ArgumentParser(prog="l2fwd.py", formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    add = parser.add_argument
    add("--size", type=int, default=64, help="bytes of a frame, with FCS; from 64")
    add("--mix", type=_sizes, default=[], help="sizes in place of size, in their order: 64x7+594x4+1518")
    add("--flows", type=int, default=1, help="flows, told apart by the destination address")
    add("--vlan", type=_vlans, default=[], help="VLAN tag, or a service tag and a tag after it: 100 or 100+200")
    add(
        "--vxlan",
        type=int,
        default=None,
        help="network identifier of a VXLAN tunnel around each frame, inside of its tags",
    )
    add("--ip", type=int, choices=[4, 6], default=4, help="version of IP; in a tunnel, inside")
    add("--vary", choices=["destination", "article"], default="destination", help="article: both addresses, both ports")
    add("--pps", type=float, default=1.0, help="frames a second; -m multiplies it, but not that of latency frames")
    add("--packets", type=int, default=0, help="end after so many frames; 0: never")
    add("--latency_pps", type=float, default=0.0, help="frames a second that measure latency, beside the others")
    add("--latency_packets", type=int, default=0, help="end after so many of them; 0: never")
    add("--flow_stats", type=int, choices=[0, 1], default=1, help="1: count the frames by their mark")
    add("--sequence", type=_parts, default=[], help="rate:frames+… in place of pps: one after another, a mark each")
    add("--pg_id", type=int, default=10, help="mark of port 0's frames; further ports have the numbers after it")
    return parser


def _parts(text):
    """Rates and numbers of frames; an error is argparse's to tell."""
    pairs = [part.split(":") for part in text.split("+") if part]
    return [(float(rate), int(frames)) for rate, frames in pairs]


def _vlans(text):
    """One identifier or two; an error is argparse's to tell."""
    return [int(part) for part in text.split("+") if part]


def _sizes(text):
    """Sizes of frames in their order, of which a number behind an x repeats one."""
    sizes = []
    for part in text.split("+"):
        found = re.fullmatch(r"([1-9][0-9]*)(?:x([1-9][0-9]*))?", part)
        if not found:
            raise argparse.ArgumentTypeError(f"'{part}' is no size: give bytes such as 64, or 64x7 for seven frames")
        sizes += [int(found[1])] * int(found[2] or 1)
    return sizes


def _taking_turns(asked, direction):
    """A stream for each frame of a mixture, in its order. The frames of a size have a mark, and so have latency's."""
    sizes, turns = sorted(set(asked.mix)), len(asked.mix)
    marks = {size: asked.pg_id + 2 * number + direction for number, size in enumerate(sizes)}
    streams = []
    for place, size in enumerate(asked.mix if asked.pps > 0 else []):
        mode = STLTXCont(pps=asked.pps / turns)
        if asked.packets:
            frames = _share(asked.packets, turns, place)
            if frames == 0:
                continue
            mode = STLTXSingleBurst(total_pkts=frames, pps=asked.pps / turns)
        counted = STLFlowStats(pg_id=marks[size]) if asked.flow_stats else None
        packet = _packet(asked, size, direction)
        streams.append(STLStream(isg=1e6 * place / asked.pps, packet=packet, mode=mode, flow_stats=counted))
    for size in sizes if asked.latency_pps > 0 else []:
        places = [place for place, other in enumerate(asked.mix) if other == size]
        rate = asked.latency_pps * len(places) / turns
        mode = STLTXCont(pps=rate)
        if asked.latency_packets:
            frames = sum(_share(asked.latency_packets, turns, place) for place in places)
            if frames == 0:
                continue
            mode = STLTXSingleBurst(total_pkts=frames, pps=rate)
        # TRex lets a stream of such frames have its mark alone.
        stamped = STLFlowLatencyStats(pg_id=marks[size] + 2 * len(sizes))
        packet = _packet(asked, size, direction)
        streams.append(STLStream(isg=1e6 * places[0] / asked.latency_pps, packet=packet, mode=mode, flow_stats=stamped))
    return streams


def _share(frames, turns, place):
    """How many of so many frames are the turn of this place; the last round may end before it."""
    return frames // turns + (place < frames % turns)


def _one_behind_the_other(asked, direction):
    """Bursts without a pause between them. Each has a mark of its own, in each of two directions.

    The frames of a mixture take turns, each in a chain of its own.
    """
    sizes, streams = asked.mix or [asked.size], []
    turns = len(sizes)
    for place, size in enumerate(sizes):
        packet = _packet(asked, size, direction)
        for number, (rate, frames) in enumerate(asked.sequence):
            # In microseconds. A burst begins with the last frame of the one before: behind that come the frames whose
            # turn it is before the round ends, and at its own rate those that begin the next one.
            delay = place * 1e6 / rate
            if number:
                delay = (turns - 1 - place) * 1e6 / asked.sequence[number - 1][0] + (1 + place) * 1e6 / rate
            streams.append(
                STLStream(
                    name=_part(number, place),
                    next=_part(number + 1, place) if number + 1 < len(asked.sequence) else None,
                    self_start=number == 0,
                    isg=delay,
                    packet=packet,
                    mode=STLTXSingleBurst(total_pkts=frames // turns, pps=rate / turns),
                    flow_stats=STLFlowStats(pg_id=asked.pg_id + 2 * number + direction),
                )
            )
    return streams


def _part(number, place):
    return f"part{number}" + (f"-{place}" if place else "")


def _packet(asked, size, direction):
    hosts = (_SOURCE, _DESTINATION) if asked.ip == 4 else (_SOURCE_IPV6, _DESTINATION_IPV6)
    source, destination = reversed(hosts) if direction else hosts
    ip = IP(src=source, dst=destination) if asked.ip == 4 else api.IPv6(src=source, dst=destination)
    base = _outside(asked, direction) / ip / UDP(sport=_UDP_PORT, dport=_UDP_PORT)
    padding = b"\0" * max(0, size - _FCS_BYTES - len(base))
    if asked.flows > 1:
        return STLPktBuilder(pkt=base / padding, vm=_fields(asked, source, destination))
    return STLPktBuilder(pkt=base / padding)


def _outside(asked, direction):
    """Ethernet with its tags, of which the first of two is the service's (802.1ad), and the tunnel."""
    base = Ether(type=0x88A8) if len(asked.vlan) > 1 else Ether()
    for vlan in asked.vlan:
        base = base / api.Dot1Q(vlan=vlan)
    if asked.vxlan is None:
        return base
    source, destination = (_DESTINATION, _SOURCE) if direction else (_SOURCE, _DESTINATION)
    udp = UDP(sport=_VXLAN_SOURCE_PORT, dport=_VXLAN_PORT, chksum=0)
    tunnel = IP(src=source, dst=destination) / udp / api.VXLAN(vni=asked.vxlan)
    return base / tunnel / Ether(src=_INNER_SOURCE_MAC, dst=_INNER_DESTINATION_MAC)


def _fields(asked, source, destination):
    """The fields that change from frame to frame. TRex numbers layers of one name from 0."""
    fields = STLVM()
    inner = "" if asked.vxlan is None else ":1"
    # Of an IPv6 address the last 4 bytes.
    ip, fixup = (f"IP{inner}", 0) if asked.ip == 4 else ("IPv6", 12)
    udp = f"UDP{inner}"
    if asked.vary == "destination":
        _count(fields, "dst", _number(destination), asked.flows, 4, f"{ip}.dst", fixup)
    else:
        _count(fields, "src", _number(source) + 1, _ARTICLE_ADDRESSES, 4, f"{ip}.src", fixup)
        _count(fields, "dst", _number(destination) + 1, _ARTICLE_ADDRESSES, 4, f"{ip}.dst", fixup)
        _count(fields, "sport", _UDP_PORT, asked.flows, 2, f"{udp}.sport")
        _count(fields, "dport", _UDP_PORT, asked.flows, 2, f"{udp}.dport")
    if asked.ip == 4:
        fields.fix_chksum(offset=ip)
    else:
        # IPv6 has no checksum of its own, and needs that of UDP (RFC 8200, section 8.1).
        fields.fix_chksum_hw(l3_offset=ip, l4_offset=udp, l4_type=api.CTRexVmInsFixHwCs.L4_TYPE_UDP)
    return fields


def _count(fields, name, first, values, size, place, fixup=0):
    fields.var(name=name, min_value=first, max_value=first + values - 1, size=size, op="inc")
    fields.write(fv_name=name, pkt_offset=place, offset_fixup=fixup)


def _number(address):
    """The last 32 bits."""
    return int(ipaddress.ip_address(address)) & 0xFFFFFFFF
