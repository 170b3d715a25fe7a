# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the two forwarders say when something is wrong: the same words, the same status, from both."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
from pathlib import Path

import pytest

from testbed.run.eal import EalOptions, unique_file_prefix
from testbed.run.programs import FORWARDERS, find_program
from testbed.wire.forwarder import Forwarder

TIMEOUT_S = 60
HINT = "Run with '-- --help' for the options."

pytestmark = pytest.mark.e2e

# The application's part of the command line, and the message. None of these needs the EAL.
USAGE = [
    ([], "no port mask: give the ports to use with -p, for example -p 0x3"),
    (["-p", "xyz"], "invalid port mask 'xyz': give a hexadecimal number, for example 0x3"),
    (["-p", ""], "invalid port mask '': give a hexadecimal number, for example 0x3"),
    (["-p", "0x"], "invalid port mask '0x': give a hexadecimal number, for example 0x3"),
    (["-p", "-3"], "invalid port mask '-3': give a hexadecimal number, for example 0x3"),
    (["-p", "10000000000000000"], "invalid port mask '10000000000000000': give a hexadecimal number, for example 0x3"),
    (["-p", "0x0"], "port mask '0x0' selects no port"),
    (["-p", "000"], "port mask '000' selects no port"),
    (["-p3", "-q", "0"], "invalid value '0' for -q: give a number from 1 to 1024"),
    (["-p3", "-q1025"], "invalid value '1025' for -q: give a number from 1 to 1024"),
    (["-p3", "-T", "1.5"], "invalid value '1.5' for -T: give a number from 0 to 86400"),
    (["-p3", "-T", "86401"], "invalid value '86401' for -T: give a number from 0 to 86400"),
    (["-p3", "--burst", "abc"], "invalid value 'abc' for --burst: give a number from 1 to 512"),
    (["-p3", "--burst=0"], "invalid value '0' for --burst: give a number from 1 to 512"),
    (["-p3", "--burst=513"], "invalid value '513' for --burst: give a number from 1 to 512"),
    (["-p3", "--bur", "+1"], "invalid value '+1' for --burst: give a number from 1 to 512"),
    (["-p3", "--burst="], "invalid value '' for --burst: give a number from 1 to 512"),
    (["-p3", "--burst", " 1"], "invalid value ' 1' for --burst: give a number from 1 to 512"),
    (["-p3", "--burst", "--rxd"], "invalid value '--rxd' for --burst: give a number from 1 to 512"),
    (["-p3", "--rxd", "0"], "invalid value '0' for --rxd: give a number from 1 to 65535"),
    (["-p3", "--txd", "65536"], "invalid value '65536' for --txd: give a number from 1 to 65535"),
    (["-p3", "--queues", "1025"], "invalid value '1025' for --queues: give a number from 1 to 1024"),
    (["-p3", "--mtu", "67"], "invalid value '67' for --mtu: give a number from 68 to 65535"),
    (["-p3", "--duration", "0"], "invalid value '0' for --duration: give a number from 1 to 31536000"),
    (
        ["-p3", "--duration", "99999999999999999999999"],
        "invalid value '99999999999999999999999' for --duration: give a number from 1 to 31536000",
    ),
    *(
        (
            ["-p3", f"--portmap={text}"],
            f"invalid port map '{text}': give pairs of port numbers, for example (0,1),(2,3)",
        )
        for text in ["", "(0,1", "0,1", "(0 ,1)", "(0,1)(2,3)", "(0,1),", "(a,b)", "(0,65536)", "((0,1))", "(0,1,2)"]
    ),
    (["-p3", "--portmap", "(0,1),(1,2)"], "port map '(0,1),(1,2)' uses port 1 twice"),
    (["-p3", "--portmap=(1,1),(1,1)"], "port map '(1,1),(1,1)' uses port 1 twice"),
    (["--portmap=(0,5)", "-p3"], "port map '(0,5)' names port 5, which is not in port mask 0x3"),
    (["-p", "F", "--portmap=(0,64)"], "port map '(0,64)' names port 64, which is not in port mask 0xf"),
    (["-p3", "--foo"], "unknown option '--foo'"),
    (["-p3", "--foo=bar"], "unknown option '--foo'"),
    (["-p3", "-z"], "unknown option '-z'"),
    (["-p3", "-Pz"], "unknown option '-z'"),
    (["-p3", "--p"], "option '--portmap' needs a value"),
    (["-p3", "--"], "unexpected argument '--'"),
    (["-p3", "-"], "unexpected argument '-'"),
    (["-p"], "option '-p' needs a value"),
    (["-p3", "--burst"], "option '--burst' needs a value"),
    (["-p3", "--no-mac-updating=1"], "option '--no-mac-updating' takes no value"),
    (["-p3", "--help=1"], "option '--help' takes no value"),
    (["-p3", "x"], "unexpected argument 'x'"),
    # The first one from the left.
    (["--foo", "-p", "xyz"], "unknown option '--foo'"),
    (["-p", "xyz", "--foo"], "invalid port mask 'xyz': give a hexadecimal number, for example 0x3"),
]

NULL2 = ["--vdev=net_null0", "--vdev=net_null1"]

# EAL arguments, the application's part, the message.
MACHINE = [
    (
        [],
        ["-p3"],
        "no Ethernet ports: bind a NIC to a DPDK driver with dpdk-devbind.py, or add a virtual device with --vdev",
    ),
    (NULL2, ["-p", "0xf"], "port mask 0xf names ports that do not exist: 2, 3 (available: 0, 1)"),
    (
        NULL2,
        ["-p", "8000000000000001"],
        "port mask 0x8000000000000001 names ports that do not exist: 63 (available: 0, 1)",
    ),
    (
        NULL2,
        ["-p3"],
        "too few lcores: 2 queue pairs at 1 per lcore need 2 lcores (available: 1): give more with -l, or raise -q",
    ),
    (
        NULL2,
        ["-p3", "--queues", "3", "-q5"],
        "too few lcores: 6 queue pairs at 5 per lcore need 2 lcores (available: 1): give more with -l, or raise -q",
    ),
    (
        ["--vdev=net_ring0"],
        ["-p1", "--queues", "17", "-q1024"],
        "port 0 (net_ring0): --queues requests 17 RX queues, but the device supports at most 16",
    ),
    (
        ["--vdev=net_null0"],
        ["-p1", "--mtu", "68", "--rxd", "65535", "--queues", "1024", "-q", "1024"],
        "cannot create a pool of 68451328 mbufs on socket 0: Cannot allocate memory: reserve more hugepages, "
        "or use fewer descriptors",
    ),
]


def run(
    name: str, eal: list[str], own: list[str] | None, variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    argv = [str(find_program(name).path), *eal]
    if own is not None:
        argv += ["--", *own]
    environment = {**os.environ, **(variables or {})}
    return subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env=environment)


def eal_arguments(extra: list[str]) -> list[str]:
    prefix = unique_file_prefix("errors")
    return ["-l", "0", "--no-huge", "-m", "128", "--no-pci", "--no-telemetry", f"--file-prefix={prefix}", *extra]


def own_lines(stderr: str) -> list[str]:
    """What the forwarder itself says, without the EAL's log."""
    lines = [line for line in stderr.splitlines() if line.startswith(("l2fwd:", "Run with"))]
    return [line for line in lines if not line.startswith("l2fwd: warning: odd number of ports")]


@pytest.mark.parametrize("name", FORWARDERS)
@pytest.mark.parametrize(
    ("own", "message"), USAGE, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_wrong_command_line_is_status_2(name: str, own: list[str], message: str) -> None:
    result = run(name, ["-l", "0"], own)
    # The EAL was not even started: there is no log before the message.
    assert (result.returncode, result.stderr, result.stdout) == (2, f"l2fwd: {message}\n{HINT}\n", "")


@pytest.mark.parametrize("name", FORWARDERS)
@pytest.mark.parametrize(("eal", "own", "message"), MACHINE, ids=range(len(MACHINE)))
def test_what_the_machine_lacks_is_status_1(name: str, eal: list[str], own: list[str], message: str) -> None:
    result = run(name, eal_arguments(eal), own)
    assert own_lines(result.stderr) == [f"l2fwd: {message}"], result.stderr
    assert (result.returncode, result.stdout) == (1, "")


@pytest.mark.parametrize(("option", "direction"), [("--rxd", "RX"), ("--txd", "TX")])
def test_descriptors_that_the_device_does_not_support(option: str, direction: str, tmp_path: Path) -> None:
    """A virtio device states limits; it needs a vhost peer, which a forwarder is as well as any."""
    socket = tmp_path / "peer.sock"
    eal = EalOptions(0, unique_file_prefix("peer"), (f"net_vhost0,iface={socket}",), hugepages=False)
    errors = []
    with Forwarder(find_program("l2fwd-c"), eal, ["-p1"], tmp_path, "peer") as peer:
        peer.start()
        for name in FORWARDERS:
            device = f"--vdev=net_virtio_user0,path={socket}"
            result = run(name, eal_arguments([device, "--single-file-segments"]), ["-p1", option, "7"])
            assert result.returncode == 1
            errors.append(own_lines(result.stderr))
    expected = (
        rf"l2fwd: port 0 \(net_virtio_user0\): {option} requests 7 {direction} descriptors, "
        r"but the device supports \d+ to \d+ in steps of \d+"
    )
    assert len(errors[0]) == 1
    assert re.fullmatch(expected, errors[0][0])
    assert errors[0] == errors[1]


@pytest.mark.parametrize("name", FORWARDERS)
def test_an_argument_that_the_eal_leaves(name: str) -> None:
    result = run(name, [*eal_arguments(NULL2), "stray"], ["-p3"])
    assert own_lines(result.stderr) == ["l2fwd: unexpected argument 'stray'", HINT]
    assert result.returncode == 2


@pytest.mark.parametrize("name", FORWARDERS)
def test_without_hugepages_the_remedy_is_named(name: str) -> None:
    # A folder that is no hugetlbfs has none, whatever the machine has reserved.
    words = [word for word in eal_arguments(NULL2) if word != "--no-huge"]
    result = run(name, [*words, "--huge-dir=/nonexistent"], ["-p3"])
    assert own_lines(result.stderr) == [
        "l2fwd: cannot initialize the EAL: Permission denied: reserve hugepages that this user may use, such as by "
        "echo 512 >/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages, or give --no-huge"
    ]
    assert result.returncode == 1


@pytest.mark.parametrize("name", FORWARDERS)
def test_a_device_that_the_eal_does_not_know(name: str) -> None:
    result = run(name, eal_arguments(["--vdev=net_missing0"]), ["-p3"])
    assert own_lines(result.stderr) == ["l2fwd: cannot initialize the EAL: No such device"]
    assert result.returncode == 1


@pytest.mark.parametrize("name", FORWARDERS)
def test_a_device_that_its_driver_refuses(name: str) -> None:
    """DPDK goes on without it, so that the ports would be others."""
    result = run(name, eal_arguments([*NULL2, "--vdev", "net_pcap0,rx_pcap=/nothing.pcap"]), ["-p3"])
    assert own_lines(result.stderr) == [
        "l2fwd: cannot initialize the EAL: the driver of device 'net_pcap0' refused it: correct the device's "
        "arguments, or leave it out; DPDK's log says more"
    ]
    assert result.returncode == 1


@pytest.mark.parametrize("name", FORWARDERS)
def test_a_file_prefix_that_another_process_has(name: str, tmp_path: Path) -> None:
    """DPDK sets no error number then, so that all that it would tell is "Success"."""
    config = tmp_path / "dpdk" / "mine" / "config"
    config.parent.mkdir(parents=True)
    eal = ["-l", "0", "--no-huge", "-m", "128", "--no-pci", "--no-telemetry", "--file-prefix=mine", *NULL2]
    with config.open("w") as file:
        # What a primary process does; this one stands for it.
        fcntl.lockf(file, fcntl.LOCK_EX)
        result = run(name, eal, ["-p3"], {"RUNTIME_DIRECTORY": str(tmp_path)})
    own = Path("/proc/self/comm").read_text().strip()
    assert own_lines(result.stderr) == [
        f"l2fwd: cannot initialize the EAL: process {os.getpid()} ({own}) runs under the file prefix 'mine' and holds "
        f"{config}: choose another prefix, such as --file-prefix=mine2, or end that process"
    ]
    assert result.returncode == 1


@pytest.mark.parametrize("name", FORWARDERS)
def test_a_statistics_file_that_cannot_be_opened(name: str, tmp_path: Path) -> None:
    path = tmp_path / "missing" / "stats.json"
    result = run(name, eal_arguments(NULL2), ["-p3", "--stats-json", str(path)])
    assert result.stderr == f"l2fwd: cannot open '{path}' for statistics: No such file or directory\n"
    assert result.returncode == 1


@pytest.mark.parametrize(
    "arguments", [["--help"], ["-h"], ["-l", "0", "--", "--help"], ["--", "--foo", "-h"]], ids=" ".join
)
def test_help_is_the_same_but_for_the_name(arguments: list[str]) -> None:
    helps = []
    for name in FORWARDERS:
        argv = [str(find_program(name).path), *arguments]
        result = subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout.startswith(f"Usage: {name} [EAL options] -- -p PORTMASK")
        helps.append(result.stdout.replace(name, "l2fwd"))
    assert helps[0] == helps[1]


@pytest.mark.parametrize("name", FORWARDERS)
def test_version(name: str) -> None:
    result = run(name, ["--version"], None)
    assert result.returncode == 0
    assert result.stdout.startswith(f"{name} 0.1.0 (DPDK 2")
