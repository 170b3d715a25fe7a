# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the doctor says of made-up machines: one where all is well, and one for each thing that is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from host_tree import DEVICES, FLAGS_V2, NIC, SHARED, TWIN, UPLINK, Tree, server, unprepared
from typer.testing import CliRunner

from testbed.cli import app
from testbed.doctor.builds import marches
from testbed.doctor.check import Check, Question, Verdict
from testbed.doctor.examination import examine, exit_status
from testbed.host.files import Host

QUESTION = Question(nics=(NIC,), cores=(2, 3), marches=("corei7",))
CPUS = "/sys/devices/system/cpu"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return server(tmp_path / "machine")


def found(tree: Tree, question: Question = QUESTION) -> dict[str, Check]:
    return {check.name: check for check in examine(Host(tree.root), question)}


def not_ok(tree: Tree, question: Question = QUESTION) -> list[Check]:
    return [check for check in examine(Host(tree.root), question) if check.verdict is not Verdict.OK]


def test_nothing_is_wrong_with_a_machine_that_is_ready(tree: Tree) -> None:
    assert not_ok(tree) == []
    checks = examine(Host(tree.root), QUESTION)
    assert exit_status(checks) == 0
    groups = {check.group for check in checks}
    assert groups == {"machine", "processor", "scheduling", "NUMA", "memory", "IOMMU and VFIO", "NICs", "DPDK"}
    assert all(check.why for check in checks)


Change = Callable[[Tree], None]


def put(path: str, text: str) -> Change:
    return lambda tree: tree.file(path, text)


def drop(path: str) -> Change:
    return lambda tree: tree.remove(path)


def all_of(*changes: Change) -> Change:
    def make(tree: Tree) -> None:
        for change in changes:
            change(tree)

    return make


def driver(address: str, name: str) -> Change:
    return lambda tree: tree.link(f"{DEVICES}/{address}/driver", f"../../../bus/pci/drivers/{name}")


def share_group(tree: Tree) -> None:
    tree.remove(f"/sys/kernel/iommu_groups/21/devices/{TWIN}")
    tree.in_group(TWIN, 20)


def no_remapping(tree: Tree) -> None:
    tree.file("/proc/interrupts", "  9:  0  IO-APIC  9-fasteoi  acpi")
    tree.file("/proc/cmdline", "intel_iommu=on intremap=off isolcpus=2-3 nohz_full=2-3 rcu_nocbs=2-3")


def kernel_of_a_cloud(tree: Tree) -> None:
    tree.remove("/sys/module/vfio_pci")
    tree.file("/lib/modules/6.1.0-9-amd64/modules.dep", "kernel/drivers/net/tun.ko:")


NO_GROUPS = drop("/sys/kernel/iommu_groups")
WELL = "/proc/cmdline", "intel_iommu=off isolcpus=2-3 nohz_full=2-3 rcu_nocbs=2-3"

# What is wrong, the check that must say so, how bad it is, and words of what was found and of the remedy.
WRONG = {
    "iommu off at boot": (
        all_of(NO_GROUPS, put(*WELL)),
        "IOMMU",
        "fail",
        "started with intel_iommu=off",
        "take intel_iommu=off off",
    ),
    "iommu not used": (NO_GROUPS, "IOMMU", "fail", "(DMAR)", "add intel_iommu=on iommu=pt"),
    "no iommu": (all_of(NO_GROUPS, drop("/sys/firmware")), "IOMMU", "fail", "describes none", "VT-d or AMD-Vi"),
    "going without iommu": (
        all_of(NO_GROUPS, put("/sys/module/vfio/parameters/enable_unsafe_noiommu_mode", "Y")),
        "IOMMU",
        "warn",
        "VFIO is set to work without it",
        "turn the IOMMU on",
    ),
    "interrupts": (
        no_remapping,
        "interrupt remapping",
        "fail",
        "No interrupt remapping support",
        "take intremap=off off",
    ),
    "shared group": (share_group, f"group of {NIC}", "fail", f"not viable: {TWIN} (i40e) is in the way", TWIN),
    "type1": (
        drop("/sys/module/vfio_iommu_type1"),
        "modules",
        "fail",
        "vfio_iommu_type1",
        "modprobe -a vfio_iommu_type1",
    ),
    "cloud kernel": (kernel_of_a_cloud, "modules", "fail", "6.1.0-9-amd64 has no vfio-pci", "linux-image-amd64"),
    "one hugepage": (
        put("/sys/devices/system/node/node0/hugepages/hugepages-2048kB/free_hugepages", "1"),
        "hugepages of node 0",
        "fail",
        "2 MB, at least 64 are needed",
        "/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages",
    ),
    "no mount": (put("/proc/mounts", "none /proc proc rw"), "hugetlbfs", "warn", "not mounted", "mount -t hugetlbfs"),
    "memory locks": (
        all_of(
            put("/proc/self/limits", "Max locked memory         8388608              8388608              bytes"),
            put("/proc/self/status", "PPid:\t1\nCapEff:\t0"),
        ),
        "memory locks",
        "fail",
        "8192 kB",
        "LimitMEMLOCK=infinity",
    ),
    "old cpu": (
        put("/proc/cpuinfo", f"model name : QEMU Virtual CPU\nflags : {FLAGS_V2.replace('sse4_2 ', '')}"),
        "SIMD level",
        "fail",
        "the CPU lacks sse4_2",
        "DPDK needs SSE 4.2",
    ),
    "governor": (
        put(f"{CPUS}/cpu3/cpufreq/scaling_governor", "powersave"),
        "governor",
        "warn",
        "powersave on CPU 3",
        "--cores 3",
    ),
    "turbo": (put(f"{CPUS}/intel_pstate/no_turbo", "0"), "turbo", "warn", "on", "echo 1 >"),
    "C-states": (
        all_of(
            put(f"{CPUS}/cpu2/cpuidle/state3/latency", "133"),
            put(f"{CPUS}/cpu2/cpuidle/state3/disable", "0"),
            put(f"{CPUS}/cpu2/cpuidle/state3/name", "C6"),
        ),
        "C-states",
        "warn",
        "deepest state C6, 133 µs",
        "idle-set",
    ),
    "isolcpus": (put(f"{CPUS}/isolated", "2"), "isolcpus", "warn", "CPU 2", "add isolcpus=2-3"),
    "isolcpus of all": (
        all_of(put(f"{CPUS}/isolated", "2"), put(f"{CPUS}/online", "2-3")),
        "isolcpus",
        "warn",
        "CPU 2",
        "leave CPU 2 to the system, which no machine can do without: choose --cores 3, and isolate these",
    ),
    "nohz_full": (put(f"{CPUS}/nohz_full", "(null)"), "nohz_full", "warn", "no CPU", "add nohz_full=2-3"),
    "rcu_nocbs": (put("/proc/cmdline", "quiet"), "rcu_nocbs", "warn", "no CPU", "add rcu_nocbs=2-3"),
    "irqbalance": (put("/proc/812/comm", "irqbalance"), "irqbalance", "warn", "process 812", "systemctl stop"),
    "interrupts there": (put("/proc/irq/31/smp_affinity_list", "0-7"), "interrupts", "warn", "IRQ 31", "host prepare"),
    "one core": (
        all_of(*(put(f"{CPUS}/cpu{cpu}/topology/thread_siblings_list", "2-3") for cpu in (2, 3))),
        "SMT",
        "fail",
        "CPUs 2-3 are one core",
        "smt/control",
    ),
    "sibling": (put(f"{CPUS}/cpu2/topology/thread_siblings_list", "2,6"), "SMT", "warn", "online: 6", "isolcpus"),
    "core offline": (put(f"{CPUS}/online", "0-2,4-7"), "cores", "fail", "CPU 3 is not online", "online"),
    "other node": (put(f"{DEVICES}/{NIC}/numa_node", "1"), NIC, "warn", "on node 1, the cores on node 0", "CPU 4-7"),
    "no node": (put(f"{DEVICES}/{NIC}/numa_node", "-1"), NIC, "warn", "does not report its node", "firmware"),
    "narrow slot": (
        put(f"{DEVICES}/{NIC}/current_link_width", "4"),
        f"bus of {NIC}",
        "warn",
        "8 GT/s x4, 32 Gbit/s of a possible 8 GT/s x8; 2 ports of 25 Gbit/s: too little",
        "one port a card",
    ),
    "far too narrow": (
        put(f"{DEVICES}/{NIC}/current_link_width", "1"),
        f"bus of {NIC}",
        "fail",
        "less than one port",
        "slot",
    ),
    "kernel's driver": (
        driver(NIC, "i40e"),
        f"driver of {NIC}",
        "fail",
        "XXV710 SFP28 [8086:158b]: i40e",
        f"--nic {NIC}",
    ),
    "no driver": (drop(f"{DEVICES}/{NIC}/driver"), f"driver of {NIC}", "fail", "none", "host prepare"),
    "uio": (driver(NIC, "uio_pci_generic"), f"driver of {NIC}", "warn", "can write anywhere", "host prepare"),
}


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.replace(" ", "-"))
def test_what_is_wrong_is_named_with_its_remedy(tree: Tree, case: str) -> None:
    change, name, verdict, words, remedy = WRONG[case]
    change(tree)
    check = found(tree)[name]
    assert (check.verdict, words in check.found, remedy in check.remedy) == (verdict, True, True), check
    assert exit_status(not_ok(tree)) >= {"warn": 1, "fail": 2}[verdict]


@pytest.mark.parametrize(
    "case", [case for case in WRONG if WRONG[case][2] == "fail" and WRONG[case][1] in ("IOMMU", "modules")]
)
def test_without_named_nics_nothing_of_theirs_fails(tree: Tree, case: str) -> None:
    WRONG[case][0](tree)
    check = found(tree, Question())[WRONG[case][1]]
    assert check.verdict is Verdict.WARN


def test_nic_that_is_vital_or_not_there_fails(tree: Tree) -> None:
    assert "it carries the default route" in found(tree, Question(nics=(UPLINK,)))[f"driver of {UPLINK}"].found
    check = found(tree, Question(nics=("0000:99:00.0",)))["0000:99:00.0"]
    assert (check.verdict, check.found) == ("fail", "the device does not exist")
    assert NIC in check.remedy
    assert found(tree, Question())[UPLINK].found.endswith("carries the default route, not used")


def test_shared_driver_needs_no_vfio(tree: Tree) -> None:
    question = Question(nics=(SHARED,), cores=(4,))
    checks = found(tree, question)
    assert checks[f"driver of {SHARED}"].found == "ConnectX-5 Ex [15b3:1019]: mlx5_core, shared with DPDK"
    assert not {"IOMMU", "modules", "memory locks"} & checks.keys()
    assert checks[f"trap 1 of {SHARED}"].verdict is Verdict.FAIL
    assert "mlx5_ib" in checks[f"trap 1 of {SHARED}"].remedy
    driver(SHARED, "vfio-pci")(tree)
    check = found(tree, question)[f"driver of {SHARED}"]
    assert (check.verdict, "--bind=mlx5_core" in check.remedy) == ("fail", True)


def test_e810_wants_its_package(tree: Tree) -> None:
    tree.file(f"{DEVICES}/{NIC}/device", "0x159b")
    assert found(tree)[f"trap 1 of {NIC}"].found == "no DDP package"
    tree.file("/lib/firmware/intel/ice/ddp/ice-1.3.30.0.pkg", "")
    assert found(tree)[f"trap 1 of {NIC}"].verdict is Verdict.OK


@pytest.mark.parametrize(("bit", "verdict"), [("0", "fail"), ("1", "ok")])
def test_virtio_must_go_through_the_iommu(tree: Tree, bit: str, verdict: str) -> None:
    tree.file(f"{DEVICES}/{NIC}/vendor", "0x1af4")
    tree.file(f"{DEVICES}/{NIC}/device", "0x1041")
    driver(NIC, "virtio-pci")(tree)
    tree.file(f"{DEVICES}/{NIC}/virtio3/features", "0" * 33 + bit + "0" * 30)
    check = found(tree)[f"trap 1 of {NIC}"]
    assert check.verdict == verdict
    assert ("iommu_platform=on" in check.remedy) == (verdict == "fail")


def test_link_mtu_and_firmware_come_from_the_interface(tree: Tree) -> None:
    tree.file("commands/ethtool -i ens1f1", "driver: i40e\nfirmware-version: 9.20 0x8000d8c5 1.3353.0\nbus-info: x")
    checks = found(tree, Question(nics=(TWIN,)))
    assert checks[f"firmware of {TWIN}"].found == "9.20 0x8000d8c5 1.3353.0"
    assert checks["link of ens1f1"].found == "up, 25000 Mbit/s"
    assert checks["MTU of ens1f1"].found == "1500"
    tree.file("/sys/class/net/ens1f1/carrier", "0")
    assert found(tree, Question(nics=(TWIN,)))["link of ens1f1"].verdict is Verdict.WARN


def test_leftovers_of_killed_programs_are_found(tree: Tree) -> None:
    tree.file("/var/run/dpdk/rte/config", "")
    tree.file("/dev/hugepages/rtemap_0", "")
    tree.file("/dev/hugepages/rtemap_1", "")
    checks = found(tree)
    assert checks["run-time folders"].remedy == "rm -r /var/run/dpdk/rte"
    assert checks["hugepage files"].remedy == "rm /dev/hugepages/rtemap_*"
    inode = (tree.root / "var/run/dpdk/rte/config").stat().st_ino
    tree.file("/proc/locks", f"1: POSIX  ADVISORY  WRITE 4711 00:19:{inode} 0 EOF")
    tree.file(
        "/proc/4711/maps",
        "".join(f"100000000-100200000 rw-s 00000000 00:0f 9   /dev/hugepages/rtemap_{n}\n" for n in range(2)),
    )
    checks = found(tree)
    assert (checks["run-time folders"].verdict, checks["hugepage files"].verdict) == ("ok", "ok")


def test_driver_of_dpdk_is_looked_for(tree: Tree) -> None:
    folder = "/usr/lib/x86_64-linux-gnu/dpdk"
    tree.file(f"{folder}/pmds-9.0/librte_net_i40e.so", "")
    tree.file(f"{folder}/pmds-23.0/librte_net_null.so", "")
    check = found(tree)[f"driver for {NIC}"]
    assert (check.verdict, check.found) == ("warn", f"net_i40e is not in {folder}/pmds-23.0")
    tree.file(f"{folder}/pmds-23.0/librte_net_i40e.so.23", "")
    assert found(tree)[f"driver for {NIC}"].verdict is Verdict.OK


def test_tree_of_trex_is_looked_at_if_named(tree: Tree, tmp_path: Path) -> None:
    home = tmp_path / "trex"
    question = Question(trex_home=home)
    assert found(tree, question)["tree"].verdict is Verdict.FAIL
    (home / "automation/trex_control_plane/interactive/trex").mkdir(parents=True)
    (home / "t-rex-64").write_text("#!/bin/sh\n")
    (home / "t-rex-64").chmod(0o755)
    checks = found(tree, question)
    assert (checks["tree"].verdict, checks["configuration"].verdict) == ("ok", "warn")
    assert "dpdk_setup_ports.py -i" in checks["configuration"].remedy


def test_machine_without_nic_is_told_what_runs_there(tree: Tree) -> None:
    for address in (NIC, TWIN, SHARED):
        tree.remove(f"{DEVICES}/{address}")
    check = found(tree, Question())["NICs to measure with"]
    assert (check.verdict, "virtual wire" in check.remedy) == ("warn", True)
    tree.file("/proc/cpuinfo", f"flags : hypervisor {FLAGS_V2}")
    assert "a virtual machine" in found(tree, Question())["kind"].found


def test_machine_before_preparation_fails_where_prepare_helps(tmp_path: Path) -> None:
    failing = {check.name for check in not_ok(unprepared(tmp_path), QUESTION) if check.verdict is Verdict.FAIL}
    assert failing == {f"driver of {NIC}", "modules", "hugepages of node 0"}


def test_build_tells_what_it_is_for(tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RUSTFLAGS", raising=False)
    tree.file("commands/pkg-config --cflags libdpdk", "-I/usr/include/dpdk -march=corei7")
    options = tmp_path / "build/meson-info/intro-buildoptions.json"
    options.parent.mkdir(parents=True)
    options.write_text('[{"name": "cpu", "value": "x86-64-v4"}]')
    assert marches(Host(tree.root), tmp_path) == ("corei7", "x86-64-v4")
    check = found(tree, Question(marches=("corei7", "x86-64-v4")))["SIMD level"]
    assert check.verdict is Verdict.FAIL
    assert "meson -Dcpu=x86-64-v3" in check.remedy


def run(tree: Tree, *argv: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["doctor", "--root", str(tree.root), *argv])
    return done.exit_code, done.output


def test_command_line_gives_json_and_the_worst_as_status(tree: Tree) -> None:
    status, text = run(tree, "--json", "--nic", "18:00.0", "--cores", "2-3")
    told = json.loads(text)
    assert (status, told["exit_status"], told["schema"]) == (0, 0, 1)
    assert all(check["verdict"] == "ok" for check in told["checks"])
    put(f"{CPUS}/intel_pstate/no_turbo", "0")(tree)
    assert run(tree, "--nic", NIC, "--cores", "2-3")[0] == 1
    driver(NIC, "i40e")(tree)
    status, text = run(tree, "--nic", NIC, "--cores", "2-3")
    assert status == 2
    assert f"remedy: ./x testbed host prepare --nic {NIC}" in text


@pytest.mark.parametrize(
    ("argv", "message"),
    [(("--nic", "eth0"), "'eth0' is not a PCI address"), (("--cores", "2-x"), "'2-x' is not a CPU list")],
)
def test_bad_arguments_are_named(tree: Tree, argv: tuple[str, ...], message: str) -> None:
    status, text = run(tree, *argv)
    assert (status, message in text) == (2, True)
