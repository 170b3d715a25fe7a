# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a scenario says of TRex: where its tree is, which server and ports, and how the device is joined to them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from testbed.campaign.lcores import Lcores
from testbed.campaign.remote.settings import Host
from testbed.campaign.trial import Record
from testbed.nics.profile import Profile
from testbed.nics.table import profile_named

Port = Annotated[int, Field(ge=0, le=255)]
TcpPort = Annotated[int, Field(ge=1, le=65535)]

# Of a mixture's sequence: each is a stream on each port, which takes the client about a millisecond to load.
MOST_MIXED_FRAMES = 256


class TrexLaunch(Record):
    """A server that the campaign starts, and ends."""

    # TRex's own configuration file: a path, or the name of one in testbed/trex/. It is copied to the host, if any.
    config: Path
    # Where it runs, reached over SSH; without a word on this machine.
    host: Host | None = None
    # TRex's folder there; without a word the same path as here.
    home: Path | None = None
    # Of each pair of ports (TRex's -c).
    cores: int = Field(1, ge=1, le=128)
    # TRex's own options, after those of the testbed.
    options: list[str] = Field(default_factory=list)
    # TRex takes a while to set up its memory, longer with many ports.
    patience_s: float = Field(90.0, gt=0)

    @model_validator(mode="after")
    def _what_is_for_a_host(self) -> Self:
        if self.host is None and self.home is not None:
            raise ValueError("home is TRex's folder on another host, but host is missing: give only trex_home")
        if self.host is not None and self.host.lcore is not None:
            raise ValueError("host.lcore is for a device: TRex's cores are those of its configuration file")
        return self


class TrexForwarder(Record):
    """The device under test, started on this machine: its ports in the order of the generator's."""

    # CPU, or several.
    lcore: Lcores
    # PCI addresses, or virtual devices in DPDK's words.
    nics: list[str] = Field(default_factory=list)
    vdevs: list[str] = Field(default_factory=list)
    nic: str | None = Field(None, description="what the NICs are: a name of ./x testbed profile")
    hugepages: bool | None = Field(None, description="without a word: if there are some")

    @model_validator(mode="after")
    def _profile_is_known(self) -> Self:
        if self.nic is not None:
            profile_named(self.nic)
            if not self.nics:
                raise ValueError("nic describes the NICs in nics (PCI addresses), but nics is empty")
        return self

    @property
    def profile(self) -> Profile | None:
        """What is known of its NICs."""
        return None if self.nic is None else profile_named(self.nic)

    @property
    def allowed_nics(self) -> tuple[str, ...]:
        """PCI addresses, with the device arguments of the profile where none are given."""
        known = self.profile
        return tuple(known.allow(nic) if known is not None and "," not in nic else nic for nic in self.nics)

    @property
    def port_count(self) -> int:
        """How many ports it has."""
        return len(self.nics or self.vdevs)

    @property
    def descriptors(self) -> tuple[int, int] | None:
        """Those of an RX and of a TX queue, if the profile advises any."""
        known = self.profile
        return None if known is None else (known.rx.advised, known.tx.advised)

    @property
    def memif_clients(self) -> bool:
        """Whether its devices are the clients of memif wires, whose servers are TRex's: then TRex starts first."""
        return any(vdev.startswith("net_memif") and "role=server" not in vdev.split(",") for vdev in self.vdevs)

    @property
    def survives_a_restart(self) -> bool:
        """Whether TRex reconnects to it after a restart."""
        return self.memif_clients or not any(vdev.startswith("net_memif") for vdev in self.vdevs)

    @model_validator(mode="after")
    def _joined(self) -> Self:
        if bool(self.nics) == bool(self.vdevs):
            raise ValueError("give nics (PCI addresses) or vdevs")
        return self


class Trex(Record):
    """TRex, through the Python client of its own tree."""

    kind: Literal["trex"]
    # Without a word: what the environment variable TREX_HOME says.
    trex_home: Path | None = None
    # The interpreter for its client, which may be older than this one wants.
    python: str | None = None
    # Where the server listens; without a word on the host where it is started, or here.
    server: str | None = None
    sync_port: TcpPort = 4501
    async_port: TcpPort = 4500
    # Under this name it takes the ports; with `force` from others too.
    user: str = "testbed"
    force: bool = False
    # One: there and back. Two: from the first to the second, and the other way for both directions.
    ports: list[Port] = Field(default_factory=lambda: [0, 1], min_length=1, max_length=2)
    # Of the link; without a word what the server says of a NIC.
    line_rate_bps: float | None = Field(None, gt=0)
    # How long a try takes, of those that find the highest rate before the first trial.
    warm_up_s: float = Field(2.0, gt=0, le=60)
    # What changes from frame to frame where there are flows: the destination, or what the article's traffic had.
    vary: Literal["destination", "article"] = "destination"
    # Whether frames carry a mark and are counted by it; without, whatever comes to a port counts.
    flow_stats: bool = True
    # Of the load, in each direction.
    latency_fps: float = Field(1000.0, gt=0)
    # Frames before each trial from which a switch in between learns the addresses.
    learn: bool = False
    launch: TrexLaunch | None = None
    # Without it somebody else runs the device, whose counters are then not known.
    forwarder: TrexForwarder | None = None

    @property
    def address(self) -> str:
        """Where its server listens."""
        if self.server is not None:
            return self.server
        return self.launch.host.name if self.launch is not None and self.launch.host is not None else "127.0.0.1"

    @model_validator(mode="after")
    def _ports_match(self) -> Self:
        if len(set(self.ports)) < len(self.ports):
            raise ValueError(f"ports has {self.ports[0]} twice")
        joined = self.forwarder
        if joined is not None and joined.port_count != len(self.ports):
            raise ValueError(
                f"the forwarder has {joined.port_count} ports, but the generator {len(self.ports)}: "
                "each port of one is joined to a port of the other"
            )
        return self
