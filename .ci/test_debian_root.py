# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""How a Debian is made and kept: where it comes from, which DPDK it may have, and what of this tree is in it."""
# ruff: noqa: D103

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import debian_root
from debian_root import Archive, Root, RootError, read_archive


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A Debian that is only a folder, and a tree of three files."""
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / ".gitignore").write_text("/target/\n")
    (tree / "src/kept").write_text("old")
    (tree / "x").write_text("#!/bin/sh\n")
    (tree / "x").chmod(0o755)
    monkeypatch.setattr(debian_root, "TREE", tree)
    monkeypatch.setattr(debian_root, "ROOTS", tree / "target/debian")
    made = Root("trixie", "24.11")
    made.path.mkdir(parents=True)
    return made


@pytest.fixture
def checkout(root):
    """The tree as git knows it."""
    if shutil.which("git") is None:
        pytest.skip("'git' is not installed, and a Debian is made only where it is")
    subprocess.run(["git", "-C", debian_root.TREE, "init", "-q"], check=True)
    return root


def copied(root):
    top = root.path / debian_root.INNER_TREE[1:]
    return {str(path.relative_to(top)): path for path in top.rglob("*") if not path.is_dir()}


def test_the_archive_is_the_one_that_apt_reads_debian_from():
    targets = """\
https://third.example/apt|||main
https://other.example/|Other|Debian|main
http://mirror.example/debian/|Debian|Debian|contrib
http://mirror.example/debian/|Debian|Debian|main
http://updates.example/debian/|Debian|Debian|main
http://mirror.example/security/|Debian|Debian-Security|main
"""
    assert read_archive(targets) == Archive("http://mirror.example/debian/", "http://mirror.example/security/")
    assert read_archive("http://mirror.example/debian/|Debian|Debian|main\n").security is None
    assert read_archive("http://mirror.example/ubuntu/|Ubuntu|Ubuntu|main\n") is None
    assert read_archive("") is None


def test_the_tree_is_copied_as_it_is_but_for_what_git_ignores(checkout):
    (debian_root.TREE / "target/built").write_text("by the host")
    (debian_root.TREE / "link").symlink_to("src/kept")
    checkout.copy_tree()
    assert set(copied(checkout)) == {".gitignore", "x", "src/kept", "link"}
    assert copied(checkout)["src/kept"].read_text() == "old"
    assert os.access(copied(checkout)["x"], os.X_OK)
    assert copied(checkout)["link"].readlink() == Path("src/kept")


def test_the_next_copy_follows_changes_and_leaves_the_rest_alone(checkout):
    checkout.copy_tree()
    built = checkout.path / debian_root.INNER_TREE[1:] / "target/built"
    built.parent.mkdir()
    built.write_text("in there")
    times = {name: path.stat().st_mtime_ns for name, path in copied(checkout).items()}
    kept = debian_root.TREE / "src/kept"
    kept.write_text("new")
    # Older than what was built from the copy: cargo must see it all the same.
    os.utime(kept, (0, 0))
    (debian_root.TREE / "x").unlink()
    checkout.copy_tree()
    assert set(copied(checkout)) == {".gitignore", "src/kept", "target/built"}
    assert copied(checkout)["src/kept"].read_text() == "new"
    assert copied(checkout)["src/kept"].stat().st_mtime_ns >= times["src/kept"]
    assert copied(checkout)[".gitignore"].stat().st_mtime_ns == times[".gitignore"]


def candidate(root, monkeypatch, version):
    policy = f"libdpdk-dev:\n  Installed: (none)\n  Candidate: {version}\n" if version else ""
    monkeypatch.setattr(root, "inside", lambda *_: policy)
    return root.dpdk()


def test_only_the_dpdk_that_was_asked_for_will_do(root, monkeypatch):
    assert candidate(root, monkeypatch, "24.11.4-0+deb13u1") == "24.11"
    for other in ("24.1-1", "25.11-1", "22.11.11-0+deb12u1", "(none)", ""):
        with pytest.raises(RootError):
            candidate(root, monkeypatch, other)


def test_the_newest_must_be_newer_than_those_with_a_name(root, monkeypatch):
    newest = Root("sid", "newest")
    assert candidate(newest, monkeypatch, "25.11.4-1") == "25.11"
    assert candidate(newest, monkeypatch, "1:100.03~rc1-1") == "100.03"
    with pytest.raises(RootError, match=r"use --dpdk 24\.11"):
        candidate(newest, monkeypatch, "24.11.4-1")


def test_a_failed_debootstrap_leaves_nothing_that_looks_like_a_debian(root, monkeypatch, tmp_path, capfd):
    fake = tmp_path / "bin/debootstrap"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\nmkdir -p "$3"\necho "E: Failed getting release file"\nexit 1\n')
    fake.chmod(0o755)
    (fake.parent / "unshare").write_text('#!/bin/sh\nshift\nexec "$@"\n')
    (fake.parent / "unshare").chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    with pytest.raises(RootError, match="check the network"):
        root.make(Archive("http://mirror.example/debian/", None))
    assert not list(root.path.parent.glob("dpdk-24.11*/"))
    assert "E: Failed getting release file" in capfd.readouterr().err


def test_two_runs_do_not_share_a_debian(root):
    held = os.open(debian_root.ROOTS / "dpdk-24.11.lock", os.O_CREAT | os.O_RDWR)
    debian_root.fcntl.flock(held, debian_root.fcntl.LOCK_EX)
    with pytest.raises(RootError, match="another run uses"):
        root.lock()
    os.close(held)
    root.lock()


def test_the_environment_inside_is_its_own_but_for_the_way_to_the_network(root, monkeypatch):
    for name in (
        "http_proxy",
        "CI",
        "CARGO_NET_RETRY",
        "CARGO_HOME",
        "RUSTUP_HOME",
        "PIP_INDEX_URL",
        "PIP_CERT",
        "SHELL",
    ):
        monkeypatch.setenv(name, "from the host")
    passed = {word.partition("=")[0] for word in root.enter(["true"]) if word.endswith("=from the host")}
    assert passed == {"http_proxy", "CI", "CARGO_NET_RETRY", "PIP_INDEX_URL"}
