# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a scenario says of a device under test."""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import Field, model_validator

from testbed.campaign.devices.command import NO_PORT_RESET as _COMMANDS_RESET_NO_PORT
from testbed.campaign.devices.command import check_command, status_number
from testbed.campaign.devices.device import Macs
from testbed.campaign.devices.testpmd import NO_PORT_RESET as _TESTPMD_RESETS_NO_PORT
from testbed.campaign.devices.testpmd import TestpmdMode
from testbed.campaign.remote.settings import Host
from testbed.campaign.simulated import DeviceModel
from testbed.campaign.trial import Record
from testbed.run.programs import FORWARDERS

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
TESTPMD = "testpmd"


class Device(Record):
    """A device under test."""

    name: str
    # What it is, for the report: model, version, serial number.
    description: str = ""
    # Without a word the forwarder of the device's name.
    program: Literal["l2fwd-c", "l2fwd-rs", "testpmd"] | None = None
    # The program's own options, after those of the testbed.
    options: list[str] = Field(default_factory=list)
    # Of testpmd.
    mode: TestpmdMode | None = None
    # Any other program, with placeholders (`devices.command.PLACEHOLDERS`).
    command: list[str] | None = Field(None, min_length=1)
    # What is known of a command: a line of its output when it forwards, how it may end, which addresses it writes, and
    # whether it needs a fresh start for each trial.
    ready: str | None = Field(None, description="a regular expression; without one the link says so")
    exit_status: list[int | str] = Field(default_factory=lambda: [0], min_length=1)
    macs: Macs | None = None
    restart_each_trial: bool | None = None
    # Where it runs; without a word on this machine.
    host: Host | None = None
    model: DeviceModel | None = None

    @model_validator(mode="after")
    def _named(self) -> Self:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"name '{self.name}': use letters, digits, '.', '_' and '-'")
        return self

    @model_validator(mode="after")
    def _one_program(self) -> Self:
        if self.command is None:
            for field in ("ready", "exit_status", "macs", "restart_each_trial"):
                if getattr(self, field) not in (None, [0]):
                    raise ValueError(f"{field} is for a command: the testbed knows it of its own programs")
        elif self.program is not None or self.options:
            raise ValueError("give a command, with its options among its words, or a program")
        if self.mode is not None and self.program != TESTPMD:
            raise ValueError(f"mode is for program: {TESTPMD}")
        return self

    @model_validator(mode="after")
    def _command_can_be_filled_in(self) -> Self:
        if self.command is not None:
            check_command(self.command)
            for status in self.exit_status:
                status_number(status)
        try:
            re.compile(self.ready or "")
        except re.error as error:
            raise ValueError(f"ready '{self.ready}' is not a regular expression: {error}") from error
        return self

    @property
    def counts_frames(self) -> bool:
        """Whether it reports its counters."""
        return self.command is None

    @property
    def no_port_reset(self) -> str | None:
        """Why its ports cannot be reset while it runs; None if they can."""
        if self.command is not None:
            return _COMMANDS_RESET_NO_PORT
        return _TESTPMD_RESETS_NO_PORT if self.program == TESTPMD else None

    @property
    def has_program(self) -> bool:
        """Whether it is said what to start."""
        return self.program is not None or self.command is not None or self.name in FORWARDERS
