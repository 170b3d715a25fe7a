# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Dask's scheduler, as campaigns use it: without its web page, and with a line for each testbed that comes or goes."""

from __future__ import annotations

import asyncio
from typing import Any

from distributed import Scheduler
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.security import Security

from testbed.campaign.testbeds.address import NOWHERE, has_tls, host_and_port, is_this_machine


def schedule(address: str, security: Security | None) -> None:
    """Listens at the address until it is stopped: on this machine alone, or on all of its addresses.

    Raises `OSError`, `ValueError`.
    """
    asyncio.run(_schedule(address, security))


async def _schedule(address: str, security: Security | None) -> None:
    async with new_scheduler(address, security) as scheduler:
        print(f"scheduler at {scheduler.address} is ready", flush=True)
        await scheduler.finished()


def new_scheduler(address: str, security: Security | None) -> Scheduler:
    """One that listens at the address when it is entered."""
    host, port = host_and_port(address)
    return Scheduler(
        # A machine's own name is often an address of its loopback.
        host=host if is_this_machine(address) else None,
        port=port,
        protocol="tls" if has_tls(address) else "tcp",
        security=security,
        dashboard=False,
        dashboard_address=NOWHERE,
        plugins=[_Testbeds()],
    )


class _Testbeds(SchedulerPlugin):
    """Says which testbeds there are."""

    def __init__(self) -> None:
        self._names: dict[str, Any] = {}

    def add_worker(self, scheduler: Scheduler, worker: str) -> None:
        """A testbed has connected."""
        self._names[worker] = scheduler.workers[worker].name
        print(f"testbed {self._names[worker]} came, from {worker}: {len(self._names)} there", flush=True)

    def remove_worker(self, scheduler: Scheduler, worker: str, **_: Any) -> None:
        """A testbed has gone."""
        print(f"testbed {self._names.pop(worker, worker)} is gone: {len(self._names)} there", flush=True)
