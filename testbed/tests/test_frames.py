# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The comparison finds what a forwarder must not do to a frame."""

from collections.abc import Callable
from pathlib import Path

import dpkt.pcap
import dpkt.pcapng
import pytest

from testbed.wire.frames import CaptureError, Macs, compare, read_frames

MACS = Macs(destination="02:00:00:00:00:01", source="0a:0b:0c:0d:0e:0f")
HOST_HEADER = bytes.fromhex("020000000000" + "aabbccddeeff")


def frame(number: int, length: int = 64) -> bytes:
    return HOST_HEADER + b"\x08\x00" + number.to_bytes(4, "big") + bytes(length - 18)


def forwarded(original: bytes) -> bytes:
    return MACS.header() + original[12:]


def write(path: Path, frames: list[bytes], link: int = dpkt.pcap.DLT_EN10MB, snaplen: int = 65535) -> Path:
    with path.open("wb") as file:
        writer = dpkt.pcap.Writer(file, linktype=link, snaplen=snaplen)
        for number, data in enumerate(frames):
            writer.writepkt(data, ts=number)
    return path


@pytest.fixture
def compared(tmp_path: Path) -> Callable:
    def run(before: list[bytes], after: list[bytes]):
        return compare(write(tmp_path / "in.pcap", before), write(tmp_path / "out.pcap", after), MACS)

    return run


ORIGINALS = [frame(number, 60 + number) for number in range(10)]
GOOD = [forwarded(original) for original in ORIGINALS]


def kinds(comparison) -> list[tuple[str, int]]:
    return [(difference.kind, difference.frame) for difference in comparison.differences]


def test_a_faithful_copy(compared):
    found = compared(ORIGINALS, GOOD)
    assert found.same
    assert (found.frames_in, found.frames_out, found.identical, found.frames_short) == (10, 10, 10, 0)
    assert found.differences == []


@pytest.mark.parametrize("offset", [12, 30, 60 + 4 - 1])
def test_a_changed_byte(compared, offset):
    bad = bytearray(GOOD[4])
    bad[offset] ^= 0xFF
    found = compared(ORIGINALS, [*GOOD[:4], bytes(bad), *GOOD[5:]])
    assert not found.same
    assert kinds(found) == [("changed", 5)]
    assert f"byte {offset} is {bad[offset]:#04x} instead of {GOOD[4][offset]:#04x}" in found.differences[0].detail
    assert found.identical == 9
    assert found.summary() == "1 frame changed"


def test_a_shortened_frame(compared):
    found = compared(ORIGINALS, [*GOOD[:4], GOOD[4][:-1], *GOOD[5:]])
    assert kinds(found) == [("changed", 5)]
    assert "63 bytes instead of 64" in found.differences[0].detail


@pytest.mark.parametrize("lost", [0, 4, 9])
def test_a_missing_frame(compared, lost):
    found = compared(ORIGINALS, GOOD[:lost] + GOOD[lost + 1 :])
    assert kinds(found) == [("missing", lost + 1)]
    assert found.identical == 9


def test_all_missing(compared):
    found = compared(ORIGINALS, [])
    assert found.counts == {"missing": 10}
    assert found.summary() == "10 frames missing"


def test_a_surplus_frame(compared):
    found = compared(ORIGINALS, [*GOOD[:4], forwarded(frame(99)), *GOOD[4:]])
    assert kinds(found) == [("surplus", 5)]


def test_a_frame_sent_twice_is_surplus(compared):
    found = compared(ORIGINALS, [*GOOD[:4], GOOD[3], *GOOD[4:]])
    assert kinds(found) == [("surplus", 5)]


def test_reordered_frames(compared):
    found = compared(ORIGINALS, [*GOOD[:4], GOOD[5], GOOD[4], *GOOD[6:]])
    assert kinds(found) == [("reordered", 5)]
    assert found.identical == 9


def test_equal_frames_in_a_row_are_told_apart_by_their_number(compared):
    originals = [frame(1)] * 5
    assert compared(originals, [forwarded(frame(1))] * 5).same
    assert compared(originals, [forwarded(frame(1))] * 4).counts == {"missing": 1}


@pytest.mark.parametrize("bad_header", [HOST_HEADER, MACS.header()[6:] + MACS.header()[:6]])
def test_wrong_macs(compared, bad_header):
    found = compared(ORIGINALS, [*GOOD[:4], bad_header + GOOD[4][12:], *GOOD[5:]])
    assert kinds(found) == [("mac", 5)]
    assert "instead of 0a:0b:0c:0d:0e:0f > 02:00:00:00:00:01" in found.differences[0].detail
    assert found.summary() == "1 frame with wrong MAC addresses"


def test_several_faults_at_once(compared):
    bad = bytearray(GOOD[7])
    bad[20] = 0x55
    found = compared(ORIGINALS, [GOOD[0], GOOD[2], GOOD[4], GOOD[3], GOOD[5], GOOD[6], bytes(bad), *GOOD[8:]])
    assert kinds(found) == [("missing", 2), ("reordered", 4), ("changed", 8)]


def test_runts_need_not_come_out(compared):
    runt, shortest = HOST_HEADER + b"\x08", HOST_HEADER + b"\x08\x00"
    found = compared([ORIGINALS[0], runt, shortest, ORIGINALS[1]], [GOOD[0], forwarded(shortest), GOOD[1]])
    assert found.same
    assert (found.frames_in, found.frames_short, found.frames_out) == (4, 1, 3)


def test_frame_numbers_count_the_runts(compared):
    found = compared([HOST_HEADER, ORIGINALS[0], ORIGINALS[1]], [GOOD[1]])
    assert kinds(found) == [("missing", 2)]


def test_only_the_first_differences_are_listed(compared):
    originals = [frame(number) for number in range(100)]
    found = compared(originals, [])
    assert len(found.differences) == 20
    assert found.counts["missing"] == 100


def test_pcapng_is_read(tmp_path: Path):
    with (tmp_path / "a.pcapng").open("wb") as file:
        writer = dpkt.pcapng.Writer(file)
        for data in ORIGINALS:
            writer.writepkt(data, ts=0)
    assert list(read_frames(tmp_path / "a.pcapng")) == ORIGINALS


def test_frames_are_cut_to_the_length_that_the_file_promises(tmp_path: Path):
    short = write(tmp_path / "short.pcap", [frame(1, 100), frame(2, 60)], snaplen=64)
    assert list(read_frames(short)) == [frame(1, 100)[:64], frame(2, 60)]
    unlimited = write(tmp_path / "unlimited.pcap", [frame(1, 100)], snaplen=0)
    assert list(read_frames(unlimited)) == [frame(1, 100)]


def test_what_is_no_capture_of_ethernet_is_refused(tmp_path: Path):
    text = tmp_path / "notes.pcap"
    text.write_text("this is not a capture, however long it may be")
    cooked = write(tmp_path / "any.pcap", [], link=dpkt.pcap.DLT_LINUX_SLL)
    for path, message in (
        (text, "is not a capture"),
        (cooked, "link type 113, not Ethernet"),
        (tmp_path / "gone.pcap", "cannot read .*gone.pcap.*: No such file"),
    ):
        with pytest.raises(CaptureError, match=message):
            list(read_frames(path))
