# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The whole way from a PCI NIC to a running l2fwd and back, on each model of NIC that QEMU has, in one machine."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rehearsal import MODELS, Machine, Nic, boot

from testbed.run.programs import FORWARDERS
from testbed.vm.guest import Kernel, emulates
from testbed.vm.wire import Stream, await_forwarding, exchange, flood, make_frames, number_of

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

TESTED = ("e1000e", "vmxnet3", "virtio", "e1000", "igb")
# A start on an e1000 takes 40 s: DPDK's driver reads its EEPROM bit by bit, and sleeps for a tick of the guest then.
RUNS = [(model, program) for model in TESTED for program in FORWARDERS if (model, program) != ("e1000", "l2fwd-c")]
# Each length occurs, since 37 and 1,455 have no factor in common, and rings of 1,024 descriptors go round twice.
FRAMES = 2_100
# Without their FCS of 4 bytes: from 64 to 1,518 bytes, the ends first.
SIZES = [60, 1514, *(60 + 37 * number % 1455 for number in range(FRAMES - 2))]
WINDOW = 64
# Only a hang lasts this long: an emulated NIC on a busy machine may be silent for more than 20 s.
QUIET_S = 120.0


@pytest.fixture(scope="module")
def machine(
    rehearsal_kernel: Kernel, rehearsal_initramfs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Machine]:
    pairs = [model for tested in TESTED if tested != "igb" or emulates("igb") for model in (tested, tested)]
    with boot(rehearsal_kernel, rehearsal_initramfs, tmp_path_factory.mktemp("guest"), pairs) as machine:
        # One interface is in use, as on a machine that somebody works with.
        machine.guest.check("""
            ip link set dev eth0 mtu 1400
            ip address add 192.0.2.1/24 dev eth0
            ip link set dev eth0 up""")
        yield machine


@dataclass
class Prepared:
    """The machine before and after it was prepared."""

    machine: Machine
    state: str
    before: dict[str, dict[str, Any]]
    told: str
    after: dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def prepared(machine: Machine) -> Prepared:
    nics = machine.addresses()
    before = machine.doctor(nics)
    state = machine.state()
    outcome = machine.prepare(nics, "--cores", "1", "--hugepages", "160")
    assert outcome.status == 0, outcome.output
    return Prepared(machine, state, before, outcome.output, machine.doctor(nics))


def test_nic_with_the_default_route_is_refused(machine: Machine) -> None:
    machine.guest.check("ip route add default via 192.0.2.254")
    try:
        path = machine.guest.check("readlink -f /sys/class/net/eth0/device")
        address = next(nic.address for nic in machine.nics if nic.address in path)
        outcome = machine.prepare([address], "--dry-run")
        assert (outcome.status, "carries the default route" in outcome.output) == (1, True), outcome.output
    finally:
        machine.guest.check("ip route del default")


def test_one_of_two_in_a_group_is_refused(machine: Machine) -> None:
    first, second = machine.addresses("e1000")
    outcome = machine.prepare([first], "--dry-run")
    assert outcome.status == 1
    assert re.search(rf"shares IOMMU group \d+ with {second} \(e1000\)", outcome.output), outcome.output


def test_doctor_says_what_prepare_then_does(prepared: Prepared) -> None:
    for nic in prepared.machine.nics:
        name = f"driver of {nic.address}"
        assert (prepared.before[name]["verdict"], prepared.after[name]["verdict"]) == ("fail", "ok")
        assert prepared.before[name]["remedy"].startswith(f"./x testbed host prepare --nic {nic.address}")
    for name in ("modules", "hugepages of node 0"):
        assert (prepared.before[name]["verdict"], prepared.after[name]["verdict"]) == ("fail", "ok"), prepared.after[
            name
        ]
    first, second = prepared.machine.addresses("e1000")
    group = prepared.before[f"group of {first}"]
    assert (group["verdict"], f"not viable: {second} (e1000) is in the way" in group["found"]) == ("fail", True), group
    failing = {name: check for name, check in prepared.after.items() if check["verdict"] == "fail"}
    assert failing == {}
    assert prepared.after["IOMMU"]["found"].startswith("on, ")
    assert prepared.after["interrupt remapping"]["found"] == "on"
    assert "a virtual machine" in prepared.after["kind"]["found"]


def forwarded(nic: Nic, port: int, frame: bytes) -> bytes:
    """What l2fwd makes of a frame that leaves by a NIC, which is this port."""
    return bytes([2, 0, 0, 0, 0, port]) + bytes.fromhex(nic.wire.mac.replace(":", "")) + frame[12:]


def check_stream(stream: Stream, nic: Nic, port: int) -> None:
    expected = [forwarded(nic, port, frame) for frame in stream.frames]
    wrong = next(
        (at for at, (is_, want) in enumerate(zip(stream.received, expected, strict=False)) if is_ != want), None
    )
    assert wrong is None, (
        f"frame {wrong} of {len(expected)} is {stream.received[wrong].hex()}, expected {expected[wrong].hex()}"
    )
    assert len(stream.received) == len(expected)


@pytest.mark.parametrize(("model", "program"), RUNS)
def test_every_frame_comes_out_once_and_in_order_and_a_flood_loses_none_unseen(
    prepared: Prepared, model: str, program: str
) -> None:
    left, right = prepared.machine.pair(model)
    # As the service does it: a user who has the groups' files and nothing else.
    prepared.machine.guest.check("chown nobody /dev/vfio/[0-9]*")
    probes = left.wire.probes + right.wire.probes
    with prepared.machine.forwarding(program, [left, right], user="nobody") as running:
        there = Stream(left.wire, right.wire, make_frames(left.wire, SIZES))
        back = Stream(right.wire, left.wire, make_frames(right.wire, reversed(SIZES)))
        await_forwarding([there, back], QUIET_S)
        exchange([there, back], WINDOW, QUIET_S)
        flooded = Stream(left.wire, right.wire, make_frames(left.wire, [60] * 5_000, FRAMES))
        flood(flooded, QUIET_S)
        final = running.stop()
    late = left.wire.receive() + right.wire.receive()
    check_stream(there, right, 1)
    check_stream(back, left, 0)
    assert late == []
    numbers = [number_of(frame) for frame in flooded.received]
    assert len(numbers) > 0
    assert numbers == sorted(set(numbers)), "out of order or twice"
    assert final.balanced
    probes = left.wire.probes + right.wire.probes - probes
    assert final.total.tx_packets == 2 * FRAMES + len(numbers) + probes
    assert final.total.rx_packets == final.total.tx_packets + final.total.tx_dropped


@pytest.mark.parametrize("program", FORWARDERS)
@pytest.mark.parametrize(
    ("model", "options", "sizes"),
    [("e1000e", "--mtu 9000", [9014, 4000, 1515, 60]), ("vmxnet3", "", [60, 1514, 60, 1514])],
    ids=["e1000e with jumbo frames", "vmxnet3"],
)
def test_two_queues(prepared: Prepared, model: str, options: str, sizes: list[int], program: str) -> None:
    left, right = prepared.machine.pair(model)
    with prepared.machine.forwarding(program, [left, right], f"--queues 2 -q 4 {options}") as running:
        stream = Stream(left.wire, right.wire, make_frames(left.wire, sizes * 50))
        await_forwarding([stream], QUIET_S)
        exchange([stream], 16, QUIET_S)
        running.stop()
    check_stream(stream, right, 1)


@pytest.mark.parametrize("program", FORWARDERS)
@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        ("vmxnet3", "--txd 256", "--txd requests 256 TX descriptors, but the device supports 512 to 4096"),
        ("e1000e", "--rxd 8192", "--rxd requests 8192 RX descriptors, but the device supports 32 to 4096"),
        ("e1000e", "--queues 3 -q 6", "--queues requests 3 RX queues, but the device supports at most 2"),
    ],
)
def test_options_that_a_device_refuses_name_the_limit(
    prepared: Prepared, model: str, options: str, words: str, program: str
) -> None:
    first = prepared.machine.addresses(model)[0]
    command = f"{program} -l 1 -a {first} --in-memory --no-telemetry -- -p 0x1 {options}"
    outcome = prepared.machine.guest.run(command)
    assert (outcome.status, words in outcome.output) == (1, True), outcome.output


@pytest.mark.parametrize("program", FORWARDERS)
@pytest.mark.parametrize("model", ["e1000e", "virtio"])
def test_link_that_goes_and_comes_back(prepared: Prepared, model: str, program: str) -> None:
    machine = prepared.machine
    left, right = machine.pair(model)
    with machine.forwarding(program, [left, right]) as running:
        for up, word in ((False, "link down"), (True, "link up")):
            machine.qmp.ask("set_link", name=left.device, up=up)
            machine.guest.check(f"until grep -q 'port 0 .*: {word}' /tmp/out; do usleep 50000; done")
        stream = Stream(left.wire, right.wire, make_frames(left.wire, [60] * 200))
        await_forwarding([stream], QUIET_S)
        exchange([stream], WINDOW, QUIET_S)
        running.stop()
    check_stream(stream, right, 1)


def test_restored_machine_is_what_it_was(prepared: Prepared) -> None:
    machine = prepared.machine
    assert machine.state() != prepared.state
    outcome = machine.restore()
    assert outcome.status == 0, outcome.output
    left = list(difflib.unified_diff(prepared.state.splitlines(), machine.state().splitlines(), "before", "after", n=0))
    assert left == [], "\n".join(left)
    again = machine.restore()
    assert (again.status, "records no change" in again.output) == (0, True)
    faults = [line for line in machine.guest.run("dmesg").output.splitlines() if "DMAR: [DMA" in line]
    # QEMU's vmxnet3 reads address 0 when its driver takes its memory away; the IOMMU keeps it from that.
    known = [f"Request device [{address[5:]}] fault addr 0x0 " for address in machine.addresses("vmxnet3")]
    assert [line for line in faults if not any(words in line for words in known)] == []


def test_models_are_all_there() -> None:
    assert set(TESTED) == set(MODELS)
