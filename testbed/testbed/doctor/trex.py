# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The tree of TRex, if one is named."""

from __future__ import annotations

import os
from collections.abc import Iterator

from testbed.doctor.check import Check, Question, fail, ok, warn
from testbed.host.files import Host

GROUP = "TRex"

_SERVER = "t-rex-64"
_CLIENT = "automation/trex_control_plane/interactive/trex"
_CONFIGURATION = "/etc/trex_cfg.yaml"


def checks(host: Host, question: Question) -> Iterator[Check]:
    """All checks of this group; none without a tree."""
    home = question.trex_home
    if home is None:
        return
    why = "the server that generates, and the Python client that drives it, are in one release"
    server = home / _SERVER
    if not server.is_file() or not os.access(server, os.X_OK):
        yield fail(
            "tree",
            f"{server} does not exist, or is not executable",
            why,
            "name the folder that a release of TRex unpacks to",
        )
        return
    if not (home / _CLIENT).is_dir():
        yield fail("tree", f"{home / _CLIENT} is not there", why, "unpack the whole release")
    else:
        yield ok("tree", str(home.resolve()), why)
    why = "the server takes its NICs, cores and addresses from it"
    if question.trex_config is not None:
        yield ok("configuration", str(question.trex_config), why)
    elif host.exists(_CONFIGURATION):
        yield ok("configuration", _CONFIGURATION, why)
    else:
        remedy = f"cd {home} && ./dpdk_setup_ports.py -i"
        yield warn("configuration", f"{_CONFIGURATION} is not there", why, remedy)
