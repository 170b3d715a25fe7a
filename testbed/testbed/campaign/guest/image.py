# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What is on the disk of a guest with a device under test: DPDK's libraries, SSH, Python for `host prepare`."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import asyncssh

from testbed.campaign.guest.settings import Guest
from testbed.run.programs import Program
from testbed.vm.guest import Initramfs, Kernel, VmMissing, needs
from testbed.vm.python import add_python

# The second NIC, over which SSH goes, is always virtio.
_MODULES = ("virtio_net", "vfio-pci", "vfio_iommu_type1")
_KERNEL_DRIVERS = {"virtio": "virtio_net"}
# Of DPDK's drivers, those that a forwarder may need there.
_PLUGINS = ("bus_pci", "bus_vdev", "mempool_ring", "net_*e1000", "net_virtio", "net_vmxnet3")
_SSHD = "sshd"
_SSHD_PLACES = ("/usr/sbin", "/usr/bin", "/usr/local/sbin")
# From OpenSSH 9.8 on these are programs of their own.
_SSHD_PARTS = ("/usr/lib/openssh/sshd-session", "/usr/lib/openssh/sshd-auth")
_SSHD_CONFIG = """\
HostKey /etc/ssh/host_key
AuthorizedKeysFile /etc/ssh/authorized_keys
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
StrictModes no
PidFile none
SetEnv LD_LIBRARY_PATH=%(libraries)s
"""


class Keys:
    """An SSH key of the guest and one of its user, made for this guest alone."""

    def __init__(self, folder: Path) -> None:
        self._host = asyncssh.generate_private_key("ssh-ed25519")
        user = asyncssh.generate_private_key("ssh-ed25519")
        self.user = folder / "user_key"
        self.known_hosts = folder / "known_hosts"
        user.write_private_key(str(self.user))
        self.user.chmod(0o600)
        self._authorized = user.export_public_key().decode()

    def put_into(self, initramfs: Initramfs) -> None:
        """The guest's ends of both."""
        initramfs.write_file("etc/ssh/host_key", self._host.export_private_key().decode(), 0o600)
        initramfs.write_file("etc/ssh/authorized_keys", self._authorized, 0o600)

    def know(self, host: str, port: int) -> None:
        """Writes down under which name the guest is known."""
        self.known_hosts.write_text(f"[{host}]:{port} {self._host.export_public_key().decode()}")


def build_image(folder: Path, kernel: Kernel, guest: Guest, programs: Sequence[Program], keys: Keys) -> Path:
    """The guest's initramfs.

    Raises `VmMissing`.
    """
    sshd = shutil.which(_SSHD, path=os.pathsep.join(_SSHD_PLACES))
    if sshd is None:
        raise VmMissing("'sshd' is not installed, which goes into the virtual machine: install openssh-server")
    built = Initramfs(folder, kernel, [*_MODULES, _KERNEL_DRIVERS.get(guest.nic, guest.nic)])
    for program in programs:
        # The programs themselves come over SSH.
        for library in needs(program.path):
            built.add(library)
    for plugin in _plugins(programs):
        built.add(plugin)
    built.add(Path(sshd), f"/usr/sbin/{_SSHD}")
    for part in map(Path, _SSHD_PARTS):
        if part.exists():
            built.add(part)
    keys.put_into(built)
    built.write_file("etc/ssh/sshd_config", _SSHD_CONFIG % {"libraries": built.library_path})
    # The user that the server drops its rights to, and the one who logs in.
    built.write_file("etc/passwd", "root:x:0:0::/:/bin/sh\nsshd:x:74:74::/run/sshd:/bin/false\n")
    built.write_file("etc/group", "root:x:0:\nsshd:x:74:\n")
    built.write_file("etc/os-release", 'PRETTY_NAME="the testbed\'s virtual machine"\n')
    dry = ("testbed.host", "prepare", "--cores", "0", "--hugepages", "0", "--dry-run")
    add_python(built, [dry, ("testbed.host", "prepare", "--nic", "nonsense")])
    return built.write()


def _plugins(programs: Sequence[Program]) -> list[Path]:
    """DPDK's drivers, from the folder where its library looks for them; none for statically linked programs."""
    libraries = {library.resolve() for program in programs for library in needs(program.path)}
    eal = next((library for library in libraries if library.name.startswith("librte_eal.so")), None)
    found = eal and re.search(rb"DPDK_PLUGIN_PATH=([^\0]+)\0", eal.read_bytes())
    if not found:
        return []
    folder = Path(found[1].decode())
    return sorted(path for name in _PLUGINS for path in folder.glob(f"librte_{name}.so"))
