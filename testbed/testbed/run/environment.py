# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the figures were measured on and with: recorded beside them, since without it they mean little."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from testbed.run.programs import Program, repository_root
from testbed.run.results_folder import ResultsError

_NONE = "unknown"

# The boot parameters that change how packets are forwarded. The others are the machine's own business, and a report
# is made to be handed on.
_BOOT_PARAMETERS = (
    "default_hugepagesz",
    "hugepages",
    "hugepagesz",
    "idle",
    "intel_idle.max_cstate",
    "intel_iommu",
    "intel_pstate",
    "iommu",
    "irqaffinity",
    "isolcpus",
    "mitigations",
    "nohz_full",
    "nosmt",
    "processor.max_cstate",
    "rcu_nocbs",
)


class Binary(BaseModel):
    """One program under test."""

    name: str
    path: str
    sha256: str
    version: str
    dpdk_linking: str


class Cpu(BaseModel):
    """The processor as the kernel describes it."""

    model: str
    logical: int
    usable: int
    mhz: str
    microcode: str
    smt: str
    governor: str
    isolated: str
    hypervisor: str


class Hugepages(BaseModel):
    """Hugepages of the default size."""

    used: bool
    size_kb: int
    total: int
    free: int


class Environment(BaseModel):
    """`environment.json`."""

    recorded: datetime
    cpu: Cpu
    memory_mb: int
    hugepages: Hugepages
    kernel: str
    boot_parameters: str
    system: str
    python: str
    dpdk: str
    commit: str
    uncommitted_changes: bool | None
    binaries: list[Binary]
    # Other hosts, by the name of the device that runs there (`campaign.remote.environment.HostEnvironment`); of this
    # machine under a name of its own the CPUs and NICs.
    hosts: dict[str, dict[str, Any]] = Field(default_factory=dict)

    @property
    def is_virtual(self) -> bool:
        """Whether a hypervisor shares this machine out."""
        return self.cpu.hypervisor not in ("none", _NONE)


def record_environment(programs: list[Program], hugepages: bool) -> Environment:
    """Looks at the machine and the programs. What cannot be found out is 'unknown', never an error."""
    commit, changed = _commit()
    meminfo = _key_values(Path("/proc/meminfo"))
    return Environment(
        recorded=datetime.now(UTC),
        cpu=_cpu(),
        memory_mb=_number(meminfo.get("MemTotal")) // 1024,
        hugepages=Hugepages(
            used=hugepages,
            size_kb=_number(meminfo.get("Hugepagesize")),
            total=_number(meminfo.get("HugePages_Total")),
            free=_number(meminfo.get("HugePages_Free")),
        ),
        kernel=platform.release(),
        boot_parameters=boot_parameters(_text(Path("/proc/cmdline"), empty="")),
        system=_system(),
        python=sys.version.split()[0],
        dpdk=_output("pkg-config", "--modversion", "libdpdk"),
        commit=commit,
        uncommitted_changes=changed,
        binaries=[describe_binary(program) for program in programs],
    )


def read_environment(folder: Path) -> Environment:
    """Reads `environment.json`.

    Raises `ResultsError`.
    """
    path = folder / "environment.json"
    try:
        return Environment.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultsError(f"cannot read '{path}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ResultsError(f"'{path}' is not a record of an environment: {error}") from error
    except ValidationError as error:
        raise ResultsError(f"'{path}' is not a record of an environment: {error.errors()[0]['msg']}") from error


def boot_parameters(command_line: str) -> str:
    """Of the kernel's command line, what bears on forwarding; 'none' if nothing does."""
    kept = [word for word in command_line.split() if word.partition("=")[0] in _BOOT_PARAMETERS]
    return " ".join(kept) or "none"


def steal_ticks() -> tuple[int, int]:
    """(stolen, all) CPU ticks since boot: two readings show how much the hypervisor gave to others in between."""
    fields = [int(value) for value in _text(Path("/proc/stat"), first_line=True).split()[1:9]]
    return (fields[7], sum(fields)) if len(fields) == 8 else (0, 0)


def taken_seconds() -> float | None:
    """CPU time since boot that interrupts and the hypervisor took, of all CPUs, in steps of a tick; None in a virtual
    machine whose hypervisor reports no steal."""
    fields = [int(value) for value in _text(Path("/proc/stat"), first_line=True).split()[1:9]]
    virtual = "hypervisor" in _key_values(Path("/proc/cpuinfo")).get("flags", "").split()
    if len(fields) < 8 or (virtual and not fields[7]):
        return None
    return sum(fields[5:8]) / os.sysconf("SC_CLK_TCK")


def steal_percent(before: tuple[int, int], after: tuple[int, int]) -> float | None:
    """The share stolen between two readings; None if no time went by."""
    elapsed = after[1] - before[1]
    return 100.0 * (after[0] - before[0]) / elapsed if elapsed > 0 else None


def _cpu() -> Cpu:
    info = _key_values(Path("/proc/cpuinfo"))
    devices = Path("/sys/devices/system/cpu")
    smt = _text(devices / "smt/active")
    hypervisor = _output("systemd-detect-virt", "--vm")
    if hypervisor == _NONE and "hypervisor" in info.get("flags", "").split():
        hypervisor = "yes, of unknown kind"
    return Cpu(
        model=info.get("model name", _NONE),
        logical=os.cpu_count() or 0,
        usable=len(os.sched_getaffinity(0)),
        mhz=info.get("cpu MHz", _NONE),
        microcode=info.get("microcode", _NONE),
        smt={"0": "off", "1": "on"}.get(smt, _NONE),
        governor=_text(devices / "cpu0/cpufreq/scaling_governor"),
        isolated=_text(devices / "isolated", empty="none"),
        hypervisor=hypervisor,
    )


def describe_binary(program: Program) -> Binary:
    """What a result has to say of a program, asked of the program itself."""
    return Binary(
        name=program.name,
        path=str(_inside(program.path)),
        sha256=sha256_of(program.path),
        version=_version(program.path),
        dpdk_linking=dpdk_linking(program.path),
    )


def _inside(path: Path) -> Path:
    """As it is called from the source tree's root, if it lies in there: results are read on other machines."""
    root = repository_root()
    return path.relative_to(root) if path.is_relative_to(root) else path


def _version(program: Path) -> str:
    """The one line of `--version`, or 'unknown': what has no such option, as DPDK's own programs, prints its usage."""
    text = _output(str(program), "--version")
    return text if "\n" not in text else _NONE


def dpdk_linking(path: Path) -> str:
    """'shared', 'static', or 'unknown' where the file is no program that ldd can read."""
    libraries = _output("ldd", str(path))
    return _NONE if libraries == _NONE else "shared" if "librte_eal" in libraries else "static"


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _commit() -> tuple[str, bool | None]:
    root = str(repository_root())
    commit = _output("git", "-C", root, "rev-parse", "HEAD")
    if commit == _NONE:
        return _NONE, None
    return commit, _output("git", "-C", root, "status", "--porcelain", empty="") != ""


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", _NONE)
    except OSError:
        return _NONE


def _output(*argv: str, empty: str = _NONE) -> str:
    """What a short command prints, or 'unknown'."""
    if shutil.which(argv[0]) is None:
        return _NONE
    try:
        # systemd-detect-virt ends with status 1 where it prints 'none': the text counts, not the status.
        done = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return _NONE
    return done.stdout.strip() or (empty if done.returncode == 0 else _NONE)


def _text(path: Path, first_line: bool = False, empty: str = _NONE) -> str:
    try:
        text = path.read_text(errors="replace")
    except OSError:
        return _NONE
    return (text.splitlines()[0] if first_line else text).strip() or empty


def _key_values(path: Path) -> dict[str, str]:
    """'key : value' lines; of a repeated key the first, which in cpuinfo is the first CPU's."""
    values: dict[str, str] = {}
    for line in _text(path, empty="").splitlines():
        key, colon, value = line.partition(":")
        if colon:
            values.setdefault(key.strip(), value.strip())
    return values


def _number(text: str | None) -> int:
    found = re.match(r"\s*([0-9]{1,18})\b", text or "")
    return int(found[1]) if found else 0
