# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What .ci/failures.py shows of a log: each failure in its own words, nothing of what passed, and the end."""
# ruff: noqa: D103

import subprocess
import sys
from pathlib import Path

import pytest

CARGO = """
     Running tests/eal/main.rs (target/debug/deps/eal-1)
test queue::keeps_order ... ok
test offloads::cuts ... FAILED

successes:

---- queue::keeps_order stdout ----
words of what passed

successes:
    queue::keeps_order

failures:

---- offloads::cuts stdout ----
thread 'offloads::cuts' panicked: the process of case 0 ended with 101; its output:
test offloads::cuts ... FAILED

failures:
    offloads::cuts

test result: FAILED. 0 passed; 1 failed; 0 ignored;

EAL: the words of the process inside
  left: Some(101)

failures:
    offloads::cuts

test result: FAILED. 1 passed; 1 failed; 0 ignored;

error: test failed, to rerun pass `--test eal`
     Running tests/guide.rs (target/debug/deps/guide-1)
test chapters ... ok
"""
PYTEST = """
tests/test_a.py ..F.                                                     [ 90%]
=================================== FAILURES ===================================
____________________________ test_it_is_told_in_time ___________________________
    def test_it_is_told_in_time():
>       assert told() == 3
E       assert 2 == 3
=========================== short test summary info ============================
SKIPPED [1] tests/test_b.py:3: words of a skipped one
"""
COMPILER = """
   Compiling dpdk-rs v0.1.0
error[E0308]: mismatched types
 --> src/a.rs:1:1
  |
1 | fn a() -> u32 { "" }

warning: words of a warning
error: could not compile `dpdk-rs`

"""

# Such lines of pytest's end with a space.
INTERRUPTED = """
test sequences::of_ports has been running for over 60 seconds
test sequences::of_rings has been running for over 60 seconds
test sequences::of_ports ... ok
tests/test_a.py::test_boots[e1000e - two]{0}
tests/test_b.py::test_sums{0}
[gw1] [ 50%] PASSED tests/test_b.py::test_sums{0}
tests/test_b.py::test_fails{0}
[gw1] [ 75%] FAILED tests/test_b.py::test_fails{0}
""".format(" ")


@pytest.fixture
def shown(tmp_path):
    def show(text):
        (tmp_path / "stage.log").write_text(text)
        program = Path(__file__).with_name("failures.py")
        done = subprocess.run(
            [sys.executable, program, tmp_path / "stage.log"], capture_output=True, text=True, check=True
        )
        told, _, end = done.stdout.partition("[the end of ")
        return told, end

    return show


def test_a_test_of_cargos_is_shown_with_the_process_that_it_ran(shown):
    told, _ = shown(CARGO)
    assert "the process of case 0 ended with 101" in told
    assert "the words of the process inside" in told
    assert "words of what passed" not in told
    assert "chapters" not in told


def test_a_test_of_pytests_is_shown(shown):
    told, _ = shown(PYTEST)
    assert "test_it_is_told_in_time" in told
    assert "assert 2 == 3" in told
    assert "words of a skipped one" not in told


def test_what_a_compiler_refuses_is_shown(shown):
    told, _ = shown(COMPILER)
    assert 'fn a() -> u32 { "" }' in told
    assert "could not compile" in told
    assert "words of a warning" not in told


def test_one_failure_does_not_hide_the_others(shown):
    long = CARGO.replace("EAL: the words", "EAL: chatter\n" * 1000 + "EAL: the words")
    told, _ = shown(long + PYTEST)
    assert "the words of the process inside" in told
    assert "assert 2 == 3" in told
    assert " lines left out]" in told
    assert len(told.splitlines()) < 200


def test_what_did_not_end_is_named(shown):
    told, _ = shown(INTERRUPTED)
    assert told.splitlines() == [
        "not ended: sequences::of_rings",
        "not ended: tests/test_a.py::test_boots[e1000e - two]",
    ]


def test_a_log_without_failures_shows_its_end(shown):
    told, end = shown("".join(f"line {number}\n" for number in range(100)) + "skipped: a: no NIC\n" * 50 + "killed\n")
    assert told == ""
    assert "150 lines" not in end
    assert "151 lines" in end
    assert "line 99" in end
    assert end.endswith("killed\n")
    assert "no NIC" not in end
