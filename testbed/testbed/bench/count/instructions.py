# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Instructions per packet: a forwarder under callgrind, on a device without a wire."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from testbed.bench.count.binary import Component, component_of, run_tool
from testbed.bench.count.callgrind import CallgrindError, Function, Profile, read_profile
from testbed.bench.count.steady import SteadyError, loop_of, polls_of, steady
from testbed.comparison.contestants import Contestant, Setup
from testbed.comparison.telemetry import Telemetry, TelemetryError, socket_path
from testbed.run.process import Process, describe_status
from testbed.wire.forwarder import Final

# The widest registers that valgrind's synthetic processor has.
EAL_WORDS = ("--force-max-simd-bitwidth=256",)

# The function with the forwarding loop, as callgrind names it; its callees belong to it.
LOOPS = {"l2fwd-rs": "l2fwd_rs::forward::forward_loop", "l2fwd-c": "forward_loop"}

# Loading a hundred drivers takes seconds in valgrind, and another program's turn may come first.
_PATIENCE_S = 120.0
# Enough for some 100,000 packets; beginning and end of the loop, and what happens once only, then vanish in rounding.
_CPU_S = 0.5
_PACKETS_MIN = 20_000
# With the slow clock a second is a microsecond.
_CLOCK_STANDS_S = 0.01


class CountError(Exception):
    """A forwarder could not be counted; the message says what to do."""


@dataclass(frozen=True)
class Counted:
    """What one forwarder has executed in its forwarding loop."""

    name: str
    program: Path
    # The function with the forwarding loop.
    loop: Function
    packets: int
    polls: int
    profile: Profile = field(repr=False)

    def per_packet(self) -> dict[Component, float]:
        """Instructions per packet by component; what a component has called of the system is its own."""
        return {component: cost / self.packets for component, cost in share_out(self.profile, self.component).items()}

    @property
    def total_per_packet(self) -> float:
        """All instructions per packet."""
        return self.profile.total / self.packets

    def component(self, function: Function) -> Component:
        """Whose function it is."""
        return component_of(self.program, function.object, first_address(self.profile, function))


def first_address(profile: Profile, function: Function) -> int | None:
    """The lowest address that was executed of a function."""
    return min(profile.instructions[function], default=None)


def share_out(profile: Profile, component: Callable[[Function], Component]) -> dict[Component, int]:
    """Executed instructions by component. The system's are given to those who called it."""
    components = {function: component(function) for function in profile.self_cost}
    costs = {Component.APPLICATION: 0, Component.LIBRARY: 0, Component.DEVICE: 0}
    for function, cost in profile.self_cost.items():
        if components[function] is not Component.SYSTEM:
            costs[components[function]] += cost
    for (caller, callee), call in profile.calls.items():
        # The loader calls what a program begins with: whoever is unknown here has executed nothing itself.
        caller_component = components.get(caller, Component.SYSTEM)
        if components.get(callee) is Component.SYSTEM and caller_component is not Component.SYSTEM:
            costs[caller_component] += call.cost
    return costs


def build_slow_clock(folder: Path) -> Path:
    """The library that keeps DPDK's clock from advancing, built in `folder`.

    Raises `BinaryError` without a C compiler.
    """
    library = folder / "slow_clock.so"
    source = Path(__file__).with_name("slow_clock.c")
    run_tool("cc", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", str(library), str(source))
    return library


_CALLGRIND = ("valgrind", "--tool=callgrind", "--dump-instr=yes")


def count(name: str, loop: str, argv: Sequence[str], folder: Path, what: str = "count") -> Counted:
    """Runs a forwarder under callgrind until it has used some CPU time in its loop, and reads what it has executed.

    `argv` is the command line of a program that tells its statistics as the twins do; `loop` names the function with
    its forwarding loop. Logs go to `folder`. Raises `CountError`, `ProcessError` and `BinaryError`.
    """
    profile_path = folder / f"{what}.callgrind"
    words = [*_CALLGRIND, "--collect-atstart=no", f"--toggle-collect={loop}", f"--callgrind-out-file={profile_path}"]
    environment = {"LD_PRELOAD": str(build_slow_clock(folder))}
    with Process(what, [*words, "--", *argv], folder, environment) as process:
        process.wait_for_event("start", _PATIENCE_S)
        let_it_forward(process)
    final = next((Final.model_validate(event) for event in process.events if event.get("type") == "final"), None)
    if final is None:
        raise process.failure("ended without its final statistics")
    return counted(name, Path(argv[0]), loop, final, profile_path)


def count_other(contestant: Contestant, setup: Setup, folder: Path, what: str) -> Counted:
    """The same for a forwarder that says nothing of itself: its polls, and what belongs to them, are in the profile.

    Exact to about 1 % only, since its clock goes as it does (testpmd waits for it at start). What is
    done less often than each second poll is left out. Each poll is taken for a full burst, so this is for net_null
    only. Raises `CountError`, `ProcessError`, `ContestantError` and `BinaryError`.
    """
    if contestant.program is None:
        raise CountError(f"{contestant.name} cannot be counted: it is not a program")
    profile_path, program = folder / f"{what}.callgrind", contestant.program.path
    argv = contestant.argv(replace(setup, eal=replace(setup.eal, telemetry=True)))
    environment = {"RUNTIME_DIRECTORY": str(folder)}
    words = [*_CALLGRIND, f"--callgrind-out-file={profile_path}", "--"]
    with Process(what, [*words, *argv], folder, environment) as process:
        path = socket_path(folder, setup.eal.file_prefix)
        process.wait_until(lambda: _forwards(path), "a forwarded packet", _PATIENCE_S)
        let_it_forward(process)
    try:
        profile = read_profile(profile_path)

        def component(function: Function) -> Component:
            return component_of(program, function.object, first_address(profile, function))

        polls = polls_of(profile, component)
    except (OSError, CallgrindError, SteadyError) as error:
        raise CountError(f"{contestant.name}: {error}") from error
    found = steady(profile, component, polls)
    return Counted(contestant.name, program, loop_of(found, component), polls * setup.burst, polls, found)


def _forwards(path: Path) -> bool | None:
    try:
        telemetry = Telemetry(path)
    except TelemetryError:
        return None
    try:
        return True if telemetry.read((0,)).tx_packets > 0 else None
    except TelemetryError:
        return None
    finally:
        telemetry.close()


def let_it_forward(process: Process) -> None:
    """Waits until a program that forwards has used enough CPU time, and ends it.

    Raises `ProcessError`.
    """
    at_start = process.cpu_seconds()
    process.wait_until(lambda: _used(process, at_start), "its forwarding loop's use of the CPU", _PATIENCE_S)
    status = process.stop(_PATIENCE_S)
    # testpmd and DPDK's examples end by the signal that stops them.
    if status not in (0, -signal.SIGTERM):
        raise process.failure(f"ended with {describe_status(status)}")


def _used(process: Process, at_start: float | None) -> bool | None:
    now = process.cpu_seconds()
    return True if now is None or at_start is None or now - at_start >= _CPU_S else None


def counted(name: str, program: Path, loop: str, final: Final, profile_path: Path) -> Counted:
    """Puts the forwarder's own statistics and callgrind's together.

    Raises `CountError` if they cannot be what was wanted.
    """
    try:
        profile = read_profile(profile_path)
    except (OSError, CallgrindError) as error:
        raise CountError(f"{name}: no profile: {error}") from error
    found = profile.find(loop)
    if not found:
        raise CountError(f"{name}: no function '{loop}' was executed in {program}: is it stripped, or inlined?")
    if final.time_s > _CLOCK_STANDS_S:
        raise CountError(f"{name}: its clock should be stopped but shows {final.time_s} s: can it preload a library?")
    total = final.total
    if total.rx_packets < _PACKETS_MIN:
        raise CountError(f"{name}: received {total.rx_packets} packets, at least {_PACKETS_MIN} are needed")
    return Counted(name, program, found[0], total.rx_packets, total.rx_polls, profile)
