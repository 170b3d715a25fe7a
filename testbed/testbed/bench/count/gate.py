# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Instructions per packet as they are checked in, to notice growth: testbed/counts.json."""

from __future__ import annotations

import json
from pathlib import Path

from testbed.bench.count.binary import run_tool
from testbed.run.programs import repository_root

RENEW = "./x bench overload --renew"
RENEW_REQUESTS = "./x bench sockets --renew"
_ABOUT = (
    f"Instructions per packet on net_null, by versions, contestant and burst ({RENEW}), "
    f"and per request by versions, server and connections, or per byte by direction and device ({RENEW_REQUESTS})"
)

# What a row of a request has in place of the components of a packet.
REQUEST = "request"
# And one of a byte that is sent or received in bulk.
BYTE = "byte"

# Growth of the application's share above this fails the tests.
GROWTH_MAX = 0.02


class FiguresError(Exception):
    """The checked-in figures cannot be read or written; the message names the file."""


def figures_path() -> Path:
    """The file with the figures."""
    return repository_root() / "testbed" / "counts.json"


def versions() -> str:
    """What the figures depend on: the compilers, and the DPDK whose headers they compile.

    Raises `BinaryError`.
    """
    dpdk = ".".join(run_tool("pkg-config", "--modversion", "libdpdk").split(".")[:2])
    rustc = run_tool("rustc", "--version").split()[1]
    cc = run_tool("cc", "--version").splitlines()[0].split()[-1]
    return f"DPDK {dpdk}, rustc {rustc}, cc {cc}"


def row_name(contestant: str, burst: int) -> str:
    """The name of a row: 'l2fwd-rs:static, burst 32'."""
    return f"{contestant}, burst {burst}"


def read_figures(path: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Instructions per packet by versions, row and component; empty where there is no file.

    Raises `FiguresError`.
    """
    try:
        return dict(json.loads(path.read_text())["figures"])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FiguresError(f"{path}: not the figures that '{RENEW}' writes: {error}") from error


def renew_figures(path: Path, key: str, rows: dict[str, dict[str, float]], about: str = _ABOUT) -> None:
    """Puts the figures of these versions in, beside those of others and of other rows.

    Raises `FiguresError`.
    """
    figures = read_figures(path)
    figures[key] = dict(sorted({**figures.get(key, {}), **rows}.items()))
    try:
        path.write_text(json.dumps({"about": about, "figures": dict(sorted(figures.items()))}, indent=2) + "\n")
    except OSError as error:
        raise FiguresError(f"cannot write {path}: {error.strerror}") from error


def growth(now: float, before: float) -> float:
    """The share by which a figure has grown: 0.02 for 2 % more."""
    return now / before - 1
