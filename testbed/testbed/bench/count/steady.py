# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The forwarding loop in the profile of a whole run: what is executed for each poll. It needs no symbols."""

from __future__ import annotations

from collections.abc import Callable

from testbed.bench.count.binary import Component
from testbed.bench.count.callgrind import Function, Profile

# What a forwarder does at its start it does less often than this share of its polls.
_SHARE = 0.5


class SteadyError(Exception):
    """There is no forwarding loop in a profile."""


def polls_of(profile: Profile, component: Callable[[Function], Component]) -> int:
    """How often the application polled its device.

    On a device that always has a burst to give, receiving and sending are called as often as each other, and nothing of
    the device is called more often. Raises `SteadyError` if the application calls no device.
    """
    into_device = [
        call.count
        for (caller, callee), call in profile.calls.items()
        if component(callee) is Component.DEVICE and component(caller) is Component.APPLICATION
    ]
    if not into_device:
        raise SteadyError("the application calls no driver: was nothing forwarded?")
    return max(into_device)


def steady(profile: Profile, component: Callable[[Function], Component], polls: int) -> Profile:
    """What of the profile is executed for polls.

    A little too much where a program does so at its start too: testpmd empties its queues.
    """
    least = _SHARE * polls
    calls = {edge: call for edge, call in profile.calls.items() if call.count >= least}
    # Up from what calls the device to the loop, and down to all that is called from there.
    above = {
        by for by, callee in calls if component(callee) is Component.DEVICE and component(by) is Component.APPLICATION
    }
    above = _closure(
        above, lambda one: {by for by, callee in calls if callee == one and component(by) is Component.APPLICATION}
    )
    reached = _closure(above, lambda one: {callee for by, callee in calls if by == one})
    result = Profile()
    for function in reached:
        for address, times in profile.instructions.get(function, {}).items():
            if times >= least:
                result.instructions[function][address] = times
                result.self_cost[function] += times
    for (caller, callee), call in calls.items():
        if caller in result.self_cost and callee in result.self_cost:
            result.calls[caller, callee] = call
    return result


def _closure(start: set[Function], following: Callable[[Function], set[Function]]) -> set[Function]:
    """What can be reached."""
    reached, waiting = set(start), list(start)
    while waiting:
        found = following(waiting.pop()) - reached
        reached |= found
        waiting += found
    return reached


def loop_of(profile: Profile, component: Callable[[Function], Component]) -> Function:
    """The function of a steady profile's application under which most is executed."""
    costs = {
        function: cost for function, cost in profile.self_cost.items() if component(function) is Component.APPLICATION
    }
    for (caller, _), call in profile.calls.items():
        if caller in costs:
            costs[caller] += call.cost
    return max(costs, key=lambda function: costs[function])
