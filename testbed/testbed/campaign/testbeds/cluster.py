# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The testbeds as Dask sees them: a scheduler, here or elsewhere, and a worker for each testbed."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

from distributed import Client, Future, LocalCluster
from distributed import wait as dask_wait
from distributed.client import ClosedClientError
from distributed.security import Security
from pydantic_core import PydanticSerializationError

from testbed.campaign.testbeds.certificates import CertificateError, security
from testbed.campaign.testbeds.inventory import Inventory
from testbed.campaign.testbeds.job import Job, JobResult
from testbed.campaign.testbeds.worker import RESOURCE, do, topic
from testbed.run.process import Process, ProcessError
from testbed.run.programs import repository_root

_CONNECT_S = 30.0
_WORKERS_S = 120.0
_LOOK_S = 1.0
_POLL_S = 0.1
_FETCH_S = 60.0
# A scheduler that is stopped, or whose network drops what is sent, keeps its connection for long.
_ANSWER_S = 60.0


# Those that have a handler of their own for stderr once `distributed` is imported.
_LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application")


@contextlib.contextmanager
def library_logs(folder: Path) -> Iterator[None]:
    """What Dask and Tornado say goes to `dask.log` there: of ends that were wanted they print stacks at times."""
    folder.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(folder / "dask.log", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s: %(message)s"))
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [(logger.handlers[:], logger.propagate) for logger in loggers]
    try:
        for logger in loggers:
            logger.handlers[:], logger.propagate = [handler], False
        yield
    finally:
        for logger, (handlers, propagate) in zip(loggers, before, strict=True):
            logger.handlers[:], logger.propagate = handlers, propagate
        handler.close()


class Cluster:
    """A connection to the scheduler."""

    def __init__(self, client: Client, address: str) -> None:
        self._client = client
        self._address = address

    def testbeds(self) -> dict[str, str]:
        """The workers that are connected now: their addresses by the name of the testbed.

        Raises `ProcessError` if the scheduler is gone, as the other methods do.
        """
        with self._connected():
            # Not `scheduler_info`: it answers with what Dask's own refresh leaves behind, which asks for no workers.
            info = self._client.sync(self._client.scheduler.identity, n_workers=-1, callback_timeout=_ANSWER_S)
        return {str(worker["name"]): address for address, worker in info["workers"].items()}

    def submit(self, job: Job, address: str) -> Future:
        """Gives a job to a worker."""
        try:
            text = job.model_dump_json()
        except PydanticSerializationError as error:
            # A job can be written: this is how pydantic passes on a Ctrl-C that comes meanwhile.
            raise KeyboardInterrupt from error
        with self._connected():
            return self._client.submit(do, text, workers=[address], resources={RESOURCE: 1}, pure=False, retries=0)

    def follow(self, campaign: str, take: Callable[[str, str, bool, float], None]) -> None:
        """From now on `take` gets what a campaign's jobs say, in another thread: lines, and how long a trial takes."""

        def taken(event: tuple[float, dict[str, Any]]) -> None:
            # Dask adds the worker's address.
            _, line = event
            take(line["number"], line["text"], line["whole"], line["busy_s"])

        with self._connected():
            self._client.subscribe_topic(topic(campaign), taken)

    def wait_for(self, futures: list[Future]) -> None:
        """Returns when one of them is done, or after a while, since a worker may be gone."""
        with self._connected(), contextlib.suppress(TimeoutError), self._client.as_current():
            dask_wait(futures, timeout=_LOOK_S, return_when="FIRST_COMPLETED")

    @contextlib.contextmanager
    def _connected(self) -> Iterator[None]:
        """Whatever Dask raises then: without the scheduler it cancels what it waits for."""
        error: Exception | None = None
        try:
            yield
        except (CancelledError, ClosedClientError, OSError) as caught:
            error = caught
        if error is not None or self._client.status != "running":
            why = f"is gone{f' ({type(error).__name__})' if isinstance(error, OSError) else ''}"
            if isinstance(error, TimeoutError):
                why = f"gives no answer for {_ANSWER_S:g} s"
            raise ProcessError(
                f"the scheduler at {self._address} {why}: start it again, and the workers of the testbeds"
            ) from error


def result_of(future: Future, job: Job) -> JobResult | None:
    """What has come of a job that is done; None if its worker was lost before it could hand that over."""
    try:
        error = future.exception(timeout=_FETCH_S)
        if error is None:
            return JobResult.model_validate_json(future.result(timeout=_FETCH_S))
    except (TimeoutError, CancelledError):
        return None
    return JobResult(testbed=job.testbed, frames=job.frames, error=f"{type(error).__name__}: {error}")


@contextlib.contextmanager
def cluster(inventory: Inventory, bin_dirs: list[Path], logs: Path) -> Iterator[Cluster]:
    """The workers of an inventory: those of its scheduler, or else some that are started on this machine.

    Raises `ProcessError` if they are unavailable.
    """
    with contextlib.ExitStack() as cleanup:
        cleanup.enter_context(library_logs(logs))
        started: list[Process] = []
        if inventory.scheduler is not None:
            address = inventory.scheduler
            client = _connected(address, _own_security(inventory))
            cleanup.callback(client.close)
        else:
            # Whoever can reach the scheduler can run programs as this user: only those with its certificate may.
            temporary = Security.temporary()
            # It warns of workers that end after the last job. The dispatcher reports lost workers.
            local = LocalCluster(
                n_workers=0,
                host="127.0.0.1",
                protocol="tls://",
                security=temporary,
                dashboard_address=None,
                # Another campaign may have the port that it would take.
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                silence_logs=logging.ERROR,
            )
            cleanup.callback(local.close)
            address = local.scheduler_address
            client = _connected(address, temporary)
            cleanup.callback(client.close)
            for testbed in inventory.testbeds:
                argv = [sys.executable, "-m", "testbed", "worker", "--scheduler", address]
                argv += ["--name", testbed.name, *(f"--bin-dir={folder}" for folder in bin_dirs)]
                process = Process(f"worker-{testbed.name}", argv, logs, _environment(temporary))
                # What it has started ends with it.
                started.append(cleanup.enter_context(process))
        testbeds = Cluster(client, address)
        _wait_for_workers(testbeds, inventory, started)
        yield testbeds


def _own_security(inventory: Inventory) -> Security | None:
    try:
        return security(folder) if (folder := inventory.own_certificate) is not None else None
    except CertificateError as error:
        raise ProcessError(str(error)) from error


def _connected(address: str, own: Security | None) -> Client:
    try:
        return Client(address, security=own, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ProcessError(
            f"cannot reach the scheduler at {address}: {error}: start it with ./x testbed scheduler --address "
            f"{address}, or correct scheduler in the inventory"
        ) from error


def _environment(temporary: Security) -> dict[str, str]:
    """The settings with which a worker of this machine connects to the scheduler."""
    worker = temporary.get_tls_config_for_role("worker")
    prefix = "DASK_DISTRIBUTED__COMM__"
    return {
        "PYTHONPATH": str(repository_root() / "testbed"),
        f"{prefix}REQUIRE_ENCRYPTION": "True",
        f"{prefix}TLS__CA_FILE": worker["ca_file"],
        f"{prefix}TLS__WORKER__CERT": worker["cert"],
        f"{prefix}TLS__WORKER__KEY": worker["key"],
    }


def _wait_for_workers(testbeds: Cluster, inventory: Inventory, started: list[Process]) -> None:
    """Returns when all testbeds are there that were started here, or one of those elsewhere: the rest may come later.

    Raises `ProcessError` if none comes.
    """
    wanted = {testbed.name for testbed in inventory.testbeds}
    enough = len(wanted) if started else 1
    deadline = time.monotonic() + _WORKERS_S
    while len(there := wanted & set(testbeds.testbeds())) < enough:
        for process in started:
            if process.returncode is not None:
                raise process.failure("ended before it was ready")
        if time.monotonic() > deadline:
            break
        time.sleep(_POLL_S)
    if not there:
        raise ProcessError(
            f"no worker of {', '.join(sorted(wanted))} has come within {_WORKERS_S:g} s: {how_to_come(inventory)}"
        )


def how_to_come(inventory: Inventory) -> str:
    """What makes a machine one of the testbeds."""
    words = ["./x testbed worker --scheduler", inventory.scheduler or "ADDRESS", "--name NAME"]
    if inventory.own_certificate is not None:
        words.append("--certificates DIR")
    elif inventory.trusted_network:
        words.append("--trusted-network")
    return f"on each testbed start {' '.join(words)}"
