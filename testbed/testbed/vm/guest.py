# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A virtual machine with NICs, for what a program does with them: QEMU in software, so that no rights are needed.

It runs a kernel of the distribution and, as its only file system, an initramfs with busybox and programs of this
machine. The host sends commands over a line of virtio:

    kernel = find_kernel()
    initramfs = Initramfs(folder, kernel, modules=["e1000e"])
    initramfs.add(program)
    with Guest(kernel, initramfs.write(), log_dir, devices=["e1000e,addr=2"]) as guest:
        outcome = guest.run("modprobe e1000e && ls /sys/class/net")
"""

from __future__ import annotations

import base64
import itertools
import lzma
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from testbed.run.process import Process, ProcessError
from testbed.run.programs import repository_root
from testbed.run.scratch import scratch_folder

QEMU = "qemu-system-x86_64"
# Static, so that it runs in the guest as it is.
BUSYBOX = Path("/bin/busybox")

# Where kernels are: one that was unpacked for this purpose, and those of the machine itself.
_ROOTS = (repository_root() / "target/vm", Path("/"))

# The kernel's end of the line that commands go over.
_CONTROL_MODULES = ("virtio_console", "virtio_pci")

# The kernel checks early whether the timer ticks as fast as it should, and panics if the host was too busy for that.
# QEMU in software has lost the interrupt of a timer that was set for one time, and the CPU then never set another: here
# the timer ticks by itself, so that one interrupt less is one tick less.
_COMMAND_LINE = "console=ttyS0 panic=-1 no_timer_check mitigations=off nohz=off highres=off cryptomgr.notests"

# A boot takes 3 s on an idle machine, and 6 s if the kernel unpacks itself.
_BOOT_TIMEOUT_S = 300.0

_INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /sbin /usr/bin /usr/sbin /proc /sys /dev /tmp /run /var
/bin/busybox --install -s
# DPDK loads no plug-in from below a folder that everybody may write to.
chmod 755 /
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tmpfs none /tmp
mount -t tmpfs none /run
ln -s /run /var/run
ifconfig lo up
export LD_LIBRARY_PATH=%(libraries)s
modprobe virtio_pci
modprobe virtio_console
# Its number depends on which other virtio devices there are. What is not there must not become a file.
until set -- /dev/vport*p1 && [ -c "$1" ] && (exec <>"$1") 2>/dev/null; do usleep 10000; done
exec <>"$1" >&0 2>&0
echo ready
while read -r number seconds command; do
    echo "$command" | base64 -d >/tmp/command
    timeout -s KILL "$seconds" sh /tmp/command </dev/null
    echo "end $number $?"
done
poweroff -f
"""


class VmMissing(Exception):  # noqa: N818 (reads better where it is caught)
    """Something that a virtual machine needs is not there; the message says what to install."""


def need_tools() -> None:
    """Raises `VmMissing` if QEMU or busybox is not installed, or the machine is of another kind."""
    if platform.machine() != "x86_64":
        raise VmMissing(f"a virtual machine is known for x86-64 only, and this is {platform.machine()}")
    if shutil.which(QEMU) is None:
        raise VmMissing(f"'{QEMU}' is not installed: install the package qemu-system-x86")
    if not BUSYBOX.exists() or needs(BUSYBOX):
        raise VmMissing("busybox is not there or needs libraries: install the package busybox-static")


def emulates(device: str) -> bool:
    """Whether this machine's QEMU has a device of that name: igb came with 8.0."""
    listed = subprocess.run([QEMU, "-device", "help"], capture_output=True, text=True)
    return f'name "{device}"' in listed.stdout


@dataclass(frozen=True)
class Kernel:
    """A kernel image and the folder of its modules."""

    image: Path
    modules: Path

    @property
    def release(self) -> str:
        """As `uname -r` prints it."""
        return self.modules.name


def find_kernel(roots: Sequence[Path] = _ROOTS) -> Kernel:
    """The newest kernel with VFIO.

    Raises `VmMissing`.
    """
    for root in roots:
        # Of one version, first the one that need not unpack itself.
        images = sorted(root.glob("boot/vmlinu[xz]-*"), key=lambda image: image.name)
        for image in sorted(images, key=_version, reverse=True):
            for folder in ("lib/modules", "usr/lib/modules"):
                modules = root / folder / image.name.partition("-")[2]
                if os.access(image, os.R_OK) and any(modules.glob("kernel/drivers/vfio/pci/vfio-pci.ko*")):
                    return Kernel(image, modules)
    listed = ", ".join(str(root / "boot") for root in roots)
    raise VmMissing(f"no kernel with VFIO in {listed}: run .ci/guest-kernel, which unpacks one without installing it")


def _version(image: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", image.name)]


def needs(program: Path) -> list[Path]:
    """The shared libraries that a program or library needs, the dynamic linker included."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True)
    if missing := re.findall(r"(\S+) => not found", listed.stdout):
        raise VmMissing(f"{program} needs {', '.join(missing)}, which this machine lacks")
    return [Path(path) for path in re.findall(r"(?:^|=>)\s*(/\S+) \(0x", listed.stdout, re.MULTILINE)]


class Initramfs:
    """What the guest has on its disk: busybox, modules of the kernel, and whatever is added."""

    def __init__(self, folder: Path, kernel: Kernel, modules: Sequence[str]) -> None:
        self._root = folder / "root"
        self._kernel = kernel
        self._library_folders: set[str] = set()
        self._copy(BUSYBOX, BUSYBOX)
        self.write_file("etc/passwd", "root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
        self._add_modules([*_CONTROL_MODULES, *modules])

    def write_file(self, path: str, text: str, mode: int = 0o644) -> None:
        """Puts a file of this text into the guest."""
        target = self._root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(mode)

    def add(self, program: Path, path: str | None = None) -> None:
        """Copies a program or library, and the libraries that it needs, to the same place or to `path`."""
        self._copy(program, Path(path) if path else program)
        for library in needs(program):
            self._copy(library, library)
            self._library_folders.add(str(library.parent))

    def add_file(self, file: Path, path: Path) -> None:
        """Copies a file that needs nothing to `path`."""
        target = self._root / path.relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)

    def compile_python(self, folders: Sequence[Path]) -> None:
        """Compiles the Python files in folders of the guest, which would take it seconds."""
        command = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
        subprocess.run([*command, *(self._root / folder.relative_to("/") for folder in folders)], check=True)

    def _copy(self, source: Path, path: Path) -> None:
        """Copies a file to where its links end, and makes a link there: one library must not become two."""
        real = source.resolve() if path == source else path
        target = self._root / real.relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            shutil.copy(source, target)
        link = self._root / path.relative_to("/")
        if not os.path.lexists(link):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(real)

    def _add_modules(self, names: Sequence[str]) -> None:
        files = {_module_name(file): file for file in self._kernel.modules.glob("kernel/**/*.ko*")}
        wanted, folder = [_module_name(Path(name)) for name in names], self._root / "lib/modules" / self._kernel.release
        folder.mkdir(parents=True)
        while wanted:
            name = wanted.pop()
            target = folder / f"{name}.ko"
            # One that is missing is built into the kernel, or is part of another one in this version.
            if name in files and not target.exists():
                target.write_bytes(_module(files[name]))
                wanted += _depends(target.read_bytes())

    @property
    def library_path(self) -> str:
        """Where the libraries of what was added lie, as LD_LIBRARY_PATH has it."""
        return ":".join(sorted(self._library_folders))

    def write(self) -> Path:
        """Packs it all into one file."""
        self.write_file("init", _INIT % {"libraries": self.library_path}, 0o755)
        packed = self._root.with_name("initramfs")
        subprocess.run([BUSYBOX, "depmod", "-b", self._root, self._kernel.release], check=True)
        names = "\n".join(str(path.relative_to(self._root)) for path in sorted(self._root.rglob("*")))
        with packed.open("wb") as file:
            # Not compressed, which the guest would pay for.
            command = [BUSYBOX, "cpio", "-o", "-H", "newc", "-R", "0:0"]
            subprocess.run(
                command, input=names.encode(), stdout=file, stderr=subprocess.DEVNULL, cwd=self._root, check=True
            )
        return packed


def _module_name(file: Path) -> str:
    return file.name.partition(".ko")[0].replace("-", "_")


def _module(file: Path) -> bytes:
    """A module's bytes, unpacked: what the guest's modprobe may not be able to do."""
    if file.suffix == ".xz":
        return lzma.decompress(file.read_bytes())
    if file.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", file], stdout=subprocess.PIPE, check=True).stdout
    return file.read_bytes()


def _depends(module: bytes) -> Iterator[str]:
    found = re.search(rb"\0depends=([^\0]*)\0", module)
    return (name.replace("-", "_") for name in found[1].decode().split(",") if name) if found else iter(())


@dataclass(frozen=True)
class Outcome:
    """What a command in the guest came to."""

    status: int
    output: str


class Guest:
    """A running guest. `devices` are QEMU's, one word of `-device` each; `append` goes to the kernel's command line;
    `fds` are files that `options` name by their numbers; `launcher` is a program with arguments that becomes QEMU.

    The kernel's messages are in `console.log` in `log_dir`.
    """

    def __init__(
        self,
        kernel: Kernel,
        initramfs: Path,
        log_dir: Path,
        *,
        devices: Sequence[str] = (),
        append: str = "",
        memory_mb: int = 512,
        cpus: int = 2,
        options: Sequence[str] = (),
        fds: Sequence[int] = (),
        launcher: Sequence[str] = (),
    ) -> None:
        self._stack = ExitStack()
        self._numbers = itertools.count(1)
        self._received = b""
        # What it did not come to the end of: nothing more is asked of it then.
        self._hangs_at: str | None = None
        self.console = log_dir / "console.log"
        self._control = self._stack.enter_context(scratch_folder()) / "control"
        # fmt: off
        argv = [
            # Page tables of four levels are quicker to walk than of five.
            QEMU, "-M", "q35", "-accel", "tcg,thread=multi", "-cpu", "max,la57=off",
            "-smp", str(cpus), "-m", str(memory_mb),
            "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-kernel", str(kernel.image), "-initrd", str(initramfs),
            "-append", f"{_COMMAND_LINE} {append}",
            "-chardev", f"file,id=console,path={self.console}", "-device", "isa-serial,chardev=console",
            # Not a second serial port: of what is sent while the guest sends, some would be lost.
            "-chardev", f"socket,id=control,path={self._control},server=on,wait=off",
            "-device", "virtio-serial-pci,addr=1e", "-device", "virtserialport,chardev=control",
        ]
        # fmt: on
        argv += itertools.chain.from_iterable(("-device", device) for device in devices)
        self._process = Process("qemu", [*launcher, *argv, *options], log_dir, fds=fds)

    def __enter__(self) -> Self:
        try:
            self._process.start()
            self._stack.callback(self._process.kill)
            self._socket = self._stack.enter_context(self._connect())
            self._wait_for(b"ready\n", time.monotonic() + _BOOT_TIMEOUT_S, "its boot")
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def run(self, command: str, timeout_s: float = 120.0) -> Outcome:
        """Runs a shell script in the guest, which kills it when the time is over, and returns what it printed.

        Raises `ProcessError` if the guest dies or hangs; after that at once, since each further command would take its
        whole time too, and what the guest says may belong to an earlier one.
        """
        if self._hangs_at:
            raise self._failure(f"hangs since it gave no sign of {self._hangs_at}")
        number = next(self._numbers)
        encoded = base64.b64encode(command.encode()).decode()
        self._socket.sendall(f"{number} {timeout_s:.0f} {encoded}\n".encode())
        # The clocks of guest and host may differ.
        deadline = time.monotonic() + 2 * timeout_s
        output = self._wait_for(f"end {number} ".encode(), deadline, f"the end of '{command}'")
        status = int(self._wait_for(b"\n", deadline, "the status"))
        return Outcome(status, output.decode(errors="replace").replace("\r", ""))

    def check(self, command: str, timeout_s: float = 120.0) -> str:
        """As `run`, for a command that must succeed."""
        outcome = self.run(command, timeout_s)
        if outcome.status != 0:
            raise self._failure(f"'{command}' failed with status {outcome.status}: {outcome.output[-1000:]}")
        return outcome.output

    def _connect(self) -> socket.socket:
        deadline = time.monotonic() + _BOOT_TIMEOUT_S
        line = socket.socket(socket.AF_UNIX)
        while True:
            try:
                line.connect(str(self._control))
            except OSError:
                self._check_alive(deadline, "its line")
                time.sleep(0.02)
            else:
                # Short, so that the death of the guest is noticed.
                line.settimeout(0.5)
                return line

    def _wait_for(self, mark: bytes, deadline: float, what: str) -> bytes:
        """What the guest sends up to `mark`."""
        while mark not in self._received:
            self._check_alive(deadline, what)
            try:
                received = self._socket.recv(65536)
            except TimeoutError:
                continue
            except ConnectionError:
                received = b""
            if not received:
                self._process.wait(10)
            self._received += received
        before, _, self._received = self._received.partition(mark)
        return before

    def _check_alive(self, deadline: float, what: str) -> None:
        if self._process.returncode is not None:
            # What it said last may not be read yet.
            self._process.wait(10)
            raise self._failure(f"ended before {what}")
        if time.monotonic() > deadline:
            self._hangs_at = what
            raise self._failure(f"no sign of {what}")

    def trouble(self) -> str | None:
        """Why nothing more is to be expected of it, with the end of its console; None while it runs."""
        trouble = self._process.trouble()
        return None if trouble is None else f"{trouble}; its console: {self._last_of_console()}"

    def _failure(self, what: str) -> ProcessError:
        received = self._received.decode(errors="replace")
        return self._process.failure(f"{what}; received: {received!r}; the console: {self._last_of_console()}")

    def _last_of_console(self) -> list[str]:
        console = self.console.read_text(errors="replace").splitlines() if self.console.exists() else []
        return console[-12:]
