# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The tally decides whether the tests are green, so every way to miss a failure is a test here."""
# ruff: noqa: D103

import json
import subprocess
import sys
from pathlib import Path

TALLY = Path(__file__).parent / "tally.py"

CARGO = """\
   Compiling thing v0.1.0
     Running unittests src/lib.rs (target/debug/deps/thing-0123456789abcdef)

running 4 tests
test burst::tests::keeps_order ... ok
test burst::tests::overflow - should panic ... ok
test port::tests::needs_a_nic ... ignored, needs two PCI ports
test port::tests::closes ... ok

successes:

---- port::tests::closes stdout ----
skipped: not permitted to open /dev/net/tun

test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests thing

running 2 tests
test src/lib.rs - Port (line 3) - compile fail ... ok
test src/lib.rs - Port (line 9) ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s

"""


def tally(folder, *runs, options=(), **files):
    """Writes `name_suffix=text` as files, runs the tally over them, returns its exit status and lines."""
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        (folder / f"{stem}.{suffix}").write_text(str(text))
    done = subprocess.run([sys.executable, TALLY, *options, folder, *runs], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def edited(text, *changes):
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def meson_line(name, result, stdout="", returncode=0, **more):
    return json.dumps({"name": name, "result": result, "stdout": stdout, "returncode": returncode, **more}) + "\n"


def test_cargo_counts_tests_doc_tests_and_both_kinds_of_skip(tmp_path):
    status, lines = tally(tmp_path, "rust:cargo", rust_log=CARGO, rust_status=0)
    assert lines[-1] == "4 passed, 0 failed, 2 skipped"
    suite = "skipped: unittests src/lib.rs (target/debug/deps/thing-0123456789abcdef): port::tests::"
    assert f"{suite}closes: not permitted to open /dev/net/tun" in lines
    assert f"{suite}needs_a_nic: needs two PCI ports" in lines
    assert status == 0


def test_no_skips_means_no_word_of_them(tmp_path):
    log = edited(CARGO, ("ignored, needs two PCI ports", "ok"), ("3 passed", "4 passed"), ("1 ignored", "0 ignored"))
    log = edited(log, ("skipped: not", "not"))
    status, lines = tally(tmp_path, "rust:cargo", rust_log=log, rust_status=0)
    assert (status, lines[-1]) == (0, "6 passed, 0 failed")


def test_what_runs_elsewhere_is_named_and_counts_nowhere(tmp_path):
    log = edited(CARGO, ("skipped: not permitted to open /dev/net/tun", "not repeated: as everywhere"))
    files = {"rust_log": log, "rust_status": 0, "stage_log": "\nnot repeated: docs\n5 passed, 0 failed\n"}
    status, lines = tally(tmp_path, "rust:cargo", "packages:elsewhere", "stage:tally", stage_status=0, **files)
    assert (status, lines[-1]) == (0, "9 passed, 0 failed, 1 skipped")
    suite = "unittests src/lib.rs (target/debug/deps/thing-0123456789abcdef)"
    assert [line for line in lines if line.startswith("not repeated:")] == [
        f"not repeated: {suite}: port::tests::closes: as everywhere",
        "not repeated: packages",
        "not repeated: stage: docs",
    ]


def test_a_failed_cargo_test_is_named(tmp_path):
    log = edited(CARGO, ("keeps_order ... ok", "keeps_order ... FAILED"), ("3 passed; 0 failed", "2 passed; 1 failed"))
    status, lines = tally(tmp_path, "rust:cargo", rust_log=log, rust_status=101)
    assert lines[-1] == "3 passed, 1 failed, 2 skipped"
    assert any(line.startswith("FAILED: ") and line.endswith("burst::tests::keeps_order") for line in lines)
    assert status == 1


def test_a_test_binary_that_dies_is_a_failure_though_others_pass(tmp_path):
    died = CARGO.split("test result:")[0] + "error: test failed\n" + CARGO[CARGO.index("   Doc-tests") :]
    status, lines = tally(tmp_path, "rust:cargo", rust_log=died, rust_status=0)
    assert any("died without a summary" in line for line in lines)
    assert status == 1
    # Nothing of a suite that died counts as passed, so nothing of it is taken off for having been skipped.
    skipped = CARGO[: CARGO.index("test result:")]
    _, lines = tally(tmp_path, "rust:cargo", rust_log=skipped, rust_status=101)
    assert lines[-1] == "0 passed, 1 failed, 2 skipped"
    died_last = CARGO.rpartition("test result:")[0]
    assert tally(tmp_path, "rust:cargo", rust_log=died_last, rust_status=0)[0] == 1


def test_a_compile_error_is_a_failure(tmp_path):
    status, lines = tally(tmp_path, "rust:cargo", rust_log="error: could not compile `thing`\n", rust_status=101)
    assert (status, lines[-1]) == (1, "0 passed, 1 failed")


def test_a_non_zero_exit_is_a_failure_even_if_every_test_passed(tmp_path):
    status, lines = tally(tmp_path, "rust:cargo", rust_log=CARGO, rust_status=101)
    assert (status, lines[-1]) == (1, "4 passed, 1 failed, 2 skipped")


def test_nothing_run_is_a_failure(tmp_path):
    empty = "     Running unittests src/lib.rs (target/debug/deps/thing-0)\n\nrunning 0 tests\n\n"
    empty += "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
    status, lines = tally(tmp_path, "rust:cargo", rust_log=empty, rust_status=0)
    assert (status, lines[-1]) == (1, "0 passed, 1 failed")


def test_meson_single_results_and_tap(tmp_path):
    record = (
        meson_line("options", "OK", "TAP version 13\n1..3\nok 1 - masks\nok 2 - maps # SKIP no shell\nok 3 - numbers\n")
        + meson_line("frame", "OK", "nothing to see\n")
        + meson_line("hugepages", "SKIP", "looking\nno hugetlbfs is mounted\n", 77)
    )
    status, lines = tally(tmp_path, "c:meson", c_json=record, c_status=0)
    assert (status, lines[-1]) == (0, "3 passed, 0 failed, 2 skipped")
    assert "skipped: options: maps: no shell" in lines
    assert "skipped: hugepages: no hugetlbfs is mounted" in lines


def test_every_bad_meson_result_is_a_failure(tmp_path):
    for result in ("FAIL", "TIMEOUT", "ERROR", "INTERRUPT", "UNEXPECTEDPASS", "a result of the future"):
        record = meson_line("frame", "OK") + meson_line("ports", result, "1..1\nok 1 - opens\n", 1)
        status, lines = tally(tmp_path, "c:meson", c_json=record, c_status=0)
        assert (status, lines[-1]) == (1, "2 passed, 1 failed"), result


def test_a_failed_tap_result_counts_once(tmp_path):
    record = meson_line("ports", "FAIL", "1..2\nok 1 - opens\nnot ok 2 - closes\n", 1)
    status, lines = tally(tmp_path, "c:meson", c_json=record, c_status=1)
    assert (status, lines[-1]) == (1, "1 passed, 1 failed")
    assert "FAILED:  ports: closes" in lines


def test_pytest_record(tmp_path):
    record = """<testsuites><testsuite>
        <testcase classname="tests.test_wire" name="test_a"/>
        <testcase classname="tests.test_wire" name="test_b"><failure message="no"/></testcase>
        <testcase classname="tests.test_wire" name="test_b"><error message="clean-up"/></testcase>
        <testcase classname="tests.test_hosts" name="test_c"><skipped message="not permitted"/></testcase>
        <testcase classname="" name="tests.test_broken"><error message="collection failure"/></testcase>
    </testsuite></testsuites>"""
    status, lines = tally(tmp_path, "python:pytest", python_xml=record, python_status=1)
    assert (status, lines[-1]) == (1, "1 passed, 2 failed, 1 skipped")
    assert "skipped: tests.test_hosts::test_c: not permitted" in lines


def test_a_runner_without_a_record_or_a_status_is_a_failure(tmp_path):
    assert tally(tmp_path, "python:pytest", python_status=0)[1][-1] == "0 passed, 1 failed"
    assert tally(tmp_path, "python:pytest", python_xml="<testsuites>", python_status=0)[1][-1] == "0 passed, 1 failed"
    assert tally(tmp_path, "c:meson", c_json='{"name": "cut of', c_status=0)[1][-1] == "0 passed, 1 failed"
    for record in ("[]", '{"name": {}, "result": [], "stdout": 1}', "[" * 100_000):
        assert tally(tmp_path, "c:meson", c_json=record, c_status=0)[1][-1] == "0 passed, 1 failed"
    assert tally(tmp_path, "killed:cargo", killed_log=CARGO)[0] == 1


def test_steps_and_the_sum_of_several_runs(tmp_path):
    record = meson_line("frame", "OK")
    runs = ("build:step", "static:step", "rust:cargo", "c:meson")
    files = {
        "build_status": 0,
        "static_status": 2,
        "static_log": "linking\nno such library\n",
        "rust_log": CARGO,
        "rust_status": 0,
    }
    files |= {"c_json": record, "c_status": 0}
    status, lines = tally(tmp_path, *runs, **files)
    assert (status, lines[-1]) == (1, "6 passed, 1 failed, 2 skipped")
    assert "FAILED:  static: exit status 2: no such library" in lines


def test_a_step_that_exits_with_77_is_skipped_for_its_last_words(tmp_path):
    files = {"v3_status": 77, "v3_log": "looking\nthis CPU lacks avx2\n", "build_status": 0}
    status, lines = tally(tmp_path, "build:step", "v3:step", **files)
    assert (status, lines[-1]) == (0, "1 passed, 0 failed, 1 skipped")
    assert "skipped: v3: this CPU lacks avx2" in lines


STAGE = """\
FAILED:  a line of a program that the stage started

rust:   7 passed, 1 failed
skipped: rust: needs two NICs
skipped: c: no shell
FAILED:  rust: keeps_order
7 passed, 1 failed, 2 skipped
"""


def test_the_sum_of_other_tallies_names_the_stage(tmp_path):
    files = {"here_log": STAGE, "here_status": 1, "other_log": "\n5 passed, 0 failed\n", "other_status": 0}
    status, lines = tally(tmp_path, "lint:step", "here:tally", "other:tally", lint_status=0, **files)
    assert (status, lines[-1]) == (1, "13 passed, 1 failed, 2 skipped")
    assert [line for line in lines if "ed: " in line] == [
        "skipped: here: rust: needs two NICs",
        "skipped: here: c: no shell",
    ]
    assert "FAILED:  here: rust: keeps_order" in lines


def test_a_stage_without_a_sound_sum_is_a_failure(tmp_path):
    def of(log, status=0):
        return tally(tmp_path, "here:tally", here_log=log, here_status=status)

    green = "\n5 passed, 0 failed\n"
    assert of(green)[0] == 0
    for log, stage_status in (
        (green, 1),
        (green + "x: error: cannot unmount\n", 0),
        ("\n0 passed, 0 failed\n", 0),
        ("", 0),
    ):
        status, lines = of(log, stage_status)
        assert (status, lines[-1].split(",")[1]) == (1, " 1 failed"), log
    # What was named is not what was counted.
    for lost in ("FAILED:  rust: keeps_order\n", "skipped: c: no shell\n"):
        assert of(edited(STAGE, (lost, "")), 1)[1][-1] == "0 passed, 1 failed"


def test_in_brief_the_tests_of_a_file_share_a_line_for_each_reason(tmp_path):
    skips = """
skipped: tests/a.rs (target/a-1): flow::sorts: no interface: it said: no
skipped: tests.test_real::test_back[server-64]: TREX_HOME does not name a TRex
skipped: tests.test_real::test_back[-t mix=64x7,pps=1e3]: TREX_HOME does not name a TRex
skipped: tests.test_real::test_burst: TREX_HOME does not name a TRex
skipped: tests.test_real::test_burst[1]: no memory
skipped: c: no shell
not repeated: tests/b.rs (target/b-1): hole_1: no version of DPDK changes it
not repeated: tests/b.rs (target/b-1): m::hole_2: no version of DPDK changes it
not repeated: packages
FAILED:  tests.test_real::test_last[1]: it fails
FAILED:  tests.test_real::test_last[2]: it fails
3 passed, 2 failed, 6 skipped
"""
    status, lines = tally(tmp_path, "here:tally", here_log=skips, here_status=1, options=["--brief"])
    assert (status, lines[2:]) == (
        1,
        [
            "not repeated: here: tests/b.rs (target/b-1): 2 tests: no version of DPDK changes it",
            "not repeated: here: packages",
            "skipped: here: tests/a.rs (target/a-1): flow::sorts: no interface: it said: no",
            "skipped: here: tests.test_real: 3 tests: TREX_HOME does not name a TRex",
            "skipped: here: tests.test_real::test_burst[1]: no memory",
            "skipped: here: c: no shell",
            "FAILED:  here: tests.test_real::test_last[1]: it fails",
            "FAILED:  here: tests.test_real::test_last[2]: it fails",
            "3 passed, 2 failed, 6 skipped",
        ],
    )


def test_a_reason_of_several_lines_is_told_in_one(tmp_path):
    record = """<testsuite><testcase classname="a" name="b"><skipped message="not&#10;here"/></testcase></testsuite>"""
    _, lines = tally(tmp_path, "python:pytest", python_xml=record, python_status=0)
    assert lines[-2:] == ["skipped: a::b: not here", "0 passed, 0 failed, 1 skipped"]


def test_wrong_usage(tmp_path):
    assert tally(tmp_path)[0] == 2
    assert tally(tmp_path, "rust:gradle")[0] == 2
