# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A made-up machine: a tree of /proc and /sys, and a kernel that answers to what is written there."""

from __future__ import annotations

import errno
import os
import re
import shutil
from pathlib import Path

from testbed.host import pci
from testbed.host.files import Host

DEVICES = "/sys/bus/pci/devices"
NIC, TWIN, UPLINK, SHARED = "0000:18:00.0", "0000:18:00.1", "0000:3b:00.0", "0000:af:00.0"
FLAGS_V2 = "cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3"
FLAGS_V3 = f"{FLAGS_V2} abm avx avx2 bmi1 bmi2 f16c fma movbe"


class Tree:
    """The files of a machine below a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def place(self, path: str) -> Path:
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def file(self, path: str, text: str) -> None:
        self.place(path).write_text(f"{text}\n")

    def folder(self, path: str) -> None:
        self.place(path).mkdir(parents=True, exist_ok=True)

    def link(self, path: str, target: str) -> None:
        place = self.place(path)
        place.unlink(missing_ok=True)
        place.symlink_to(target)

    def remove(self, path: str) -> None:
        place = self.place(path)
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()

    def snapshot(self) -> dict[str, str]:
        """Everything, to be compared: files by content, links by target, folders by name."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            found[name] = str(path.readlink()) if path.is_symlink() else "/" if path.is_dir() else path.read_text()
        return found

    def nic(
        self, address: str, ids: str, driver: str | None, *, group: int, node: int = 0, interface: str | None = None
    ) -> None:
        """A NIC on PCI Express 3.0 x8; with an interface that is up with a link."""
        folder, (vendor, device) = f"{DEVICES}/{address}", ids.split(":")
        for name, text in {
            "class": "0x020000",
            "vendor": f"0x{vendor}",
            "device": f"0x{device}",
            "numa_node": str(node),
            "driver_override": "(null)",
            "current_link_speed": "8.0 GT/s PCIe",
            "max_link_speed": "8.0 GT/s PCIe",
            "current_link_width": "8",
            "max_link_width": "8",
        }.items():
            self.file(f"{folder}/{name}", text)
        self.in_group(address, group)
        if driver:
            self.link(f"{folder}/driver", f"../../../bus/pci/drivers/{driver}")
            self.folder(f"{pci.DRIVERS}/{driver}")
        if interface:
            self.interface(address, interface)

    def in_group(self, address: str, group: int) -> None:
        self.link(f"{DEVICES}/{address}/iommu_group", f"../../../kernel/iommu_groups/{group}")
        self.link(f"/sys/kernel/iommu_groups/{group}/devices/{address}", f"../../../../bus/pci/devices/{address}")

    def interface(self, address: str, name: str, *, up: bool = True) -> None:
        self.folder(f"{DEVICES}/{address}/net/{name}")
        values = {"flags": "0x1003" if up else "0x1002", "mtu": "1500", "carrier": "1", "speed": "25000"}
        for file, text in values.items():
            self.file(f"/sys/class/net/{name}/{file}", text)


def server(root: Path) -> Tree:
    """A machine with two nodes of four CPUs where all is well for forwarding on CPUs 2-3 with a XXV710."""
    tree = Tree(root)
    tree.folder("/dev")
    cpus = "/sys/devices/system/cpu"
    for path, text in {
        "/proc/cpuinfo": f"model name\t: Intel(R) Xeon(R) Gold\nflags\t\t: fpu {FLAGS_V3}\nmicrocode\t: 0x5",
        "/proc/cmdline": "quiet intel_iommu=on iommu=pt isolcpus=2-3 nohz_full=2-3 rcu_nocbs=2-3",
        "/proc/interrupts": "  9:  0  IR-IO-APIC  9-fasteoi  acpi",
        "/proc/meminfo": "MemTotal: 1000 kB\nHugepagesize:       2048 kB",
        "/proc/mounts": "none /dev/hugepages hugetlbfs rw,relatime,pagesize=2M 0 0",
        "/proc/modules": "vfio_pci 1 0\nvfio_iommu_type1 1 0\nvfio 1 0\ni40e 1 0",
        "/proc/self/limits": "Max locked memory         unlimited            unlimited            bytes",
        "/proc/self/status": "Pid:\t7\nPPid:\t1\nCapEff:\t000001ffffffffff",
        "/proc/sys/kernel/osrelease": "6.1.0-9-amd64",
        "/proc/sys/kernel/random/boot_id": "11111111-2222-3333-4444-555555555555",
        "/proc/net/route": "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\n"
        "eno1\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\n"
        "eno1\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\n"
        "ens1f1\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0",
        f"{cpus}/online": "0-7",
        f"{cpus}/isolated": "2-3",
        f"{cpus}/nohz_full": "2-3",
        f"{cpus}/intel_pstate/no_turbo": "1",
        "/sys/firmware/acpi/tables/DMAR": "",
    }.items():
        tree.file(path, text)
    for cpu in range(8):
        tree.file(f"{cpus}/cpu{cpu}/topology/thread_siblings_list", str(cpu))
        tree.file(f"{cpus}/cpu{cpu}/cpufreq/scaling_governor", "performance")
        tree.file(f"{cpus}/cpu{cpu}/cpufreq/scaling_available_governors", "performance powersave")
    for node in range(2):
        folder = f"/sys/devices/system/node/node{node}"
        tree.file(f"{folder}/cpulist", f"{4 * node}-{4 * node + 3}")
        for kb, pages in ((2048, 512), (1 << 20, 0)):
            for name in ("nr_hugepages", "free_hugepages"):
                tree.file(f"{folder}/hugepages/hugepages-{kb}kB/{name}", str(pages))
    for module in ("vfio_pci", "vfio_iommu_type1", "vfio", "i40e"):
        tree.folder(f"/sys/module/{module}/parameters")
    tree.file("/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts", "N")
    for number, where in ((30, "0-1"), (31, "0-1"), (33, "0-1")):
        tree.file(f"/proc/irq/{number}/smp_affinity_list", where)
        tree.folder(f"/proc/irq/{number}/device")
    tree.nic(NIC, "8086:158b", "vfio-pci", group=20)
    tree.nic(TWIN, "8086:158b", "i40e", group=21, interface="ens1f1")
    tree.nic(UPLINK, "8086:10d3", "e1000e", group=5, interface="eno1")
    tree.nic(SHARED, "15b3:1019", "mlx5_core", group=40, node=1, interface="ens2")
    return tree


def unprepared(root: Path) -> Tree:
    """The same machine before anything was done for DPDK."""
    tree = server(root)
    tree.remove(f"{DEVICES}/{NIC}/driver")
    tree.link(f"{DEVICES}/{NIC}/driver", "../../../bus/pci/drivers/i40e")
    tree.interface(NIC, "ens1f0")
    for module in ("vfio_pci", "vfio_iommu_type1", "vfio"):
        tree.remove(f"/sys/module/{module}")
    tree.remove(f"{pci.DRIVERS}/vfio-pci")
    tree.file("/proc/modules", "i40e 1 0")
    tree.file("/proc/mounts", "none /proc proc rw 0 0")
    for node in range(2):
        for name in ("nr_hugepages", "free_hugepages"):
            tree.file(f"/sys/devices/system/node/node{node}/hugepages/hugepages-2048kB/{name}", "0")
    for cpu in range(8):
        tree.file(f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor", "powersave")
    for number in (30, 31, 33):
        tree.file(f"/proc/irq/{number}/smp_affinity_list", "0-7")
    return tree


# What modprobe loads.
_BRINGS = {"vfio-pci": ("vfio", "vfio_pci_core", "vfio_pci"), "vfio_iommu_type1": ("vfio", "vfio_iommu_type1")}


class Crash(BaseException):
    """The machine loses its power."""


class SimulatedKernel(Host):
    """A tree that behaves as the kernel does. `crash_at` changes it dies, before or after the change is made."""

    # IRQs that the kernel manages itself.
    MANAGED = ("33",)

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree.root)
        self.tree = tree
        self.crash_at: int | None = None
        self.crash_after = False
        self.changes = 0
        self.pages_there = 100_000
        self.refuses = ""
        self.addresses = {"ens1f0": ["192.0.2.1/24"]}

    def _change(self, change) -> None:
        self.changes += 1
        dies = self.crash_at is not None and self.changes >= self.crash_at
        if dies and not (self.crash_after and self.changes == self.crash_at):
            raise Crash
        change()
        if dies:
            raise Crash

    def write(self, path: str, text: str) -> None:
        if self.refuses and self.refuses in path:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        irq = re.fullmatch(r"/proc/irq/(\d+)/smp_affinity_list", path)
        if irq and irq[1] in self.MANAGED:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self._change(lambda: self._write(path, text))

    def _write(self, path: str, text: str) -> None:
        name = path.rpartition("/")[2]
        if name == "driver_override":
            self.tree.file(path, text.strip() or "(null)")
        elif name == "unbind":
            self._unbind(text)
        elif name == "drivers_probe":
            reserved = self.text(f"{DEVICES}/{text}/driver_override")
            self._bind(text, "i40e" if reserved in (None, "(null)") else reserved)
        elif name == "nr_hugepages":
            pages = min(int(text), self.pages_there)
            self.tree.file(path, str(pages))
            self.tree.file(path.replace("nr_", "free_"), str(pages))
        else:
            self.tree.file(path, text)

    def _unbind(self, address: str) -> None:
        self.tree.remove(f"{DEVICES}/{address}/driver")
        for name in self.names(f"{DEVICES}/{address}/net"):
            self.tree.remove(f"/sys/class/net/{name}")
            self.addresses.pop(name, None)
        if self.exists(f"{DEVICES}/{address}/net"):
            self.tree.remove(f"{DEVICES}/{address}/net")

    def _bind(self, address: str, driver: str) -> None:
        if driver == "vfio-pci" and not self.exists("/sys/module/vfio_pci"):
            return
        self.tree.link(f"{DEVICES}/{address}/driver", f"../../../bus/pci/drivers/{driver}")
        if driver == "i40e":
            taken = self.names("/sys/class/net")
            name = next(name for name in (f"eth{number}" for number in range(9)) if name not in taken)
            self.tree.interface(address, name, up=False)

    def output(self, *argv: str) -> str | None:
        if argv[:4] == ("ip", "-o", "address", "show"):
            return "\n".join(
                f"2: {argv[5]}    inet {address} scope global {argv[5]}" for address in self.addresses.get(argv[5], [])
            )
        return super().output(*argv)

    def run(self, *argv: str) -> str | None:
        if argv[0] == "udevadm":
            return "not there"
        if self.refuses and self.refuses in argv:
            return "refused"
        self._change(lambda: self._run(*argv))
        return None

    def _run(self, *argv: str) -> None:
        match argv:
            case ("modprobe", module):
                for name in _BRINGS[module]:
                    self._load(name)
            case ("rmmod", name):
                self.tree.remove(f"/sys/module/{name}")
                lines = (self.text("/proc/modules") or "").splitlines()
                self.tree.file("/proc/modules", "\n".join(line for line in lines if not line.startswith(f"{name} ")))
                if name == "vfio_pci":
                    self.tree.remove(f"{pci.DRIVERS}/vfio-pci")
            case ("mount", "-t", "hugetlbfs", "none", place):
                self.tree.file(
                    "/proc/mounts", f"{self.text('/proc/mounts')}\nnone {place} hugetlbfs rw,pagesize=2M 0 0"
                )
            case ("umount", place):
                lines = (self.text("/proc/mounts") or "").splitlines()
                self.tree.file("/proc/mounts", "\n".join(line for line in lines if f" {place} " not in line))
            case ("ip", "link", "set", "dev", name, "name", new):
                for folder in ("/sys/class/net", *(f"{DEVICES}/{address}/net" for address in self.names(DEVICES))):
                    if self.exists(f"{folder}/{name}"):
                        self.tree.place(f"{folder}/{name}").rename(self.tree.place(f"{folder}/{new}"))
            case ("ip", "link", "set", "dev", name, "mtu", mtu):
                self.tree.file(f"/sys/class/net/{name}/mtu", mtu)
            case ("ip", "link", "set", "dev", name, state):
                self.tree.file(f"/sys/class/net/{name}/flags", "0x1003" if state == "up" else "0x1002")
            case ("ip", "address", "add", address, "dev", name):
                self.addresses.setdefault(name, []).append(address)
            case _:
                raise AssertionError(argv)

    def _load(self, name: str) -> None:
        if self.exists(f"/sys/module/{name}"):
            return
        self.tree.folder(f"/sys/module/{name}/parameters")
        self.tree.file("/proc/modules", f"{name} 1 0\n{self.text('/proc/modules')}")
        if name == "vfio_pci":
            self.tree.folder(f"{pci.DRIVERS}/vfio-pci")
