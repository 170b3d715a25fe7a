# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A host on the kernel's TCP for `./x bench sockets --loss`, as a program of its own in a network namespace.

Usage: host.py echo ADDRESS | host.py transfer ADDRESS BYTES
"""

from __future__ import annotations

import json
import random
import socket
import sys
import threading
import time

PORT = 7
# A transfer in which nothing moves for so long has failed.
_PATIENCE_S = 120.0
_PIECE_BYTES = 65_536


def echo(address: str) -> None:
    """Sends back what it receives, on one connection after the other, until it is ended."""
    with socket.create_server((address, PORT)) as server:
        print("ready", flush=True)
        while True:
            stream, _ = server.accept()
            with stream:
                while piece := stream.recv(_PIECE_BYTES):
                    stream.sendall(piece)


def transfer(address: str, length: int) -> None:
    """Sends bytes, reads them again meanwhile, and prints the seconds until the last one was back."""
    content = random.Random(1).randbytes(length)
    start = time.monotonic()
    with socket.create_connection((address, PORT), timeout=_PATIENCE_S) as stream:
        sender = threading.Thread(target=_send, args=(stream, content))
        sender.start()
        received = bytearray()
        while piece := stream.recv(_PIECE_BYTES):
            received += piece
        seconds = time.monotonic() - start
        sender.join()
    if received != content:
        sys.exit(f"{len(received)} bytes are back, and not those that were sent")
    print(json.dumps({"type": "transfer", "seconds": seconds}), flush=True)


def _send(stream: socket.socket, content: bytes) -> None:
    stream.sendall(content)
    stream.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    if sys.argv[1] == "echo":
        echo(sys.argv[2])
    else:
        transfer(sys.argv[2], int(sys.argv[3]))
