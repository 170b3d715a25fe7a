# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Reading callgrind's files, with and without its compression of names and positions."""

from __future__ import annotations

import pytest

from testbed.bench.count.callgrind import CallgrindError, Function, parse_profile

# What a program of two functions leaves, all names and positions compressed; the called one lies in a library.
COMPRESSED = """\
# callgrind format
version: 1
creator: callgrind-3.19.0
cmd:  program --option=x fn=(9) not a name
part: 1

desc: Trigger: Program termination

positions: instr line
events: Ir
summary: 130

ob=(1) /bin/program
fl=(1) ???
fn=(1) main
0x1000 5 3
+4 * 2
cob=(2) /lib/library.so
cfi=(2) library.c
cfn=(2) send(int, (anonymous)::Type)
calls=10 0x40 7
* * 110
+3 +1 2
-7 -1 1
cfn=(3) own
calls=2 +16 9
0x1010 6 4

ob=(2)
fl=(2)
fn=(2)
0x40 7 10
+1 * 40
fi=(3) inlined.h
+2 +2 60
cob=(1)
cfi=(1)
cfn=(3)
calls=1 0x1020 1
+1 0 0

ob=(1)
fn=(3)
0x1020 1 4

totals: 122
"""

# The same, written out.
PLAIN = """\
positions: instr line
events: Ir
summary: 130
ob=/bin/program
fl=???
fn=main
0x1000 5 3
0x1004 5 2
cob=/lib/library.so
cfl=library.c
cfn=send(int, (anonymous)::Type)
calls=10 0x40 7
0x1004 5 110
0x1007 6 2
0x1000 5 1
cfn=own
calls=2 0x1020 9
0x1010 6 4
ob=/lib/library.so
fl=library.c
fn=send(int, (anonymous)::Type)
0x40 7 10
0x41 7 40
fe=library.c
0x43 9 60
cob=/bin/program
cfn=own
calls=1 0x1020 1
0x44 0 0
ob=/bin/program
fn=own
0x1020 1 4
totals: 122
"""

MAIN = Function("/bin/program", "main")
OWN = Function("/bin/program", "own")
SEND = Function("/lib/library.so", "send(int, (anonymous)::Type)")


@pytest.mark.parametrize("text", [COMPRESSED, PLAIN], ids=["compressed", "plain"])
def test_costs_and_calls(text: str) -> None:
    profile = parse_profile(text.splitlines())
    assert profile.self_cost == {MAIN: 8, SEND: 110, OWN: 4}
    assert profile.total == 122
    assert profile.instructions[MAIN] == {0x1000: 4, 0x1004: 2, 0x1007: 2}
    assert profile.instructions[SEND] == {0x40: 10, 0x41: 40, 0x43: 60}
    assert {callee: (call.count, call.cost) for callee, call in profile.callees(MAIN).items()} == {
        SEND: (10, 110),
        OWN: (2, 4),
    }
    assert profile.calls_of(OWN) == 3
    assert profile.find("own") == [OWN]
    assert profile.find("sen") == []


def test_other_events_and_lines_instead_of_instructions() -> None:
    text = "positions: line\nevents: Dr Ir Dw\nfn=f\n5 1 20 3\n+1 1 7\n* 4\n"
    profile = parse_profile(text.splitlines())
    assert profile.self_cost == {Function("", "f"): 27}
    assert not profile.instructions


def test_jumps_are_passed_over() -> None:
    text = "positions: instr line\nevents: Ir\nfn=f\n0x10 1 5\njcnd=3/5 0x20 2\njump=2 0x30 3\njfi=(1) a.c\n+2 * 5\n"
    profile = parse_profile(text.splitlines())
    assert profile.instructions[Function("", "f")] == {0x10: 5, 0x12: 5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no line 'events:'"),
        ("positions: line\nevents: Cy\n", "line 2: .*no event 'Ir'"),
        ("events: Ir\nfn=(1)\n", "line 2: "),
        ("events: Ir\nfn=f\nhello world\n", "line 3: .*hello world"),
        ("events: Ir\nfn=f\n12 x\n", "line 3: "),
        ("positions: instr line\nevents: Ir\nfn=f\n0x10\n", "line 4: "),
        ("events: Ir\nzz=f\n", "line 2: .*'zz='"),
        ("events: Ir\nfn=f\n1 6\ntotals: 7\n", "sum up to 6, not to 7"),
    ],
)
def test_what_callgrind_does_not_write(text: str, message: str) -> None:
    with pytest.raises(CallgrindError, match=message):
        parse_profile(text.splitlines(), "file")
