# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The lists of stages: what `./x test` runs in each of its forms, and what `.ci/run` runs.

python3 .ci/suites.py [--no-hugepages] [--resume] SUITE
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import machine_state
from hugepages import DECISION, reserved
from stages import TREE, Record, Stage

LINES = ("22.11", "24.11")
# The programs whose figures are published; the profile `dist` is for them alone.
SHIPPED = tuple(
    word for name in ("l2fwd-rs", "testbed-generator", "testbed-handicaps", "testbed-load") for word in ("-p", name)
)
# What a version of DPDK can change.
OVER_DPDK = ("-p", "dpdk-rs-sys", "-p", "dpdk-rs", "-p", "l2fwd-rs", "-p", "testbed-generator")
FEATURES = ("--features", "parsing-bench/timer")
# Three workers, a file each: a worker waits a fifth of its time. Each says when it begins a test, so that one that
# hangs is known.
WORKERS = ("-v", "-n", "3", "--dist", "loadfile", "--no-loadscope-reorder", "-rs")
VM_TESTS = (
    *("vm", "diagnosis_vm"),
    *(f"rehearsal_{name}" for name in ("nics", "failures", "campaign", "service", "rss")),
)
# Services without a twin that are cheap to build, by what builds them. C++ takes a minute: ./x services build has it.
OTHER_LANGUAGES = {"go": "go", "java": "mvn", "node": "npm", "python": "python3"}
# What is built for one user is the same for the other.
SHARED_BUILD = {"CARGO_BUILD_BUILD_DIR": "target"}
# So that a report comes at all, in seconds since the beginning of `.ci/run`.
CI_LIMIT_S = 4500.0
# Of hostile guests, and the factor for the deadline of a test.
MANY_GUESTS = {"DPDK_RS_GUEST_FRAMES": "1000000", "DPDK_RS_TEST_PATIENCE": "30"}
# Linking, profile, and the CPU to compile for: every two of these values occur together.
WAYS = (
    ("shared", "debug", "x86-64"),
    ("shared", "release", "x86-64-v3"),
    ("static", "debug", "x86-64-v3"),
    ("static", "release", "x86-64"),
)
# Of the sum of these minutes, since one stage alone keeps 1.3 to 1.5 of two cores busy.
SIDE_BY_SIDE = 0.7
# On two quiet cores, in minutes, from nothing, alone.
MINUTES = {
    "dpdk-here": 20,
    "dpdk-other": 25,
    "dpdk-newest": 12,
    "builds": 20,
    "asan": 9,
    "valgrind": 6,
    "models": 5,
    "guests": 2,
}


def shell(script: str, *words: str) -> tuple[str, ...]:
    """A stage of several commands, of which each must succeed."""
    return ("sh", "-ec", script, "sh", *words)


def cargo_test(*words: str) -> tuple[str, ...]:
    """Shows the output of what passed, since it may say that it was skipped."""
    return ("cargo", "test", *words, "--no-fail-fast", "--", "--show-output")


def pytest(record: Path, name: str, *words: str) -> tuple[str, ...]:
    """Python tests that leave a record for the tally."""
    return (
        *("env", "-C", "testbed", ".venv/bin/python", "-m", "pytest", "-c", "pyproject.toml"),
        *(*WORKERS, "--junitxml", str(record / f"{name}.xml"), *words),
    )


def elsewhere(*names: str) -> list[Stage]:
    """What is not run here; the sum names it."""
    return [Stage(name, "elsewhere") for name in names]


def c_stages(record: Path) -> list[Stage]:
    """The forwarder in C and its tests, whose record meson leaves in its own place."""
    script = (
        "rm -f build/meson-logs/testlog.json; status=0; meson test -C build --print-errorlogs || status=$?; "
        'cp build/meson-logs/testlog.json "$1"; exit $status'
    )
    return [Stage("build-c", "step", BUILD_C), Stage("c", "meson", shell(script, str(record / "c.json")))]


BUILD_C = shell("[ -f build/build.ninja ] || meson setup build; ninja -C build")
BUILD_STATIC = Stage("build-static", "step", ("./x", "build", "--static"))
REWRITING = ("--workspace", "--features", "parsing-bench/timer,l2fwd-rs/rewrite", "--bin", "l2fwd-rs")
BUILD_REWRITE = Stage(
    "build-rewrite",
    "step",
    # With the features of the whole workspace, those of an example included, so that only the forwarder is built anew.
    ("cargo", "build", *REWRITING, "--example", "rx_tx", "--target-dir", "target/rewrite"),
    SHARED_BUILD,
)
GUEST_KERNEL = Stage("guest-kernel", "step", (".ci/guest-kernel",))


def whole(record: Path) -> list[Stage]:
    """Every test on this machine's DPDK."""
    return [
        Stage("build-programs", "step", ("cargo", "build", "--profile", "dist", *SHIPPED)),
        BUILD_STATIC,
        # Debug, for its assertions and overflow checks. Criterion's program is not built by default.
        Stage("rust-examples", "step", ("cargo", "build", "--workspace", *FEATURES, "--examples")),
        Stage("rust", "cargo", cargo_test("--workspace", *FEATURES, "--tests")),
        *c_stages(record),
        Stage(
            "services-c",
            "step",
            ("make", "-C", "services/c", "all", "lwip", "LIBRARY=../../target/debug/deps/libdpdk_sockets_c.a"),
        ),
        BUILD_REWRITE,
        Stage("rust-rewrite", "cargo", cargo_test(*REWRITING)),
        # Apart, since the output of a passing compile-fail test is a compile error.
        Stage("rust-docs", "cargo", ("cargo", "test", "--workspace", *FEATURES, "--doc", "--no-fail-fast")),
        Stage("packages", "step", (".ci/packages",)),
        # What the kernels of the parsers execute is counted as it is published.
        Stage(
            "parsing-measure",
            "step",
            ("cargo", "build", "--profile", "dist", "-p", "parsing-bench", "--example", "measure"),
        ),
        Stage("codecs", "step", ("cargo", "build", "--profile", "dist", "-p", "codec-bench")),
        Stage("codecs-cpp", "step", ("make", "-C", "codec-bench/cpp", "all", "check")),
        GUEST_KERNEL,
        Stage("python", "pytest", pytest(record, "python", "tests", "../.ci")),
    ]


def varying(record: Path) -> list[Stage]:
    """What a version of DPDK can change: EAL tests, C tests, and end-to-end runs of the twins, as the debug profile
    builds them.
    """
    programs = {"TESTBED_BIN_DIRS": f"{TREE}/target/debug:{TREE}/build/l2fwd-c"}
    # What is left out is named in the sum; the tests of dpdk-rs say so themselves. The 2,000 sequences run on the other
    # version: these are enough to find what this one does otherwise.
    marked = {"DPDK_RS_TEST_VARYING": "1", "DPDK_RS_SEQUENCES": "500"}
    return [
        Stage("rust-examples", "step", ("cargo", "build", *OVER_DPDK, "--bins", "--examples"), marked),
        Stage("rust", "cargo", cargo_test(*OVER_DPDK, "--tests"), marked),
        *c_stages(record),
        Stage("python", "pytest", pytest(record, "python", "-m", "twins", "tests"), programs),
        *elsewhere(
            "dpdk-sockets",
            "parsing-bench",
            "rewrite",
            "rust-docs",
            "packages",
            "static",
            "python-but-twins",
            "virtual-machines",
        ),
    ]


def virtual_machines(record: Path) -> list[Stage]:
    """The start-up diagnosis, and the way from a PCI NIC to a running forwarder and back, on emulated NICs."""
    return [
        Stage("build-programs", "step", ("cargo", "build", "--profile", "dist", *SHIPPED)),
        BUILD_STATIC,
        Stage("rust-examples", "step", ("cargo", "build", "-p", "dpdk-rs", "-p", "dpdk-sockets", "--examples")),
        GUEST_KERNEL,
        Stage("python", "pytest", pytest(record, "python", *(f"tests/test_{name}.py" for name in VM_TESTS))),
    ]


def builds(record: Path, shared_hugepages: str) -> list[Stage]:
    """What is quick to run, in four ways to link and build it, and the statically linked forwarders in a Debian without
    DPDK.
    """
    stages = [Stage(f"build-{'-'.join(way)}", "step", (".ci/build-kind", "build", *way)) for way in WAYS]
    stages.append(Stage("debian-without-dpdk", "step", (".ci/build-kind", "debian", "static", "release", "x86-64")))
    for way in WAYS:
        name = "-".join(way)
        built = f"build-{name}"
        # Only processes that share memory need hugepages.
        shared = {DECISION: shared_hugepages}
        stages.append(Stage(f"rust-{name}", "cargo", (".ci/build-kind", "rust", *way), shared, needs=built))
        command = (".ci/build-kind", "run", *way, str(record / f"run-{name}.xml"))
        stages.append(Stage(f"run-{name}", "pytest", command, {DECISION: "0"}, needs=built))
    return stages


def tool(name: str) -> list[Stage]:
    """What a tool says of the tests: first that it finds what is wrong on purpose, then that it finds nothing else."""
    ready = f"{name}-ready"
    return [
        Stage(ready, "step", (f".ci/{name}", "ready")),
        Stage(f"{name}-mistakes", "cargo", (f".ci/{name}", "mistakes"), needs=ready),
        Stage(f"{name}-tests", "cargo", (f".ci/{name}", "tests"), needs=ready),
    ]


def models(_: Path) -> list[Stage]:
    """The crate's own modules on a stand-in for DPDK, and that their tests find mistakes made on purpose."""
    steps = (("interleavings", "cargo"), ("memory", "cargo"), ("miri", "step"), ("mistakes", "cargo"))
    return [Stage(f"models-{step}", kind, ("python3", ".ci/models.py", step)) for step, kind in steps]


def _test(name: str, stages_of: Callable[[Path], list[Stage]], wanted: bool = True) -> int:
    folder = TREE / f"target/{name}-record"
    record = Record(folder)
    with reserved(wanted):
        stages = stages_of(folder)
        record.run(stages)
    return record.sum(stages)


def test_builds(wanted: bool) -> int:
    """`./x test --builds`."""
    folder = TREE / "target/builds-record"
    record = Record(folder)
    with reserved(wanted):
        stages = builds(folder, os.environ[DECISION])
        ways = next(at for at, stage in enumerate(stages) if stage.name == "debian-without-dpdk") + 1
        record.run(stages[:ways])
        if record.status("debian-without-dpdk") == 0:
            os.environ["TESTBED_DEBIAN"] = str(TREE / "target/debian/dpdk-none")
        record.run(stages[ways:])
    return record.sum(stages)


def other_line() -> str:
    """The long-term line of DPDK that this machine has not."""
    told = subprocess.run(["pkg-config", "--modversion", "libdpdk"], capture_output=True, text=True, check=False)
    here = ".".join(told.stdout.strip().split(".")[:2])
    return LINES[1] if here == LINES[0] else LINES[0]


def in_a_debian(name: str, *words: str, until_s: float | None = None) -> Stage:
    """A stage in a Debian of its own, which only root can make."""
    if os.geteuid() != 0:
        return Stage(name, "step", shell("echo creating a Debian with debootstrap needs root; exit 77"))
    return Stage(name, "tally" if words[0] == "test" else "step", ("./x", *words), until_s=until_s)


def test_all(wanted: bool, *, resume: bool) -> int:
    """`./x test --all`: everything there is, in two lanes: in this tree, and in Debians with other versions."""
    here = [
        Stage("dpdk-here", "tally", ("./x", "test")),
        *(Stage(name, "tally", ("./x", "test", f"--{name}")) for name in ("builds", "asan", "valgrind", "models")),
        Stage("guests", "cargo", cargo_test("--profile", "fuzz", "-p", "dpdk-rs", "--test", "guest"), MANY_GUESTS),
    ]
    in_debians = [
        in_a_debian("dpdk-other", "test", "--dpdk", other_line()),
        in_a_debian("dpdk-newest", "test", "--dpdk", "newest", "--varying"),
    ]
    for stage in here + in_debians:
        print(f"x: {stage.name} takes about {MINUTES[stage.name]} min on two quiet cores")
    print(f"x: together, side by side, about {sum(MINUTES.values()) * SIDE_BY_SIDE:.0f} min")
    record = Record(TREE / "target/all-record", quiet=True, resume=resume)
    with reserved(wanted):
        record.run(here, in_debians)
    return record.sum(here + in_debians)


def other_languages() -> list[Stage]:
    """Services in languages that have their tools here, and their own tests. `./x test` runs the cases against them."""
    script = (
        'command -v "$2" >/dev/null || { echo "$2 is not installed"; exit 77; }; make -s -C "services/$1" all check'
    )
    return [Stage(f"services-{name}", "step", shell(script, name, tool)) for name, tool in OTHER_LANGUAGES.items()]


def ci(wanted: bool) -> int:
    """`.ci/run`: what must be green before a change goes in, and the machine left as it was."""
    folder = TREE / "target/ci-record"
    before = machine_state.state()
    # In a fresh clone nothing is built again, and what cargo would keep for that takes a fifth of the time.
    os.environ["CARGO_INCREMENTAL"] = "0"
    record = Record(folder, quiet=True)
    # First, since two that install packages at a time would be in each other's way.
    setup = Stage("setup", "step", ("./x", "setup"))
    with reserved(wanted):
        record.run([setup])
        other = other_line()
        here = [Stage("dpdk-here", "tally", ("./x", "test"), until_s=CI_LIMIT_S)]
        there = [
            # First, minutes before the tests of the other lane ask for them.
            *other_languages(),
            in_a_debian("debian", "setup", "--dpdk", other),
            in_a_debian(f"dpdk-{other}", "test", "--dpdk", other, "--varying", until_s=CI_LIMIT_S),
            # Last, when cargo builds nothing more on the other lane, which would wait for it.
            Stage("lint", "step", ("./x", "lint")),
        ]
        record.run(here, there)
    changed = folder / "changed"
    changed.write_text("; ".join(machine_state.differences(before, machine_state.state())))
    script = '[ ! -s "$1" ] || { echo "the machine is not as it was: $(cat "$1")"; exit 1; }'
    as_it_was = Stage("machine-as-it-was", "step", shell(script, str(changed)))
    record.run([as_it_was])
    return record.sum([setup, *here, *there, as_it_was])


SUITES: dict[str, Callable[..., int]] = {
    "whole": lambda wanted: _test("test", whole, wanted),
    "varying": lambda wanted: _test("test", varying, wanted),
    # The guests have hugepages of their own.
    "vm": lambda _: _test("vm", virtual_machines, wanted=False),
    "builds": test_builds,
    "asan": lambda wanted: _test("asan", lambda _: tool("asan"), wanted),
    "valgrind": lambda wanted: _test("valgrind", lambda _: tool("valgrind"), wanted),
    "models": lambda _: _test("models", models, wanted=False),
    "all": lambda wanted: test_all(wanted, resume=False),
    "ci": ci,
}


def main(arguments: list[str]) -> int:
    """Runs a suite; the exit status is 1 if anything failed, 130 after Ctrl-C."""
    *options, suite = arguments
    wanted = "--no-hugepages" not in options
    return test_all(wanted, resume=True) if "--resume" in options else SUITES[suite](wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
