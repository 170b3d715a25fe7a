# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What `l2fwd-rs --rewrite` does with frames: each parser, each workload, captures in and captures out."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import dpkt
import pytest
from test_l2fwd_captures import Outcome, forward

from testbed.comparison.ipv4 import REWRITTEN, frames
from testbed.run.programs import Program, ProgramMissing, find_program, repository_root

PARSERS = ["raw", "zerocopy", "smoltcp", "pnet", "etherparse"]
HEADER = bytes.fromhex("020000000001020000000002")


@pytest.fixture(scope="module")
def rewriting() -> Program:
    """l2fwd-rs with the option."""
    try:
        return find_program("l2fwd-rs", [repository_root() / "target/rewrite/debug"], for_figures=False)
    except ProgramMissing as error:
        pytest.skip(f"{error}, with --target-dir target/rewrite and the feature rewrite")


def ipv4(payload: dpkt.Packet, protocol: int, **fields: object) -> bytes:
    """A frame with right checksums."""
    packet = dpkt.ip.IP(
        src=socket.inet_aton("192.0.2.7"), dst=socket.inet_aton("198.51.100.9"), p=protocol, data=payload, **fields
    )
    packet.len = len(packet)
    return HEADER + b"\x08\x00" + bytes(packet)


def udp(data: bytes) -> dpkt.udp.UDP:
    datagram = dpkt.udp.UDP(sport=1234, dport=53, data=data)
    datagram.ulen = len(datagram)
    return datagram


def without_checksum(frame: bytes) -> bytes:
    return frame[:40] + b"\0\0" + frame[42:]


UDP, TCP = dpkt.ip.IP_PROTO_UDP, dpkt.ip.IP_PROTO_TCP
ACCEPTED = [
    *frames(60),
    ipv4(udp(b"odd length"), UDP) + bytes(9),
    ipv4(udp(b"options"), UDP, hl=6, opts=b"\x01\x01\x01\x00"),
    without_checksum(ipv4(udp(b"no checksum at all"), UDP)),
    ipv4(b"not a datagram", dpkt.ip.IP_PROTO_GRE),
]
# As the name says to all workloads, and to those but W1.
REJECTED = [
    HEADER + b"\x08\x06" + bytes(46),
    HEADER + b"\x81\x00\x00\x05" + ACCEPTED[0][12:],
    HEADER + b"\x08\x00" + b"\x45",
]
MALFORMED = [
    ACCEPTED[0][:14] + b"\x65" + ACCEPTED[0][15:],
    ACCEPTED[0][:14] + b"\x44" + ACCEPTED[0][15:],
    ACCEPTED[0][:-20],
]


def translated(frame: bytes, outcome: Outcome, checksums: bool) -> bytes:
    """The frame as it must leave port 0, by another library than those that are tested."""
    macs = bytes([2, 0, 0, 0, 0, 0]) + outcome.mac(0)
    if not checksums:
        return macs + frame[12:30] + socket.inet_aton(REWRITTEN) + frame[34:]
    length = int.from_bytes(frame[16:18], "big")
    packet = dpkt.ip.IP(frame[14 : 14 + length])
    packet.dst, packet.sum = socket.inet_aton(REWRITTEN), 0
    # A sum of 0 is computed, unless the datagram is bytes.
    if isinstance(packet.data, dpkt.udp.UDP):
        packet.data = udp_of(packet.data)
    return macs + frame[12:14] + bytes(packet) + frame[14 + length :]


def udp_of(datagram: dpkt.udp.UDP) -> dpkt.udp.UDP | bytes:
    """To be given a checksum if it has one."""
    if not datagram.sum:
        return bytes(datagram)
    datagram.sum = 0
    return datagram


@pytest.mark.e2e
@pytest.mark.parametrize("workload", ["w1", "w2", "w3"])
@pytest.mark.parametrize("parser", PARSERS)
def test_what_is_accepted_is_rewritten_and_the_rest_left_as_it_is(
    rewriting: Program, tmp_path: Path, hugepages: bool, parser: str, workload: str
) -> None:
    malformed = [] if workload == "w1" else MALFORMED
    runts = [b"short", bytes(13)]
    # Mixed, so that a burst has some of each.
    inputs = [*ACCEPTED[:40], *REJECTED, *ACCEPTED[40:], *runts, *malformed]
    options = ["-p", "1", "--rewrite", f"{parser}:{workload}"]
    outcome = forward(rewriting, tmp_path, [inputs], options, hugepages)
    accepted = [translated(frame, outcome, checksums=workload != "w1") for frame in ACCEPTED]
    assert outcome.frames[0] == [*accepted[:40], *REJECTED, *accepted[40:], *malformed]
    assert outcome.final.total.rx_short == len(runts)
    rejected = len(REJECTED) + len(runts) + len(malformed)
    said = f"l2fwd: rewriting rejected {rejected} frames, which were forwarded unchanged, or dropped if too short\n"
    assert said in (tmp_path / "dut.stderr").read_text()


@pytest.mark.e2e
def test_without_the_option_it_forwards_as_ever(rewriting: Program, tmp_path: Path, hugepages: bool) -> None:
    inputs = [*ACCEPTED, *REJECTED]
    outcome = forward(rewriting, tmp_path, [inputs], ["-p", "1"], hugepages)
    macs = bytes([2, 0, 0, 0, 0, 0]) + outcome.mac(0)
    assert outcome.frames[0] == [macs + frame[12:] for frame in inputs]
    assert "rewriting" not in (tmp_path / "dut.stderr").read_text()


def test_the_help_names_the_option(rewriting: Program) -> None:
    assert "  --rewrite PARSER[:WORKLOAD]\n" in run(rewriting, "--help").stdout
    wrong = run(rewriting, "-l", "0", "--", "-p1", "--rewrite=nom")
    assert (wrong.returncode, wrong.stderr.splitlines()[0]) == (
        2,
        "l2fwd: invalid value 'nom' for --rewrite: give smoltcp, pnet, etherparse, zerocopy or raw, "
        "then :w1, :w2 or :w3 if wanted",
    )


def test_the_usual_program_does_not_know_it(forwarder_program: Program) -> None:
    assert "--rewrite" not in run(forwarder_program, "--help").stdout
    wrong = run(forwarder_program, "-l", "0", "--", "-p1", "--rewrite=raw")
    assert (wrong.returncode, wrong.stderr.splitlines()[0]) == (2, "l2fwd: unknown option '--rewrite'")


def run(program: Program, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program.path, *arguments], capture_output=True, text=True, timeout=60, check=False)
