# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""NIC profiles against DPDK's own drivers, as these describe themselves."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest

from testbed.doctor import traps
from testbed.doctor.dpdk import plugin_folder
from testbed.host.files import Host
from testbed.nics import PROFILES, Profile, profile_of
from testbed.nics.table import is_bifurcated

_ids = {"ids": lambda profile: profile.name.split(" (")[0].replace(" ", "-")}


@cache
def described(plugin: str) -> dict[str, dict[str, object]]:
    """What the drivers of a plug-in say of themselves, by name."""
    folder = plugin_folder(Host())
    file = Path(folder or "/", f"librte_{plugin}.so")
    if not file.exists():
        pytest.skip(f"{file} is not installed")
    found = [json.loads(text) for text in re.findall(rb"PMD_INFO_STRING= ?(\{[^\0]*\})", file.read_bytes())]
    return {driver["name"]: driver for driver in found}


@pytest.mark.parametrize("profile", PROFILES, **_ids)
def test_dpdks_driver_takes_the_profiles_devices(profile: Profile) -> None:
    driver = described(profile.plugin)[profile.driver]
    takes = {f"{vendor:04x}:{device:04x}" for vendor, device, *_ in driver["pci_ids"]}  # type: ignore[union-attr]
    assert set(profile.ids) <= takes


@pytest.mark.parametrize("profile", PROFILES, **_ids)
def test_wanted_driver_is_one_that_dpdks_works_with(profile: Profile) -> None:
    modules = re.findall(r"[\w-]+", str(described(profile.plugin)[profile.driver]["kmod"]))
    assert profile.wanted_driver in modules


@pytest.mark.parametrize("profile", PROFILES, **_ids)
def test_advised_options_are_within_the_profiles_own_limits(profile: Profile) -> None:
    assert profile.faults(profile.rx.advised, profile.tx.advised) == []
    assert all(trap.source for trap in profile.traps)
    assert {trap.check for trap in profile.traps} <= {"", *traps.LOOKS}


def test_options_that_a_family_refuses_name_the_limit() -> None:
    vmxnet3 = profile_of("15ad:07b0")
    assert vmxnet3 is not None
    assert vmxnet3.faults(1024, 256) == [
        "VMware vmxnet3 (vmxnet3): --txd 256 descriptors: the device takes 512 to 4096"
    ]
    e810 = profile_of("8086:159b")
    assert e810 is not None
    assert e810.faults(100, 8192) == [
        "Intel E810 (ice): --rxd 100 descriptors: the device takes 64 to 4096, a multiple of 32",
        "Intel E810 (ice): --txd 8192 descriptors: the device takes 64 to 4096, a multiple of 32",
    ]


def test_each_device_is_in_one_profile() -> None:
    listed = [ids for profile in PROFILES for ids in profile.ids]
    assert len(listed) == len(set(listed))
    assert profile_of("ffff:0000") is None


def test_unknown_nics_of_sharing_vendors_are_left_to_the_kernel() -> None:
    assert is_bifurcated("15b3:ffff")
    assert not is_bifurcated("8086:ffff")


def test_device_arguments_follow_the_address() -> None:
    connectx = profile_of("15b3:1017")
    assert connectx is not None
    assert connectx.allow("0000:01:00.0") == "0000:01:00.0,mprq_en=1,rxqs_min_mprq=1"
