# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x bench overload --loop`: the machine code of the twins' loops, with how often each line is executed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.markup import escape

from testbed.bench.count.command import count_contestant, count_setup
from testbed.bench.count.instructions import Counted, CountError
from testbed.bench.count.loop import Instruction, application_functions, breaches, function_code
from testbed.comparison.contestants import Contestant
from testbed.run.scratch import scratch_folder

# Three ports that always have a full burst and two that never have a packet: what is done for each packet, burst,
# poll, empty poll and round of the loop is then done differently often.
BURST = 32
_BURSTS, _EMPTY_POLLS = 3, 2
_POLLS = _BURSTS + _EMPTY_POLLS
DEVICES = (
    *(f"net_null{number}" for number in range(_BURSTS)),
    *(f"net_null{number},no-rx=1" for number in range(_BURSTS, _POLLS)),
)


def run_loop(contestants: Sequence[Contestant], console: Console) -> None:
    """Prints the loops, and the rules that they break.

    Raises `CountError` if one breaks a rule, `ProcessError`, `BinaryError` and `ContestantError`.
    """
    broken: list[str] = []
    with scratch_folder() as folder:
        for contestant in contestants:
            with console.status(f"counting {contestant.name}"):
                counted = count_contestant(contestant, count_setup(BURST, DEVICES), folder)
            console.rule(contestant.name, align="left")
            for line in listing(counted):
                console.print(escape(line), highlight=False, soft_wrap=True)
            found = breaches(counted)
            console.print(
                f"{contestant.name}: for each packet {len(found) or 'no'} call, atomic operation or branch to a panic"
            )
            broken += [f"{contestant.name}: {breach}" for breach in found]
    if broken:
        raise CountError("\n".join(broken))


def listing(counted: Counted) -> Iterator[str]:
    """The executed instructions of the application below the loop, each with how often."""
    rounds = counted.polls / _POLLS
    for function in application_functions(counted):
        counts = counted.profile.instructions[function]
        if max(counts.values(), default=0) < rounds / 2:
            continue
        yield f"{function.name}:"
        gap = False
        for instruction in function_code(counted.program, counted, function):
            times = counts.get(instruction.address, 0)
            if times < rounds / 2:
                gap = True
                continue
            if gap:
                yield f"{'':>20}…"
                gap = False
            yield line(instruction, times / rounds)


def line(instruction: Instruction, times: float) -> str:
    """One line of the listing, for an instruction that is executed so often a round of the loop."""
    return f"{how_often(times):>18}  {instruction.address:8x}  {instruction.text}"


def how_often(times: float) -> str:
    """In words: what is executed so often in one round over `DEVICES`."""
    for name, expected in (
        ("a round", 1),
        ("an empty poll", _EMPTY_POLLS),
        ("a burst", _BURSTS),
        ("a poll", _POLLS),
        ("a packet", _BURSTS * BURST),
    ):
        if abs(times - expected) < 0.01 * expected:
            return name
    if times > _POLLS:
        return f"{times / (_BURSTS * BURST):.2f} a packet"
    return f"{times:.2f} a round"
