# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Runs the fuzz targets for a bounded time and says what they found. `./x fuzz` calls this.

Every target is a libFuzzer program: those in Rust are built here, with the stable toolchain; those in Python run under
atheris. A run starts from the target's corpus, which is checked in, and from what earlier runs on this machine found
worth keeping under target/fuzz/.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
WORK = Path("target/fuzz")
CRATES = ("dpdk-rs/fuzz", "dpdk-sockets/fuzz", "l2fwd-rs/fuzz", "parsing-bench/fuzz", "testbed/generator/fuzz")
PYTHON = "testbed/fuzz"

# What `cargo fuzz` sets too, but for the sanitizers of Rust code, which need a nightly toolchain. clang links, since it
# brings the run-time library of the sanitizers that C code is built with.
RUST_FLAGS = (
    "-Clinker=clang",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    # AddressSanitizer walks the stack at each allocation: along frame pointers that is fast, and ends where it should.
    "-Cforce-frame-pointers=yes",
    "--cfg=fuzzing",
)
# An input that takes longer than a minute hangs, on however busy a machine: it is a finding. AddressSanitizer keeps
# freed memory back, which is no leak.
LIMITS = ("-timeout=60", "-rss_limit_mb=4096", "-print_final_stats=1")
# libFuzzer looks for leaks after each input. At the end of the process it would find the EAL, which stays until then.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "leak_check_at_exit=0"}
# What the checked-in corpora are to reach: every edge, not every number of times that it can be taken.
EDGES_ONLY = ("-use_counters=0", "-use_cmp=0")
# How long a target may take to end by itself when its time is over: longer than an input.
GRACE_S = 90.0
# And when it is asked to end.
PATIENCE_S = 5.0
# libFuzzer names inputs by their SHA-1; those that a person named are never thrown away.
MADE_BY_MACHINE = re.compile(r"[0-9a-f]{40}")

STATUS = re.compile(r"^#(?P<runs>\d+)\t.*\bcov: (?P<covered>\d+)", re.MULTILINE)
COUNTERS = re.compile(r"^INFO: Loaded \d+ modules? +\((\d+) inline 8-bit counters\)", re.MULTILINE)
EXECUTED = re.compile(r"^stat::number_of_executed_units: (\d+)", re.MULTILINE)
REASON = re.compile(
    r"^(?:.*panicked at .*\n.*|.*ERROR: (?:AddressSanitizer|LeakSanitizer|libFuzzer): .*|.*: runtime error: .*"
    r"| === Uncaught Python exception: ===\n.*)",
    re.MULTILINE,
)


class FuzzError(Exception):
    """The targets cannot run; the message says why."""


@dataclass(frozen=True)
class Target:
    """One fuzz target: how it is started, and the folder of its corpus."""

    name: str
    command: tuple[str, ...]
    corpus: Path
    crate: str | None = None


@dataclass
class Run:
    """A target at work, or what it came to."""

    target: Target
    seconds: int
    process: subprocess.Popen[bytes]
    log: Path
    started: float = field(default_factory=time.monotonic)
    before: frozenset[Path] = frozenset()

    @property
    def text(self) -> str:
        """What it printed so far."""
        return self.log.read_text(errors="replace")

    @property
    def executions(self) -> int:
        """How many inputs it has tried."""
        text = self.text
        counts = EXECUTED.findall(text) or [found["runs"] for found in STATUS.finditer(text)]
        return int(counts[-1]) if counts else 0

    @property
    def coverage(self) -> str:
        """How many edges of the instrumented code its inputs have reached."""
        text = self.text
        covered = [found["covered"] for found in STATUS.finditer(text)]
        known = sum(int(count) for count in COUNTERS.findall(text))
        return (covered[-1] if covered else "0") + (f" of {known}" if known else "")

    @property
    def findings(self) -> list[Path]:
        """The inputs that it failed on."""
        return sorted(findings_of(self.target) - self.before)

    @property
    def reason(self) -> str:
        """Why it failed, in its own words."""
        found = REASON.search(self.text)
        return found[0].strip() if found else "\n".join(self.text.strip().splitlines()[-3:])

    def verdict(self, interrupted: bool) -> str | None:
        """What is wrong; None if nothing is."""
        if self.findings:
            return "found an input that fails"
        if interrupted:
            return None
        if self.process.returncode != 0:
            return f"ended with status {self.process.returncode}"
        return None if self.executions else "tried no input"


def findings_of(target: Target) -> frozenset[Path]:
    """The failing inputs of this and earlier runs."""
    return frozenset((WORK / "findings" / target.name).glob("*"))


def all_targets() -> list[Target]:
    """Every target of the repository, by name."""
    targets = []
    programs = WORK / host() / "fuzz"
    for crate in CRATES:
        manifest = tomllib.loads(Path(crate, "Cargo.toml").read_text())
        for binary in manifest["bin"]:
            name = binary["name"]
            command = (str(programs / name),)
            targets.append(Target(name, command, Path(crate, "corpus", name), manifest["package"]["name"]))
    for script in sorted(Path(PYTHON, "fuzz_targets").glob("*.py")):
        name = script.stem
        targets.append(Target(name, (sys.executable, f"{PYTHON}/engine.py", name), Path(PYTHON, "corpus", name)))
    return sorted(targets, key=lambda target: target.name)


def host() -> str:
    """What this machine is called by rustc; naming it as the target keeps build scripts free of instrumentation."""
    described = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    return next(line.removeprefix("host: ") for line in described.splitlines() if line.startswith("host: "))


def build(targets: Sequence[Target]) -> None:
    """Builds the programs of the Rust targets."""
    crates = sorted({target.crate for target in targets if target.crate})
    if not crates:
        return
    argv = ["cargo", "build", "--quiet", "--profile", "fuzz", "--bins", "--target", host(), "--target-dir", str(WORK)]
    for crate in crates:
        argv += ["-p", crate, "--features", f"{crate}/libfuzzer"]
    print("fuzz: building, which takes minutes the first time", flush=True)
    if subprocess.run(argv, env={**os.environ, "RUSTFLAGS": " ".join(RUST_FLAGS)}, check=False).returncode != 0:
        raise FuzzError("the targets do not build: see cargo's messages above")


def start(target: Target, seconds: int) -> Run:
    """Starts one target; Ctrl-C does not reach it, so that it can be ended in order."""
    kept, findings = WORK / "corpus" / target.name, WORK / "findings" / target.name
    for folder in (kept, findings, WORK / "logs"):
        folder.mkdir(parents=True, exist_ok=True)
    if not any(target.corpus.glob("*")):
        raise FuzzError(f"{target.name} has no corpus: put an input into {target.corpus}/")
    temporary = (WORK / "tmp" / target.name).absolute()
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    log = WORK / "logs" / f"{target.name}.log"
    argv = [*target.command, f"-max_total_time={seconds}", *LIMITS, f"-artifact_prefix={findings}/"]
    dictionary = target.corpus.parents[1] / f"{target.name}.dict"
    if dictionary.exists():
        argv.append(f"-dict={dictionary}")
    before = findings_of(target)
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*argv, str(kept), str(target.corpus)],
            env={**ENVIRONMENT, "TMPDIR": str(temporary)},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Run(target, seconds, process, log, before=before)


def stop(run: Run) -> None:
    """Ends a target: with the signal that libFuzzer heeds, then with the one that nobody can ignore."""
    for number, patience_s in ((signal.SIGINT, PATIENCE_S), (signal.SIGKILL, None)):
        if run.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(run.process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            run.process.wait(patience_s)


def run_all(targets: Sequence[Target], seconds: int, jobs: int) -> tuple[list[Run], bool]:
    """Runs the targets, as many at a time as there are jobs; whether that was interrupted is the second value."""
    waiting, running, done = list(targets), [], []
    progress = Progress(len(targets))
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(start(waiting.pop(0), seconds))
            time.sleep(0.2)
            for run in list(running):
                if run.process.poll() is None and time.monotonic() < run.started + seconds + GRACE_S:
                    continue
                stop(run)
                running.remove(run)
                done.append(run)
                progress.done(run)
            progress.tell(done, running)
    except KeyboardInterrupt:
        progress.clear()
        return done + running, True
    finally:
        for run in running:
            stop(run)
    return done, False


class Progress:
    """One line for each target that is done, and on a terminal one that changes."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.shown = ""

    def done(self, run: Run) -> None:
        """A target has ended."""
        self.clear()
        wrong = run.verdict(interrupted=False)
        print(f"  {run.target.name}: {wrong or 'found nothing'} ({run.executions:,} executions)", flush=True)

    def tell(self, done: Sequence[Run], running: Sequence[Run]) -> None:
        """Shows who is at work; a log file is spared that."""
        if not sys.stdout.isatty():
            return
        now = time.monotonic()
        names = ", ".join(f"{run.target.name} {max(0, run.seconds - now + run.started):.0f} s" for run in running)
        self.clear()
        self.shown = f"  {len(done)} of {self.count} done; {names}"[: shutil.get_terminal_size().columns - 1]
        print(self.shown, end="", flush=True)

    def clear(self) -> None:
        """Takes the changing line away."""
        if self.shown:
            print("\r" + " " * len(self.shown) + "\r", end="", flush=True)
            self.shown = ""


def count(targets: int) -> str:
    """'1 target', '2 targets'."""
    return f"{targets} target{'' if targets == 1 else 's'}"


def report(runs: Sequence[Run], interrupted: bool) -> int:
    """Prints the account and gives the exit status."""
    width = max((len(run.target.name) for run in runs), default=0)
    print(f"\n{'target':<{width}}  {'executions':>12}  {'edges covered':>15}  findings")
    for run in sorted(runs, key=lambda run: run.target.name):
        print(f"{run.target.name:<{width}}  {run.executions:>12,}  {run.coverage:>15}  {len(run.findings)}")
    bad = [(run, wrong) for run in runs if (wrong := run.verdict(interrupted))]
    for run, wrong in bad:
        print(f"\n{run.target.name} {wrong}; its output: {run.log}")
        print("\n".join(f"    {line}" for line in run.reason.splitlines()))
        for path in run.findings:
            print(f"  input:     {path}")
            print(f"  reproduce: ./x fuzz --input {shlex.quote(str(path))} {run.target.name}")
    print()
    total = f"{sum(run.executions for run in runs):,} executions"
    if bad:
        names = ", ".join(run.target.name for run, _ in bad)
        print(f"fuzz: {len(bad)} of {count(len(runs))} failed ({names}): details are above")
        return 1
    if interrupted:
        print(f"fuzz: interrupted; found nothing until then in {total}")
        return 130
    print(f"fuzz: found nothing: {count(len(runs))}, {total}")
    return 0


def reproduce(target: Target, path: Path) -> int:
    """Runs a target on one input, with its output shown."""
    status = subprocess.run([*target.command, *LIMITS, str(path)], env=ENVIRONMENT, check=False).returncode
    print(f"fuzz: {target.name} {'accepts this input' if status == 0 else f'fails on this input (status {status})'}")
    return 1 if status else 0


def keep(targets: Sequence[Target]) -> int:
    """Replaces the checked-in corpora by the smallest that reach as much; inputs that a person named stay."""
    for target in targets:
        fresh = WORK / "merged" / target.name
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        old = sorted(target.corpus.glob("*"))
        for path in old:
            if not MADE_BY_MACHINE.fullmatch(path.name):
                shutil.copyfile(path, fresh / path.name)
        argv = [*target.command, *LIMITS, *EDGES_ONLY, "-set_cover_merge=1", str(fresh), str(target.corpus)]
        argv.append(str(WORK / "corpus" / target.name))
        done = subprocess.run(argv, env=ENVIRONMENT, capture_output=True, check=False)
        if done.returncode != 0:
            raise FuzzError(f"cannot merge the corpus of {target.name}: {done.stderr.decode(errors='replace')[-500:]}")
        for path in old:
            path.unlink()
        for path in sorted(fresh.glob("*")):
            shutil.copyfile(path, target.corpus / path.name)
        size = sum(path.stat().st_size for path in target.corpus.glob("*"))
        print(f"  {target.name}: {len(old)} inputs before, {len(list(target.corpus.glob('*')))} now, {size} bytes")
    print("fuzz: the corpora are updated: review them with git status")
    return 0


@contextlib.contextmanager
def signals_as_interrupt() -> Iterator[None]:
    """SIGTERM and SIGHUP end a run as Ctrl-C does: with the account of what was done until then."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="./x fuzz", description="Fuzz targets, run for a bounded time.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="targets to run; default: all")
    parser.add_argument("--seconds", type=int, default=30, metavar="N", help="seconds per target; default: 30")
    parser.add_argument("--jobs", type=int, metavar="N", help="targets at a time; default: the number of CPUs")
    parser.add_argument("--input", type=Path, metavar="FILE", help="run the one named target on this input only")
    parser.add_argument(
        "--keep", action="store_true", help="update the checked-in corpora with the inputs that runs have found"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the targets")
    given = parser.parse_args(words)
    if given.seconds < 1 or (given.jobs is not None and given.jobs < 1):
        parser.error("--seconds and --jobs take a number from 1")
    if given.input is not None and len(given.targets) != 1:
        parser.error("--input needs exactly one target: name it")
    return given


def main(words: Sequence[str]) -> int:
    """Does what the command line says; 0 if nothing was found."""
    given = arguments(words)
    if given.input is not None:
        given.input = given.input.absolute()
    os.chdir(ROOT)
    targets = {target.name: target for target in all_targets()}
    if given.list:
        print("\n".join(targets))
        return 0
    unknown = sorted(set(given.targets) - set(targets))
    try:
        if unknown:
            raise FuzzError(f"no such target: {', '.join(unknown)}: choose from {', '.join(targets)}")
        if given.input is not None and not given.input.is_file():
            raise FuzzError(f"cannot read '{given.input}': give the path of an input")
        chosen = [targets[name] for name in sorted(set(given.targets))] or list(targets.values())
        build(chosen)
        if given.input is not None:
            return reproduce(chosen[0], given.input)
        if given.keep:
            return keep(chosen)
        with signals_as_interrupt():
            jobs = given.jobs or len(os.sched_getaffinity(0))
            print(f"fuzz: {count(len(chosen))}, {given.seconds} s each, {jobs} at a time", flush=True)
            return report(*run_all(chosen, given.seconds, jobs))
    except FuzzError as error:
        print(f"fuzz: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
