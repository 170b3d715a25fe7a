# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The tests in dpdk-rs/src/models: the crate's own modules on a stand-in for DPDK. `./x test --models` calls it:

python3 .ci/models.py interleavings   with loom, which runs every interleaving of a few threads, within bounds
python3 .ci/models.py memory          without loom, under AddressSanitizer where Rust's nightly toolchain is installed
python3 .ci/models.py miri            the same tests in Miri
python3 .ci/models.py mistakes        changes the crate's modules, a mistake at a time, and expects the tests to fail
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

TREE = Path(__file__).resolve().parents[1]
FOLDER = TREE / "target/models"
BINDINGS = "dpdk-sys/bindings/dpdk-22.11.rs"
NIGHTLY = os.environ.get("L2FWD_NIGHTLY", "nightly")
# The exit status of a step that was skipped.
SKIPPED = 77
# What cargo needs of the tree.
PARTS = ("Cargo.toml", "Cargo.lock", "dpdk-sys", "dpdk-rs")
MEMBERS = re.compile(r"^members = \[.*?^\]", re.M | re.S)


@dataclass(frozen=True)
class Mistake:
    """A change of one place of a file, and what the test that finds it says."""

    test: str
    file: str
    right: str
    wrong: str
    says: str
    loom: bool = True


MISTAKES = (
    Mistake(
        "retirement::a_registered_thread_returns_to_its_cache",
        "environment/mod.rs",
        "self.on_main_thread() && self.scopes.load(Ordering::SeqCst) == 0",
        "self.on_main_thread()",
        "Causality violation",
    ),
    Mistake(
        "retirement::a_service_core_returns_to_its_cache",
        "environment/rounds.rs",
        "now.wrapping_sub(*before) >= 2",
        "now.wrapping_sub(*before) >= 0",
        "Causality violation",
    ),
    Mistake(
        "retirement::the_memory_of_a_pool_is_dropped_without_the_lock",
        "environment/retired_pools.rs",
        "drop_unlocked(memory)",
        "drop(memory)",
        "deadlock",
    ),
    Mistake(
        "callbacks::removal_waits_for_calls",
        "callback.rs",
        "if slot.runs_here() {\n            slot.removed",
        "if true {\n            slot.removed",
        "Causality violation",
    ),
    Mistake(
        "callbacks::a_closure_removes_itself",
        "callback.rs",
        "slot.removed.store(true, Relaxed);",
        "",
        "the closure was called after its removal",
    ),
    Mistake(
        "services::a_slot_is_emptied_and_filled_while_lcores_call",
        "service/slot.rs",
        "let entry = lock(&self.entry).take();",
        "let entry: Option<Entry> = None;",
        "Causality violation",
    ),
    Mistake(
        "sharing::the_owner_writes_after_the_others_have_read",
        "segment.rs",
        "refcnt.load(Ordering::Acquire)",
        "refcnt.load(Ordering::Relaxed)",
        "Causality violation",
    ),
    Mistake(
        "sharing::whoever_receives_a_shared_packet_knows_it",
        "packet/references.rs",
        "    ANY_SHARED.store(true, Relaxed);",
        "",
        "the data belongs to another packet",
    ),
    Mistake(
        "sharing::a_buffer_is_dropped_after_all_have_read",
        "packet/external.rs",
        "    fence(Ordering::Acquire);",
        "",
        "Causality violation",
    ),
    Mistake(
        "sharing::references_are_counted_to_the_end",
        "packet/references.rs",
        "if references() > 1 {",
        "if references() > u16::MAX - 1 {",
        "the second thread finds too many references",
    ),
)


def host() -> str:
    """The compiler's name of this machine."""
    told = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    return re.search(r"^host: (.*)$", told, re.M)[1]  # type: ignore[index]


def missing() -> Path:
    """A linker script for the functions of DPDK that the stand-in lacks: a call of one ends the process."""
    text = (TREE / BINDINGS).read_text()
    names = re.findall(r'(?:#\[link_name = "([^"]+)"\]\s*)?pub (?:fn|static mut|static) (\w+)', text)
    FOLDER.mkdir(parents=True, exist_ok=True)
    script = FOLDER / "missing.ld"
    script.write_text("".join(f"PROVIDE({link or name} = dpdk_stub_lacks);\n" for link, name in sorted(names)))
    return script


def environment(*flags: str) -> dict[str, str]:
    """For a build on the stand-in: the checked-in bindings, and nothing of DPDK linked."""
    words = ["--cfg", "dpdk_stub", "-C", f"link-arg={missing()}", *flags]
    # Loom's own code is most of what runs.
    return os.environ | {
        "RUSTFLAGS": " ".join(words),
        "DPDK_SYS_BINDINGS": "bundled",
        "CARGO_PROFILE_DEV_OPT_LEVEL": "1",
        # Build scripts are shared with ordinary builds.
        "CARGO_TARGET_DIR": str(TREE / "target"),
    }


def test(toolchain: str, *words: str) -> list[str]:
    """Cargo's test of the library, for a named target, so that the flags are not for build scripts."""
    # Only loom's code is worth the time to optimise it.
    quick = ("--config", "profile.dev.package.dpdk-rs.opt-level=0")
    chosen = [f"+{toolchain}"] if toolchain else []
    return ["cargo", *chosen, *quick, *words, "--target", host(), "-p", "dpdk-rs", "--lib"]


LOOM = ("--cfg", "loom")


def interleavings() -> int:
    """The models."""
    command = [*test("", "test"), "models::", "--", "--show-output"]
    return subprocess.run(command, env=environment(*LOOM), cwd=TREE, check=False).returncode


def has(*command: str) -> bool:
    """Whether a tool is installed."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def memory() -> int:
    """The tests without loom."""
    nightly = has("rustc", f"+{NIGHTLY}", "--version")
    if not nightly:
        print(f"without AddressSanitizer, which needs Rust's nightly toolchain: rustup toolchain install {NIGHTLY}")
    command = [*test(NIGHTLY if nightly else "", "test"), "models::", "--", "--show-output"]
    variables = environment(*(("-Zsanitizer=address",) if nightly else ()))
    if nightly:
        # With those of `.ci/asan`.
        variables["CARGO_TARGET_DIR"] = str(TREE / "target/asan/cargo")
    return subprocess.run(command, env=variables, cwd=TREE, check=False).returncode


def miri() -> int:
    """The tests without loom, in Miri."""
    if not has("cargo", f"+{NIGHTLY}", "miri", "--version"):
        print(f"Miri is not installed. Run: rustup component add --toolchain {NIGHTLY} miri rust-src")
        return SKIPPED
    command = [*test(NIGHTLY, "miri", "test"), "models::", "--", "--show-output"]
    variables = environment()
    # Miri links nothing.
    variables["RUSTFLAGS"] = "--cfg dpdk_stub"
    return subprocess.run(command, env=variables, cwd=TREE, check=False).returncode


def copy() -> Path:
    """A copy of the two crates, to make mistakes in. What has not changed keeps its time, and is not compiled again."""
    tree = FOLDER / "tree"
    for part in PARTS:
        source, target = TREE / part, tree / part
        if source.is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("tests", "fuzz", "examples"))
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    root = tree / "Cargo.toml"
    root.write_text(MEMBERS.sub('members = ["dpdk-sys", "dpdk-rs"]', root.read_text()))
    manifest = tree / "dpdk-rs/Cargo.toml"
    manifest.write_text(re.sub(r"^\[\[example\]\].*?(?=^\[)", "", manifest.read_text(), flags=re.M | re.S))
    manifest = tree / "dpdk-sys/Cargo.toml"
    manifest.write_text(re.sub(r"^\[\[test\]\].*?(?=^\[)", "", manifest.read_text(), flags=re.M | re.S))
    return tree


def found(tree: Path, mistake: Mistake) -> bool:
    """Makes a mistake, tests, and corrects the mistake."""
    path = tree / "dpdk-rs/src" / mistake.file
    right = path.read_text()
    if right.count(mistake.right) != 1:
        print(f"{mistake.file}: `{mistake.right}` is not there once: bring .ci/models.py up to date")
        return False
    path.write_text(right.replace(mistake.right, mistake.wrong))
    command = [*test("", "test", "--offline"), "--", "--exact", f"models::{mistake.test}", "--nocapture"]
    variables = environment(*(LOOM if mistake.loom else ()))
    # A model that runs on and on has not found it.
    limit = ["timeout", "600"]
    run = subprocess.run([*limit, *command], env=variables, cwd=tree, capture_output=True, text=True, check=False)
    path.write_text(right)
    output = run.stdout + run.stderr
    if run.returncode == 0 or "could not compile" in output or mistake.says not in output:
        print(output)
        print(f"status {run.returncode}, without the words '{mistake.says}'")
        return False
    return True


def mistakes(only: str) -> int:
    """Every mistake, as cargo's tests are reported."""
    chosen = [mistake for mistake in MISTAKES if only in mistake.test]
    tree = copy()
    print(f"\nrunning {len(chosen)} tests")
    failed = 0
    for mistake in chosen:
        good = found(tree, mistake)
        failed += not good
        wrong = mistake.wrong.strip() or "nothing"
        change = " ".join(f"`{mistake.right}` -> `{wrong}`".split())
        print(f"test {mistake.test}: {change} ... {'ok' if good else 'FAILED'}", flush=True)
    result = "FAILED" if failed else "ok"
    counts = f"{len(chosen) - failed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out"
    print(f"\ntest result: {result}. {counts}; finished in 0.00s")
    return 1 if failed else 0


def main(words: list[str]) -> int:
    """Runs a step."""
    match words:
        case ["interleavings"]:
            return interleavings()
        case ["memory"]:
            return memory()
        case ["miri"]:
            return miri()
        case ["mistakes", *only]:
            return mistakes(only[0] if only else "")
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
