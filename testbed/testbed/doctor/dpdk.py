# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""DPDK: its version, its drivers for the NICs, and leftovers of earlier runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from testbed.doctor.check import Check, Question, candidates, ok, warn
from testbed.host.files import Host
from testbed.host.hugepages import mounts
from testbed.nics.table import profile_of

GROUP = "DPDK"

_PLUGIN_FOLDERS = re.compile(r"pmds-[\d.]+")
_RUNTIME = "/var/run/dpdk"
# Files that the EAL makes in a hugetlbfs: rtemap_0, or <prefix>map_0.
_HUGE_FILE = re.compile(r".*map_\d+")


def checks(host: Host, question: Question) -> Iterator[Check]:
    """All checks of this group."""
    yield _version(host)
    folder = plugin_folder(host)
    for nic in candidates(host, question):
        profile = profile_of(nic.ids)
        if profile is not None and folder is not None:
            yield _driver(host, folder, nic.address, profile.driver, profile.plugin)
    yield _runtime_folders(host)
    yield _huge_files(host)


def _version(host: Host) -> Check:
    name, why = "version", "figures compare only on the same DPDK"
    version = host.output("pkg-config", "--modversion", "libdpdk")
    if version is None:
        return ok(name, "not installed for development: statically linked forwarders run without", why)
    return ok(name, version, why)


def plugin_folder(host: Host) -> str | None:
    """DPDK's folder of drivers: the newest of the places where distributions have it."""
    for place in (
        "/usr/local/lib/x86_64-linux-gnu/dpdk",
        "/usr/lib/x86_64-linux-gnu/dpdk",
        "/usr/lib64/dpdk",
        "/usr/local/lib64/dpdk",
    ):
        folders = [name for name in host.names(place) if _PLUGIN_FOLDERS.fullmatch(name)]
        if folders:
            newest = max(folders, key=lambda name: [int(part) for part in re.findall(r"\d+", name)])
            return f"{place}/{newest}"
    return None


def _driver(host: Host, folder: str, address: str, driver: str, plugin: str) -> Check:
    name, why = f"driver for {address}", "DPDK makes a port of a NIC only if one of its drivers supports the NIC"
    if any(file.startswith(f"librte_{plugin}.so") for file in host.names(folder)):
        return ok(name, f"{driver} in {folder}", why)
    package = plugin.replace("_", "-")
    remedy = f"install its plug-in, on Debian librte-{package}*, or use the statically linked forwarder"
    return warn(name, f"{driver} is not in {folder}", why, remedy)


def _runtime_folders(host: Host) -> Check:
    name, why = "run-time folders", "a process with the same --file-prefix may read what an earlier one left"
    # A primary process holds a lock on its configuration.
    locked = {
        line.split()[5].rpartition(":")[2]
        for line in (host.text("/proc/locks") or "").splitlines()
        if len(line.split()) > 5
    }
    left = []
    for prefix in host.names(_RUNTIME):
        try:
            inode = os.stat(host.path(f"{_RUNTIME}/{prefix}/config")).st_ino  # noqa: PTH116 (a path of the host)
        except OSError:
            continue
        if str(inode) not in locked:
            left.append(prefix)
    if not left:
        return ok(name, "none without its process", why)
    return warn(
        name,
        f"left by processes that have ended: {', '.join(left)}",
        why,
        "rm -r " + " ".join(f"{_RUNTIME}/{prefix}" for prefix in left),
    )


def _huge_files(host: Host) -> Check:
    name, why = "hugepage files", "pages in unused files are not available to the next run"
    there = [f"{place}/{file}" for place in mounts(host) for file in host.names(place) if _HUGE_FILE.fullmatch(file)]
    if not there:
        return ok(name, "none", why)
    used = {file for file in there if file in _mapped(host)}
    left = [file for file in there if file not in used]
    if not left:
        return ok(name, f"{len(used)}, of running programs", why)
    patterns = sorted({re.sub(r"\d+$", "*", file) for file in left})
    return warn(name, f"{len(left)} that no program has mapped", why, f"rm {' '.join(patterns)}")


def _mapped(host: Host) -> set[str]:
    """All files that processes have mapped."""
    pids = [name for name in host.names("/proc") if name.isdecimal()]
    lines = (line for pid in pids for line in (host.text(f"/proc/{pid}/maps") or "").splitlines())
    return {words[5].removesuffix(" (deleted)") for line in lines if len(words := line.split(None, 5)) == 6}
