# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The twins, l2fwd-c and l2fwd-rs, which report their counters once a second as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from testbed.campaign.devices.device import Counts, Joint, Macs
from testbed.campaign.devices.program_host import ProgramHost
from testbed.campaign.sides import Side, reported_ports
from testbed.campaign.trial import GAP_LIMITS_S, Gaps
from testbed.run.eal import EalOptions, unique_file_prefix
from testbed.run.process import ProcessError, Watched
from testbed.run.programs import Program
from testbed.wire.forwarder import Forwarder, Period, imbalance

# Longer frames need an MTU that allows them: Ethernet's header and FCS come on top of it.
STANDARD_BYTES = 1518
BESIDE_MTU_BYTES = 18


@dataclass(frozen=True)
class L2fwd:
    """One of the twins."""

    program: Program
    # Its own options, after those that every run has.
    options: tuple[str, ...]
    host: ProgramHost
    macs: Macs = Macs.L2FWD
    counts_frames: bool = True
    no_port_reset: str | None = None
    restart_each_trial: bool = False

    def begin(self, joint: Joint, name: str) -> RunningL2fwd:
        """Starts it."""
        hugepages = joint.hugepages if self.host.hugepages is None else self.host.hugepages
        prefix, iova = unique_file_prefix("dut"), joint.iova_words(hugepages)
        eal = EalOptions(joint.lcores[0], prefix, joint.vdevs, hugepages, joint.nics, joint.lcore_words, more=iova)
        options = ["-p", joint.port_mask, "-q", str(joint.queues_of_lcore), f"--portmap={joint.port_map}"]
        options += ["--queues", str(joint.queues)] if joint.queues > 1 else []
        options += ["--mtu", str(joint.longest - BESIDE_MTU_BYTES)] if joint.longest > STANDARD_BYTES else []
        for option, count in zip(("--rxd", "--txd"), joint.descriptors or (), strict=False):
            options += [option, str(count)]
        forwarder = Forwarder(
            self.program,
            eal,
            [*options, *self.options],
            joint.log_dir,
            name,
            path=self.host.install(self.program.path),
            make=self.host.process,
        )
        forwarder.process.start()
        return RunningL2fwd(forwarder)


class RunningL2fwd:
    """A forwarder that was started."""

    def __init__(self, forwarder: Forwarder) -> None:
        self.process = forwarder.process
        self._forwarder = forwarder
        self.side: Side | None = None
        # The last statistics that were counted, and how many there were until then.
        self._last: Period | None = None
        self._seen = 0

    @property
    def is_ready(self) -> bool:
        """Whether it has said that it forwards."""
        return self._forwarder.is_started

    def ready(self, timeout_s: float, peer: Watched | None = None) -> None:
        """Waits for its start message, which is printed once. The forwarder reconnects to a new generator by itself."""
        start = self._forwarder.started(timeout_s, peer)
        self.side = Side(
            program=f"{start.program} {start.version}",
            lcores=[one.lcore for one in start.lcores] or None,
            ports=reported_ports(start.ports),
        )

    def counts(self, timeout_s: float) -> Counts:
        """Those that it prints next, with the gaps of all that it has printed since the counts before."""
        now = self._forwarder.next_period(timeout_s)
        periods = [one for one in self._forwarder.periods_after(self._seen) if one.time_s <= now.time_s]
        counts = counts_of(now).model_copy(update={"gaps": gaps_since(self._last, periods)})
        self._last, self._seen = now, self._seen + len(periods)
        return counts

    def reset_ports(self, timeout_s: float) -> float:
        """Resets the ports by SIGUSR1. The forwarder reports the end, and how long its ports were down."""
        return self._forwarder.reset_ports(timeout_s).down_s

    def stop(self) -> None:
        """Its final statistics must balance."""
        final = self._forwarder.stop()
        if not final.balanced:
            raise ProcessError(f"{self.process.name}: {imbalance(final)}")


def gaps_since(before: Period | None, periods: Sequence[Period]) -> Gaps | None:
    """Those of these statistics, of which the last one has all counts since the start. None if it measures none."""
    told = [period.total.gaps for period in periods]
    if not told or told[-1] is None:
        return None
    earlier = None if before is None else before.total.gaps
    above = {name: getattr(told[-1], name) - getattr(earlier, name, 0) for name in GAP_LIMITS_S}
    return Gaps(longest_s=max(gaps.longest_s for gaps in told if gaps is not None), **above)


def counts_of(period: Period) -> Counts:
    """As the forwarder printed them; what its devices missed is in the ports' statistics."""
    total = period.total
    devices = [(port.model_extra or {}).get("device", {}) for port in period.ports]
    return Counts(
        received=total.rx_packets,
        sent=total.tx_packets,
        dropped=total.tx_dropped,
        short=total.rx_short,
        in_flight=total.in_flight,
        missed=sum(device.get("imissed", 0) for device in devices),
        no_mbufs=sum(device.get("rx_nombuf", 0) for device in devices),
    )
