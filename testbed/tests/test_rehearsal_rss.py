# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The example `cores` of dpdk-sockets in a virtual machine, on a NIC that distributes what it receives (RSS): virtio,
whose hash QEMU computes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.run.namespaces import inside, run_tool
from testbed.run.programs import repository_root
from testbed.vm.guest import Guest, Initramfs, Kernel

pytestmark = pytest.mark.e2e

CORES = repository_root() / "target/debug/examples/cores"
PLUGINS = ("bus_pci", "bus_vdev", "mempool_ring", "net_virtio")
SERVER, CLIENT = "192.0.2.1", "192.0.2.2"
CONNECTIONS = 60
NIC = "virtio-net-pci,disable-legacy=on,iommu_platform=on,mq=on,vectors=8,rss=on,hash=on"
DEVICES = ("intel-iommu,intremap=on", "pcie-root-port,id=port0,chassis=1,addr=4", f"{NIC},netdev=n0,bus=port0")
START = f"""
    echo 64 >/proc/sys/vm/nr_hugepages
    modprobe vfio_iommu_type1
    modprobe vfio-pci
    for device in /sys/bus/pci/devices/*; do
        case $(cat $device/vendor $device/device | tr '\\n' ' ') in '0x1af4 0x1041 ') nic=${{device##*/}} ;; esac
    done
    echo vfio-pci >/sys/bus/pci/devices/$nic/driver_override
    [ ! -e /sys/bus/pci/devices/$nic/driver ] || echo $nic >/sys/bus/pci/devices/$nic/driver/unbind
    echo $nic >/sys/bus/pci/drivers_probe
    (cores -l 0,1 -a $nic --in-memory --iova-mode=va --no-telemetry -- {SERVER}/24 >/tmp/out 2>&1
        echo status $? >>/tmp/out) &
    until grep -q 'steered by\\|^status' /tmp/out; do usleep 50000; done
    cat /tmp/out"""
STOP = "killall -TERM cores; until grep -q ^status /tmp/out; do usleep 50000; done; cat /tmp/out"
# Each connection from a port of its own, and closed by the client.
CONNECT = f"""
import socket
for number in range({CONNECTIONS}):
    with socket.create_connection(("{SERVER}", 7), timeout=60) as connection:
        connection.sendall(b"%d" % number)
        assert connection.recv(100) == b"%d" % number
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100) == b""
"""


@pytest.fixture
def cores(rehearsal_kernel: Kernel, tmp_path: Path) -> Path:
    """A guest's disk with the example and the drivers that it needs."""
    if not CORES.is_file():
        pytest.skip(f"{CORES} is missing: run cargo build -p dpdk-sockets --examples")
    built = Initramfs(tmp_path / "guest", rehearsal_kernel, ("virtio_net", "vfio-pci", "vfio_iommu_type1"))
    stripped = tmp_path / "cores"
    shutil.copy(CORES, stripped)
    subprocess.run(["strip", stripped], check=True)
    built.add(stripped, "/bin/cores")
    library = run_tool("pkg-config", "--variable=libdir", "libdpdk").strip()
    for name in PLUGINS:
        (plugin,) = Path(library).glob(f"dpdk/pmds-*/librte_{name}.so.[0-9][0-9]")
        built.add(plugin)
    return built.write()


@pytest.fixture
def namespace(need_root: None) -> Iterator[str]:
    """With an interface of two queues, for QEMU."""
    name = f"testbed-{os.getpid()}-rss"
    run_tool("ip", "netns", "add", name)
    try:
        run_tool(*inside(name, "ip", "tuntap", "add", "dev", "tap0", "mode", "tap", "multi_queue"))
        run_tool("ip", "-n", name, "address", "add", f"{CLIENT}/24", "dev", "tap0")
        run_tool("ip", "-n", name, "link", "set", "tap0", "up")
        yield name
    finally:
        run_tool("ip", "netns", "delete", name)


def test_a_nic_with_rss_steers_connections(
    rehearsal_kernel: Kernel, cores: Path, namespace: str, tmp_path: Path
) -> None:
    tap = ["-netdev", "tap,id=n0,ifname=tap0,queues=2,script=no,downscript=no,vhost=off"]
    settings = {"append": "intel_iommu=on", "memory_mb": 768}
    launcher = inside(namespace)
    with Guest(rehearsal_kernel, cores, tmp_path, devices=DEVICES, options=tap, launcher=launcher, **settings) as guest:
        started = guest.check(START)
        assert "2 stacks" in started, started
        assert "steered by the device" in started, started
        run_tool(*inside(namespace, sys.executable, "-c", CONNECT))
        told = guest.check(STOP)
    assert told.splitlines()[-1] == "status 0", told
    accepted, passed_on = (_each(what, told) for what in ("connections accepted", "frames passed on"))
    # The stacks compute the same queue as the device: nothing comes to the wrong one.
    assert (sum(accepted), min(accepted) > 0, passed_on) == (CONNECTIONS, True, [0, 0]), told


def _each(what: str, told: str) -> list[int]:
    found = re.search(rf"{what} by the stacks: \[(\d+), (\d+)\]", told)
    assert found, told
    return [int(number) for number in found.groups()]
