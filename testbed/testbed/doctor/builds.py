# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the programs here were compiled for."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from testbed.host.files import Host
from testbed.run.programs import repository_root


def marches(host: Host, root: Path | None = None) -> tuple[str, ...]:
    """The processors that DPDK and the forwarders were compiled for, as in gcc's -march.

    DPDK's is in what its pkg-config file tells programs to be compiled with, l2fwd-c's is meson's option `cpu`,
    l2fwd-rs's is in RUSTFLAGS if it was given.
    """
    found = re.findall(r"-march=(\S+)", host.output("pkg-config", "--cflags", "libdpdk") or "")
    found += re.findall(r"target-cpu=(\S+)", os.environ.get("RUSTFLAGS", ""))
    for folder in ("build", "build-static"):
        options = (root or repository_root()) / folder / "meson-info/intro-buildoptions.json"
        try:
            found += [option["value"] for option in json.loads(options.read_text()) if option["name"] == "cpu"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return tuple(dict.fromkeys(march for march in found if march))
