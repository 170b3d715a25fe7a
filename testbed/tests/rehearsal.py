# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A guest with NICs, in which this project's own programs are rehearsed: doctor, prepare, the forwarders, restore."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from testbed.run.programs import FORWARDERS, ProgramMissing, find_program, repository_root
from testbed.run.scratch import scratch_folder
from testbed.vm.guest import Guest, Initramfs, Kernel, Outcome
from testbed.vm.nics import EmulatedNic, kernel_driver, nic_addresses, nic_devices
from testbed.vm.python import PYTHON, add_python
from testbed.vm.qmp import Qmp
from testbed.vm.wire import Wire
from testbed.wire.forwarder import Final

MODELS = ("e1000", "e1000e", "igb", "vmxnet3", "virtio")
DRIVERS = tuple(kernel_driver(model) for model in MODELS)
MODULES = (*DRIVERS, "vfio-pci", "vfio_iommu_type1")
IOMMU = ["intel-iommu,intremap=on"]
AMD_IOMMU = ["amd-iommu,intremap=on"]
STATIC_FOLDERS = ("build-static/l2fwd-c", "target/static/dist")
STANDBY = Path("/opt/standby.py")
ADVICE = "build them with ./x build --static"


def add_static_program(built: Initramfs, name: str, folder: Path, place: str) -> None:
    """Puts a program with DPDK inside into a folder of the guest, or skips the test if it is not built."""
    told = os.environ.get("TESTBED_STATIC_BIN_DIRS")
    folders = (
        [Path(word) for word in told.split(os.pathsep)]
        if told
        else [repository_root() / name for name in STATIC_FOLDERS]
    )
    try:
        program = find_program(name, folders, for_figures=False).path
    except ProgramMissing as error:
        pytest.skip(f"{error}: {ADVICE}")
    stripped = shutil.copy(program, folder / name)
    subprocess.run(["strip", stripped], check=True)
    built.add(Path(stripped), f"{place}/{name}")


def build_initramfs(folder: Path, kernel: Kernel) -> Path:
    """With Python, this package's doctor and preparation, and both forwarders with DPDK inside."""
    built = Initramfs(folder, kernel, MODULES)
    for name in FORWARDERS:
        add_static_program(built, name, folder, "/bin")
    record = str(folder / "none")
    add_python(
        built,
        [
            ("testbed.doctor",),
            ("testbed.doctor", "--json", "--cores", "0"),
            ("testbed.host", "prepare", "--cores", "0", "--hugepages", "0", "--dry-run"),
            ("testbed.host", "restore", "--record", record),
            ("testbed.host", "prepare", "--nic", "nonsense"),
        ],
    )
    built.add_file(Path(__file__).with_name(STANDBY.name), STANDBY)
    return built.write()


@dataclass
class Nic:
    """A NIC of the guest: QEMU's end and ours."""

    model: str
    wire: Wire
    # QEMU's name of the device, and the guest's address, known once it runs.
    device: str
    address: str = ""


@dataclass
class Machine:
    """A guest with NICs, and what is asked of it."""

    guest: Guest
    qmp: Qmp
    nics: list[Nic] = field(default_factory=list)

    def pair(self, model: str) -> list[Nic]:
        """Its NICs of a model; skips the test if QEMU has none."""
        pair = [nic for nic in self.nics if nic.model == model]
        if not pair:
            pytest.skip(f"this QEMU emulates no {model}")
        return pair

    def addresses(self, *models: str) -> list[str]:
        return [nic.address for nic in self.nics if not models or nic.model in models]

    def python(self, *argv: str) -> Outcome:
        """As `python -m` with these words; the first call starts the process that then runs all of them."""
        return self.guest.run(
            f"""
            cd /run
            if [ ! -p request ]; then
                {PYTHON} {STANDBY} /run testbed.doctor.command testbed.host.command >standby 2>&1 &
                until [ -p request ]; do kill -0 $! && usleep 50000 || {{ cat standby; exit 1; }}; done
            fi
            echo {shlex.quote(json.dumps(argv))} >request
            read -r status <status
            cat output
            exit $status""",
            300,
        )

    def doctor(self, nics: Sequence[str] = (), *, cores: str = "1") -> dict[str, dict[str, Any]]:
        """The checks by name; where the name is that of two, the later one."""
        named = [word for nic in nics for word in ("--nic", nic)]
        outcome = self.python("testbed.doctor", "--json", "--cores", cores, *named)
        assert outcome.status in (0, 1, 2), outcome.output
        told = json.loads(outcome.output[outcome.output.index("{") :])
        assert told["exit_status"] == outcome.status
        return {check["name"]: check for check in told["checks"]}

    def prepare(self, nics: Sequence[str], *options: str) -> Outcome:
        named = [word for nic in nics for word in ("--nic", nic)]
        return self.python("testbed.host", "prepare", *named, *options)

    def restore(self) -> Outcome:
        return self.python("testbed.host", "restore")

    def state(self) -> str:
        """All that preparing may change, and what hangs on it."""
        return self.guest.check("""
            for device in /sys/bus/pci/devices/*; do
                echo $device $(readlink $device/driver) $(cat $device/driver_override)
                # Not the number that the kernel gives a virtio device, the next one that is free.
                for interface in $device/net/* $device/virtio*/net/*; do
                    [ ! -e $interface ] || echo ${interface##*/}
                done
            done
            cut -d ' ' -f 1 /proc/modules | sort
            grep hugetlbfs /proc/mounts
            grep . /sys/devices/system/node/node*/hugepages/*/nr_hugepages
            cat /proc/irq/default_smp_affinity
            for interface in /sys/class/net/*; do
                echo $interface $(cat $interface/flags $interface/mtu $interface/address)
                ip -o address show dev ${interface##*/} | grep -o 'inet [^ ]*'
            done
            true""")

    @contextmanager
    def forwarding(
        self, program: str, nics: Sequence[Nic], options: str = "", *, user: str = ""
    ) -> Iterator[Forwarding]:
        """A forwarder over NICs, in the order of its ports."""
        allowed = " ".join(f"-a {nic.address}" for nic in nics)
        mask = (1 << len(nics)) - 1
        command = (
            f"{program} -l 1 {allowed} --in-memory --iova-mode=va --no-telemetry -- -p {mask:#x} -q {len(nics)} -T 0 "
            f"--stats-json /tmp/stats {options}"
        )
        if user:
            command = f"ulimit -l unlimited; su {user} -c '{command}'"
        self.guest.check(f"""
            rm -f /tmp/stats /tmp/out /tmp/pipe
            mkfifo /tmp/pipe
            ({command}; echo status $?) >/tmp/pipe 2>&1 &
            exec 3</tmp/pipe
            while read -r line <&3; do
                echo "$line" >>/tmp/out
                case $line in *'forwarding, stop with'*) cat <&3 >>/tmp/out & exit 0 ;; esac
            done
            cat /tmp/out
            exit 1""")
        running = Forwarding(self.guest, program)
        try:
            yield running
        finally:
            self.guest.run(f"killall -KILL {program} 2>/dev/null")


@dataclass
class Forwarding:
    """A forwarder that runs in a guest."""

    guest: Guest
    program: str
    output: str = ""

    def stop(self) -> Final:
        """Its last statistics."""
        self.output = self.guest.check(f"""
            killall -TERM {self.program}
            until grep -q '^status ' /tmp/out; do usleep 50000; done
            cat /tmp/out""")
        assert "status 0" in self.output.splitlines(), self.output
        lines = self.guest.check("cat /tmp/stats").splitlines()
        return Final.model_validate_json(lines[-1])


@contextmanager
def boot(
    kernel: Kernel,
    initramfs: Path,
    log_dir: Path,
    models: Sequence[str],
    *,
    iommu: Sequence[str] = IOMMU,
    append: str = "intel_iommu=on",
    options: Sequence[str] = (),
    cpus: int = 2,
) -> Iterator[Machine]:
    """A guest with a NIC of each model named, on ports of their own but with AMD's IOMMU; those of model e1000 share a
    bridge.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder())
        qmp = Qmp(folder)
        nics = []
        for number, model in enumerate(models):
            wire = stack.enter_context(Wire(folder, f"n{number}", f"52:54:00:00:00:{number + 1:02x}"))
            nics.append(Nic(model, wire, f"nic{number}"))
        emulated = [EmulatedNic(nic.model, nic.device, nic.wire.name, nic.wire.mac) for nic in nics]
        placed = nic_devices(emulated, on_root_bus=iommu is AMD_IOMMU)
        ends = [word for nic in nics for word in ("-netdev", nic.wire.netdev)]
        guest = Guest(
            kernel, initramfs, log_dir, devices=[*iommu, *placed], append=append, memory_mb=768,
            cpus=cpus, options=[*ends, *qmp.options, *options],
        )  # fmt: skip
        stack.enter_context(guest)
        stack.enter_context(qmp)
        # While the kernel has them.
        found = nic_addresses(guest, DRIVERS)
        for nic in nics:
            nic.address = found[nic.wire.mac]
        yield Machine(guest, qmp, nics)
