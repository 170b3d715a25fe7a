# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The forwarding loop is found in the profile of a whole run, whatever else the program and DPDK have done."""

from __future__ import annotations

import pytest

from testbed.bench.count.binary import Component
from testbed.bench.count.callgrind import Call, Function, Profile
from testbed.bench.count.steady import SteadyError, loop_of, polls_of, steady

MAIN, LOOP, FLUSH, PARSE = (Function("program", name) for name in ("main", "loop", "flush", "parse"))
RECEIVE, SEND, PROBE = (Function("librte_net_null.so", name) for name in ("receive", "send", "probe"))
RING, MALLOC = Function("librte_eal.so", "ring"), Function("libc.so", "malloc")
POLLS = 1000


def component(function: Function) -> Component:
    components = {
        "program": Component.APPLICATION,
        "librte_net_null.so": Component.DEVICE,
        "librte_eal.so": Component.LIBRARY,
    }
    return components.get(function.object, Component.SYSTEM)


@pytest.fixture
def profile() -> Profile:
    found = Profile()
    for function, times in {
        MAIN: [1, 1],
        LOOP: [1, POLLS, 32 * POLLS, POLLS // 10],
        FLUSH: [POLLS],
        PARSE: [200, 2 * POLLS],
        RECEIVE: [POLLS, POLLS, 3],
        SEND: [POLLS],
        PROBE: [50],
        # As often at the start as for polls; and only at the start.
        RING: [2 * POLLS],
        MALLOC: [9 * POLLS],
    }.items():
        found.instructions[function].update(dict(enumerate(times)))
        found.self_cost[function] = sum(times)
    for edge, call in {
        (MAIN, PARSE): Call(1, 200),
        (MAIN, PROBE): Call(1, 50),
        (MAIN, LOOP): Call(1, 40_000),
        (PARSE, MALLOC): Call(20, 9 * POLLS),
        (LOOP, RECEIVE): Call(POLLS, 4 * POLLS),
        (LOOP, FLUSH): Call(POLLS, 2 * POLLS),
        (FLUSH, SEND): Call(POLLS, POLLS),
        (RECEIVE, RING): Call(POLLS, 2 * POLLS),
    }.items():
        found.calls[edge] = call
    return found


def test_what_is_executed_for_polls(profile: Profile) -> None:
    assert polls_of(profile, component) == POLLS
    found = steady(profile, component, POLLS)
    assert found.self_cost == {LOOP: 33 * POLLS, FLUSH: POLLS, RECEIVE: 2 * POLLS, SEND: POLLS, RING: 2 * POLLS}
    assert set(found.calls) == {(LOOP, RECEIVE), (LOOP, FLUSH), (FLUSH, SEND), (RECEIVE, RING)}
    assert loop_of(found, component) == LOOP


def test_a_program_that_forwards_nothing() -> None:
    with pytest.raises(SteadyError, match="calls no driver"):
        polls_of(Profile(), component)
