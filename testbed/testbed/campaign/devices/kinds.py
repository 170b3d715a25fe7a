# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""From what a scenario says of a device to the device that can be started."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from testbed.campaign.devices.command import Command, status_number
from testbed.campaign.devices.device import DeviceKind, Macs
from testbed.campaign.devices.l2fwd import L2fwd
from testbed.campaign.devices.program_host import LocalHost, ProgramHost
from testbed.campaign.devices.settings import TESTPMD, Device
from testbed.campaign.devices.testpmd import PROGRAM, Testpmd
from testbed.campaign.remote.host import RemoteHost
from testbed.run.programs import Program, ProgramMissing, find_program


def find_device_program(device: Device, folders: list[Path]) -> Program | None:
    """The program of a device; None if it is one of the other host's own.

    Raises `ProgramMissing`.
    """
    if device.command is None and device.program != TESTPMD:
        return find_program(device.program or device.name, folders or None)
    word = PROGRAM if device.command is None else device.command[0]
    # A mere name is looked for in the PATH of the machine that it runs on.
    if device.host is not None and "/" not in word:
        return None
    path = shutil.which(word)
    if path is None:
        remedy = "install dpdk-dev" if word == PROGRAM else "give its path, or a name that is in PATH"
        raise ProgramMissing(f"device '{device.name}': cannot execute '{word}': no such program: {remedy}")
    return Program(device.name, "other", Path(path).resolve())


def device_kind(device: Device, program: Program | None, stops: bool = False) -> DeviceKind:
    """The device, ready to be started with the program that `find_device_program` has found.

    `stops`: it is stopped at times, while another has its CPU.
    """
    host: ProgramHost = LocalHost(stops) if device.host is None else RemoteHost(device.host)
    options = tuple(device.options)
    if device.command is not None:
        return Command(
            words=(str(program.path) if program else device.command[0], *device.command[1:]),
            host=host,
            ready=re.compile(device.ready) if device.ready else None,
            statuses=tuple(status_number(one) for one in device.exit_status),
            macs=device.macs or Macs.ANY,
            restart_each_trial=device.restart_each_trial is not False,
        )
    if device.program == TESTPMD:
        return Testpmd(device.mode or "mac", options, host)
    assert program is not None, "it was looked for"
    return L2fwd(program, options, host)
