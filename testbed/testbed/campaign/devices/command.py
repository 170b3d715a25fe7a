# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Any program, given as a command line with placeholders for the values that the testbed chooses."""

from __future__ import annotations

import re
import shlex
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from testbed.campaign.devices.device import Counts, Joint, Macs
from testbed.campaign.devices.program_host import ProgramHost
from testbed.campaign.sides import Side
from testbed.run.eal import EalOptions, unique_file_prefix
from testbed.run.process import ProcessError, Watched, describe_status

_STOP_S = 10.0
NO_PORT_RESET = "a command has no known way to reset its ports: use l2fwd-c or l2fwd-rs"


class CommandError(ValueError):
    """A command line cannot be used; the message says what to do."""


def _eal(joint: Joint, hugepages: bool) -> EalOptions:
    prefix = unique_file_prefix("dut")
    return EalOptions(joint.lcores[0], prefix, joint.vdevs, hugepages, joint.nics, joint.lcore_words)


PLACEHOLDERS: dict[str, Callable[[Joint, bool], list[str]]] = {
    "eal": lambda joint, hugepages: _eal(joint, hugepages).argv(),
    "eal_alone": lambda joint, hugepages: _eal(joint, hugepages).alone(),
    "devices": lambda joint, hugepages: _eal(joint, hugepages).devices(),
    "vdevs": lambda joint, _: list(joint.vdevs),
    "nics": lambda joint, _: list(joint.nics),
    "core": lambda joint, _: [",".join(map(str, joint.lcores))],
    "queues": lambda joint, _: [str(joint.queues)],
    "ports": lambda joint, _: [str(joint.ports)],
    "portmask": lambda joint, _: [joint.port_mask],
    "longest": lambda joint, _: [str(joint.longest)],
}
"""What stands for a placeholder: ``eal`` for all of DPDK's options, ``eal_alone`` without the devices, ``devices`` for
these, ``vdevs`` and ``nics`` for their arguments alone, ``core`` for the CPUs with commas between them, ``queues`` for
the pairs of queues of each port, ``longest`` for the bytes of the longest frame with FCS."""


@dataclass(frozen=True)
class Command:
    """Any other program. It reports no counters, and the scenario must state which addresses it writes."""

    words: tuple[str, ...]
    host: ProgramHost
    # Of a line of its output that says that it forwards; None: the links say so.
    ready: re.Pattern[str] | None = None
    # With which it may end, negative for a signal.
    statuses: tuple[int, ...] = (0,)
    macs: Macs = Macs.ANY
    counts_frames: bool = False
    no_port_reset: str | None = NO_PORT_RESET
    restart_each_trial: bool = True

    def begin(self, joint: Joint, name: str) -> RunningCommand:
        """Starts it."""
        hugepages = joint.hugepages if self.host.hugepages is None else self.host.hugepages
        program, *rest = self.words
        # A path is a file of this machine, and goes along; a mere name is in the other machine's PATH.
        path = self.host.install(Path(program)) if "/" in program else program
        argv = [path, *(word for part in rest for word in expand(part, joint, hugepages))]
        process = self.host.process(name, argv, joint.log_dir)
        process.start()
        return RunningCommand(process, self.ready, self.statuses)


class RunningCommand:
    """A program that was started."""

    def __init__(self, process: Watched, ready: re.Pattern[str] | None, statuses: tuple[int, ...]) -> None:
        self.process = process
        self._pattern = ready
        self._statuses = statuses
        self._met = False

    @property
    def is_ready(self) -> bool:
        """Whether it was waited for once."""
        return self._met

    def ready(self, timeout_s: float, peer: Watched | None = None) -> None:
        """Waits for its line; without one, the generator waits for its link and for a probe that comes back."""
        pattern = self._pattern
        if pattern is not None:
            self.process.wait_until(
                lambda: next((line for line in list(self.process.lines) if pattern.search(line)), None),
                f"a line like '{pattern.pattern}'",
                timeout_s,
                peer,
            )
        elif self.process.returncode is not None:
            raise self.process.failure(f"ended with {describe_status(self.process.returncode)} before the trial")
        self._met = True

    @property
    def side(self) -> Side | None:
        """It reports nothing."""
        return None

    def counts(self, timeout_s: float) -> Counts:
        """It has none."""
        raise ProcessError(f"{self.process.name}: it reports no counters")

    def reset_ports(self, timeout_s: float) -> float:
        """It has none."""
        raise ProcessError(f"{self.process.name}: {NO_PORT_RESET}")

    def stop(self) -> None:
        """Ends it by SIGTERM."""
        before = self.process.returncode
        if before is not None:
            raise self.process.failure(f"ended by itself with {describe_status(before)}")
        status = self.process.stop(_STOP_S)
        if status not in self._statuses:
            expected = " or ".join(describe_status(one) for one in self._statuses)
            raise self.process.failure(
                f"ended with {describe_status(status)} instead of {expected} (exit_status in the scenario)"
            )


def check_command(words: Sequence[str]) -> None:
    """Looks for placeholders that do not exist.

    Raises `CommandError`.
    """
    if "{" in words[0] or "}" in words[0]:
        raise CommandError(f"'{words[0]}': the program itself takes no placeholder")
    nowhere = Joint((0,), False, (), (), 1, 64, Path())
    for word in words[1:]:
        expand(word, nowhere, False)


def expand(word: str, joint: Joint, hugepages: bool) -> list[str]:
    """The words that one becomes: a placeholder that is a whole word may become several. A literal brace is doubled.

    Raises `CommandError`.
    """
    whole = re.fullmatch(r"\{(\w+)\}", word)
    if whole and whole[1] in PLACEHOLDERS:
        return PLACEHOLDERS[whole[1]](joint, hugepages)
    values = {key: shlex.join(value(joint, hugepages)) for key, value in PLACEHOLDERS.items()}
    try:
        return [word.format(**values)]
    except (KeyError, IndexError, ValueError) as error:
        listed = ", ".join(f"{{{key}}}" for key in PLACEHOLDERS)
        raise CommandError(f"cannot fill in '{word}' ({error}): the placeholders are {listed}") from error


def status_number(name: str | int) -> int:
    """'SIGTERM' → -15; a number stays one.

    Raises `CommandError`.
    """
    if isinstance(name, int):
        return name
    try:
        return -signal.Signals[name]
    except KeyError:
        raise CommandError(f"'{name}' is not a signal: give a number, or a name such as SIGTERM") from None
