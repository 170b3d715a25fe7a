# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the example `diagnose` of dpdk-rs finds on a machine with NICs, each failure provoked in a virtual machine.

There other examples also show what no device of the machine itself can: rules that sort frames need a kernel with
`flower`, VLANs a NIC that looks at tags.
"""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from testbed.run.programs import repository_root
from testbed.run.scratch import scratch_folder
from testbed.vm.guest import Guest, Initramfs, Kernel, VmMissing, find_kernel, need_tools, needs
from testbed.vm.wire import ETHERTYPE, Stream, Wire, await_forwarding, exchange, make_frames, number_of

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

EXAMPLES = repository_root() / "target/debug/examples"
PROGRAMS = ("diagnose", "rx_tx", "flow_rules", "vlan_filter", "port_report", "port_reset", "own_memory")
PLUGINS = ("bus_pci", "bus_vdev", "mempool_ring", "net_*e1000", "net_null", "net_ring", "net_tap", "net_vmxnet3")
# What a tap, and rules for what it receives, take.
FLOWER = ("tun", "sch_multiq", "sch_ingress", "cls_flower", "act_gact", "act_skbedit")
MODULES = ("e1000", "e1000e", "pci-stub", "uio_pci_generic", "vfio-pci", "vfio_iommu_type1", *FLOWER)

# One NIC of its own, and two that share a group since they are behind a bridge.
NIC, FIRST, SECOND = "0000:01:00.0", "0000:02:01.0", "0000:02:02.0"
NICS = [
    "pcie-root-port,id=root,chassis=1,addr=4",
    "e1000e,bus=root",
    "pcie-pci-bridge,id=bridge,addr=5",
    "e1000,bus=bridge,addr=1",
    "e1000,bus=bridge,addr=2",
]
# Its driver, which the kernel here lacks, can be reset.
RESETTABLE = "0000:00:06.0"
# The first of them with a wire.
MAC = "52:54:00:00:00:01"
WIRED = [word.replace("e1000e,bus=root", f"e1000e,bus=root,netdev=wire,mac={MAC}") for word in NICS]
WIRED += ["vmxnet3,addr=6"]
# As wide as those of servers: the program's own addresses have 47 bits.
IOMMU = ["intel-iommu,intremap=on,aw-bits=48"]

# Two NUMA nodes with a CPU each.
NODES = [
    *("-object", "memory-backend-ram,id=m0,size=384M", "-numa", "node,memdev=m0,cpus=0"),
    *("-object", "memory-backend-ram,id=m1,size=128M", "-numa", "node,memdev=m1,cpus=1"),
]


class Machine:
    """A guest with `diagnose` in it, and perhaps a wire."""

    def __init__(self, guest: Guest, wire: Wire | None = None) -> None:
        self.guest, self.wire = guest, wire
        # Enough for what the tests start, on the first node.
        guest.check("echo 96 >/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages")
        guest.check("mkdir -p /dev/hugepages && mount -t hugetlbfs none /dev/hugepages")

    def bind(self, address: str, driver: str) -> None:
        """Binds a NIC to a driver of the kernel, whatever it was bound to."""
        device = f"/sys/bus/pci/devices/{address}"
        self.guest.check(f"""
            modprobe {driver}
            echo {driver} >{device}/driver_override
            [ ! -e {device}/driver ] || echo {address} >{device}/driver/unbind
            echo {address} >/sys/bus/pci/drivers_probe
        """)

    def driver(self, address: str) -> str:
        return self.guest.run(f"readlink /sys/bus/pci/devices/{address}/driver").output.rpartition("/")[2].strip()

    def findings(self, options: str, before: str = "") -> list[str]:
        """What is found after the shell commands `before`; something must be."""
        outcome = self.guest.run(f"{before}\ndiagnose -l 0 --no-telemetry {options}", 300)
        assert outcome.status == 1, outcome.output
        found = re.findall(r"^diagnose: found: (.*)$", outcome.output, re.MULTILINE)
        assert found, outcome.output
        return found

    def found(self, options: str, before: str = "") -> str:
        """The only finding."""
        found = self.findings(options, before)
        assert len(found) == 1, found
        return found[0]

    def report(self, options: str) -> str:
        """What is reported if nothing is in the way."""
        outcome = self.guest.run(f"diagnose -l 0 --no-telemetry {options}", 300)
        assert outcome.status == 0, outcome.output
        return outcome.output


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    try:
        need_tools()
        return find_kernel()
    except VmMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def initramfs(kernel: Kernel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("initramfs")
    built = Initramfs(folder, kernel, MODULES)
    for name in PROGRAMS:
        program = EXAMPLES / name
        if not program.exists():
            pytest.skip(f"{program} is missing: run cargo build -p dpdk-rs --examples")
        stripped = shutil.copy(program, folder / name)
        subprocess.run(["strip", stripped], check=True)
        built.add(Path(stripped), f"/bin/{name}")
    plugins = plugin_folder(EXAMPLES / "diagnose")
    for name in PLUGINS:
        for plugin in plugins.glob(f"librte_{name}.so"):
            built.add(plugin)
    return built.write()


def plugin_folder(program: Path) -> Path:
    """Where DPDK looks for its drivers, as its library says."""
    eal = next((library for library in needs(program) if library.name.startswith("librte_eal.so")), None)
    found = eal and re.search(rb"DPDK_PLUGIN_PATH=([^\0]+)\0", eal.read_bytes())
    if not found:
        pytest.skip("the examples are linked with DPDK's archives: what plug-ins are missing cannot be tried")
    return Path(found[1].decode())


@pytest.fixture(scope="module")
def machine(kernel: Kernel, initramfs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One with an IOMMU that remaps interrupts; most tests share it, and leave it as they found it."""
    log_dir = tmp_path_factory.mktemp("guest")
    with scratch_folder() as folder, Wire(folder, "wire", MAC) as wire:
        devices, options = IOMMU + WIRED, [*NODES, "-netdev", wire.netdev]
        with Guest(kernel, initramfs, log_dir, devices=devices, append="intel_iommu=on", options=options) as guest:
            yield Machine(guest, wire)


@pytest.fixture
def ready(machine: Machine) -> Machine:
    """The machine with its first NIC as DPDK wants it."""
    machine.guest.check("modprobe vfio_iommu_type1")
    machine.bind(NIC, "vfio-pci")
    return machine


def test_nics_of_the_kernel(machine: Machine) -> None:
    for address, driver in ((NIC, "e1000e"), (FIRST, "e1000"), (SECOND, "e1000")):
        machine.bind(address, driver)
    machine.guest.check(f"ifconfig $(ls /sys/bus/pci/devices/{NIC}/net) up")
    nobodys, *found = machine.findings("")
    assert nobodys.startswith(f"NIC {RESETTABLE} is bound to no driver: modprobe vfio-pci && ")
    assert [re.sub(r" \(interface eth\d\)", "", text.partition(":  modprobe")[0]) for text in found] == [
        f"NIC {address} is bound to {driver} of the kernel: modprobe vfio-pci && "
        f"dpdk-devbind.py --bind=vfio-pci {address}{warning}"
        for address, driver, warning in (
            (FIRST, "e1000", ""),
            (SECOND, "e1000", ""),
            (NIC, "e1000e", ". Its interface is up: what uses it loses it"),
        )
    ]


def test_nic_of_nobody(machine: Machine) -> None:
    machine.bind(NIC, "pci-stub")
    machine.guest.check(f"echo {NIC} >/sys/bus/pci/drivers/pci-stub/unbind")
    assert machine.found(f"-a {NIC}").startswith(f"NIC {NIC} is bound to no driver: modprobe vfio-pci && ")


def test_wrong_driver_of_the_kernel(machine: Machine) -> None:
    machine.bind(NIC, "pci-stub")
    assert machine.found(f"-a {NIC}") == (
        f"NIC {NIC} is bound to pci-stub, which net_e1000_em cannot use: modprobe vfio-pci && "
        f"dpdk-devbind.py --bind=vfio-pci {NIC}"
    )


def test_nothing_in_the_way(ready: Machine) -> None:
    assert f"port 0 ({NIC}): net_e1000_em, 52:54:00:" in ready.report(f"-a {NIC}")
    assert f"port 0 ({NIC}): net_e1000_em, 52:54:00:" in ready.report(f"-a {NIC} --in-memory")


def test_vfio_without_its_part_for_the_iommu(ready: Machine) -> None:
    ready.guest.check("rmmod vfio_iommu_type1")
    found = ready.found(f"-a {NIC}")
    assert found.endswith("vfio_iommu_type1 is not, so VFIO cannot use the IOMMU: modprobe vfio_iommu_type1")


def test_group_shared_with_the_kernel(ready: Machine) -> None:
    ready.bind(FIRST, "vfio-pci")
    ready.bind(SECOND, "e1000")
    found = ready.found(f"-a {FIRST}")
    assert re.match(rf"NIC {FIRST} shares IOMMU group \d+ with {SECOND} \(e1000\): bind these to vfio-pci too ", found)
    ready.bind(SECOND, "vfio-pci")
    assert f"port 0 ({FIRST}): net_e1000_em" in ready.report(f"-a {FIRST}")


def test_driver_that_is_not_installed(ready: Machine, initramfs: Path) -> None:
    folder = plugin_folder(EXAMPLES / "diagnose")
    try:
        ready.guest.check(f"mkdir /away && mv {folder}/*e1000* /away")
        assert re.match(
            rf"there is no driver for NIC {NIC} \(8086:10d3\) in {folder} \(\d+ plug-ins\): install its plug-in",
            ready.found(f"-a {NIC}"),
        )
    finally:
        ready.guest.check(f"mv /away/* {folder} && rmdir /away")


def test_rules_sort_frames_and_drop_them_until_they_are_destroyed(machine: Machine) -> None:
    output = machine.guest.check(f"""
        modprobe -a {" ".join(FLOWER)}
        flow_rules -l 0 --no-telemetry --no-pci --vdev=net_tap0,iface=sorted0 >/tmp/rules 2>&1 &
        until grep -q 'three rules; waits for' /tmp/rules 2>/dev/null; do
            [ -e /proc/$! ] || {{ cat /tmp/rules; exit 1; }}
            usleep 100000
        done
        ip address add 192.0.2.2/24 dev sorted0
        wait $!
        status=$?
        cat /tmp/rules
        exit $status""")
    told = re.findall(r"^(.*), queue ([01]): (\d+) to port 6000, (\d+) to port 6001, (\d+) to port 6002$", output, re.M)
    counts = {(when, int(queue)): [int(count) for count in rest] for when, queue, *rest in told}
    # Of 20 each; where those come to that no rule is for, the kernel decides.
    for when, dropped in (("with all rules", 20), ("without the last", 0)):
        (first, left), (second, right) = ((counts[when, queue][:2], counts[when, queue][2]) for queue in (0, 1))
        assert (first, second, left + right) == ([20, 0], [0, 20], 20 - dropped), output


def tagged(number: int, vlan: int | None, size: int) -> bytes:
    """A frame to the wired NIC, of `size` bytes without its tag."""
    tag = b"" if vlan is None else bytes.fromhex("8100") + vlan.to_bytes(2)
    addresses = bytes.fromhex(MAC.replace(":", "")) + bytes.fromhex("020000000099")
    return addresses + tag + (ETHERTYPE + number.to_bytes(4)).ljust(size - len(addresses), b"\0")


def test_vlans_are_filtered_and_their_tags_taken_off(ready: Machine) -> None:
    wire = ready.wire
    assert wire is not None
    # Numbers that differ in any part of the device's table; 4 bits of another tag are a priority.
    allowed, others = [1, 100, 4094], [2, 101, 132, 4093]
    ready.guest.check(f"""
        vlan_filter -l 0 --no-telemetry -a {NIC} -- {" ".join(map(str, allowed))} >/tmp/vlans 2>&1 &
        echo $! >/tmp/pid
        until grep -q 'receives frames of the VLANs' /tmp/vlans 2>/dev/null; do
            [ -e /proc/$! ] || {{ cat /tmp/vlans; exit 1; }}
            usleep 100000
        done""")
    try:
        # The device may lose frames for a while after it was started, and keeps the order of the others.
        until_seen(ready, lambda number: wire.send(tagged(number, 1, 200)), "VLAN 1: 200 bytes")
        frames = [
            *(tagged(number, vlan, 100 + number) for number, vlan in enumerate([None, *allowed, *others] * 3)),
            tagged(99, 5 << 13 | 100, 300),
        ]
        for frame in frames:
            # The socket holds few of them; QEMU fetches them as fast as it comes to it.
            while not wire.send(frame):
                ready.guest.check("true")
        until_seen(ready, lambda _: True, "VLAN 100: 300 bytes")
        output = ready.guest.check(
            "kill $(cat /tmp/pid); while [ -e /proc/$(cat /tmp/pid) ]; do usleep 100000; done; cat /tmp/vlans"
        )
    finally:
        ready.guest.run("kill -9 $(cat /tmp/pid) 2>/dev/null; rm -f /dev/hugepages/*")
    lines = [
        line for line in output.splitlines() if re.search(r"VLAN.*: \d+ bytes", line) and ": 200 bytes" not in line
    ]
    expected = [
        f"{'no VLAN' if vlan is None else f'VLAN {vlan}'}: {100 + number} bytes, type [88, b5]"
        for number, vlan in enumerate([None, *allowed, *others] * 3)
        if vlan not in others
    ]
    assert lines == [*expected, "VLAN 100: 300 bytes, type [88, b5]"], output


def test_a_driver_tells_of_its_queues_and_descriptors(ready: Machine) -> None:
    wire = ready.wire
    assert wire is not None
    ready.guest.check(f"""
        port_report -l 0 --no-telemetry -a {NIC} -- 8 24 100 >/tmp/report 2>&1 &
        echo $! >/tmp/pid
        until grep -q 'waiting for 8 used' /tmp/report 2>/dev/null; do
            [ -e /proc/$! ] || {{ cat /tmp/report; exit 1; }}
            usleep 100000
        done""")
    try:
        deadline = time.monotonic() + 60
        while ready.guest.run("[ ! -e /proc/$(cat /tmp/pid) ]").status != 0:
            wire.send(tagged(1, None, 100))
            assert time.monotonic() < deadline, ready.guest.run("cat /tmp/report").output
        report = ready.guest.check("cat /tmp/report")
    finally:
        ready.guest.run("kill -9 $(cat /tmp/pid) 2>/dev/null; rm -f /dev/hugepages/*")
    assert f"port 0 ({NIC}), driver net_e1000_em" in report
    assert "RX queue 0: RxQueueInfo { descriptors: 1024, " in report, report
    assert "TX queue 0: TxQueueInfo { descriptors: 1024, " in report, report
    assert report.count("free_threshold: 24, ") == 2, report
    assert "report_threshold: 24, " in report, report
    before, after = report.split("waiting for")
    assert "first RX descriptor: Available" in before, report
    assert "first TX descriptor: Done" in before, report
    # The driver counts in steps of 4.
    used = re.search(r"used RX descriptors: (\d+)", after)
    assert used is not None, report
    assert int(used[1]) >= 8, report
    assert int(used[1]) % 4 == 0, report
    assert "first RX descriptor: Done" in after, report
    # The emulated NIC says its link's speed, whatever it is set to; the driver that nobody has negotiated.
    assert "  speeds: 10 Mbit/s half duplex, 10 Mbit/s, 100 Mbit/s half duplex, 100 Mbit/s, 1000 Mbit/s\n" in report
    assert re.search(r"link then: Link { up: true, .*, autonegotiated: false }", after), report
    assert 'drops: false, offloads: ["KEEP_CRC"] }' in before, report
    lacking = "the device has no burst modes to report (its driver is net_e1000_em): "
    assert report.count(lacking) == 2, report


def test_a_nic_reaches_memory_of_the_program(ready: Machine) -> None:
    wire = ready.wire
    assert wire is not None
    refused = ready.guest.run(f"own_memory -l 0 --no-telemetry -a {NIC} --iova-mode=pa")
    assert (refused.status, "Error: PhysicalAddresses\n" in refused.output) == (1, True), refused.output
    ready.guest.check(f"""
        own_memory -l 0 --no-telemetry -a {NIC} >/tmp/own 2>&1 &
        echo $! >/tmp/pid
        until grep -q 'pages of this program through the IOMMU' /tmp/own 2>/dev/null; do
            [ -e /proc/$! ] || {{ cat /tmp/own; exit 1; }}
            usleep 100000
        done""")
    # More than there are mbufs, of which each comes back.
    stream = Stream(wire, wire, make_frames(wire, itertools.islice(itertools.cycle(range(60, 1515, 17)), 1200)))
    try:
        await_forwarding([stream], 60)
        # A busy machine may hold up the guest.
        exchange([stream], 32, 120)
        told = ready.guest.check(
            "kill $(cat /tmp/pid); while [ -e /proc/$(cat /tmp/pid) ]; do usleep 100000; done; cat /tmp/own"
        )
    finally:
        ready.guest.run("kill -9 $(cat /tmp/pid) 2>/dev/null; rm -f /dev/hugepages/*")
    numbers = [number_of(frame) for frame in stream.received]
    assert numbers == list(range(1200)), told
    assert all(is_ == want for is_, want in zip(stream.received, stream.frames, strict=True)), told
    counts = re.search(r"^received: (\d+), sent: (\d+), mbufs back: 1023 of 1023$", told, re.MULTILINE)
    assert counts is not None, told
    # Probes came before.
    assert int(counts[1]) >= int(counts[2]) >= 1200, told


def test_a_port_is_reset_and_gets_another_queue(ready: Machine) -> None:
    ready.bind(RESETTABLE, "vfio-pci")
    try:
        # The other has a driver that cannot.
        told = ready.guest.check(f"port_reset -l 0 --no-telemetry -a {RESETTABLE} -a {NIC} 2>&1")
        report = ready.guest.check(f"port_report -l 0 --no-telemetry -a {RESETTABLE} 2>&1")
    finally:
        ready.guest.run(f"""
            rm -f /dev/hugepages/*
            echo {RESETTABLE} >/sys/bus/pci/drivers/vfio-pci/unbind
            echo >/sys/bus/pci/devices/{RESETTABLE}/driver_override""")
    chosen = "those selected after its reset"
    lacks = "the device has no reset (its driver is net_e1000_em): start the port again as it is, or close it"
    assert [line for line in told.splitlines() if line.startswith("port ")] == [
        f"port 0 ({RESETTABLE}) started: RX queues: 1",
        f"port 0 ({RESETTABLE}) started again: RX queues: 2",
        f"port 0 ({RESETTABLE}): counters from before its reset: 1 requested, the device supports {chosen}",
        f"port 1 ({NIC}) started: RX queues: 1",
        f"port 1 ({NIC}): {lacks}",
        f"port 1 ({NIC}) started again: RX queues: 1",
    ], told
    assert re.search(r'^  firmware: "v\d+"$', report, re.MULTILINE), report
    assert "  speeds: 10000 Mbit/s\n  offload: TCP_LRO\n" in report, report


def until_seen(machine: Machine, send: Callable[[int], object], line: str) -> None:
    """Calls `send` with 0, 1 and so on until a line begins with these words."""
    deadline = time.monotonic() + 60
    for number in itertools.count():
        send(number)
        if machine.guest.run(f"grep -q '^{line}' /tmp/vlans").status == 0:
            return
        assert time.monotonic() < deadline, machine.guest.run("cat /tmp/vlans").output


def test_what_another_process_has(ready: Machine) -> None:
    # Waits for frames, of which there are none.
    pid = ready.guest.check(f"""
        rx_tx -l 0 --no-telemetry -a {NIC} --file-prefix=first >/tmp/first 2>&1 &
        until ls -l /proc/$!/fd 2>/dev/null | grep -q '/dev/vfio/[0-9]' &&
            grep -q 'HugetlbPages:.*[1-9]' /proc/$!/status
        do
            [ -e /proc/$! ] || {{ cat /tmp/first; exit 1; }}
            usleep 50000
        done
        echo $!""").strip()
    try:
        found = ready.found(f"-a {NIC} --file-prefix=second")
        assert re.match(rf"NIC {NIC} is in use by process {pid} \(rx_tx\), which has /dev/vfio/\d+ open: ", found)
        found = ready.found("--no-pci --vdev=net_null0 --file-prefix=first")
        assert found.startswith(
            f"process {pid} (rx_tx) runs under the file prefix 'first' and holds /var/run/dpdk/first"
        )
        ready.guest.check("echo 1 >/proc/sys/vm/nr_hugepages; grep -q 'HugePages_Free: *0$' /proc/meminfo")
        found = ready.found("--no-pci --vdev=net_null0 --file-prefix=second")
        assert re.match(rf"none of the \d+ MB of hugepages is free: process {pid} \(rx_tx\) has \d+ MB. ", found)
    finally:
        ready.guest.check(f"kill -9 {pid} && rm -f /dev/hugepages/*")
        reserve(ready)


def reserve(machine: Machine) -> None:
    machine.guest.check("""
        echo 0 >/proc/sys/vm/nr_hugepages
        echo 96 >/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages""")


def test_user_without_rights(ready: Machine) -> None:
    group = ready.guest.check(f"basename $(readlink /sys/bus/pci/devices/{NIC}/iommu_group)").strip()
    command = f"diagnose -l 0 --no-telemetry --in-memory -a {NIC}"
    limited = f"ulimit -l 64; su nobody -c '{command}'; exit $?\n"
    # The line that `found` adds is not reached.
    assert f"user 65534 may not open /dev/vfio/{group}: as root run chown 65534 " in ready.findings("", limited)[0]
    ready.guest.check(f"chown nobody /dev/vfio/{group}")
    found = ready.found("", limited)
    assert found.startswith("user 65534 may lock 64 kB, and VFIO locks all memory that the NIC may write to: ")
    outcome = ready.guest.run(f"ulimit -l unlimited; su nobody -c '{command}'", 300)
    assert (outcome.status, f"port 0 ({NIC})" in outcome.output) == (0, True), outcome.output
    found = ready.found("", "su nobody -c 'diagnose -l 0 --no-telemetry --no-pci --vdev=net_null0'; exit $?\n")
    assert found.startswith("user 65534 may not write to /dev/hugepages, where hugepages come from: ")


def test_no_hugepages(machine: Machine) -> None:
    try:
        machine.guest.check("echo 0 >/proc/sys/vm/nr_hugepages")
        found = machine.found("--no-pci --vdev=net_null0")
        assert found.startswith("no hugepages are reserved (2048 kB: 0, 1048576 kB: 0): reserve some, as in sysctl -w ")
        # The remedy.
        machine.guest.check("sysctl -w vm.nr_hugepages=64")
        machine.report("--no-pci --vdev=net_null0")
    finally:
        reserve(machine)


def test_hugepages_that_are_not_mounted(machine: Machine) -> None:
    machine.guest.check("umount /dev/hugepages")
    found = machine.found("--no-pci --vdev=net_null0")
    assert found.startswith("96 hugepages of 2048 kB are reserved, but no hugetlbfs for that size is mounted: ")
    remedy = re.search("mounted: (.*), or give --in-memory$", found)
    assert remedy
    machine.guest.check(remedy[1])
    machine.report("--no-pci --vdev=net_null0")


def test_hugepages_of_another_socket(machine: Machine) -> None:
    machine.report("--no-pci --vdev=net_null0 --socket-mem=64,0")
    found = machine.found("--no-pci --vdev=net_null0 --socket-mem=0,32")
    assert found.startswith("32 MB are needed on socket 1, 0 MB of hugepages are free there: use another socket, or ")
    remedy = re.search("or reserve more: (.*)$", found)
    assert remedy
    try:
        machine.guest.check(remedy[1])
        machine.report("--no-pci --vdev=net_null0 --socket-mem=0,32")
    finally:
        reserve(machine)


def test_cpus_that_the_control_group_does_not_have(machine: Machine) -> None:
    machine.guest.check("""
        mkdir -p /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
        echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
        mkdir /sys/fs/cgroup/half && echo 0 >/sys/fs/cgroup/half/cpuset.cpus""")
    found = machine.found("-l 1 --no-pci --vdev=net_null0", "echo $$ >/sys/fs/cgroup/half/cgroup.procs")
    assert found.startswith("CPU 1 is requested, but the control group of this process has only 0: give one of these, ")


def test_cpu_that_is_offline(machine: Machine) -> None:
    try:
        machine.guest.check("echo 0 >/sys/devices/system/cpu/cpu1/online")
        found = machine.found("-l 0-1 --no-pci --vdev=net_null0")
        assert found == "CPU 1 is requested, this machine has 0: give CPUs that exist, such as -l 0"
    finally:
        machine.guest.check("echo 1 >/sys/devices/system/cpu/cpu1/online")


def test_interrupts_that_are_not_remapped(kernel: Kernel, initramfs: Path, tmp_path: Path) -> None:
    devices, append = IOMMU + NICS, "intel_iommu=on intremap=off"
    with Guest(kernel, initramfs, tmp_path, devices=devices, append=append, cpus=1) as guest:
        machine = Machine(guest)
        machine.guest.check("modprobe vfio_iommu_type1")
        machine.bind(NIC, "vfio-pci")
        found = machine.found(f"-a {NIC}")
        assert found.startswith("the IOMMU does not remap interrupts, so VFIO provides no device: ")
        remedy = re.search("can forge interrupts: (.*)$", found)
        assert remedy
        guest.check(remedy[1])
        assert f"port 0 ({NIC})" in machine.report(f"-a {NIC}")


@pytest.mark.parametrize(
    ("devices", "append", "remedy"),
    [
        (IOMMU, "intel_iommu=off", "remove intel_iommu=off from the kernel's command line and reboot"),
        ([], "", "enable it in the firmware (VT-d, AMD-Vi), or give the virtual machine one. "),
    ],
    ids=["by the command line", "not there"],
)
def test_iommu_that_is_off(
    kernel: Kernel, initramfs: Path, tmp_path: Path, devices: list[str], append: str, remedy: str
) -> None:
    with Guest(kernel, initramfs, tmp_path, devices=devices + NICS, append=append, cpus=1) as guest:
        machine = Machine(guest)
        machine.bind(NIC, "vfio-pci")
        assert machine.driver(NIC) == "", "vfio-pci takes no NIC without an IOMMU"
        found = machine.findings(f"-a {NIC}")
        assert found[0].startswith(f"the kernel uses no IOMMU, so vfio-pci takes no NIC: {remedy}")
        assert found[1].startswith(f"NIC {NIC} is bound to no driver: ")
        # Debian's kernel does not have the way of VFIO to go without.
        way = "modprobe uio_pci_generic && dpdk-devbind.py --bind=uio_pci_generic"
        assert found[0].endswith(f". To do without one, so that a NIC can write anywhere: {way} {NIC}")
        machine.bind(NIC, "uio_pci_generic")
        assert f"port 0 ({NIC})" in machine.report(f"-a {NIC}")
