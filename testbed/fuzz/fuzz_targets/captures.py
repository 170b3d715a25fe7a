# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Capture files: any bytes, and well-formed ones that went through a forwarder, good or bad."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

from testbed.wire.frames import ETHERNET_HEADER_LEN, CaptureError, Macs, compare, read_frames

MACS = Macs(destination="02:00:00:00:00:01", source="0a:0b:0c:0d:0e:0f")
FRAMES_MAX = 64
_TEMPORARY = tempfile.TemporaryDirectory(prefix="fuzz-captures-")
FOLDER = Path(_TEMPORARY.name)


def check(data: bytes) -> None:
    """The first byte says which of the two."""
    kind, rest = data[:1], data[1:]
    if kind[:1] < b"\x80":
        any_bytes(rest)
    else:
        well_formed(rest)


def any_bytes(data: bytes) -> None:
    """A file is read or refused, and a capture that is read equals itself but for the addresses."""
    path = FOLDER / "any.pcap"
    path.write_bytes(data)
    try:
        frames = list(read_frames(path))
    except CaptureError as error:
        assert str(path) in str(error)
        return
    found = compare(path, path, MACS)
    assert (found.frames_in, found.frames_out) == (len(frames), len(frames))
    assert found.same == (list(frames) == forwarded(frames))


def well_formed(data: bytes) -> None:
    """What was written is read, and the comparison is content exactly with what a forwarder should send."""
    flags, data = data[:1] or b"\0", data[1:]
    order = "<" if flags[0] & 1 else ">"
    magic = 0xA1B23C4D if flags[0] & 2 else 0xA1B2C3D4
    snaplen = (0, 20, 64, 65535)[flags[0] >> 2 & 3]
    before, data = split(data)
    write(FOLDER / "before.pcap", before, order, magic, snaplen)
    before = [frame[: snaplen or None] for frame in before]
    assert list(read_frames(FOLDER / "before.pcap")) == before
    after = changed(forwarded(before), data)
    write(FOLDER / "after.pcap", after, order, magic, 65535)
    found = compare(FOLDER / "before.pcap", FOLDER / "after.pcap", MACS)
    assert found.same == (after == forwarded(before))
    assert found.same == (found.summary() == "") == (found.differences == [])
    short = sum(1 for frame in before if len(frame) < ETHERNET_HEADER_LEN)
    assert (found.frames_in, found.frames_short, found.frames_out) == (len(before), short, len(after))
    lost = found.counts["missing"] + found.counts["changed"]
    new = found.counts["surplus"] + found.counts["changed"]
    assert len(before) - short - lost == len(after) - new, "frames that were found again"
    assert found.identical <= len(after) - new


def split(data: bytes) -> tuple[list[bytes], bytes]:
    """Some frames, each behind a byte with its length, and what follows a length of 255."""
    frames: list[bytes] = []
    while data and len(frames) < FRAMES_MAX:
        length, data = data[0], data[1:]
        if length == 255:
            break
        frames.append(data[:length])
        data = data[length:]
    return frames, data


def write(path: Path, frames: list[bytes], order: str, magic: int, snaplen: int) -> None:
    """A capture file, by its specification."""
    parts = [struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, snaplen, 1)]
    for number, frame in enumerate(frames):
        parts += [struct.pack(f"{order}IIII", number, 0, len(frame), len(frame)), frame]
    path.write_bytes(b"".join(parts))


def forwarded(frames: list[bytes]) -> list[bytes]:
    """What a forwarder should send."""
    return [MACS.header() + frame[12:] for frame in frames if len(frame) >= ETHERNET_HEADER_LEN]


def changed(frames: list[bytes], data: bytes) -> list[bytes]:
    """What goes wrong on the way: each three bytes say what, with which frame, and where."""
    frames = list(frames)
    for what, which, where in zip(data[::3], data[1::3], data[2::3], strict=False):
        if not frames:
            break
        index = which % len(frames)
        frame = frames[index]
        match what % 6:
            case 0:
                del frames[index]
            case 1:
                frames.insert(where % (len(frames) + 1), frame)
            case 2:
                frames.insert(where % len(frames), frames.pop(index))
            case 3 if frame:
                place = where % len(frame)
                frames[index] = frame[:place] + bytes([frame[place] ^ 1]) + frame[place + 1 :]
            case 4:
                frames[index] = frame[:where]
            case _:
                frames[index] = frame + bytes([where])
    return frames
