# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a scenario says of another host."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import Field, field_validator

from testbed.campaign.lcores import Lcores
from testbed.campaign.trial import Record

_NAME = re.compile(r"[A-Za-z0-9_:.%-]+")


class Host(Record):
    """A host that a device runs on, reached over SSH."""

    # As ssh takes it: a name, an address, or an alias of ~/.ssh/config.
    name: str
    user: str | None = None
    port: int | None = Field(None, ge=1, le=65535)
    # The private key; without one those of ~/.ssh and of the agent are tried.
    key: Path | None = None
    # The hosts that are known; without a word ~/.ssh/known_hosts. A host that is in none is refused.
    known_hosts: Path | None = None
    # CPU of the device there, or several; without a word the one that this machine's plan has.
    lcore: Lcores | None = None
    # Of 2 MB, reserved there for as long as they are needed.
    hugepages: int = Field(0, ge=0, le=1 << 20)

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, value: str) -> str:
        # What begins with a dash would be an option to other programs.
        if not _NAME.fullmatch(value) or value.startswith("-"):
            raise ValueError(f"'{value}' is not a host name: give a name or an address")
        return value

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        port = f", port {self.port}" if self.port else ""
        return f"{user}{self.name}{port}"
