# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""TRex's stream profile for a layer-2 forwarder: IPv4 and UDP, one size, many flows.

In trex-console: ``start -f l2fwd.py -m 1mpps -t size=64,flows=1000`` (``-t --help`` lists the tunables). It imports
nothing but the client of the TRex tree that loads it.
"""

import argparse

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
_UDP_PORT = 10000
# The addresses that the article's streams go through in each half: 10.x.y.1 to 10.x.(y + 59).254 there.
_ARTICLE_ADDRESSES = 15358
# Latency streams have numbers of their own; both are told apart by port.
_LATENCY_PG_ID = 64


class L2fwd:
    """Streams of one port."""

    def get_streams(self, port_id=0, direction=0, tunables=(), **_):
        """The streams that TRex asks for, a list of `STLStream`."""
        asked = _parser().parse_args(list(tunables))
        if asked.sequence:
            return _one_behind_the_other(asked, direction)
        pg_id = asked.pg_id + port_id
        streams = []
        if asked.pps > 0:
            mode = STLTXCont(pps=asked.pps)
            if asked.packets:
                mode = STLTXSingleBurst(total_pkts=asked.packets, pps=asked.pps)
            counted = STLFlowStats(pg_id=pg_id) if asked.flow_stats else None
            streams.append(STLStream(packet=_packet(asked, direction), mode=mode, flow_stats=counted))
        if asked.latency_pps > 0:
            mode = STLTXCont(pps=asked.latency_pps)
            if asked.latency_packets:
                mode = STLTXSingleBurst(total_pkts=asked.latency_packets, pps=asked.latency_pps)
            stamped = STLFlowLatencyStats(pg_id=pg_id + _LATENCY_PG_ID)
            streams.append(STLStream(packet=_packet(asked, direction), mode=mode, flow_stats=stamped))
        return streams


def register():
    """What TRex calls."""
    return L2fwd()


def _parser():
    parser = argparse.ArgumentParser(prog="l2fwd.py", formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    add = parser.add_argument
    add("--size", type=int, default=64, help="bytes of a frame, with FCS; from 64")
    add("--flows", type=int, default=1, help="flows, told apart by the destination address")
    add("--vary", choices=["destination", "article"], default="destination", help="article: both addresses, both ports")
    add("--pps", type=float, default=1.0, help="frames a second; -m multiplies it, but not that of latency frames")
    add("--packets", type=int, default=0, help="end after so many frames; 0: never")
    add("--latency_pps", type=float, default=0.0, help="frames a second that measure latency, beside the others")
    add("--latency_packets", type=int, default=0, help="end after so many of them; 0: never")
    add("--flow_stats", type=int, choices=[0, 1], default=1, help="1: count the frames by their mark")
    add("--sequence", type=_parts, default=[], help="rate:frames+… in place of pps: one behind the other, a mark each")
    add("--pg_id", type=int, default=10, help="mark of port 0's frames; further ports have the numbers after it")
    return parser


def _parts(text):
    """Rates and numbers of frames; an error is argparse's to tell."""
    pairs = [part.split(":") for part in text.split("+") if part]
    return [(float(rate), int(frames)) for rate, frames in pairs]


def _one_behind_the_other(asked, direction):
    """Bursts without a pause between them. Each has a mark of its own, in each of two directions."""
    packet, streams = _packet(asked, direction), []
    for number, (rate, frames) in enumerate(asked.sequence):
        streams.append(
            STLStream(
                name=f"part{number}",
                next=f"part{number + 1}" if number + 1 < len(asked.sequence) else None,
                self_start=number == 0,
                # A burst begins with the last frame of the one before: its own distance behind that, in microseconds.
                isg=1e6 / rate if number else 0.0,
                packet=packet,
                mode=STLTXSingleBurst(total_pkts=frames, pps=rate),
                flow_stats=STLFlowStats(pg_id=asked.pg_id + 2 * number + direction),
            )
        )
    return streams


def _packet(asked, direction):
    source, destination = (_DESTINATION, _SOURCE) if direction else (_SOURCE, _DESTINATION)
    base = Ether() / IP(src=source, dst=destination) / UDP(sport=_UDP_PORT, dport=_UDP_PORT)
    padding = b"\0" * max(0, asked.size - _FCS_BYTES - len(base))
    if asked.flows > 1:
        return STLPktBuilder(pkt=base / padding, vm=_fields(asked, source, destination))
    return STLPktBuilder(pkt=base / padding)


def _fields(asked, source, destination):
    """The fields that change from frame to frame."""
    fields = STLVM()
    if asked.vary == "destination":
        _count(fields, "dst", _number(destination), asked.flows, 4, "IP.dst")
    else:
        _count(fields, "src", _number(source) + 1, _ARTICLE_ADDRESSES, 4, "IP.src")
        _count(fields, "dst", _number(destination) + 1, _ARTICLE_ADDRESSES, 4, "IP.dst")
        _count(fields, "sport", _UDP_PORT, asked.flows, 2, "UDP.sport")
        _count(fields, "dport", _UDP_PORT, asked.flows, 2, "UDP.dport")
    fields.fix_chksum()
    return fields


def _count(fields, name, first, values, size, place):
    fields.var(name=name, min_value=first, max_value=first + values - 1, size=size, op="inc")
    fields.write(fv_name=name, pkt_offset=place)


def _number(address):
    value = 0
    for part in address.split("."):
        value = value << 8 | int(part)
    return value
