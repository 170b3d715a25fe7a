# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""l2fwd-rs as a service: the files that a packager or an administrator installs."""

from __future__ import annotations

import itertools
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from testbed.host.pci import full_address
from testbed.host.processors import read_cpu_list
from testbed.run.programs import Program, repository_root

FOLDER = repository_root() / "l2fwd-rs/packaging"


def settings(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found.setdefault(key, []).append(value)
    return found


@pytest.fixture
def options() -> dict[str, list[str]]:
    """The two lists of words in the example configuration, split as systemd splits them."""
    found = settings((FOLDER / "l2fwd-rs.conf").read_text())
    return {key: shlex.split(shlex.split(value)[0]) for key, (value,) in found.items()}


def test_unit_has_nothing_that_systemd_does_not_know(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    unit = (FOLDER / "l2fwd-rs.service").read_text()
    # The program need not be installed where the tests run.
    (tmp_path / "l2fwd-rs.service").write_text(unit.replace("/usr/local/bin/l2fwd-rs", "/bin/true"))
    done = subprocess.run([analyze, "verify", tmp_path / "l2fwd-rs.service"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    # That the check can fail:
    (tmp_path / "l2fwd-rs.service").write_text(unit.replace("Restart=on-failure", "Restart=at-noon"))
    done = subprocess.run([analyze, "verify", tmp_path / "l2fwd-rs.service"], capture_output=True, text=True)
    assert "at-noon" in done.stderr


def test_unit_user_rule_and_configuration_belong_together() -> None:
    unit = settings((FOLDER / "l2fwd-rs.service").read_text())
    user = (FOLDER / "l2fwd-rs.sysusers").read_text()
    rule = (FOLDER / "60-l2fwd-vfio.rules").read_text()
    (name,) = unit["User"]
    assert re.search(rf"^u {name} ", user, re.MULTILINE)
    assert f'GROUP="{unit["Group"][0]}"' in rule
    assert unit["Restart"] == ["on-failure"]
    assert unit["LimitMEMLOCK"] == ["infinity"]
    assert "char-vfio rw" in unit["DeviceAllow"]
    variables = re.findall(r"\$([A-Z0-9_]+)", unit["ExecStart"][0])
    assert variables == list(settings((FOLDER / "l2fwd-rs.conf").read_text()))
    assert unit["EnvironmentFile"] == ["/etc/l2fwd-rs.conf"]


def test_example_configuration_names_cpus_and_nics(options: dict[str, list[str]]) -> None:
    words = options["EAL_OPTIONS"]
    assert read_cpu_list(words[words.index("-l") + 1]) == [2, 3]
    nics = [value for option, value in itertools.pairwise(words) if option == "-a"]
    assert all(full_address(nic) == nic for nic in nics)
    forwarder = options["L2FWD_OPTIONS"]
    assert int(forwarder[forwarder.index("-p") + 1], 16) == (1 << len(nics)) - 1


def test_forwarder_accepts_the_example_configuration(
    l2fwd_rs: Program, options: dict[str, list[str]], file_prefix: str
) -> None:
    """All but the place that it names: a null device stands for each NIC."""
    words = options["EAL_OPTIONS"]
    nics = [at for at, word in enumerate(words) if word == "-a"]
    kept = [word for at, word in enumerate(words) if at not in nics and at - 1 not in nics]
    kept[kept.index("-l") + 1] = "0"
    # DPDK 22.11 refuses --in-memory without hugepages.
    kept.remove("--in-memory")
    vdevs = [f"--vdev=net_null{number}" for number in range(len(nics))]
    forwarder = options["L2FWD_OPTIONS"]
    forwarder[forwarder.index("-q") + 1] = str(len(nics))
    done = subprocess.run(
        [
            l2fwd_rs.path,
            *kept,
            f"--file-prefix={file_prefix}",
            "--no-huge",
            "--no-pci",
            *vdevs,
            "--",
            *forwarder,
            "--duration",
            "1",
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("l2fwd: port ") >= len(nics)
