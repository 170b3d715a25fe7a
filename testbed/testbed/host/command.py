# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x testbed host prepare` and `restore`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from testbed.command_line.console import fail, new_app
from testbed.host import journal as journals
from testbed.host.arguments import read_cores, read_nics
from testbed.host.files import Host
from testbed.host.journal import Journal, JournalError
from testbed.host.plan import PlanError, Wish, command_line, make_plan
from testbed.host.preparation import prepare as make_changes
from testbed.host.preparation import restore as put_back
from testbed.host.steps import StepError

_PAGE_KB = {"2M": 2048, "1G": 1 << 20}

app = new_app("Prepare this machine for DPDK on a NIC, and restore it.")

RecordOption = Annotated[Path, typer.Option("--record", metavar="FILE", help="Record of the earlier state.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only print the steps.")]


@app.command()
def prepare(
    nics: Annotated[
        list[str] | None, typer.Option("--nic", metavar="PCI", help="A NIC for DPDK, such as 18:00.0; repeatable.")
    ] = None,
    cores: Annotated[str | None, typer.Option(metavar="LIST", help="CPUs for forwarding, such as 2-5.")] = None,
    hugepages: Annotated[
        int, typer.Option(min=0, max=1 << 20, metavar="MB", help="Free hugepage memory on each NUMA node in use.")
    ] = 1024,
    page_size: Annotated[str, typer.Option(metavar="2M|1G", help="Size of the hugepages.")] = "2M",
    record: RecordOption = journals.DEFAULT,
    dry_run: DryRunOption = False,
) -> None:
    """Prepare this machine for DPDK.

    Binds NICs to vfio-pci, reserves hugepages, keeps the clocks of the chosen cores up and interrupts off them. Prints
    the steps first. Before each change the earlier state is recorded; `restore` returns to it.
    """
    if page_size not in _PAGE_KB:
        raise typer.BadParameter(f"'{page_size}' is not known: give 2M or 1G", param_hint="--page-size")
    wish = Wish(read_nics(nics), read_cores(cores), hugepages, _PAGE_KB[page_size])
    if not wish.nics and not wish.cores:
        raise typer.BadParameter("nothing to prepare: give NICs with --nic, or cores with --cores")
    host = Host()
    try:
        plan = make_plan(host, wish)
        for step in plan.steps:
            typer.echo(f"to do: {step.title}")
        if not plan.steps:
            typer.echo("nothing to do: the machine is already prepared")
        for told in plan.told:
            typer.echo(f"note: {told}")
        if not dry_run and plan.steps:
            _check_root()
            journal = Journal(record.absolute(), host)
            with journal.locked():
                make_changes(host, plan, journal, typer.echo)
            typer.echo("prepared; undo with: ./x testbed host restore" + _record_option(record))
        command = command_line(host, wish)
        if command:
            typer.echo(f"run: {command}")
    except (PlanError, StepError, JournalError) as error:
        fail(str(error))


@app.command()
def restore(record: RecordOption = journals.DEFAULT, dry_run: DryRunOption = False) -> None:
    """Undo all changes of prepare.

    It is safe to run again.
    """
    host = Host()
    journal = Journal(record.absolute(), host)
    try:
        entries, current = journal.read()
        if dry_run or not entries:
            for entry in reversed(entries if current else []):
                typer.echo(f"to restore: {_title(entry)}")
            if not entries:
                typer.echo(f"nothing to restore: {journal.path} records no change")
            return
        _check_root()
        with journal.locked():
            count = put_back(host, journal, typer.echo)
        typer.echo(f"restored: {count} changes")
    except (StepError, JournalError) as error:
        fail(str(error))


def _title(entry: journals.Entry) -> str:
    if entry["kind"] == "driver":
        return f"{entry['address']} to {entry['before'] or 'no driver'}"
    if entry["kind"] == "value":
        return f"{entry['what']} to {entry['before']}"
    return f"the hugetlbfs at {entry['place']}" if entry["kind"] == "mount" else "the modules that were loaded"


def _record_option(record: Path) -> str:
    return "" if record == journals.DEFAULT else f" --record {record}"


def _check_root() -> None:
    if os.geteuid() != 0:
        fail("changing the machine needs root: use sudo, or print the steps with --dry-run")
