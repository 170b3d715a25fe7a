# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the front door decides: what to install, what to refuse, which hugepages to take and to give back.

Each test runs a copy of `x` in a tree of its own, with programs that only note how they were called in place of apt,
cargo and the like, and with files in place of the kernel's hugepage counters.
"""
# ruff: noqa: D102, D103

import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
# How each stand-in answers, as shell. All of them note their call first.
STAND_INS = {
    "apt-get": ":",
    "cargo": 'case $1 in --version) echo "cargo 1.999.0 (0123abcd 2026-01-01)" ;; esac',
    "dpkg-query": 'shift 3; for name; do printf "<%s:installed>" "$name"; done',
    "id": "echo 0",
    "make": ":",
    "meson": ":",
    "mount": ":",
    "ninja": ":",
    "pkg-config": "echo 22.11.11",
    "sudo": "exit 1",
    "umount": ":",
}


class Tree:
    """A copy of the front door whose surroundings are made up."""

    def __init__(self, root: Path) -> None:
        self.root, self.calls_file = root, root / "calls"
        self.environment: dict[str, str] = {}
        (root / "bin").mkdir()
        for name, answer in STAND_INS.items():
            self.answers(name, answer)
        for name in ("Cargo.toml", "testbed/requirements.lock"):
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_bytes((REPOSITORY / name).read_bytes())
        self.pool = root / "pool"
        self.pool.mkdir()
        self.set_hugepages(total=0, free=0, available_mb=8192)
        self.mounted("hugetlbfs", root)
        (root / ".ci").mkdir()
        hugepages = (REPOSITORY / ".ci/hugepages.py").read_text()
        for real, made_up in (
            ("/sys/kernel/mm/hugepages/hugepages-2048kB", self.pool),
            ("/proc/mounts", root / "mounts"),
            ("/proc/meminfo", root / "meminfo"),
            ("/dev/hugepages", root / "mount-point"),
        ):
            assert real in hugepages
            hugepages = hugepages.replace(real, str(made_up))
        (root / ".ci/hugepages.py").write_text(hugepages)
        for name in ("x", ".ci/needs.sh"):
            (root / name).write_bytes((REPOSITORY / name).read_bytes())
        # The environment is up to date, and its Python notes what `x testbed` tells its children.
        lock = (root / "testbed/requirements.lock").open()
        checksum = subprocess.run(["cksum"], stdin=lock, capture_output=True, text=True, check=True).stdout.strip()
        version = subprocess.run(["/usr/bin/python3", "--version"], capture_output=True, text=True, check=True)
        self.python = "testbed/.venv/bin/python"
        (root / self.python).parent.mkdir(parents=True)
        (root / "testbed/.venv/stamp").write_text(f"{version.stdout.strip()} {checksum}\n")
        self.answers("python", "echo hugepages=$DPDK_HUGEPAGES total=$(cat pool/nr_hugepages)", self.python)

    def answers(self, name: str, shell: str, path: str = "") -> None:
        program = self.root / (path or f"bin/{name}")
        program.write_text(f'#!/bin/sh\necho "{name} $*" >>"{self.calls_file}"\n{shell}\n')
        program.chmod(0o755)

    def set_hugepages(self, total: int, free: int, available_mb: int) -> None:
        (self.pool / "nr_hugepages").write_text(f"{total}\n")
        (self.pool / "free_hugepages").write_text(f"{free}\n")
        (self.root / "meminfo").write_text(f"MemFree: 1 kB\nMemAvailable: {available_mb * 1024} kB\n")

    def mounted(self, kind: str, point: Path) -> None:
        (self.root / "mounts").write_text(f"none {point} {kind} rw 0 0\n")

    @property
    def total(self) -> int:
        return int((self.pool / "nr_hugepages").read_text())

    @property
    def calls(self) -> list[str]:
        return self.calls_file.read_text().splitlines() if self.calls_file.exists() else []

    def x(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": f"{self.root}/bin:/usr/bin:/bin", "HOME": str(self.root)} | self.environment
        # What a shell runs in the background ignores SIGINT, and what nohup runs SIGHUP: a shell cannot undo that.
        command = ["env", "--default-signal", "/bin/sh", "x", *arguments]
        return subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def test_help_lists_every_command_and_no_other(tree):
    listed = set(re.findall(r"^  (\w+)  ", tree.x("help").stdout, re.MULTILINE))
    written = set(re.findall(r"^cmd_(\w+)\(\)", (REPOSITORY / "x").read_text(), re.MULTILINE))
    assert listed == written
    assert tree.x().stdout == tree.x("help").stdout
    assert tree.calls == []


@pytest.mark.parametrize(
    "arguments", [["frob"], ["build", "fast"], ["lint", "x"], ["build", "--static", "more"], ["setup", "--dpdk"]]
)
def test_wrong_usage_is_status_2_and_does_nothing(tree, arguments):
    done = tree.x(*arguments)
    assert done.returncode == 2
    assert repr(arguments[0] if arguments == ["frob"] else arguments[1]) in done.stderr
    assert tree.calls == []


def test_nothing_lacking_calls_no_apt(tree):
    done = tree.x("setup")
    assert done.returncode == 0, done.stderr
    assert not [call for call in tree.calls if call.startswith("apt-get")]


def test_root_installs_what_is_missing_and_says_so(tree):
    tree.answers("dpkg-query", "echo '<libdpdk-dev:not-installed><ninja-build:installed>'")
    done = tree.x("build")
    assert done.returncode == 0, done.stderr
    (install,) = [call for call in tree.calls if call.startswith("apt-get") and " install " in call]
    assert " libdpdk-dev" in install
    assert "ninja-build" not in install
    assert "installing the packages" in done.stdout


def test_sudo_is_used_where_it_asks_for_no_password(tree):
    tree.answers("id", "echo 1000")
    tree.answers("sudo", 'shift; "$@"')
    tree.answers("dpkg-query", "exit 1")
    assert tree.x("build").returncode == 0
    assert any(call.startswith("sudo -n env") and call.endswith("meson ninja-build") for call in tree.calls)


def test_without_root_the_command_to_run_is_named(tree):
    tree.answers("id", "echo 1000")
    tree.answers("dpkg-query", "echo '<dpdk-dev:installed>'")
    done = tree.x("build")
    assert done.returncode == 1
    assert "sudo apt-get install build-essential" in done.stderr
    assert not [call for call in tree.calls if call.startswith(("apt-get", "cargo", "meson"))]


def test_old_or_missing_tools_are_named_with_the_remedy(tree):
    tree.answers("pkg-config", "echo 21.11.9")
    assert "DPDK 21.11.9 is too old" in tree.x("build").stderr
    tree.answers("pkg-config", "exit 1")
    assert "install libdpdk-dev" in tree.x("build").stderr
    tree.answers("pkg-config", "echo 24.11.2")
    tree.answers("cargo", "echo 'cargo 1.63.0'")
    done = tree.x("build")
    assert done.returncode == 1
    assert "1.63.0 found" in done.stderr
    assert "rustup" in done.stderr
    assert not [call for call in tree.calls if call.startswith(("cargo build", "meson"))]


@pytest.mark.parametrize(
    ("arguments", "shared", "static"), [([], True, True), (["--shared"], True, False), (["--static"], False, True)]
)
def test_the_forwarders_are_built_with_dpdk_inside_too(tree, arguments, shared, static):
    assert tree.x("build", *arguments).returncode == 0
    called = {
        "cargo build --profile dist -p l2fwd-rs -p testbed-generator": shared,
        "ninja -C build": shared,
        "cargo build --profile dist -p l2fwd-rs --features static --target-dir target/static": static,
        "ninja -C build-static": static,
    }
    assert {call: call in tree.calls for call in called} == called


def test_a_failed_build_stops_the_command(tree):
    tree.answers("meson", "exit 3")
    done = tree.x("testbed", "demo")
    assert done.returncode == 3
    assert not [call for call in tree.calls if call.startswith("python")]


def test_demo_is_the_testbeds_demo_and_its_status_is_ours(tree):
    tree.answers("python", "exit 5", tree.python)
    assert tree.x("demo", "--pcap", "a b.pcap").returncode == 5
    assert "python -m testbed demo --pcap a b.pcap" in tree.calls


PROXIES = (
    "cargo build --profile dist -p services --bin origin --bin proxy",
    "cargo build --profile dist -p testbed-load --bin load",
    "make -s -C dpdk-sockets/c",
    "make -s -C services/c",
)


@pytest.mark.parametrize(
    ("arguments", "built"),
    [(["demo"], True), (["testbed", "demo"], True), (["demo", "--help"], False), (["testbed", "rfc2544"], False)],
)
def test_the_proxies_are_built_for_the_demo_alone(tree, arguments, built):
    tree.x(*arguments)
    assert [call for call in tree.calls if call in PROXIES] == list(PROXIES) * built


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--help"],
        ["overload", "--help"],
        ["overload", "a:static", "-h"],
        ["scaling", "--from", "raw.jsonl"],
        ["services", "--sources"],
    ],
)
def test_questions_about_benchmarks_build_nothing_and_take_no_hugepages(tree, arguments):
    done = tree.x("bench", *arguments)
    assert done.returncode == 0
    assert f"python -m testbed bench {' '.join(arguments or ['--help'])}" in tree.calls
    assert "hugepages= total=0" in done.stdout
    assert not any(call.startswith(("cargo build", "meson", "ninja")) for call in tree.calls)


@pytest.mark.parametrize(
    "arguments",
    [["rfc2544", "--help"], ["doctor", "--nic", "18:00.0"], ["host", "prepare", "--cores", "2"], ["host", "restore"]],
)
def test_questions_and_what_readies_the_machine_build_nothing_and_take_no_hugepages(tree, arguments):
    done = tree.x("testbed", *arguments)
    assert done.returncode == 0
    assert f"python -m testbed {' '.join(arguments)}" in tree.calls
    assert "hugepages= total=0" in done.stdout
    assert not any(call.startswith(("cargo build", "meson", "ninja")) for call in tree.calls)


@pytest.mark.parametrize(
    ("arguments", "static"),
    [
        (["overload", "l2fwd-rs"], False),
        (["overload", "l2fwd-rs:static"], True),
        (["overload", "--count"], True),
        (["scaling", "--quick"], True),
    ],
)
def test_static_programs_are_built_for_a_benchmark_that_needs_them(tree, arguments, static):
    done = tree.x("bench", *arguments, "--no-hugepages")
    assert "hugepages=0 total=0" in done.stdout
    assert f"python -m testbed bench {' '.join(arguments)}" in tree.calls
    assert any("target/static" in call for call in tree.calls) is static


def test_handicaps_are_built_with_and_without_lto(tree):
    tree.x("bench", "handicaps", "--no-hugepages")
    builds = [call for call in tree.calls if call.startswith("cargo build")]
    for profile in ("dist", "no-lto"):
        assert f"cargo build --profile {profile} -p testbed-handicaps" in builds


def test_the_programs_that_measure_sockets_are_built(tree):
    tree.x("bench", "sockets", "--renew", "--no-hugepages")
    built = "cargo build --profile dist -p testbed-load -p testbed-impair --features testbed-load/echo"
    assert built in tree.calls
    assert not any("target/static" in call for call in tree.calls)


def test_enough_free_hugepages_are_used_and_none_taken(tree):
    tree.set_hugepages(total=300, free=256, available_mb=8192)
    done = tree.x("testbed")
    assert "hugepages=1 total=300" in done.stdout
    assert "hugepages of 2 MB" not in done.stdout
    assert tree.total == 300


@pytest.mark.parametrize("command", ["doctor", "host", "profile", "plan", "report", "diff"])
def test_what_measures_nothing_builds_nothing_and_takes_no_hugepages(tree, command):
    tree.set_hugepages(total=100, free=10, available_mb=8192)
    done = tree.x("testbed", command, "DIR")
    assert "total=100" in done.stdout
    assert not any(call.startswith("cargo build") for call in tree.calls)


@pytest.mark.parametrize("status", [0, 7])
def test_taken_hugepages_are_given_back_whatever_the_outcome(tree, status):
    tree.set_hugepages(total=100, free=10, available_mb=8192)
    tree.answers("python", f"echo hugepages=$DPDK_HUGEPAGES total=$(cat pool/nr_hugepages); exit {status}", tree.python)
    done = tree.x("testbed")
    assert f"hugepages=1 total={100 + 768 - 10}" in done.stdout
    assert done.returncode == status
    assert tree.total == 100


@pytest.mark.parametrize(("signal", "status"), [("HUP", 129), ("INT", 130), ("TERM", 143)])
def test_taken_hugepages_are_given_back_after_a_signal(tree, signal, status):
    tree.answers("python", f"echo total=$(cat pool/nr_hugepages); kill -{signal} $PPID", tree.python)
    done = tree.x("testbed")
    assert "total=768" in done.stdout
    assert done.returncode == status
    assert tree.total == 0


def test_pages_that_somebody_else_took_meanwhile_stay(tree):
    tree.answers("python", "echo $(($(cat pool/nr_hugepages) + 33)) >pool/nr_hugepages", tree.python)
    tree.x("testbed")
    assert tree.total == 33


def test_never_more_than_half_of_the_available_memory(tree):
    tree.set_hugepages(total=0, free=0, available_mb=1200)
    assert "hugepages=1 total=300" in tree.x("testbed").stdout
    tree.set_hugepages(total=0, free=0, available_mb=1020)
    done = tree.x("testbed")
    assert "hugepages=0 total=0" in done.stdout
    assert "half of the available memory is 255" in done.stdout
    assert "figures will be lower" in done.stdout


def test_no_hugepages_takes_none_and_is_not_passed_on(tree):
    done = tree.x("demo", "--rounds", "1", "--no-hugepages", "--pcap", "f")
    assert "hugepages=0 total=0" in done.stdout
    assert "figures will be lower" in done.stdout
    assert "python -m testbed demo --rounds 1 --pcap f" in tree.calls
    assert not [call for call in tree.calls if call.startswith("mount")]


def test_a_hugetlbfs_is_mounted_if_there_is_none_and_unmounted_again(tree):
    tree.mounted("tmpfs", tree.root)
    assert "hugepages=1" in tree.x("testbed").stdout
    names = [call.split()[0] for call in tree.calls if call.split()[0] in ("mount", "python", "umount")]
    assert names == ["mount", "python", "umount"]


def test_a_refused_mount_means_going_without(tree):
    tree.mounted("tmpfs", tree.root)
    tree.answers("mount", "exit 32")
    done = tree.x("testbed")
    assert "hugepages=0 total=0" in done.stdout
    assert "no hugetlbfs is mounted" in done.stdout
    assert not [call for call in tree.calls if call.startswith("umount")]


def test_test_takes_a_dpdk_that_debian_has(tree):
    for arguments in (["--dpdk"], ["--dpdk", "23.11"], ["--dpdk", "24.11", "more"], ["--fast"], ["--resume"]):
        done = tree.x("test", *arguments)
        assert done.returncode == 2, arguments
    assert "'23.11': choose 22.11, 24.11 or newest" in tree.x("test", "--dpdk", "23.11").stderr
    assert tree.calls == []


def test_a_debian_needs_root(tree):
    tree.answers("id", "echo 1000")
    done = tree.x("test", "--dpdk", "24.11")
    assert done.returncode == 1
    assert "run it as root" in done.stderr
    assert not [call for call in tree.calls if call.startswith("apt-get")]


@pytest.mark.parametrize(
    ("arguments", "inside"),
    [
        (["test", "--no-hugepages", "--dpdk", "24.11"], ["test", "--no-hugepages"]),
        (["test", "--dpdk", "24.11", "--varying"], ["test", "--varying"]),
        (["setup", "--dpdk", "24.11"], ["setup"]),
    ],
)
def test_a_debian_is_made_by_its_script_after_its_packages(tree, arguments, inside):
    tree.answers("dpkg-query", "echo '<git:installed><python3:installed>'")
    (tree.root / ".ci/debian_root.py").write_text("import sys; print(sys.argv[1:]); sys.exit(3)\n")
    done = tree.x(*arguments)
    assert done.returncode == 3, done.stderr
    assert str(["trixie", "24.11", "./x", *inside]) in done.stdout
    (install,) = [call for call in tree.calls if call.startswith("apt-get") and " install " in call]
    assert install.endswith("install debian-archive-keyring debootstrap")


@pytest.mark.parametrize(
    ("scenario", "readied"), [("vm-e1000e", True), ("scenarios/vm-e1000e.yaml", True), ("virtual-wire", False)]
)
def test_a_scenario_in_a_virtual_machine_gets_its_kernel_and_its_packages(tree, scenario, readied):
    # It is up to the testbed to report that no kernel is available.
    tree.answers("guest-kernel", "exit 77", ".ci/guest-kernel")
    tree.answers("dpkg-query", "echo '<git:installed><python3:installed>'")
    done = tree.x("testbed", "rfc2544", "--scenario", scenario)
    assert any(call.startswith("guest-kernel") for call in tree.calls) is readied
    installed = [call for call in tree.calls if call.startswith("apt-get") and " install " in call]
    assert any("qemu-system-x86" in call and "openssh-server" in call for call in installed) is readied
    assert f"python -m testbed rfc2544 --scenario {scenario}" in tree.calls, done.stderr


def test_another_dpdk_than_the_wanted_is_refused(tree):
    tree.environment = {"DPDK_WANTED": "22.11"}
    assert tree.x("build").returncode == 0
    for wanted in ("24.11", "22.1"):
        tree.environment = {"DPDK_WANTED": wanted}
        done = tree.x("build")
        assert done.returncode == 1
        assert f"DPDK {wanted} was requested, but pkg-config finds 22.11.11" in done.stderr


@pytest.mark.parametrize(("answer", "bindings"), [("exit 1", "bundled"), ("echo 22.11.11", "none")])
def test_documentation_needs_no_dpdk(tree, answer, bindings):
    tree.answers("pkg-config", answer)
    version = 'case $1 in --version) echo "cargo 1.999.0 (0123abcd 2026-01-01)" ;;'
    tree.answers("cargo", f"{version} doc) echo bindings=${{DPDK_SYS_BINDINGS-none}} ;; esac")
    done = tree.x("doc")
    assert done.returncode == 0, done.stderr
    assert f"bindings={bindings}\n" in done.stdout
    assert not [call for call in tree.calls if call.startswith("apt-get")]


def test_clean_takes_away_what_was_built_if_it_may(tree):
    for folder in ("target/debian/dpdk-24.11/usr", "target/release", "build", "results"):
        (tree.root / folder).mkdir(parents=True)
    tree.answers("id", "echo 1000")
    done = tree.x("clean")
    assert done.returncode == 1
    assert "belongs to root" in done.stderr
    assert (tree.root / "target/release").exists()
    tree.answers("id", "echo 0")
    assert tree.x("clean").returncode == 0
    left = {path.name for path in tree.root.iterdir()}
    assert "results" in left
    assert not left & {"target", "build"}


@pytest.mark.parametrize(
    ("arguments", "suite", "packages"),
    [
        ([], "whole", "chromium"),
        (["--varying"], "varying", "libdpdk-dev"),
        (["vm"], "vm", "qemu-system-x86"),
        (["--all"], "all", "python3-pyelftools"),
        (["--all", "--resume"], "--resume all", "python3-pyelftools"),
        (["--valgrind", "--no-hugepages"], "--no-hugepages valgrind", "valgrind"),
    ],
)
def test_each_form_of_test_has_its_list_and_its_packages(tree, arguments, suite, packages):
    (tree.root / ".ci/suites.py").write_text("import sys; print('stages', *sys.argv[1:]); sys.exit(4)\n")
    tree.answers("dpkg-query", "echo '<git:installed><python3:installed>'")
    done = tree.x("test", *arguments)
    assert done.returncode == 4, done.stderr
    assert f"stages {suite}\n" in done.stdout
    assert any(packages in call for call in tree.calls if call.startswith("apt-get") and " install " in call)


def test_what_somebody_above_has_decided_stays(tree):
    tree.environment = {"DPDK_HUGEPAGES": "0"}
    tree.set_hugepages(total=0, free=0, available_mb=8192)
    assert "hugepages=0 total=0" in tree.x("testbed").stdout
