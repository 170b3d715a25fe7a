# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Makes a Debian with a given DPDK, copies this tree in, and becomes a command of the tree in there.

    python3 .ci/debian_root.py SUITE VERSION COMMAND...

VERSION is 24.11 and the like, or newest; or none, for a command in a Debian that has neither DPDK nor this tree.
The Debian is made by debootstrap under target/debian/ and kept, with what is built in it. It comes from where this
machine's own packages come from. Rust's toolchain and crates are those of this machine, read-only.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

TREE = Path(__file__).resolve().parent.parent
ROOTS = TREE / "target/debian"
# Inside: this tree, and Rust.
INNER_TREE = "/srv/l2fwd-rs"
INNER_RUST = "/opt/rust"
INNER_CARGO = "/root/.cargo"
# What is newest must be newer than this, or it is no other version than those that have a name.
NEWEST_NAMED = (24, 11)

# How this machine reaches the network, for the programs inside.
NETWORK_FILES = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf")
# What this machine trusts, under a name that no package inside writes to.
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
INNER_CERTIFICATES = "/etc/ssl/machine.crt"
APT_OPTIONS = re.compile(r"^Acquire::(http|https|Check-|Retries|Force).*$", re.MULTILINE)
ENVIRONMENT = re.compile(
    r"(?i:https?|ftp|all|no)_proxy|TERM|CI|RUST_BACKTRACE|RUSTFLAGS|PROPTEST_\w+|DPDK_RS_TEST_PATIENCE|DPDK_HUGEPAGES"
    r"|CARGO_(?!HOME|TARGET_DIR|INSTALL_ROOT)\w+|PIP_(?!FIND_LINKS|CACHE_DIR|CERT)\w+"
)

SOURCES = """\
Types: deb
URIs: {uri}
Suites: {suites}
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""
# Experimental is for those who ask: for DPDK we do.
PREFERENCES = "Package: src:dpdk\nPin: release n=rc-buggy\nPin-Priority: 500\n"
# A root that a power cut breaks is made again, so nothing need be on the disk before the next step.
DPKG_OPTIONS = "force-unsafe-io\n"


def say(text: str) -> None:
    """A line of progress."""
    print(f"debian-root: {text}", flush=True)


class RootError(Exception):
    """Something that the Debian needs is unavailable; the message says what, and what to do."""


@dataclass(frozen=True)
class Archive:
    """Where packages come from; no security archive where the machine has none."""

    main: str
    security: str | None


def read_archive(targets: str) -> Archive | None:
    """Finds Debian's own archive among the lines `URI|ORIGIN|LABEL|COMPONENT` that apt tells about its sources."""
    found: dict[str, str] = {}
    for line in targets.splitlines():
        uri, origin, label, component = line.split("|")
        if origin == "Debian" and component == "main":
            found.setdefault(label, uri)
    return Archive(found["Debian"], found.get("Debian-Security")) if "Debian" in found else None


def archive() -> Archive:
    """The archive that this machine uses, or that DEBIAN_MIRROR names."""
    if told := os.environ.get("DEBIAN_MIRROR"):
        return Archive(told, None)
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)|$(ORIGIN)|$(LABEL)|$(COMPONENT)"]
    command.append("Created-By: Packages")
    found = read_archive(output(command))
    if found is None:
        # apt knows the origin of a source only once it has read from it.
        subprocess.run(["apt-get", "-qq", "update"], check=False)
        found = read_archive(output(command))
    if found is None:
        raise RootError("apt's sources name no archive of Debian: set DEBIAN_MIRROR to the address of one")
    return found


def output(command: list[str], **options: object) -> str:
    """What a command prints.

    Raises `RootError` if it fails.
    """
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, **options)  # type: ignore[call-overload]
    except OSError as error:
        raise RootError(f"cannot run '{command[0]}': {error.strerror}") from error
    if done.returncode != 0:
        raise RootError(f"'{' '.join(command)}' ended with status {done.returncode}")
    return done.stdout


class Root:
    """One Debian."""

    def __init__(self, suite: str, version: str) -> None:
        self.suite, self.version = suite, version
        self.path = ROOTS / f"dpdk-{version}"
        self.log = ROOTS / f"dpdk-{version}.log"

    def enter(self, command: Iterable[str], binds: Iterable[str] = (), environment: Iterable[str] = ()) -> list[str]:
        """The command line that becomes `command` inside."""
        clean = ["env", "-i", f"PATH={INNER_RUST}/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8"]
        clean.append("DEBIAN_FRONTEND=noninteractive")
        if Path(CERTIFICATES).exists():
            clean += [f"{name}={INNER_CERTIFICATES}" for name in ("SSL_CERT_FILE", "PIP_CERT")]
        passed = (f"{name}={value}" for name, value in os.environ.items() if ENVIRONMENT.fullmatch(name))
        door = [str(TREE / ".ci/debian-root-enter"), str(self.path), *binds]
        return ["unshare", "--mount", *door, "--", *clean, *passed, *environment, *command]

    def inside(self, *command: str) -> str:
        """What a command inside prints."""
        with self.log.open("a") as log:
            return output(self.enter(command), stderr=log)

    def lock(self) -> None:
        """Keeps others out for as long as this process lives, whatever it becomes."""
        make_folder(ROOTS)
        file = os.open(ROOTS / f"dpdk-{self.version}.lock", os.O_CREAT | os.O_RDWR)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RootError(f"another run uses {self.path}: wait until it has ended") from None
        os.set_inheritable(file, True)

    def usable(self) -> bool:
        """Whether it is there and no installation in it was cut short."""
        if not self.path.exists():
            return False
        done = subprocess.run(
            self.enter(["dpkg", "--audit"]), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
        )
        return done.returncode == 0 and not done.stdout.strip()

    def make(self, origin: Archive) -> None:
        """Makes it from nothing; it has its name only when it is complete."""
        part = self.path.with_name(f"{self.path.name}.part")
        remove(self.path)
        remove(part)
        say(f"creating a Debian {self.suite} in {self.path}, which takes a few minutes")
        command = ["unshare", "--mount", "debootstrap", "--variant=minbase", self.suite, str(part), origin.main]
        with self.log.open("w") as log:
            done = subprocess.run(command, stdout=log, stderr=log, env=os.environ | proxies(), check=False)
        if done.returncode != 0:
            self.show_log()
            remove(part)
            raise RootError(f"debootstrap cannot create a Debian {self.suite} from {origin.main}: check the network")
        self.configure(part, origin)
        part.rename(self.path)

    def configure(self, path: Path, origin: Archive) -> None:
        """Tells apt and dpkg inside where packages come from and how to install them."""
        etc = path / "etc"
        newest = self.version == "newest"
        suites = [self.suite, "experimental"] if newest else [self.suite, f"{self.suite}-updates"]
        sources = SOURCES.format(uri=origin.main, suites=" ".join(suites))
        if origin.security and not newest:
            sources += "\n" + SOURCES.format(uri=origin.security, suites=f"{self.suite}-security")
        (etc / "apt/sources.list").unlink(missing_ok=True)
        (etc / "apt/sources.list.d/debian.sources").write_text(sources)
        if newest:
            (etc / "apt/preferences.d/dpdk").write_text(PREFERENCES)
        options = "\n".join(found[0] for found in APT_OPTIONS.finditer(output(["apt-config", "dump"])))
        if Path(CERTIFICATES).exists():
            options += f'\nAcquire::https::CAInfo "{INNER_CERTIFICATES}";'
        (etc / "apt/apt.conf.d/90machine").write_text(f"{options}\n")
        (etc / "dpkg/dpkg.cfg.d/speed").write_text(DPKG_OPTIONS)
        # No service is to start in there.
        policy = path / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)

    def connect(self) -> None:
        """Brings over how to reach the network, which may have changed since the last run."""
        home = Path.home()
        pairs = [(Path(name), name) for name in NETWORK_FILES]
        pairs.append((Path(CERTIFICATES), INNER_CERTIFICATES))
        pairs.append((home / ".config/pip/pip.conf", "/root/.config/pip/pip.conf"))
        pairs.append((cargo_home() / "config.toml", f"{INNER_CARGO}/config.toml"))
        for source, name in pairs:
            if source.exists():
                target = self.path / name[1:]
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)

    def update(self) -> None:
        """Reads the package lists, for the newest also the newer packages."""
        try:
            self.inside("apt-get", "-qq", "update")
            if self.version == "newest":
                self.inside("apt-get", "-qq", "-y", "full-upgrade")
        except RootError as error:
            self.show_log()
            say(f"{error}: continuing with the present packages")

    def dpdk(self) -> str:
        """The version, as 24.11, that is available in it; fails if it is another than the one asked for."""
        policy = self.inside("apt-cache", "policy", "libdpdk-dev")
        found = re.search(r"Candidate: (?:\d+:)?((\d+)\.(\d+)[^-\s]*)", policy)
        if found is None:
            raise RootError(f"the package libdpdk-dev is not available in {self.path}: check the network")
        line = f"{found[2]}.{found[3]}"
        if self.version == "newest":
            if (int(found[2]), int(found[3])) <= NEWEST_NAMED:
                raise RootError(f"the newest DPDK in Debian {self.suite} is {found[1]}: use --dpdk {line}")
            say(f"the newest DPDK in Debian {self.suite} is {found[1]}")
        elif line != self.version:
            raise RootError(f"Debian {self.suite} has DPDK {found[1]}, not {self.version}")
        return line

    def show_log(self) -> None:
        """The end of what debootstrap or apt said."""
        print("\n".join(self.log.read_text(errors="replace").splitlines()[-12:]), file=sys.stderr)

    def copy_tree(self) -> None:
        """Copies what git knows or does not ignore, and takes away what is gone since the last time.

        Only files that differ are written, with the present time: cargo, meson and Python rebuild by time stamps, and
        a file's own may lie before a build that did not see it.
        """
        listed = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = {name for name in output(listed, cwd=TREE).split("\0") if os.path.lexists(TREE / name) and name}
        target = self.path / INNER_TREE[1:]
        list_file = target.with_suffix(".list")
        before = list_file.read_text().split("\0") if list_file.exists() else []
        for name in set(before) - names - {""}:
            (target / name).unlink(missing_ok=True)
        target.mkdir(parents=True, exist_ok=True)
        list_file.write_text("\0".join(sorted(names)))
        for name in names:
            copy_file(TREE / name, target / name)


def copy_file(source: Path, target: Path) -> None:
    """Makes `target` the same as `source`, untouched if it already is."""
    if target.is_symlink() or source.is_symlink():
        if target.is_symlink() and source.is_symlink() and target.readlink() == source.readlink():
            return
        target.unlink(missing_ok=True)
    if source.is_symlink():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(source.readlink())
        return
    if not target.is_file() or target.read_bytes() != source.read_bytes():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    target.chmod(source.stat().st_mode & 0o777)


def remove(path: Path) -> None:
    """Removes a Debian, but nothing that is mounted in it, should that ever be."""
    subprocess.run(["rm", "-rf", "--one-file-system", path], check=True)


def make_folder(path: Path) -> None:
    """Makes a folder that belongs to whom the tree belongs, so that its owner's own builds go on."""
    owner = TREE.stat()
    for folder in (*reversed(path.parents), path):
        if not folder.exists():
            folder.mkdir()
            os.chown(folder, owner.st_uid, owner.st_gid)


def proxies() -> dict[str, str]:
    """The proxies of apt's configuration in the form that debootstrap's downloader understands."""
    dump = output(["apt-config", "dump", "Acquire::http::Proxy", "Acquire::https::Proxy"])
    found = re.findall(r'^Acquire::(https?)::Proxy "(.+)";$', dump, re.MULTILINE)
    return {f"{scheme}_proxy": proxy for scheme, proxy in found if proxy != "DIRECT"}


def cargo_home() -> Path:
    """Where cargo keeps its crates."""
    return Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")


def rust_binds() -> list[str]:
    """Rust's toolchain and crates of this machine: SOURCE TARGET, in turn."""
    sysroot = output(["rustc", "--print", "sysroot"], cwd=TREE).strip()
    if sysroot == "/usr":
        raise RootError("Rust from Debian's own packages cannot be lent to another Debian: install it with rustup")
    # Fetched out here by whom the crates belong to, so that nobody finds files of root among them.
    owner = cargo_home().stat()
    user = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []} if owner.st_uid else {}
    output(["cargo", "fetch", "--quiet", "--locked"], cwd=TREE, **user)
    return [sysroot, INNER_RUST, str(cargo_home() / "registry"), f"{INNER_CARGO}/registry"]


def main(arguments: list[str]) -> NoReturn:
    """Makes what is missing and becomes the command.

    Raises `RootError`.
    """
    root = Root(arguments[1], arguments[2])
    bare = root.version == "none"
    binds = [] if bare else rust_binds()
    root.lock()
    fresh = not root.usable()
    if fresh:
        root.make(archive())
    root.connect()
    if fresh or root.version == "newest":
        root.update()
    if bare:
        command = root.enter(arguments[3:])
    else:
        environment = ["CARGO_NET_OFFLINE=true", f"DPDK_WANTED={root.dpdk()}"]
        root.copy_tree()
        command = root.enter(["env", "-C", INNER_TREE, *arguments[3:]], binds, environment)
    os.execvp(command[0], command)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit("usage: debian_root.py SUITE VERSION COMMAND...")
    try:
        main(sys.argv)
    except RootError as error:
        sys.exit(f"debian-root: error: {error}")
