# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What `bench parsing` reads: criterion's and callgrind's files, the gate's verdicts, the sources, the machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_parsing_record import parsing_record

from testbed.bench.count.callgrind import parse_profile
from testbed.parsing.count import CountError, kernel_count
from testbed.parsing.libraries import LibraryError, Listed, chosen_libraries, take_verdicts
from testbed.parsing.matrix import CROSS_LANGUAGE, cargo_environment, refusal, variants
from testbed.parsing.record import LTO_FAT, LTO_OFF, Library, Lto, Outcome, Panic, Residency, Target, Variant, Workload
from testbed.parsing.source import SourceError, crate_versions, kernel_lines, source_digest
from testbed.parsing.timing import TimingError, read_timing
from testbed.parsing.versions import caches, compilers, memory


def criterion_files(folder: Path) -> None:
    interval = {"confidence_level": 0.95, "lower_bound": 312.0, "upper_bound": 336.0}
    estimates = {"median": {"confidence_interval": interval, "point_estimate": 320.0, "standard_error": 3.0}}
    (folder / "estimates.json").write_text(json.dumps(estimates))
    (folder / "sample.json").write_text(json.dumps({"iters": [1.0, 2.0], "times": [320.0, 640.0]}))


def test_criterion_per_frame(tmp_path: Path) -> None:
    criterion_files(tmp_path)
    timing = read_timing(tmp_path, Residency.COLD, burst=32)
    assert (timing.ns_per_frame, timing.low, timing.high, timing.samples) == (10.0, 9.75, 10.5, 2)
    (tmp_path / "estimates.json").write_text("{}")
    with pytest.raises(TimingError, match="not as criterion writes it"):
        read_timing(tmp_path, Residency.COLD, burst=32)


PROFILE = """\
version: 1
events: Ir
fn=(1) measure::pool::Pool::pass
10 500
cfn=(2) pb_w2_smoltcp
calls=64 1
11 4480
fn=(2)
20 3840
cfn=(3) memcpy
calls=32 1
21 640
fn=(3)
30 640
"""


def test_a_kernel_with_what_it_calls() -> None:
    count = kernel_count(parse_profile(PROFILE.splitlines()), "pb_w2_smoltcp", "smoltcp", Workload.W2, 64)
    assert (count.instructions, count.calls) == (70.0, 0.5)


def test_a_kernel_that_was_not_called_for_every_frame() -> None:
    with pytest.raises(CountError, match="for 65 frames, and was called 64 times"):
        kernel_count(parse_profile(PROFILE.splitlines()), "pb_w2_smoltcp", "smoltcp", Workload.W2, 65)


def libraries(*names: str) -> list[Library]:
    return [
        Library(name=name, package="", version="", licence="MIT", no_std=True, gate={}, kernel_lines={})
        for name in names
    ]


def test_the_verdicts_of_the_gate() -> None:
    one, other = libraries("a", "b")
    verdict = {"outcome": "passes", "reason": None, "case": None, "frames": 9, "bad_input": {"short": {"error": 4}}}
    bad = verdict | {"outcome": "wrote to a rejected frame", "reason": "cut at 30: byte 3", "case": "00"}
    take_verdicts(json.dumps({"schema_version": 1, "verdicts": {"a": {"W1": verdict, "W2": bad}}}), [one, other])
    assert one.gate[Workload.W1].bad_input == {"short": {"error": 4}}
    assert one.gate[Workload.W2].outcome is Outcome.WROTE
    assert [one.measurable(workload) for workload in (Workload.W1, Workload.W2)] == [True, False]
    assert other.gate == {}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"verdicts": {"c": {"W1": {}}}}', '{"verdicts": {"a": {"W7": {}}}}'])
def test_verdicts_that_cannot_be_read(text: str) -> None:
    with pytest.raises(LibraryError, match="parsing-gate --json"):
        take_verdicts(text, libraries("a"))


def test_libraries_by_name() -> None:
    listed = [Listed(one, one.name, {}) for one in libraries("a", "b", "c")]
    assert chosen_libraries(listed, []) == listed
    # In the order of the tables, not in that of the command line.
    assert [one.feature for one in chosen_libraries(listed, ["c", "a"])] == ["a", "c"]
    with pytest.raises(LibraryError, match="no library 'd': choose from a, b, c"):
        chosen_libraries(listed, ["a", "d"])


def test_variants_differ_and_the_compared_ones_come_first() -> None:
    for matrix, quick in (("default", False), ("default", True), ("full", False)):
        found = variants(matrix, quick)
        assert found[:2] == [LTO_OFF, LTO_FAT]
        assert len(set(found)) == len(found)
    assert len(variants("default", True)) == 2
    # Three times two times two times two, and one with cross-language LTO for each target.
    assert len(variants("full", False)) == 26
    assert CROSS_LANGUAGE in variants("default", False)


def test_what_cargo_is_told() -> None:
    told = cargo_environment(Variant(lto=Lto.THIN, codegen_units=16, target=Target.V3, panic=Panic.ABORT))
    assert told["CARGO_PROFILE_RELEASE_LTO"] == "thin"
    assert told["CARGO_PROFILE_RELEASE_CODEGEN_UNITS"] == "16"
    assert told["CARGO_PROFILE_RELEASE_PANIC"] == "abort"
    assert told["CARGO_ENCODED_RUSTFLAGS"] == "-Ctarget-cpu=x86-64-v3"
    assert cargo_environment(LTO_OFF)["CARGO_PROFILE_RELEASE_LTO"] == "false"
    told = cargo_environment(CROSS_LANGUAGE)
    assert told["CARGO_ENCODED_RUSTFLAGS"] == "-Ctarget-cpu=x86-64\x1f-Clinker-plugin-lto"
    assert told["CARGO_PROFILE_RELEASE_LTO"] == "off"


def test_a_processor_that_is_too_old(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("flags\t\t: fpu avx bmi1 f16c fma abm movbe xsave avx2\n")
    assert refusal(LTO_FAT, cpuinfo) is None
    assert refusal(Variant(target=Target.V3), cpuinfo) == "this processor lacks bmi2, which x86-64-v3 has"
    cpuinfo.write_text(cpuinfo.read_text().replace("avx2", "avx2 bmi2"))
    assert refusal(Variant(target=Target.V3), cpuinfo) is None


def cache(folder: Path, number: int, level: int, kind: str, size: str) -> None:
    index = folder / f"index{number}"
    index.mkdir(parents=True)
    for name, text in (("level", str(level)), ("type", kind), ("size", size)):
        (index / name).write_text(f"{text}\n")


def test_pools_by_the_caches(tmp_path: Path) -> None:
    cache(tmp_path, 0, 1, "Data", "48K")
    cache(tmp_path, 1, 1, "Instruction", "32K")
    cache(tmp_path, 2, 2, "Unified", "2048K")
    cache(tmp_path, 3, 3, "Unified", "105M")
    assert caches(tmp_path) == {"l1d": 48 << 10, "l2": 2 << 20, "l3": 105 << 20}
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9 kB\nMemAvailable:   1000000 kB\n")
    found = memory(tmp_path, meminfo)
    assert found.pool_bytes == {Residency.L2: 1 << 20, Residency.COLD: 420 << 20}
    assert found.most_bytes == 409_600_000


def test_a_machine_that_tells_nothing(tmp_path: Path) -> None:
    found = memory(tmp_path, tmp_path / "none")
    assert (found.l2_bytes, found.l3_bytes) == (None, None)
    assert found.pool_bytes == {Residency.L2: 256 << 10, Residency.COLD: 128 << 20}


def test_the_compilers_of_the_figures() -> None:
    assert compilers(parsing_record().versions) == "rustc 1.95.0, gcc 12.2.0, clang none"


IMPL = """\
impl Library for Some {
    const NAME: &'static str = "some";

    /// Documented.
    #[inline(always)]
    fn w1(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        // A comment.
        write(frame)

    }

    fn w2(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        body::<u8>(frame).and_then(checked)
    }

    fn w4(frame: &[u8]) -> Result<FiveTuple, Rejected> {
        reading::some::five_tuple(frame)
    }
}

fn write(frame: &mut [u8]) {
    first();
    second();
}

const fn checked(frame: &[u8]) -> bool { true }

pub(crate) fn body<T>(
    frame: &[u8],
) -> Option<T> {
    write(frame);
}

fn unused() {
    w9();
}
"""


def test_lines_of_a_kernel(tmp_path: Path) -> None:
    impls = tmp_path / "src" / "impls"
    (impls / "reading").mkdir(parents=True)
    (impls / "some.rs").write_text(IMPL)
    (impls / "reading" / "some.rs").write_text("pub(crate) fn five_tuple(frame: &[u8]) {\n    one();\n    two();\n}\n")
    # Three of its own and four of `write`; with `body`, which uses `write`, and `checked`; the file of its own.
    assert kernel_lines("some", tmp_path) == {Workload.W1: 3 + 4, Workload.W2: 3 + 5 + 1 + 4, Workload.W4: 4}
    with pytest.raises(SourceError, match=r"cannot read '.*other\.rs'"):
        kernel_lines("other", tmp_path)


KERNELS = """\
#define KERNEL(name) NAMED(COMPILER, name)

static inline int
check(const uint8_t *frame)
{
\treturn 1;
}

bool
KERNEL(w1)(uint8_t *restrict frame, size_t length,
\t   const struct rule *restrict rule)
{
\t/* A comment
\t * of two lines. */
\tif (!check(frame))
\t\treturn true;

\treturn false;
}

int answers(void) { return 42; }
"""


def test_lines_of_a_kernel_in_c(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "kernels.c").write_text(KERNELS)
    assert kernel_lines("c_gcc", tmp_path) == {Workload.W1: 8 + 5}


def test_the_digest_tells_of_every_change(tmp_path: Path) -> None:
    for name in ("Cargo.lock", "Cargo.toml", "parsing-bench/Cargo.toml", "parsing-bench/src/impls/some.rs"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    for folder in ("build", "c", "examples"):
        (tmp_path / "parsing-bench" / folder).mkdir()
    before = source_digest(tmp_path)
    # What a run writes is not among them.
    (tmp_path / "parsing-bench" / "RESULTS.md").touch()
    assert source_digest(tmp_path) == before
    seen = {before}
    for change in (
        lambda: (tmp_path / "Cargo.lock").write_text("other"),
        lambda: (tmp_path / "parsing-bench/src/impls/some.rs").rename(tmp_path / "parsing-bench/src/impls/other.rs"),
        lambda: (tmp_path / "parsing-bench/c/new.c").touch(),
    ):
        change()
        seen.add(source_digest(tmp_path))
    assert len(seen) == 4
    (tmp_path / "Cargo.toml").unlink()
    with pytest.raises(SourceError, match=r"cannot read '.*Cargo\.toml'"):
        source_digest(tmp_path)


def test_versions_of_crates(tmp_path: Path) -> None:
    lock = tmp_path / "Cargo.lock"
    package = '[[package]]\nname = "{}"\nversion = "{}"\n'
    lock.write_text("".join(package.format(*one) for one in (("a", "1.0"), ("b", "2.0"), ("b", "2.1"))))
    assert crate_versions(lock) == {"a": "1.0", "b": "2.0, 2.1"}
    lock.write_text("[[package]]\nname = 1\n")
    with pytest.raises(SourceError, match="cannot be read as cargo writes it"):
        crate_versions(lock)
