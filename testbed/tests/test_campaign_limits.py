# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Options that the NICs of a device refuse are told before anything starts, with the limit."""

from __future__ import annotations

from pathlib import Path

import pytest
from host_tree import NIC, server

from testbed.campaign import real_equipment as equipment_module
from testbed.campaign.devices.limits import OptionsError, check_options, ids_here, ids_there
from testbed.campaign.devices.settings import Device
from testbed.campaign.real_equipment import Programs, real_equipment
from testbed.campaign.remote.environment import HostEnvironment, parse_environment
from testbed.campaign.scenario_file import find_scenario, read_scenario
from testbed.host.files import Host

VMXNET3 = {"0000:03:00.0": "15ad:07b0", "0000:0b:00.0": "8086:158b"}


def device(*options: str) -> Device:
    return Device(name="l2fwd-rs", options=list(options))


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--txd", "256"], r"'l2fwd-rs': NIC 0000:03:00.0 is VMware vmxnet3 \(vmxnet3\): --txd 256 descriptors: "
         "the device takes 512 to 4096: correct its options in the scenario"),
        (["--txd=256"], "--txd 256 descriptors"),
        # The last one counts.
        (["--txd", "512", "--txd", "8192"], "--txd 8192 descriptors: the device .* 512 to 4096;.* NIC 0000:0b:00.0"),
        (["--rxd", "100"], "NIC 0000:03:00.0 .*--rxd 100 .* 128 to 4096; NIC 0000:0b:00.0 .*--rxd 100 .* of 32"),
    ],
)  # fmt: skip
def test_what_a_nic_refuses_is_told_with_the_limit(options: list[str], fault: str) -> None:
    with pytest.raises(OptionsError, match=fault):
        check_options(device(*options), list(VMXNET3), VMXNET3)


@pytest.mark.parametrize(
    "options",
    [[], ["--rxd", "512", "--txd", "512"], ["--rxd"], ["--rxd", "many"]],
    ids=["as it is", "within", "without a number", "not a number"],
)
def test_the_rest_is_the_programs_matter(options: list[str]) -> None:
    check_options(device(*options), list(VMXNET3), VMXNET3)


def test_unknown_nics_and_other_programs_may_do_as_they_like() -> None:
    check_options(device("--rxd", "1"), ["0000:04:00.0", "0000:05:00.0"], {"0000:04:00.0": "ffff:0000"})
    check_options(Device(name="mine", command=["/bin/mine", "--rxd", "1"]), list(VMXNET3), VMXNET3)


def test_ids_of_another_host_are_those_that_it_tells() -> None:
    text = "nic\t0000:01:00.0\t0x8086:0x10d3\tvfio-pci\t\t\t2.5 GT/s PCIe\t1\t-1" + 6 * "\t" + "\n"
    there = parse_environment("dut1", text)
    assert isinstance(there, HostEnvironment)
    assert ids_there(["01:00.0", "02:00.0"], there) == {"01:00.0": "8086:10d3"}


def test_ids_of_this_machines_nics_are_the_kernels(tmp_path: Path) -> None:
    server(tmp_path)
    short = NIC.removeprefix("0000:")
    assert ids_here([short, "ff:00.0"], Host(tmp_path)) == {short: "8086:158b"}


def test_a_campaign_does_not_begin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scenario = read_scenario(find_scenario(Path("xxv710-25g")))
    (address,) = scenario.generator.forwarder.nics  # type: ignore[union-attr]
    asked = []

    def here(nics: list[str]) -> dict[str, str]:
        asked.append(list(nics))
        return dict.fromkeys(nics, "8086:158b")

    monkeypatch.setattr(equipment_module, "ids_here", here)
    # A scenario that does not say what its NICs are: those that are there are asked.
    generator = scenario.generator.model_dump()
    generator["forwarder"]["nic"] = None
    changed = scenario.changed(generator=generator, devices=[device("--rxd", "33").model_dump()])
    with pytest.raises(OptionsError, match=rf"NIC {address} is .*--rxd 33 descriptors: the device takes 64 to 4096"):
        real_equipment(Programs({}, None)).environment(changed)
    assert asked == [[address]]
