# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Makes the changes of a plan, each recorded beforehand, and puts the machine back."""

from __future__ import annotations

from collections.abc import Callable

from testbed.host.files import Host
from testbed.host.journal import Journal
from testbed.host.plan import Plan
from testbed.host.steps import StepError, undo

Tell = Callable[[str], None]


def prepare(host: Host, plan: Plan, journal: Journal, tell: Tell) -> None:
    """Makes all changes; if one fails, or on Ctrl-C, those of this call are undone.

    Raises `StepError`, `JournalError`.
    """
    entries, current = journal.read()
    # A reboot has cleared the changes that were recorded before it.
    kept = len(entries) if current else 0
    try:
        for step in plan.steps:
            journal.append(step.before(host))
            notes = step.do(host)
            tell(f"done: {step.title}")
            for note in notes:
                tell(note)
    except BaseException:
        tell("undoing what was done")
        try:
            _undo_from(host, journal, kept, tell)
        except StepError as error:
            tell(str(error))
        raise


def restore(host: Host, journal: Journal, tell: Tell) -> int:
    """Puts back all that the journal records, the last change first; returns how many changes it had.

    Raises `StepError`, `JournalError`: then the journal keeps what is not put back yet.
    """
    entries, current = journal.read()
    if not current:
        tell("the machine was started again since: what was changed is gone by itself")
        journal.keep(0)
        return 0
    _undo_from(host, journal, 0, tell)
    return len(entries)


def _undo_from(host: Host, journal: Journal, first: int, tell: Tell) -> None:
    entries, current = journal.read()
    faults = []
    for entry in reversed(entries[first:] if current else []):
        try:
            for note in undo(host, entry):
                tell(note)
        except StepError as error:
            faults.append(str(error))
    if faults:
        raise StepError(
            "; ".join(faults) + f". What was there before stays recorded in {journal.path}: restore again then"
        )
    journal.keep(first)
