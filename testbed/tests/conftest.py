# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Fixtures for every test of this package, those with the real programs included."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from embedded_stand_ins import maker
from longest import longest_first

from testbed.campaign.embedded.generator import EmbeddedGenerator
from testbed.run.eal import hugepages_wanted, unique_file_prefix
from testbed.run.programs import Program, ProgramMissing, find_program
from testbed.run.runtime_folders import remove_folders
from testbed.vm.guest import Kernel, VmMissing, find_kernel
from testbed.vm.guest import need_tools as need_vm_tools

# What a shell runs in the background ignores SIGINT, and so would every program that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What asks for a built program runs it. Workers are handed the files in this order."""
    for item in items:
        if "program" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.e2e)
    if hasattr(config, "workerinput"):
        longest_first(items)


@pytest.fixture(scope="session")
def program() -> Callable[[str], Program]:
    """Finds a built program by name, or skips the test and says what is missing.

    TESTBED_BIN_DIRS, a list of folders as in PATH, replaces the folders of the two builds.
    """
    told = os.environ.get("TESTBED_BIN_DIRS")
    folders = [Path(folder) for folder in told.split(os.pathsep)] if told else None

    def find(name: str) -> Program:
        try:
            return find_program(name, folders, for_figures=False)
        except ProgramMissing as error:
            pytest.skip(str(error))

    return find


@pytest.fixture
def stand_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., EmbeddedGenerator]:
    """Makes an embedded generator of stand-ins for its programs."""
    return maker(tmp_path, monkeypatch)


@pytest.fixture(scope="session")
def l2fwd_c(program: Callable[[str], Program]) -> Program:
    return program("l2fwd-c")


@pytest.fixture(scope="session")
def l2fwd_rs(program: Callable[[str], Program]) -> Program:
    return program("l2fwd-rs")


@pytest.fixture(scope="session")
def generator_program(program: Callable[[str], Program]) -> Program:
    return program("generator")


@pytest.fixture(scope="session", params=["l2fwd-c", "l2fwd-rs"])
def forwarder_program(request: pytest.FixtureRequest, program: Callable[[str], Program]) -> Program:
    """Each of the twins in turn."""
    return program(request.param)


@pytest.fixture(scope="session")
def hugepages() -> bool:
    """Whether DPDK programs of this test run may use hugepages: `x` says so in DPDK_HUGEPAGES."""
    return hugepages_wanted()


@pytest.fixture
def file_prefix(request: pytest.FixtureRequest) -> str:
    """A `--file-prefix` of this test alone."""
    return unique_file_prefix(request.node.name[:24].replace("[", "-").rstrip("]"))


@pytest.fixture(scope="session", autouse=True)
def folders_of_processes() -> Iterator[None]:
    """What DPDK leaves of processes that tests start without the package's help goes with the last test."""
    yield
    remove_folders()


@pytest.fixture(scope="session")
def need_root() -> None:
    """For tests that make network interfaces."""
    if os.geteuid() != 0:
        pytest.skip("needs root")


@pytest.fixture(scope="session")
def need_tools() -> Callable[..., None]:
    """`need_tools("ping")` skips the test where one of them is not installed."""

    def check(*names: str) -> None:
        for name in names:
            if shutil.which(name) is None:
                pytest.skip(f"'{name}' is not installed")

    return check


@pytest.fixture(scope="session")
def rehearsal_kernel() -> Kernel:
    """The kernel of virtual machines, or skips the test and says what is missing."""
    try:
        need_vm_tools()
        return find_kernel()
    except VmMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def rehearsal_initramfs(rehearsal_kernel: Kernel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What virtual machines have on their disk, if this project's own tools are rehearsed in them."""
    from rehearsal import build_initramfs

    return build_initramfs(tmp_path_factory.mktemp("initramfs"), rehearsal_kernel)
