# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Which wheels .ci/python_lock.py takes into the lock."""
# ruff: noqa: D103

import pytest
from python_lock import is_installed, requirement


@pytest.mark.parametrize(
    ("tags", "installed"),
    [
        ("py3-none-any", True),
        ("py2.py3-none-any", True),
        ("cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64", True),
        ("cp39-abi3-manylinux_2_28_x86_64", True),
        ("py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64", True),
        ("cp310-cp310-manylinux_2_28_x86_64", False),
        ("cp314-cp314-manylinux_2_28_x86_64", True),
        ("cp315-abi3-manylinux_2_28_x86_64", False),
        ("cp313-cp313t-manylinux_2_28_x86_64", False),
        ("cp312-cp312-musllinux_1_2_x86_64", False),
        ("cp312-cp312-manylinux_2_28_aarch64", False),
        ("cp312-cp312-macosx_11_0_arm64", False),
        ("py3-none-win_amd64", False),
    ],
)
def test_wheels_of_supported_pythons_on_linux_are_taken(tags: str, installed: bool) -> None:
    assert is_installed(f"https://files.pythonhosted.org/packages/0b/name-1.0-{tags}.whl") == installed


def test_a_package_is_written_with_its_marker_and_hashes() -> None:
    tags = ("py3-none-any", "py3-none-win32")
    wheels = [{"url": f"name-1.0-{tag}.whl", "hashes": {"sha256": tag}} for tag in tags]
    package = {"name": "name", "version": "1.0", "marker": "os_name == 'posix'", "wheels": wheels}
    package["sdist"] = {"url": "name-1.0.tar.gz", "hashes": {"sha256": "a"}}
    assert requirement(package) == (
        "name==1.0 ; os_name == 'posix' \\\n    --hash=sha256:a \\\n    --hash=sha256:py3-none-any\n"
    )
